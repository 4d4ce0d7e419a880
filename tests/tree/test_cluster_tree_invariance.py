"""Changes that leave a cluster tree the same: order of rows and columns, form of input, threads."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from momentree import ClusterTree
from momentree.backends import num_threads, threads

from .cluster_data import PAIRS, REFINE, of_kind
from .test_invariance import assert_same_tree, forms, stored

every_kind = pytest.mark.parametrize(("kind", "refine"), PAIRS)


def tree(X, refine="em", k=4, **options):
    fit = {
        name: options.pop(name) for name in ("sample_weight", "feature_names") if name in options
    }
    return ClusterTree(k, refine=refine, **options).fit(X, **fit)


@cache
def tree_of(kind, refine="em"):
    """The tree on one thread, which all others are compared with; it is not to be changed."""
    with num_threads(1):
        return tree(of_kind(kind)[0], refine)


# Few values make many records alike and many groups exactly symmetric, where rounding would decide
# between equal choices if it differed.
def small(*values):
    shapes = st.tuples(st.integers(1, 14), st.integers(1, 5))
    return shapes.flatmap(
        lambda shape: arrays(np.float64, shape, elements=st.sampled_from([0.0, 1.0, *values]))
    )


def with_a_first_row_of_ones(X):
    """Every column is seen, and not all is zero."""
    X[0] = 1.0
    return X


small_data = st.one_of(
    small(),
    small(2.0, 3.0),
    small(0.5),
    small(-1.0),
    small(1.0, np.nan),
).map(with_a_first_row_of_ones)


@given(small_data, st.randoms(use_true_random=False), st.sampled_from(REFINE))
def test_any_shuffle_of_small_data_gives_the_same_labels(X, random, refine):
    order = random.sample(range(len(X)), len(X))
    found = tree(X, refine, min_samples_leaf=1)
    other = tree(X[order], refine, min_samples_leaf=1)
    np.testing.assert_array_equal(other.labels_, found.labels_[order])
    np.testing.assert_array_equal(found.predict(X), found.labels_)
    for a, b in zip(found.tree_.nodes(), other.tree_.nodes(), strict=True):
        assert np.isfinite(a.center).all()
        assert a.name == b.name
    # Equal records share a leaf.
    assert len(set(zip(map(bytes, X), found.labels_, strict=True))) == len(set(map(bytes, X)))


@every_kind
def test_the_order_of_rows_and_columns_changes_no_group(kind, refine):
    X, _ = of_kind(kind)
    found = tree_of(kind, refine)
    rng = np.random.default_rng(0)
    order, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    other = tree(X[order][:, columns], refine, feature_names=found.vocabulary_[columns])
    np.testing.assert_array_equal(other.labels_, found.labels_[order])
    for a, b in zip(found.tree_.nodes(), other.tree_.nodes(), strict=True):
        np.testing.assert_allclose(b.center, a.center[columns], rtol=1e-9, atol=1e-12)
        assert a.gain == pytest.approx(b.gain, rel=1e-7)
        assert a.weight == pytest.approx(b.weight)


@every_kind
def test_a_common_factor_of_all_weights_changes_nothing(kind, refine):
    # The factor 4 is exact; the least size and the smoothing are numbers of samples.
    X, _ = of_kind(kind)
    found = tree(X, refine, min_samples_leaf=3.0, smoothing=0.5)
    scaled = tree(
        X, refine, min_samples_leaf=12.0, smoothing=2.0, sample_weight=np.full(len(X), 4.0)
    )
    np.testing.assert_array_equal(scaled.labels_, found.labels_)


@every_kind
def test_threads_and_repetition_change_no_bit(kind, refine):
    X, _ = of_kind(kind)
    with num_threads(4):
        assert_same_tree(tree_of(kind, refine), tree(X, refine))


@every_kind
def test_the_size_of_blocks_changes_rounding_alone(kind, refine, monkeypatch):
    X, _ = of_kind(kind)
    found = tree_of(kind, refine)
    # Then there are 4 d stored values in a block.
    monkeypatch.setattr(threads, "BLOCK_NNZ", (1, 1))
    monkeypatch.setattr(threads, "COMPILED_BLOCK_NNZ", (1, 1))
    assert np.count_nonzero(np.nan_to_num(X)) > 5 * 4 * X.shape[1]
    assert_same_tree(found, tree(X, refine), bits=False)


# Topic trees are fitted to all forms of whole numbers, by the same check of the input.
BINARY_FORMS = (
    "uint8",
    "coo",
    "frame",
    "sparse frame",
    "read-only",
    "explicit zeros and duplicates",
    "unsorted indices",
)


@pytest.mark.parametrize("name", [*BINARY_FORMS, "bool", "sparse bool", "bool frame"])
def test_the_form_of_the_input_does_not_matter(name):
    X = sp.csr_array(of_kind("binary")[0].astype(np.int64))
    if name in BINARY_FORMS:
        form = forms(X)[name]
    else:
        kinds = {"bool": np.asarray, "sparse bool": sp.csr_array, "bool frame": pd.DataFrame}
        form = kinds[name](X.toarray().astype(bool))
    before = [array.copy() for array in stored(form)]
    other = tree(form)
    assert_same_tree(tree_of("binary"), other)
    np.testing.assert_array_equal(other.predict(form), other.labels_)
    for array, copy in zip(stored(form), before, strict=True):
        np.testing.assert_array_equal(array, copy)  # and it is left as it was


REAL_FORMS = {
    "sparse": sp.csr_array,
    "columns": sp.csc_array,
    "frame": pd.DataFrame,
    "list": np.ndarray.tolist,
    "fortran": np.asfortranarray,
}


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("counts", "columns"),
        ("counts", "list"),
        ("non_negative", "fortran"),
        ("non_negative", "sparse"),
        ("real", "columns"),
        ("real", "frame"),
        ("gaps", "frame"),
        ("gaps", "list"),
        ("gaps", "sparse"),
    ],
)
def test_the_form_of_other_numbers_does_not_matter(kind, name):
    form = REAL_FORMS[name](of_kind(kind)[0])
    other = tree(form)
    assert_same_tree(tree_of(kind), other)
    np.testing.assert_array_equal(other.predict(form), other.labels_)


def test_whole_numbers_are_taken_in_every_type():
    """Also where none of a record's values is a zero, and sums leave the type."""
    X = np.random.default_rng(0).integers(100, 128, size=(60, 4))
    X[:30, :2] //= 4
    found = tree(X.astype(float), k=2)
    for kind in (np.int8, np.uint8, np.int32, np.int64, np.float32):
        assert_same_tree(found, tree(X.astype(kind), k=2))
