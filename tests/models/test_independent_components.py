"""IndependentComponents: as accurate as FastICA and JADE, deterministic, honest about limits."""

import pickle
import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.decomposition import FastICA

from momentree import IndependentComponents, load
from momentree.decomposition import sidiwo
from momentree.exceptions import (
    ConvergenceWarning,
    InvalidDataError,
    InvalidParameterError,
    ReadError,
)
from momentree.metrics import amari_distance
from tests.persistence.cases import rewritten
from tests.raising import raises, warns


def draw(kind, n, d, seed):
    """Sources of one kind or of both in turn, mixed by a random matrix."""
    rng = np.random.default_rng(seed)
    heavy, light = rng.laplace(size=(n, d)), rng.uniform(-2, 2, size=(n, d))
    both = np.where(np.arange(d) % 2, light, heavy)
    A = rng.normal(size=(d, d))
    return {"laplace": heavy, "uniform": light, "both": both}[kind] @ A.T, A


def literal_jade(X):
    """Cardoso & Souloumiac 1993: every slice, rotations of single planes until none moves."""
    Y = X - X.mean(axis=0)
    values, U = np.linalg.eigh(np.cov(Y.T, bias=True))
    W = (U / np.sqrt(values)).T
    Z = Y @ W.T
    n, k = Z.shape
    slices = []
    for a in range(k):
        for b in range(k):
            Q = (Z * (Z[:, a] * Z[:, b])[:, None]).T @ Z / n
            E = np.zeros((k, k))
            E[a, b] = 1
            slices.append(Q - E - E.T - np.eye(k) * (a == b))
    slices = np.array(slices)
    R = np.eye(k)
    for _ in range(50):
        largest = 0.0
        for i, j in combinations(range(k), 2):
            g = np.stack([slices[:, i, i] - slices[:, j, j], slices[:, i, j] + slices[:, j, i]])
            G = g @ g.T
            on, off = G[0, 0] - G[1, 1], G[0, 1] + G[1, 0]
            angle = 0.5 * np.arctan2(off, on + np.hypot(on, off))
            turn = np.eye(k)
            turn[[i, j], [i, j]] = np.cos(angle)
            turn[i, j], turn[j, i] = np.sin(angle), -np.sin(angle)
            slices = turn @ slices @ turn.T
            R = turn @ R
            largest = max(largest, abs(angle))
        if largest < 1e-9:
            break
    return R @ W


@pytest.mark.parametrize("kind", ["laplace", "uniform", "both"])
def test_without_refinement_it_is_the_published_jade(kind):
    X, _ = draw(kind, 500, 4, 0)
    found = IndependentComponents(refine=None).fit(X)
    # Angles differ by the tolerance of the sweeps.
    assert amari_distance(found.components_, np.linalg.inv(literal_jade(X))) < 1e-5


@pytest.mark.parametrize("kind", ["laplace", "uniform", "both"])
def test_the_error_is_not_above_that_of_fastica_and_jade(kind):
    """At most 1.05 times the error of either; the best of three contrasts, over eight samples."""
    ours, jade, theirs = [], [], {"logcosh": [], "exp": [], "cube": []}
    for seed in range(8):
        X, A = draw(kind, 1000, 4, seed)
        ours.append(amari_distance(IndependentComponents().fit(X).components_, A))
        jade.append(amari_distance(literal_jade(X), A))
        for fun, errors in theirs.items():
            fast = FastICA(4, fun=fun, whiten="unit-variance", random_state=0, max_iter=1000)
            errors.append(amari_distance(fast.fit(X).components_, A))
    best = min(np.mean(errors) for errors in theirs.values())
    assert np.mean(ours) <= 1.05 * min(best, np.mean(jade))


def test_the_error_decreases_with_the_root_of_the_samples_as_reported():
    X, A = draw("laplace", 20_000, 3, 0)
    small, large = (IndependentComponents().fit(X[:n]) for n in (1250, 20_000))
    ratio = small.diagnostics_["angle_error"] / large.diagnostics_["angle_error"]
    assert ratio == pytest.approx(4, rel=0.15)  # the information of 1,250 samples is uncertain
    # Five standard errors of an angle bound the mean of six.
    assert amari_distance(large.components_, A) < 5 * large.diagnostics_["angle_error"]


def test_sources_are_white_and_transformed_back():
    X, _ = draw("both", 400, 5, 1)
    found = IndependentComponents().fit(X)
    S = found.transform(X)
    np.testing.assert_allclose(S.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(np.cov(S.T, bias=True), np.eye(5), atol=1e-9)
    np.testing.assert_allclose(found.inverse_transform(S), X, atol=1e-8)
    np.testing.assert_allclose(found.components_ @ found.mixing_, np.eye(5), atol=1e-9)
    np.testing.assert_allclose((S**4).mean(axis=0) - 3, found.kurtosis_, atol=1e-9)
    assert (np.diff(np.abs(found.kurtosis_)) <= 0).all()
    np.testing.assert_array_equal(S, IndependentComponents().fit_transform(X))


def test_order_of_rows_units_and_weights():
    X, _ = draw("both", 300, 3, 2)
    found = IndependentComponents().fit(X)
    moved = IndependentComponents().fit(X[np.random.default_rng(0).permutation(300)])
    np.testing.assert_array_equal(found.components_, moved.components_)
    scaled = IndependentComponents().fit(X * [1e-6, 1, 1e6] + 5)
    np.testing.assert_allclose(scaled.components_ * [1e-6, 1, 1e6], found.components_, atol=1e-5)
    twice = IndependentComponents().fit(np.vstack([X, X[:50]])).components_
    weighted = IndependentComponents().fit(X, sample_weight=1.0 + (np.arange(300) < 50))
    np.testing.assert_allclose(weighted.components_, twice, atol=1e-6)


def test_other_decompositions_find_the_sources_too():
    X, A = draw("both", 10_000, 3, 3)
    for method in ("sidiwo", "tensor_power_method", sidiwo):
        found = IndependentComponents(decomposition=method, refine=None).fit(X)
        assert amari_distance(found.components_, A) < 0.2  # one contraction is less accurate
        refined = IndependentComponents(decomposition=method).fit(X)
        assert amari_distance(refined.components_, A) < 0.01


def test_gaussian_sources_are_reported():
    rng = np.random.default_rng(4)
    noise = rng.normal(size=(1000, 4))
    with warns(ConvergenceWarning, "gaussian_sources"):
        IndependentComponents().fit(noise)
    one = np.column_stack([noise[:, 0], rng.laplace(size=1000), rng.uniform(size=1000)])
    IndependentComponents().fit(one)  # a single one is identified by the others


def test_repairs_are_reported():
    X, _ = draw("both", 300, 3, 5)
    deficient = np.column_stack([X, X[:, 0] - X[:, 1], np.ones(300)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(IndependentComponents().fit(deficient).components_) == 3
    with warns(ConvergenceWarning, "fewer_components"):
        IndependentComponents(5).fit(deficient)
    spoiled = X.copy()
    spoiled[7, 1] = 1e12
    with warns(ConvergenceWarning, "source_of_one_sample"):
        IndependentComponents().fit(spoiled)
    with warns(ConvergenceWarning, "not_separated"):
        IndependentComponents(max_iter=1).fit(X)
    assert len(IndependentComponents(2).fit(X).components_) == 2


def test_refuses_bad_input():
    X, _ = draw("uniform", 400, 2, 6)
    with raises(InvalidDataError, "missing_count", row=3, column=1):
        IndependentComponents().fit(np.where(np.arange(800).reshape(400, 2) == 7, np.nan, X))
    with raises(InvalidDataError, "refused_by_sklearn"):
        IndependentComponents().fit(X[:1])
    with raises(InvalidDataError, "sparse_not_supported"):
        IndependentComponents().fit(sp.csr_array(X))
    with raises(InvalidDataError, "no_spread"):
        IndependentComponents().fit(np.ones((5, 2)))
    found = IndependentComponents().fit(X)
    with raises(InvalidDataError, "wrong_shape", parameter="X"):
        found.inverse_transform(X[:, :1])


def test_names_and_pickles():
    X, _ = draw("both", 100, 2, 7)
    frame = pd.DataFrame(X, columns=["a", "b"])
    found = IndependentComponents().set_output(transform="pandas").fit(frame)
    names = ["independentcomponents0", "independentcomponents1"]
    assert list(found.transform(frame).columns) == names
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.transform(frame), found.transform(frame))


def test_saved_and_loaded(tmp_path):
    X, _ = draw("both", 200, 2, 8)
    for decomposition in ("jade", sidiwo):
        found = IndependentComponents(decomposition=decomposition).fit(X)
        found.save(tmp_path / "a.mt")
        again = load(tmp_path / "a.mt")
        np.testing.assert_array_equal(again.transform(X), found.transform(X))
        np.testing.assert_array_equal(again.inverse_transform(X), found.inverse_transform(X))
        assert again.n_iter_ == found.n_iter_
    rewritten(tmp_path / "a.mt", lambda manifest, arrays: manifest["state"].pop("mixing_"))
    with raises(ReadError, "damaged_model"):
        load(tmp_path / "a.mt")
    with raises(InvalidParameterError, "own_decomposition"):
        IndependentComponents(decomposition=lambda *a, **k: sidiwo(*a, **k)).fit(X).save(
            tmp_path / "b.mt"
        )
