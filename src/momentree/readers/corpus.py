"""Read texts or counts and choose the words: in memory, on disk or on a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from momentree.core.limits import memory_bytes
from momentree.exceptions import InvalidParameterError
from momentree.readers import copies, distributed
from momentree.readers.counts import files
from momentree.readers.stored.corpus import COUNTS, TEXTS, WORDS, Stages, StoredCorpus
from momentree.readers.stored.count_files import write_count_stages
from momentree.readers.stored.work import WorkFolder
from momentree.readers.tables.files import AUTO, check_exists
from momentree.readers.text import objects, selection, tables, vectorize, vectorizer, words
from momentree.readers.text.documents import read_documents, stream_documents


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
    language: str | None = AUTO,
    stop_words: Iterable[str] | PathLike[str] = (),
    min_df: int | float | None = None,
    max_df: int | float = selection.MAX_DF,
    max_features: int | None = selection.MAX_FEATURES,
    token_pattern: str | None = None,
    lowercase: bool = True,
    raw: bool = False,
    passages: vectorizer.Cutting = "auto",
    unique: bool | Literal["auto"] = "auto",
    phrases: bool = False,
    ngram_range: tuple[int, int] = (1, 1),
    tokenizer: words.Tokenizer | None = None,
) -> objects.Corpus:
    r"""Read texts or counts from a path, and choose the words to learn from.

    Parameters
    ----------
    path : str or path-like
        A file or folder: of counts if :func:`holds_counts` returns True, see :func:`read_counts`;
        otherwise of texts, see :func:`read_documents`. Or Parquet files of texts, named by a
        pattern or by the URL of a file system that fsspec knows, such as "s3://news/*.parquet",
        which Dask reads: see :func:`read_parquet_corpus`.
    folder, memory, resume, also : optional
        To read in bounded memory, and keep everything in a folder; see :func:`store_corpus`.
    text_column, label_column, id_column, separator, sheet, skip_rows, header : optional
        For texts: how to read a table, see :func:`read_documents`.
    encoding : str, default="auto"
        Encoding of texts, or of the words that go with counts; "auto" guesses it for each file.
    vocabulary : path, sequence of str or None, default=None
        For counts: the words of the columns, see :func:`read_counts`.
    language, stop_words, min_df, max_df, max_features : optional
        Which words to keep; see :class:`TextVectorizer`.
    token_pattern : str or None, default=None
        Regular expression for a word. None means two letters or more for texts, and any word for
        counts.
    lowercase : bool, default=True
        For texts: whether to convert them to lower case. The words of counts are not changed.
    raw : bool, default=False
        For texts: whether to keep markup and boilerplate, see :func:`vectorize`.
    passages : int, "auto" or None, default="auto"
        For texts: words of the passages into which long texts are cut, see :func:`vectorize`.
    unique : bool or "auto", default="auto"
        Whether copies of a document together have the weight of one, see :func:`vectorize`.
    phrases, ngram_range, tokenizer : optional
        For texts: what else counts as a word; see :class:`TextVectorizer`.

    Returns
    -------
    Corpus
        A :class:`StoredCorpus` in a `folder`, or a :class:`DistributedCorpus` on a cluster.
        It has counts of the words kept; documents without any of these words become empty rows.

    Raises
    ------
    InvalidParameterError
        If a value is out of range, or a parameter for texts is given with counts or vice versa; or
        as in :func:`store_corpus`.
    ReadError, InvalidDataError, EmptyCorpusError
        As in :func:`read_documents` and :func:`vectorize`, or :func:`read_counts` and
        :func:`filter_vocabulary`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from momentree.datasets import read_corpus
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "pets.csv"
    ...     _ = file.write_text('text\n"The cat sat"\n"A cat, a dog"\n"No dog"\n')
    ...     corpus = read_corpus(file, max_df=0.9)
    >>> corpus.vocabulary.tolist(), corpus.X.toarray().tolist()
    (['cat', 'dog'], [[1, 0], [1, 1], [0, 1]])
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
    settings = vectorizer.TextVectorizer(
        language=language,
        stop_words=words.read_words("stop_words", stop_words),
        min_df=min_df,
        max_df=max_df,
        max_features=max_features,
        token_pattern=words.TOKEN_PATTERN if token_pattern is None else token_pattern,
        lowercase=lowercase,
        raw=raw,
        passages=passages,
        phrases=phrases,
        ngram_range=ngram_range,
        tokenizer=tokenizer,
    )
    request = _Request(path, columns, encoding, vocabulary, settings, token_pattern, unique)
    if distributed.is_pattern(path):
        return request.on_cluster(folder)
    if folder is None:
        return request.in_memory()
    return request.on_disk(WorkFolder(Path(folder)), memory_bytes(memory), resume, also or {})


def store_corpus(
    path: str | PathLike[str], folder: str | PathLike[str], **options: Any
) -> StoredCorpus:
    r"""Read texts or counts as :func:`read_corpus` does, in bounded memory.

    Texts and counts are kept in a folder on disk. The work has three stages: read and clean the
    texts; count all words; choose the words to keep. Each finished stage is kept, and `resume`
    continues after it, with the same result.

    Parameters
    ----------
    path : str or path-like
        Texts, as in :func:`read_documents`: CSV, JSON Lines, Parquet and folders are read in
        batches; all other files are read as a whole. Or counts, as in :func:`read_counts`: UCI
        bag-of-words whose documents are in ascending order, SVMlight, or a folder that
        :func:`store_counts` has written.
    folder : str or path-like
        The folder to make. It must exist as long as the corpus is used.
    **options
        Those of :func:`read_corpus` except `phrases`, which needs all texts at once; of texts, only
        exact copies are found. And these:

        - `memory`, "1GB" by default: memory of the process, bytes, or "800MB", "1.5GB", "2GiB"; at
          least 600 MB,
        - `resume`, False by default: whether to continue in a folder that an interrupted run has
          left,
        - `also`, a mapping: options of the work that follows, which must not change either when it
          is continued.

    Returns
    -------
    StoredCorpus
        The same as :func:`read_corpus` returns, with counts, texts, ids and labels on disk, which
        are read as needed.

    Raises
    ------
    InvalidParameterError
        If the folder contains unfinished work and `resume` is False; if the input or an option has
        changed since; if `memory` is too small; if counts are in a file that is read as a whole;
        or as in :func:`read_corpus`.
    ReadError, InvalidDataError, EmptyCorpusError
        As in :func:`read_corpus`.
    MomentreeError
        If the folder cannot be written, for instance because the disk is full.

    Notes
    -----
    Disk: the texts, and about 9 bytes for each different word of each document. If the words of all
    documents exceed their share of the memory, the rarest are forgotten: a note then says which
    words may be missing. Otherwise, the counts equal those of :func:`read_corpus`, unless near
    copies of texts change their weights.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from momentree.datasets import store_corpus
    >>> with tempfile.TemporaryDirectory() as place:
    ...     file = Path(place) / "pets.csv"
    ...     _ = file.write_text('text\n"The cat sat"\n"A cat, a dog"\n"No dog"\n')
    ...     corpus = store_corpus(file, f"{place}/pets", max_df=0.9)
    ...     corpus.vocabulary.tolist(), corpus.X.toarray().tolist()
    (['cat', 'dog'], [[1, 0], [1, 1], [0, 1]])
    """
    corpus: StoredCorpus = read_corpus(path, folder=folder, **options)  # type: ignore[assignment]
    return corpus


@dataclass(frozen=True)
class _Request:
    """What to read, and how."""

    path: str | PathLike[str]
    columns: Mapping[str, Any]
    encoding: str
    vocabulary: files.Lines | None
    settings: vectorizer.TextVectorizer
    token_pattern: str | None  # of counts; that of the settings has the default for texts
    unique: bool | Literal["auto"]

    def source(self) -> tuple[Path, bool]:
        """Return the path, and whether it contains counts."""
        source = check_exists(self.path)
        of_counts = files.holds_counts(source)
        if of_counts:
            files.check_options(
                source, **self.columns, **{name: getattr(self.settings, name) for name in _COUNTING}
            )
        elif self.vocabulary is not None:
            raise InvalidParameterError(
                "[only_for_counts] {parameters.vocabulary} applies only to counts, but {path} "
                "contains texts; leave it out",
                path=str(source),
            )
        return source, of_counts

    @property
    def of_counts(self) -> dict[str, Any]:
        """Which words of counts may be kept."""
        settings = self.settings
        return {
            "language": settings.language,
            "stop_words": settings.stop_words,
            "token_pattern": self.token_pattern,
        }

    def in_memory(self) -> objects.Corpus:
        source, of_counts = self.source()
        if not of_counts:
            documents = read_documents(source, encoding=self.encoding, **self.columns)
            return vectorize.count_documents(documents, self.settings, unique=self.unique)
        limits = {
            name: getattr(self.settings, name) for name in ("min_df", "max_df", "max_features")
        }
        corpus = files.read_counts(source, vocabulary=self.vocabulary, encoding=self.encoding)
        return files.filter_vocabulary(corpus, unique=self.unique, **limits, **self.of_counts)

    def on_disk(
        self, work: WorkFolder, memory: int, resume: bool, also: Mapping[str, Any]
    ) -> StoredCorpus:
        source, of_counts = self.source()
        copies.check_unique(self.unique)
        if self.settings.phrases:
            raise InvalidParameterError(
                "[not_in_parts] {parameters.phrases} needs all texts at once; leave it out, or "
                "read them in memory"
            )
        table = {**self.columns, "encoding": self.encoding}
        options = {**table, **self.settings.to_dict(), "unique": self.unique, "memory": memory}
        if of_counts:
            options |= {"vocabulary": self.vocabulary, "token_pattern": self.token_pattern}
        with work.begun(source, {**options, **also}, resume=resume):
            stages = Stages(work, self.settings, self.unique, memory)
            if of_counts and not work.has(TEXTS):
                stream = files.open_counts(source, self.vocabulary, self.encoding, in_parts=True)
                write_count_stages(stream, work, self.encoding, **self.of_counts)
            elif not work.has(TEXTS):
                stages.read(stream_documents(source, **table))
            if not work.has(COUNTS):
                if not work.has(WORDS):
                    stages.count()
                stages.choose()
            work.remove_stage(WORDS)
            return stages.corpus()

    def on_cluster(self, folder: str | PathLike[str] | None) -> distributed.DistributedCorpus:
        ignored = {**self.columns, "vocabulary": self.vocabulary, "folder": folder}
        for parameter, value in {**ignored, "unique": self.unique is True or None}.items():
            if value and parameter != "text_column":
                raise InvalidParameterError(
                    "[only_texts_in_parquet] {parameter} does not apply to {path}, which names "
                    "Parquet files of texts for a cluster",
                    parameter=parameter,
                    path=str(self.path),
                )
        return distributed.read_parquet_corpus(
            self.path, self.settings, text_column=self.columns["text_column"]
        )


_COUNTING = ("lowercase", "raw", "passages", "phrases", "ngram_range", "tokenizer")
