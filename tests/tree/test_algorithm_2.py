"""The first split against a literal transcription of Algorithms 1 and 2 of H (slow, dense)."""

import itertools

import numpy as np
import pytest

from momentree import TopicTree
from momentree.datasets import make_single_topic

GRID = np.linspace(-1.0, 1.0, 20_001)
SMOOTHING = 1.0
ALGORITHM_2 = {"growth": "depth", "refine": None, "log_scaling": None, "smoothing": SMOOTHING}


def literal_moments(X):
    """M1, M2, M3 as averages over all ordered pairs and triples of words of one document."""
    d = X.shape[1]
    M1, M2, M3 = np.zeros(d), np.zeros((d, d)), np.zeros((d, d, d))
    for x in X:
        words = np.repeat(np.arange(d), x)
        np.add.at(M1, words, 1.0)
        pairs = np.array(list(itertools.permutations(words, 2)), dtype=int).reshape(-1, 2)
        np.add.at(M2, tuple(pairs.T), 1.0)
        triples = np.array(list(itertools.permutations(words, 3)), dtype=int).reshape(-1, 3)
        np.add.at(M3, tuple(triples.T), 1.0)
    return M1 / M1.sum(), M2 / M2.sum(), M3 / M3.sum()


def literal_algorithm_1(M1, M2, M3):
    """Pseudo-centers in columns and weights, by the grid of Theorem 3.3."""
    values, vectors = np.linalg.eigh(M2)
    E = vectors[:, -2:] * np.sqrt(values[-2:])
    W = np.linalg.pinv(E)
    objective = np.zeros(len(GRID))
    b = np.sqrt(1 - GRID**2)
    O_a = np.array([[b, GRID], [-GRID, b]])
    for r in range(len(M1)):
        H_r = W @ M3[:, r, :] @ W.T  # D = (E O_a)^+ = O_a^T W
        DMD_01 = np.einsum("ig,ij,jg->g", O_a[:, 0], H_r, O_a[:, 1])
        objective += DMD_01**2
    best = int(np.argmin(objective))
    EO = E @ O_a[:, :, best]
    s = np.linalg.lstsq(EO, M1, rcond=None)[0]
    return EO / s, s**2


def literal_projection(v):
    """The closest point of the simplex, by bisection on the threshold."""
    low, high = v.min() - 1.0, v.max()
    for _ in range(200):
        t = 0.5 * (low + high)
        low, high = (t, high) if np.maximum(v - t, 0).sum() > 1 else (low, t)
    p = np.maximum(v - low, 0)
    return p / p.sum()


def literal_algorithm_2(X):
    """Which documents are on the side of the first pseudo-center."""
    centers, weights = literal_algorithm_1(*literal_moments(X))
    centers = np.stack([literal_projection(center) for center in centers.T], axis=1)
    # What the papers leave open, a word of probability zero: centers get a pseudo-count.
    counts = centers * weights / weights.sum() * X.sum() + SMOOTHING
    log_centers = np.log(counts / counts.sum(axis=0))
    return np.array([x @ log_centers[:, 0] >= x @ log_centers[:, 1] for x in X])


def assert_same_partition(tree, X):
    some = X.any(axis=1)  # a document without words is as likely on both sides
    first = literal_algorithm_2(X)[some]
    ours = tree.labels_[some] == 0
    if ours[0] != first[0]:
        first = ~first
    np.testing.assert_array_equal(ours, first)
    assert 0 < ours.sum() < len(ours)


@pytest.mark.parametrize("seed", range(12))
def test_the_first_split_is_that_of_the_papers(seed):
    rng = np.random.default_rng(seed)
    d, k = int(rng.integers(4, 11)), int(rng.integers(2, 5))
    lengths = rng.integers(0, 14, size=40)
    X = make_single_topic(40, d, k, length=lengths, exponent=0.0, random_state=seed).X.toarray()
    assert_same_partition(TopicTree(2, min_samples_leaf=1, **ALGORITHM_2).fit(X), X)


def test_the_first_split_by_iterated_eigenvectors_is_that_of_the_papers():
    # Above 64 words the eigenvectors come from the Lanczos iteration, to two digits.
    X = make_single_topic(
        80, 80, 3, length=14, exponent=0.0, concentration=0.1, random_state=0
    ).X.toarray()
    assert_same_partition(TopicTree(2, **ALGORITHM_2).fit(X), X)


def test_the_papers_recursion_gives_the_tree():
    # Each side is split by the same two algorithms, down to the requested depth.
    X = make_single_topic(90, 9, 4, length=12, exponent=0.0, random_state=3).X.toarray()
    tree = TopicTree(max_depth=2, min_samples_leaf=1, **ALGORITHM_2).fit(X)
    first = literal_algorithm_2(X)
    parts = []
    for side in (np.flatnonzero(first), np.flatnonzero(~first)):
        inside = literal_algorithm_2(X[side])
        parts += [frozenset(side[inside].tolist()), frozenset(side[~inside].tolist())]
    assert {frozenset(leaf.samples.tolist()) for leaf in tree.leaves_} == set(parts)
