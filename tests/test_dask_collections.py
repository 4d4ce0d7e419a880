"""Estimators on Dask collections: the same fit as in memory."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import momentree as mt
from momentree.datasets import (
    make_bernoulli_mixture,
    make_single_topic,
    make_spherical_gaussians,
)
from momentree.exceptions import InvalidDataError
from tests.raising import raises

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

from dask.delayed import delayed  # noqa: E402

N = 240


def counts():
    return make_single_topic(N, 30, 3, length=40, random_state=0).X.toarray()


def records():
    return make_bernoulli_mixture(N, 20, 3, random_state=1).X.toarray().astype(float)


def reals():
    return make_spherical_gaussians(N, 5, 3, separation=6.0, random_state=2).X


CASES = {
    "SingleTopicModel": (mt.SingleTopicModel(3), counts),
    "SingleTopicModel-moments": (mt.SingleTopicModel(3, refine=None), counts),
    "PoissonMixture": (mt.PoissonMixture(3), counts),
    "BernoulliMixture": (mt.BernoulliMixture(3), records),
    "LatentDirichletAllocation": (mt.LatentDirichletAllocation(3, max_iter=5), counts),
    "GaussianMixture": (mt.GaussianMixture(3), reals),
    "TopicTree": (mt.TopicTree(3), counts),
    "TopicTree-splits": (mt.TopicTree(3, search="none"), counts),
    "ClusterTree-counts": (mt.ClusterTree(3), counts),
    "ClusterTree-binary": (mt.ClusterTree(3), records),
    "ClusterTree-real": (mt.ClusterTree(3), reals),
}
SHORT = {"SingleTopicModel", "GaussianMixture", "TopicTree", "ClusterTree-binary"}
LEARNED = ("weights_", "components_", "means_", "covariances_", "doc_topic_prior_")


def sparse_blocks(X):
    return da.from_array(X, chunks=(70, -1)).map_blocks(sp.csr_array)


def dense_blocks(X):
    return da.from_array(X, chunks=(70, 4))


def frame(X):
    table = pd.DataFrame(X, columns=[f"w{j}" for j in range(X.shape[1])])
    return dd.from_pandas(table, npartitions=4, sort=False)


@pytest.mark.filterwarnings("ignore::momentree.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=() if case in SHORT else pytest.mark.long) for case in CASES],
)
def test_the_same_fit_as_in_memory(case):
    model, sample = CASES[case]
    X = sample()
    weight = np.linspace(1, 2, N)
    options = {}
    if not case.startswith(("Gaussian", "ClusterTree-real")):
        options = {"sample_weight": weight}
    expected = clone(model).fit(X, **options)
    if options:
        options = {"sample_weight": da.from_array(weight, chunks=100)}
    for make in (sparse_blocks, dense_blocks, frame):
        if make is sparse_blocks and case.startswith("Gaussian"):
            continue
        collection = make(X)
        found = clone(model).fit(collection, **options)
        np.testing.assert_array_equal(found.labels_, expected.labels_)
        assert type(found.labels_) is np.ndarray
        for name in LEARNED:
            if hasattr(expected, name):
                np.testing.assert_allclose(
                    getattr(found, name), getattr(expected, name), rtol=1e-8, atol=1e-12
                )
        assert set(vars(found)) - {"notes_"} >= set(vars(expected)) - {
            "notes_",
            "feature_names_in_",
        }
        if make is frame:
            assert found.feature_names_in_.tolist() == list(collection.columns)
        np.testing.assert_array_equal(found.predict(collection), expected.predict(X))
        for method in ("predict_proba", "transform", "score_samples"):
            if make is sparse_blocks and hasattr(expected, method):
                np.testing.assert_allclose(
                    getattr(expected, method)(collection), getattr(expected, method)(X), rtol=1e-12
                )


SINGLE_ROWS = {
    "MixedMixture": (mt.MixedMixture(3, max_iter=2), "means_"),
    "MultiviewMixture": (mt.MultiviewMixture(3, max_iter=2), "means_"),
    "CategoricalHMM": (mt.CategoricalHMM(2, max_iter=2), "emissionprob_"),
    "GaussianHMM": (mt.GaussianHMM(2, max_iter=2), "means_"),
    "IndependentComponents": (mt.IndependentComponents(2), "components_"),
    "MixtureOfRegressions": (mt.MixtureOfRegressions(2), "coef_"),
}


@pytest.mark.filterwarnings("ignore::momentree.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=pytest.mark.long if case == "GaussianHMM" else ())
        for case in SINGLE_ROWS
    ],
)
def test_models_that_need_single_rows_bring_them_here(case):
    model, learned = SINGLE_ROWS[case]
    X = counts()[:, :1] % 4 if case == "CategoricalHMM" else reals()
    y = (X[:, 0] * np.sign(X[:, 1]),) if case == "MixtureOfRegressions" else ()
    expected = getattr(clone(model).fit(X, *y), learned)
    for make in (sparse_blocks, dense_blocks, frame):
        found = clone(model).fit(make(X), *y)
        np.testing.assert_allclose(getattr(found, learned), expected, rtol=1e-8, atol=1e-12)
        assert "rows_always_brought_here" in [note.code for note in found.notes_]


def test_batches_and_choices_bring_rows_here():
    X = counts()
    tried = {"candidates": [2, 3]}
    chosen = mt.choose_n_components(X, **tried).n_components
    for make in (sparse_blocks, dense_blocks, frame):
        expected, found = mt.PoissonMixture(3), mt.PoissonMixture(3)
        for rows in (X, X[:100]):
            expected.partial_fit(rows)
            found.partial_fit(make(rows))
            np.testing.assert_array_equal(found.components_, expected.components_)
            np.testing.assert_array_equal(found.labels_, expected.labels_)
        assert mt.choose_n_components(make(X), **tried).n_components == chosen
    names = [f"w{j}" for j in range(X.shape[1])]
    assert found.vocabulary_.tolist() == found.feature_names_in_.tolist() == names


def test_a_bad_value_is_reported_with_its_row():
    X = counts().astype(float)
    X[200, 7] = np.nan
    with raises(InvalidDataError, "missing_count", row=200, column=7):
        mt.SingleTopicModel(3).fit(dense_blocks(X))
    X[200, 7] = -1
    with raises(InvalidDataError, "negative_count", row=200, column=7):
        mt.SingleTopicModel(3).fit(sparse_blocks(X))


@pytest.mark.parametrize("make", [mt.SingleTopicModel, mt.GaussianMixture, mt.MixedMixture])
def test_partitions_of_other_columns_are_refused(make):
    """A data frame would fill the missing column with NaN."""
    X = counts().astype(float)
    wide = da.from_array(X, chunks=(60, -1)).map_blocks(
        lambda block, block_id: block[:, block_id[0] == 1 :], dtype=float
    )
    with raises(InvalidDataError, "blocks_of_other_widths", found=[29, 30]):
        make(2).fit(wide)
    tables = [pd.DataFrame(X[:, first:]).rename(columns=str) for first in (0, 1)]
    parts = [delayed(table) for table in tables]
    partitions = dd.from_delayed(parts, meta=tables[0], verify_meta=False)
    with raises(InvalidDataError, "partition_of_other_columns", missing=["29"], unknown=[]):
        make(2).fit(partitions)


def test_columns_of_texts_are_refused_by_fit_and_predicted_on_workers():
    words = [["apple", "pear", "plum", "fig"], ["bus", "car", "train", "tram"]]
    rng = np.random.default_rng(0)
    texts = pd.DataFrame({"text": [" ".join(rng.choice(words[i % 2], 9)) for i in range(60)]})
    frame = dd.from_pandas(texts, npartitions=3)
    array = da.from_array(texts["text"].to_numpy(dtype=object), chunks=20)
    for X in (frame, frame["text"], array):
        with raises(InvalidDataError, "texts_in_dask"):
            mt.TopicTree(2).fit(X)
    tree = mt.TopicTree(2).fit(texts["text"])
    for X in (frame, frame["text"]):
        np.testing.assert_array_equal(tree.predict(X), tree.labels_)
    numbers = dd.from_pandas(pd.DataFrame({"count": np.arange(60)}), npartitions=3)
    assert len(mt.TopicTree(2).fit(numbers).labels_) == 60  # one column is not always of texts
