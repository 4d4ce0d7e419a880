"""Corrected relations against literal sums, another solver, the truth, and StepMix."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.special import logsumexp

from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.metrics import classification_table, corrected_covariates, corrected_outcome
from tests.raising import raises

MU = np.array([[0.8] * 4 + [0.2] * 4, [0.2] * 4 + [0.8] * 4, [0.5, 0.2] * 4])
WEIGHTS = np.array([0.5, 0.3, 0.2])


def posteriors(X):
    joint = np.log(WEIGHTS) + X @ np.log(MU).T + (1 - X) @ np.log(1 - MU).T
    return np.exp(joint - logsumexp(joint, axis=1, keepdims=True))


def make(n=1500, seed=0):
    """Return true groups, assigned groups, posteriors, and records of age, death and ward."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, n, p=WEIGHTS)
    X = (rng.random((n, 8)) < MU[truth]).astype(float)
    P = posteriors(X)
    table = pd.DataFrame(
        {
            "age": rng.normal(50 + 8 * truth, 10),
            "died": (rng.random(n) < np.array([0.1, 0.4, 0.7])[truth]).astype(float),
            "ward": (rng.random(n) * np.array([3, 2, 1.5])[truth]).astype(int),
        }
    )
    return truth, P.argmax(axis=1), P, X, table


def test_the_classification_table_counts_posteriors():
    labels, P = np.array([0, 0, 1, 2, 2, 2]), np.random.default_rng(0).dirichlet(np.ones(3), 6)
    found = classification_table(labels, P)
    for s in range(3):
        assert found.mean_posterior[s] == pytest.approx(P[labels == s].mean(axis=0))
        for t in range(3):
            expected = P[labels == s, t].sum() / P[:, t].sum()
            assert found.probabilities[t, s] == pytest.approx(expected)
    assert found.sizes.tolist() == [2, 1, 3]
    assert found.entropy == pytest.approx(1 + (P * np.log(P)).sum() / (6 * np.log(3)))
    certain = classification_table([0, 1], np.eye(2))
    assert (certain.entropy, certain.mean_posterior.tolist()) == (1.0, [[1, 0], [0, 1]])
    assert classification_table([0, 0], np.ones((2, 1))).entropy == 1.0
    assert np.isnan(classification_table([0, 0], np.eye(2)).mean_posterior[1]).all()


def test_certain_assignments_need_no_correction():
    _, labels, _, _, table = make(300)
    certain = np.eye(3)[labels]
    for name in ("age", "died"):
        found = corrected_outcome(labels, certain, table[name])
        for group in range(3):
            values = table[name][labels == group]
            assert found.estimates[group, 0] == pytest.approx(values.mean())
            error = values.std(ddof=0) / np.sqrt(len(values))
            assert found.errors[group, 0] == pytest.approx(error)


def test_corrected_means_and_errors_are_literal_weighted_sums():
    _, labels, P, _, table = make(400)
    y = table["age"].to_numpy(copy=True)
    y[::7] = np.nan
    found = corrected_outcome(labels, P, y)
    W = np.linalg.inv(classification_table(labels, P).probabilities)
    known = np.flatnonzero(~np.isnan(y))
    assert found.n == len(known)
    means, size = np.zeros(3), np.zeros(3)
    for t in range(3):
        size[t] = sum(W[labels[i], t] for i in known)
        means[t] = sum(W[labels[i], t] * y[i] for i in known) / size[t]
        squares = sum((W[labels[i], t] * (y[i] - means[t])) ** 2 for i in known)
        assert found.errors[t, 0] == pytest.approx(np.sqrt(squares) / size[t], rel=1e-9)
    assert found.estimates[:, 0] == pytest.approx(means, rel=1e-12)
    half = found.intervals[:, 0, 1] - found.estimates[:, 0]
    assert half == pytest.approx(1.959963984540054 * found.errors[:, 0])


@pytest.mark.parametrize("name", ["age", "died", "ward"])
def test_the_truth_is_found_where_counts_of_assigned_records_are_biased(name):
    truth, labels, P, _, table = make(20_000, seed=1)
    found = corrected_outcome(labels, P, table[name])
    columns = {
        "age": table["age"].to_numpy()[:, None],
        "died": table["died"].to_numpy()[:, None],
        "ward": np.eye(3)[table["ward"]],
    }[name]
    exact = np.array([columns[truth == t].mean(axis=0) for t in range(3)])
    naive = np.array([columns[labels == t].mean(axis=0) for t in range(3)])
    assert (np.abs(found.estimates - exact) < 4 * found.errors + 1e-12).all()
    assert np.abs(naive - exact).max() > 5 * np.abs(found.estimates - exact).max()
    assert (found.p_values < 1e-9).all()


def test_p_values_of_an_unrelated_outcome_are_uniform():
    _, labels, P, _, _ = make(500)
    rng = np.random.default_rng(5)
    values = [corrected_outcome(labels, P, rng.normal(size=500)).p_values[0] for _ in range(200)]
    # Kolmogorov-Smirnov at level 0.001: 1.95 / sqrt(200)
    assert np.abs(np.sort(values) - np.arange(1, 201) / 200).max() < 1.95 / np.sqrt(200)


def test_a_rate_is_cut_at_zero():
    P = np.array([[0.9, 0.1]] * 50 + [[0.1, 0.9]] * 50)
    labels = P.argmax(axis=1)
    died = np.concatenate([np.arange(50) < 4, np.arange(50) < 40])
    found = corrected_outcome(labels, P, died)
    assert found.estimates[0, 0] == 0.0
    # The rate was slightly below zero, within its error.
    assert not found.impossible.any()
    # No record is certain, so the group has fewer than its 50 records behind the rate.
    assert found.intervals[0, 0, 0] == 0.0
    assert 3.84 / 53.84 < found.intervals[0, 0, 1] < 0.12
    assert (found.intervals <= 1).all()


def test_an_impossible_rate_is_marked():
    # One in ten records of group 0 should be those of group 1, where all died; but none did.
    P = np.array([[0.9, 0.1]] * 500 + [[0.1, 0.9]] * 500)
    labels = P.argmax(axis=1)
    found = corrected_outcome(labels, P, labels == 1)
    assert found.estimates.ravel().tolist() == [0.0, 1.0]
    assert found.impossible.all()
    _, labels, P, _, table = make(300)
    assert not corrected_outcome(labels, P, table["age"] - 50).impossible.any()


def negative_log_likelihood(b, design, labels, D):
    B = np.vstack([np.zeros(design.shape[1]), b.reshape(2, -1)])
    scores = design @ B.T
    prior = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
    return -np.log((prior * D[:, labels].T).sum(axis=1)).sum()


def test_odds_ratios_are_those_of_another_solver():
    _, labels, P, _, table = make()
    found = corrected_covariates(labels, P, table[["age", "died"]], reference=0)
    assert found.converged
    assert found.terms == ("age", "died")
    age = (table["age"] - 50) / 10
    design = np.column_stack([np.ones(len(labels)), age, table["died"]])
    D = classification_table(labels, P).probabilities
    best = minimize(
        negative_log_likelihood, np.zeros(6), args=(design, labels, D), options={"gtol": 1e-6}
    )
    b = best.x.reshape(2, 3)
    # BFGS with numeric gradients stops about 1e-5 from the maximum.
    assert found.log_odds[1:, 0] * 10 == pytest.approx(b[:, 1], abs=1e-4)
    assert found.log_odds[1:, 1] == pytest.approx(b[:, 2], abs=1e-4)

    def gradient(x):
        return approx_fprime(x, negative_log_likelihood, 1e-6, design, labels, D)

    hessian = np.array([gradient(best.x + h) - gradient(best.x - h) for h in 1e-3 * np.eye(6)])
    errors = np.sqrt(np.diag(np.linalg.inv(hessian / 2e-3))).reshape(2, 3)
    assert found.errors[1:, 1] == pytest.approx(errors[:, 2], rel=1e-2)
    assert np.log(found.intervals[1:, 1, 1]) == pytest.approx(
        found.log_odds[1:, 1] + 1.959963984540054 * found.errors[1:, 1]
    )
    assert (found.p_values < 1e-9).all()


def test_the_true_odds_ratios_are_found():
    rng = np.random.default_rng(2)
    z = rng.normal(size=20_000)
    scores = np.column_stack([0 * z, 0.3 + 0.7 * z, -0.5 - 0.4 * z])
    prior = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
    truth = (rng.random((20_000, 1)) > prior.cumsum(axis=1)).sum(axis=1)
    weights = np.bincount(truth) / 20_000
    X = (rng.random((20_000, 8)) < MU[truth]).astype(float)
    joint = np.log(weights) + X @ np.log(MU).T + (1 - X) @ np.log(1 - MU).T
    P = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    found = corrected_covariates(P.argmax(axis=1), P, {"z": z}, reference=0)
    assert (np.abs(found.log_odds[1:, 0] - [0.7, -0.4]) < 4 * found.errors[1:, 0]).all()


def test_classes_are_compared_with_the_most_frequent_one():
    _, labels, P, _, table = make()
    ward = np.array(["east", "west", "north"], dtype=object)[table["ward"]]
    sex = np.where(table["died"] > 0, "m", "f").astype(object)
    sex[::50] = ""
    found = corrected_covariates(labels, P, {"ward": ward, "sex": sex})
    most = max(("east", "west", "north"), key=ward.tolist().count)
    assert found.references == {"ward": most, "sex": "f"}
    assert found.n == 1500 - 30
    assert set(found.terms) == {f"ward: {w}" for w in ("east", "west", "north") if w != most} | {
        "sex: m"
    }
    assert found.reference == np.bincount(labels).argmax()
    as_number = corrected_covariates(labels, P, {"died": table["died"]})
    as_class = corrected_covariates(labels, P, {"died": np.where(table["died"] > 0, "yes", "no")})
    assert as_number.log_odds == pytest.approx(as_class.log_odds)


def test_the_order_of_records_does_not_matter():
    _, labels, P, _, table = make(300)
    order = np.random.default_rng(0).permutation(300)
    a = corrected_covariates(labels, P, table[["age"]])
    b = corrected_covariates(labels[order], P[order], table[["age"]].iloc[order])
    assert a.log_odds == pytest.approx(b.log_odds, rel=1e-7)


def test_a_covariate_that_separates_the_groups_is_reported():
    labels = np.repeat([0, 1], 50)
    P = np.where(labels[:, None] == [0, 1], 0.999, 0.001)
    found = corrected_covariates(labels, P, {"z": labels + 0.0})
    assert np.isfinite(found.odds_ratios).all()
    assert found.odds_ratios[1, 0] > 1e4


@pytest.mark.parametrize(
    ("code", "call"),
    [
        ("groups_overlap_too_much", lambda L, P: ([0, 1], [[0.5, 0.5]] * 2, [0, 1])),
        ("group_never_assigned", lambda L, P: ([0, 0], np.eye(2), [0, 1])),
        ("rows_not_distributions", lambda L, P: (L, 2 * P, L)),
        ("labels_out_of_range", lambda L, P: (L + 1, P, L)),
        ("wrong_shape", lambda L, P: (L, P, L[1:])),
    ],
)
def test_bad_outcomes_are_refused(code, call):
    _, labels, P, _, _ = make(100)
    with raises(InvalidDataError, code):
        corrected_outcome(*call(labels, P))


@pytest.mark.parametrize(
    ("code", "columns"),
    [
        ("no_covariates", {}),
        ("constant_covariate", {"z": np.ones(100)}),
        ("constant_covariate", {"z": ["a"] * 100}),
        ("dependent_covariates", {"z": np.arange(100.0), "y": 2 * np.arange(100.0)}),
        ("too_few_complete_records", {"z": [1.0, 2.0] + [np.nan] * 98}),
    ],
)
def test_bad_covariates_are_refused(code, columns):
    _, labels, P, _, _ = make(100)
    with raises(InvalidDataError, code):
        corrected_covariates(labels, P, columns)
    with raises(InvalidParameterError, "not_a_number"):
        corrected_covariates(labels, P, {"z": np.arange(100.0)}, reference=3)


LIMITS = {"abs_tol": 1e-11, "rel_tol": 1e-11, "max_iter": 2000, "progress_bar": 0}
MEASURED = {"n_components": 3, "measurement": "binary", "random_state": 1, **LIMITS}


@pytest.fixture(scope="module")
def stepmix():
    """StepMix, data, and its posteriors without outcomes."""
    StepMix = pytest.importorskip("stepmix").stepmix.StepMix
    *_, X, table = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return StepMix, X, table, StepMix(**MEASURED).fit(X).predict_proba(X)


def fit_in_three_steps(StepMix, X, structural, values, correction, **options):
    model = StepMix(
        structural=structural,
        n_steps=3,
        correction=correction,
        assignment="modal",
        structural_params=options or None,
        **MEASURED,
    )
    return model.fit(X, values).get_parameters()["structural"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "kind", "parameter"),
    [("age", "gaussian_diag", "means"), ("died", "binary", "pis"), ("ward", "categorical", "pis")],
)
def test_corrected_outcomes_are_those_of_stepmix(stepmix, name, kind, parameter):
    StepMix, X, table, P = stepmix
    theirs = fit_in_three_steps(StepMix, X, kind, table[[name]].to_numpy(), "BCH")
    ours = corrected_outcome(P.argmax(axis=1), P, table[name])
    assert ours.estimates == pytest.approx(np.reshape(theirs[parameter], (3, -1)), abs=1e-9)


@pytest.mark.filterwarnings("ignore")
def test_corrected_covariates_are_those_of_stepmix(stepmix):
    StepMix, X, table, P = stepmix
    Z = np.column_stack([(table["age"] - 50) / 10, table["died"]])
    newton = {"method": "newton-raphson", "intercept": True, "max_iter": 1, "lr": 1.0}
    theirs = fit_in_three_steps(StepMix, X, "covariate", Z, "ML", **newton)
    ours = corrected_covariates(P.argmax(axis=1), P, {"age": Z[:, 0], "died": Z[:, 1]}, reference=0)
    beta = theirs["beta"][:, 1:] - theirs["beta"][0, 1:]
    # StepMix iterates EM, whose last steps are about 1e-5.
    assert ours.log_odds == pytest.approx(beta, abs=1e-4)
