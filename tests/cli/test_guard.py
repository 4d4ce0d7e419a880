"""How a command ends: statuses and the one line on stderr."""

from __future__ import annotations

import errno
import os
import warnings

import pytest
import typer

from momentree.cli._guard import guarded, in_options
from momentree.cli._screen import one_line
from momentree.exceptions import ConvergenceWarning, ReadError


def test_one_line():
    assert (
        one_line("M2 has rank 3.\n  Lower n_components.\n") == "M2 has rank 3. Lower n_components."
    )


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (ReadError("no file x.\nGive one"), 2, "momentree: error: no file x. Give one\n"),
        (
            FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "x.csv"),
            2,
            "momentree: error: No such file or directory: x.csv\n",
        ),
        (OSError("odd"), 2, "momentree: error: odd\n"),
        (KeyboardInterrupt(), 130, "momentree: interrupted\n"),
        (BrokenPipeError(), 141, ""),
    ],
)
def test_statuses(error, status, line, capfd):
    with pytest.raises(typer.Exit) as caught, guarded():
        raise error
    assert caught.value.exit_code == status
    assert capfd.readouterr().err == line


def test_lack_of_memory_says_what_to_do(capsys):
    with pytest.raises(typer.Exit), guarded():
        raise MemoryError
    assert "--max-features" in capsys.readouterr().err


def test_a_fault_of_the_program_is_not_hidden():
    with pytest.raises(ZeroDivisionError), guarded():
        raise ZeroDivisionError


def test_warnings_are_one_line(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with guarded():
            warnings.warn("EM ended\nearly", ConvergenceWarning, stacklevel=1)
            warnings.warn("for programmers", DeprecationWarning, stacklevel=1)
    assert capsys.readouterr().err == "momentree: warning: EM ended early\n"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Try encoding='latin-1'", "Try --encoding latin-1"),
        ("Name the one to read with text_column", "Name the one to read with --text-column"),
        ("expected log_scaling=None with it", "expected --log-scaling none with it"),
        ("min_df=2 allows; lower min_df", "--min-df 2 allows; lower --min-df"),
        ("max_leaf_nodes = 3 reached", "--leaves = 3 reached"),
        ("its columns are 'text_column'", "its columns are 'text_column'"),
        ("cannot read data/min_df.csv", "cannot read data/min_df.csv"),
        ("the encoding of the file", "the encoding of the file"),
        ("name them with code_columns, or", "name them with --code-column, or"),
        (
            "lower min_records, pass drop_constant=False",
            "lower --min-records, pass --keep-constant",
        ),
        ("pass rollup='icd9'", "pass --rollup icd9"),
        ("it is an outcome of names", "it is an outcome of names"),
    ],
)
def test_messages_name_options(message, expected):
    assert in_options(message) == expected


def test_a_command_may_spell_a_parameter_otherwise(capsys):
    spelling = {"max_leaf_nodes": "groups"}
    assert in_options("max_leaf_nodes=3, min_df", spelling) == "--groups 3, --min-df"
    with pytest.raises(typer.Exit), guarded(spelling):
        raise ReadError("max_leaf_nodes=3")
    assert capsys.readouterr().err == "momentree: error: --groups 3\n"


def test_lack_of_memory_is_for_each_command(capsys):
    with pytest.raises(typer.Exit), guarded(less="raise --min-records"):
        raise MemoryError
    assert "not enough memory; raise --min-records, or give less data" in capsys.readouterr().err
