"""Table one against direct sums and the package tableone, and what it does not disclose."""

from __future__ import annotations

import json

import numpy as np
import openpyxl
import pandas as pd
import pytest

from momentree.exceptions import InvalidDataError
from momentree.metrics import corrected_outcome
from momentree.models import BernoulliMixture, compare_fits
from momentree.report import (
    fits_table,
    render_html,
    summarize_records,
    table_one,
    write_table,
)
from momentree.report.disclosure import Disclosure
from momentree.report.outcomes import count_outcomes
from tests.raising import raises

from .cases import flat_case, tree_case


def case(min_cell=1, **options):
    """Return a summary of four groups with a numeric, a binary and a text variable, and data."""
    model, records = flat_case()
    age = records.outcomes["age"].copy()
    age[::31] = np.nan
    records.outcomes["age"] = age
    records.covariates = ("age", "ward")
    table = pd.DataFrame(records.outcomes)[records.enough].assign(group=model.labels_)
    return summarize_records(model, records, min_cell=min_cell, **options), table, model, records


def rows_of(summary):
    table = table_one(summary)
    names = table["Characteristic"].replace("", None).ffill()
    return {
        (name, value): row
        for name, value, row in zip(names, table["Value"], table.to_numpy(), strict=True)
    }


def test_every_cell_is_counted_directly():
    summary, table, *_ = case()
    rows, n = rows_of(summary), len(table)
    sizes = table["group"].value_counts().sort_index()
    assert rows["Records", "n (%)"][2] == f"{n} (100.0)"
    assert rows["Records", "n (%)"][3:7].tolist() == [
        f"{size} ({100 * size / n:.1f})" for size in sizes
    ]
    for at, of in enumerate([table, *(table[table["group"] == g] for g in range(4))], start=2):
        age = of["age"]
        assert rows["age", "mean ± SD"][at] == f"{age.mean():.1f} ± {age.std():.1f}"
        low, median, high = age.quantile([0.25, 0.5, 0.75]).round(1)
        assert rows["age", "median [quartiles]"][at] == f"{median:.10g} [{low:.10g}, {high:.10g}]"
        lacking = age.isna()
        expected = f"{lacking.sum()} ({100 * lacking.mean():.1f})"
        assert rows["age", "missing, n (%)"][at] == expected
        assert rows["died", "n (%)"][at] == f"{of.died.sum()} ({100 * of.died.mean():.1f})"
        north = of["ward"] == "north"
        assert rows["ward", "north, n (%)"][at] == f"{north.sum()} ({100 * north.mean():.1f})"
    assert not any("missing" in value for name, value in rows if name == "ward")


def test_codes_are_counted_per_record_and_per_group():
    summary, _, model, records = case()
    X = records.X[np.flatnonzero(records.enough)].toarray()
    rows = rows_of(summary)
    held = X.sum(axis=1)
    first = held[model.labels_ == 0]
    cell = rows["Codes per record", "mean ± SD"][3]
    assert cell == f"{first.mean():.1f} ± {first.std(ddof=1):.1f}"
    code = records.codes[X.sum(axis=0).argmax()]
    row = next(row for (name, _), row in rows.items() if name.startswith(f"{code} "))
    count = int(X[model.labels_ == 0, X.sum(axis=0).argmax()].sum())
    assert row[3] == f"{count} ({100 * count / len(first):.1f})"


def pairwise(function, table, name):
    groups = [table[name][table["group"] == g].dropna() for g in range(4)]
    return max(function(groups[a], groups[b]) for a in range(4) for b in range(a))


def test_differences_are_the_largest_of_their_definition():
    summary, table, *_ = case()
    rows = rows_of(summary)

    def of_numbers(x, y):
        return abs(x.mean() - y.mean()) / np.sqrt((x.var() + y.var()) / 2)

    def of_classes(x, y):
        p, q = ([(z == kind).mean() for kind in ("east", "west")] for z in (x, y))
        S = sum(np.diag(r) - np.outer(r, r) for r in (p, q)) / 2
        difference = np.subtract(p, q)
        return np.sqrt(difference @ np.linalg.inv(S) @ difference)

    def of_rates(x, y):
        p, q = x.mean(), y.mean()
        return abs(p - q) / np.sqrt((p * (1 - p) + q * (1 - q)) / 2)

    found = [rows[key][-1] for key in (("age", "mean ± SD"), ("died", "n (%)"))]
    assert float(found[0]) == pytest.approx(pairwise(of_numbers, table, "age"), abs=0.006)
    assert float(found[1]) == pytest.approx(pairwise(of_rates, table, "died"), abs=0.006)
    ward = next(row for (name, _), row in rows.items() if name == "ward")
    assert float(ward[-1]) == pytest.approx(pairwise(of_classes, table, "ward"), abs=0.006)


@pytest.mark.filterwarnings("ignore")
def test_numbers_are_those_of_the_package_tableone():
    tableone = pytest.importorskip("tableone")
    summary, table, *_ = case()
    rows = rows_of(summary)
    theirs = tableone.TableOne(
        table.astype({"died": str}),
        columns=["age", "died", "ward"],
        categorical=["died", "ward"],
        groupby="group",
        smd=True,
    ).tableone
    theirs.columns = theirs.columns.get_level_values(-1)
    smds = theirs[[column for column in theirs.columns if column.startswith("SMD")]]
    for name, ours, key in [
        ("age, mean (SD)", rows["age", "mean ± SD"], ("age, mean (SD)", "")),
        ("died, n (%)", rows["died", "n (%)"], ("died, n (%)", "True")),
    ]:
        theirs_here = theirs.loc[key]
        cells = [str(theirs_here[str(g)]) for g in range(4)]
        mine = [cell.replace(" ± ", " (") for cell in ours[3:7]]
        assert [cell.rstrip(")") for cell in cells] == [cell.rstrip(")") for cell in mine]
        largest = pd.to_numeric(smds.loc[name].iloc[0], errors="coerce").abs().max()
        assert float(ours[-1]) == pytest.approx(largest, abs=0.0006 + 0.005)


def test_the_table_shows_only_what_the_page_shows():
    summary, _table, *_ = case(min_cell=5)
    rows = rows_of(summary)
    (died,) = (one for one in summary["outcomes"] if one["name"] == "died")
    for text, count in zip(rows["died", "n (%)"][3:7], died["classes"][0]["counts"], strict=True):
        assert text.startswith(f"{count} " if count >= 0 else "<5" if count == -1 else "*")
    assert -1 in died["classes"][0]["counts"]
    assert rows["died", "n (%)"][-1].startswith("≈")
    shown = {cell for row in rows.values() for cell in row[2:]}
    assert "<5" in shown
    assert not any(cell.split(" (")[0] in {"1", "2", "3", "4"} for cell in shown)


def statistics(values, labels, min_cell):
    k = max(labels) + 1
    (found,) = count_outcomes({"x": np.array(values, float)}, np.array(labels), k, min_cell, {})
    return found["numbers"]


def test_means_of_few_values_are_hidden_with_the_smallest_other_group():
    values = [*range(20), *range(30), 1, 2, 3, *range(40)]
    labels = np.repeat([0, 1, 2, 3], [20, 30, 3, 40])
    found = statistics(values, labels, 5)
    assert found["hidden"] == [False, False, True, True]  # the size of the last is hidden too
    assert [entry is None for entry in found["groups"]] == found["hidden"]
    assert found["all"]["mean"] == pytest.approx(np.mean(values), abs=1e-3)
    assert not any(statistics(values, labels, 1)["hidden"])


def test_a_mean_that_counts_few_exceptions_is_hidden():
    values = [0.0] * 97 + [1, 2, 3] + list(range(60)) + list(range(50))
    labels = np.repeat([0, 1, 2], [100, 60, 50])
    found = statistics(values, labels, 5)
    assert found["hidden"] == [True, False, True]
    same = [0.0] * 100 + list(range(60)) + list(range(50))
    assert statistics(same, labels, 5)["hidden"] == [False] * 3
    assert statistics(same, labels, 5)["groups"][0]["sd"] == 0


def test_infinite_and_missing_values_are_left_out():
    values = [*range(20), np.nan, np.inf, *range(20)]
    labels = np.repeat([0, 1], [22, 20])
    found = statistics(values, labels, 1)
    assert found["groups"][0]["mean"] == found["groups"][1]["mean"] == 9.5
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize("suffix", [".csv", ".xlsx", ".tex"])
def test_tables_are_written_and_the_same_each_time(tmp_path, suffix):
    table = pd.DataFrame({"Characteristic": ["=1+1", "50% & more_"], "All": ["<5", "3 ± 1"]})
    path = write_table(table, tmp_path / f"one{suffix}")
    first = path.read_bytes()
    assert write_table(table, path).read_bytes() == first
    if suffix == ".csv":
        assert pd.read_csv(path).equals(table)
    elif suffix == ".xlsx":
        sheet = openpyxl.load_workbook(path).active
        assert [[cell.value for cell in row] for row in sheet.rows] == [
            ["Characteristic", "All"],
            ["=1+1", "<5"],
            ["50% & more_", "3 ± 1"],
        ]
        assert {cell.data_type for row in sheet.rows for cell in row} == {"s"}
    else:
        text = first.decode()
        assert r"50\% \& more\_ & 3 $\pm$ 1 \\" in text
        assert r"\toprule" in text
        assert "$<$5" in text
    with raises(InvalidDataError, "not_a_table_file"):
        write_table(table, tmp_path / "one.docx")


def test_only_summaries_of_records_have_these_tables():
    with raises(InvalidDataError, "no_table_one", kind="tree"):
        table_one({"kind": "tree"})
    with raises(InvalidDataError, "no_fits"):
        fits_table({"fits": None})


def test_corrected_rates_are_those_of_the_metric_if_nothing_is_suppressed():
    summary, table, model, records = case()
    proba = model.predict_proba(records.X[np.flatnonzero(records.enough)])
    for entry in summary["corrected"]["outcomes"]:
        found = corrected_outcome(model.labels_, proba, table[entry["name"]].to_numpy())
        for at, one in enumerate(entry["classes"]):
            # Means and standard deviations of the summary are rounded.
            tolerance = 10.0 ** -entry["digits"] if entry["numeric"] else 1e-4
            assert one["estimates"] == pytest.approx(found.estimates[:, at], abs=tolerance)
            assert one["low"] == pytest.approx(found.intervals[:, at, 0], abs=2 * tolerance)
        assert not entry["estimated"]
    covariates = summary["corrected"]["covariates"]
    assert next(term["name"] for term in covariates["terms"]) == "age"
    assert covariates["left_out"] == []


def test_corrected_rates_depend_on_published_counts_only():
    model, records = flat_case()
    summaries = []
    labels = np.full(len(records.enough), -1)
    labels[records.enough] = model.labels_
    # Two worlds: 2 records of group 1 died and 4 of group 2, or the reverse; shown as "<5".
    for n_died in (2, 4):
        died = np.zeros(len(labels), dtype=bool)
        for group, count in ((0, 90), (1, n_died), (2, 6 - n_died), (3, 40)):
            died[np.flatnonzero(labels == group)[:count]] = True
        records.outcomes = {"died": died}
        summaries.append(summarize_records(model, records))
    first, second = summaries
    assert first["outcomes"] == second["outcomes"]
    assert first["corrected"] == second["corrected"]
    assert first["table_one"] == second["table_one"]
    (died,) = first["corrected"]["outcomes"]
    assert died["estimated"]
    hidden = [one is None for one in died["classes"][0]["estimates"]]
    assert hidden == [False, True, True, False]


def test_covariates_with_small_counts_have_no_odds_ratios():
    _summary, *_ = case(min_cell=5)
    model, records = flat_case()
    ward = records.outcomes["ward"].astype(object)
    ward[np.flatnonzero(records.enough)[:3]] = "hospice"
    records.outcomes["ward"] = ward
    records.covariates = ("age", "ward")
    few = summarize_records(model, records)["corrected"]["covariates"]
    assert few["left_out"] == ["ward"]
    assert [term["name"] for term in few["terms"]] == ["age"]
    assert "hospice" not in json.dumps(few)


def test_certainty_is_the_mean_posterior_of_assigned_records():
    summary, _, model, records = case()
    P = model.predict_proba(records.X[np.flatnonzero(records.enough)])
    found = np.array(summary["certainty"]["mean_posterior"])
    for group in range(4):
        assert found[group] == pytest.approx(P[model.labels_ == group].mean(axis=0), abs=1e-6)


def test_the_smallest_group_of_a_fit_is_suppressed():
    _, records = flat_case()
    X = records.X[np.flatnonzero(records.enough)]
    fits = compare_fits(BernoulliMixture(), X, [1, 2])
    fits.loc[1, "smallest"] = 3
    model, records = tree_case()
    summary = summarize_records(model, records, quality={"fits": fits})
    assert fits_table(summary)["Smallest group"].tolist() == ["890", "<5"]
    assert summary["fits"]["numbers"]["smallest"] == [890, None]
    assert fits_table(summary)["Entropy"][0] == "–"
    page = render_html(summary)
    assert 'id="fits"' in page
    assert 'id="one"' in page
    json.dumps(summary, allow_nan=False)
    assert 'id="fits"' not in render_html(summarize_records(model, records))


def test_a_group_that_no_record_is_assigned_to_is_not_corrected():
    model, records = flat_case()
    model.labels_ = np.where(model.labels_ == 3, 0, model.labels_)
    summary = summarize_records(model, records)
    assert summary["corrected"]["outcomes"] == []
    assert summary["corrected"]["reason"]
    render_html(summary)


def test_all_of_it_is_plain_data_for_one_group():
    _model, records = flat_case()
    one = BernoulliMixture(1).fit(records.X[np.flatnonzero(records.enough)])
    one.vocabulary_ = records.codes
    summary = summarize_records(one, records)
    assert summary["corrected"] is None
    assert table_one(summary).shape[1] == 5
    render_html(summary)


def test_rules_of_disclosure_apply_to_every_min_cell():
    for min_cell in (1, 2, 11):
        summary, *_ = case(min_cell=min_cell)
        counts = [row[3] for row in table_one(summary).to_numpy().tolist()]
        small = [c for c in counts if c.split(" (")[0].isdigit()]
        assert not any(0 < int(c.split(" (")[0]) < min_cell for c in small)
        assert Disclosure(min_cell).symbol == f"<{min_cell}"
