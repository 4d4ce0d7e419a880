"""``momentree clusters`` and ``assign`` on tables of measurements."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from .conftest import invoke, words

N = 120


def rows_of(kind, seed=0):
    """Three groups of patients: numbers only, or mixed columns with gaps."""
    rng = np.random.default_rng(seed)
    g = np.arange(N) % 3
    age, hb = rng.normal(np.array([70, 45, 25])[g], 4), rng.normal(np.array([9, 14, 13])[g], 0.6)
    rows = []
    for i in range(N):
        row = {
            "id": f"p{i:03}",
            "age": f"{age[i]:.1f}",
            "hb": f"{hb[i]:.2f}",
            "sodium": f"{rng.normal(140, 3):.1f}",
        }
        if kind == "mixed":
            row["sex"] = rng.choice(["f", "m"])
            row["smoker"] = "yes" if rng.random() < [0.1, 0.5, 0.9][g[i]] else "no"
            if rng.random() < 0.1:
                row["hb"] = "NA"
        row["died"] = "yes" if g[i] == 0 and i % 2 else "no"
        rows.append(row)
    return rows


def written(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def table_in(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Both kinds of tables, grouped once with all files."""
    folder = tmp_path_factory.mktemp("measured")
    for kind in ("numbers", "mixed"):
        path = written(folder / f"{kind}.csv", rows_of(kind))
        result = invoke(
            "clusters", path, "-k", 3, "--outcome", "died", "--title", "Ward",
            "-o", folder / f"{kind}.html", "--csv", folder / f"{kind}-groups.csv",
            "--json", folder / f"{kind}.json", "--save", folder / f"{kind}.mt",
            "--table-one", folder / f"{kind}-one.csv",
        )  # fmt: skip
        assert result.exit_code == 0, result.output
        (folder / f"{kind}.txt").write_text(result.stdout)
        (folder / f"{kind}.err").write_text(result.stderr)
    return folder


@pytest.mark.parametrize(("kind", "form"), [("numbers", "tree"), ("mixed", "flat")])
def test_groups_are_found_and_shown(folder, kind, form):
    shown, notes = (folder / f"{kind}.txt").read_text(), (folder / f"{kind}.err").read_text()
    assert f"Ward: {N} records, {3 if kind == 'numbers' else 5} features, 3 groups" in shown
    assert words("what_sets_apart") in shown
    assert "age" in shown
    assert "died" in shown
    assert (words("list_of_mixed") in notes) is (kind == "mixed")
    found = json.loads((folder / f"{kind}.json").read_text())
    assert (found["kind"], found["n_groups"]) == (form, 3)
    assert {feature["name"] for feature in found["features"]} >= {"age", "hb", "sodium"}
    leaf = next(node for node in found["nodes"] if node["group"] == 0)
    assert {entry["feature"] for entry in leaf["differences"]} >= {"age", "sodium"}
    groups = table_in(folder / f"{kind}-groups.csv")
    assert [row["id"] for row in groups] == [f"p{i:03}" for i in range(N)]
    # The groups are those of the sampler, up to their numbers.
    pairs = {(row["group"], i % 3) for i, row in enumerate(groups)}
    assert len(pairs) <= 5
    assert len({group for group, _ in pairs}) == 3
    assert "age" in (folder / f"{kind}-one.csv").read_text()
    page = (folder / f"{kind}.html").read_text()
    assert "p001" not in page


@pytest.mark.parametrize("kind", ["numbers", "mixed"])
def test_new_records_get_the_groups_of_the_old(folder, tmp_path, kind):
    out = tmp_path / "new.csv"
    result = invoke("assign", folder / f"{kind}.mt", folder / f"{kind}.csv", "--csv", out)
    assert result.exit_code == 0, result.output
    old, new = table_in(folder / f"{kind}-groups.csv"), table_in(out)
    assert [row["group"] for row in new] == [row["group"] for row in old]
    assert [row["name"] for row in new] == [row["name"] for row in old]
    few = [{"id": "x", "age": "", "hb": "NA"}, {"id": "y", "age": "71.5", "hb": ""}]
    one = written(tmp_path / "one.csv", few)
    result = invoke("assign", folder / f"{kind}.mt", one, "--csv", out)
    assert result.exit_code == 0, result.output
    none, some = table_in(out)
    assert (none["group"], none["reason"], none["group_0"]) == ("", "no known value", "")
    # The mixture of columns ignores what is missing; this tree needs all columns.
    assert some["reason"] == ("missing values" if kind == "numbers" else "")
    assert (some["group"] == "") is (kind == "numbers")
    refused = invoke("assign", folder / f"{kind}.mt", one, "--complete")
    assert refused.exit_code == 2
    assert "--complete applies only to records" in refused.stderr


def test_any_order_of_rows_gives_the_same_groups(folder, tmp_path):
    rows = rows_of("numbers")
    path = written(tmp_path / "t.csv", rows[::-1])
    out = tmp_path / "groups.csv"
    assert invoke("clusters", path, "-k", 3, "--outcome", "died", "--csv", out).exit_code == 0
    old = {row["id"]: row["group"] for row in table_in(folder / "numbers-groups.csv")}
    assert {row["id"]: row["group"] for row in table_in(out)} == old


@pytest.mark.long
def test_stability_of_a_table_with_categories(folder, tmp_path):
    path = tmp_path / "found.json"
    options = ("--outcome", "died", "--stability", "--fits", "2-3", "-k", 3, "--json", path)
    result = invoke("clusters", folder / "mixed.csv", *options)
    assert result.exit_code == 0, result.output
    content = json.loads(path.read_text())
    assert content["quality"]["stability"]["mean"] > 0.7
    assert content["fits"]["n_groups"] == [2, 3]


def test_the_number_of_groups_is_chosen(folder):
    options = ["--ignore", "sodium", "--outcome", "died"]
    result = invoke("clusters", folder / "numbers.csv", *options)
    assert result.exit_code == 0, result.output
    assert "3 groups" in result.stdout
    assert "BIC chose the number of groups" in result.stdout


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--groups", "auto"], "one_group_supported"),
        pytest.param(["--flat", "--groups", "auto"], "one_group_supported", marks=pytest.mark.long),
        (["--groups", "1"], "one_group_requested"),
    ],
)
def test_one_group_is_explained_by_what_was_asked(tmp_path, options, reason):
    rng = np.random.default_rng(0)
    rows = [{name: f"{rng.normal():.3f}" for name in ("age", "hb")} for _ in range(N)]
    result = invoke("clusters", written(tmp_path / "one.csv", rows), *options)
    assert result.exit_code == 0, result.output
    assert words("not_split", reason=words(reason)) in result.stdout


def test_groups_of_trees_are_edited_and_named(folder):
    result = invoke(
        "clusters", folder / "numbers.csv", "-k", 3, "--outcome", "died", "--edit", "merge 0 1",
        "--rename", "0=Merged",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "2 groups" in result.stdout
    assert "Merged" in result.stdout
    refused = invoke("clusters", folder / "mixed.csv", "-k", 3, "--edit", "merge 0 1")
    assert refused.exit_code == 2
    assert "--edit applies only to trees" in refused.stderr


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            ["--form", "measurements", "--rollup", "icd9"],
            "--rollup applies only to tables of codes",
        ),
        (["--form", "codes", "--missing", "9"], "--missing applies only to tables of"),
        (["--form", "numbers"], "numbers"),
        (["--kind", "age"], "--kind age"),
        (["--kind", "age=numeric"], "--kind age=numeric"),
        (["--kind", "nothing=number"], "nothing"),
        (["--kind", "id=count"], "contains ids or outcomes"),
        (["--fits", "2-3"], "--fits"),
        (["-k", "1000"], "1000"),
        (["--outcome", "id"], "outcome"),
    ],
)
def test_options_that_do_not_fit_are_refused(folder, options, expected):
    given = [] if "--outcome" in options else ["--outcome", "died"]
    result = invoke("clusters", folder / "numbers.csv", *given, *options)
    assert result.exit_code == 2, result.output
    assert len(result.stderr.strip().splitlines()) <= 6
    assert expected in result.stderr


def test_measurements_named_like_codes_need_the_form(tmp_path):
    rows = [{"code": i % 7 + 0.5, "other": (i * 7) % 11} for i in range(40)]
    path = written(tmp_path / "t.csv", rows)
    assert invoke("clusters", path, "-k", 2).exit_code in (0, 2)
    result = invoke("clusters", path, "-k", 2, "--form", "measurements")
    assert result.exit_code == 0, result.output
    assert "2 features" in result.stdout


def test_groups_of_one_repeated_value_are_noted(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        {"age": f"{30 + 40 * (i % 2) + rng.normal():.1f}", "sex": "fm"[rng.integers(2)],
         "drinks": f"{rng.gamma(2, 2):.1f}" if rng.random() < 0.5 else "0"}
        for i in range(N)
    ]  # fmt: skip
    shown = invoke("clusters", written(tmp_path / "drinks.csv", rows), "--groups", "3").stderr
    assert "no variance in drinks: it describes few records, or many with the same value" in shown
    assert "with --kind" in shown


def test_one_extreme_record_does_not_decide_the_number_of_groups(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        {name: f"{5 * (i % 2) + rng.normal():.3f}" for name in ("age", "hb", "crp")}
        for i in range(80)
    ]
    rows[3]["hb"] = "1e12"
    result = invoke("clusters", written(tmp_path / "extreme.csv", rows))
    assert "80 records, 3 features, 2 groups" in result.stdout
