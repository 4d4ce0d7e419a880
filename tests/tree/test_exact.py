"""The exact mode against literal transcriptions of H Algorithm 2 and T Algorithm 5, at depth 2."""

from __future__ import annotations

import numpy as np
import pytest

from momentree import ClusterTree, TopicTree
from momentree.exceptions import InvalidParameterError

from ..raising import raises

GRID = np.linspace(-1.0, 1.0, 50_001)
SMOOTHING = 1.0  # the papers do not say what a word of probability zero means
CLOSE = 1e-6
"""A sample whose two scores differ by less than this share of the largest difference is a tie, for
the grid of angles is no finer."""


def pairs_and_triples(X):
    """M2, and H_r = W M3[r] W^T for a given W, over ordered pairs and triples of other words."""
    c, s = X.sum(axis=1), X.sum(axis=0)
    M2 = (X.T @ X - np.diag(s)) / (c * (c - 1)).sum()

    def slices(W):
        Z, H = X @ W.T, np.empty((X.shape[1], 2, 2))
        for a in range(2):
            for b in range(2):
                P = W[a] * W[b]
                H[:, a, b] = X.T @ (Z[:, a] * Z[:, b] - X @ P) + 2 * s * P
                H[:, a, b] -= W[a] * (X.T @ Z[:, b]) + W[b] * (X.T @ Z[:, a])
        return H / (c * (c - 1) * (c - 2)).sum()

    return M2, slices


def raw_moments(X):
    """M2, and H_r = W M3[r] W^T for a given W, of the rows themselves (T eq. 6.5 and 6.6)."""

    def slices(W):
        Z = X @ W.T
        return np.einsum("nr,na,nb->rab", X, Z, Z, optimize=True) / len(X)

    return X.T @ X / len(X), slices


def best_rotated(M2, slices):
    """E O with the O of H Theorem 3.3, by a grid over a."""
    values, vectors = np.linalg.eigh(M2)
    E = vectors[:, -2:] * np.sqrt(values[-2:])
    H = slices(np.linalg.pinv(E))
    b = np.sqrt(1.0 - GRID**2)
    off = np.stack([b * GRID, b * b - GRID**2, -GRID * b])  # (O^T H O)_01 is linear in H_r
    V = np.stack([H[:, 0, 0], H[:, 0, 1], H[:, 1, 1]])
    best = int(np.einsum("ig,ij,jg->g", off, V @ V.T, off).argmin())
    a, b = GRID[best], b[best]
    return E @ np.array([[b, a], [-a, b]])


def projected(v):
    """The closest point of the simplex, by bisection on the threshold."""
    low, high = v.min() - 1.0, v.max()
    for _ in range(200):
        t = 0.5 * (low + high)
        low, high = (t, high) if np.maximum(v - t, 0).sum() > 1 else (low, t)
    p = np.maximum(v - low, 0)
    return p / p.sum()


def algorithm_2(X):
    EO = best_rotated(*pairs_and_triples(X))
    s = np.linalg.lstsq(EO, X.sum(axis=0) / X.sum(), rcond=None)[0]
    P = np.stack([projected(center) for center in (EO / s).T], axis=1)
    counts = P * s**2 / (s**2).sum() * X.sum() + SMOOTHING
    return X @ np.log(counts / counts.sum(axis=0))


def algorithm_5(X):
    return np.abs(X @ np.linalg.pinv(best_rotated(*raw_moments(X))).T)


def at_depth_2(algorithm, X):
    """The labels of four leaves, and which samples are ties somewhere."""
    groups, ties = [np.arange(len(X))], np.zeros(len(X), dtype=bool)
    for _ in range(2):
        parts = []
        for at in groups:
            scores = algorithm(X[at])
            margin = scores[:, 0] - scores[:, 1]
            ties[at] |= np.abs(margin) < CLOSE * np.abs(margin).max()
            parts += [at[margin >= 0], at[margin < 0]]
        groups = parts
    labels = np.empty(len(X), dtype=int)
    for i, at in enumerate(groups):
        labels[at] = i
    return labels, ties


def documents(rng, d):
    topics = rng.dirichlet(np.full(d, 0.1), 6)
    return np.stack([rng.multinomial(rng.integers(20, 80), topics[i % 6]) for i in range(240)])


def records(rng, d):
    rates = rng.beta(0.5, 2.0, (6, d))
    return (rng.random((240, d)) < rates[np.arange(240) % 6]).astype(float)


CASES = {
    "H Algorithm 2": (
        documents,
        algorithm_2,
        TopicTree.as_published("sidiwo", max_depth=2, smoothing=SMOOTHING),
    ),
    "T Algorithm 5": (records, algorithm_5, ClusterTree.as_published("thesis", max_depth=2)),
}


@pytest.mark.parametrize(("d", "n_seeds"), [(20, 8), (150, 2)])
@pytest.mark.parametrize("case", CASES)
def test_labels_are_those_of_the_papers(case, d, n_seeds):
    sample, algorithm, tree = CASES[case]
    for seed in range(n_seeds):
        X = sample(np.random.default_rng(seed), d)
        labels, ties = at_depth_2(algorithm, X)
        assert ties.mean() < 0.05
        pairs = set(zip(labels[~ties], tree.fit(X).labels_[~ties], strict=True))
        assert len(pairs) == len(set(labels)) == tree.n_leaves_, f"seed {seed}"


def test_the_papers_have_the_same_algorithm_for_topics():
    one, other = (TopicTree.as_published(paper) for paper in ("sidiwo", "thesis"))
    assert one.get_params() == other.get_params()


@pytest.mark.parametrize("cls", [TopicTree, ClusterTree])
def test_published_trees_have_eight_leaves_unless_limited_otherwise(cls):
    assert cls.as_published().max_depth == 3
    assert cls.as_published(max_leaf_nodes=5).max_depth is None
    assert cls.as_published("thesis", max_depth=6, smoothing=0.5).smoothing == 0.5
    with raises(InvalidParameterError, "not_a_choice", parameter="paper"):
        cls.as_published("lecture")
