"""Read texts or counts and choose the words: in memory, on disk or on a cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from momentree.core.limits import memory_bytes
from momentree.exceptions import InvalidParameterError
from momentree.messages import wording
from momentree.readers import copies, distributed
from momentree.readers.counts import files
from momentree.readers.stored.corpus import COUNTS, TEXTS, WORDS, Stages, StoredCorpus
from momentree.readers.stored.count_files import write_count_stages
from momentree.readers.stored.work import WorkFolder
from momentree.readers.tables.files import AUTO, check_exists
from momentree.readers.text import objects, tables, words
from momentree.readers.text.documents import read_documents, stream_documents
from momentree.readers.text.vectorize import vectorize
from momentree.readers.text.vectorizer import TextVectorizer


def read_corpus(
    path: str | PathLike[str],
    *,
    folder: str | PathLike[str] | None = None,
    memory: int | str = "1GB",
    resume: bool = False,
    also: Mapping[str, Any] | None = None,
    text_column: str | Sequence[str] | None = None,
    label_column: str | None = None,
    id_column: str | None = None,
    separator: str | None = None,
    sheet: str | None = None,
    skip_rows: int = 0,
    header: bool | None = None,
    encoding: str = AUTO,
    vocabulary: files.Lines | None = None,
    unique: bool | Literal["auto"] = "auto",
    token_pattern: str | None = None,
    **settings: Any,
) -> objects.Corpus:
    r"""Read texts or counts from a path, and choose the words to learn from.

    Parameters
    ----------
    path : str or path-like
        A file or folder: of counts if :func:`holds_counts` returns True, see :func:`read_counts`;
        otherwise of texts, see :func:`read_documents`. Or Parquet files of texts, named by a
        pattern or by the URL of a file system that fsspec knows, such as "s3://news/*.parquet",
        which the workers of a Dask cluster read; `ids` are then row numbers in the order of file
        names.
    folder : str, path-like or None, default=None
        A folder to make, to read in bounded memory (see Notes). It must exist as long as the corpus
        is used. None reads everything into memory.
    memory : int or str, default="1GB"
        With a `folder`: memory of the process, bytes, or "800MB", "1.5GB", "2GiB"; at least 600 MB.
    resume : bool, default=False
        Whether to continue in a folder that an interrupted run has left, after its last finished
        stage, with the same result.
    also : mapping of str to object, default=None
        Options of the work that follows, which must not change either when it is continued.
    text_column, label_column, id_column, separator, sheet, skip_rows, header : optional
        For texts: how to read a table, see :func:`read_documents`.
    encoding : str, default="auto"
        Encoding of texts, or of the words that go with counts; "auto" guesses it for each file.
    vocabulary : path, sequence of str or None, default=None
        For counts: the words of the columns, see :func:`read_counts`.
    unique : bool or "auto", default="auto"
        Whether copies of a document together have the weight of one, see :func:`vectorize`.
    token_pattern : str or None, default=None
        Regular expression for a word. None means two letters or more for texts, and any word for
        counts.
    **settings
        Other parameters of :class:`TextVectorizer`: `language`, `stop_words`, `min_df`, `max_df`,
        `max_features`; for texts also `lowercase`, `raw`, `passages` ("auto" by default, see
        :func:`vectorize`), `phrases`, `ngram_range` and `tokenizer`.

    Returns
    -------
    Corpus
        A :class:`StoredCorpus` in a `folder`, or a :class:`DistributedCorpus` on a cluster.
        It has counts of the words kept; documents without any of these words become empty rows.

    Raises
    ------
    InvalidParameterError
        If a value is out of range, or a parameter for texts is given with counts or vice versa, or
        one that needs all texts at once with a `folder` or a cluster; if the folder contains
        unfinished work and `resume` is False; if the input or an option has changed since; if
        `memory` is too small, or counts are in a file that is read as a whole.
    ReadError, InvalidDataError, EmptyCorpusError
        As in :func:`read_documents` and :func:`vectorize`, or :func:`read_counts` and
        :func:`filter_vocabulary`.
    MomentreeError
        If the folder cannot be written, for instance because the disk is full.

    Notes
    -----
    In a folder, the work has three stages: read and clean the texts; count all words; choose the
    words to keep. CSV, JSON Lines, Parquet and folders are read in batches, and so are counts in
    UCI bag-of-words and Matrix Market whose documents are in ascending order, in SVMlight, or in a
    folder that :func:`store_counts` has written; all other texts are read as a whole. Disk: the
    texts, and about 9 bytes for each different word of each document. If the words of all documents
    exceed their share of the memory, the rarest are forgotten: a note then says which words may be
    missing. Otherwise, the counts equal those in memory, unless near copies of texts, which are not
    found, change their weights.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from momentree.datasets import read_corpus
    >>> with tempfile.TemporaryDirectory() as place:
    ...     file = Path(place) / "pets.csv"
    ...     _ = file.write_text('text\n"The cat sat"\n"A cat, a dog"\n"No dog"\n')
    ...     corpus = read_corpus(file, max_df=0.9)
    ...     on_disk = read_corpus(file, folder=f"{place}/pets", max_df=0.9)
    ...     corpus.vocabulary.tolist(), corpus.X.toarray().tolist(), (on_disk.X != corpus.X).nnz
    (['cat', 'dog'], [[1, 0], [1, 1], [0, 1]], 0)
    """
    columns: dict[str, Any] = {
        "text_column": tables.as_list(text_column) or None,
        "label_column": label_column,
        "id_column": id_column,
        "separator": separator,
        "sheet": sheet,
        "skip_rows": skip_rows,
        "header": header,
    }
    pattern = words.TOKEN_PATTERN if token_pattern is None else token_pattern
    vectorizer = TextVectorizer(**{"passages": "auto", **settings, "token_pattern": pattern})
    request = _Request(path, columns, encoding, vocabulary, vectorizer, token_pattern, unique)
    if distributed.is_pattern(path):
        return request.on_workers(folder)
    if folder is None:
        return request.in_memory()
    return request.on_disk(WorkFolder(Path(folder)), memory_bytes(memory), resume, also or {})


@dataclass(frozen=True)
class _Request:
    """What to read, and how."""

    path: str | PathLike[str]
    columns: Mapping[str, Any]
    encoding: str
    vocabulary: files.Lines | None
    vectorizer: TextVectorizer
    token_pattern: str | None  # of counts; that of the vectorizer has the default for texts
    unique: bool | Literal["auto"]

    def source(self) -> tuple[Path, bool]:
        """Return the path, and whether it contains counts."""
        source = check_exists(self.path)
        of_counts = files.holds_counts(source)
        if of_counts:
            plain = {"skip_rows": 0, **TextVectorizer(passages="auto").to_dict()}
            settings = self.vectorizer.to_dict()
            values = {**self.columns, **{name: settings[name] for name in _COUNTING}}
            for parameter, value in values.items():
                if value not in (None, plain.get(parameter)):
                    raise InvalidParameterError(
                        wording.ONLY_FOR_TEXTS, parameter=parameter, path=str(source)
                    )
        elif self.vocabulary is not None:
            raise InvalidParameterError(
                "[only_for_counts] {parameters.vocabulary} applies only to counts, but {path} "
                "contains texts; leave it out",
                path=str(source),
            )
        return source, of_counts

    def in_memory(self) -> objects.Corpus:
        source, of_counts = self.source()
        if not of_counts:
            documents = read_documents(source, encoding=self.encoding, **self.columns)
            return vectorize(documents, self.vectorizer, unique=self.unique)
        corpus = files.read_counts(source, vocabulary=self.vocabulary, encoding=self.encoding)
        return files.filter_vocabulary(
            corpus, self.vectorizer, token_pattern=self.token_pattern, unique=self.unique
        )

    def on_disk(
        self, work: WorkFolder, memory: int, resume: bool, also: Mapping[str, Any]
    ) -> StoredCorpus:
        source, of_counts = self.source()
        copies.check_unique(self.unique)
        if self.vectorizer.phrases:
            raise InvalidParameterError(
                "[not_in_parts] {parameters.phrases} needs all texts at once; leave it out, or "
                "read them in memory"
            )
        table = {**self.columns, "encoding": self.encoding}
        options = {**table, **self.vectorizer.to_dict(), "unique": self.unique, "memory": memory}
        if of_counts:
            options |= {"vocabulary": self.vocabulary, "token_pattern": self.token_pattern}
        with work.begun(source, {**options, **also}, resume=resume):
            stages = Stages(work, self.vectorizer, self.unique, memory)
            if of_counts and not work.has(TEXTS):
                stream = files.open_counts(source, self.vocabulary, self.encoding, in_parts=True)
                write_count_stages(stream, work, self.encoding, self.vectorizer, self.token_pattern)
            elif not work.has(TEXTS):
                stages.read(stream_documents(source, **table))
            if not work.has(COUNTS):
                if not work.has(WORDS):
                    stages.count()
                stages.choose()
            work.remove_stage(WORDS)
            return stages.corpus()

    def on_workers(self, folder: str | PathLike[str] | None) -> distributed.DistributedCorpus:
        given = {**self.columns, "vocabulary": self.vocabulary, "folder": folder}
        text_column = given.pop("text_column") or []
        for parameter, value in {**given, "unique": self.unique is True}.items():
            if value:
                raise InvalidParameterError(
                    "[only_texts_in_parquet] {parameter} does not apply to {path}, which names "
                    "Parquet files of texts for a cluster",
                    parameter=parameter,
                    path=str(self.path),
                )
        for parameter, off in (("phrases", False), ("passages", "auto")):
            if getattr(self.vectorizer, parameter) not in (off, None):
                raise InvalidParameterError(
                    "[not_on_a_cluster] {parameter} needs all texts on one machine; leave it out, "
                    "or read the files from a folder",
                    parameter=parameter,
                )
        return distributed.read_on_workers(self.path, self.vectorizer, text_column)


_COUNTING = ("lowercase", "raw", "passages", "phrases", "ngram_range", "tokenizer")
