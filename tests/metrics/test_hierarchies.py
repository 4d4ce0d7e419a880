"""Dendrogram purity: against all pairs, on trees of any shape and on linkages."""

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage

from momentree import TopicTree
from momentree.exceptions import InvalidDataError
from momentree.metrics import dendrogram_purity

from ..raising import raises


@dataclass
class Node:
    """A node of a made-up tree."""

    samples: np.ndarray
    children: list["Node"] = field(default_factory=list)


def random_tree(samples, rng):
    """Return a tree with up to four children a node, and leaves of up to three samples."""
    if len(samples) <= rng.integers(1, 4):
        return Node(np.sort(samples))
    n = min(int(rng.integers(2, 5)), len(samples))
    borders = np.sort(rng.choice(np.arange(1, len(samples)), n - 1, replace=False))
    parts = np.split(rng.permutation(samples), borders)
    return Node(np.sort(samples), [random_tree(part, rng) for part in parts])


def smallest(node, i, j):
    for child in node.children:
        if i in child.samples and j in child.samples:
            return smallest(child, i, j)
    return node


def literal(root, labels):
    """The definition: the mean over pairs of the purity of the smallest common node."""
    labels = np.asarray(labels)
    values = [
        np.mean(labels[smallest(root, i, j).samples] == labels[i])
        for i, j in combinations(range(len(labels)), 2)
        if labels[i] == labels[j]
    ]
    return np.mean(values)


@pytest.mark.parametrize("seed", range(6))
def test_trees_of_any_shape_against_all_pairs(seed):
    rng = np.random.default_rng(seed)
    root = random_tree(np.arange(14), rng)
    labels = rng.choice(["a", "b", "c"], 14)
    assert dendrogram_purity(root, labels) == pytest.approx(literal(root, labels), rel=1e-12)


@pytest.mark.parametrize("method", ["ward", "single"])
def test_linkages_against_all_pairs(method):
    rng = np.random.default_rng(1)
    merges = linkage(rng.normal(size=(12, 2)), method)
    groups = [Node(np.array([i])) for i in range(12)]
    for a, b in merges[:, :2].astype(int):
        parts = [groups[a], groups[b]]
        groups.append(Node(np.concatenate([part.samples for part in parts]), parts))
    labels = rng.integers(0, 3, 12)
    expected = literal(groups[-1], labels)
    assert dendrogram_purity(merges, labels) == pytest.approx(expected, rel=1e-12)
    assert dendrogram_purity(merges.tolist(), labels) == pytest.approx(expected, rel=1e-12)


def test_fitted_trees():
    labels = np.repeat([0, 1, 2], [30, 20, 10])
    X = np.kron(np.eye(3), np.ones(4))[labels]
    order = np.random.default_rng(0).permutation(60)
    tree = TopicTree(3).fit(X[order])
    assert dendrogram_purity(tree, labels[order]) == 1.0
    assert dendrogram_purity(tree.tree_, labels[order]) == 1.0
    # A single node: the purity of all samples, weighted by the pairs of each class.
    pairs = np.array([30 * 29, 20 * 19, 10 * 9])
    expected = pairs @ [30, 20, 10] / 60 / pairs.sum()
    assert dendrogram_purity(tree.cut(1), labels[order]) == pytest.approx(expected)


def test_classes_of_one_sample_do_not_count():
    merges = linkage(np.array([[0.0], [0.1], [9.0]]))
    assert dendrogram_purity(merges, ["a", "a", "b"]) == 1.0


@pytest.mark.parametrize(
    ("tree", "labels", "code"),
    [
        (linkage(np.eye(3)), [0, 0], "labels_not_of_tree"),
        (linkage(np.eye(3)), [0, 1, 2], "no_two_of_a_class"),
        (linkage(np.eye(3)), [], "no_two_of_a_class"),
        (linkage(np.eye(3)), [[0, 1, 1]], "wrong_shape"),
        (linkage(np.eye(3)), [0, "a", None], "values_without_order"),
        (linkage(np.eye(3))[:, :3], [0, 0, 1], "not_a_tree"),
        (np.array([[0, 1, 1.0, 2], [0, 3, 1.0, 3]]), [0, 0, 1], "not_a_tree"),
        (np.array([[0, 4, 1.0, 2], [1, 2, 1.0, 3]]), [0, 0, 1], "not_a_tree"),
        (np.array([[0, np.nan, 1.0, 2], [1, 2, 1.0, 3]]), [0, 0, 1], "not_a_tree"),
        ("tree", [0, 0, 1], "not_a_tree"),
        (None, [0, 0, 1], "not_a_tree"),
        (TopicTree(2), [0, 0, 1], "not_a_tree"),
        (Node(np.arange(4)), [0, 0, 1], "labels_not_of_tree"),
    ],
)
def test_other_input_is_refused(tree, labels, code):
    with raises(InvalidDataError, code):
        dendrogram_purity(tree, labels)
