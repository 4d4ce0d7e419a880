"""The help of the command: the usual options, or all."""

from __future__ import annotations

import re

import pytest
import typer

from momentree.cli import app
from momentree.cli.guard import USUAL

COMMANDS = typer.main.get_command(app).commands


def shown(run, *arguments):
    """Return the options that a help lists, and the help."""
    result = run(*arguments)
    assert result.exit_code == 0
    found = re.findall(r"^│ [* ]{0,6}(--[a-z0-9-]+)", result.stdout, re.MULTILINE)
    return {*found} - {"--help", "--help-all"}, result.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_usual_options_are_shown_and_all_on_request(run, command):
    options = {
        one.name: one.opts[0] for one in COMMANDS[command].params if one.opts[0].startswith("--")
    }
    usual, text = shown(run, command, "--help")
    if command not in USUAL:
        assert usual == set(options.values())
        assert "--help-all" not in text
        return
    assert usual == {options[n] for n in USUAL[command]}
    every, whole = shown(run, command, "--help-all")
    assert every == set(options.values())
    assert f"--help-all shows all {len(every)}" in text
    assert "--help-all" not in whole.split("Arguments")[0]


@pytest.mark.parametrize(
    ("mistyped", "hint"),
    [
        (("topics", "letters", "--ouput", "page.html"), " --ouput (did you mean --output?);"),
        (("clusters", "visits.csv", "--colum", "DX"), " --colum (did you mean --id-column?);"),
        (("clusters", "visits.csv", "--xyzzy"), " --xyzzy;"),
        (("topic", "letters"), " 'topic' (did you mean 'topics'?);"),
    ],
)
def test_a_mistyped_option_or_command_is_told_which_one_was_meant(refuses, mistyped, hint):
    assert hint in refuses(*mistyped)
