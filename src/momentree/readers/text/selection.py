"""Choose the words to keep, by limits on document frequency and on their number."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._types import Ints
from momentree._validation import check_integer
from momentree.exceptions import EmptyCorpusError, InvalidParameterError
from momentree.messages import Message

MAX_DF = 0.5
MAX_FEATURES = 20_000


def default_min_df(n_documents: int) -> int:
    """Return the default `min_df`, the minimum number of documents that contain a word.

    Parameters
    ----------
    n_documents : int
        Number of documents in the corpus.

    Returns
    -------
    int
        5 for 1,000 documents or more, else 2.

    Examples
    --------
    >>> from momentree.datasets import default_min_df
    >>> default_min_df(999), default_min_df(1000)
    (2, 5)
    """
    return 5 if n_documents >= 1000 else 2


def check_limits(min_df: Any, max_df: Any, max_features: Any) -> None:
    """Raise ``InvalidParameterError`` if a limit is out of range."""
    if min_df is not None:
        _check_df("min_df", min_df)
    _check_df("max_df", max_df)
    check_integer("max_features", max_features, at_least=1, optional=True)


def _check_df(parameter: str, value: Any) -> None:
    is_number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    whole = isinstance(value, Integral)
    if not (is_number and (value >= 0 if whole else 0 <= value <= 1)):
        raise InvalidParameterError("not_a_document_frequency", parameter=parameter, value=value)


def select_columns(
    X: sp.csr_array[Any],
    words: NDArray[Any],
    min_df: int | float | None,
    max_df: int | float,
    max_features: int | None,
    candidates: NDArray[np.bool_] | None = None,
) -> Ints:
    """Return the columns to keep, in ascending order, for texts and counts alike.

    `candidates` marks the words that may be kept. Ties between equal counts are broken in
    alphabetical order.
    """
    n, d = X.shape
    df = np.bincount(X.indices[X.data > 0], minlength=d)
    lowest = default_min_df(n) if min_df is None else _as_count(min_df, n)
    highest = _as_count(max_df, n)
    allowed = df > 0 if candidates is None else candidates & (df > 0)
    rare, common = allowed & (df < lowest), allowed & (df > highest)
    columns = np.flatnonzero(allowed & ~rare & ~common)
    if not len(columns):
        n_rare, n_common, n_allowed = (int(words.sum()) for words in (rare, common, allowed))
        remedy = "lower_min_df" if n_rare >= n_common else "raise_max_df"
        raise EmptyCorpusError(
            "no_word_kept",
            n_words=d,
            n_documents=n,
            n_rare=n_rare,
            n_common=n_common,
            n_other=d - n_allowed,
            min_df=lowest if min_df is None else min_df,
            max_df=max_df,
            remedy=Message(remedy if n_allowed else "exclude_fewer_words"),
        )
    if max_features is not None and len(columns) > max_features:
        totals = np.bincount(X.indices, weights=X.data, minlength=d)[columns]
        # Ties are broken by the alphabet, so that the order of the documents has no effect.
        order = np.lexsort((words[columns].astype(str), -totals))
        columns = np.sort(columns[order[:max_features]])
    return columns


def _as_count(value: int | float, n: int) -> float:
    return float(value) if isinstance(value, Integral) else float(value) * n


def note_empty(X: sp.csr_array[Any]) -> list[Message]:
    """Return a note on documents without any of the words kept, if there are any."""
    n_empty = int((X.sum(axis=1) == 0).sum())
    if not n_empty:
        return []
    return [Message("documents_without_words", n_rows=n_empty, n_all=X.shape[0])]
