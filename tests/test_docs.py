"""The README and the docs are correct: links, options, defaults and examples."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
import typer.main

from momentree.cli import app
from momentree.estimators.names import CODE_LAMBDA

from . import screens
from .conftest import REPOSITORY
from .stand_ins import with_small_corpus

HINT = "the program prints something else; see python -m tests.screens --update"

PAGES = [*sorted(REPOSITORY.glob("*.md")), *sorted((REPOSITORY / "docs").rglob("*.md"))]


def options_of_the_command() -> set[str]:
    """Return every option of every command, such as "--groups"."""
    commands = typer.main.get_command(app).commands.values()
    names = {"--help", "--help-all", "--version"}
    for command in commands:
        for parameter in command.params:
            names |= {*parameter.opts, *parameter.secondary_opts}
    return {name for name in names if name.startswith("-")}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_have_a_target(page):
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    broken = [
        link for link in links if "://" not in link and not (page.parent / link).resolve().exists()
    ]
    assert broken == []


def anchors_of(page: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", h.strip().lower()).replace(" ", "-") for h in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_anchors_are_headings(page):
    links = re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text(encoding="utf-8"))
    targets = [(page.parent / file if file else page, anchor) for file, anchor in links]
    assert [anchor for file, anchor in targets if anchor not in anchors_of(file)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_options_exist(page):
    text = page.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if "momentree " in line or "`--" in line]
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", "\n".join(lines)))
    others = {"--strict", "--update"}  # of tools that the pages name
    assert named - others <= options_of_the_command()


def test_every_option_is_explained():
    pages = "".join(
        (REPOSITORY / "docs" / f"{name}.md").read_text() for name in ("command", "inputs")
    )
    short_or_common = {"-h", "-k", "-o", "-q", "-v", "--help", "--version", "--refine"}
    missing = options_of_the_command() - short_or_common
    assert sorted(option for option in missing if option not in pages) == []


def test_every_command_has_examples_with_its_options():
    for name, command in typer.main.get_command(app).commands.items():
        lines = re.findall(r"^  (momentree .*?)(?:\\n)?$", command.epilog or "", re.MULTILINE)
        assert any(line.startswith(f"momentree {name}") for line in lines), name
        named = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", "\n".join(lines)))
        assert named <= options_of_the_command()


def test_defaults_of_options_are_those_of_the_command():
    text = (REPOSITORY / "docs" / "command.md").read_text(encoding="utf-8")
    commands = typer.main.get_command(app).commands
    checked = set()
    for name in ("topics", "clusters"):
        section = text.split(f"\n## {name}\n")[1].split("\n## ")[0]
        for option, documented in re.findall(
            r"^\| `(--[a-z-]+).*?\b(?<!-)(\d+) by default", section, re.MULTILINE
        ):
            (parameter,) = (one for one in commands[name].params if option in one.opts)
            shown = parameter.show_default if isinstance(parameter.show_default, str) else ""
            default = shown.split(",")[0] or parameter.default
            assert str(default) == documented, f"{name} {option}: {default!r}"
            checked.add(option)
    assert {"--groups", "--min-cell", "--min-records"} <= checked


def test_relevance_of_the_pages_is_that_of_the_code():
    command = (REPOSITORY / "docs" / "command.md").read_text(encoding="utf-8")
    (value,) = re.findall(r"most relevant.{0,40}?\(λ = ([\d.]+),", command)
    assert float(value) == CODE_LAMBDA
    report = (REPOSITORY / "docs" / "report.md").read_text(encoding="utf-8")
    (start,) = re.findall(r"For the codes of records, the slider starts at (\d\.\d)", report)
    assert float(start) == CODE_LAMBDA


LONG = {
    *("README", "cluster", "command", "embeddings", "how_many", "inputs", "large", "models"),
    "records",
}


@pytest.mark.usefixtures("docstrings")
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.long if page.stem in LONG else ())
        for page in screens.pages()
    ],
    ids=lambda p: p.name,
)
def test_blocks_of_the_pages_run_and_print_what_is_written(page, tmp_path):
    """With files of the names that the pages use, and made-up content."""
    written = page.read_text(encoding="utf-8")
    assert screens.renewed(page, tmp_path, all_blocks=True) == written, HINT
    pages_written = [file for file in tmp_path.glob("*.html") if file.stat().st_size < 50_000]
    assert pages_written == []


@pytest.mark.parametrize(
    "page",
    [page for page in screens.pages() if screens.is_outside(page.read_text(encoding="utf-8"))],
    ids=lambda p: p.name,
)
def test_blocks_on_data_outside_print_what_is_written(page, tmp_path, shared_data):
    written = page.read_text(encoding="utf-8")
    assert screens.renewed(page, tmp_path, shared_data, all_blocks=False) == written, HINT


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_every_command_and_example_is_in_a_block_that_runs(page):
    text = page.read_text(encoding="utf-8")
    kinds = set(re.findall(r"^```(\w*)$", text, re.MULTILINE))
    assert kinds <= {"", "console", "python", "pycon"}
    assert ("pycon" in kinds) == (page.name == "tutorial.md")  # which has a test of its own
    rest = screens.BLOCK.sub("", text)
    loose = re.findall(r"^    (?:momentree|\$|>>>|from|import) .*$", rest, re.MULTILINE)
    assert [line for line in loose if "[" not in line] == []  # that is a synopsis


def test_screens_are_compared_and_renewed(tmp_path):
    page = tmp_path / "page.md"
    block = "```console\n$ cat one.txt\n{}\n...\nlast, {} s\n$ cat \\\n  two.txt\n```\n"
    page.write_text(block.format("wrong", "0.1"))
    (tmp_path / "one.txt").write_text("first\nsecond\nlast, 2.5 s\n")
    (tmp_path / "two.txt").write_text("not shown\n")
    text = screens.renewed(page, tmp_path, all_blocks=True)
    assert text == block.format("first", "2.5")
    page.write_text(block.format("first", "0.1"))  # only the time differs
    assert screens.renewed(page, tmp_path, all_blocks=True) == page.read_text()


def test_python_of_the_pages_is_checked(tmp_path):
    page = tmp_path / "page.md"
    for code in ("print(1)  # 2", "unknown", "import not_a_package"):
        page.write_text(f"```python\n{code}\n```\n")
        with pytest.raises((AssertionError, NameError)):
            screens.renewed(page, tmp_path, all_blocks=True)
    page.write_text("```python\nimport not_a_package  # requires it\n```\n")
    screens.renewed(page, tmp_path, all_blocks=True)


@pytest.mark.long
def test_the_tutorial_prints_what_it_says_and_draws_its_pictures(docstrings, tmp_path, capsys):
    script = REPOSITORY / "docs" / "tutorial_pictures.py"
    tutorial = runpy.run_path(str(script))
    with with_small_corpus():
        names, failures = tutorial["run"]()
    assert failures == 0, capsys.readouterr().out
    tutorial["draw"](names, tmp_path)
    text = (REPOSITORY / "docs" / "tutorial.md").read_text(encoding="utf-8")
    pictures = {file.name for file in tmp_path.iterdir()}
    assert pictures == set(re.findall(r"\(images/(.*?)\)", text))


def test_make_targets_of_the_pages_exist():
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE)) <= targets
