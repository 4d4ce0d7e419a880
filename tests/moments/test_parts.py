"""Moments of rows elsewhere are those of the same rows in memory, by small questions."""

import numpy as np
import pytest
import scipy.sparse as sp

from momentree.backends import RowBlocks
from momentree.moments import (
    AugmentedRawMoments,
    BernoulliMoments,
    LDAMoments,
    PoissonMoments,
    RawMoments,
    SingleTopicMoments,
)
from tests.parts import Parts

N, D, K = 60, 7, 3


def per_row(rows, low, high):
    """Numbers for each row, which depend on the row only."""
    return rows.map(_Between(low, high))


class _Between:
    def __init__(self, low, high):
        self.low, self.high = low, high

    def __call__(self, B):
        c = B.dot(np.arange(1.0, D + 1))
        return self.low + (self.high - self.low) * (c % 7) / 7


def single_topic(**options):
    def make(rows, v):
        return SingleTopicMoments.from_rows(rows, sample_weight=v, **options)

    return make


def scaled(rows, v):
    u = per_row(rows, 0.5, 1.5)
    return SingleTopicMoments.from_rows(rows, sample_weight=v, count_per_token=u)


def incomplete(rows, v):
    return BernoulliMoments(rows, v, np.linspace(0.5, 1.0, D))


def augmented(rows, v):
    return AugmentedRawMoments(rows, v, per_row(rows, 0.5, 2.0), np.linspace(1.0, 2.0, D), -1.5)


MAKERS = {
    "single topic": single_topic(),
    "uniform": single_topic(weighting="uniform"),
    "scaled": scaled,
    "lda": lambda rows, v: LDAMoments(single_topic()(rows, v), 0.7),
    "poisson": PoissonMoments,
    "raw": RawMoments,
    "binary": BernoulliMoments,
    "incomplete": incomplete,
    "augmented": augmented,
}


def counts(n):
    return np.random.default_rng(0).poisson(1.0, size=(n, D)).astype(float)


def answers(make, rows, v):
    """Everything that a decomposition asks."""
    moments = make(rows, v)
    d = len(moments.m1)
    W = np.random.default_rng(1).standard_normal((K, d))
    return [
        moments.m1,
        moments.m2 @ W.T,
        moments.m2 @ W[0],
        moments.whitened_slices(W),
        moments.whitened_tensor(W),
    ]


@pytest.mark.parametrize("site", [False, True])
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_moments_of_parts_are_those_of_the_whole(make, site):
    X, v = counts(N), np.random.default_rng(2).uniform(0.0, 2.0, N)
    whole = answers(make, RowBlocks(sp.csr_array(X)), v)
    for n_parts in (1, 4):
        parts = answers(make, Parts(X, n_parts, site=site), v)
        for found, expected in zip(parts, whole, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_questions_do_not_grow_with_the_data(make):
    sizes = []
    for n in (N, 20 * N):
        rows = Parts(counts(n))
        answers(make, rows, np.ones(n))
        sizes.append(max(rows.sent))
    assert sizes[1] <= sizes[0] + 10  # the digits of a total


def test_a_site_keeps_its_rows():
    rows = Parts(counts(N), site=True)
    with pytest.raises(PermissionError):
        np.asarray(rows.row_sums)
