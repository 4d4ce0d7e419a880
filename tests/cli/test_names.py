"""Names on the command line: titles, ``--rename``, and fewer leaves than asked for."""

import csv
import json

import pytest

from .conftest import THEMES


def write(path, content):
    path.write_text(content, encoding="utf-8")
    return path


def names_in(path):
    with path.open(encoding="utf-8") as file:
        return {
            row["leaf" if "leaf" in row else "topic"]: row["name"] for row in csv.DictReader(file)
        }


def leaves_of(node):
    return [leaf for child in node["children"] for leaf in leaves_of(child)] or [node]


@pytest.mark.parametrize("options", [[], ["--flat", "-k", "4"]])
def test_given_names_are_the_same_everywhere(run, table, tmp_path, options):
    page, rows, model, tree = (tmp_path / f"r.{end}" for end in ("html", "csv", "mt", "json"))
    names = write(tmp_path / "names.csv", "number,name\n0,Overridden\n1,Gärten\n")
    found = run(
        "topics", table, "-k" if not options else "--max-df", *(["4"] if not options else ["0.5"]),
        *options, "--rename", names, "--rename", "0=My topic", "-o", page, "--csv", rows,
        "--save", model, "--json", tree,
    )  # fmt: skip
    assert found.exit_code == 0, found.stderr
    shown = names_in(rows)
    assert shown["0"] == "My topic"
    assert shown["1"] == "Gärten"
    for number, name in shown.items():
        assert f"{number} {name}"[:20] in found.stdout
        assert name.split(", ")[0] in page.read_text(encoding="utf-8")
    written = json.loads(tree.read_text(encoding="utf-8"))
    if options:
        in_json = {str(one["topic"]): one["name"] for one in written["topics"]}
    else:
        in_json = {str(leaf["leaf_id"]): leaf["name"] for leaf in leaves_of(written["tree"])}
    assert {number: in_json[number] for number in shown} == shown
    again = tmp_path / "again.csv"
    assert run("assign", model, table, "--csv", again).exit_code == 0
    assert names_in(again) == shown
    assert "Overridden" not in found.stdout + page.read_text(encoding="utf-8")


def test_a_node_above_leaves_can_be_named(run, table):
    found = run("topics", table, "-k", "2", "--rename", "0-1=All", "--rename", "0=A")
    assert "'0-1'" in found.stderr  # the root is all documents
    found = run("topics", table, "-k", "4", "--refine", "none", "--rename", "0-1=A pair")
    assert "A pair" in found.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--rename", "9=A"], "--rename names '9'"),
        (["--rename", "A"], "--rename 3=Climate"),
        (["--rename", "1="], "--rename 3=Climate"),
        (["--rename", "1=A", "--rename", "1=B"], "--rename names 1 twice"),
        (["--rename", "1=A", "--rename", "0=A"], "the same name, 'A'"),
        (["--rename", f"1={'x' * 200}"], "1 to 120 characters"),
        (["--rename", "codes.csv"], "'number' and 'name'"),
        (["--rename", "more.csv"], "--rename names '7'"),
        (["--rename", "absent.csv"], "--rename absent.csv"),
    ],
)
def test_names_that_are_refused(run, table, tmp_path, monkeypatch, options, words):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "codes.csv", "code,name\n250,Diabetes\n")
    write(tmp_path / "more.csv", "number,name\n0,A\n7,B\n")
    found = run("topics", table, "-k", "2", *options)
    assert found.exit_code == 2
    assert len(found.stderr.splitlines()) == 1
    assert words in found.stderr


def test_names_of_groups_and_of_codes(run, records_table, code_names, tmp_path):
    names = write(tmp_path / "names.csv", "number,name\n0,My group\n")
    page, model = tmp_path / "r.html", tmp_path / "m.mt"
    found = run(
        "clusters", records_table, "-k", "4", "--rollup", "icd9", "--rename", names,
        "--code-names", code_names, "--edit", "split 1", "--rename", "2=Other group", "-o", page,
        "--save", model,
    )  # fmt: skip
    assert found.exit_code == 0, found.stderr
    for name in ("0 My group", "2 Other group"):
        assert name in found.stdout
        assert name[2:] in page.read_text(encoding="utf-8")
    assert "Heart failure" in found.stdout
    rows = tmp_path / "again.csv"
    assert run("assign", model, records_table, "--csv", rows).exit_code == 0
    assert "My group" in rows.read_text(encoding="utf-8")


def test_titles_are_not_names_of_files(run, table, records_table, tmp_path):
    screen = run("topics", table, "-k", "2").stdout
    assert screen.startswith("Topics of 160 documents: ")
    assert "160 documents, " not in screen.splitlines()[0]
    mine = run("topics", table, "-k", "2", "--title", "Mine").stdout
    assert mine.startswith("Mine: 160 documents, ")
    assert run("clusters", records_table, "-k", "2").stdout.startswith("Groups of records: ")
    folder = tmp_path / "letters_to-my wife"
    folder.mkdir()
    for i in range(20):
        words = list(THEMES.values())[i % 4].split()
        write(folder / f"{i}.txt", " ".join(words[i // 4 : i // 4 + 6]))
    found = run("topics", folder, "-k", "2", "--min-samples-leaf", "1")
    assert found.stdout.startswith("Letters to my wife: 20 documents, "), found.stderr


def test_fewer_leaves_than_asked_for_have_a_reason(run, table):
    (line,) = run("topics", table, "-k", "40", "--min-samples-leaf", "30").stderr.splitlines()
    assert "instead of 40; the largest one was not split further, because" in line
    assert run("topics", table, "-k", "4").stderr == ""
    assert run("topics", table, "-k", "auto").stderr == ""


def test_fewer_flat_topics_have_a_reason(run, tmp_path):
    path = write(tmp_path / "t.csv", "text\n" + "sea boat sail\n" * 20 + "oven bread flour\n" * 20)
    options = ["--model", "lda", "--log-scaling", "none", "--max-df", "1.0"]
    found = run("topics", path, "--flat", "-k", "6", *options)
    assert "of 6 topics were found: " in found.stdout
