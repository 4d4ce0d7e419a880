"""More groups than columns, which flat methods of moments cannot have (T Fig. 6.5)."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from momentree import ClusterTree

LAYOUTS = {
    "square": [[0, 0], [10, 0], [0, 10], [10, 10]],
    "square around the origin": [[-5, -5], [5, -5], [-5, 5], [5, 5]],
    "diamond": [[0, 7], [7, 0], [0, -7], [-7, 0]],
    "slanted line": [[0, 0], [6, 6], [12, 12], [18, 18]],
    "two and two": [[0, 0], [0, 7], [20, 0], [20, 7]],
    "one far away": [[0, 0], [8, 0], [0, 8], [30, 30]],
    "far from the origin": [[100, 100], [110, 100], [100, 110], [110, 110]],
    "uneven": [[2, 2], [9, 3], [4, 11], [13, 12]],
    "parallelogram": [[0, 0], [9, 3], [9, 12], [18, 15]],
    "kite": [[0, 0], [8, 2], [2, 8], [16, 16]],
}


SHORT = ("square", "slanted line", "uneven")


def every(layouts):
    """Each layout, some only in the long run."""
    return pytest.mark.parametrize(
        "layout",
        [pytest.param(x, marks=() if x in SHORT else pytest.mark.long) for x in layouts],
    )


def sample(layout, seed, sizes=(500, 500, 500, 500)):
    rng = np.random.default_rng(seed)
    centers = np.array(LAYOUTS[layout], dtype=float)
    truth = rng.permutation(np.repeat(np.arange(4), sizes))
    return centers[truth] + rng.standard_normal((len(truth), 2)), truth, centers


def errors(tree, centers):
    """Distances of leaves to the centers that they stand for, in standard errors."""
    found = np.array([leaf.center for leaf in tree.leaves_])
    distance = np.linalg.norm(found[:, None] - centers, axis=2)
    leaf, center = linear_sum_assignment(distance)
    sizes = np.array([tree.leaves_[i].n_samples for i in leaf])
    return distance[leaf, center] * np.sqrt(sizes)


@every(LAYOUTS)
def test_the_four_centers_are_found(layout):
    for seed, refine in enumerate(("em", "leaves")):
        X, truth, centers = sample(layout, seed)
        tree = ClusterTree(4, refine=refine).fit(X)
        assert tree.n_leaves_ == 4
        assert (errors(tree, centers) < 4).all()
        wrong = sum(
            len(leaf.samples) - np.bincount(truth[leaf.samples]).max() for leaf in tree.leaves_
        )
        assert wrong <= 10


@every(["diamond", "slanted line", "parallelogram"])
def test_moments_alone_find_them_where_one_direction_is_longest(layout):
    """Their borders are not those of least error: centers are within a standard deviation."""
    for seed in range(2):
        X, truth, centers = sample(layout, seed)
        tree = ClusterTree(4, refine=None).fit(X)
        found = np.array([leaf.center for leaf in tree.leaves_])
        distance = np.linalg.norm(found[:, None] - centers, axis=2)
        assert distance[linear_sum_assignment(distance)].max() < 1.0
        groups = [np.bincount(truth[leaf.samples]).argmax() for leaf in tree.leaves_]
        assert sorted(groups) == [0, 1, 2, 3]


@every([layout for layout in LAYOUTS if layout != "kite"])
def test_growth_ends_by_itself_at_four(layout):
    """In the kite the first cut goes through a group, and what is cut off stays a leaf."""
    X, _, centers = sample(layout, 0)
    tree = ClusterTree("auto").fit(X)
    assert tree.n_leaves_ == 4
    assert (errors(tree, centers) < 4).all()


@every(LAYOUTS)
def test_groups_of_unequal_size_are_found(layout):
    X, _, centers = sample(layout, 1, sizes=(1000, 500, 250, 250))
    tree = ClusterTree(4).fit(X)
    assert (errors(tree, centers) < 4).all()
