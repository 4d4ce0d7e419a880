"""No tree exceeds its limits, and limits or parameters that would do nothing are refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momentree import ClusterTree, TopicTree
from momentree.exceptions import InvalidParameterError

from ..raising import raises
from .cluster_data import KINDS, REFINE, of_kind

GROWTH = ("best_first", "depth")
unfinished = pytest.mark.filterwarnings("ignore::momentree.exceptions.ConvergenceWarning")


def data_of(kind):
    if kind != "directions":
        return of_kind(kind, n=60)[0]
    X = of_kind("real", n=60)[0]
    return X / np.linalg.norm(X, axis=1, keepdims=True)


limits = st.fixed_dictionaries(
    {"max_leaf_nodes": st.integers(1, 9), "max_depth": st.none() | st.integers(0, 4)}
)


def assert_within(tree, max_leaf_nodes, max_depth):
    assert tree.n_leaves_ <= max_leaf_nodes
    if max_depth is not None:
        assert max(leaf.depth for leaf in tree.leaves_) <= max_depth


@unfinished
@settings(deadline=None, max_examples=40)
@given(limits, st.sampled_from(GROWTH), st.sampled_from(["em", None]), st.integers(0, 3))
def test_a_tree_of_topics_has_no_more_leaves_than_requested(limits, growth, refine, seed):
    topics = np.random.default_rng(seed).dirichlet(np.full(20, 0.1), 5)
    X = np.random.default_rng(seed).multinomial(30, topics[np.arange(60) % 5])
    tree = TopicTree(**limits, growth=growth, refine=refine, min_samples_leaf=1).fit(X)
    assert_within(tree, **limits)


@unfinished
@settings(deadline=None, max_examples=40)
@given(
    limits,
    st.sampled_from(GROWTH),
    st.sampled_from(REFINE),
    st.sampled_from([*KINDS, "directions"]),
)
def test_a_tree_of_clusters_has_no_more_leaves_than_requested(limits, growth, refine, kind):
    tree = ClusterTree(**limits, growth=growth, refine=refine, min_samples_leaf=1)
    assert_within(tree.fit(data_of(kind)), **limits)


@pytest.mark.parametrize("make", [TopicTree, ClusterTree])
@pytest.mark.parametrize("growth", GROWTH)
def test_a_tree_needs_a_limit(make, growth):
    with raises(InvalidParameterError, "unlimited_tree"):
        make(None, growth=growth).fit(data_of("counts"))


def test_covariances_without_em_are_refused():
    for refine in ("splits", None):
        with raises(InvalidParameterError, "covariances_of_em", refine=refine):
            ClusterTree(3, covariance_type="full", refine=refine).fit(data_of("real"))
