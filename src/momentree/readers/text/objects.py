"""Results of the readers of texts and counts: documents, and corpora of word counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree._validation import check_lengths
from momentree.messages import Message
from momentree.readers.text.passages import Passages
from momentree.readers.text.vectorizer import TextVectorizer


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
