"""Changes that leave a tree the same: order of rows, form of input, threads, blocks, repetition."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from momentree import TopicTree
from momentree.backends import num_threads, threads
from momentree.datasets import make_single_topic

CONFIGURATIONS = {
    "defaults": {},
    "whole counts": {"log_scaling": None},
    "moments alone": {"refine": None},
    "algorithm 2": {"refine": None, "log_scaling": None, "growth": "depth"},
    "uniform, bic": {"weighting": "uniform", "max_leaf_nodes": "bic"},
}
configurations = pytest.mark.parametrize("name", CONFIGURATIONS)


@pytest.fixture(scope="module")
def X():
    lengths = np.random.default_rng(0).integers(0, 60, size=250)
    return make_single_topic(250, 90, 5, length=lengths, exponent=0.5, random_state=0).X


def tree(X, options, **fit):
    return TopicTree(**{"max_leaf_nodes": 5, "min_samples_leaf": 3, **options}).fit(X, **fit)


@pytest.fixture(scope="module")
def trees(X):
    """The tree of each configuration on one thread, which all others are compared with."""
    with num_threads(1):
        return {name: tree(X, options) for name, options in CONFIGURATIONS.items()}


def assert_same_tree(a, b, bits=True):
    """The same nodes with the same documents, and the same numbers, to the bit if `bits`."""
    np.testing.assert_array_equal(a.labels_, b.labels_)
    tolerance = {"rtol": 0, "atol": 0} if bits else {"rtol": 1e-8, "atol": 1e-12}
    for one, other in zip(a.tree_.nodes(), b.tree_.nodes(), strict=True):
        np.testing.assert_array_equal(one.samples, other.samples)
        np.testing.assert_allclose(one.center, other.center, **tolerance)
        np.testing.assert_allclose(one.gain, other.gain, **tolerance)
        assert (one.depth, one.name) == (other.depth, other.name)


# Small whole numbers make many documents alike and many groups exactly symmetric, where rounding
# would decide between equal choices if it differed.
small_counts = st.tuples(st.integers(2, 14), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, 4))
)


@settings(deadline=None, max_examples=15)
@given(small_counts, st.randoms(use_true_random=False), st.sampled_from(list(CONFIGURATIONS)))
def test_any_shuffle_of_small_counts_gives_the_same_labels(X, random, name):
    if not X.any():
        X[0, 0] = 1
    order = random.sample(range(len(X)), len(X))
    options = {**CONFIGURATIONS[name], "min_samples_leaf": 1}
    found = tree(X, options)
    np.testing.assert_array_equal(tree(X[order], options).labels_, found.labels_[order])
    np.testing.assert_array_equal(found.predict(X), found.labels_)
    assert all(np.isfinite(node.center).all() for node in found.tree_.nodes())


@configurations
def test_a_shuffle_gives_the_same_labels(X, trees, name):
    found = trees[name]
    order = np.random.default_rng(0).permutation(X.shape[0])
    shuffled = tree(X[order], CONFIGURATIONS[name])
    np.testing.assert_array_equal(shuffled.labels_, found.labels_[order])
    for a, b in zip(found.tree_.nodes(), shuffled.tree_.nodes(), strict=True):
        np.testing.assert_array_equal(a.center, b.center)  # sums of whole numbers are exact
        assert (a.gain, a.weight, a.name) == (b.gain, b.weight, b.name)


def test_equal_blocks_are_separated_in_any_order():
    # Four groups that differ by a permutation of words alone: only rounding could choose.
    X = np.repeat(np.kron(np.eye(4, dtype=int), [4, 2, 1]), 6, axis=0)
    found = TopicTree(4, min_samples_leaf=1).fit(X)
    assert [leaf.n_samples for leaf in found.leaves_] == [6] * 4
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(X))
        labels = TopicTree(4, min_samples_leaf=1).fit(X[order]).labels_
        np.testing.assert_array_equal(labels, found.labels_[order])


@configurations
def test_a_permutation_of_words_permutes_the_centers(X, trees, name):
    found = trees[name]
    order = np.random.default_rng(1).permutation(X.shape[1])
    permuted = tree(X[:, order], CONFIGURATIONS[name])
    np.testing.assert_array_equal(permuted.labels_, found.labels_)
    for a, b in zip(found.tree_.nodes(), permuted.tree_.nodes(), strict=True):
        np.testing.assert_allclose(b.center, a.center[order], rtol=1e-12)


@pytest.mark.parametrize("name", ["defaults", "algorithm 2"])
def test_words_that_never_occur_change_no_label(X, name):
    # Each word takes a pseudo-count, so that this holds where pseudo-counts vanish.
    options = {**CONFIGURATIONS[name], "smoothing": 1e-9}
    wide = sp.hstack([X, sp.csr_array((X.shape[0], 7), dtype=X.dtype)], format="csr")
    found = tree(wide, options)
    np.testing.assert_array_equal(found.labels_, tree(X, options).labels_)
    assert not any(leaf.center[-7:].any() for leaf in found.leaves_)


@configurations
def test_a_weight_is_a_number_of_documents(X, name):
    """A document of weight two is there twice, one of weight zero is left out.

    And of weighted documents, too, the larger child comes first.
    """
    options = CONFIGURATIONS[name]
    weight = np.random.default_rng(2).integers(0, 3, size=X.shape[0])
    repeated = np.repeat(np.arange(X.shape[0]), weight)
    one, other = tree(X, options, sample_weight=weight), tree(X[repeated], options)
    np.testing.assert_array_equal(one.labels_[repeated], other.labels_)
    np.testing.assert_array_equal(one.labels_, other.predict(X))
    for a, b in zip(one.tree_.nodes(), other.tree_.nodes(), strict=True):
        np.testing.assert_allclose(a.center, b.center, rtol=1e-10)
        assert a.weight == pytest.approx(b.weight, rel=1e-12)
        assert a.gain == pytest.approx(b.gain, rel=1e-6)
    for node in one.tree_.nodes():
        if node.children:
            weights = [child.weight for child in node.children]
            assert weights == sorted(weights, reverse=True)
            assert node.weight == pytest.approx(sum(weights))
        share = weight[node.samples].sum() / weight[one.labels_ >= 0].sum()
        assert node.weight == pytest.approx(share)
    np.testing.assert_array_equal(one.predict(X), one.labels_)
    assert [leaf.leaf_id for leaf in one.leaves_] == list(range(one.n_leaves_))
    nodes = list(one.tree_.nodes())
    assert [node.node_id for node in nodes] == list(range(len(nodes)))


@pytest.mark.parametrize("name", ["defaults", "algorithm 2"])
def test_a_common_factor_of_all_weights_changes_nothing(X, name):
    # The factor 4 is exact; the least size and pseudo-counts are numbers of documents. The BIC
    # penalty counts documents, so that growth without a limit is left out.
    options, four = CONFIGURATIONS[name], np.full(X.shape[0], 4.0)
    found = tree(X, {**options, "min_samples_leaf": 3.0, "smoothing": 0.5})
    scaled = tree(X, {**options, "min_samples_leaf": 12.0, "smoothing": 2.0}, sample_weight=four)
    np.testing.assert_array_equal(scaled.labels_, found.labels_)


@configurations
def test_threads_and_repetition_change_no_bit(X, trees, name):
    with num_threads(4):
        assert_same_tree(trees[name], tree(X, CONFIGURATIONS[name]))


def test_the_size_of_blocks_changes_rounding_alone(X, trees, monkeypatch):
    # Then there are 4 d stored values in a block.
    monkeypatch.setattr(threads, "BLOCK_NNZ", (1, 1))
    monkeypatch.setattr(threads, "COMPILED_BLOCK_NNZ", (1, 1))
    assert X.nnz > 5 * 4 * X.shape[1]
    assert_same_tree(trees["defaults"], tree(X, {}), bits=False)


def forms(X):
    duplicated = sp.coo_array(X)
    halves = [np.concatenate([index, index]) for index in duplicated.coords]
    data = np.concatenate([duplicated.data // 2, duplicated.data - duplicated.data // 2])
    unsorted = X.copy()
    for i in range(X.shape[0]):
        at = slice(X.indptr[i], X.indptr[i + 1])
        unsorted.indices[at], unsorted.data[at] = X.indices[at][::-1], X.data[at][::-1]
    unsorted.has_sorted_indices = False
    wide = X.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    read_only = X.toarray()
    read_only.flags.writeable = False
    return {
        "int32": X.astype(np.int32),
        "uint8": X.astype(np.uint8),
        "float32": X.astype(np.float32),
        "float64": X.astype(np.float64),
        "csc": X.tocsc(),
        "coo": X.tocoo(),
        "lil": X.tolil(),
        "matrix": sp.csr_matrix(X),
        "dense": X.toarray(),
        "fortran": np.asfortranarray(X.toarray()),
        "read-only": read_only,
        "list": X.toarray().tolist(),
        "frame": pd.DataFrame(X.toarray()),
        "sparse frame": pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(X)),
        "explicit zeros and duplicates": sp.coo_array((data, halves), shape=X.shape),
        "unsorted indices": unsorted,
        "wide indices": wide,
    }


@pytest.fixture(scope="module")
def few(X):
    """Some of the documents in each form, and their tree."""
    some = X[:100]
    return forms(some), tree(some, FEW)


FEW = {"max_leaf_nodes": 3, "search": "none"}


@pytest.mark.parametrize("name", list(forms(sp.csr_array(np.eye(2, dtype=np.int64)))))
def test_the_form_of_the_input_does_not_matter(few, name):
    found, form = few[1], few[0][name]
    before = [array.copy() for array in stored(form)]
    other = tree(form, FEW)
    assert_same_tree(found, other)
    np.testing.assert_array_equal(other.predict(form), found.labels_)
    for array, copy in zip(stored(form), before, strict=True):
        np.testing.assert_array_equal(array, copy)  # and it is left as it was


def stored(form):
    if sp.issparse(form) and form.format in ("csr", "csc"):
        return [form.data, form.indices, form.indptr]
    if sp.issparse(form):
        return [form.toarray()]
    return [np.asarray(form)]


def test_booleans_are_counts_of_one(X):
    found = tree((X > 0).astype(np.int64), {})
    assert_same_tree(found, tree(X > 0, {}))
    assert_same_tree(found, tree((X > 0).toarray(), {}))
