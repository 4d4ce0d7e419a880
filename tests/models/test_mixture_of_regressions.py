"""MixtureOfRegressions: recovery, likelihood against random starts, invariances, bad input."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from momentree import MixtureOfRegressions, load
from momentree.exceptions import (
    ConvergenceWarning,
    InvalidDataError,
    MomentreeWarning,
    ReadError,
)
from momentree.refinement.regressions import RegressionData, RegressionParameters, em_regressions
from tests.persistence.cases import rewritten
from tests.raising import raises, warns


def draw(n, d, k, seed, noise=0.5):
    rng = np.random.default_rng(seed)
    B, b0 = 2 * rng.normal(size=(k, d)), 2 * rng.normal(size=k)
    X, h = rng.normal(size=(n, d)) * rng.uniform(0.5, 2, size=d), rng.integers(k, size=n)
    y = b0[h] + (X * B[h]).sum(axis=1) + noise * rng.normal(size=n)
    return X, y, B, b0


def test_recovers_the_regressions_within_their_standard_errors():
    X, y, B, b0 = draw(4000, 3, 3, 0)
    model = MixtureOfRegressions(3).fit(X, y)
    order = np.linalg.norm(model.coef_[:, None] - B, axis=2).argmin(axis=0)
    assert sorted(order) == [0, 1, 2]
    # 1,300 samples each, inputs of standard deviation 0.5 or more: SE 0.03; 5 SE.
    np.testing.assert_allclose(model.coef_[order], B, atol=0.15)
    np.testing.assert_allclose(model.intercept_[order], b0, atol=0.1)
    np.testing.assert_allclose(model.noise_variances_, 0.25, atol=0.05)
    assert model.converged_


def test_moments_alone_are_consistent():
    X, y, B, b0 = draw(100_000, 2, 2, 1)
    model = MixtureOfRegressions(2, refine=None).fit(X, y)
    order = np.linalg.norm(model.coef_[:, None] - B, axis=2).argmin(axis=0)
    np.testing.assert_allclose(model.coef_[order], B, atol=0.2)
    np.testing.assert_allclose(model.intercept_[order], b0, atol=0.3)
    assert model.n_iter_ == 0


@pytest.mark.long
def test_the_likelihood_is_that_of_the_best_of_ten_random_starts():
    at_least = 0
    for seed in range(5):
        X, y, _, _ = draw(150, 2 + seed % 3, 2 + seed % 3, seed + 10)
        k = 2 + seed % 3
        ours = MixtureOfRegressions(k).fit(X, y).log_density(X, y).sum()
        rng = np.random.default_rng(seed)
        data = RegressionData(
            np.column_stack([np.ones(len(X)), X]), y, np.ones(len(X)), 1e-6 * y.var(), False
        )
        random = max(
            em_regressions(
                data, data.maximize(rng.dirichlet(np.ones(k), len(X))), max_iter=150, tol=1e-6
            ).log_likelihood
            for _ in range(10)
        )
        at_least += ours >= random - 1e-3 * len(X)
    assert at_least >= 4


def test_em_never_decreases_the_likelihood():
    X, y, _, _ = draw(200, 2, 3, 2)
    design = np.column_stack([np.ones(200), X])
    for shared in (True, False):
        data = RegressionData(design, y, np.ones(200), 1e-6, shared)
        R = np.random.default_rng(0).dirichlet(np.ones(3), 200)
        values = [
            em_regressions(data, data.maximize(R), max_iter=m, tol=0.0).log_likelihood
            for m in range(0, 30, 5)
        ]
        assert (np.diff(values) >= -1e-9).all()


def test_log_joint_is_the_density():
    rng = np.random.default_rng(3)
    p = RegressionParameters(np.array([0.3, 0.7]), rng.normal(size=(3, 2)), np.array([0.5, 2.0]))
    design, y = rng.normal(size=(4, 3)), rng.normal(size=4)
    expected = np.log(p.weights) + norm.logpdf(y[:, None], design @ p.coefs, np.sqrt(p.variances))
    np.testing.assert_allclose(p.log_joint(design, y), expected)


def test_predictions_agree_with_each_other():
    X, y, _, _ = draw(300, 2, 2, 4)
    model = MixtureOfRegressions(2, variances="shared").fit(X, y)
    np.testing.assert_allclose(model.predict(X), model.predict_components(X) @ model.weights_)
    P = model.predict_proba(X, y)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_array_equal(P.argmax(axis=1), model.labels_)
    np.testing.assert_allclose(model.predict_proba(X)[0], model.weights_)
    assert np.ptp(model.noise_variances_) == 0
    n, p = 300, 2 * 3 + 1 + 1
    total = model.log_density(X, y).sum()
    assert model.bic(X, y) == pytest.approx(-2 * total + p * np.log(n))
    assert model.aic(X, y) == pytest.approx(-2 * total + 2 * p)
    assert model.bic(X, y) < MixtureOfRegressions(1).fit(X, y).bic(X, y)


def test_one_regression_is_least_squares():
    X, y, _, _ = draw(100, 3, 2, 5)
    for intercept in (True, False):
        model = MixtureOfRegressions(1, fit_intercept=intercept).fit(X, y)
        design = np.column_stack([np.ones(100), X]) if intercept else X
        exact = np.linalg.lstsq(design, y, rcond=None)[0]
        np.testing.assert_allclose(model.coef_[0], exact[-3:], rtol=1e-6)
        assert model.intercept_[0] == pytest.approx(exact[0] if intercept else 0, rel=1e-6)


def test_order_of_rows_units_and_weights():
    X, y, _, _ = draw(300, 2, 2, 6)
    model = MixtureOfRegressions(2).fit(X, y)
    at = np.random.default_rng(0).permutation(300)
    moved = MixtureOfRegressions(2).fit(X[at], y[at])
    np.testing.assert_array_equal(moved.coef_, model.coef_)
    np.testing.assert_array_equal(moved.labels_, model.labels_[at])
    units = MixtureOfRegressions(2).fit(X * [1e-6, 1e6] + 3, 1e9 * y - 5e9)
    np.testing.assert_allclose(units.coef_ * [1e-6, 1e6] / 1e9, model.coef_, rtol=1e-4)
    twice = MixtureOfRegressions(2).fit(np.vstack([X, X[:60]]), np.append(y, y[:60]))
    weighted = MixtureOfRegressions(2).fit(X, y, sample_weight=1.0 + (np.arange(300) < 60))
    np.testing.assert_allclose(weighted.coef_, twice.coef_, rtol=1e-5)


def test_difficult_data():
    rng = np.random.default_rng(7)
    x = rng.normal(size=(60, 1))
    exact = np.where(np.arange(60) % 3, 2 * x[:, 0], 1 - x[:, 0])
    model = MixtureOfRegressions(2).fit(x, exact)  # both lines fit without noise
    np.testing.assert_allclose(model.coef_[:, 0], [2, -1], atol=1e-3)
    assert np.isfinite(model.log_density(x, exact)).all()
    collinear = np.hstack([x, x, np.ones((60, 1))])
    model = MixtureOfRegressions(2).fit(collinear, exact)
    np.testing.assert_allclose(model.coef_.sum(axis=1), [2, -1], atol=1e-3)
    offsets = np.where(np.arange(60) % 2, 5.0, -5.0) + x[:, 0] + 0.1 * rng.normal(size=60)
    model = MixtureOfRegressions(2).fit(x, offsets)  # the slopes are equal
    np.testing.assert_allclose(np.sort(model.intercept_), [-5, 5], atol=0.2)
    assert model.diagnostics_["start"] == "growth"
    offsets[3] = 1e4
    with warns(ConvergenceWarning, "regression_of_few_samples"):
        assert np.isfinite(MixtureOfRegressions(3).fit(x, offsets).coef_).all()


def test_refuses_bad_input():
    X, y, _, _ = draw(50, 2, 2, 8)
    with raises(InvalidDataError, "too_few_weighted_samples", n_rows=50, n_components=51):
        MixtureOfRegressions(51).fit(X, y)
    with raises(InvalidDataError, "constant_target"):
        MixtureOfRegressions().fit(X, np.ones(50))
    with raises(InvalidDataError, "missing_count"):
        MixtureOfRegressions().fit(np.where(X > 1, np.nan, X), y)
    with raises(InvalidDataError, "refused_by_sklearn"):
        MixtureOfRegressions().fit(X, np.where(y > 1, np.nan, y))
    with raises(InvalidDataError, "moments_too_few"):
        MixtureOfRegressions(3, refine=None).fit(X[:, :1], y)
    noisy = np.random.default_rng(9).permutation(y)
    with warns(ConvergenceWarning, "em_not_converged"):
        model = MixtureOfRegressions(max_iter=1).fit(X, noisy)
    with raises(InvalidDataError, "wrong_shape", parameter="y"):
        model.log_density(X, y[:3])
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_saved_and_loaded(tmp_path):
    X, y, _, _ = draw(100, 2, 2, 9)
    found = MixtureOfRegressions(2).fit(X, y)
    found.save(tmp_path / "a.mt")
    again = load(tmp_path / "a.mt")
    np.testing.assert_array_equal(again.predict_proba(X, y), found.predict_proba(X, y))
    np.testing.assert_array_equal(again.labels_, found.labels_)
    rewritten(tmp_path / "a.mt", lambda manifest, arrays: manifest["state"].pop("intercept_"))
    with raises(ReadError, "damaged_model"):
        load(tmp_path / "a.mt")


@pytest.mark.parametrize("column", [0, "y"])
def test_an_extreme_value_does_not_change_the_fit(column):
    X, y, _, _ = draw(300, 2, 2, 4)
    expected = MixtureOfRegressions(2).fit(X[1:], y[1:])
    X, y = X.copy(), y.copy()
    if column == "y":
        y[0] = 1e12
    else:
        X[0, column] = 1e12
    with warns(MomentreeWarning, "extreme_rows") as found:
        model = MixtureOfRegressions(2).fit(X, y)
    assert f"in column {column})" in str(found[0].message)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-6)


def test_a_data_frame_is_fitted_without_a_warning():
    X, y, *_ = draw(200, 2, 2, 0)
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = MixtureOfRegressions(2).fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(model.labels_, MixtureOfRegressions(2).fit(X, y).labels_)
