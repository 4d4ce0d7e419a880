"""Chains of splits that separate about equally are one node with several children."""

import numpy as np
import pytest

from momentree import ClusterTree, TopicTree
from momentree.assignment.rules import LinearRule
from momentree.datasets import make_hierarchical_topics
from momentree.objects import TopicParameters
from momentree.tree.hierarchy import ABOUT_THE_SAME, hierarchy, join_chains


def topics(groups, leaves, between=100.0, within=100.0, d=400, seed=0):
    """Return topics in columns: `groups` groups of `leaves`, all drawn around one distribution."""
    rng = np.random.default_rng(seed)

    def around(base, concentration):
        return rng.dirichlet(np.maximum(concentration * base, 1e-3))

    base = rng.dirichlet(np.full(d, 0.5))
    centers = [around(base, between) for _ in range(groups)] if groups > 1 else [base]
    return np.stack([around(c, within) for c in centers for _ in range(leaves)], axis=1)


def joined(profiles, sizes):
    """Return the hierarchy of profiles with chains joined, as the leaves below each inner node."""
    sums = 50.0 * profiles * sizes
    root, order = hierarchy(sums, sizes, TopicParameters)
    join_chains(root, sums[:, order], sizes[order], TopicParameters)
    place = dict(zip(root.leaves(), order.tolist(), strict=True))
    return root, {
        frozenset(place[leaf] for leaf in branch.leaves())
        for branch in root.branches()
        if branch.children
    }


@pytest.mark.parametrize("seed", range(3))
def test_unrelated_topics_are_children_of_one_node(seed):
    sizes = np.random.default_rng(seed).uniform(20, 400, size=9)
    root, found = joined(topics(1, 9, d=1000, seed=seed), sizes)
    assert found == {frozenset(range(9))}
    assert len(root.children) == 9
    assert all(child.depth == 1 for child in root.children)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("between", "within"), [(100.0, 200.0), (200.0, 100.0)])
def test_levels_remain(seed, between, within):
    sizes = np.random.default_rng(seed).uniform(50, 150, size=12)
    _, found = joined(topics(3, 4, between, within, seed=seed), sizes)
    groups = {frozenset(range(4 * i, 4 * i + 4)) for i in range(3)}
    assert found >= groups | {frozenset(range(12))}


def test_sizes_do_not_matter():
    profiles = topics(3, 4, 100.0, 200.0)
    shapes = [joined(profiles, sizes)[1] for sizes in (np.full(12, 9.0), np.full(12, 9000.0))]
    assert shapes[0] == shapes[1]


def test_a_joined_node_has_no_rule_and_all_children():
    profiles = topics(1, 5)
    root, order = hierarchy(profiles, np.ones(5), TopicParameters)
    leaves = root.leaves()
    for branch in root.branches():
        if branch.children:
            branch.rule = LinearRule(np.zeros(1), 0.0)
    join_chains(root, profiles[:, order], np.ones(5), TopicParameters)
    assert root.rule is None
    assert root.children == leaves  # from left to right as before


@pytest.mark.long
def test_trees_of_nested_topics_stay_binary():
    X = make_hierarchical_topics(2000, random_state=0).X
    tree = TopicTree(8).fit(X)
    assert [len(node.children) for node in tree.tree_.nodes() if node.children] == [2] * 7


def unrelated(n=900, seed=0):
    profiles = topics(1, 6, seed=seed)
    labels = np.arange(n) % 6
    return np.random.default_rng(seed).multinomial(80, profiles.T[labels])


def test_trees_of_unrelated_topics_are_flat_and_every_export_agrees():
    X = unrelated()
    tree = TopicTree(6).fit(X)
    assert [len(node.children) for node in tree.tree_.nodes() if node.children] == [6]
    assert len(tree.to_dict()["children"]) == 6
    assert len(tree.to_frame()) == tree.to_networkx().number_of_nodes() == 7
    assert tree.to_newick().count("(") == 1
    assert tree.decision_path(X).shape == (900, 7)
    np.testing.assert_array_equal(tree.apply(X), tree.labels_ + 1)
    gain = sum(n.gain for n in TopicTree(6, growth="depth", max_depth=5).fit(X).tree_.nodes())
    # The leaves are the same, and gains add up to that of the leaves over one group.
    assert tree.tree_.gain == pytest.approx(gain, rel=1e-6)


@pytest.mark.parametrize("options", [{"refine": None}, {"growth": "depth"}])
def test_trees_of_the_papers_keep_every_split(options):
    tree = TopicTree(6, **options).fit(unrelated())
    assert all(len(node.children) in (0, 2) for node in tree.tree_.nodes())


def test_clusters_are_joined_too():
    X = (
        np.random.default_rng(0).random((600, 40))
        < np.kron(np.eye(4), np.full((1, 10), 0.5))[np.arange(600) % 4] + 0.05
    )
    assert len(ClusterTree(4).fit(X).tree_.children) == 4


def test_the_limit_is_a_fraction():
    assert 0 < ABOUT_THE_SAME < 1
