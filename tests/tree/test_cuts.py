"""Cuts of a tree at any number of leaves: nested, and consistent in every form."""

from functools import cache

import numpy as np
import pytest

from momentree import ClusterTree, TopicTree, load
from momentree.datasets import make_hierarchical_topics, make_patient_records, make_single_topic
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.tree.hierarchy import Merges

from ..raising import raises

TREES = {
    "nested topics": TopicTree(8),
    "topics": TopicTree(7),
    "rules": TopicTree(6, refine=None),
    "records": ClusterTree(7),
    "splits of records": ClusterTree(6, refine="splits"),
    "numbers": ClusterTree(6),
}


@cache
def fitted(name):
    if "records" in name:
        X = make_patient_records(400, random_state=0).X.toarray()
    elif name == "numbers":
        rng = np.random.default_rng(0)
        X = rng.normal(size=(300, 5)) + 4.0 * np.eye(5)[np.arange(300) % 5]
    elif name == "topics":
        X = make_single_topic(400, 80, 7, length=60, exponent=0.3, random_state=0).X
    else:
        X = make_hierarchical_topics(400, random_state=0).X
    return X, TREES[name].fit(X)


every_tree = pytest.mark.parametrize("name", TREES)


@every_tree
def test_cuts_are_nested_and_have_as_many_leaves_as_requested(name):
    X, tree = fitted(name)
    before = None
    for k in range(1, tree.n_leaves_ + 1):
        cut = tree.cut(k)
        assert cut.n_leaves_ == len(np.unique(cut.labels_)) == k
        np.testing.assert_array_equal(cut.predict(X), cut.labels_)
        for other in (before, tree):  # one divides the leaves of the other
            if other is not None:
                pairs = np.unique(np.column_stack([cut.labels_, other.labels_]), axis=0)
                assert len(pairs) == max(k, other.n_leaves_)
        if before is not None:
            np.testing.assert_array_equal(cut.cut(k - 1).labels_, before.labels_)
        before = cut
    assert before is not None
    np.testing.assert_array_equal(before.labels_, tree.labels_)
    assert before.to_newick() == tree.to_newick()


@every_tree
def test_nodes_of_a_cut_describe_their_samples(name):
    X, tree = fitted(name)
    X = X.toarray() if hasattr(X, "toarray") else X
    for k in range(1, tree.n_leaves_ + 1):
        cut = tree.cut(k)
        nodes = list(cut.tree_.nodes())
        assert [node.node_id for node in nodes] == list(range(len(nodes)))
        assert [leaf.leaf_id for leaf in cut.leaves_] == list(range(k))
        assert len({node.name for node in nodes}) == len(nodes)
        for node in nodes:
            weights = [child.weight for child in node.children]
            assert weights == sorted(weights, reverse=True)
            assert node.weight == pytest.approx(node.n_samples / len(X))
            assert (node.reason is None) == bool(node.children)
            assert (node.gain > 0) == bool(node.children)
            assert all(child.parent is node for child in node.children)
            assert all(child.depth == node.depth + 1 for child in node.children)
            mean = X[node.samples].mean(axis=0)
            expected = mean / mean.sum() if isinstance(tree, TopicTree) else mean
            np.testing.assert_allclose(node.center, expected, rtol=1e-9, atol=1e-12)
        for i, leaf in enumerate(cut.leaves_):
            np.testing.assert_array_equal(leaf.samples, np.flatnonzero(cut.labels_ == i))


@every_tree
def test_probabilities_of_merged_leaves_add_up(name):
    X, tree = fitted(name)
    proba = tree.predict_proba(X)
    cut = tree.cut(3)
    to = np.array([cut.labels_[leaf.samples[0]] for leaf in tree.leaves_])
    expected = np.stack([proba[:, to == i].sum(axis=1) for i in range(3)], axis=1)
    np.testing.assert_allclose(cut.predict_proba(X), expected, rtol=1e-9, atol=1e-12)


@every_tree
def test_gains_fall_by_what_each_merge_loses(name):
    _, tree = fitted(name)
    total = [sum(node.gain for node in tree.cut(k).tree_.nodes()) for k in range(1, 6)]
    losses = tree._merges.losses[::-1]
    # Log-likelihoods are sums of thousands of nats.
    np.testing.assert_allclose(np.diff(total), losses[:4], rtol=1e-6)


@every_tree
def test_a_cut_is_saved_and_loaded(name, tmp_path):
    X, tree = fitted(name)
    cut = tree.cut(4)
    cut.save(tmp_path / "cut.mt")
    again = load(tmp_path / "cut.mt")
    np.testing.assert_array_equal(again.predict(X), cut.labels_)
    np.testing.assert_array_equal(again.cut(2).labels_, tree.cut(2).labels_)


def test_levels_of_nested_topics_are_cut_first():
    sample = make_hierarchical_topics(400, random_state=0)
    tree = fitted("nested topics")[1]
    own = sample.components[:, :50].sum(axis=1) > 0.5  # the topics of the first half of the words
    pairs = {
        (bool(own[j]), int(i)) for j, i in zip(sample.labels, tree.cut(2).labels_, strict=True)
    }
    assert len(pairs) == 2


def test_names_given_by_hand_remain():
    _, tree = fitted("nested topics")
    top, last = tree.tree_.children[0], tree.leaves_[-1]
    numbers = [leaf.leaf_id for leaf in top.leaves()]
    renamed = tree.rename({f"{numbers[0]}-{numbers[-1]}": "First half", last.leaf_id: "Last"})
    cut = renamed.cut(2)
    assert cut.given_names_ == {"0": "First half"}
    assert cut.names_[0] == "First half"
    assert tree.given_names_ == {}


def test_records_that_may_lack_codes_are_assigned_by_a_cut():
    X, tree = fitted("records")
    cut = tree.cut(3)
    assert cut.scoring()["sizes"] == np.bincount(cut.labels_).tolist()
    counts = [X[cut.labels_ == i].sum(axis=0) for i in range(3)]
    np.testing.assert_allclose(cut.scoring()["counts"], counts)
    assert cut.predict_incomplete_proba(X).shape == (400, 3)


def test_edits_of_a_cut():
    X, tree = fitted("records")
    edited = tree.cut(4).split_group(X, 0).merge_groups(X, [1, 2])
    assert edited.cut(2).n_leaves_ == 2


@pytest.mark.parametrize("k", [0, 9, -1, 2.5, None, "3", True])
def test_other_numbers_of_leaves_are_refused(k):
    with raises(InvalidParameterError, "not_a_number"):
        fitted("nested topics")[1].cut(k)


def test_a_report_of_a_cut():
    X, tree = fitted("nested topics")
    assert "<html" in tree.cut(3).to_html(X=X)
    assert tree.cut(3).get_params() == {**tree.get_params(), "max_leaf_nodes": 3}


@pytest.mark.parametrize("pairs", [[[0, 0]], [[0, 9]], [[0, -1]], [[0, 1], [0, 1]]])
def test_merges_that_do_not_match_the_nodes_are_refused(pairs):
    tree, n = fitted("nested topics")[1].cut(2), len(pairs)
    merges = Merges(np.array(pairs), np.ones(n), np.zeros(n, dtype=int), np.empty((0, 100)))
    with raises(InvalidDataError, "merges_not_of_tree"):
        merges.cut(tree._copied_root(), 1)


def test_a_cut_of_vectors_is_described_by_counts():
    rng = np.random.default_rng(0)
    labels = np.arange(200) % 5
    E = rng.normal(size=(200, 6)) * 0.3 + 4.0 * np.eye(5, 6)[labels]
    counts = rng.multinomial(20, (np.kron(np.eye(5), np.ones(4)) + 0.02)[labels] / 4.4)
    tree = ClusterTree(5).fit(E, counts=counts)
    for k in range(1, 6):
        cut = tree.cut(k)
        for node in cut.tree_.nodes():
            words = counts[node.samples].sum(axis=0)
            np.testing.assert_allclose(node.center, words / words.sum(), rtol=1e-9)
        assert len({node.name for node in cut.tree_.nodes()}) == len(list(cut.tree_.nodes()))
        np.testing.assert_array_equal(cut.predict(E), cut.labels_)
