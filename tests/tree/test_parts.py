"""Trees of rows elsewhere are those of the same rows in memory."""

import numpy as np
import pytest

from momentree import ClusterTree, SingleTopicModel, TopicTree
from momentree.datasets import make_single_topic
from momentree.exceptions import InvalidDataError
from tests.parts import Parts
from tests.raising import raises

TREES = {
    "without refinement": TopicTree(4, refine=None),
    "em": TopicTree(4, search="none"),
    "log scaling": TopicTree(4, search="none", log_scaling="log1p"),
    "uniform": TopicTree(4, search="none", weighting="uniform", log_scaling=None),
    "by depth": TopicTree(max_depth=2, growth="depth", max_leaf_nodes=None),
}


@pytest.fixture(scope="module")
def documents():
    return make_single_topic(400, 15, 4, length=30, concentration=0.5, random_state=1).X


def fitted(tree, X):
    return tree.__class__(**tree.get_params()).fit(
        X, sample_weight=np.linspace(0.5, 1.5, X.shape[0])
    )


def assert_same(found, expected):
    nodes = zip(found.tree_.nodes(), expected.tree_.nodes(), strict=True)
    for node, other in nodes:
        np.testing.assert_allclose(node.center, other.center, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(node.weight, other.weight, rtol=1e-8)
        np.testing.assert_allclose(node.gain, other.gain, rtol=1e-7)


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_a_tree_of_parts_is_that_of_the_whole(tree, documents):
    whole = fitted(tree, documents)
    rows = Parts(documents)
    parts = fitted(tree, rows)
    assert_same(parts, whole)
    np.testing.assert_array_equal(parts.labels_, whole.labels_)
    assert [node.name for node in parts.tree_.nodes()] == [n.name for n in whole.tree_.nodes()]
    assert not [note for note in parts.notes_ if note.code == "rows_brought_here"]


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_a_tree_needs_no_row_of_a_site(tree, documents):
    whole = fitted(tree, documents)
    site = fitted(tree, Parts(documents, site=True))
    assert_same(site, whole)
    np.testing.assert_array_equal(site.predict(documents), whole.labels_)


def test_rows_for_a_search_are_brought_with_a_note(documents):
    whole, parts = fitted(TopicTree(4), documents), fitted(TopicTree(4), Parts(documents))
    np.testing.assert_array_equal(parts.labels_, whole.labels_)
    assert [note.code for note in parts.notes_].count("rows_brought_here") == 1
    with raises(InvalidDataError, "rows_needed_here"):
        fitted(TopicTree(4), Parts(documents, site=True))


@pytest.mark.parametrize("model", [TopicTree(4), SingleTopicModel(4)], ids=["tree", "flat"])
def test_a_search_in_a_sample_leaves_the_others_where_they_are(model, documents, monkeypatch):
    for name, value in {"SEARCHED": 50, "SEARCHED_OF_TOPIC": 10}.items():
        monkeypatch.setattr(f"momentree.tree.topic_growth.{name}", value)
    for name, value in {"DECISIVE": 50, "DECISIVE_OF_GROUP": 1, "DECISIVE_VALUES": 50}.items():
        monkeypatch.setattr(f"momentree.preprocessing.burstiness.{name}", value)
    whole, parts = fitted(model, documents), fitted(model, Parts(documents))
    np.testing.assert_array_equal(parts.labels_, whole.labels_)
    assert "rows_brought_here" not in [note.code for note in parts.notes_]


CLUSTERS = {
    "binary, leaves": (ClusterTree(4), True),
    "binary, splits": (ClusterTree(4, refine="splits"), True),
    "binary, rules": (ClusterTree(4, refine=None), True),
    "counts": (ClusterTree(4), False),
    "counts, unscaled": (ClusterTree(4, scaling=None, refine=None), False),
}


def data_of(documents, binary):
    return (documents > 1).astype(float) if binary else documents


@pytest.mark.parametrize(("tree", "binary"), CLUSTERS.values(), ids=CLUSTERS)
def test_clusters_of_parts_are_those_of_the_whole(tree, binary, documents):
    X = data_of(documents, binary)
    whole, parts = fitted(tree, X), fitted(tree, Parts(X))
    assert_same(parts, whole)
    np.testing.assert_array_equal(parts.labels_, whole.labels_)
    assert [node.name for node in parts.tree_.nodes()] == [n.name for n in whole.tree_.nodes()]
    assert parts.notes_ == []
    site = fitted(tree, Parts(X, site=True))
    assert_same(site, whole)
    np.testing.assert_array_equal(site.predict(X), whole.labels_)


def test_real_data_are_brought_with_a_note():
    X = np.random.default_rng(0).normal(size=(60, 3)) + np.repeat([[0.0], [9.0]], 30, axis=0)
    whole, parts = ClusterTree(2).fit(X), ClusterTree(2).fit(Parts(X))
    np.testing.assert_array_equal(parts.labels_, whole.labels_)
    assert [note.code for note in parts.notes_].count("rows_always_brought_here") == 1
    with raises(InvalidDataError, "rows_always_needed_here"):
        ClusterTree(2).fit(Parts(X, site=True))
