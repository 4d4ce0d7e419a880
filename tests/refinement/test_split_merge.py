"""Exchanges: one component is split, and two others are merged."""

import numpy as np

from momentree.refinement.proposals import Exchange, Sides, after_exchanges, exchanges


def groups(labels, X, k):
    sums = np.stack([X[labels == j].sum(axis=0) for j in range(k)], axis=1).astype(float)
    return sums, np.bincount(labels, minlength=k).astype(float)


def halves_of(here, second, X):
    sums, sizes = groups(second.astype(int), X[here], 2)
    return Sides(here, second, sums, sizes)


def example():
    """Three topics of 20 documents; component 0 joins two of them, 1 and 2 share the third."""
    rng = np.random.default_rng(0)
    topics = np.kron(np.eye(3), np.ones(10)) * 0.09 + 0.1 / 30
    truth = np.repeat([0, 1, 2], 20)
    X = np.array([rng.multinomial(40, t / t.sum()) for t in topics[truth]])
    labels = np.where(truth < 2, 0, 1 + np.arange(60) % 2)
    here = np.flatnonzero(labels == 0)
    return X, truth, labels, {0: halves_of(here, truth[here] == 1, X)}


def test_an_exchange_repairs_a_joined_and_a_divided_topic():
    X, truth, labels, halves = example()
    sums, sizes = groups(labels, X, 3)
    found = exchanges(sums, sizes, halves, smoothing=1.0, min_size=1)
    assert found == [Exchange(0, 1, 2)]
    new = after_exchanges(labels, halves, found)
    assert len(set(zip(truth, new, strict=True))) == 3
    assert sorted(set(new)) == [0, 1, 2]


def test_right_components_are_left_alone():
    X, truth, _, _ = example()
    sums, sizes = groups(truth, X, 3)
    here = np.flatnonzero(truth == 0)
    halves = {0: halves_of(here, np.arange(20) % 2 == 1, X)}
    assert exchanges(sums, sizes, halves, smoothing=1.0, min_size=1) == []


def test_small_components_are_merged_first():
    X, truth, _, _ = example()
    labels = truth.copy()
    labels[40:] = 1  # components 1 and 3 are right or too large, 2 has three documents of topic 0
    labels[:3] = 2
    sums, sizes = groups(labels, X, 3)
    here = np.flatnonzero(labels == 1)
    halves = {1: halves_of(here, truth[here] == 2, X)}
    found = exchanges(sums, sizes, halves, smoothing=1.0, min_size=5)
    assert found == [Exchange(1, 0, 2)]


def test_no_component_is_used_twice():
    rng = np.random.default_rng(1)
    k, n = 8, 160
    X = rng.poisson(rng.gamma(0.5, size=(k, 30))[np.repeat(np.arange(k), 20)])
    labels = rng.permutation(np.repeat(np.arange(k), 20))
    sums, sizes = groups(labels, X, k)
    halves = {
        j: halves_of(here, rng.random(20) < 0.5, X)
        for j in range(k)
        if len(here := np.flatnonzero(labels == j))
    }
    found = exchanges(sums, sizes, halves, smoothing=0.1, min_size=n)  # all may be merged
    used = [c for e in found for c in (e.split, e.i, e.j)]
    assert len(found) == 2
    assert len(set(used)) == len(used)
