"""Folds for document completion: documents for training, and for testing by halves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree.inference import split_words

__all__ = ["Fold", "folds"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

N_FOLDS = 5


@dataclass(frozen=True)
class Fold:
    """Training documents, and test documents of which half of the words are hidden.

    Attributes
    ----------
    X : csr_array of shape (n, d)
        Counts of the training documents.
    weight : ndarray of shape (n,)
        Their weights.
    known, hidden : csr_array of shape (m, d)
        The two halves of the test documents.
    test_weight : ndarray of shape (m,)
        Weights of the test documents.
    """

    X: Any
    weight: Floats
    known: Any
    hidden: Any
    test_weight: Floats


def folds(
    X: Any, weight: Floats, groups: Ints, random_state: np.random.RandomState, *, n_test: int
) -> Iterator[Fold]:
    """Yield folds, each with another fifth of the documents for testing.

    Parameters
    ----------
    X : csr_array of shape (n, d)
        Counts.
    weight : ndarray of shape (n,)
        Sample weights.
    groups : ndarray of int of shape (n,)
        Copies of a document have the same number, and stay on one side.
    random_state : RandomState
        Draws the folds and the halves of words.
    n_test : int >= 0
        Least number of test documents in all; with 0 there is one fold, for training only.

    Yields
    ------
    Fold
        As few as have so many test documents, at most five.
    """
    n_groups = int(groups.max(initial=-1)) + 1
    if not n_test or n_groups < 2:
        yield Fold(X, weight, X[:0], X[:0], weight[:0])
        return
    size = min(N_FOLDS, n_groups)
    fold = (random_state.permutation(n_groups) % size)[groups]
    n_tested = 0
    for i in range(size):
        train, test = np.flatnonzero(fold != i), np.flatnonzero((fold == i) & (weight > 0))
        known, hidden = split_words(X[test], random_state)
        yield Fold(X[train], weight[train], known, hidden, weight[test])
        n_tested += len(test)
        if n_tested >= n_test:
            return
