"""Divide documents into folds for document completion, and the vocabulary into two halves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats, Ints

N_FOLDS = 5


@dataclass(frozen=True)
class Fold:
    """Training documents, test documents, and the columns of two halves of the vocabulary.

    A test document is known by its words of one half, and completed by those of the other. No word
    is in both. A document that repeats some of its words more often than its topic would (bursts)
    therefore shows nothing of this in its other half; random halves of its tokens would.
    """

    X: Any
    weight: Floats
    test: Any
    test_weight: Floats
    halves: tuple[Ints, Ints]

    def directions(self) -> Iterator[tuple[Ints, Ints]]:
        """Yield (known, hidden): each half of the vocabulary is known once."""
        yield self.halves
        yield self.halves[::-1]


def folds(
    X: Any, weight: Floats, groups: Ints, random_state: np.random.RandomState, *, n_test: int
) -> Iterator[Fold]:
    """Yield folds, each testing a different fifth of the documents, until `n_test` are tested.

    Copies of a document, with the same number in `groups`, are never divided between training and
    testing; at most `n_test` documents of a fold are tested. Without `n_test` there is one fold,
    for training only.
    """
    n_groups = int(groups.max(initial=-1)) + 1
    if not n_test or n_groups < 2:
        none = np.arange(X.shape[1])
        yield Fold(X, weight, X[:0], weight[:0], (none, none[:0]))
        return
    size = min(N_FOLDS, n_groups)
    fold = (random_state.permutation(n_groups) % size)[groups]
    halves = halves_of_words(X, weight, random_state)
    n_tested = 0
    for i in range(size):
        train, test = np.flatnonzero(fold != i), np.flatnonzero((fold == i) & (weight > 0))
        if len(test) > n_test:
            test = np.sort(test[random_state.permutation(len(test))[:n_test]])
        yield Fold(X[train], weight[train], X[test], weight[test], halves)
        n_tested += len(test)
        if n_tested >= n_test:
            return


def halves_of_words(
    X: Any, weight: Floats, random_state: np.random.RandomState
) -> tuple[Ints, Ints]:
    """Divide the words at random into two halves, each with half of the words of any frequency.

    Words are paired by the number (weight) of documents that contain them; one word of each pair
    goes into each half.
    """
    present = sp.csr_array((np.ones(len(X.data)), X.indices, X.indptr), shape=X.shape)
    order = np.argsort(-(present.T @ weight), kind="stable")
    first = random_state.randint(0, 2, size=-(-len(order) // 2))
    place = np.arange(len(order))
    side = (first[place // 2] + place) % 2
    return np.sort(order[side == 0]), np.sort(order[side == 1])
