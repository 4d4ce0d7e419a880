"""The leaf that is split next, the end of growth, and the reasons that nodes keep."""

import math
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp

from momentree import ClusterTree, TopicTree
from momentree.assignment.rules import LinearRule
from momentree.backends import RowBlocks, products
from momentree.datasets import make_hierarchical_topics, make_single_topic
from momentree.messages import Message
from momentree.objects import TopicParameters
from momentree.tree.growth import Limits, TreeGrowth
from momentree.tree.split import Split, Splits
from momentree.tree.splitters import TopicSplitter

from .splitting import split_one


@pytest.fixture(scope="module")
def X():
    return make_single_topic(300, 40, 6, length=30, exponent=0.3, random_state=0).X


def literal_log_scaled(X):
    """Return log2(1 + x) min(1, sqrt(24 / c)) in single precision, where trees grow."""
    Y = np.log2(1.0 + X.toarray())
    c = Y.sum(axis=1, keepdims=True)
    return (
        (Y * np.minimum(1.0, np.sqrt(24.0 / np.where(c > 0, c, 1.0))))
        .astype(np.float32)
        .astype(float)
    )


def literal_log_likelihood(Y, weight):
    """Of documents under the multinomial that fits them best, a word after the other."""
    sums = weight @ Y
    return sum(s * np.log(s / sums.sum()) for s in sums if s > 0)


@pytest.mark.parametrize("refine", ["em", None])
@pytest.mark.parametrize("log_scaling", ["log1p", None])
def test_gains_are_differences_of_log_likelihood(X, refine, log_scaling):
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=X.shape[0])
    tree = TopicTree(6, refine=refine, log_scaling=log_scaling).fit(X, sample_weight=weight)
    Y = literal_log_scaled(X) if log_scaling else X.toarray().astype(float)
    for node in tree.tree_.nodes():
        if node.is_leaf:
            assert node.gain == 0.0
            continue
        value = [
            literal_log_likelihood(Y[part.samples], weight[part.samples])
            for part in (node, *node.children)
        ]
        # Single precision, at every stored value, of the sums that logarithms are taken of.
        tolerance = 4 * np.finfo(np.float32).eps * abs(value[0])
        assert node.gain == pytest.approx(sum(value[1:]) - value[0], abs=tolerance)
        assert node.gain > 0


def first_split(X, **options):
    """Return the gain of the best split of a whole group, or None where there is none."""
    tree = TopicTree(2, refine=None, **options).fit(X)
    return tree.tree_.gain if tree.n_leaves_ == 2 else None


@pytest.mark.parametrize("log_scaling", ["log1p", None])
def test_best_first_splits_the_leaf_that_gains_most(X, log_scaling):
    # Every leaf of a tree with k leaves is refitted alone; documents are scaled one by one, so
    # that a group alone is split as it is within the tree.
    previous = None
    for k in range(2, 6):
        tree = TopicTree(k, refine=None, log_scaling=log_scaling).fit(X)
        groups = {frozenset(leaf.samples.tolist()) for leaf in tree.leaves_}
        if previous is not None:
            (split,) = set(previous) - groups
            gains = {
                group: first_split(X[sorted(group)], log_scaling=log_scaling) for group in previous
            }
            assert split == max(
                (group for group in previous if gains[group] is not None), key=gains.get
            )
            (node,) = (
                node for node in tree.tree_.nodes() if frozenset(node.samples.tolist()) == split
            )
            assert node.gain == pytest.approx(gains[split], rel=1e-9)
        previous = groups


class Prescribed:
    """Splits a run of documents in halves for a gain that is looked up."""

    def __init__(self, gains):
        self.gains, self.groups, self.rounds = gains, [], []

    def __call__(self, groups):
        self.rounds.append(groups.n_groups)
        parts = [(at, self.split(alone.rows)) for at, alone in groups.alone()]
        return Splits.joined(groups.rows, parts)

    def split(self, rows):
        group = tuple(rows.matrix.toarray()[:, 0].astype(int).tolist())
        self.groups.append(group)
        side = (np.arange(len(group)) >= len(group) // 2).astype(np.intp)
        if group not in self.gains:
            return Splits([Message("[one_component]")], side)
        sizes = np.bincount(side, minlength=2).astype(float)
        sums = np.bincount(side, weights=group, minlength=2)[None]
        return Splits([Split(LinearRule(np.ones(1), 0.0), self.gains[group], sums, sizes)], side)


def prescribed_growth(gains, n, **options):
    rows = RowBlocks(sp.csr_array(np.arange(1.0, n + 1.0)[:, None]))
    splitter = Prescribed(gains)
    grown = TreeGrowth(rows, np.ones(n), np.ones(n), splitter).grow(Limits(**options))
    k = len(grown.root.leaves())
    leaves = [np.flatnonzero(grown.labels == i).tolist() for i in range(k)]
    return leaves, splitter.groups, grown.root


GAINS = {
    (1, 2, 3, 4, 5, 6, 7, 8): 1.0,
    (1, 2, 3, 4): 2.0,
    (5, 6, 7, 8): 9.0,
    (5, 6): 1.0,
    (7, 8): 5.0,
}


def test_growth_takes_prescribed_gains_in_order():
    leaves, _, _ = prescribed_growth(GAINS, 8, leaves=4)
    assert leaves == [[0, 1, 2, 3], [4, 5], [6], [7]]
    leaves, _, root = prescribed_growth(GAINS, 8)
    assert leaves == [[0, 1], [2, 3], [4], [5], [6], [7]]
    assert {leaf.reason.code for leaf in root.leaves()} == {"one_component"}


def test_no_group_is_split_twice_and_the_last_leaves_never():
    _, groups, _ = prescribed_growth(GAINS, 8, leaves=4)
    assert len(groups) == len(set(groups)) == 5  # the root, its two sides, the sides of the second
    _, groups, _ = prescribed_growth(GAINS, 8, leaves=1)
    assert groups == []


def test_a_gain_below_zero_is_no_reason_to_stop_when_leaves_are_requested():
    leaves, _, _ = prescribed_growth({(1, 2): -1.0}, 2, leaves=2)
    assert leaves == [[0], [1]]


@pytest.fixture(scope="module")
def balanced():
    """Documents that can be split three times over: the eight topics of Table 5.1."""
    return make_hierarchical_topics(random_state=0).X


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_growth_by_depth_splits_every_leaf(balanced, depth):
    tree = TopicTree(None, growth="depth", max_depth=depth, refine=None).fit(balanced)
    assert tree.n_leaves_ == 2**depth
    for leaf in tree.leaves_:
        assert leaf.depth == depth
        assert leaf.reason == Message("[max_depth_reached]", limit=depth)


@pytest.mark.parametrize("max_depth", [None, 3])
@pytest.mark.parametrize("estimator", [TopicTree, ClusterTree])
def test_growth_by_depth_fills_a_level_with_its_best_splits(balanced, estimator, max_depth):
    options = {"growth": "depth", "max_depth": max_depth, "refine": None}
    trees = {
        leaves: estimator(leaves, min_samples_leaf=1, **options).fit(balanced)
        for leaves in range(1, 9)
    }
    for leaves, tree in trees.items():
        assert tree.n_leaves_ == leaves
        depth = math.ceil(math.log2(leaves))
        n_split = leaves - 2**depth // 2 if depth else 0
        assert [leaf.depth for leaf in tree.leaves_].count(depth) == 2 * n_split or not depth
        if depth:
            whole, own = (
                [node.gain for node in tree.tree_.nodes() if node.depth == depth - 1]
                for tree in (trees[2**depth], tree)
            )
            split = [gain for gain in own if gain]
            assert sorted(split) == pytest.approx(sorted(whole)[-n_split:])


@pytest.mark.parametrize(
    ("leaves", "max_depth"),
    [(1, None), (3, None), (5, 4), pytest.param(8, 4, marks=pytest.mark.long)],
)
def test_growth_by_depth_never_exceeds_the_leaves(balanced, leaves, max_depth):
    """Without EM, the test above shows it."""
    tree = TopicTree(leaves, min_samples_leaf=1, growth="depth", max_depth=max_depth)
    assert tree.fit(balanced).n_leaves_ == leaves


@pytest.mark.parametrize("refine", ["em", None])
@pytest.mark.parametrize("leaves", [1, 2, 3, 7])
def test_best_first_stops_at_the_requested_leaves(X, leaves, refine):
    tree = TopicTree(leaves, refine=refine).fit(X)
    assert tree.n_leaves_ == leaves
    reached = Message("[max_leaf_nodes_reached]", limit=leaves)
    assert any(leaf.reason == reached for leaf in tree.leaves_)
    assert all(leaf.reason for leaf in tree.leaves_)


@pytest.mark.parametrize("refine", ["em", None])
def test_best_first_respects_max_depth(X, refine):
    tree = TopicTree(16, max_depth=2, refine=refine).fit(X)
    assert tree.n_leaves_ == 4
    assert max(leaf.depth for leaf in tree.leaves_) == 2
    assert {leaf.reason for leaf in tree.leaves_} == {Message("[max_depth_reached]", limit=2)}


@pytest.mark.parametrize(
    ("least", "growth", "refine"),
    [(1, "depth", "em"), (12, "best_first", "em"), (12, "depth", None), (40.5, "best_first", None)],
)
def test_leaves_hold_min_samples_leaf(X, least, growth, refine):
    weight = np.random.default_rng(1).uniform(0.0, 2.0, size=X.shape[0])
    tree = TopicTree(32, min_samples_leaf=least, growth=growth, refine=refine)
    tree.fit(X, sample_weight=weight)
    assert tree.n_leaves_ > 1
    assert min(weight[leaf.samples].sum() for leaf in tree.leaves_) >= least * (1 - 1e-12)


def test_reasons_of_leaves(X):
    def reason(X, **options):
        (found,) = {leaf.reason for leaf in TopicTree(**options).fit(X).leaves_}
        return found

    assert reason(X[:9]) == Message("[too_few_to_split]", needed=10)
    one_word = np.tile(np.eye(5, dtype=int), (4, 1))
    assert reason(one_word).code == "no_triples"
    assert reason(3 * one_word, log_scaling="log1p").code == "no_triples"
    assert reason(np.tile([3, 1, 0, 2], (30, 1)))  # of the whitening
    one_topic = make_single_topic(400, 100, 1, length=60, exponent=0.0, random_state=2).X
    options = {"max_leaf_nodes": "bic", "refine": None, "min_samples_leaf": 1}
    assert reason(one_topic, **options).code == "bic_penalty"
    apart = np.repeat([[9, 0, 0], [0, 9, 9]], [2, 28], axis=0)
    assert reason(apart) == Message("[small_side]", least=5)


def test_a_topic_that_em_starves_takes_no_document():
    # Warnings are errors in these tests: log(0 / 1) is a limit here, not a mistake.
    parameters = TopicParameters(np.array([1.0, 0.0]), np.array([[0.5, 0.9], [0.5, 0.1]]))
    rows = RowBlocks(sp.csr_array(np.array([[50.0, 0.0], [0.0, 0.0]])))
    rule = LinearRule.between(parameters, prior=True)
    assert (rule.proba(rows.map(partial(products.product, V=rule.columns)))[:, 0] > 0.5).all()


def test_em_after_a_split_and_a_split_without_it_differ_by_the_prior(X):
    # H Algorithm 2 compares conditional likelihoods: no weight of a topic enters the rule.
    rows, one = RowBlocks(X), np.ones(X.shape[0])
    plain, refined = (
        split_one(
            TopicSplitter(min_samples_leaf=1, smoothing=0.5, refine_iter=steps), rows, one, one
        )
        for steps in (0, 15)
    )
    assert plain.rule.intercept == 0.0
    assert refined.rule.intercept != 0.0


@pytest.mark.parametrize("smoothing", [0.5, 2.0])
def test_the_gain_after_em_is_that_of_a_mixture(X, smoothing):
    # EM has all but converged: the last step gains nothing that matters here.
    rows, one = RowBlocks(X), np.ones(X.shape[0])
    steps = {"min_samples_leaf": 1, "smoothing": smoothing, "refine_iter": 200}
    found = split_one(TopicSplitter(**steps), rows, one, one)
    counts = X.toarray()
    groups = [counts, counts[found.side == 0], counts[found.side == 1]]
    words = np.stack([group.sum(axis=0) + smoothing for group in groups])
    joint = counts @ np.log(words / words.sum(axis=1, keepdims=True)).T
    mixture = logsumexp(joint[:, 1:] + np.log(found.sizes / found.sizes.sum()), axis=1)
    assert found.gain == pytest.approx((mixture - joint[:, 0]).sum(), rel=1e-2)
    assert found.gain < (joint[:, 1:].max(axis=1) - joint[:, 0]).sum()


def test_halves_of_a_large_topic_do_not_come_before_a_rare_one():
    # With sides taken as known, the halves of the large topic gain more than the rare one.
    rng = np.random.default_rng(0)
    common, rare = np.full(40, 1 / 40), np.repeat([1.25, 0.75], 20) / 40
    X = np.vstack([rng.multinomial(60, common, 4000), rng.multinomial(60, rare, 200)])
    one = np.ones(len(X))
    splitter = TopicSplitter(min_samples_leaf=1, smoothing=1.0)
    large, both = (
        split_one(splitter, RowBlocks(sp.csr_array(part)), one[: len(part)], one[: len(part)])
        for part in (X[:4000], X[3800:])
    )
    assert both.gain > large.gain


def test_documents_of_one_repeated_word_split():
    X = np.repeat(np.eye(4, dtype=int) * 5, 10, axis=0)
    assert TopicTree().fit(X).n_leaves_ == 4


@pytest.mark.parametrize("max_iter", [1, 5])
def test_all_steps_of_em_count_when_leaves_are_dropped(max_iter):
    X = make_single_topic(400, 60, 12, length=8, random_state=0).X
    tree = TopicTree(12, max_iter=max_iter, search="none", min_samples_leaf=30).fit(X)
    assert tree.n_leaves_ < 12
    assert tree.n_iter_ <= max_iter
    sizes = tree.predict_proba(X).sum(axis=0)
    assert sizes.shape == (tree.n_leaves_,)
