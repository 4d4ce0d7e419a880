"""Trees that were stored are rebuilt, unless their parts do not match."""

import numpy as np
import pytest

from momentree import TopicTree
from momentree.estimators.node import StoredTree
from momentree.exceptions import InvalidDataError

from ..raising import raises


@pytest.fixture(scope="module")
def tree():
    return TopicTree(3).fit(np.repeat(np.kron(np.eye(3), np.ones(4)), [30, 20, 10], axis=0))


def test_a_stored_tree_is_rebuilt(tree):
    root = StoredTree.of(tree.tree_).root(tree.labels_)
    assert [node.name for node in root.nodes()] == [node.name for node in tree.tree_.nodes()]
    np.testing.assert_array_equal(root.samples, np.arange(60))


@pytest.mark.parametrize("label", [-2, 3, 2**39])  # bincount would need 4 TiB for the last
def test_labels_of_other_leaves_are_refused(tree, label):
    labels = tree.labels_.copy()
    labels[0] = label
    with raises(InvalidDataError, "labels_beyond_groups"):
        StoredTree.of(tree.tree_).root(labels)


def test_labels_that_are_not_whole_numbers_are_refused(tree):
    with raises(InvalidDataError, "labels_beyond_groups"):
        StoredTree.of(tree.tree_).root(tree.labels_.astype(float))
