"""The residual dependence of items within groups."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from momentree import BernoulliMixture, MixedMixture
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.metrics import bivariate_residuals
from tests.raising import raises

WEIGHTS = np.array([0.5, 0.3, 0.2])


def literal(table, proba, weight, min_cell=1):
    """Loop over pairs of columns and their levels, as in the docstring; None is missing."""
    m = table.shape[1]
    out = np.full((m, m), np.nan)
    levels = [sorted({x for x in table[:, a] if x is not None}) for a in range(m)]
    omega = weight @ proba / weight.sum()

    def share(a, r, j):
        known = np.array([x is not None for x in table[:, a]])
        return float(
            (weight * proba[:, j])[table[:, a] == r].sum() / (weight * proba[:, j])[known].sum()
        )

    for a, b in combinations(range(m), 2):
        known = np.array([x is not None and y is not None for x, y in table[:, [a, b]]])
        n, found, expected, seen = weight[known].sum(), 0.0, [], []
        for r, s in product(levels[a], levels[b]):
            of_r, of_s = known & (table[:, a] == r), known & (table[:, b] == s)
            observed = weight[of_r & of_s].sum()
            mu = [(share(a, r, j), share(b, s, j)) for j in range(len(omega))]
            pi = sum(w * x * y for w, (x, y) in zip(omega, mu, strict=True))
            alone = (omega @ [x for x, _ in mu]) * (omega @ [y for _, y in mu])
            margins = weight[of_r].sum() * weight[of_s].sum() / n**2
            found += n * (observed / n - margins - (pi - alone)) ** 2 / pi
            expected.append(n * pi)
            seen.append(observed)
        small = np.array(expected)
        enough = (small >= 1).all() and (small < 5).mean() <= 0.2
        degrees = (len(levels[a]) - 1) * (len(levels[b]) - 1)
        if degrees == 1 and any(0 < one < min_cell for one in seen):
            continue
        if enough and degrees:
            out[a, b] = out[b, a] = found / degrees
    return out


def sample(n, d, seed):
    """Return the groups of n records, and their d independent codes."""
    rng = np.random.default_rng(seed)
    groups = rng.choice(3, p=WEIGHTS, size=n)
    return groups, (rng.random((n, d)) < rng.uniform(0.15, 0.85, (3, d))[groups]) * 1.0


@pytest.mark.parametrize("min_cell", [1, 60])
def test_equals_a_loop_over_pairs_and_levels(min_cell):
    rng = np.random.default_rng(0)
    n = 150
    proba, weight = rng.dirichlet(np.ones(3), n), rng.integers(1, 3, n) * 1.0
    levels = [("a", "b"), ("x", "y", "z"), ("p", "q", "r", "s"), (0, 1), ("same",)]
    columns = [rng.choice(np.array(one, dtype=object), n) for one in levels]
    table = np.column_stack(columns)
    table[rng.random(table.shape) < 0.1] = None
    got = bivariate_residuals(pd.DataFrame(table), proba, sample_weight=weight, min_cell=min_cell)
    expected = literal(table, proba, weight, min_cell)
    assert np.isfinite(expected).sum() == (12 if min_cell == 1 else 10)
    np.testing.assert_allclose(got, expected, rtol=1e-9)


def test_codes_are_columns_with_two_levels():
    rng = np.random.default_rng(1)
    X = (rng.random((400, 6)) < 0.4) * 1.0
    X[rng.random(X.shape) < 0.1] = np.nan
    before = X.copy()
    proba, weight = rng.dirichlet(np.ones(2), 400), rng.integers(0, 3, 400) * 1.0
    expected = bivariate_residuals(pd.DataFrame(X), proba, sample_weight=weight)
    sparse = sp.csr_array(X)
    for table in (X, sparse, X.tolist()):
        got = bivariate_residuals(table, proba, sample_weight=weight)
        np.testing.assert_allclose(got, expected, rtol=1e-9)
    some = bivariate_residuals(X, proba, columns=[4, 1], sample_weight=weight)
    of_frame = bivariate_residuals(pd.DataFrame(X), proba, columns=[4, 1], sample_weight=weight)
    np.testing.assert_allclose(some, expected[np.ix_([4, 1], [4, 1])], rtol=1e-9)
    np.testing.assert_allclose(some, of_frame, rtol=1e-9)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(sparse.toarray(), before)


def test_zero_for_the_population_of_a_mixture():
    mu = np.random.default_rng(2).uniform(0.2, 0.8, (3, 4))
    X = np.array(list(product([0.0, 1.0], repeat=4)))
    joint = WEIGHTS * np.prod(np.where(X[:, None] == 1, mu, 1 - mu), axis=2)
    weight = joint.sum(axis=1)
    got = bivariate_residuals(X, joint / weight[:, None], sample_weight=1e4 * weight)
    assert np.nanmax(got) < 1e-20
    assert np.isfinite(got).sum() == 12


def mean_of_samples(k, n_samples=60):
    """Return the mean residual of samples of k known groups, and its standard error."""
    means = []
    for seed in range(n_samples):
        rng = np.random.default_rng(seed)
        groups = rng.integers(k, size=1000)
        X = rng.random((1000, 6)) < rng.uniform(0.2, 0.8, (k, 6))[groups]
        means.append(np.nanmean(bivariate_residuals(X, np.eye(k)[groups])))
    return np.mean(means), np.std(means, ddof=1) / np.sqrt(n_samples)


def test_one_on_average_if_nothing_depends_on_anything():
    mean, standard_error = mean_of_samples(1)
    assert standard_error < 0.1
    assert abs(mean - 1) < 4 * standard_error


def test_below_one_on_average_if_the_groups_are_known_or_fitted():
    mean, standard_error = mean_of_samples(3)
    assert 0.5 < mean < 1 - 2 * standard_error
    _, X = sample(2000, 8, 0)
    fitted = bivariate_residuals(X, BernoulliMixture(3).fit(X).predict_proba(X))
    assert np.nanmean(fitted) < 1
    assert np.nanmax(fitted) < 8


@pytest.mark.parametrize("seed", range(3))
def test_finds_the_pair_that_depends_on_each_other(seed):
    rng = np.random.default_rng(seed)
    groups = rng.integers(3, size=2000)
    means = np.where(np.arange(12) % 3 == np.arange(3)[:, None], 0.8, 0.2)
    X = (rng.random((2000, 12)) < means[groups]) * 1.0
    before = bivariate_residuals(X, BernoulliMixture(3).fit(X).predict_proba(X))
    copied = rng.random(2000) < 0.3
    X[copied, 7] = X[copied, 2]
    after = bivariate_residuals(X, BernoulliMixture(3).fit(X).predict_proba(X))
    assert np.unravel_index(np.nanargmax(after), after.shape) == (2, 7)
    assert np.nanmax(before) < 8
    assert np.nanmax(after) > 40


def test_large_for_one_factor_without_groups():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((2000, 10)) + rng.standard_normal((2000, 1)) > 0
    assert np.nanmin(bivariate_residuals(X, np.ones((2000, 1)))) > 50


def test_order_of_rows_columns_and_groups_does_not_matter():
    rng = np.random.default_rng(6)
    _, X = sample(300, 6, 6)
    proba = rng.dirichlet(np.ones(3), 300)
    rows, columns = rng.permutation(300), rng.permutation(6)
    expected = bivariate_residuals(X, proba)[np.ix_(columns, columns)]
    got = bivariate_residuals(X[rows][:, columns], proba[rows][:, [2, 0, 1]])
    np.testing.assert_allclose(got, expected, rtol=1e-9)
    more = pd.DataFrame(X).astype(object)
    more.loc[300] = ["unseen"] * 6
    weight = np.append(np.ones(300), 0.0)
    with_nothing = bivariate_residuals(more, np.vstack([proba, proba[:1]]), sample_weight=weight)
    np.testing.assert_allclose(with_nothing, bivariate_residuals(X, proba), rtol=1e-9)
    twice = bivariate_residuals(np.vstack([X, X]), np.vstack([proba, proba]))
    doubled = bivariate_residuals(X, proba, sample_weight=np.full(300, 2.0))
    np.testing.assert_allclose(twice, doubled, rtol=1e-9)


def test_mixed_columns_and_numbers_cut_at_quartiles():
    rng = np.random.default_rng(7)
    old = rng.random(1500) < 0.5
    table = pd.DataFrame(
        {
            "age": np.where(old, rng.normal(70, 5, 1500), rng.normal(30, 5, 1500)),
            "plan": np.where(rng.random(1500) < np.where(old, 0.8, 0.3), "basic", "plus"),
            "visits": rng.poisson(np.where(old, 3.0, 0.5)),
        }
    )
    table["paid"] = np.where(rng.random(1500) < 0.8, table["plan"], "none")
    model = MixedMixture(2).fit(table)
    values = pd.DataFrame(
        bivariate_residuals(table, model.predict_proba(table)), table.columns, table.columns
    )
    assert values.loc["plan", "paid"] > 100
    assert values.loc["age", "plan"] < 4
    quarters = table.assign(age=pd.qcut(table["age"], 4, labels=list("abcd")).astype(str))
    again = bivariate_residuals(quarters, model.predict_proba(table))
    np.testing.assert_allclose(values, again, rtol=1e-9)


def test_refuses_wrong_arguments():
    with raises(InvalidDataError, "not_a_record_value"):
        bivariate_residuals([[2, 0], [1, 1]], np.ones((2, 1)))
    with raises(InvalidDataError, "rows_not_distributions"):
        bivariate_residuals([[1, 0], [1, 1]], np.full((2, 1), 0.5))
    with raises(InvalidParameterError, "not_a_number"):
        bivariate_residuals([[1, 0], [1, 1]], np.ones((2, 1)), min_cell=0)
    for column in (2, -1, 0.5):
        with raises(InvalidParameterError, "not_a_number"):
            bivariate_residuals([[1, 0], [1, 1]], np.ones((2, 1)), columns=[column])
