"""Divide documents into folds for document completion, and test documents into halves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from momentree._types import Floats, Ints
from momentree.inference import split_words

N_FOLDS = 5


@dataclass(frozen=True)
class Fold:
    """Training documents, and test documents in two halves: known and hidden words."""

    X: Any
    weight: Floats
    known: Any
    hidden: Any
    test_weight: Floats


def folds(
    X: Any, weight: Floats, groups: Ints, random_state: np.random.RandomState, *, n_test: int
) -> Iterator[Fold]:
    """Yield folds, each testing a different fifth of the documents, until `n_test` are tested.

    Copies of a document, with the same number in `groups`, are never divided between training and
    testing. Without `n_test` there is one fold, for training only.
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
