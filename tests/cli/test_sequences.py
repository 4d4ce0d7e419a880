"""``momentree sequences``: from a table of ids, times and codes to states; and new sequences."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from ..report.sequences.cases import draw
from .conftest import invoke, read_json, words


def write_clicks(path, sequences):
    """Write sequences as a table, its rows in an order that says nothing."""
    rows = [
        f"{sequences.ids[i]},2024-03-01 {at // 60:02}:{at % 60:02},{sequences.codes[symbol]}"
        for at, (i, symbol) in enumerate(zip(sequences.sequence_of, sequences.symbols, strict=True))
        if at < 24 * 60
    ]
    shuffled = np.random.default_rng(0).permutation(rows)
    path.write_text("\n".join(["user,time,page", *shuffled]) + "\n")
    return path


@pytest.fixture(scope="module")
def clicks(tmp_path_factory):
    return write_clicks(tmp_path_factory.mktemp("clicks") / "clicks.csv", draw(70))


@pytest.fixture(scope="module")
def outputs(clicks):
    """Files of one run, by option, and its result."""
    folder = clicks.parent
    files = {
        "--output": folder / "clicks.html",
        "--csv": folder / "steps.csv",
        "--sequence-csv": folder / "users.csv",
        "--json": folder / "clicks.json",
        "--save": folder / "clicks.mt",
    }
    options = [part for pair in files.items() for part in pair]
    result = invoke("sequences", clicks, "--rename", "0=Looking", *options)
    assert result.exit_code == 0, result.output
    return files, result


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_screen_shows_states_codes_and_moves(outputs):
    text = outputs[1].stdout
    assert "70 sequences, 6 codes, 3 states" in text
    assert "0 Looking" in text
    assert "first step" in text
    assert "3 states (shown)" in text
    assert "Markov chain of the codes" in text
    # The search stops after two numbers of states without a lower BIC.
    assert words("n_states_chosen", most=5) in " ".join(text.split())


def test_steps_have_states_in_the_order_of_times(outputs):
    rows = rows_of(outputs[0]["--csv"])
    first = [row for row in rows if row["id"] == rows[0]["id"]]
    assert [int(row["step"]) for row in first] == list(range(1, len(first) + 1))
    assert [row["time"] for row in first] == sorted(row["time"] for row in first)
    of_state = {}
    for row in rows:
        of_state.setdefault(row["state"], set()).add(row["code"])
    assert of_state["0"] <= {"home", "search", "cart"}
    assert {row["name"] for row in rows if row["state"] == "0"} == {"Looking"}


def test_sequences_have_shares_of_states(outputs):
    rows, steps = rows_of(outputs[0]["--sequence-csv"]), rows_of(outputs[0]["--csv"])
    assert len(rows) == 70
    for row in rows:
        assert sum(float(row[f"state_{j}"]) for j in range(3)) == pytest.approx(1, abs=1e-5)
    assert sum(int(row["n_steps"]) for row in rows) == len(steps)


def test_json_has_the_states(outputs):
    content = read_json(outputs[0]["--json"])
    assert content["format"] == "momentree.sequences"
    assert [state["name"] for state in content["states"]].count("Looking") == 1
    assert len(content["transmat"]) == content["n_states"] == 3


def test_new_sequences_are_assigned_as_those_of_the_fit(outputs, clicks, run):
    files, _ = outputs
    result = run("assign", files["--save"], clicks)
    assert result.exit_code == 0, result.output
    assert result.stdout == files["--csv"].read_text()
    new = clicks.parent / "new.csv"
    new.write_text("user,time,page\nzoe,2,never seen\nzoe,1,home\nzoe,3,search\n")
    found = run("assign", files["--save"], new)
    assert "1 step with 1 code unknown to the model" in found.stderr
    assert [row.split(",")[3] for row in found.stdout.splitlines()[1:]] == ["home", "search"]


def test_options_of_other_models_are_refused(outputs, clicks, refuses):
    model = outputs[0]["--save"]
    assert refuses("assign", model, clicks, "--complete").code == "applies_to_other_data"
    assert refuses("assign", model, clicks, "--vocabulary", "x").code == "applies_to_other_data"
    twice = ("--code-column", "page", "--code-column", "user")
    assert refuses("assign", model, clicks, *twice).code == "one_code_column"


@pytest.mark.parametrize(
    ("table", "code"),
    [
        ("", "empty_file"),
        ("user,time,page\n", "no_rows"),
        ("page\nx\ny\n", "no_sequence_ids"),
        ("user,time,page\na,1,x\nb,1,y\nc,1,x\n", "sequences_of_one_step"),
        ("user,time,page\na,1,x\na,2,x\na,3,x\nb,1,x\n", "sequences_of_one_code"),
        ("user,time,page\na,1,x\na,2,y\nb,1,x\nb,2,y\n", "sequences_too_short"),
        ("user,time,page\na,soon,x\na,2,y\n", "cell_not_a_time"),
    ],
)
def test_tables_without_states_are_refused(tmp_path, refuses, table, code):
    path = tmp_path / "t.csv"
    path.write_text(table)
    assert refuses("sequences", path, "-k", 2, "--quiet").code == code


def test_options_are_checked_first(clicks, refuses):
    assert "--groups 1" in refuses("sequences", clicks, "-k", "1", "--quiet")
    assert refuses("sequences", clicks, "-k", "999", "--quiet").code == "more_moves_than_steps"
    assert refuses("sequences", clicks, "--include-sequences").code == "option_needs"
    assert refuses("sequences", clicks, "--escape-formulas").code == "option_needs"
    line = refuses("sequences", clicks, "--code-column", "pages")
    assert line.code == "no_such_column"
    assert "--code-column" in line
    name = refuses("sequences", clicks, "-k", "2", "--rename", "5=Five", "--quiet")
    assert name.code == "no_number_to_name"


def test_nothing_is_written_after_an_error(clicks, tmp_path, refuses):
    page = tmp_path / "page.html"
    refuses("sequences", clicks, "-k", "2", "--rename", "5=Five", "-q", "-o", page)
    assert list(tmp_path.iterdir()) == []
