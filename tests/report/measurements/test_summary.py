"""The summary of groups of measurements has their means and differences, and no small count."""

from __future__ import annotations

import json

import numpy as np
import pytest

from momentree import ClusterTree
from momentree.datasets import MeasurementCoder, Measurements
from momentree.exceptions import InvalidDataError
from momentree.report import render_html, summarize_measurements, table_one
from momentree.report.disclosure import Disclosure
from momentree.report.groups import Groups
from momentree.report.measurements.charts import ticks
from momentree.report.measurements.features import describe_features, differences
from tests.raising import raises

from ..disclosure_attack import column_of, page_of
from ..pages import ALLOWED_SCRIPTS, ATTACKS, read
from .cases import SIZES, Flat, flat_case, make_table, tree_case

LABELS = np.repeat([0, 1, 2], [60, 40, 30])


@pytest.fixture(scope="module")
def large():
    """A flat model without small groups, and its summary."""
    model, table = flat_case(sizes=(60, 40, 30))
    return table, model.labels_, summarize_measurements(model, table)


def feature(summary, name):
    return next(one for one in summary["features"] if one["name"] == name)


def test_means_and_quantiles_are_those_of_the_records(large):
    table, labels, summary = large
    for name in ("age", "hb"):
        values = table.columns[name]
        for group, entry in enumerate(feature(summary, name)["numbers"]["groups"]):
            inside = values[(labels == group) & ~np.isnan(values)]
            # Rounded to two decimals more than are shown.
            half = 10.0 ** -(entry["digits"] + 2)
            assert entry["mean"] == pytest.approx(inside.mean(), abs=half)
            assert entry["sd"] == pytest.approx(inside.std(ddof=1), abs=half)
            assert entry["median"] == pytest.approx(np.median(inside), abs=10.0 ** -entry["digits"])
            low, high = entry["interval"]
            # The number of values is rounded down to a multiple of five.
            error = 1.96 * inside.std(ddof=1) / np.sqrt(5 * (len(inside) // 5))
            assert (high - low) / 2 == pytest.approx(error, rel=0.01)


def test_differences_compare_with_all_other_records(large):
    table, labels, summary = large
    age = table.columns["age"]
    for node in summary["nodes"][1:]:
        inside = labels == node["leaf"]
        entry = next(e for e in node["differences"] if e["feature"] == 0)
        a, b = age[inside], age[~inside]
        d = (a.mean() - b.mean()) / np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2)
        assert entry["d"] == pytest.approx(d, abs=1e-3)
        assert entry["low"] < entry["d"] < entry["high"]
        assert entry["rest"] == pytest.approx(b.mean(), abs=1e-3)
        sizes = [abs(e["d"]) for e in node["differences"]]
        assert sizes == sorted(sizes, reverse=True)
    node = next(node for node in summary["nodes"] if node["leaf"] == 1)
    share = next(e for e in node["differences"] if e["feature"] == 3)
    smokers = table.columns["smoker"][labels == 1].mean()
    assert share["here"] == pytest.approx(smokers, abs=1e-4)


def test_intervals_of_differences_cover():
    """The interval of a difference covers the true one in about 95% of samples."""
    covered, n_runs = 0, 100
    for seed in range(n_runs):
        sodium = np.random.default_rng(seed).normal(140, 3, 130)
        coder, ids = MeasurementCoder({"sodium": "number"}), [""] * 130
        table = Measurements({"sodium": sodium}, coder, ids, np.ones(130, dtype=bool))
        model = Flat(np.full(3, 1 / 3), LABELS)
        groups = Groups.of(model, np.eye(3)[LABELS], Disclosure(1))
        entry = differences(describe_features(table, groups), [1], groups)[0]
        covered += entry["low"] <= 0.0 <= entry["high"]
    # Three standard errors of the share of runs below 95%.
    assert covered / n_runs > 0.95 - 3 * np.sqrt(0.95 * 0.05 / n_runs)


def test_a_number_with_one_value_in_each_group_names_them():
    sodium = np.tile([138.0, 142.0], 25)
    columns = {"age": np.random.default_rng(0).normal(50.0, 9.0, 50), "sodium": sodium}
    coder = MeasurementCoder(dict.fromkeys(columns, "number"))
    table = Measurements(columns, coder, [str(i) for i in range(50)], np.ones(50, dtype=bool))
    tree = ClusterTree(2, data="real", covariance_type="tied").fit(table.to_matrix())
    summary = summarize_measurements(tree, table)
    assert {node["name"] for node in summary["nodes"][1:]} == {"low sodium", "high sodium"}
    # As far apart as shares of 0 and 1.
    d = summary["nodes"][1]["differences"][0]["d"]
    assert abs(d) == pytest.approx(2 * np.sqrt(50), abs=1e-3)


def test_groups_are_named_by_what_sets_them_apart(large):
    names = {node["leaf"]: node["name_parts"] for node in large[2]["nodes"]}
    assert "high age" in names[0]
    assert "low hb" in names[0]
    assert "low age" in names[2]
    assert "smoker: yes" in names[2]
    assert names[None] == ["All records"]
    assert len({tuple(parts) for parts in names.values()}) == 4


def test_features_are_ordered_by_how_well_they_separate(large):
    _, _, summary = large
    assert summary["features"][summary["order"][0]]["name"] == "age"
    assert summary["features"][summary["order"][-1]]["name"] == "sodium"
    table, labels, _ = large
    age = table.columns["age"]
    means = np.array([age[labels == j].mean() for j in range(3)])
    explained = ((means[labels] - age.mean()) ** 2).sum() / ((age - age.mean()) ** 2).sum()
    assert feature(summary, "age")["separation"] == pytest.approx(explained, abs=1e-3)


@pytest.mark.parametrize("case", [flat_case, tree_case])
def test_a_small_group_cannot_be_derived(case):
    model, table = case()
    summary = summarize_measurements(model, table)
    assert summary["groups"]["sizes"] == [60, 40, -2, -1]
    for name in ("age", "hb", "sodium"):
        numbers = feature(summary, name)["numbers"]
        # With only one of them hidden, its mean would follow from that of all.
        assert numbers["hidden"] == [False, False, True, True]
        assert numbers["groups"][2:] == [None, None]
    for node in summary["nodes"]:
        shown = {entry["feature"] for entry in node["differences"]}
        # A node with one of the two hidden groups discloses the other one.
        partly = len({2, 3} & set(node["leaves"])) == 1
        assert bool(shown & {0, 1, 2}) is (node["parent"] is not None and not partly)
    rows = {row["name"]: row["cells"] for row in summary["profile"]}
    assert [cell["text"] for cell in rows["age"]][3:] == ["*", "*"]
    for panel in summary["pairs"]["panels"]:
        assert [group["ellipse"] is None for group in panel["groups"]] == [
            False,
            False,
            True,
            True,
        ]
        assert all(group["points"] == [] for group in panel["groups"])
    assert SIZES[3] == 3
    assert "patient " not in render_html(summary)


def test_missing_values_are_suppressed_like_counts():
    table, _ = make_table(sizes=(60, 40, 30))
    hb = table.columns["hb"]
    hb[:] = np.where(np.isnan(hb), 13.0, hb)
    hb[:2] = np.nan
    hb[70:90] = np.nan
    summary = summarize_measurements(*flat_case(sizes=(60, 40, 30), columns={"hb": hb}))
    assert feature(summary, "hb")["missing"] == [-1, 20, 0]


def test_points_are_shown_only_if_asked():
    model, table = flat_case(sizes=(60, 40, 30))
    summary = summarize_measurements(model, table, include_records=True)
    drawn = [len(group["points"]) for group in summary["pairs"]["panels"][0]["groups"]]
    assert sum(drawn) > 100
    assert summary["pairs"]["n_points"] == 130
    assert 'data-records="shown"' in render_html(summary)
    several = summarize_measurements(model, table, min_cell=1)
    assert several["pairs"]["n_points"] == 0


def test_few_records_have_no_tails():
    model, table = flat_case(sizes=(120, 40, 20))
    groups = feature(summarize_measurements(model, table), "age")["numbers"]["groups"]
    inside = table.columns["age"][:120]
    assert groups[0]["tails"] == pytest.approx(np.quantile(inside, [0.05, 0.95]), abs=0.1)
    assert groups[1]["tails"] is not None  # an eighth of 40 is five records
    assert groups[2]["tails"] is None


def test_table_one_has_all_features(large):
    frame = table_one(large[2])
    names = set(frame["Characteristic"])
    assert {"Records", "died", "age", "hb", "smoker", "sex"} <= names
    assert frame.loc[frame["Characteristic"] == "age", "Value"].tolist() == ["mean ± SD"]


def test_one_group_has_no_differences():
    model, table = flat_case(sizes=(50,))
    summary = summarize_measurements(model, table)
    assert [node["differences"] for node in summary["nodes"]] == [[]]
    assert "There is only one group" in render_html(summary)


def test_records_that_are_not_of_the_fit_are_refused():
    model, _ = flat_case(sizes=(60, 40, 30))
    _, other = flat_case(sizes=(60, 40))
    with raises(InvalidDataError, "not_of_fit", shape="(100,)", fitted_shape="(130,)"):
        summarize_measurements(model, other)


def test_a_page_is_self_contained_and_escapes_everything():
    table, _ = make_table(sizes=(60, 40, 30))
    rename = dict(zip(table.columns, ATTACKS, strict=False))
    columns = {rename[name]: values for name, values in table.columns.items()}
    words = {"f": ATTACKS[0], "m": "m", "": ""}
    sex = np.array([words[value] for value in table.columns["sex"]], dtype=object)
    columns[rename["sex"]] = sex
    coder = type(table.coder)(
        {rename[name]: kind for name, kind in table.kinds.items()},
        {rename["sex"]: sorted({v for v in sex if v})},
    )
    hostile = type(table)(
        columns,
        coder,
        table.ids,
        table.enough,
        units={rename["age"]: ATTACKS[1]},
        words={rename["smoker"]: (ATTACKS[0], ATTACKS[2])},
        outcomes={ATTACKS[3]: table.outcomes["died"]},
    )
    model, _ = flat_case(sizes=(60, 40, 30))
    summary = summarize_measurements(model, hostile, title=ATTACKS[1])
    page = render_html(summary)
    found = read(page)
    assert len(found.scripts) == ALLOWED_SCRIPTS
    assert not any(name.startswith("on") for _, attributes in found.tags for name in attributes)
    assert not {tag for tag, _ in found.tags} & {"img", "iframe", "object", "form"}
    json.dumps(summary, allow_nan=False)
    assert render_html(summary) == page


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.0, 1.0, [0.0, 0.5, 1.0]), (3.0, 3.0, [3.0]), (-1.2, 9.9, [0.0]), (-1.2, 7.9, [0.0, 5.0])],
)
def test_ticks_are_round_numbers(low, high, expected):
    assert ticks(low, high, most=2) == pytest.approx(expected)


def test_table_one_and_the_table_of_means_suppress_the_same_cells():
    table = np.array([[12, 33, 12, 9], [37, 15, 30, 1], [0, 10, 12, 144], [22, 9, 3, 15]])
    labels = np.repeat(np.arange(4), table.sum(axis=1))
    columns = {"sex": column_of(table, ["F", "M", "X", ""]), "age": labels + np.arange(364) % 9}
    found = page_of(labels, columns, {"sex": "category", "age": "number"}, {})
    ours = {row[1]: row[3:-1] for row in found["table_one"]["rows"]}
    marks = []
    for row in found["profile"]:
        if row["within"]:
            theirs = [cell["text"] for cell in row["cells"][1:]]
            pairs = list(zip(theirs, ours[f"{row['name']}, n (%)"], strict=True))
            marks += [pair for pair in pairs if {*pair} & {"*", "<5"}]
    assert marks == [("*", "*"), ("*", "*"), ("<5", "<5")]
