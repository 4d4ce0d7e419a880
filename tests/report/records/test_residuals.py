"""The residual dependence of codes and columns in summaries and on pages."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import chi2

from momentree import BernoulliMixture, MixedMixture
from momentree.datasets import MeasurementCoder, Measurements, RecordCoder, Records
from momentree.metrics import bivariate_residuals
from momentree.report import render_html, summarize_measurements, summarize_records
from tests.report.measurements.cases import flat_case


def make_records(copied=0.4, n=1500, seed=0):
    """Return records of three kinds, in which the code C7 is often that of C2."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(3, size=n)
    rates = np.where(np.arange(12) % 3 == np.arange(3)[:, None], 0.75, 0.15)
    X = (rng.random((n, 12)) < rates[kinds]) * 1.0
    again = rng.random(n) < copied
    X[again, 7] = X[again, 2]
    codes = np.array([f"C{j}" for j in range(12)])
    enough = np.ones(n, dtype=bool)
    ids = list(map(str, range(n)))
    return Records(sp.csr_array(X), codes, {}, ids, enough, RecordCoder(list(codes)))


@pytest.fixture(scope="module")
def fitted():
    records = make_records()
    return BernoulliMixture(3).fit(records.X, feature_names=records.codes), records


@pytest.mark.parametrize("min_cell", [1, 5])
def test_the_largest_are_shown_beside_the_number_of_groups(fitted, min_cell):
    model, records = fitted
    values = bivariate_residuals(records.X, model.predict_proba(records.X))
    summary = summarize_records(model, records, min_cell=min_cell)
    found = summary["quality"]["residuals"]["pairs"]
    assert summary["quality"]["residuals"]["limit"] == round(chi2.isf(0.05 / 66, 1))
    assert set(found[0]["items"]) == {"C2", "C7"}
    largest = np.nanmax(values)
    assert largest > 50
    expected = float(f"{largest:.2g}") if min_cell == 1 else round(largest**0.5) ** 2
    assert found[0]["residual"] == expected
    assert len(found) == 3
    assert [pair["residual"] for pair in found[1:]] < [10.0, 10.0]
    assert f"</a> {expected:g}; 1 or less is expected" in render_html(summary)


def test_none_are_suspicious_if_codes_are_independent_within_groups():
    records = make_records(copied=0.0)
    model = BernoulliMixture(3).fit(records.X, feature_names=records.codes)
    summary = summarize_records(model, records, min_cell=1)
    found = summary["quality"]["residuals"]
    assert found["pairs"][0]["residual"] < found["limit"]
    assert "still depend on each other" not in render_html(summary)


def test_codes_that_are_not_named_are_not_compared(fitted):
    model, records = fitted
    rare = records.X.toarray()
    rare[:, 11] = 0
    rare[:4, 11] = 1
    records = replace(records, X=sp.csr_array(rare))
    summary = summarize_records(model, records)
    assert "C11" not in str(summary["quality"])


def test_a_table_with_a_small_count_is_left_out(fitted):
    model, records = fitted
    X = records.X.toarray()
    both = np.flatnonzero(X[:, 2] * X[:, 7])
    X[both[3:], 7] = 0  # C2 and C7 exclude each other, except in three records
    records = replace(records, X=sp.csr_array(X))
    model = BernoulliMixture(3).fit(records.X, feature_names=records.codes)
    pairs = [
        [set(pair["items"]) for pair in summary["quality"]["residuals"]["pairs"]]
        for summary in (summarize_records(model, records, min_cell=m) for m in (1, 3, 4))
    ]
    assert [{"C2", "C7"} in shown for shown in pairs] == [True, True, False]


def test_no_value_of_a_hidden_count_can_be_excluded():
    """Whatever count a reader assumes, some table of whole numbers has the residual shown.

    A hidden count of a group changes the expected number of records with both codes.
    """
    rng = np.random.default_rng(0)
    change = np.array([1, -1, -1, 1])
    n_checked = 0
    for _ in range(400):
        observed = rng.multinomial(rng.integers(40, 2000), rng.dirichlet(np.ones(4)))
        expected = observed + rng.normal(0, 0.05 * observed.sum()) * change
        if (observed < 5).any() or (expected < 5).any():
            continue
        tables = observed + np.arange(-observed.sum(), observed.sum())[:, None] * change
        tables = tables[(tables >= 5).all(axis=1)]

        def shown(wanted, tables):
            return np.round(np.sqrt(((tables - wanted) ** 2 / wanted).sum(axis=-1)))

        for shift in np.linspace(-1, 1, 21):
            wanted = expected + shift * change
            if (wanted >= 5).all() and shown(expected, observed) > 0:
                n_checked += 1
                assert (shown(wanted, tables) == shown(expected, observed)).any()
    assert n_checked > 1000


def mixed(n=1200):
    rng = np.random.default_rng(1)
    old = rng.random(n) < 0.5
    plan = np.where(rng.random(n) < np.where(old, 0.8, 0.3), "basic", "plus")
    paid = np.where(rng.random(n) < 0.7, plan, "other")
    age = np.where(old, 70, 30) + rng.normal(0, 5, n)
    columns = {"age": age, "plan": plan.astype(object), "paid": paid.astype(object)}
    kinds = {"age": "number", "plan": "category", "paid": "category"}
    levels = {"plan": ["basic", "plus"], "paid": ["basic", "other", "plus"]}
    coder = MeasurementCoder(kinds, levels)
    return Measurements(columns, coder, list(map(str, range(n))), np.ones(n, dtype=bool))


def test_categories_of_measurements_are_compared():
    table = mixed()
    model = MixedMixture(2, kinds=dict(table.kinds)).fit(table.frame)
    proba = model.predict_proba(table.frame)
    summary = summarize_measurements(model, table, proba=proba)
    values = bivariate_residuals(pd.DataFrame(table.columns), proba)
    first = summary["quality"]["residuals"]["pairs"][0]
    assert first["items"] == ["plan", "paid"]
    assert first["residual"] == round(values[1, 2] ** 0.5) ** 2 > 100
    assert "<bdi>plan</bdi> and <bdi>paid</bdi>" in render_html(summary)


def test_numbers_alone_may_depend_on_each_other():
    model, table = flat_case(sizes=(60, 40, 30))
    assert not table.only_numbers
    assert summarize_measurements(model, table)["quality"]["residuals"]
    numbers = [name for name in table.columns if table.kinds[name] == "number"]
    columns = {name: table.columns[name] for name in numbers}
    alone = replace(
        table,
        columns=columns,
        coder=MeasurementCoder(dict.fromkeys(numbers, "number")),
        words={},
    )
    assert summarize_measurements(model, alone)["quality"]["residuals"] is None
