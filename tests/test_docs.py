"""The README and the docs are correct: links, options, defaults and examples."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
import typer.main

from momentree import datasets
from momentree.cli import app
from momentree.datasets import Documents
from momentree.tree.naming import CODE_LAMBDA

from .conftest import REPOSITORY

PAGES = [*sorted(REPOSITORY.glob("*.md")), *sorted((REPOSITORY / "docs").rglob("*.md"))]


def options_of_the_command() -> set[str]:
    """Return every option of every command, such as "--leaves"."""
    commands = typer.main.get_command(app).commands.values()
    names = {"--help", "--version"}
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
    others = {"--strict"}  # of tools that the pages name
    assert named - others <= options_of_the_command()


def test_every_option_is_explained():
    pages = "".join(
        (REPOSITORY / "docs" / f"{name}.md").read_text() for name in ("command", "inputs")
    )
    short_or_common = {"-h", "-k", "-o", "-q", "-v", "--help", "--version", "--refine"}
    missing = options_of_the_command() - short_or_common
    assert sorted(option for option in missing if option not in pages) == []


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
    assert {"--leaves", "--components", "--groups", "--min-cell", "--min-records"} <= checked


def test_relevance_of_the_pages_is_that_of_the_code():
    command = (REPOSITORY / "docs" / "command.md").read_text(encoding="utf-8")
    (value,) = re.findall(r"most relevant.{0,40}?\(λ = ([\d.]+),", command)
    assert float(value) == CODE_LAMBDA
    report = (REPOSITORY / "docs" / "report.md").read_text(encoding="utf-8")
    (start,) = re.findall(r"For the codes of records, the slider starts at (\d\.\d)", report)
    assert float(start) == CODE_LAMBDA


@pytest.fixture
def small_corpus(docstrings, monkeypatch):
    """Let the pages load a sixteenth of the built-in corpus."""
    parts = (part[::16] for part in (docstrings.texts, docstrings.ids, docstrings.labels))
    small = Documents(*parts, name=docstrings.name)
    monkeypatch.setattr(datasets, "load_docstrings", lambda: small)


@pytest.mark.usefixtures("small_corpus")
@pytest.mark.parametrize(
    ("page", "made"),
    [
        ("models", "found"),
        ("inputs", "named"),
        ("online", "same"),
        ("sequences", "page"),
        ("sites", "tree"),
    ],
)
def test_python_of_the_pages_runs(page, made):
    text = (REPOSITORY / "docs" / f"{page}.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(block, f"{page}.md", "exec"), names)
    assert {"model", made} <= set(names)


@pytest.mark.usefixtures("small_corpus")
def test_python_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}  # blocks share their variables
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert (Path(tmp_path) / "report.html").stat().st_size > 100_000
    assert len(capsys.readouterr().out.splitlines()) == 8


@pytest.mark.usefixtures("small_corpus")
def test_python_of_the_embeddings_page_runs(tmp_path, monkeypatch):
    text = (REPOSITORY / "docs" / "embeddings.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        if not re.search("sentence_transformers|bertopic|toponymy", block):
            exec(compile(block, "embeddings.md", "exec"), names)
    assert {"tree", "groups"} <= set(names)


def test_python_of_the_measurements_page_runs(tmp_path, monkeypatch):
    text = (REPOSITORY / "docs" / "measurements.md").read_text(encoding="utf-8")
    header, *_ = re.search(r"^    (id,.*)$", text, re.MULTILINE).groups()
    wards = ["renal", "cardiac"]
    drawn = np.random.default_rng(0).normal([60, 12, 2], [9, 1, 0.3], (200, 3))
    drawn[::2] += [15, -3, 1]
    rows = [
        f"p{i},{age:.2f},{hb:.3f} g/dl,{creatinine:.3f},{['yes', 'no'][i % 2]},{wards[i % 2]},no"
        for i, (age, hb, creatinine) in enumerate(drawn)
    ]
    (tmp_path / "patients.csv").write_text("\n".join([header, *rows]) + "\n")
    monkeypatch.chdir(tmp_path)
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(block, "measurements.md", "exec"), {"__name__": "page"})
    assert "What sets this group apart" in (tmp_path / "patients.html").read_text()


@pytest.mark.usefixtures("small_corpus")
def test_the_tutorial_prints_what_it_says_and_draws_its_pictures(tmp_path, capsys):
    script = REPOSITORY / "docs" / "tutorial_pictures.py"
    tutorial = runpy.run_path(str(script))
    names, failures = tutorial["run"]()
    assert failures == 0, capsys.readouterr().out
    tutorial["draw"](names, tmp_path)
    text = (REPOSITORY / "docs" / "tutorial.md").read_text(encoding="utf-8")
    pictures = {file.name for file in tmp_path.iterdir()}
    assert pictures == set(re.findall(r"\(images/(.*?)\)", text))


def test_make_targets_of_the_pages_exist():
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert set(re.findall(r"(?:^|`)make ([a-z]+)", text, re.MULTILINE)) <= targets
