"""``momentree topics`` of markup, copies and long texts: notes, options and tables."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from .conftest import THEMES, make_documents, read_json, words, write_csv


def sentences(theme, n_words, seed):
    rng = np.random.default_rng(seed)
    found = rng.choice(THEMES[theme].split(), n_words)
    return " ".join(f"{word}." if i % 10 == 9 else word for i, word in enumerate(found))


@pytest.fixture
def long_table(tmp_path):
    """Short documents of one theme each, and a book, three quarters of it about the sea."""
    book = f"{sentences('sea', 2700, 1)} {sentences('kitchen', 900, 2)}"
    documents = [*make_documents(80), {"key": "book", "body": book, "theme": "sea"}]
    dated = [{**document, "year": str(1900 + i)} for i, document in enumerate(documents)]
    return write_csv(tmp_path / "long.csv", dated)


def test_markup_is_stripped_with_a_note(run, tmp_path):
    marked = [
        {**d, "body": f"<p>{d['body']}</p> http://zebra.net/quagga"} for d in make_documents()
    ]
    table = write_csv(tmp_path / "marked.csv", marked)
    result = run("topics", table, "-k", 4, "--json", tmp_path / "t.json")
    assert result.exit_code == 0, result.output
    assert "stripped HTML from 160 documents" in result.stderr
    assert "--raw keeps them" in result.stderr
    plain = write_csv(tmp_path / "plain.csv", make_documents())
    run("topics", plain, "-k", 4, "--json", tmp_path / "p.json")
    assert read_json(tmp_path / "t.json")["tree"] == read_json(tmp_path / "p.json")["tree"]
    raw = run("topics", table, "--raw", "--max-df", "1.0", "-k", 2)
    assert "stripped" not in raw.stderr
    assert "40 words" in result.stdout
    assert "42 words" in raw.stdout  # also zebra, quagga


def test_copies_get_no_leaf(run, tmp_path):
    own = "amber birch cedar daisy ember flint gorse heron iris jade kelp lotus"
    copies = [{"key": f"c{i}", "body": f"{own} bread oven", "theme": ""} for i in range(100)]
    table = write_csv(tmp_path / "copies.csv", make_documents() + copies)

    def leaf_of_copies(*options):
        result = run("topics", table, "-k", 4, "--csv", tmp_path / "a.csv", *options)
        assert result.exit_code == 0, result.output
        with (tmp_path / "a.csv").open(newline="") as file:
            leaves = [row["leaf"] for row in csv.DictReader(file)]
        assert len({*leaves[160:]}) == 1
        return leaves.count(leaves[-1]), result.stderr

    size, notes = leaf_of_copies()
    assert "99 of 260 documents are copies of others; each text is counted once" in notes
    assert "--no-unique counts every copy" in notes
    assert size > 130  # with documents of its theme
    assert leaf_of_copies("--unique")[0] == size
    size, notes = leaf_of_copies("--no-unique")
    assert "--unique counts each text once" in notes
    assert size == 100


@pytest.mark.parametrize("flat", [False, True])
def test_long_documents_have_one_row_with_proportions(run, long_table, tmp_path, flat):
    outputs = {"--csv": "a.csv", "--json": "a.json", "--save": "m.mt", "-o": "a.html"}
    options = [part for option, name in outputs.items() for part in (option, tmp_path / name)]
    options += ["--flat", "-k", 4] if flat else ["-k", 4]
    options += ["--id-column", "key", "--order", "year"]
    result = run("topics", long_table, *options)
    assert result.exit_code == 0, result.output
    assert "1 document with more than 2,000 words is cut into 18 passages" in result.stderr
    assert "Topics of 81 documents: 98 passages, 40 words" in result.stdout
    kind = "topic" if flat else "leaf"
    with (tmp_path / "a.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["passages"] for row in rows] == ["1"] * 80 + ["18"]
    assert rows[-1]["id"] == "book"
    assert rows[-1][kind] == rows[0][kind]  # of the sea
    proportions = [float(rows[-1][f"{kind}_{j}"]) for j in range(4)]
    assert sum(proportions) == pytest.approx(1, abs=1e-4)
    assert max(proportions) == pytest.approx(0.75, abs=0.05)
    content = read_json(tmp_path / "a.json")
    assert (content["n_documents"], content["n_passages"]) == (81, 98)
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "book, passage 3" in page
    assert "</b> passages of <b>81</b> documents" in page
    again = run("assign", tmp_path / "m.mt", long_table, "--id-column", "key")
    assert again.stdout == (tmp_path / "a.csv").read_text()
    assert words("cut_as_model", n_rows=1, longest=2000, n_entries=18) in again.stderr


def test_passages_can_be_chosen(run, refuses, long_table):
    none = run("topics", long_table, "-k", 2, "--passages", "none")
    assert "passage" not in none.output
    assert "81 documents" in none.stdout
    fine = run("topics", long_table, "-k", 2, "--passages", 100)
    assert "cut into 36 passages" in fine.stderr
    assert "--passages none keeps it whole" in fine.stderr
    for bad in ("all", "0", "-1", "2.5"):
        assert "a whole number of at least 1" in refuses("topics", long_table, "--passages", bad)


def test_a_single_row_is_cut_or_refused(run, refuses, tmp_path):
    book = f"{sentences('sea', 2700, 1)} {sentences('kitchen', 900, 2)}"
    table = write_csv(tmp_path / "one.csv", [{"key": "book", "body": book, "theme": ""}])
    result = run("topics", table, "-k", 2, "--id-column", "key", "--csv", tmp_path / "a.csv")
    assert result.exit_code == 0, result.output
    rows = (tmp_path / "a.csv").read_text().splitlines()
    assert len(rows) == 19
    assert rows[1].startswith('"book, passage 1",')
    short = write_csv(tmp_path / "short.csv", [{"key": "a", "body": "the sea", "theme": ""}])
    message = refuses("topics", short)
    assert "one document" in message
    assert "a folder" in message


def test_frequent_words_that_are_dropped_are_listed(run, refuses, tmp_path):
    documents = [{**d, "body": f"{d['body']} movie"} for d in make_documents()]
    table = write_csv(tmp_path / "t.csv", documents)
    result = run("topics", table, "-k", 4)
    assert (
        "1 frequent word is dropped by --max-df 0.5: movie (100%); --max-df 1.0 keeps it"
        in result.stderr
    )
    message = refuses("topics", table, "--min-df", "0.9", "--max-df", "0.1")
    assert "--min-df 0.9" in message
    assert "--max-df 0.1" in message
    assert "change these limits" in message


def test_a_single_file_of_text_is_an_input(run, refuses, tmp_path):
    book, letter = tmp_path / "book.txt", tmp_path / "letter.txt"
    chapters = [sentences(theme, 1800, i) for i, theme in enumerate(["sea", "kitchen", "music"])]
    book.write_text("\n\n".join(chapters))
    result = run("topics", book, "-k", 3, "--csv", tmp_path / "a.csv")
    assert result.exit_code == 0, result.output
    rows = list(csv.reader((tmp_path / "a.csv").read_text().splitlines()))[1:]
    assert [row[0] for row in rows] == [f"book.txt, passage {i}" for i in range(1, 28)]
    leaves = [row[1] for row in rows]
    parts = [{*leaves[:8]}, {*leaves[10:17]}, {*leaves[19:]}]  # apart from where they meet
    assert [len(part) for part in parts] == [1, 1, 1]
    assert len(set.union(*parts)) == 3
    letter.write_text("The sea is near.")
    assert "letter.txt is one document of 4 words" in refuses("topics", letter)


def test_a_single_book_is_counted_in_passages_everywhere(run, tmp_path):
    book = tmp_path / "book.txt"
    book.write_text(
        f"{sentences('sea', 1500, 1)} {sentences('kitchen', 1500, 2)}", encoding="utf-8"
    )
    outputs = [
        "--csv",
        tmp_path / "a.csv",
        "--json",
        tmp_path / "a.json",
        "-o",
        tmp_path / "a.html",
    ]
    result = run("topics", book, "-k", 2, "--max-df", "1.0", *outputs)
    assert result.exit_code == 0, result.output
    assert "Topics of 15 passages: " in result.stdout
    assert "documents: " not in result.stdout
    with (tmp_path / "a.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 15
    content = read_json(tmp_path / "a.json")
    assert (content["n_documents"], content["n_passages"]) == (1, 15)
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "passages of <b>1</b> document<" in page
