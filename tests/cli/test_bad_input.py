"""Bad input: status 2, one clear line, no traceback, nothing written."""

from __future__ import annotations

import errno
import gzip
import os

import numpy as np
import pytest
import scipy.sparse as sp

from .conftest import write_csv


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("none.csv", None, "none.csv"),
        ("empty.csv", b"", "empty"),
        ("latin.csv", "text\ncaffè\n".encode("latin-1"), "encoding"),
        ("binary.csv", bytes(range(256)) * 20, "binary.csv"),
        ("bad.jsonl", b'{"text": "a b"}\n{"text": \n', "line 2"),
        (
            "cut.jsonl.gz",
            gzip.compress(b'{"text": "some words"}\n' * 500, mtime=0)[:40],
            "cut.jsonl.gz",
        ),
        ("no-text.jsonl", b'{"number": 1}\n', "column"),
        ("broken.parquet", b"PAR1 not really", "broken.parquet"),
        ("broken.npz", b"PK not really", "broken.npz"),
        ("strange.xyz", b"??", "strange.xyz"),
    ],
)
def test_unreadable_file(refuses, tmp_path, name, content, words):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    assert words in refuses("topics", path)


@pytest.mark.parametrize(
    "arguments",
    [
        ("topics", ""),
        ("clusters", ""),
        ("assign", "", "t.csv"),
        ("assign", "m.mt", ""),
        ("topics", "t.csv", "--vocabulary", ""),
        ("topics", "t.csv", "--stop-words", ""),
        ("clusters", "t.csv", "--names", ""),
        ("assign", "m.mt", "t.csv", "--vocabulary", ""),
    ],
)
def test_an_empty_path_is_not_the_current_folder(refuses, arguments):
    assert "the path is empty" in refuses(*arguments)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes as files")
@pytest.mark.parametrize("command", [("topics",), ("clusters",), ("assign", "x.mt"), ("assign",)])
def test_special_files(refuses, tmp_path, command):
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    os.mkfifo(tmp_path / "pipe.csv")
    more = ("t.csv",) if command == ("assign",) else ()
    for path in (loop, tmp_path / "pipe.csv"):
        assert "cannot read" in refuses(*command, path, *more)


def test_empty_folder(refuses, tmp_path):
    assert "text file" in refuses("topics", tmp_path)


def test_missing_column_lists_those_there_are(refuses, lasting_table):
    line = refuses("topics", lasting_table, "--label-column", "sort")
    for word in ("sort", "key", "body", "theme"):
        assert word in line


def test_wrong_separator(refuses, lasting_table):
    line = refuses("topics", lasting_table, "--separator", ";", "--text-column", "body")
    assert "separator" in line


def test_unknown_encoding(refuses, lasting_table):
    assert "utf-99" in refuses("topics", lasting_table, "--encoding", "utf-99")


def test_unknown_language_lists_the_known(refuses, lasting_table):
    line = refuses("topics", lasting_table, "--language", "xx")
    assert "xx" in line
    assert "it" in line


def test_nothing_left_after_filtering(refuses, lasting_table):
    line = refuses("topics", lasting_table, "--min-df", "100000")
    assert "min_df" in line.replace("-", "_")


def test_only_stop_words(refuses, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("text\n" + "the and of\n" * 30)
    refuses("topics", path)


def test_broken_token_pattern(refuses, lasting_table):
    assert "pattern" in refuses("topics", lasting_table, "--token-pattern", "(")


def test_missing_stop_words_file(refuses, lasting_table, tmp_path):
    assert "none.txt" in refuses("topics", lasting_table, "--stop-words", tmp_path / "none.txt")


@pytest.mark.parametrize(
    ("values", "words"), [([[1.0, -2.0], [3.0, 1.0]], "egative"), ([[1.0, np.nan], [2, 1]], "NaN")]
)
def test_bad_counts(refuses, tmp_path, values, words):
    sp.save_npz(tmp_path / "X.npz", sp.csr_matrix(np.array(values)))
    (tmp_path / "vocab.txt").write_text("one\ntwo\n")
    assert words in refuses("topics", tmp_path / "X.npz")


def test_vocabulary_of_the_wrong_length(refuses, tmp_path):
    sp.save_npz(tmp_path / "X.npz", sp.csr_matrix(np.ones((4, 2))))
    (tmp_path / "words.txt").write_text("one\ntwo\nthree\n")
    line = refuses("topics", tmp_path / "X.npz", "--vocabulary", tmp_path / "words.txt")
    assert "3" in line
    assert "2" in line


def test_bad_uci_line(refuses, tmp_path):
    (tmp_path / "docword.x.txt").write_text("2\n2\n2\n1 1 3\n2 two 1\n")
    (tmp_path / "vocab.x.txt").write_text("one\ntwo\n")
    assert "line 5" in refuses("topics", tmp_path / "docword.x.txt")


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
        ["--leaves", "0"],
        ["--leaves", "many"],
        ["--leaves", "-3"],
        ["--depth", "0"],
        ["--growth", "sideways"],
        ["--log-scaling", "sqrt"],
        ["--weighting", "none"],
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
    assert options[0] in line
    assert line.endswith("; see momentree topics --help\n")
    assert "not-read.csv" not in line


def test_options_that_exclude_each_other(refuses, lasting_table):
    assert "log_scaling" in refuses("topics", lasting_table, "--weighting", "three_words")


@pytest.mark.parametrize(
    ("arguments", "words", "help_of"),
    [
        (["topics"], "INPUT", "momentree topics"),
        (["assign", "m.mt"], "NEW_INPUT", "momentree assign"),
        (["assign", "m.mt", "x.csv", "--flat"], "--flat", "momentree assign"),
        (["demo", "--leaves", "3"], "--leaves", "momentree demo"),
        (["--leaves"], "--leaves", "momentree"),
        (["grow"], "'grow'", "momentree"),
    ],
)
def test_what_is_missing_or_unknown_is_named(refuses, arguments, words, help_of):
    line = refuses(*arguments)
    assert words in line
    assert line.endswith(f"; see {help_of} --help\n")


def test_without_arguments_there_is_help(run):
    assert "Usage:" in run().output


def test_bad_output_is_refused_before_the_work(refuses, tmp_path):
    line = refuses("topics", tmp_path / "not-read.csv", "--output", tmp_path / "no" / "r.html")
    assert "there is no folder" in line
    assert "not-read.csv" not in line


@pytest.mark.parametrize(
    ("option", "name"),
    [("--output", "r.txt"), ("--csv", "a.html"), ("--json", "t.csv"), ("--model", "m.json")],
)
def test_wrong_suffix(refuses, tmp_path, option, name):
    assert "must end in" in refuses("topics", tmp_path / "x.csv", option, tmp_path / name)


def test_output_over_the_input(refuses, table):
    before = table.read_bytes()
    assert "also the input" in refuses("topics", table, "--csv", table)
    assert table.read_bytes() == before


def test_full_disk_leaves_nothing(refuses, table, tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("momentree.cli._output.os.fsync", full)
    old = tmp_path / "a.csv"
    old.write_text("old")
    line = refuses("topics", table, "--csv", old, "--output", tmp_path / "r.html")
    assert "No space left on device" in line
    assert old.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["a.csv", table.name]


def test_too_few_documents(run, tmp_path, documents):
    """Too little to split is an answer, not an error."""
    path = write_csv(tmp_path / "t.csv", documents[:3])
    result = run("topics", path, "--min-df", "1", "--max-df", "1.0")
    assert result.exit_code == 0, result.output
    assert "1 leaf" in result.stdout
    assert "Not split: " in result.stdout
