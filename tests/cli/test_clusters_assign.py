"""``momentree assign`` with a model of groups: new records with the codes of the fit."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile

import numpy as np
import pytest

from momentree.cli.tables import decimals
from momentree.datasets import read_records
from momentree.tree import ClusterTree

from ..incomplete import group_of, probabilities
from .conftest import invoke, make_records, words, write_csv


def rows_of(result):
    assert result.exit_code == 0, result.output
    return list(csv.DictReader(io.StringIO(result.stdout)))


@pytest.fixture(scope="module", params=["tree", "flat"])
def groups_model(request, tmp_path_factory, records_table, code_names):
    """A saved model of four groups, and the table of assignments of the fit."""
    folder = tmp_path_factory.mktemp("model")
    arguments = ["clusters", records_table, "--rollup", "icd9", "-k", 4, "--code-names", code_names]
    arguments += ["--save", folder / "m.mt", "--csv", folder / "a.csv"]
    arguments += ["--flat"] if request.param == "flat" else []
    result = invoke(*arguments)
    assert result.exit_code == 0, result.output
    return folder / "m.mt", folder / "a.csv"


def test_complete_records_of_the_fit_go_where_they_were(run, groups_model, records_table, tmp_path):
    model, first = groups_model
    path = tmp_path / "again.csv"
    result = run("assign", model, records_table, "--complete", "--csv", path)
    assert result.exit_code == 0, result.output
    assert f"Assigned 240 records to 4 groups.\n\nWrote {path}" in result.stdout
    with path.open(newline="") as file, first.open(newline="") as before:
        again, were = list(csv.DictReader(file)), list(csv.DictReader(before))
    for name in ("id", "group", "name", "probability"):
        assert [row[name] for row in again] == [row[name] for row in were]
    # Those that are not said to be complete have the same group, or none.
    rows = rows_of(run("assign", model, records_table))
    pairs = [(row["group"], old["group"]) for row, old in zip(rows, were, strict=True)]
    assert all(group in ("", old) for group, old in pairs)
    assert sum(group == "" for group, _ in pairs) < 0.1 * len(pairs)


def test_new_records_with_probabilities(run, groups_model, tmp_path):
    model = groups_model[0]
    new = make_records(40, seed=1)
    result = run("assign", model, write_csv(tmp_path / "new.csv", new))
    rows = rows_of(result)
    groups = [f"group_{j}" for j in range(4)]
    assert list(rows[0]) == ["id", "group", "name", "probability", "reason", *groups]
    assert [row["id"] for row in rows] == [r["visit_id"] for r in new]
    for row in rows:
        proportions = [float(row[name]) for name in groups]
        assert sum(proportions) == pytest.approx(1, abs=1e-4)
        if row["group"]:
            assert float(row["probability"]) == proportions[int(row["group"])] > 0.5
        # A record without a group has a reason, which is no name of a group.
        assert bool(row["name"]) == bool(row["probability"]) == bool(row["group"])
        assert bool(row["reason"]) != bool(row["group"])
    found = {}
    for row, record in zip(rows, new, strict=True):
        if row["group"]:
            found.setdefault(record["condition"], []).append(row["name"])
    assert len({max(set(names), key=names.count) for names in found.values()}) == 4


def page_data(path):
    """The data of a page."""
    found = re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', path.read_text(), re.DOTALL)
    return json.loads(found[1])


@pytest.mark.parametrize("min_cell", [pytest.param(1, marks=pytest.mark.long), 5])
@pytest.mark.parametrize(
    "edits", [[], ["--flat"], ["--edit", "split 0", "--edit", "merge 1 2"]], ids=str
)
def test_the_command_assigns_as_the_page_does(run, records_table, tmp_path, edits, min_cell):
    """The same numbers, although small counts are kept out of the page."""
    model, page = tmp_path / "m.mt", tmp_path / "r.html"
    options = ["--rollup", "icd9", "-k", 4, "--min-cell", min_cell, *edits]
    result = run("clusters", records_table, *options, "--save", model, "--output", page)
    assert result.exit_code == 0, result.output
    data = page_data(page)
    codes, scoring = data["codes"]["code"], data["scoring"]
    rng = np.random.default_rng(0)
    held = [rng.choice(len(codes), 1 + i % 4, replace=False) for i in range(200)]
    new = [{"id": str(i), "codes": " ".join(codes[j] for j in some)} for i, some in enumerate(held)]
    options = ["--code-column", "codes"]
    rows = rows_of(run("assign", model, write_csv(tmp_path / "new.csv", new), *options))
    X = np.zeros((200, len(codes)))
    for x, some in zip(X, held, strict=True):
        x[some] = 1
    for row, x, p in zip(rows, X, probabilities(scoring, X), strict=True):
        assert [row[f"group_{j}"] for j in range(len(p))] == [decimals(value) for value in p]
        group = group_of(scoring, x)
        assert row["group"] == ("" if group < 0 else str(group))


def test_heart_failure_is_not_a_newborn(run, shared_data, tmp_path):
    """Real discharges: codes that a short record lacks do not outweigh those that it has."""
    model, table = tmp_path / "m.mt", shared_data / "vermont_icd9" / "vermont_dx.csv.gz"
    options = ["-k", 6, "--rollup", "icd9", "--code-column", "DX*", "--quiet"]
    for min_cell in (1, 5):
        shown = ["--min-cell", min_cell, "--save", model, "--json", tmp_path / "r.json"]
        assert run("clusters", table, *options, *shown).exit_code == 0
        nodes = json.loads((tmp_path / "r.json").read_text())["nodes"]
        of_heart = {
            str(node["group"])
            for node in nodes
            if node["group"] is not None
            and any(code["code"] == "428" and code["rate"] > 0.2 for code in node["codes"])
        }
        new = tmp_path / "new.csv"
        new.write_text("id,codes\na,428 584 999\nb,999\nc,V30\nd,V30 428\n")
        assign = ["assign", model, new, "--code-column", "codes", "--quiet"]
        heart, rare, newborn, both = rows_of(run(*assign))
        assert heart["group"] in of_heart
        assert (rare["group"], rare["reason"]) == ("", "too few codes to say")
        assert newborn["group"] not in {*of_heart, ""}
        assert (both["group"], both["reason"]) == ("", "codes of different groups")


def test_another_table_with_other_columns(run, groups_model, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("who|codes\na|585.6 403.91\nb|V30.00;774.6\nc|\nd|Z99 585\n")
    options = ["--id-column", "who", "--code-column", "codes", "--separator", "|"]
    result = run("assign", groups_model[0], path, *options)
    rows = rows_of(result)
    assert [row["id"] for row in rows] == ["a", "b", "c", "d"]
    assert rows[0]["group"] == rows[3]["group"] != rows[1]["group"]
    assert "'Z99'" in result.stderr
    assert words("no_known_codes", n_records=1, n_all=4) in result.stderr
    assert run("assign", groups_model[0], path, *options, "--quiet").stderr == ""


def test_a_title_and_a_column_to_ignore(run, refuses, groups_model, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("New cases\nday,codes\n1,5856\n1,V270\n2,5856\n")
    options = ["--code-column", "codes", "--skip-rows", 1]
    refuses("assign", groups_model[0], path, *options[:2])
    refuses("assign", groups_model[0], path, *options)
    rows = rows_of(run("assign", groups_model[0], path, *options, "--ignore", "d*"))
    assert [row["id"] for row in rows] == ["1", "2", "3"]
    assert rows[0]["group"] == rows[2]["group"] != rows[1]["group"]


def test_union_by_of_the_fit(run, records, tmp_path):
    rows = ["patient,icd"]
    for i, record in enumerate(records):
        rows += [f"p{i // 4},{record[f'DX{j}']}" for j in range(1, 7) if record[f"DX{j}"]]
    table = tmp_path / "long.csv"
    table.write_text("\n".join(rows) + "\n")
    model = tmp_path / "m.mt"
    options = ["--union-by", "patient", "--code-column", "icd", "-k", 2, "--save", model]
    assert run("clusters", table, *options).exit_code == 0
    new = tmp_path / "new.csv"
    new.write_text("icd,patient\n5856,x\n40391,x\nV270,y\n")
    assert [row["id"] for row in rows_of(run("assign", model, new))] == ["x", "y"]


def test_a_model_saved_from_python(run, records_table, tmp_path):
    """It knows no names of groups: their codes stand for them."""
    read = read_records(records_table, rollup="icd9")
    tree = ClusterTree(4).fit(read.X, feature_names=read.codes)
    tree.save(tmp_path / "m.mt", vectorizer_config=read.coder.to_dict())
    rows = rows_of(run("assign", tmp_path / "m.mt", records_table))
    found = tree.predict_incomplete(read.X)
    assert [int(row["group"] or -1) for row in rows] == found.tolist()
    names = [leaf.name for leaf in tree.leaves_]
    assert all(row["name"] == names[int(row["group"])] for row in rows if row["group"])


@pytest.mark.parametrize("option", ["--text-column", "--vocabulary"])
def test_options_of_documents_are_refused(refuses, groups_model, records_table, option):
    line = refuses("assign", groups_model[0], records_table, option, "x")
    assert line.code == "applies_to_other_data"


@pytest.mark.parametrize("option", ["--code-column", "--union-by", "--ignore"])
def test_options_of_records_are_refused(refuses, model, lasting_table, option):
    line = refuses("assign", model, lasting_table, option, "x")
    assert line.code == "applies_to_other_data"
    kinds = "records and sequences" if option == "--code-column" else "records"
    assert f"applies only to {kinds}," in line


def test_bad_new_records(refuses, groups_model, tmp_path):
    model = groups_model[0]
    assert "none.csv" in refuses("assign", model, tmp_path / "none.csv")
    path = tmp_path / "t.csv"
    path.write_text("visit_id,note\na,nothing\nb,of use\n")
    assert "'DX1', 'DX2'" in refuses("assign", model, path)
    assert "'ICD'" in refuses("assign", model, path, "--code-column", "ICD")


@pytest.mark.parametrize(
    "extras",
    [
        {"group_names": ["a"]},
        {"group_names": 3},
        {"assignment": 3},
        {"assignment": {"codes": ["XYZ"]}},
        {"assignment": {"codes": "585"}},
        {"assignment": {"codes": ["585"], "counts": [[1]], "sizes": [2], "observed": None}},
        {"assignment": {"codes": ["585"], "counts": [[1]] * 4, "sizes": [2] * 4}},
        {
            "assignment": {
                "codes": ["585"],
                "counts": [[float("nan")]] * 4,
                "sizes": [2] * 4,
                "observed": None,
            }
        },
    ],
    ids=str,
)
def test_damaged_extras_of_a_model(refuses, groups_model, records_table, tmp_path, extras):
    damaged = tmp_path / "m.mt"
    with zipfile.ZipFile(groups_model[0]) as old, zipfile.ZipFile(damaged, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "manifest.json":
                manifest = json.loads(content)
                manifest["vectorizer"] |= extras
                content = json.dumps(manifest).encode()
            new.writestr(name, content)
    code = refuses("assign", damaged, records_table).code
    assert code in ("damaged_group_names", "damaged_assignment", "bad_entry")
    assert (code == "damaged_group_names") == ("group_names" in extras)


def test_undecided_records_are_noted(run, groups_model, records_table, tmp_path):
    model = groups_model[0]
    assert run("assign", model, records_table, "--quiet").stderr == ""
    header = ["visit_id", "DX1", "DX2"]
    new = [dict(zip(header, [str(i), "", ""], strict=True)) for i in range(3)]
    new.append(dict(zip(header, ["3", "5856", "40391"], strict=True)))
    said = run("assign", model, write_csv(tmp_path / "few.csv", new))
    assert words("undecided", n_records=3, n_all=4) in said.stderr
    rows = rows_of(said)
    assert [row["group"] == "" for row in rows] == [True, True, True, False]
    complete = run("assign", model, tmp_path / "few.csv", "--complete")
    assert all(row["group"] for row in rows_of(complete))
    assert words("undecided", n_records=3, n_all=4) not in complete.stderr


def test_complete_is_for_records(refuses, model, lasting_table):
    line = refuses("assign", model, lasting_table, "--complete")
    assert line.code == "applies_to_other_data"
