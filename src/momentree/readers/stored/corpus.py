"""Count the words of a corpus larger than memory: from files to counts on disk, in three stages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from momentree.core.limits import memory_bytes
from momentree.exceptions import InvalidParameterError
from momentree.readers.copies import check_unique
from momentree.readers.counts._companions import Lines
from momentree.readers.counts.files import check_options, holds_counts
from momentree.readers.stored.corpus_stages import COUNTS, TEXTS, WORDS, Stages
from momentree.readers.stored.count_stages import stream_counts, write_count_stages
from momentree.readers.stored.objects import StoredCorpus
from momentree.readers.stored.work import WorkFolder, fingerprint
from momentree.readers.tables.files import AUTO, check_exists
from momentree.readers.text._columns import as_list
from momentree.readers.text.documents import stream_documents
from momentree.readers.text.passages import Cutting
from momentree.readers.text.selection import MAX_DF, MAX_FEATURES
from momentree.readers.text.tokenizers import Tokenizer
from momentree.readers.text.vectorizer import TextVectorizer
from momentree.readers.text.words import TOKEN_PATTERN, read_words


def store_corpus(
    path: str | PathLike[str],
    folder: str | PathLike[str],
    *,
    memory: int | str = "1GB",
    resume: bool = False,
    text_column: str | Sequence[str] | None = None,
    label_column: str | None = None,
    id_column: str | None = None,
    separator: str | None = None,
    sheet: str | None = None,
    skip_rows: int = 0,
    header: bool | None = None,
    encoding: str = AUTO,
    vocabulary: Lines | None = None,
    language: str | None = AUTO,
    stop_words: Iterable[str] | PathLike[str] = (),
    min_df: int | float | None = None,
    max_df: int | float = MAX_DF,
    max_features: int | None = MAX_FEATURES,
    token_pattern: str | None = None,
    lowercase: bool = True,
    raw: bool = False,
    passages: Cutting = "auto",
    unique: bool | Literal["auto"] = "auto",
    ngram_range: tuple[int, int] = (1, 1),
    tokenizer: Tokenizer | None = None,
    also: Mapping[str, Any] | None = None,
) -> StoredCorpus:
    r"""Read texts and count their words as :func:`read_corpus` does, in bounded memory.

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
    memory : int or str, default="1GB"
        Memory of the process: bytes, or "800MB", "1.5GB", "2GiB". At least 600 MB.
    resume : bool, default=False
        Whether to continue in a folder that an interrupted run has left.
    text_column, label_column, id_column, separator, sheet, skip_rows, header, encoding : optional
        How to read the input; see :func:`read_documents`.
    vocabulary : path, sequence of str or None, default=None
        For counts: the words of the columns, see :func:`read_counts`.
    language, stop_words, min_df, max_df, max_features, token_pattern, lowercase : optional
        Which words to keep; see :class:`TextVectorizer`.
    raw, passages, unique : optional
        As in :func:`vectorize`, but only exact copies of texts are found.
    ngram_range, tokenizer : optional
        What else counts as a word; see :class:`TextVectorizer`.
    also : mapping of str to object, default=None
        Options of the work that follows, which must not change either when it is continued.

    Returns
    -------
    StoredCorpus
        The same as :func:`read_corpus` returns, with counts, texts, ids and labels on disk, which
        are read as needed.

    Raises
    ------
    InvalidParameterError
        If the folder contains unfinished work and `resume` is False; if the input or an option has
        changed since; if `memory` is too small; if counts
        are in a file that is read as a whole; or as in :func:`read_corpus`.
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
    source = check_exists(path)
    allowed = memory_bytes(memory)
    check_unique(unique)
    reading: dict[str, Any] = {
        "text_column": as_list(text_column) or None,
        "label_column": label_column,
        "id_column": id_column,
        "separator": separator,
        "sheet": sheet,
        "skip_rows": skip_rows,
        "header": header,
        "encoding": encoding,
    }
    counting: dict[str, Any] = {
        "lowercase": lowercase,
        "raw": raw,
        "passages": passages,
        "ngram_range": ngram_range,
        "tokenizer": tokenizer,
    }
    settings = TextVectorizer(
        language=language,
        stop_words=read_words("stop_words", stop_words),
        min_df=min_df,
        max_df=max_df,
        max_features=max_features,
        token_pattern=TOKEN_PATTERN if token_pattern is None else token_pattern,
        **counting,
    )
    of_counts = holds_counts(source)
    if of_counts:
        ignored = {name: value for name, value in reading.items() if name != "encoding"}
        check_options(source, **ignored, **counting)
    elif vocabulary is not None:
        raise InvalidParameterError("only_for_counts", parameter="vocabulary", path=str(source))
    work = WorkFolder(Path(folder))
    options = {**reading, **settings.to_dict(), "unique": unique, "memory": allowed, **(also or {})}
    if of_counts:
        options |= {"vocabulary": vocabulary, "token_pattern": token_pattern}
    with work.begun(source, options, resume=resume):
        stages = Stages(work, settings, unique, allowed)
        if of_counts and not work.has(TEXTS):
            write_count_stages(
                stream_counts(source, vocabulary, encoding),
                work,
                (TEXTS, WORDS),
                encoding=encoding,
                language=language,
                stop_words=settings.stop_words,
                token_pattern=token_pattern,
            )
        elif not work.has(TEXTS):
            stages.read(stream_documents(source, **reading), fingerprint(source)["bytes"])
        if not work.has(COUNTS):
            if not work.has(WORDS):
                stages.count()
            stages.choose()
        work.remove_stage(WORDS)
        return stages.corpus()
