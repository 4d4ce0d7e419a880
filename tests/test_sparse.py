"""Every entry refuses damaged sparse matrices, before compiled code reads them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import momentree as mt
from momentree.backends import RowBlocks
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.metrics import group_profiles, npmi_coherence, stability_score
from momentree.moments import (
    BernoulliMoments,
    LDAMoments,
    MultiviewMoments,
    PoissonMoments,
    SingleTopicMoments,
)
from momentree.report import plot_record_heatmap, summarize
from tests.raising import raises

OUTSIDE = Message("[sparse_indices]", low=0, high=11)


def sound() -> sp.csr_array:
    """Zeros and ones of two groups, valid data for every model."""
    rng = np.random.default_rng(0)
    ones = rng.random((60, 12)) < np.where(np.add.outer(np.arange(60), np.arange(12)) % 2, 0.8, 0.2)
    ones[:, 0] = True
    return sp.csr_array(ones.astype(np.int64))


def index_far_outside(X):
    X.indices[3] = 2**30


def index_outside(X):
    X.indices[3] = 1000


def index_negative(X):
    X.indices[3] = -5


def ends_beyond_the_values(X):
    X.indptr = np.arange(X.shape[0] + 1, dtype=X.indptr.dtype) * 40
    X.indptr[-1] = 0


def ends_descend(X):
    X.indptr[4] = X.indptr[6] + 1


def starts_late(X):
    X.indptr[0] = 1


def too_few_ends(X):
    X.indptr = X.indptr[:-1]


def too_few_values(X):
    X.data = X.data[:-1]


DAMAGE = [
    index_far_outside,
    index_outside,
    index_negative,
    ends_beyond_the_values,
    ends_descend,
    starts_late,
    too_few_ends,
    too_few_values,
]


@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo", "lil", "dok", "dia"])
def test_sound_matrices_of_every_format_pass(form):
    X = sound().asformat(form)
    np.testing.assert_array_equal(RowBlocks(X).matrix.toarray(), sound().toarray())


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
def test_damaged_pointers_and_indices_are_found(form, damage):
    X = sound().asformat(form)
    damage(X)
    with raises(InvalidDataError, "sparse_damaged"):
        RowBlocks(X)


@pytest.mark.parametrize("place", [-1, 12, 2**30])
def test_damaged_coordinates_are_found(place):
    X = sound().tocoo()
    X.coords[1][2] = place
    with raises(InvalidDataError, "sparse_damaged", fault=OUTSIDE):
        RowBlocks(X)


@pytest.mark.parametrize("form", [sp.csr_array, sp.coo_array])
def test_sparse_arrays_of_one_dimension_are_refused(form):
    for entry in (mt.SingleTopicModel(2).fit, RowBlocks):
        with raises(InvalidDataError, "sparse_not_a_matrix", shape="(30,)"):
            entry(form(np.ones(30)))


def test_index_arrays_of_different_types_are_unified():
    X = sound()
    X.indptr = X.indptr.astype(np.int64)
    Y = RowBlocks(X).matrix
    assert Y.indptr.dtype == Y.indices.dtype == np.int32
    assert X.indptr.dtype == np.int64  # the caller's matrix stays as it is
    np.testing.assert_array_equal(Y.toarray(), sound().toarray())


@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
@pytest.mark.parametrize("types", [("i2", "i2"), ("u4", "u4"), ("i4", "u8"), (">i4", ">i4")])
def test_index_arrays_without_compiled_kernels_are_converted(form, types):
    """SciPy refuses them, or would count rows in a type that is too small."""
    X = sound().asformat(form).copy()
    X.indices, X.indptr = X.indices.astype(types[0]), X.indptr.astype(types[1])
    Y = RowBlocks(X)
    assert Y.matrix.indptr.dtype == Y.matrix.indices.dtype == np.int32
    rows = Y.take(np.array([59, 0]))
    np.testing.assert_array_equal(rows.matrix.toarray(), sound().toarray()[[59, 0]])


@pytest.mark.parametrize("dtype", [np.float16, np.longdouble, ">f8"])
def test_floats_without_compiled_kernels_become_double(dtype):
    assert RowBlocks(sound().toarray().astype(dtype)).matrix.dtype == np.float64


# --- every entry ---------------------------------------------------------------------------------

ESTIMATORS = [
    mt.TopicTree(2),
    mt.ClusterTree(2),
    mt.SingleTopicModel(2),
    mt.LatentDirichletAllocation(2),
    mt.PoissonMixture(2),
    mt.BernoulliMixture(2),
]
LABELS = np.arange(60) % 2
ENTRIES = {
    **{type(e).__name__: e.fit for e in ESTIMATORS},
    "RowBlocks": RowBlocks,
    "SingleTopicMoments": SingleTopicMoments.from_data,
    "LDAMoments": lambda X: LDAMoments.from_data(X, alpha0=1.0),
    "PoissonMoments": PoissonMoments.from_data,
    "BernoulliMoments": BernoulliMoments.from_data,
    "MultiviewMoments": lambda X: MultiviewMoments.from_data([X, X, X], n_components=2),
    "choose_n_components": mt.choose_n_components,
    "npmi_coherence": lambda X: npmi_coherence([[0, 1]], X),
    "stability_score": lambda X: stability_score(mt.TopicTree(2), X),
    "group_profiles": lambda X: group_profiles(X, LABELS),
    "summarize": lambda X: summarize(mt.TopicTree(2).fit(sound()), X),
    "plot_record_heatmap": lambda X: plot_record_heatmap(X, LABELS),
}


@pytest.mark.parametrize("damage", [index_far_outside, index_negative, ends_beyond_the_values])
@pytest.mark.parametrize("entry", ENTRIES)
def test_every_entry_refuses_a_damaged_matrix(entry, damage):
    X = sound()
    damage(X)
    with raises(InvalidDataError, "sparse_damaged"):
        ENTRIES[entry](X)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_prediction_refuses_a_damaged_matrix(estimator):
    X = sound()
    estimator.fit(X)
    index_outside(X)
    with raises(InvalidDataError, "sparse_damaged"):
        estimator.predict(X)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_unusual_types_give_the_usual_fit(estimator):
    X = sound()
    mixed = X.copy()
    mixed.indptr = mixed.indptr.astype(np.int64)
    usual = estimator.fit(X.astype(float)).predict_proba(X)
    for Y in (mixed, X.toarray().astype(np.longdouble), X.toarray().astype(np.float16)):
        np.testing.assert_array_equal(estimator.fit(Y).predict_proba(Y), usual)


@pytest.mark.parametrize("dtype", ["S8", "m8[s]", "V8"])
def test_values_that_are_not_numbers_are_refused(dtype):
    X = sound()
    X.data = np.zeros(X.nnz, dtype)
    with raises(InvalidDataError, "values_not_numeric"):
        mt.TopicTree(2).fit(X)
    with pytest.raises(InvalidDataError):
        mt.TopicTree(2).fit(np.zeros((60, 12), dtype))


def test_counts_too_small_for_the_arithmetic_are_refused():
    X = sound().astype(float)
    for value in (5e-324, 1e-40):
        X.data[5] = value
        with raises(InvalidDataError, "tiny_count", value=value):
            mt.LatentDirichletAllocation(2).fit(X)
    X.data[5] = 1e-20
    mt.LatentDirichletAllocation(2).fit(X)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_weights_too_small_for_the_arithmetic_are_refused(estimator):
    X = sound()
    with raises(InvalidDataError, "tiny_sample_weights"):
        estimator.fit(X, sample_weight=np.full(X.shape[0], 5e-324))
