"""What must not change a cluster tree: order of rows and columns, form of the input, threads."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from momentree import ClusterTree
from momentree.backends import num_threads, rows

from .cluster_data import KINDS, PAIRS, REFINE, of_kind
from .test_invariance import assert_same_tree, forms, stored

every_kind = pytest.mark.parametrize("kind", KINDS)
every_refine = pytest.mark.parametrize("refine", REFINE)
every_pair = pytest.mark.parametrize(("kind", "refine"), PAIRS)


def tree(X, refine="em", k=5, **options):
    fit = {name: options.pop(name) for name in ("sample_weight",) if name in options}
    return ClusterTree(k, refine=refine, **options).fit(X, **fit)


# Few values make many records alike and many groups exactly symmetric, where rounding would decide
# between equal choices if it differed.
def small(elements):
    shapes = st.tuples(st.integers(1, 14), st.integers(1, 5))
    return shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=elements))


small_data = st.one_of(
    small(st.sampled_from([0.0, 1.0])),
    small(st.sampled_from([0.0, 1.0, 2.0, 3.0])),
    small(st.sampled_from([0.0, 0.5, 1.0])),
    small(st.sampled_from([-1.0, 0.0, 1.0])),
)


@settings(deadline=None, max_examples=20)
@given(small_data, st.randoms(use_true_random=False), st.sampled_from(REFINE))
def test_any_shuffle_of_small_data_gives_the_same_labels(X, random, refine):
    if not X.any():
        X[0, 0] = 1.0
    order = random.sample(range(len(X)), len(X))
    found = tree(X, refine, min_samples_leaf=1)
    other = tree(X[order], refine, min_samples_leaf=1)
    np.testing.assert_array_equal(other.labels_, found.labels_[order])
    np.testing.assert_array_equal(found.predict(X), found.labels_)
    assert all(np.isfinite(node.center).all() for node in found.tree_.nodes())


@settings(deadline=None, max_examples=20)
@given(small(st.sampled_from([0.0, 1.0, 1.0, np.nan])), st.randoms(use_true_random=False))
def test_any_shuffle_of_records_with_gaps_gives_the_same_labels(X, random):
    X[0] = 1.0  # every column is seen
    order = random.sample(range(len(X)), len(X))
    for refine in ("em", None):
        found = tree(X, refine, min_samples_leaf=1)
        other = tree(X[order], refine, min_samples_leaf=1)
        np.testing.assert_array_equal(other.labels_, found.labels_[order])
        np.testing.assert_array_equal(found.predict(X), found.labels_)


@settings(deadline=None, max_examples=20)
@given(small_data, st.sampled_from(REFINE))
def test_equal_records_share_a_leaf(X, refine):
    if not X.any():
        X[0, 0] = 1.0
    found = tree(X, refine, min_samples_leaf=1)
    for x in np.unique(X, axis=0):
        assert len(set(found.labels_[(x == X).all(axis=1)])) == 1


@every_pair
def test_a_shuffle_gives_the_same_tree(kind, refine):
    X, _ = of_kind(kind)
    found = tree(X, refine)
    for seed in range(2):
        order = np.random.default_rng(seed).permutation(len(X))
        shuffled = tree(X[order], refine)
        np.testing.assert_array_equal(shuffled.labels_, found.labels_[order])
        for a, b in zip(found.tree_.nodes(), shuffled.tree_.nodes(), strict=True):
            np.testing.assert_allclose(a.center, b.center, rtol=1e-9, atol=1e-12)
            assert a.gain == pytest.approx(b.gain, rel=1e-7)
            assert (a.weight, a.name) == (pytest.approx(b.weight), b.name)


@every_pair
def test_a_permutation_of_columns_permutes_the_centers(kind, refine):
    X, _ = of_kind(kind)
    order = np.random.default_rng(1).permutation(X.shape[1])
    found, permuted = tree(X, refine), tree(X[:, order], refine)
    np.testing.assert_array_equal(permuted.labels_, found.labels_)
    for a, b in zip(found.tree_.nodes(), permuted.tree_.nodes(), strict=True):
        np.testing.assert_allclose(b.center, a.center[order], rtol=1e-9, atol=1e-12)


@every_refine
def test_names_of_columns_change_names_alone(refine):
    X, _ = of_kind("binary")
    found = tree(X, refine)
    named = ClusterTree(5, refine=refine).fit(X, feature_names=[f"c{24 - j}" for j in range(24)])
    np.testing.assert_array_equal(named.labels_, found.labels_)
    assert [node.name for node in named.tree_.nodes()] != [n.name for n in found.tree_.nodes()]


@every_pair
def test_a_common_factor_of_all_weights_changes_nothing(kind, refine):
    # The factor 4 is exact; the least size and the smoothing are numbers of samples.
    X, _ = of_kind(kind)
    found = tree(X, refine, min_samples_leaf=3.0, smoothing=0.5)
    scaled = tree(
        X, refine, min_samples_leaf=12.0, smoothing=2.0, sample_weight=np.full(len(X), 4.0)
    )
    np.testing.assert_array_equal(scaled.labels_, found.labels_)


@every_pair
def test_a_weight_of_zero_is_the_sample_left_out(kind, refine):
    X, _ = of_kind(kind)
    weight = (np.random.default_rng(3).random(len(X)) < 0.7).astype(float)
    kept = np.flatnonzero(weight)
    one, other = tree(X, refine, sample_weight=weight), tree(X[kept], refine)
    np.testing.assert_array_equal(one.labels_[kept], other.labels_)
    np.testing.assert_array_equal(one.labels_, other.predict(X))


@every_pair
def test_threads_and_repetition_change_no_bit(kind, refine):
    X, _ = of_kind(kind)
    with num_threads(1):
        found = tree(X, refine)
    assert_same_tree(found, tree(X, refine))
    with num_threads(4):
        assert_same_tree(found, tree(X, refine))


@every_kind
def test_the_size_of_blocks_changes_rounding_alone(kind, monkeypatch):
    X, _ = of_kind(kind)
    found = tree(X)
    monkeypatch.setattr(rows, "BLOCK_NNZ", 1)  # then 4 d stored values in a block
    assert len(rows.RowBlocks(sp.csr_array(np.nan_to_num(X)))._cuts) > 5
    assert_same_tree(found, tree(X), bits=False)


@cache
def tree_of(kind):
    return tree(of_kind(kind)[0])


@pytest.mark.parametrize("name", list(forms(sp.csr_array(np.eye(2, dtype=np.int64)))))
def test_the_form_of_the_input_does_not_matter(name):
    X = sp.csr_array(of_kind("binary")[0].astype(np.int64))
    found, form = tree_of("binary"), forms(X)[name]
    before = [array.copy() for array in stored(form)]
    other = tree(form)
    assert_same_tree(found, other)
    np.testing.assert_array_equal(other.predict(form), found.labels_)
    for array, copy in zip(stored(form), before, strict=True):
        np.testing.assert_array_equal(array, copy)  # and it is left as it was


REAL_FORMS = {
    "sparse": sp.csr_array,
    "columns": sp.csc_array,
    "frame": pd.DataFrame,
    "list": np.ndarray.tolist,
    "fortran": np.asfortranarray,
}


@pytest.mark.parametrize("kind", ["counts", "non_negative", "real", "gaps"])
@pytest.mark.parametrize("name", REAL_FORMS)
def test_the_form_of_other_numbers_does_not_matter(kind, name):
    form = REAL_FORMS[name](of_kind(kind)[0])
    found, other = tree_of(kind), tree(form)
    assert_same_tree(found, other)
    np.testing.assert_array_equal(other.predict(form), found.labels_)


@every_refine
def test_booleans_are_zeros_and_ones(refine):
    X, _ = of_kind("binary")
    found = tree(X, refine)
    for form in (X.astype(bool), sp.csr_array(X.astype(bool)), pd.DataFrame(X.astype(bool))):
        assert_same_tree(found, tree(form, refine))


def test_whole_numbers_are_taken_in_every_type():
    """Also where none of a record's values is a zero, and sums leave the type."""
    X = np.random.default_rng(0).integers(100, 128, size=(60, 4))
    X[:30, :2] //= 4
    found = tree(X.astype(float), k=2)
    for kind in (np.int8, np.uint8, np.int32, np.int64, np.float32):
        assert_same_tree(found, tree(X.astype(kind), k=2))
