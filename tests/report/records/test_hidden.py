"""No page of records and no JSON file shows the names or counts of few records."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from momentree.cli import app
from momentree.messages import Message
from momentree.report import render_html, summarize_records
from momentree.report.disclosure import HIDDEN, SMALL, Disclosure
from momentree.report.outcomes import count_outcomes, why_no_classes
from tests.wording import message

from .cases import flat_case

PERSONS = [f"Zyx{chr(97 + i % 26)}{chr(97 + i // 26)} Quorl" for i in range(600)]


def with_outcome(values, n=None, **options):
    model, records = flat_case(**({} if n is None else {"n": n}))
    whole = np.full(len(records.enough), "", dtype=object)
    whole[records.enough] = np.resize(np.array(values, dtype=object), records.enough.sum())
    records.outcomes = {"who": whole}
    return summarize_records(model, records, **options)


@pytest.mark.parametrize("min_cell", [1, 5])
def test_names_of_persons_are_no_outcome(min_cell):
    summary = with_outcome(PERSONS, min_cell=min_cell)
    assert summary["outcomes"] == []
    reason = why_no_classes(PERSONS)
    assert (reason.code, reason.values["n_texts"]) == ("texts_are_no_classes", 600)
    assert summary["notes"][-1] == str(message("outcome_not_shown", outcome="who", reason=reason))
    assert "Quorl" not in render_html(summary)


def test_classes_of_few_records_are_joined_and_not_named():
    values = [*PERSONS[:3], *PERSONS[3:5] * 2, *["ward"] * 60, *["home"] * 40]
    values += ["ward"] * (890 - len(values))
    summary = with_outcome(values)
    names = [one["name"] for one in summary["outcomes"][0]["classes"]]
    assert names == ["home", "ward", "other"]
    assert summary["outcomes"][0]["classes"][0]["total"] in (40, HIDDEN)
    assert "Quorl" not in render_html(summary)
    # Nothing is confidential: all are named.
    assert len(set(re.findall(r"Zyx\w+ Quorl", render_html(with_outcome(values, min_cell=1))))) == 5


def test_joined_classes_that_are_still_few_are_left_out():
    values = np.array(["ward"] * 60 + ["home"] * 57 + PERSONS[:3], dtype=object)
    labels = np.arange(120) % 2
    (found,) = count_outcomes({"who": values}, labels, 2, 5, {})
    assert [one["name"] for one in found["classes"]] == ["home", "ward"]
    assert min(found["missing"]) < 0
    # Numbers are names too, and a class that is called "other" takes the others in.
    numbers = np.array([1.0] * 60 + [2.0] * 50 + [3.0] * 4 + [7.0] * 3 + [8.0] * 3)
    (found,) = count_outcomes({"n": numbers}, labels, 2, 5, {})
    assert [one["name"] for one in found["classes"]] == ["1", "2", "other"]
    assert sum(found["classes"][-1]["counts"]) == 10
    own = np.array(["ward"] * 110 + ["other"] * 4 + PERSONS[:6], dtype=object)
    (found,) = count_outcomes({"who": own}, labels, 2, 5, {})
    assert [one["name"] for one in found["classes"]] == ["ward", "other"]
    assert found["classes"][-1]["counts"] == [5, 5]
    alone = np.array(["", *PERSONS[:4], *[""] * 115], dtype=object)
    assert count_outcomes({"who": alone}, labels, 2, 5, {}) == []


@pytest.mark.parametrize(
    ("values", "refused"),
    [
        ([f"town {i % 51}" for i in range(900)], True),
        ([f"town {i % 50}" for i in range(900)], False),
        ([f"town {i % 11}" for i in range(21)], True),
        ([f"town {i % 11}" for i in range(22)], False),
        (["a", "b", "", ""], False),
        (np.arange(900) / 7, False),
        ([""] * 9, False),
    ],
)
def test_texts_of_many_values_are_no_classes(values, refused):
    reason = why_no_classes(values)
    assert (reason is not None) == refused
    assert "town" not in str(reason)


def test_few_without_an_outcome_hide_its_rate():
    died = np.repeat([True, False, True, False, True, False], [18, 2, 20, 30, 3, 40])
    labels = np.repeat([0, 1, 2], [20, 50, 43])
    found = count_outcomes({"died": died}, labels, 3, 5, {})
    assert found[0]["classes"][0]["counts"] == [HIDDEN, 20, SMALL]
    assert found[0]["classes"][0]["total"] == HIDDEN
    sizes = np.array([20.0, 50.0, 43.0])
    # Half of the threshold is taken for the small number.
    assert Disclosure(5).class_rate(found[0], 0, [0], sizes) == (17.5 / 20, True)
    rate, guessed = Disclosure(5).class_rate(found[0], 0, [0, 1, 2], sizes)
    assert guessed
    assert rate == pytest.approx(41 / 113, abs=5 / 113)
    # Counts of five or more are shown; with nothing to protect, all are.
    exact = count_outcomes({"died": died}, labels, 3, 2, {})[0]["classes"][0]
    assert (exact["counts"], exact["total"]) == ([18, 20, 3], 41)


def test_the_page_shows_hidden_counts_without_a_rate():
    model, records = flat_case()
    labels = np.full(len(records.enough), -1)
    labels[records.enough] = model.labels_
    died = labels != 0
    died[np.flatnonzero(labels == 0)[:200]] = True
    died[np.flatnonzero(labels == 1)[:2]] = False
    records.outcomes = {"died": died}
    summary = summarize_records(model, records)
    (one,) = summary["outcomes"][0]["classes"]
    assert one["counts"][1] == HIDDEN
    node = next(node for node in summary["nodes"] if node["leaf"] == 1)
    assert node["outcome_rates"] == ["hidden"]
    assert "<td>hidden</td>" in render_html(summary)


@pytest.mark.parametrize(("left_out", "shown"), [(0, 0), (3, "<5"), (5, 5)])
def test_few_records_left_out_are_not_counted(left_out, shown):
    model, records = flat_case()
    records.enough[:] = True
    records.enough[:left_out] = False
    model.labels_ = np.arange(900 - left_out) % 4
    total = message("rows_joined", n_rows=1834, n_records=900, column="stay")
    few = message("rows_without_id", n_rows=1, column="stay")
    others = (Message("test: encoding", name="UTF-8"), Message("test: codes dropped", n_codes=3))
    records.notes = (total, few, *others)
    summary = summarize_records(model, records)
    assert summary["n_left_out"] == shown
    notes = summary["notes"]
    assert len(notes) == len(records.notes) + 1
    assert {str(note) for note in others} <= set(notes)
    assert str(few) not in notes
    # The total minus the records of the page would be the number of those left out.
    assert (str(total) in notes) == (left_out != 3)
    text = render_html(summary)
    assert ("Fewer than 5 other records have" in text) == (left_out == 3)
    assert ("5 other records have" in text) == (left_out > 0)
    every = summarize_records(model, records, min_cell=1)
    assert every["notes"] == [str(note) for note in records.notes]
    assert every["n_left_out"] == left_out


def test_codes_of_few_records_are_not_named():
    model, records = flat_case()
    counts = records.X[np.flatnonzero(records.enough)].sum(axis=0)
    few = np.flatnonzero((counts > 0) & (counts < 5))
    assert len(few) > 0
    records.codes[few] = [f"Q{j}.Zyx" for j in few]
    records.names = {code: f"name of {code}" for code in records.codes}
    summary = summarize_records(model, records)
    assert "Zyx" not in render_html(summary)
    d = len(records.codes) - len(few)
    assert summary["n_features"] == len(records.codes)
    assert np.shape(summary["scoring"]["counts"]) == np.shape(summary["groups"]["counts"]) == (4, d)
    assert sorted(summary["common"]) == list(range(d))
    # All other places still stand for the codes that they did.
    every = summarize_records(model, records, min_cell=1)
    assert "Zyx" in render_html(every)
    for node, other in zip(summary["nodes"], every["nodes"], strict=True):
        ours = [summary["codes"]["code"][j] for j in node["top"][:3]]
        assert set(ours) <= {every["codes"]["code"][j] for j in other["top"]}
    heat = [summary["codes"]["code"][j] for j in summary["heat"]["codes"]]
    assert heat[:5] == [every["codes"]["code"][j] for j in every["heat"]["codes"]][:5]
    assert f"{len(few)} codes that occur in fewer than 5" in render_html(summary)
    assert "not named" not in render_html(every)


def test_the_command_shows_no_name_of_a_person_and_no_small_count(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["id,dx1,dx2,dx3,patient_name,ward,died"]
    for i in range(240):
        theme = "ABC"[i % 3]
        dx = ",".join(f"{theme}{j}" for j in rng.choice(6, 3, replace=False))
        ward = PERSONS[i] if i < 3 else "home" if i % 7 else "ward"
        died = i % 3 == 0 and i > 9 if i > 6 else i % 3 == 1
        lines.append(f"{i},{dx},{PERSONS[i]},{ward},{died}")
    table = tmp_path / "table.csv"
    table.write_text("\n".join(lines) + "\n")
    page, plain = tmp_path / "page.html", tmp_path / "groups.json"
    options = ["clusters", str(table), "--code-column", "dx*", "--id-column", "id", "-k", "3"]
    options += ["--output", str(page), "--json", str(plain)]
    result = CliRunner().invoke(app, [*options, "--outcome", "patient_name"])
    assert result.exit_code == 2
    assert "patient_name" in result.output
    assert "Quorl" not in result.output
    assert not page.exists()
    options += ["--outcome", "ward", "--outcome", "died", "--ignore", "patient_name"]
    result = CliRunner().invoke(app, options)
    assert result.exit_code == 0, result.output
    assert "home" in result.output
    assert "Quorl" not in result.output + page.read_text() + plain.read_text()
    ward, died = json.loads(plain.read_text())["outcomes"]
    assert [one["name"] for one in ward["classes"]] == ["home", "ward"]
    counts = [n for one in (*ward["classes"], *died["classes"]) for n in one["n_records"]]
    assert None in counts
    assert not any(0 < n < 5 for n in counts if n is not None)
