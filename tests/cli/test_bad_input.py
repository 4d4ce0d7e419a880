"""Bad input: status 2, one clear line, no traceback, nothing written."""

from __future__ import annotations

import errno
import os

import numpy as np
import pytest
import scipy.sparse as sp

from momentree.datasets import read_documents

from .conftest import words, write_csv


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("none.csv", None),
        ("empty.csv", b""),
        ("binary.csv", b"text\n\0\x01\n"),
        ("rubbish.csv", bytes(range(255, 0, -1)) * 9),
        ("bad.jsonl", b'{"text": "a b"}\n{"text": \n'),
        ("broken.parquet", b"PAR1 not really"),
        ("broken.npz", b"PK not really"),
        ("strange.xyz", b"??"),
    ],
)
def test_unreadable_file(refuses, tmp_path, name, content):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    assert name in refuses("topics", path)


@pytest.mark.parametrize(
    "arguments",
    [
        ("topics", ""),
        ("clusters", ""),
        ("assign", "", "t.csv"),
        ("assign", "m.mt", ""),
        ("topics", "t.csv", "--vocabulary", ""),
        ("topics", "t.csv", "--stop-words", ""),
        ("clusters", "t.csv", "--code-names", ""),
        ("assign", "m.mt", "t.csv", "--vocabulary", ""),
    ],
)
def test_an_empty_path_is_not_the_current_folder(refuses, arguments):
    assert words("empty_path") in refuses(*arguments)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes as files")
@pytest.mark.parametrize("command", [("topics",), ("clusters",), ("assign", "x.mt"), ("assign",)])
def test_special_files(refuses, tmp_path, command):
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    os.mkfifo(tmp_path / "pipe.csv")
    more = ("t.csv",) if command == ("assign",) else ()
    for path in (loop, tmp_path / "pipe.csv"):
        refuses(*command, path, *more)


def test_missing_column_lists_those_there_are(refuses, lasting_table):
    line = refuses("topics", lasting_table, "--label-column", "sort")
    for word in ("sort", "key", "body", "theme"):
        assert word in line


@pytest.mark.parametrize(
    "options",
    [
        ["--separator", ";", "--text-column", "body"],
        ["--encoding", "utf-99"],
        ["--language", "xx"],
        ["--min-df", "100000"],
        ["--token-pattern", "("],
        ["--stop-words", "none.txt"],
    ],
)
def test_options_that_do_not_fit_the_input(refuses, lasting_table, options):
    assert options[1] in refuses("topics", lasting_table, *options)


def test_bad_counts(refuses, tmp_path):
    sp.save_npz(tmp_path / "X.npz", sp.csr_matrix(np.array([[1.0, np.nan], [2, 1]])))
    (tmp_path / "vocab.txt").write_text("one\ntwo\n")
    refuses("topics", tmp_path / "X.npz")
    refuses("topics", tmp_path / "X.npz", "--vocabulary", tmp_path / "none.txt")


def test_file_vanishing_while_read(refuses, table, monkeypatch):
    from pathlib import Path

    import pandas as pd

    def vanish(*_, **__):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(table))

    monkeypatch.setattr(pd, "read_csv", vanish)
    monkeypatch.setattr(Path, "open", vanish)
    monkeypatch.setattr("builtins.open", vanish)
    assert "documents.csv" in refuses("topics", table)


@pytest.mark.parametrize(
    "options",
    [
        ["-k", "0"],
        ["-k", "many"],
        ["-k", "-3"],
        ["--max-depth", "0"],
        ["--refine", "sideways"],
        ["--model", "nmf"],
        ["--log-scaling", "sqrt"],
        ["--search", "all"],
        ["--min-samples-leaf", "0"],
        ["--min-df", "few"],
        ["--max-df", "1.5"],
        ["--max-df", "-1"],
        ["--max-features", "0"],
        ["--no-such-option"],
    ],
)
def test_bad_option_is_refused_before_the_work(refuses, tmp_path, options):
    line = refuses("topics", tmp_path / "not-read.csv", *options)
    assert options[0].replace("-k", "--groups") in line
    assert line.endswith("; see momentree topics --help\n")
    assert "not-read.csv" not in line


@pytest.mark.parametrize(
    ("arguments", "named", "help_of"),
    [
        (["topics"], "INPUT", "momentree topics"),
        (["assign", "m.mt"], "NEW_INPUT", "momentree assign"),
        (["assign", "m.mt", "x.csv", "--flat"], "--flat", "momentree assign"),
        (["demo", "-k", "3"], "-k", "momentree demo"),
        (["-k"], "-k", "momentree"),
        (["grow"], "'grow'", "momentree"),
    ],
)
def test_what_is_missing_or_unknown_is_named(refuses, arguments, named, help_of):
    line = refuses(*arguments)
    assert named in line
    assert line.endswith(f"; see {help_of} --help\n")


def test_without_arguments_there_is_help(run):
    assert "Usage:" in run().output


def test_bad_output_is_refused_before_the_work(refuses, tmp_path):
    line = refuses("topics", tmp_path / "not-read.csv", "--output", tmp_path / "no" / "r.html")
    assert line.code == "cannot_write"
    assert "not-read.csv" not in line


@pytest.mark.parametrize(
    ("option", "name"),
    [("--output", "r.txt"), ("--csv", "a.html"), ("--json", "t.csv"), ("--save", "m.json")],
)
def test_wrong_suffix(refuses, tmp_path, option, name):
    assert refuses("topics", "x.csv", option, tmp_path / name).code == "cannot_write"


def test_output_over_the_input(refuses, table):
    before = table.read_bytes()
    assert words("same_as_input", path=table) in refuses("topics", table, "--csv", table)
    assert table.read_bytes() == before


@pytest.mark.parametrize("command", [["topics"], ["topics", "--flat"], ["clusters"]])
def test_full_disk_leaves_nothing(
    refuses, lasting_table, records_table, tmp_path, monkeypatch, command
):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    old = tmp_path / "a.csv"
    old.write_text("old")
    table = records_table if command == ["clusters"] else lasting_table
    outputs = ["--csv", old, "--output", tmp_path / "r.html", "--save", tmp_path / "m.mt"]
    line = refuses(*command, table, "--quiet", *outputs)
    assert line.code == "cannot_write"
    assert os.strerror(errno.ENOSPC) in line
    assert old.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.csv"]


def test_too_few_documents(run, tmp_path, documents):
    """Too little to split is an answer, not an error."""
    path = write_csv(tmp_path / "t.csv", documents[:3])
    result = run("topics", path, "--min-df", "1", "--max-df", "1.0")
    assert result.exit_code == 0, result.output
    assert "1 leaf" in result.stdout
    assert words("not_split", reason="") in result.stdout


@pytest.mark.parametrize("option", ["--kind", "--fits", "--separator", "--groups"])
def test_long_values_are_repeated_in_part(refuses, tmp_path, option):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{i},{i * i}\n" for i in range(60)))
    assert len(refuses("clusters", path, option, "x" * 3000)) < 800


def csv_of(path, names, rows):
    lines = [",".join(names), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_the_wrong_command_names_the_right_one(run, refuses, tmp_path):
    pages = ["home", "cart", "help"]
    clicks = csv_of(
        tmp_path / "clicks.csv",
        ["user", "time", "page"],
        [(f"u{i % 30}", i * 7 % 1000, pages[i % 3]) for i in range(300)],
    )
    assert refuses("clusters", clicks).code == "steps_of_sequences"
    assert "momentree sequences" in run("clusters", clicks).stderr
    flowers = csv_of(
        tmp_path / "flowers.csv",
        ["length", "width", "class"],
        [(i % 9 + 0.5, i % 7 + 0.5, ["setosa", "virginica"][i % 2]) for i in range(100)],
    )
    assert refuses("topics", flowers).code == "not_documents"
    assert "momentree clusters" in run("topics", flowers).stderr
    lines = ((i // 3, i, f"G{i % 7}70") for i in range(90))
    codes = csv_of(tmp_path / "codes.csv", ["patient", "visit", "code"], lines)
    numbers = csv_of(tmp_path / "numbers.csv", ["a", "b"], [(i / 7, i / 9) for i in range(60)])
    for path in (codes, numbers):
        assert refuses("topics", path).code == "not_documents"
        assert f"momentree clusters {path}" in run("topics", path).stderr.replace("\n", " ")
    given = run("topics", flowers, "--text-column", "class", "--min-df", 1, "--max-df", "1.0")
    assert "momentree clusters" not in given.stderr
    wide = csv_of(
        tmp_path / "wide.csv", ["id", "DX1", "DX2"], [(i, "I10", "E11") for i in range(9)]
    )
    assert "momentree clusters" in run("sequences", wide).stderr


@pytest.mark.parametrize(
    "texts",
    [
        [f"{word} team" for word in ("good", "bad", "my", "our", "no", "fair")] * 3,
        [f"answer {chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(200)],
        ["a long answer with many words in it", "another long answer of some words"] * 50,
    ],
)
def test_short_and_repeated_texts_are_texts(tmp_path, texts):
    table = csv_of(tmp_path / "t.csv", ["nr", "answer"], enumerate(texts))
    assert read_documents(table).texts == texts
