"""``momentree assign``: new documents go where the model puts them."""

from __future__ import annotations

import csv
import io
import zipfile

import numpy as np
import pytest

from momentree import IndependentComponents, MixtureOfRegressions, TopicTree, load

from .conftest import THEMES, make_documents, words, write_csv


@pytest.fixture(scope="module")
def new_table(tmp_path_factory):
    return write_csv(tmp_path_factory.mktemp("new") / "new.csv", make_documents(40, seed=1))


def test_prints_a_table(run, model, new_table):
    result = run("assign", model, new_table, "--id-column", "key")
    assert result.exit_code == 0, result.output
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert list(rows[0]) == ["id", "leaf", "name", "probability"]
    assert [row["id"] for row in rows] == [f"d{i:03}" for i in range(40)]
    leaves = {theme: set() for theme in THEMES}
    for row, document in zip(rows, make_documents(40, seed=1), strict=True):
        leaves[document["theme"]].add(row["leaf"])
        assert float(row["probability"]) > 0.9
    assert all(len(found) == 1 for found in leaves.values())


def test_training_documents_go_where_they_were(run, lasting_table, tmp_path):
    model, first = tmp_path / "m.mt", tmp_path / "first.csv"
    run("topics", lasting_table, "-k", 4, "--id-column", "key", "--save", model, "--csv", first)
    second = tmp_path / "second.csv"
    result = run("assign", model, lasting_table, "--id-column", "key", "--csv", second)
    assert result.exit_code == 0, result.output
    assert first.read_text() == second.read_text()
    assert "160 documents to 4 leaves" in result.stdout


def test_a_model_of_python_assigns_like_one_of_the_command(run, model, new_table, tmp_path):
    texts = [document["body"] for document in make_documents(160)]
    new = [document["body"] for document in make_documents(40, seed=1)]
    tree = TopicTree(4).fit(texts)
    tree.save(tmp_path / "python.mt")
    for path in (model, tmp_path / "python.mt"):
        result = run("assign", path, new_table)
        assert result.exit_code == 0, result.output
        rows = csv.DictReader(io.StringIO(result.stdout))
        assert [int(row["leaf"]) for row in rows] == load(path).predict(new).tolist()
    assert load(model).names_ == tree.names_


def test_quiet(run, model, new_table, tmp_path):
    result = run("assign", model, new_table, "--csv", tmp_path / "a.csv", "--quiet")
    assert (result.exit_code, result.output) == (0, "")


def test_options_of_reading(run, model, tmp_path):
    documents = [{**d, "other": "x " * 90} for d in make_documents(8, seed=2)]
    table = write_csv(tmp_path / "t.csv", documents, separator="|", encoding="utf-16")
    result = run(
        "assign", model, table, "--separator", "|", "--encoding", "utf-16", "--text-column", "body"
    )
    assert result.exit_code == 0, result.output
    assert len(result.stdout.splitlines()) == 9


def test_documents_without_known_words_are_not_assigned(run, model, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("text,n\nxyzzy plugh,1\nboat sail boat harbour,2\n")
    result = run("assign", model, path)
    assert result.exit_code == 0, result.output
    assert words("no_known_words", n_records=1, n_all=2) in result.stderr
    _, unknown, known = csv.reader(result.stdout.splitlines())
    assert unknown == ["1", "", "", ""]
    assert all(known)
    assert run("assign", model, path, "--quiet").stderr == ""


def test_only_documents_without_known_words_are_refused(refuses, model, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("text,n\nxyzzy plugh,1\nxyzzy,2\n")
    assert "2 documents" in refuses("assign", model, path, "--csv", tmp_path / "a.csv")
    assert not (tmp_path / "a.csv").exists()


def test_new_documents_are_cleaned_as_the_texts_of_the_model(run, model, tmp_path):
    plain, marked = tmp_path / "plain.csv", tmp_path / "marked.csv"
    plain.write_text("text,n\nboat sail boat harbour,2\n")
    marked.write_text("text,n\n<p>boat <b>sail</b> boat<br>harbour</p> https://bread.org/oven,2\n")
    found = run("assign", model, marked)
    assert words("stripped_html", n_rows=1) in found.stderr
    assert found.stdout == run("assign", model, plain).stdout


def test_long_documents_are_assigned_by_passage_and_joined(run, model, tmp_path):
    path = tmp_path / "t.csv"
    sea, bread = "boat sail harbour. " * 900, "bread flour oven. " * 300
    path.write_text(f"id,text\nlong,{sea}{bread}\nshort,boat sail harbour\n")
    result = run("assign", model, path)
    header, long, short = csv.reader(result.stdout.splitlines())
    assert header[:5] == ["id", "passages", "leaf", "name", "probability"]
    assert (long[0], long[1]) == ("long", "18")
    assert short[:2] == ["short", "1"]
    assert long[2] == short[2]
    assert 0.6 < float(long[4]) < 0.85  # three quarters of its words


def test_not_a_model(refuses, lasting_table, tmp_path):
    path = tmp_path / "m.mt"
    assert "m.mt" in refuses("assign", path, lasting_table)
    path.write_text("something else")
    assert "m.mt" in refuses("assign", path, lasting_table)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", "{}")
    refuses("assign", path, lasting_table)


def test_bad_new_input(refuses, model, tmp_path):
    assert "none.csv" in refuses("assign", model, tmp_path / "none.csv")


def test_model_is_not_overwritten(refuses, model, lasting_table):
    before = model.read_bytes()
    refuses("assign", model, lasting_table, "--csv", model)
    assert model.read_bytes() == before


def test_documents_in_another_language_are_noted(run, model, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "text,n\n" + "Les enfants jouent avec une balle dans le jardin de la ville,1\n" * 3
    )
    result = run("assign", model, path)
    assert result.exit_code == 2  # no word is known
    assert "the new documents are in French (100%)" in result.stderr


def test_models_without_groups_are_refused(run, new_table, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(100, 2))
    IndependentComponents().fit(X).save(tmp_path / "ica.mt")
    MixtureOfRegressions().fit(X, rng.normal(size=100)).save(tmp_path / "regressions.mt")
    for name in ("ica.mt", "regressions.mt"):
        result = run("assign", tmp_path / name, new_table)
        assert result.exit_code == 2
        assert "momentree.load" in result.output.replace("\n", " ")
