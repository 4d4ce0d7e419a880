"""Cluster trees of each kind of data, with each option, and of small data."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

from momentree import ClusterTree
from momentree.backends import RowBlocks
from momentree.exceptions import EmptyCorpusError, InvalidDataError
from momentree.preprocessing import FeatureMap
from momentree.tree.split import SPLIT_ITER
from momentree.tree.splitters import DSidiwoSplitter

from ..incomplete import group_of, probabilities
from ..oracle import assert_near_oracle, poisson_labels
from ..raising import raises
from .cluster_data import PAIRS, REFINE, every_kind, of_kind, oracle, records
from .splitting import split_one

every_refine = pytest.mark.parametrize("refine", REFINE)
every_pair = pytest.mark.parametrize(("kind", "refine"), PAIRS)


def assert_sound(tree, X):
    """What holds of every fitted tree."""
    n = X.shape[0]
    assert tree.labels_.shape == (n,)
    assert [leaf.leaf_id for leaf in tree.leaves_] == list(range(tree.n_leaves_))
    np.testing.assert_array_equal(tree.predict(X), tree.labels_)
    P = tree.predict_proba(X)
    assert P.shape == (n, tree.n_leaves_)
    assert ((P >= 0) & (P <= 1 + 1e-12)).all()
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-9)
    for node in tree.tree_.nodes():
        assert np.isfinite(node.center).all()
        assert np.isfinite([node.gain, node.weight]).all()
        assert bool(node.reason) == node.is_leaf
        sizes = [child.weight for child in node.children]
        assert sizes == sorted(sizes, reverse=True)
    assert len(tree.to_frame()) == len(list(tree.tree_.nodes()))
    assert tree.to_dict()["node_id"] == 0


# --- what is found -------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("options", [{}, {"refine": "leaves"}], ids=str)
def test_the_groups_that_made_the_data_are_found(kind, options):
    X, truth = of_kind(kind, n=600, rate=0.8)
    tree = ClusterTree(4, **options).fit(X)
    assert_sound(tree, X)
    assert tree.n_leaves_ == 4
    assert_near_oracle(truth, oracle(X, kind, rate=0.8), tree.labels_)


@every_kind
def test_moments_alone_find_most_of_them(kind):
    X, truth = of_kind(kind, n=600, rate=0.8)
    tree = ClusterTree(4, refine=None).fit(X)
    assert_sound(tree, X)
    # A regression guard: over the kinds of data and seeds 0 to 3 of records, the mean is 0.85 and
    # the standard deviation 0.03.
    assert adjusted_rand_score(truth, tree.labels_) > 0.85 - 4 * 0.03


def test_the_kind_of_data_is_found_or_given():
    X, _ = records()
    for kind in ("binary", "counts", "non_negative", "real"):
        tree = ClusterTree(3, data=kind).fit(X)
        assert tree.data_ == kind
        assert_sound(tree, X)
    assert ClusterTree(3).fit(X).data_ == "binary"
    with raises(InvalidDataError, "another_kind_of_data", kind="counts", row=0, column=0):
        ClusterTree(data="counts").fit(X + 0.5)


# --- growth --------------------------------------------------------------------------------------


@pytest.mark.parametrize("refine", ["splits", None])
def test_the_best_split_comes_first(refine):
    """Best first, k leaves are those of k - 1 with the best of their splits."""
    X, _ = records(n=400, noise=0.15)
    seen = FeatureMap.from_data(sp.csr_array(X), None, np.ones(len(X)), "binary", scaled=True)
    splitter = DSidiwoSplitter(5, seen, refine_iter=SPLIT_ITER if refine else 0)

    def gain(samples):
        part = X[list(samples)]
        one = np.ones(len(part))
        factor = 1.0 / np.sqrt(part.sum(axis=1) + 1.0)
        return getattr(
            split_one(splitter, RowBlocks(sp.csr_array(part)), one, factor), "gain", -np.inf
        )

    before = ClusterTree(2, refine=refine).fit(X)
    for k in range(3, 6):
        tree = ClusterTree(k, refine=refine).fit(X)
        assert tree.n_leaves_ == k
        whole = {tuple(leaf.samples) for leaf in before.leaves_}
        kept = whole & {tuple(leaf.samples) for leaf in tree.leaves_}
        assert len(kept) == k - 2
        (divided,) = whole - kept
        assert all(gain(leaf) <= gain(divided) + 1e-9 for leaf in kept)
        before = tree


@every_refine
def test_growth_by_depth_splits_every_leaf(refine):
    X, _ = records(n=400)
    tree = ClusterTree(None, max_depth=3, growth="depth", refine=refine, min_samples_leaf=1).fit(X)
    assert_sound(tree, X)
    assert max(leaf.depth for leaf in tree.leaves_) == 3
    assert tree.n_leaves_ <= 8
    if refine in (None, "splits"):
        for leaf in tree.leaves_:
            assert leaf.depth == 3 or leaf.reason.code != "max_depth_reached"
    assert ClusterTree(8, growth="depth", refine=refine).fit(X).tree_.depth == 0


def test_depth_is_limited_in_best_first_too():
    X, _ = records(n=400)
    tree = ClusterTree(8, max_depth=2).fit(X)
    assert_sound(tree, X)
    assert max(leaf.depth for leaf in tree.leaves_) <= 2
    assert ClusterTree(8, max_depth=0).fit(X).n_leaves_ == 1


@pytest.mark.parametrize(
    ("refine", "least"), [("em", 1), ("em", 40), ("splits", 7.5), ("leaves", 40), (None, 7.5)]
)
def test_no_leaf_is_smaller_than_requested(refine, least):
    X, _ = records()
    weight = np.random.default_rng(1).uniform(0, 2, len(X))
    tree = ClusterTree(12, min_samples_leaf=least, refine=refine).fit(X, sample_weight=weight)
    assert_sound(tree, X)
    assert np.bincount(tree.labels_, weights=weight).min() >= least


@pytest.mark.parametrize("kind", ["binary", "non_negative", "real", "gaps"])
def test_growth_ends_by_itself_where_the_groups_end(kind):
    # Data of seed 0: real values of seeds 2 and 3 end with three leaves.
    X, truth = of_kind(kind, n=600, rate=0.8)
    tree = ClusterTree("auto").fit(X)
    assert_sound(tree, X)
    assert tree.n_leaves_ == 4
    assert_near_oracle(truth, oracle(X, kind, rate=0.8), tree.labels_)
    assert all(leaf.reason.code == "bic_penalty" for leaf in tree.leaves_)


def test_growth_ends_by_itself_where_the_groups_of_counts_end():
    rng = np.random.default_rng(0)
    truth = rng.integers(4, size=600)
    means = np.kron(np.eye(4), np.ones(6)) * 2.0 + 0.1
    X = rng.poisson(means[truth])
    tree = ClusterTree("auto").fit(X)
    assert_sound(tree, X)
    assert tree.n_leaves_ == 4
    assert_near_oracle(truth, poisson_labels(X, np.full(4, 0.25), means), tree.labels_)


@pytest.mark.parametrize("refine", ["splits", None])
@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.long) for s in (1, 2))])
def test_noise_is_not_split(refine, seed):
    """Independent columns of one group: whatever cut is best, no mixture explains them better.

    Trees of "em" and "leaves" grow as these do, and refine their leaves afterwards.
    """
    rng = np.random.default_rng(seed)
    rates = rng.uniform(0.02, 0.4, 30)
    for X in (
        rng.random((500, 30)) < rates,
        np.where(rng.random((500, 30)) < 0.1, np.nan, rng.random((500, 30)) < rates),
        rng.poisson(10 * rates, (500, 30)),
        rng.standard_normal((500, 2)),
        rng.standard_normal((500, 8)) * rng.uniform(0.1, 9.0, 8),
    ):
        assert ClusterTree("auto", refine=refine).fit(X).n_leaves_ == 1


@every_kind
def test_em_over_the_leaves_raises_the_likelihood_of_the_splits(kind):
    X, _ = of_kind(kind)
    gains = {}
    for refine in REFINE:
        tree = ClusterTree(4, refine=refine, smoothing=0.1).fit(X)
        if tree.n_leaves_ == 4:
            gains[refine] = sum(node.gain for node in tree.tree_.nodes())
        assert (tree.n_iter_ > 1) == (refine in ("em", "leaves"))
    assert gains["leaves"] >= gains[None]


# --- weights, duplicates and little data ---------------------------------------------------------


@every_pair
def test_a_weight_is_a_number_of_copies_and_centers_are_means(kind, refine):
    """A weight of zero is the sample left out."""
    X, _ = of_kind(kind)
    weight = np.random.default_rng(2).integers(0, 3, size=len(X))
    repeated = np.repeat(np.arange(len(X)), weight)
    one = ClusterTree(4, refine=refine).fit(X, sample_weight=weight)
    other = ClusterTree(4, refine=refine).fit(X[repeated])
    assert_sound(one, X)
    np.testing.assert_array_equal(one.labels_[repeated], other.labels_)
    np.testing.assert_array_equal(one.labels_, other.predict(X))
    for a, b in zip(one.tree_.nodes(), other.tree_.nodes(), strict=True):
        np.testing.assert_allclose(a.center, b.center, rtol=1e-9, atol=1e-12)
        assert a.weight == pytest.approx(b.weight, rel=1e-9)
        assert a.gain == pytest.approx(b.gain, rel=1e-6)
        values, v = X[a.samples], weight[a.samples, None]
        seen = ~np.isnan(values)
        expected = np.where(seen, values * v, 0.0).sum(axis=0) / (v * seen).sum(axis=0)
        np.testing.assert_allclose(a.center, expected, rtol=1e-9, atol=1e-12)
        assert a.weight == pytest.approx(v.sum() / weight.sum())


LITTLE = {
    "one row of ones": np.ones((1, 3)),
    "one row of numbers": np.array([[0.5, 2.5, 0.0]]),
    "one row of real values": np.array([[0.5, -2.5, 0.0]]),
    "equal ones": np.ones((12, 3)),
    "equal counts": np.full((12, 3), 7.0),
    "equal numbers": np.full((12, 3), 0.5),
    "equal real values": np.full((12, 3), -0.5),
    "one column of ones and zeros": np.repeat([0.0, 1.0], 10)[:, None],
    "one column of counts": np.arange(20.0)[:, None] % 7,
    "one column of real values": np.linspace(-1, 1, 30)[:, None],
    "two rows": np.eye(2),
    "more columns than rows": np.random.default_rng(0).random((4, 90)),
}


@pytest.mark.filterwarnings("ignore::momentree.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", LITTLE)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"refine": None},
        {"refine": "splits", "growth": "depth"},
        {"refine": "leaves", "max_leaf_nodes": "auto", "scaling": None, "min_samples_leaf": 1},
    ],
    ids=str,
)
def test_little_data_make_a_small_tree(name, options):
    X = LITTLE[name]
    tree = ClusterTree(**options).fit(X)
    assert_sound(tree, X)
    if name.startswith(("one row", "equal")):
        assert tree.n_leaves_ == 1


@every_pair
def test_constant_columns_change_no_label(kind, refine):
    """Columns of zeros, or of one value where values are shifted, contain no information."""
    X, _ = of_kind(kind)
    constant = np.full((len(X), 2), 3.5 if kind == "real" else 0.0)
    found = ClusterTree(4, refine=refine, smoothing=1e-9).fit(X)
    other = ClusterTree(4, refine=refine, smoothing=1e-9).fit(np.hstack([X, constant]))
    if kind in ("non_negative", "real"):  # a sphere of two more columns has another variance
        assert adjusted_rand_score(found.labels_, other.labels_) > 0.9
    else:
        np.testing.assert_array_equal(other.labels_, found.labels_)


@every_pair
def test_empty_records_join_one_leaf(kind, refine):
    X, _ = of_kind(kind)
    X = np.vstack([np.zeros((15, X.shape[1])), X])
    tree = ClusterTree(5, refine=refine).fit(X)
    assert_sound(tree, X)
    assert len(set(tree.labels_[:15])) == 1


@pytest.mark.parametrize("refine", [None, pytest.param("em", marks=pytest.mark.long)])
def test_a_unit_of_measure_changes_nothing(refine, tmp_path):
    rng = np.random.default_rng(0)
    for X, sizes in (
        (of_kind("non_negative")[0], (1e-9, 1e90)),
        (of_kind("real")[0], (1e-150, 1e9)),
        (rng.random((60, 4)), (1e-150, 1e90)),
    ):
        found = ClusterTree(4, refine=refine).fit(X)
        for size in sizes:
            # Beyond 2^53 all numbers are whole, and would be taken for counts.
            other = ClusterTree(4, refine=refine, data=found.data_).fit(X * size)
            np.testing.assert_array_equal(other.labels_, found.labels_)
            assert_sound(other, X * size)
            other.save(tmp_path / "tree.mt")
            again = ClusterTree.load(tmp_path / "tree.mt")
            np.testing.assert_array_equal(again.predict(X * size), found.labels_)


def test_counts_may_be_huge():
    X, _ = of_kind("counts")
    tree = ClusterTree(4).fit(X * 2.0**90)
    assert_sound(tree, X * 2.0**90)


# --- missing values ------------------------------------------------------------------------------


@every_refine
def test_missing_values_at_random_change_the_answer_little(refine):
    """Of 5% of the values, over several draws; without EM the noise of the weights shows."""
    X, truth = records(n=800)
    whole = ClusterTree(4, refine=refine).fit(X)
    agreement, accuracy = [], []
    for seed in range(2):
        gone = np.random.default_rng(seed).random(X.shape) < 0.05
        gaps = np.where(gone, np.nan, X)
        tree = ClusterTree(4, refine=refine).fit(gaps)
        assert_sound(tree, gaps)
        agreement.append(adjusted_rand_score(whole.labels_, tree.labels_))
        accuracy.append(adjusted_rand_score(truth, tree.labels_))
    least, lost = (0.9, 0.03) if refine in ("em", "leaves") else (0.75, 0.15)
    assert np.mean(agreement) > least
    assert np.mean(accuracy) > adjusted_rand_score(truth, whole.labels_) - lost


def test_profiles_are_frequencies_among_observed_values():
    """Whatever the share of gaps: within four standard errors of the profile of a group."""
    X, truth = records(n=2000, rate=0.7)
    share = np.linspace(0.0, 0.5, 24)
    gaps = np.where(np.random.default_rng(0).random(X.shape) < share, np.nan, X)
    tree = ClusterTree(4).fit(gaps)
    for leaf in tree.leaves_:
        group = np.bincount(truth[leaf.samples]).argmax()
        profile = np.kron(np.eye(4), np.ones(6))[group] * 0.65 + 0.05
        error = np.sqrt(profile * (1 - profile) / (leaf.n_samples * (1 - share)))
        assert (np.abs(leaf.center - profile) < 4 * error + 0.02).all()


def test_gaps_as_stored_values_of_a_sparse_matrix_are_gaps():
    X, _ = of_kind("gaps")
    found = ClusterTree(4).fit(X)
    other = ClusterTree(4).fit(sp.csr_array(X))
    np.testing.assert_array_equal(found.labels_, other.labels_)
    np.testing.assert_array_equal(other.predict(sp.csc_array(X)), found.labels_)


@pytest.mark.parametrize("kind", ["counts", "non_negative"])
def test_missing_values_of_other_data(kind):
    X, _ = of_kind(kind)
    gap = X.astype(float)
    gap[2, 3] = np.nan
    with raises(InvalidDataError, "missing_not_binary", row=2, column=3, kind=kind):
        ClusterTree().fit(gap)
    with raises(InvalidDataError, "missing_not_binary", row=2, column=3):
        ClusterTree().fit(X).predict(gap)


@every_refine
def test_gaps_in_new_records_alone_are_taken(refine):
    X, _ = records()
    tree = ClusterTree(4, refine=refine).fit(X)
    gaps = X[:40].copy()
    gaps[:, 5] = np.nan
    proba = tree.predict_proba(gaps)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_array_equal(tree.predict(gaps).shape, (40,))
    if refine in ("em", "leaves"):  # between the values with a one there and with a zero
        sides = []
        for value in (0.0, 1.0):
            gaps[:, 5] = value
            sides.append(tree.predict_proba(gaps))
        assert (proba >= np.minimum(*sides) - 1e-12).all()
        assert (proba <= np.maximum(*sides) + 1e-12).all()


# --- incomplete records --------------------------------------------------------------------------


@every_refine
@pytest.mark.parametrize(
    "options", [{"max_leaf_nodes": 5}, {"max_leaf_nodes": 4, "growth": "depth"}], ids=str
)
def test_incomplete_records_are_assigned_by_the_counts_of_the_leaves(refine, options):
    X, _ = records()
    tree = ClusterTree(refine=refine, **options).fit(X)
    scoring, k = tree.scoring(), tree.n_leaves_
    assert scoring["sizes"] == np.bincount(tree.labels_).tolist()
    assert scoring["counts"] == [X[tree.labels_ == j].sum(axis=0).tolist() for j in range(k)]
    new = X[:40] * (np.random.default_rng(0).random((40, X.shape[1])) < 0.5)
    P = tree.predict_incomplete_proba(new)
    np.testing.assert_allclose(P, probabilities(scoring, new), rtol=1e-9, atol=1e-12)
    labels = tree.predict_incomplete(new)
    np.testing.assert_array_equal(labels, [group_of(scoring, x) for x in new])
    assert -1 in labels


def test_incomplete_records_have_zeros_and_ones():
    X, _ = of_kind("counts")
    tree = ClusterTree().fit(X)
    for method in (tree.scoring, lambda: tree.predict_incomplete(X)):
        with raises(InvalidDataError, "not_fitted_to_binary", kind="counts"):
            method()
    X, _ = records()
    tree = ClusterTree(3).fit(X)
    with pytest.raises(InvalidDataError):
        tree.predict_incomplete(X * 2.0)
    with pytest.raises(NotFittedError):
        ClusterTree().predict_incomplete(X)


# --- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "code"),
    [
        (np.zeros((5, 3)), "all_empty"),
        (np.empty((0, 3)), "refused_by_sklearn"),
        (np.empty((3, 0)), "refused_by_sklearn"),
        (np.ones(4), "refused_by_sklearn"),
        ([["a", "b"]], "texts_not_counts"),
        ([[1.0, np.inf]], "infinite_value"),
        (np.full((3, 2), np.nan), "all_empty"),
        ([[1.0, 2e100]], "huge_value"),
    ],
)
def test_bad_data(X, code):
    with raises(InvalidDataError, code):
        ClusterTree().fit(X)


def test_records_without_weight_are_no_records():
    X = np.array([[1.0, 0.0], [0.0, 0.0]])
    with raises(EmptyCorpusError, "all_weighted_empty"):
        ClusterTree().fit(X, sample_weight=[0, 1])


def test_names_come_from_where_they_are_given():
    X, _ = records()
    names = [f"code {j}" for j in range(24)]
    frame = pd.DataFrame(X, columns=names)
    tree = ClusterTree(4).fit(frame)
    assert tree.feature_names_in_.tolist() == names == tree.vocabulary_.tolist()
    assert all("code" in leaf.name for leaf in tree.leaves_)
    with raises(InvalidDataError, "refused_by_sklearn"):
        tree.predict(frame.rename(columns={"code 0": "other"}))
    other = ClusterTree(4).fit(frame, feature_names=[f"x{j}" for j in range(24)])
    assert other.vocabulary_[3] == "x3"
    with raises(InvalidDataError, "wrong_number_of_names"):
        ClusterTree(4).fit(X, feature_names=["a"])


def test_names_of_real_leaves_say_high_or_low():
    X, _ = of_kind("real")
    tree = ClusterTree(4).fit(X)
    for leaf in tree.leaves_:
        first, *_ = leaf.name.split(", ")
        way, column = first.split()
        assert (leaf.center[int(column)] > tree.tree_.center[int(column)]) == (way == "high")
    found = tree.to_dict()
    word = found["children"][0]["words"][0]
    z = (tree.tree_.children[0].center - X.mean(axis=0)) / X.std(axis=0)
    assert abs(word["relevance"]) == pytest.approx(np.abs(z).max())
