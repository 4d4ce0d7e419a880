"""Cut long texts into passages, at the ends of paragraphs and sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree._validation import check_integer
from momentree.exceptions import InvalidParameterError
from momentree.messages import Message
from momentree.readers.tables.values import count_words

Cutting = int | Literal["auto"] | None
"""Words of a passage; "auto" cuts long texts, None cuts none."""

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


def check_passages(value: Any) -> None:
    """Raise ``InvalidParameterError`` unless a value is "auto", None or a number of words."""
    if value is None or value == "auto":
        return
    if isinstance(value, str):
        raise InvalidParameterError(
            "{parameters.passages:=value}; expected a number of words, 'auto', or "
            "{parameters.passages:=none} to keep texts whole",
            value=value,
            none=None,
        )
    check_integer("passages", value, at_least=1)


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
    >>> from momentree.readers.text.passages import cut_text
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
