"""Results of the readers of texts: documents, their passages, and corpora of word counts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree._validation import check_lengths
from momentree.messages import Message
from momentree.readers.tables.roles import count_words
from momentree.readers.text.vectorizer import Cutting, TextVectorizer


class _Labelled:
    """Labels with the names that scikit-learn's loaders use."""

    @property
    def _labels(self) -> Sequence[str] | None:
        found: Sequence[str] | None = vars(self)["labels"]
        return found

    @property
    def target(self) -> Ints | None:
        """Position of each label in `target_names`; None without labels."""
        return None if self._labels is None else np.unique(self._labels, return_inverse=True)[1]

    @property
    def target_names(self) -> list[str] | None:
        """Distinct labels in alphabetical order; None without labels."""
        return None if self._labels is None else sorted(set(self._labels))

    def _described(self, *contents: str) -> str:
        if self.target_names is not None:
            contents += (f"{len(self.target_names)} labels",)
        return ", ".join(contents)


@dataclass(frozen=True, eq=False)
class Documents(_Labelled):
    """Texts with their ids and, if known, their labels.

    Parameters
    ----------
    texts : list of str
        One text per document; an empty text is a document without words.
    ids : list of str
        Names of the documents, not necessarily unique.
    labels : list of str or None, default=None
        Known class of each document; "" if unknown.
    name : str, default="documents"
        Source of the texts.
    notes : sequence of Message, default=()
        What the reader guessed, repaired or left out.

    Raises
    ------
    InvalidDataError
        If the number of ids or labels differs from the number of texts.

    Examples
    --------
    >>> from momentree.datasets import Documents
    >>> pets = Documents(["a cat", "a dog", "the cat"], ["1", "2", "3"], ["cat", "dog", "cat"])
    >>> len(pets), pets.target.tolist(), pets.target_names
    (3, [0, 1, 0], ['cat', 'dog'])
    """

    texts: list[str]
    ids: list[str]
    labels: list[str] | None = None
    name: str = "documents"
    notes: Sequence[Message] = ()

    def __post_init__(self) -> None:
        check_lengths(len(self.texts), "text", ids=self.ids, labels=self.labels)

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        return f"Documents({self._described(repr(self.name), f'{len(self):,} texts')})"

    @property
    def data(self) -> list[str]:
        """The texts, under the name that scikit-learn's loaders use."""
        return self.texts


class DocumentStream:
    """Documents in batches, which are read one after the other.

    Parameters
    ----------
    name : str
        Source of the texts.
    batches : iterator of Documents
        Consecutive documents, to be read once.
    notes : list of Message
        What was guessed, repaired or left out; complete after the last batch.
    n_documents : float or None, default=None
        About how many there are, if that is known before reading.
    """

    def __init__(
        self,
        name: str,
        batches: Iterator[Documents],
        notes: list[Message],
        n_documents: float | None = None,
    ) -> None:
        self.name, self._batches, self.notes = name, batches, notes
        self.n_documents = n_documents

    def __iter__(self) -> Iterator[Documents]:
        return self._batches

    def together(self) -> Documents:
        """Return all documents; those without a label have "" if any has one."""
        texts: list[str] = []
        ids: list[str] = []
        labels: list[str] | None = None
        for batch in self:
            if batch.labels is not None and labels is None:
                labels = [""] * len(texts)
            texts += batch.texts
            ids += batch.ids
            if labels is not None:
                labels += batch.labels or [""] * len(batch)
        return Documents(texts, ids, labels, self.name, self.notes)


@dataclass(frozen=True, eq=False)
class Corpus(_Labelled):
    """Word counts of documents, with the words, ids, labels and texts.

    Parameters
    ----------
    X : csr_array or Rows of shape (n, d)
        X[i, j] >= 0 is how often word j occurs in document i, or in passage i if long documents
        were cut.
    vocabulary : ndarray of str, shape (d,)
        The word of each column.
    ids : sequence of str
        Names of the documents.
    labels : sequence of str or None, default=None
        Known class of each document; "" if unknown.
    texts : sequence of str or None, default=None
        The texts; None if the source contains counts.
    name : str, default="corpus"
        Source of the counts.
    vectorizer : TextVectorizer or None, default=None
        Counts new texts in the same way; None if the source contains counts.
    notes : sequence of Message, default=()
        What the reader guessed, repaired or left out.
    passages : Passages or None, default=None
        The documents whose passages are the rows; None if each row is a document.
    weights : ndarray of shape (n,) or None, default=None
        Weights of the rows, for the argument `sample_weight` of ``fit``; None if all are 1.

    Raises
    ------
    InvalidDataError
        If the number of words differs from the number of columns, or the number of ids, labels or
        texts differs from the number of rows.
    """

    X: Any
    vocabulary: NDArray[Any]
    ids: Sequence[str]
    labels: Sequence[str] | None = None
    texts: Sequence[str] | None = None
    name: str = "corpus"
    vectorizer: TextVectorizer | None = None
    notes: Sequence[Message] = ()
    passages: Passages | None = None
    weights: Floats | None = None

    def __post_init__(self) -> None:
        n, d = self.X.shape
        check_lengths(d, "column of X", vocabulary=self.vocabulary)
        check_lengths(n, "row of X", ids=self.ids, labels=self.labels, texts=self.texts)
        check_lengths(n, "row of X", weights=self.weights)
        if self.passages is not None:
            check_lengths(n, "row of X", passages=self.passages.document_of)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def __repr__(self) -> str:
        n, d = self.X.shape
        rows = f"{n:,} documents"
        if self.passages is not None:
            documents = (
                "1 document" if len(self.passages) == 1 else f"{len(self.passages):,} documents"
            )
            rows = f"{n:,} passages of {documents}"
        described = self._described(repr(self.name), rows, f"{d:,} words")
        return f"Corpus({described})"

    @property
    def data(self) -> Any:
        """The counts, under the name that scikit-learn's loaders use."""
        return self.X


PASSAGE_WORDS = 200
"""Words of a passage of a long text."""

LONG_TEXT_WORDS = 2000
"""Words above which "auto" cuts a text."""

_LEEWAY = 0.3
"""How far a cut may move to the end of a paragraph or sentence, as a fraction of a passage."""

_BREAKS = (
    re.compile(r"\n[^\S\n]*\n\s*"),  # paragraphs
    re.compile(r"(?<=[.!?…])[\"'”’»)\]]*\s+|(?<=[。！？।።])"),  # sentences
    re.compile(r"\n"),
    re.compile(r"\s+"),
)


@dataclass(frozen=True, eq=False)
class Passages:
    """Documents whose passages are the rows of a corpus.

    Parameters
    ----------
    document_of : ndarray of int of shape (n_rows,)
        Number of the document of each row, ascending.
    ids : sequence of str
        Names of the documents.
    labels : sequence of str or None, default=None
        Known class of each document; "" if unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.datasets import Passages
    >>> letters = Passages(np.array([0, 0, 1]), ["a.txt", "b.txt"])
    >>> proportions = np.array([[0.9, 0.1], [0.5, 0.5], [0.0, 1.0]])
    >>> letters.join(proportions, weights=np.array([100, 300, 200])).tolist()
    [[0.6, 0.4], [0.0, 1.0]]
    """

    document_of: Ints
    ids: Sequence[str]
    labels: Sequence[str] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def counts(self) -> Ints:
        """Number of passages of each document."""
        return np.bincount(self.document_of, minlength=len(self.ids))

    def join(self, proportions: Floats, weights: NDArray[Any]) -> Floats:
        """Return the topic proportions of documents, averaged over their passages.

        Parameters
        ----------
        proportions : ndarray of shape (n_rows, k)
            Topic proportions, or probabilities of topics, of the passages.
        weights : ndarray of shape (n_rows,)
            Numbers of known words in the passages. If a document has none, its passages have
            equal weights.

        Returns
        -------
        ndarray of shape (n_documents, k)
            Averages; rows sum to 1 if those of `proportions` do.
        """
        n = len(self.ids)
        totals = np.bincount(self.document_of, weights=weights, minlength=n)
        each = np.where(totals[self.document_of] > 0, weights, 1.0)
        totals = np.bincount(self.document_of, weights=each, minlength=n)
        joined = np.empty((n, proportions.shape[1]))
        for k in range(proportions.shape[1]):
            parts = np.bincount(self.document_of, weights=each * proportions[:, k], minlength=n)
            joined[:, k] = parts / totals
        return joined


@dataclass(frozen=True, eq=False)
class Cut:
    """The passages of texts, and the number of the document of each."""

    texts: list[str]
    ids: list[str]
    labels: list[str] | None
    document_of: Ints

    @property
    def sizes(self) -> Ints:
        """Number of passages of each document."""
        return np.bincount(self.document_of)


def cut_documents(
    texts: Sequence[str], ids: Sequence[str], labels: Sequence[str] | None, words: Cutting
) -> Cut:
    """Cut long texts into passages.

    "auto" cuts texts of more than 2,000 words into passages of about 200. A number cuts texts of
    more than one and a half times that number of words.
    """
    longest, size = _sizes(words)
    n_words = [0 if words is None else count_words(text) for text in texts]
    pieces: list[str] = []
    names: list[str] = []
    document_of: list[int] = []
    for i, (text, n) in enumerate(zip(texts, n_words, strict=True)):
        parts = cut_text(text, max(1, round(n / size))) if n > longest else [text]
        pieces += parts
        document_of += [i] * len(parts)
        whole = len(parts) == 1
        names += [ids[i]] if whole else [f"{ids[i]}, passage {j + 1}" for j in range(len(parts))]
    labels_of = None if labels is None else [labels[i] for i in document_of]
    return Cut(pieces, names, labels_of, np.array(document_of, dtype=np.intp))


def note_cut(n_documents: int, n_passages: int, words: Cutting) -> Message:
    """Return a note on documents that were cut."""
    return Message(
        "[cut_into_passages] {n_rows:~document} with more than {longest:,} words {n_rows:?is/are} "
        "cut into {n_entries:~passage}; {parameter:=none} keeps {n_rows:?it/them} whole",
        n_rows=n_documents,
        longest=_sizes(words)[0],
        n_entries=n_passages,
        parameter="passages",
        none=None,
    )


def _sizes(words: Cutting) -> tuple[int, int]:
    """Return the number of words above which texts are cut, and that of a passage."""
    if isinstance(words, Integral):
        return 3 * int(words) // 2, int(words)
    return LONG_TEXT_WORDS, PASSAGE_WORDS


def cut_text(text: str, n_passages: int) -> list[str]:
    r"""Cut a text into passages of similar length, which joined give the text.

    Each cut is at the end of a paragraph, or else of a sentence, a line or a word, near the place
    where equal lengths would put it.

    Parameters
    ----------
    text : str
        A text.
    n_passages : int
        Number of passages.

    Returns
    -------
    list of str
        At most `n_passages` texts, none empty unless the text is.

    Examples
    --------
    >>> from momentree.readers.text.objects import cut_text
    >>> cut_text("The sea is near. A boat lies in the harbour.", 2)
    ['The sea is near. ', 'A boat lies in the harbour.']
    """
    length = len(text) / n_passages
    reach = int(_LEEWAY * length)
    edges = [0]
    for i in range(1, n_passages):
        near = round(i * length)
        edges.append(_best_break(text, max(near - reach, edges[-1] + 1), near, near + reach))
    return [text[a:b] for a, b in pairwise([*edges, len(text)]) if a < b] or [text]


def _best_break(text: str, first: int, near: int, last: int) -> int:
    last = min(last, len(text))
    for pattern in _BREAKS:
        ends = [match.end() for match in pattern.finditer(text, first, last)]
        if ends:
            return min(ends, key=lambda end: (abs(end - near), end))
    return min(max(near, first), len(text))
