"""Counts in the columns of another vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree.exceptions import InvalidDataError
from momentree.readers.objects import Corpus

__all__ = ["align_columns"]


def align_columns(corpus: Corpus, vocabulary: Sequence[str]) -> Corpus:
    """Give counts the columns of another vocabulary, such as that of a fitted tree.

    Parameters
    ----------
    corpus : Corpus
        Counts in columns of their own.
    vocabulary : sequence of str of shape (d,)
        Words of the columns wanted, each once.

    Returns
    -------
    Corpus
        Counts of shape (n, d): words that `vocabulary` does not have are left out, words that
        `corpus` does not have are zero.

    Raises
    ------
    InvalidDataError
        If no word is in both, or `vocabulary` names a word twice.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from momentree.datasets import Corpus, align_columns
    >>> corpus = Corpus(sp.csr_array([[1, 2], [0, 3]]), np.array(["cat", "dog"]), ["a", "b"])
    >>> align_columns(corpus, ["dog", "sun"]).X.toarray().tolist()
    [[2, 0], [3, 0]]
    """
    wanted = pd.Index(np.asarray(vocabulary, dtype=object), dtype=object)
    if not wanted.is_unique:
        msg = f"the vocabulary names {wanted[wanted.duplicated()][0]!r} twice; name each word once"
        raise InvalidDataError(msg)
    new = wanted.get_indexer(pd.Index(np.asarray(corpus.vocabulary, dtype=object), dtype=object))
    if not (new >= 0).any():
        msg = (
            f"none of the {len(new)} words of {corpus.name} (such as {_some(corpus.vocabulary)}) "
            f"is among the {len(wanted)} wanted (such as {_some(vocabulary)}); give counts of "
            f"the same words, in the same spelling"
        )
        raise InvalidDataError(msg)
    X = corpus.X
    columns = new[X.indices]
    kept = columns >= 0
    indptr = np.concatenate([[0], np.cumsum(kept)])[X.indptr]
    aligned = sp.csr_array((X.data[kept], columns[kept], indptr), shape=(X.shape[0], len(wanted)))
    aligned.sum_duplicates()
    return replace(corpus, X=aligned, vocabulary=wanted.to_numpy(dtype=object))


def _some(words: Sequence[str] | NDArray[Any]) -> str:
    return ", ".join(repr(str(word)) for word in words[:3])
