"""Messages that name the options of a command, and the exit status of a command."""

from __future__ import annotations

import errno
import os
import warnings

import pytest

from momentree import readers
from momentree.exceptions import ConvergenceWarning, InvalidParameterError, MomentreeWarning
from tests.wording import templates


@pytest.fixture
def fails(run, lasting_table, records_table, monkeypatch):
    """Run a command whose reader raises an error; return status and standard error."""

    def invoke(error, command="topics"):
        def read(*args, **options):
            raise error

        monkeypatch.setattr(readers, "read_corpus", read)
        monkeypatch.setattr(readers, "read_records", read)
        result = run(command, lasting_table if command == "topics" else records_table)
        return result.exit_code, result.stderr

    return invoke


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
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
def test_statuses(fails, error, status, line):
    assert fails(error) == (status, line)


@pytest.mark.parametrize(
    ("command", "flags"),
    [("topics", ("--memory", "--max-features", "--min-df")), ("clusters", ("--min-records",))],
)
def test_lack_of_memory_is_reported_with_the_options_to_change(fails, command, flags):
    status, line = fails(MemoryError(), command)
    assert status == 2
    assert line.count("\n") == 1
    assert all(flag in line for flag in flags)


def test_a_bug_is_not_hidden(run, lasting_table, monkeypatch):
    monkeypatch.setattr(readers, "read_corpus", lambda *args, **options: 1 / 0)
    assert isinstance(run("topics", lasting_table).exception, ZeroDivisionError)


@pytest.mark.parametrize(
    ("command", "parameter", "value", "expected"),
    [
        ("topics", "max_leaf_nodes", 3, "--groups 3"),
        ("clusters", "max_leaf_nodes", 3, "--groups 3"),
        ("topics", "n_components", 3, "--groups 3"),
        ("clusters", "n_components", 3, "--groups 3"),
        ("topics", "max_df", 1.0, "--max-df 1.0"),
        ("topics", "log_scaling", None, "--log-scaling none"),
        ("topics", "refine", None, "--refine none"),
        ("topics", "refine", ["em"], "--refine ['em']"),
        ("topics", "lowercase", False, "--no-lowercase"),
        ("clusters", "drop_constant", False, "--no-drop-constant"),
        ("clusters", "code_columns", "DX*", "--code-column 'DX*'"),
        ("clusters", "rollup", "icd9", "--rollup icd9"),
        ("clusters", "log_scaling", None, "log_scaling=None"),
    ],
)
def test_parameters_are_options(fails, monkeypatch, command, parameter, value, expected):
    template = "[test] try {parameter:=value} or {parameter}\nnow"
    status, line = fails(InvalidParameterError(template, parameter=parameter, value=value), command)
    assert status == 2
    assert line.startswith(f"momentree: error: try {expected} or ")
    assert line.endswith(" now\n")


def test_warnings_are_one_line(run, lasting_table, monkeypatch):
    read = readers.read_corpus

    def warn(*args, **options):
        warnings.simplefilter("always")
        warnings.warn(ConvergenceWarning("EM ended\nearly"), stacklevel=1)
        known = {"parameter": "min_df", "value": 2, "choices": [1]}
        warnings.warn(MomentreeWarning(templates()["not_a_choice"], **known), stacklevel=1)
        warnings.warn("for programmers", DeprecationWarning, stacklevel=1)
        return read(*args, **options)

    monkeypatch.setattr(readers, "read_corpus", warn)
    lines = run("topics", lasting_table, "-k", 1).stderr.splitlines()
    first, second = (line for line in lines if "warning" in line)
    assert first == "momentree: warning: EM ended early"
    assert second.startswith("momentree: warning: --min-df 2")
