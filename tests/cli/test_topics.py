"""``momentree topics``: every option does what its help says."""

from __future__ import annotations

import csv
import gzip
import json
import logging
import re
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from tests.report.pages import read_data

from .conftest import N_DOCUMENTS, THEMES, make_documents, read_json, words, write_csv


def read_csv(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def leaves_of(run, *arguments, tmp_path):
    """Run with a JSON file; return the tree's leaves and the whole content."""
    path = tmp_path / "tree-of-options.json"
    result = run("topics", *arguments, "--json", path)
    assert result.exit_code == 0, result.output
    content = read_json(path)
    return content["n_leaves"], content


def test_draws_the_tree(run, lasting_table):
    result = run("topics", lasting_table, "-k", 4)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    assert f"{N_DOCUMENTS} documents" in result.stdout
    assert "4 leaves" in result.stdout
    found = [line for line in result.stdout.splitlines() if re.search(r"[─-] [0-3] \w", line)]
    assert len(found) == 4
    # The words of each leaf are of one theme.
    for line in found:
        words = re.findall(r"\w{4,}", line)
        assert max(len(set(words) & set(t.split())) for t in THEMES.values()) >= 3


def test_labels_are_compared(run, lasting_table):
    result = run("topics", lasting_table, "-k", 4, "--label-column", "theme")
    assert "NMI 1.000, ARI 1.000" in result.stdout
    assert "garden 100%" in result.stdout


def test_all_outputs(run, table, tmp_path, documents):
    names = {"--output": "r.html", "--csv": "a.csv", "--json": "t.json", "--save": "m.mt"}
    options = [part for option, name in names.items() for part in (option, tmp_path / name)]
    result = run(
        "topics", table, "-k", 4, "--label-column", "theme", "--id-column", "key", *options
    )
    assert result.exit_code == 0, result.output
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([table.name, *names.values()])
    for name in names.values():
        assert name in result.stdout.replace("\n", "")

    assert (tmp_path / "r.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")

    rows = read_csv(tmp_path / "a.csv")
    assert list(rows[0]) == ["id", "label", "leaf", "name", "probability"]
    assert [row["id"] for row in rows] == [d["key"] for d in documents]
    assert [row["label"] for row in rows] == [d["theme"] for d in documents]
    assert {row["leaf"] for row in rows} == {"0", "1", "2", "3"}
    assert all(0.25 < float(row["probability"]) <= 1 for row in rows)

    content = read_json(tmp_path / "t.json")
    assert content["n_leaves"] == 4
    assert content["n_documents"] == N_DOCUMENTS
    assert content["agreement"]["nmi"] == 1
    assert content["made"]["parameters"]["max_leaf_nodes"] == 4
    assert "scikit-learn" in content["made"]["versions"]


def test_csv_without_labels(run, lasting_table, tmp_path):
    run("topics", lasting_table, "-k", 2, "--csv", tmp_path / "a.csv")
    assert list(read_csv(tmp_path / "a.csv")[0]) == ["id", "leaf", "name", "probability"]


def test_same_input_same_files(run, lasting_table, tmp_path):
    contents = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        files = ["--csv", folder / "a.csv", "--save", folder / "m.mt"]
        run("topics", lasting_table, "-k", 4, *files)
        contents.append([(folder / file).read_bytes() for file in ("a.csv", "m.mt")])
    assert contents[0] == contents[1]


@pytest.mark.parametrize(
    ("option", "least", "most"),
    [pytest.param("0", 0, 0, marks=pytest.mark.long), ("8", 8, 64), ("all", 160, 160)],
)
def test_the_report_lists_as_many_documents_as_requested(
    run, lasting_table, tmp_path, option, least, most
):
    path = tmp_path / "r.html"
    run("topics", lasting_table, "-k", "4", "--output", path, "--documents", option)
    documents = read_data(path.read_text(encoding="utf-8"))["documents"]
    assert least <= documents["shown"] == len(documents["items"]) <= most
    assert documents["total"] == N_DOCUMENTS


def test_a_number_of_documents_is_a_number(run, lasting_table, tmp_path):
    result = run("topics", lasting_table, "-o", tmp_path / "r.html", "--documents", "some")
    assert (
        result.exit_code,
        "expected a whole number of at least 0, or 'all'" in result.stderr,
    ) == (2, True)
    assert not list(tmp_path.glob("*.html"))


def test_existing_file_is_replaced(run, lasting_table, tmp_path):
    target = tmp_path / "a.csv"
    target.write_text("old")
    assert run("topics", lasting_table, "--csv", target).exit_code == 0
    assert read_csv(target)[0]["leaf"]


@pytest.mark.parametrize(("value", "expected"), [("1", 1), ("2", 2), ("3", 3)])
def test_leaves(run, lasting_table, tmp_path, value, expected):
    assert leaves_of(run, lasting_table, "-k", value, tmp_path=tmp_path)[0] == expected


def test_leaves_auto(run, lasting_table, tmp_path):
    n_leaves, content = leaves_of(run, lasting_table, "-k", "auto", tmp_path=tmp_path)
    assert n_leaves == len(THEMES)
    assert content["made"]["parameters"]["max_leaf_nodes"] == "auto"
    low, high = content["choice"]["interval"]
    assert low <= content["choice"]["n_components"] == n_leaves <= high


def test_a_single_leaf_is_explained(run, lasting_table):
    result = run("topics", lasting_table, "-k", 1)
    assert words("not_split", reason="") in result.stdout


@pytest.mark.parametrize(
    ("options", "most", "parameters"),
    [
        ("--max-depth 1 --log-scaling auto", 2, {"max_depth": 1, "log_scaling": "auto"}),
        ("--refine none --log-scaling log1p", 8, {"refine": None, "log_scaling": "log1p"}),
        ("--search none --log-scaling none", 8, {"search": "none", "log_scaling": None}),
        ("--search starts --min-samples-leaf 50", 3, {"search": "starts", "min_samples_leaf": 50}),
    ],
)
def test_options_of_the_tree(run, lasting_table, tmp_path, options, most, parameters):
    n_leaves, content = leaves_of(run, lasting_table, *options.split(), tmp_path=tmp_path)
    assert parameters.items() <= content["made"]["parameters"].items()
    assert n_leaves <= most


def n_words(run, *arguments, tmp_path):
    return leaves_of(run, *arguments, "-k", 1, tmp_path=tmp_path)[1]["n_words"]


def test_options_of_counting(run, documents, tmp_path):
    changed = [dict(d) for d in documents]
    for d in changed:
        d["body"] = "The the Rare " * (d["key"] == "d000") + d["body"] + " Common COMMON and"
    table = write_csv(tmp_path / "t.csv", changed)
    all_words = {word for words in THEMES.values() for word in words.split()}

    def count(*options):
        return n_words(run, table, *options, tmp_path=tmp_path)

    plain = count("--min-df", "2")
    assert plain == len(all_words)  # "rare" is in one document, "common" in all
    assert count("--min-df", "1") == plain + 1
    assert count("--min-df", "2", "--max-df", "1.0") == plain + 1
    assert count("--min-df", "2", "--max-df", "1.0", "--no-lowercase") == plain + 2
    assert count("--min-df", "2", "--max-df", "1.0", "--language", "none") == plain + 2
    assert count("--max-features", "7") == 7
    assert count("--min-df", "2", "--token-pattern", r"\b[a-m]\w+") == sum(
        word[0] <= "m" for word in all_words
    )
    stop = tmp_path / "stop.txt"
    stop.write_text("boat\nharbour\n")
    assert count("--min-df", "2", "--stop-words", stop) == plain - 2
    assert count("--min-df", "2", "--stop-words", "boat, rose") == plain - 2
    assert count("--min-df", "2", "--stop-words", stop, "--stop-words", "rose") == plain - 3


@pytest.mark.parametrize("value", ["none.txt", "lists/none", ",", " "])
def test_stop_words_that_are_neither_words_nor_a_file(run, table, value):
    result = run("topics", table, "--stop-words", value)
    assert result.exit_code == 2
    assert "one word per line, or words separated by commas" in result.stderr


def test_topics_of_function_words_are_noted(run, tmp_path):
    """In the terminal, in the JSON file and on the page, in terms of the command."""
    french = "le la les des une dans pour que qui sur avec pas plus par mais nous vous"
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(french.split()[8 * (i % 2) :][:9], 30)) for i in range(40)]
    table = write_csv(tmp_path / "t.csv", [{"body": text} for text in texts])
    page = tmp_path / "page.html"
    options = ("--language", "none", "--max-df", "1.0", "-k", 2, "--output", page)
    result = run("topics", table, *options)
    assert "drop them with --language fr" in " ".join(result.stdout.split())
    assert "consist of French function words" in page.read_text(encoding="utf-8")


def test_language(run, documents, tmp_path):
    changed = [
        {**d, "body": d["body"] + " della nella" * (i % 3 == 0)} for i, d in enumerate(documents)
    ]
    table = write_csv(tmp_path / "t.csv", changed)
    english, italian = (
        n_words(run, table, "--language", code, tmp_path=tmp_path) for code in ("en", "it")
    )
    assert english == italian + 2


def test_text_column(run, documents, tmp_path):
    two = [{**d, "note": " ".join(["longer"] * 60)} for d in documents]
    table = write_csv(tmp_path / "t.csv", two)
    result = run("topics", table, "--text-column", "body", "-k", 4)
    assert "4 leaves" in result.stdout


@pytest.mark.parametrize(
    "memory", [pytest.param((), marks=pytest.mark.long), ("--memory", "800MB")]
)
def test_columns_of_text_are_joined(run, documents, tmp_path, memory):
    whole = write_csv(tmp_path / "whole.csv", documents)
    words = [d["body"].split() for d in documents]
    halves = [
        {"key": d["key"], "rest": " ".join(w[9:]), "start": " ".join(w[:9])}
        for d, w in zip(documents, words, strict=True)
    ]
    table = write_csv(tmp_path / "halves.csv", halves)
    both = ("--text-column", "start", "--text-column", "rest")
    how = ("-k", 4, *memory)
    _, expected = leaves_of(run, whole, "--text-column", "body", *how, tmp_path=tmp_path)
    _, found = leaves_of(run, table, *both, *how, tmp_path=tmp_path)
    assert (found["n_words"], found["tree"]) == (expected["n_words"], expected["tree"])


def test_separator_and_encoding(run, documents, tmp_path):
    accented = [{**d, "body": d["body"] + " caffè"} for d in documents]
    table = write_csv(tmp_path / "t.csv", accented, separator=";", encoding="latin-1")
    options = ["--separator", ";", "--encoding", "latin-1", "--max-df", "1.0", "-k", 2]
    _, content = leaves_of(run, table, *options, tmp_path=tmp_path)
    assert "caffè" in json.dumps(content, ensure_ascii=False)


@pytest.mark.parametrize(
    "kind", ["folder", pytest.param("jsonl", marks=pytest.mark.long), "jsonl.gz", "parquet", "tsv"]
)
def test_kinds_of_text(run, documents, tmp_path, kind):
    path = tmp_path / f"documents.{kind}"
    lines = "".join(json.dumps(d) + "\n" for d in documents)
    if kind == "folder":
        for d in documents:
            (path / d["theme"]).mkdir(parents=True, exist_ok=True)
            (path / d["theme"] / f"{d['key']}.txt").write_text(d["body"])
    elif kind == "jsonl":
        path.write_text(lines)
    elif kind == "jsonl.gz":
        path.write_bytes(gzip.compress(lines.encode()))
    elif kind == "parquet":
        pd = pytest.importorskip("pandas")
        pd.DataFrame(documents).to_parquet(path)
    else:
        write_csv(path, documents, separator="\t")
    labels = [] if kind == "folder" else ["--label-column", "theme"]
    result = run("topics", path, "-k", 4, *labels)
    assert result.exit_code == 0, result.output
    assert "NMI 1.000" in result.stdout


@pytest.fixture
def counts(tmp_path, documents):
    """The documents as a sparse matrix with its words beside it."""
    words = sorted({word for words in THEMES.values() for word in words.split()})
    column = {word: j for j, word in enumerate(words)}
    X = np.zeros((len(documents), len(words)), dtype=int)
    for i, d in enumerate(documents):
        for word in d["body"].split():
            X[i, column[word]] += 1
    sp.save_npz(tmp_path / "X.npz", sp.csr_matrix(X))
    (tmp_path / "words.txt").write_text("\n".join(words) + "\n")
    return tmp_path / "X.npz"


def test_counts_with_vocabulary(run, counts, tmp_path):
    result = run("topics", counts, "--vocabulary", tmp_path / "words.txt", "-k", 4)
    assert result.exit_code == 0, result.output
    assert f"{N_DOCUMENTS} documents: 40 words, 4 leaves" in result.stdout


def test_quiet(run, lasting_table, tmp_path):
    result = run("topics", lasting_table, "-k", 2, "--quiet", "--csv", tmp_path / "a.csv")
    assert (result.exit_code, result.output) == (0, "")
    assert (tmp_path / "a.csv").exists()


def test_verbose(run, lasting_table, caplog):
    with caplog.at_level(logging.INFO, logger="momentree"):
        result = run("topics", lasting_table, "-k", 4, "--verbose")
    lines = result.stderr.splitlines()
    steps = [line.removeprefix("  ") for line in lines if line.startswith("  ")]
    stages = [line for line in lines if not line.startswith("  ")]
    assert steps == caplog.messages
    # Trees of two leaves, three leaves and so on.
    assert 2 in [record.args[0] for record in caplog.records if record.args]
    assert len(stages) > 1
    assert lasting_table.name in stages[0]
    assert all(re.search(r": [\d.]+ s$", stage) for stage in stages)


def test_phrases_and_ngrams(run, tmp_path):
    documents = [
        {"text": f"{theme} ocean {n}"}
        for theme in ("climate change", "tax law")
        for n in "abcdefgh"
    ]
    table = write_csv(tmp_path / "t.csv", documents)
    sizes = []
    for options in ([], ["--phrases"], ["--ngrams", 2]):
        json = tmp_path / "t.json"
        result = run("topics", table, "-k", 2, *options, "--max-df", 1.0, "--json", json)
        assert result.exit_code == 0, result.output
        sizes.append(read_json(json)["n_words"])
    assert sizes == [5, 11, 9]  # four pairs, with "change ocean"; phrases of three words, too


def test_a_tokenizer_is_given_again_to_assign(run, refuses, table, tmp_path, monkeypatch):
    (tmp_path / "first_letters.py").write_text(
        "def first(text):\n    return [w[:3] for w in text.split()]\n"
    )
    (tmp_path / "other_letters.py").write_text(
        "from first_letters import first as f\ndef first(text): return f(text)\n"
    )
    monkeypatch.chdir(tmp_path)
    result = run("topics", table, "-k", 4, "--tokenizer", "first_letters:first", "--save", "m.mt")
    assert result.exit_code == 0, result.output
    refuses("assign", "m.mt", table)
    refuses("assign", "m.mt", table, "--tokenizer", "first_letters:second")
    refuses("topics", table, "--tokenizer", "first_letters")
    same = run("assign", "m.mt", table, "--tokenizer", "first_letters:first")
    assert (same.exit_code, "note" in same.stderr) == (0, False)
    other = run("assign", "m.mt", table, "--tokenizer", "other_letters:first")
    assert other.stdout == same.stdout
    assert "first_letters:first" in other.stderr
    assert str(tmp_path) not in sys.path


def test_a_second_run_does_not_read_what_the_first_wrote(run, tmp_path):
    for i, document in enumerate(make_documents(40)):
        (tmp_path / f"{i:02d}.txt").write_text(document["body"])
    paths = {name: tmp_path / f"r.{name}" for name in ("html", "csv", "json")}
    options = ["-k", 2, "-o", paths["html"], "--csv", paths["csv"], "--json", paths["json"]]
    first = run("topics", tmp_path, *options)
    table = paths["csv"].read_bytes()
    second = run("topics", tmp_path, *options)
    assert first.exit_code == second.exit_code == 0, second.stderr
    assert paths["csv"].read_bytes() == table
    assert "3 written by momentree" in second.stderr
