"""What the readers of this room hand on: texts, counts of words, or coded records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree.exceptions import InvalidDataError

if TYPE_CHECKING:
    from momentree.readers.records.coder import RecordCoder
    from momentree.readers.text.vectorize import TextVectorizer

__all__ = ["Corpus", "Documents", "Records"]


@dataclass(frozen=True, eq=False)
class Documents:
    """Texts with their ids and, where known, their labels.

    Parameters
    ----------
    texts : list of str
        One text a document; an empty text is a document without words.
    ids : list of str
        Names of the documents; they need not differ.
    labels : list of str or None, default=None
        Known class of each document; "" where it is not known.
    name : str, default="documents"
        Where the texts come from.
    skipped : sequence of str, default=()
        What the reader repaired or left out, one message each.

    Raises
    ------
    InvalidDataError
        If there are not as many ids or labels as texts.

    Examples
    --------
    >>> from momentree.datasets import Documents
    >>> pile = Documents(["a cat", "a dog", "the cat"], ["1", "2", "3"], ["cat", "dog", "cat"])
    >>> len(pile), pile.target.tolist(), pile.target_names
    (3, [0, 1, 0], ['cat', 'dog'])
    """

    texts: list[str]
    ids: list[str]
    labels: list[str] | None = None
    name: str = "documents"
    skipped: Sequence[str] = ()

    def __post_init__(self) -> None:
        _check_lengths(len(self.texts), "texts", ids=self.ids, labels=self.labels)

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        return f"Documents({self.name!r}, {len(self):,} texts{_count_labels(self.labels)})"

    @property
    def data(self) -> list[str]:
        """The texts, under the name that scikit-learn's loaders use."""
        return self.texts

    @property
    def target(self) -> NDArray[np.intp] | None:
        """Codes of the labels as positions in `target_names`; None without labels."""
        return None if self.labels is None else np.unique(self.labels, return_inverse=True)[1]

    @property
    def target_names(self) -> list[str] | None:
        """The different labels in alphabetical order; None without labels."""
        return None if self.labels is None else sorted(set(self.labels))


@dataclass(frozen=True, eq=False)
class Corpus:
    """Counts of words in documents, and all that is known of the words and documents.

    Parameters
    ----------
    X : csr_array of shape (n, d)
        X[i, j] >= 0 is the number of times that word j is in document i.
    vocabulary : ndarray of str, shape (d,)
        The word of each column.
    ids : list of str
        Names of the documents.
    labels : list of str or None, default=None
        Known class of each document; "" where it is not known.
    texts : list of str or None, default=None
        The texts; None when the source holds counts.
    name : str, default="corpus"
        Where the counts come from.
    vectorizer : TextVectorizer or None, default=None
        How texts became counts, to do the same with new texts; None when the source holds counts.
    skipped : sequence of str, default=()
        What the reader repaired or left out, one message each.

    Raises
    ------
    InvalidDataError
        If there are not as many words as columns, or not as many ids, labels or texts as rows.
    """

    X: sp.csr_array[Any]
    vocabulary: NDArray[Any]
    ids: list[str]
    labels: list[str] | None = None
    texts: list[str] | None = None
    name: str = "corpus"
    vectorizer: TextVectorizer | None = None
    skipped: Sequence[str] = ()

    def __post_init__(self) -> None:
        n, d = self.X.shape
        _check_lengths(d, "columns of X", vocabulary=self.vocabulary)
        _check_lengths(n, "rows of X", ids=self.ids, labels=self.labels, texts=self.texts)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def __repr__(self) -> str:
        n, d = self.X.shape
        return f"Corpus({self.name!r}, {n:,} documents, {d:,} words{_count_labels(self.labels)})"

    @property
    def data(self) -> sp.csr_array[Any]:
        """The counts, under the name that scikit-learn's loaders use."""
        return self.X

    @property
    def target(self) -> NDArray[np.intp] | None:
        """Codes of the labels as positions in `target_names`; None without labels."""
        return None if self.labels is None else np.unique(self.labels, return_inverse=True)[1]

    @property
    def target_names(self) -> list[str] | None:
        """The different labels in alphabetical order; None without labels."""
        return None if self.labels is None else sorted(set(self.labels))


@dataclass(frozen=True, eq=False)
class Records:
    """Coded records: which record has which code, and all that is known of both.

    Parameters
    ----------
    X : csr_array of float64, shape (n, d)
        1 where record i has code j; NaN, as a stored entry, where that is missing.
    codes : ndarray of str, shape (d,)
        The code of each column, in alphabetical order.
    names : dict of str to str
        Name of each code that has one.
    ids : list of str
        Names of the records; they need not differ.
    enough : ndarray of bool, shape (n,)
        Whether a record has enough codes to be learnt from; the others can be assigned to a group.
    coder : RecordCoder
        How codes became columns, to do the same with new records.
    outcomes : dict of str to ndarray of shape (n,), default={}
        Values of each outcome: float with NaN where missing, or str with "" where missing.
    outcome_names : dict of str to (str, str), default={}
        What 0 and 1 are called in outcomes of two values in words, such as ("No", "Yes").
    name : str, default="records"
        Where the records come from.
    form : {"long", "lists", "slots", "wide"}, default="long"
        How they were written there.
    notes : sequence of str, default=()
        What was found out, repaired and left out, one message each.

    Raises
    ------
    InvalidDataError
        If lengths do not fit.
    """

    X: sp.csr_array[Any]
    codes: NDArray[Any]
    names: dict[str, str]
    ids: list[str]
    enough: NDArray[np.bool_]
    coder: RecordCoder
    outcomes: dict[str, NDArray[Any]] = field(default_factory=dict)
    outcome_names: dict[str, tuple[str, str]] = field(default_factory=dict)
    name: str = "records"
    form: str = "long"
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        n, d = self.X.shape
        _check_lengths(d, "columns of X", codes=self.codes)
        _check_lengths(n, "rows of X", ids=self.ids, enough=self.enough, **self.outcomes)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def __repr__(self) -> str:
        n, d = self.X.shape
        return f"Records({self.name!r}, {n:,} records, {d:,} codes, {self.X.nnz:,} entries)"

    def title(self, code: str) -> str:
        """Return a code with its name.

        Parameters
        ----------
        code : str
            A code of a column.

        Returns
        -------
        str
            Such as "250 Diabetes mellitus"; the code alone where it has no name.
        """
        name = self.names.get(code, "")
        return f"{code} {name}" if name and name != code else code


def _check_lengths(expected: int, what: str, **sequences: Any) -> None:
    for name, values in sequences.items():
        if values is not None and len(values) != expected:
            msg = f"{len(values)} {name} for {expected} {what}: give one for each"
            raise InvalidDataError(msg)


def _count_labels(labels: list[str] | None) -> str:
    return "" if labels is None else f", {len(set(labels))} labels"
