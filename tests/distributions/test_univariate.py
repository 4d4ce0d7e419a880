"""Fits by moments: exact from population moments, and intervals that cover the truth."""

import numpy as np
import pytest
from scipy import stats

from momentree.distributions import (
    fit_binomial,
    fit_gamma,
    fit_normal,
    fit_poisson,
    fit_uniform,
    from_moments,
)
from momentree.exceptions import InvalidDataError, InvalidParameterError
from tests.raising import raises

CASES = {
    "normal": (fit_normal, {"mean": -2.0, "variance": 4.0}, stats.norm(-2, 2)),
    "binomial": (fit_binomial, {"n": 12.0, "p": 0.7}, stats.binom(12, 0.7)),
    "poisson": (fit_poisson, {"rate": 3.5}, stats.poisson(3.5)),
    "gamma": (fit_gamma, {"shape": 2.5, "scale": 0.4}, stats.gamma(2.5, scale=0.4)),
    "uniform": (fit_uniform, {"low": -1.0, "high": 4.0}, stats.uniform(-1, 5)),
}


@pytest.mark.parametrize("name", CASES)
def test_population_moments_give_the_parameters_back(name):
    _, truth, distribution = CASES[name]
    found = from_moments(name, distribution.moment(1), distribution.moment(2))
    assert found == pytest.approx(truth, rel=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_standard_errors_and_intervals_agree_with_simulation(name):
    """1,000 samples: standard errors to 8 %, coverage of 95 % intervals to 2.2 percentage points.

    The simulation errors are 2.2 % and 0.7 points.
    """
    fit, truth, distribution = CASES[name]
    X = distribution.rvs(size=(1000, 1000), random_state=np.random.RandomState(0))
    fits = [fit(x) for x in X]
    for parameter, true in truth.items():
        values = np.array([found.estimates[parameter] for found in fits])
        errors = np.array([found.standard_errors[parameter] for found in fits])
        assert values.mean() == pytest.approx(true, abs=5 * values.std() / np.sqrt(1000) + 0.01)
        assert errors.mean() == pytest.approx(values.std(), rel=0.08)
        ends = np.array([found.confidence_intervals()[parameter] for found in fits])
        covered = ((ends[:, 0] <= true) & (true <= ends[:, 1])).mean()
        assert covered == pytest.approx(0.95, abs=0.022)


def test_the_standard_error_does_not_assume_the_model():
    """Counts with twice the variance of a Poisson distribution."""
    X = stats.nbinom(4, 0.5).rvs(size=(500, 300), random_state=np.random.RandomState(1))
    fits = [fit_poisson(x) for x in X]
    spread = np.std([found.estimates["rate"] for found in fits])
    errors = np.mean([found.standard_errors["rate"] for found in fits])
    assert errors == pytest.approx(spread, rel=0.1)
    assert np.mean([bool(found.notes) for found in fits]) > 0.9
    even = stats.poisson(4).rvs(size=(300, 300), random_state=np.random.RandomState(2))
    assert np.mean([bool(fit_poisson(x).notes) for x in even]) < 0.02


def test_notes_on_what_contradicts_the_distribution():
    assert [note.code for note in fit_uniform([0.0] * 5 + [1.0] * 5 + [9.0]).notes] == [
        "samples_outside"
    ]
    assert [note.code for note in fit_binomial([5] * 20 + [4, 6, 7]).notes] == [
        "trials_below_largest"
    ]
    assert fit_normal([1.0, 2.0]).notes == ()


@pytest.mark.parametrize("name", CASES)
def test_weights_units_and_scipy(name):
    fit, _, distribution = CASES[name]
    x = distribution.rvs(size=200, random_state=np.random.RandomState(3)).astype(float)
    twice = fit(np.append(x, x[:50]))
    weighted = fit(x, sample_weight=1.0 + (np.arange(200) < 50))
    np.testing.assert_allclose(weighted.values, twice.values, rtol=1e-9)
    np.testing.assert_allclose(weighted.covariance, twice.covariance, rtol=1e-8)
    frozen = fit(x).to_scipy()
    assert frozen.mean() == pytest.approx(x.mean())
    if name != "binomial":  # its number of trials is rounded
        assert frozen.var() == pytest.approx(frozen.mean() if name == "poisson" else x.var())


def test_large_means_lose_no_digits():
    x = np.array([1.0, 2.0, 4.0])
    assert fit_normal(x + 2.0**40).estimates["variance"] == pytest.approx(x.var(), rel=1e-6)


def test_refuses_what_no_distribution_explains():
    with raises(InvalidDataError, "not_underdispersed"):
        fit_binomial(np.random.default_rng(0).negative_binomial(2, 0.3, size=100))
    with raises(InvalidDataError, "not_underdispersed", mean=1.0, variance=1.0):
        from_moments("binomial", 1.0, 2.0)
    with raises(InvalidDataError, "not_counts", value=0.5):
        fit_binomial([1, 0.5])
    with raises(InvalidDataError, "not_counts", value=-1.0):
        fit_poisson([1, -1])
    with raises(InvalidDataError, "not_positive_values", value=0.0):
        fit_gamma([1.0, 0.0])
    with raises(InvalidDataError, "mean_not_positive"):
        fit_poisson([0, 0])
    with raises(InvalidDataError, "mean_not_positive"):
        from_moments("gamma", -1.0, 3.0)
    with raises(InvalidDataError, "no_variance"):
        from_moments("normal", 2.0, 3.0)
    for fit in (fit_normal, fit_gamma, fit_uniform, fit_binomial):
        with raises(InvalidDataError, "all_values_equal", parameter="x"):
            fit([2, 2, 2])
        with raises(InvalidDataError, "no_values"):
            fit([])
        with raises(InvalidDataError, "values_not_usable"):
            fit([1, np.nan])
        with raises(InvalidDataError, "wrong_shape"):
            fit([[1, 2]])
    with raises(InvalidParameterError, "not_a_choice", parameter="distribution"):
        from_moments("beta", 1.0, 2.0)
    with raises(InvalidParameterError, "not_a_number", parameter="level"):
        fit_normal([1.0, 2.0]).confidence_intervals(1.0)
