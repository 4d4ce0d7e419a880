"""The summary of groups of records: right numbers, no record, no small count."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.metrics import PredictivePower, group_profiles, outcome_rates, relevance
from momentree.report import summarize_records
from momentree.report.disclosure import Disclosure
from momentree.report.text import fixed, percent, whole_percent
from momentree.tree import ClusterTree
from tests.incomplete import probabilities
from tests.raising import raises

from .cases import THEMES, flat_case, make_records, named, tree_case

CASES = {"flat": flat_case, "tree": tree_case}


def fitted_rows(records):
    return records.X[np.flatnonzero(records.enough)]


def profiles_of(model, records):
    return group_profiles(fitted_rows(records), model.labels_, n_groups=4)


def leaves(value):
    """Return every number and text of a JSON value with the path to it."""
    stack = [((), value)]
    while stack:
        path, item = stack.pop()
        if isinstance(item, dict):
            stack.extend(((*path, key), child) for key, child in item.items())
        elif isinstance(item, list):
            stack.extend(((*path, i), child) for i, child in enumerate(item))
        else:
            yield path, item


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_with_nothing_to_hide_all_counts_are_those_of_the_profiles(kind, missing):
    model, records = CASES[kind](missing=missing)
    summary = summarize_records(model, records, min_cell=1)
    profiles = profiles_of(model, records)
    groups = summary["groups"]
    assert summary["kind"] == f"records-{kind}"
    assert groups["sizes"] == profiles.n_records.tolist() == groups["estimated"]
    assert groups["counts"] == profiles.counts.tolist()
    assert summary["codes"]["total"] == profiles.counts.sum(axis=0).tolist()
    assert (groups["missing"] is None) == (missing == 0.0)
    if missing:
        unknown = profiles.n_records[:, None] - profiles.observed
        assert groups["missing"]["counts"] == unknown.tolist()
    assert summary["codes"]["rate"] == pytest.approx(profiles.overall, abs=1e-4)
    for node in summary["nodes"]:
        rows = np.isin(model.labels_, node["leaves"])
        assert node["n_samples"] == rows.sum()
        assert node["exact"]
        X = fitted_rows(records).toarray()[rows]
        assert node["codes_per_record"] == pytest.approx(np.nanmean(X, axis=0).sum(), abs=0.01)


@pytest.mark.parametrize("kind", CASES)
def test_visible_counts_are_true_and_small_ones_hidden(kind):
    model, records = CASES[kind]()
    summary = summarize_records(model, records)
    shown = np.array(summary["groups"]["counts"])
    true = profiles_of(model, records).counts
    kept = named(summary, records)
    assert kept.tolist() == [j for j, n in enumerate(true.sum(axis=0)) if n == 0 or n >= 5]
    assert len(kept) < len(records.codes) == summary["n_features"]
    true = true[:, kept]
    small = (true > 0) & (true < 5)
    assert small.any()
    assert (shown[small] == -1).all()
    assert (shown[~small] == true[~small]).all()
    totals = np.array(summary["codes"]["total"])
    known = totals >= 0
    assert 0 < known.sum() < len(totals)
    assert (totals[known] == true.sum(axis=0)[known]).all()


def test_the_tree_is_that_of_the_estimator():
    model, records = tree_case()
    nodes = summarize_records(model, records)["nodes"]
    for node, true in zip(nodes, model.tree_.nodes(), strict=True):
        assert node["leaf"] == true.leaf_id
        assert node["depth"] == true.depth
        assert node["children"] == [child.node_id for child in true.children]
        assert node["leaves"] == [leaf.leaf_id for leaf in true.leaves()]
        assert node["n_samples"] == true.n_samples
        assert node["cell"]["x1"] - node["cell"]["x0"] == pytest.approx(true.weight, abs=1e-5)


def test_flat_groups_are_sorted_by_size_and_keep_their_numbers():
    model, records = flat_case()
    nodes = summarize_records(model, records)["nodes"]
    sizes = np.bincount(model.labels_)
    assert [node["leaf"] for node in nodes[1:]] == np.argsort(-sizes, kind="stable").tolist()


@pytest.mark.parametrize("min_cell", [1, 5])
@pytest.mark.parametrize("kind", CASES)
def test_groups_are_named_by_their_distinctive_codes(kind, min_cell):
    model, records = CASES[kind]()
    summary = summarize_records(model, records, min_cell=min_cell)
    rates = profiles_of(model, records)
    for node in summary["nodes"]:
        if node["leaf"] is None:
            continue
        assert node["name"].count(THEMES[node["leaf"]]) == 3
        top = np.array(node["top"])
        r = relevance(rates.frequencies[[node["leaf"]]][:, top], rates.overall[top], 0.5)[0]
        # Hidden counts leave the frequency in all records open by a few records.
        assert (np.diff(r) < (1e-8 if min_cell == 1 else 0.02)).all()
        assert node["top_rates"] == pytest.approx(rates.frequencies[node["leaf"]][top], abs=1e-4)
    assert summary["nodes"][0]["name"] == "All records"


def test_lists_of_codes_begin_with_the_name_and_no_name_is_cut_in_the_long_one():
    model, records = flat_case()
    long = "a name that is far too long for the heading of a group, with many words that say little"
    records.names = {code: f"{code} {long}" for code in records.codes}
    summary = summarize_records(model, records)
    for node in summary["nodes"][1:]:
        first = [summary["codes"]["name"][j] for j in node["top"][:3]]
        assert node["long_name_parts"] == first  # with one level, no other codes set groups apart
        assert "…" in node["name"]


def test_leaves_of_a_tree_are_named_as_groups_of_the_page():
    records, *_ = make_records()
    tree = ClusterTree(4).fit(fitted_rows(records), feature_names=records.codes)
    records.names = {}
    names = [leaf.name.split(", ") for leaf in tree.leaves_]
    groups = [n for n in summarize_records(tree, records, min_cell=1)["nodes"] if not n["children"]]
    assert [node["name_parts"] for node in groups] == names


def test_share_intervals_hold_the_share_and_widen_with_doubt():
    model, records = flat_case()
    sure = summarize_records(model, records)["nodes"]
    model.predict_proba = lambda X: np.full((X.shape[0], 4), 0.25)
    unsure = summarize_records(model, records)["nodes"]
    assert sure[0]["share_interval"] is None
    for a, b in zip(sure[1:], unsure[1:], strict=True):
        for low, high in (a["share_interval"], b["share_interval"]):
            assert low < a["share"] < high
        assert np.diff(b["share_interval"]) > np.diff(a["share_interval"])


@pytest.mark.parametrize("kind", CASES)
def test_share_intervals_are_those_of_wilson_for_as_many_certain_records(kind):
    model, records = CASES[kind]()
    P = model.predict_proba(fitted_rows(records))
    n = len(P)
    for node in summarize_records(model, records)["nodes"][1:]:
        inside = P[:, node["leaves"]].sum(axis=1)
        variance = n * inside.mean() * (1 - inside.mean())
        effective = n * (variance - (inside * (1 - inside)).sum()) / variance
        share = np.isin(model.labels_, node["leaves"]).mean()
        for limit in node["share_interval"]:  # they solve the equation of the score test
            error = (limit * (1 - limit) / effective) ** 0.5
            assert abs(limit - share) / error == pytest.approx(1.959964, abs=1e-5)


def test_the_share_lies_in_its_interval_however_doubtful_its_records_are():
    # Probabilities that expect far less in a group than are counted in it.
    model, records = flat_case()
    model.predict_proba = lambda X: np.tile([0.3, 0.1, 0.59, 0.01], (X.shape[0], 1))
    for node in summarize_records(model, records)["nodes"][1:]:
        low, high = (float(fixed(100 * limit, 1)) for limit in node["share_interval"])
        assert low <= float(fixed(100 * node["share"], 1)) <= high


@pytest.mark.parametrize(
    ("share", "one_decimal", "whole"),
    [
        (0.025, "2.5%", "3%"),  # 2% by the rule of even digits
        (0.1225, "12.3%", "12%"),  # 12.2%
        (0.39496, "39.5%", "39%"),
        (0.004, "0.4%", "< 1%"),
        (0.0004, "< 0.1%", "< 1%"),
        (0.0, "0.0%", "0%"),
        (1.0, "100.0%", "100%"),
    ],
)
def test_halves_go_up_as_in_a_script(share, one_decimal, whole):
    assert (percent(share), whole_percent(share)) == (one_decimal, whole)


def test_what_is_computed_from_hidden_counts_is_marked():
    model, records = flat_case()
    summary = summarize_records(model, records)
    counts, codes = np.array(summary["groups"]["counts"]), summary["codes"]
    for j, estimated in enumerate(codes["estimated"]):
        assert estimated == ((counts[:, j] < 0).any() and codes["total"][j] < 0)
    assert any(codes["estimated"])
    kept = named(summary, records)
    # A total that is shown is exact, also where counts below it are hidden.
    assert ((counts < 0).any(axis=0) & ~np.array(codes["estimated"])).any()
    true = profiles_of(model, records).overall[kept]
    assert np.array(codes["rate"])[~np.array(codes["estimated"])] == pytest.approx(
        true[~np.array(codes["estimated"])]
    )
    for node in summary["nodes"]:
        for j, rate, estimated in zip(
            node["top"], node["top_rates"], node["top_estimated"], strict=True
        ):
            ones = profiles_of(model, records).counts[node["leaves"], kept[j]].sum()
            assert estimated or rate == pytest.approx(ones / node["n_samples"])


def test_outcomes_are_counted_as_rates_are():
    model, records = flat_case()
    summary = summarize_records(model, records, min_cell=1, outcome="ward")
    assert [entry["name"] for entry in summary["outcomes"]] == ["ward", "died", "age"]
    ward, died, age = summary["outcomes"]
    for entry, name in ((ward, "ward"), (died, "died")):
        found = outcome_rates(model.labels_, records.outcomes[name][records.enough])
        assert [c["name"] for c in entry["classes"]] == list(found.classes)
        assert np.transpose([c["counts"] for c in entry["classes"]]).tolist() == (
            found.counts.tolist()
        )
        assert [c["total"] for c in entry["classes"]] == found.counts.sum(axis=0).tolist()
    assert died["binary"]
    assert not ward["binary"]
    assert len(age["classes"]) == 4
    assert age["classes"][0]["name"].startswith("up to ")
    assert age["classes"][3]["name"].startswith("above ")
    quarters = [c["total"] / summary["n_records"] for c in age["classes"]]
    assert quarters == pytest.approx([0.25] * 4, abs=0.03)
    rate = 100 * np.mean(records.outcomes["died"][records.enough])
    assert summary["nodes"][0]["outcome_rates"] == [f"{rate:.1f}%"]


def test_missing_outcomes_and_many_categories():
    model, records = flat_case()
    n = len(records.enough)
    records.outcomes = {
        "days": np.where(np.arange(n) % 7 == 0, np.nan, np.arange(n) % 3 == 0),
        "town": np.array([f"town {int(i**0.5):02d}" for i in range(n)], dtype=object),
        "sex": np.arange(n) % 2.0,
    }
    records.outcome_names = {"sex": ("female", "male")}
    days, town, sex = summarize_records(model, records, min_cell=1)["outcomes"]
    values = records.outcomes["days"][records.enough]
    assert sum(days["missing"]) == np.isnan(values).sum()
    assert days["classes"][0]["total"] == np.nansum(values)
    assert len(town["classes"]) == 20
    assert town["classes"][-1]["name"] == "other"
    assert sum(c["total"] for c in town["classes"]) == records.enough.sum()
    assert sex["name"] == "sex: male"


def test_ages_are_in_order():
    model, records = flat_case()
    ages = ["< 1", "1 to 17", "18-64", "65 to 79", "80 and over", "100 or more"]
    n = len(records.enough)
    values = np.array([ages[(5 * i) % 6] for i in range(n)], dtype=object)
    records.outcomes = {"age": values}
    (age,) = summarize_records(model, records, min_cell=1)["outcomes"]
    assert [one["name"] for one in age["classes"]] == ages
    for one in age["classes"]:
        inside = values[records.enough] == one["name"]
        assert one["counts"] == np.bincount(model.labels_[inside], minlength=4).tolist()


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("min_cell", [1, 5])
def test_rates_of_classes_are_those_of_the_records_or_near_them(kind, min_cell):
    model, records = CASES[kind]()
    summary = summarize_records(model, records, min_cell=min_cell)
    sizes = np.array(summary["groups"]["estimated"], dtype=float)
    for entry, name in zip(summary["outcomes"][:2], ("died", "ward"), strict=True):
        true = outcome_rates(model.labels_, records.outcomes[name][records.enough])
        for at in range(len(entry["classes"])):
            for leaves in ([0], [1, 2], [0, 1, 2, 3]):
                rate, guessed = Disclosure(min_cell).class_rate(entry, at, leaves, sizes)
                exact = true.counts[leaves, at].sum() / true.n[leaves].sum()
                assert guessed or rate == pytest.approx(exact)
                assert rate == pytest.approx(exact, abs=3 * 4 / true.n[leaves].sum())
                assert not (guessed and min_cell == 1)


def test_a_group_of_few_codes_of_all_kinds_is_residual():
    # Of three groups one has many codes, one few of all kinds, one few but the same.
    rng = np.random.default_rng(0)
    rates = np.repeat([[0.7, 0.1, 0.0], [0.1, 0.1, 0.0], [0.0, 0.0, 0.95]], [8, 20, 2], axis=1)
    labels = np.repeat([0, 1, 2], [300, 100, 100])
    X = (rng.random((500, 30)) < rates[labels]).astype(float)
    model, records = flat_case()
    mixture = type(model)(
        np.array([0.6, 0.2, 0.2]), rates + 0.01, labels, np.arange(30).astype(str)
    )
    kept = type(records)(sp.csr_array(X), mixture.vocabulary_, {}, labels, np.ones(500, dtype=bool))
    nodes = summarize_records(mixture, kept)["nodes"]
    assert {node["leaf"]: node["residual"] for node in nodes} == {
        None: False,
        0: False,
        1: True,
        2: False,
    }


@pytest.mark.parametrize("kind", CASES)
def test_no_record_and_no_small_count_is_in_the_summary(kind):
    model, records = CASES[kind]()
    summary = summarize_records(model, records)
    text = json.dumps(summary)
    assert not any(name in text for name in records.ids)
    n = int(records.enough.sum())
    assert not any(
        isinstance(item, list) and len(item) >= n // 2
        for item in [summary["heat"]["bands"], summary["outcomes"], summary["nodes"]]
    )
    for path, value in leaves([summary["groups"], summary["codes"]["total"]]):
        assert not isinstance(value, int) or not 0 < value < 5, path
    for path, value in leaves(summary["outcomes"]):
        if "counts" in path or "total" in path or "missing" in path:
            assert not 0 < value < 5, path
    # What was fitted, the counts, and nothing else decides what a hidden count may be.
    for node in summary["nodes"]:
        assert all(round(rate * node["n_samples"]) >= 5 for rate in node["top_rates"])


@pytest.mark.parametrize("kind", CASES)
def test_a_record_more_or_less_of_a_hidden_count_changes_nothing_but_sizes(kind):
    # Two worlds that differ in one hidden count must give the same page, but for what is published.
    model, records = CASES[kind]()
    summary = summarize_records(model, records)
    kept = named(summary, records)
    true = profiles_of(model, records).counts[1, kept]
    code = int(kept[(true == 3) & (np.array(summary["codes"]["total"]) < 0)][0])
    rows = np.flatnonzero(records.enough)[model.labels_ == 1]
    X = records.X.tolil()
    first = summarize_records(model, records)
    X[rows[np.flatnonzero(X[rows, code].toarray().ravel())[0]], code] = 0
    records.X = sp.csr_array(X)
    second = summarize_records(model, records)
    # Sizes may expect a little less, as probabilities are those of the records.
    for summary in (first, second):
        for node in summary["nodes"]:
            del node["share_interval"]
    assert first == second


def test_a_tiny_group_is_hidden_with_all_that_discloses_its_size():
    model, records = flat_case()
    model.labels_ = model.labels_.copy()
    rows = np.flatnonzero(model.labels_ == 3)
    model.labels_[rows[:-3]] = 0  # three records stay
    summary = summarize_records(model, records)
    sizes = np.bincount(model.labels_)
    assert summary["groups"]["sizes"] == [sizes[0], sizes[1], -2, -1]
    assert sum(summary["groups"]["estimated"]) == pytest.approx(summary["n_records"])
    by_leaf = {node["leaf"]: node for node in summary["nodes"]}
    assert by_leaf[3]["size"] == "<5"
    assert by_leaf[2]["size"].startswith("about ")
    assert by_leaf[2]["share_interval"] is None
    assert np.array(summary["groups"]["counts"])[3].max() <= 0
    hidden = np.array(summary["groups"]["counts"])[2]
    assert (hidden[hidden > 0] % 5 == 0).all()


def test_an_empty_group_and_a_single_one():
    model, records = flat_case()
    model.labels_ = np.where(model.labels_ == 3, 0, model.labels_)
    nodes = summarize_records(model, records)["nodes"]
    assert [node["size"] for node in nodes if node["leaf"] == 3] == ["0"]
    assert [node["name"] for node in nodes if node["leaf"] == 3] == ["(no common codes)"]
    model.weights_, model.components_ = np.ones(1), model.components_[:1]
    model.labels_ = np.zeros_like(model.labels_)
    summary = summarize_records(model, records)
    assert summary["n_leaves"] == len(summary["nodes"]) == 1
    json.dumps(summary, allow_nan=False)


def test_the_heat_map_has_densities_of_bands_with_enough_records():
    model, records = flat_case()
    summary = summarize_records(model, records, heat_codes=10)
    heat = summary["heat"]
    assert heat["records"] is None
    assert len(heat["codes"]) == 10
    X = fitted_rows(records).toarray()
    sizes = np.bincount(model.labels_)
    for leaf in range(4):
        bands = [band for band in heat["bands"] if band["leaf"] == leaf]
        if bands[0]["levels"] is None:
            assert len(bands) == 1
            assert sizes[leaf] < 100
            continue
        assert len(bands) == bands[0]["parts"]
        assert sizes[leaf] // len(bands) >= 50
        density = np.mean([[int(v) for v in band["levels"]] for band in bands], axis=0) / 10
        true = X[model.labels_ == leaf][:, heat["codes"]].mean(axis=0)
        assert (density <= true + 0.01).all()
        assert (density >= true - 0.11).all()


def test_records_are_included_on_request_only():
    model, records = flat_case(n=3000)
    summary = summarize_records(model, records, include_records=True, heat_codes=13)
    heat = summary["heat"]
    shown = heat["records"]
    assert shown["total"] == records.enough.sum()
    assert 1900 < len(shown["ids"]) <= 2000
    bits = np.frombuffer(base64.b64decode(shown["bits"]), dtype=np.uint8).reshape(-1, 2)
    bits = np.unpackbits(bits, axis=1)[:, :13]
    place = {name: i for i, name in enumerate(records.ids)}
    rows = [place[name] for name in shown["ids"]]
    assert (bits == records.X.toarray()[rows][:, heat["codes"]]).all()
    labels = np.full(len(records.ids), -1)
    labels[records.enough] = model.labels_
    assert shown["leaf"] == labels[rows].tolist()


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_records_are_assigned_by_the_published_counts(missing):
    model, records = flat_case(missing=missing)
    exact = summarize_records(model, records, min_cell=1)
    scoring, groups = exact["scoring"], exact["groups"]
    assert scoring["counts"] == groups["counts"]
    assert scoring["sizes"] == groups["sizes"]
    assert (scoring["observed"] is None) == (missing == 0)
    shown = summarize_records(model, records)
    counts, published = (np.array(shown[part]["counts"]) for part in ("scoring", "groups"))
    assert (counts[published >= 0] == published[published >= 0]).all()
    assert (counts[published < 0] > 0).all()
    X = fitted_rows(records).toarray()[:200]
    P = probabilities(scoring, X)
    near = probabilities(shown["scoring"], X[:, named(shown, records)])
    # A rare code counts for nothing, or by an estimate of its count.
    assert (near.argmax(axis=1) == P.argmax(axis=1)).mean() > 0.95


def test_suppressed_counts_do_not_change_how_a_record_is_assigned():
    """Two tables that differ in a suppressed count only, and its total, assign alike."""
    scorings = []
    for n in (1, 2):
        model, records = flat_case()
        X = fitted_rows(records).toarray()
        X[:, 0] = 0
        for group, ones in ((0, 30), (1, n), (2, 2)):
            X[np.flatnonzero(model.labels_ == group)[:ones], 0] = 1
        records.X = sp.csr_array(X)
        records.enough, records.ids = np.ones(len(X), dtype=bool), records.ids[records.enough]
        records.outcomes = {}
        summary = summarize_records(model, records)
        assert [row[0] for row in summary["groups"]["counts"]] == [30, -1, -1, 0]
        assert summary["codes"]["total"][0] == -2
        scorings.append([row[0] for row in summary["scoring"]["counts"]])
    assert scorings[0] == scorings[1] == [30, 2.5, 2.5, 0]


def test_quality_is_passed_on():
    model, records = flat_case()
    quality = {
        "stability": [0.9, 0.94],
        "predictive_power": {"died": PredictivePower(0.8, 0.1, 0.7, 0.64, 90)},
        "recurrence": [1.0, 0.5, np.nan, 0.2],
        "BIC": 12,
    }
    found = summarize_records(model, records, quality=quality, min_cell=1)["quality"]
    assert found["stability"] == {"mean": 0.92, "low": 0.9, "high": 0.94, "n": 2}
    assert found["predictive_power"] == [
        {"name": "died", "accuracy": 0.8, "std": 0.1, "baseline": 0.7, "auc": 0.64, "n": 90}
    ]
    assert found["recurrence"] == [1.0, 0.5, None, 0.2]
    assert found["other"] == [["BIC", "12"]]
    # The exact accuracy could disclose one of the suppressed counts.
    found = summarize_records(model, records, quality=quality)["quality"]
    assert found["predictive_power"] == []
    assert [name for name, _ in found["other"]] == ["BIC", "died: predicted from the group alone"]
    assert "0.7 " in found["other"][1][1]  # of the published rates, whatever the measure was


@pytest.mark.parametrize("kind", CASES)
def test_the_order_of_records_does_not_matter(kind):
    model, records = CASES[kind]()
    first = summarize_records(model, records)
    order = np.random.default_rng(0).permutation(len(records.ids))
    place = np.cumsum(records.enough) - 1
    kept = order[records.enough[order]]
    model.labels_ = model.labels_[place[kept]]
    records.X, records.enough = records.X[order], records.enough[order]
    records.outcomes = {name: values[order] for name, values in records.outcomes.items()}
    second = summarize_records(model, records)
    assert second == first


def test_bad_input_is_refused():
    model, records = flat_case()
    for option in ("n_codes", "heat_codes", "min_cell"):
        with pytest.raises(InvalidParameterError):
            summarize_records(model, records, **{option: 0})
    with raises(InvalidDataError, "no_such_outcome", value="weight"):
        summarize_records(model, records, outcome="weight")
    enough = records.enough.copy()
    records.enough = np.ones_like(enough)
    with raises(InvalidDataError, "not_of_fit", shape="(900, 28)", fitted_shape="(890, 28)"):
        summarize_records(model, records)
    records.enough = enough
    with raises(InvalidDataError, "all_groups_small", min_cell=1000):
        summarize_records(model, records, min_cell=1000)
    with raises(InvalidDataError, "wrong_shape", expected="(4,)"):
        summarize_records(model, records, quality={"recurrence": [1.0]})
    del model.labels_
    with pytest.raises(NotFittedError):
        summarize_records(model, records)
