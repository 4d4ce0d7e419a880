"""docs/theory.md misses no statement of the papers, and all that it names exists."""

from __future__ import annotations

import ast
import functools
import importlib
import re

import pytest

import momentree

from .conftest import REPOSITORY

STATEMENTS = {
    "S": ["Theorem 1", "Theorem 2", "Theorem 3", "Theorem 4", "Algorithm 1", "Lemma 1"],
    "H": [
        *(f"Theorem 3.{i}" for i in (1, 2, 3)),
        *("Algorithm 1", "Algorithm 2", "Lemma 3.1", "Lemma A.1"),
    ],
    "T": [
        *("Theorem 1.2.1", "Theorem 1.2.2", "Proposition 1.2.1"),
        *("Theorem 2.1.1", "Theorem 2.2.1", "Theorem 2.2.2", "Theorem 2.2.3"),
        *("Lemma 2.2.1", "Corollary 2.2.1"),
        *("Theorem 3.2.1", "Theorem 3.2.2", "Theorem 3.3.1", "Lemma 3.2.1"),
        *("Theorem 4.3.1", "Lemma 5.2.1", "Lemma 5.3.1"),
        *("Theorem 5.3.1", "Theorem 5.3.2", "Theorem 5.3.3"),
        *("Theorem 6.2.1", "Lemma 6.2.1", "Lemma 6.2.2"),
        *(f"Algorithm {i}" for i in range(1, 6)),
    ],
    "L": ["Hsu and Kakade 2013", "Anandkumar et al. 2014", "Jennrich's algorithm"],
}
NOT_IN_TEXT = {"S": {"Algorithm 1"}}  # a figure
PROOF_ONLY = {"S Lemma 1", "T Lemma 3.2.1"}


def find(name: str) -> object:
    """The object of a dotted name below the package."""
    try:
        return functools.reduce(getattr, name.split("."), momentree)
    except AttributeError:  # not exported, or a function of the name of its module
        module, _, last = name.rpartition(".")
        return getattr(importlib.import_module(f"momentree.{module}"), last)


def cells() -> list[list[str]]:
    """The cells of each row of the tables; function and test are the last two."""
    text = (REPOSITORY / "docs" / "theory.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if re.match(r"\| (?!statement )", line)]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def statements() -> list[list[str]]:
    """The numbered statements of each row that has some."""
    return [row[0].split(", ") for row in cells() if re.match("[SHTL] ", row[0])]


def test_no_statement_is_missing_or_made_up():
    listed = [statement for row in statements() for statement in row]
    expected = [f"{paper} {name}" for paper, names in STATEMENTS.items() for name in names]
    assert sorted(listed) == sorted(expected)


@pytest.mark.parametrize(
    ("paper", "file"),
    [
        ("S", "svtd-new-method-of-moments"),
        ("H", "hierarchical-methods-of-moments"),
        ("H", "hierarchical-methods-of-moments-preprint"),
        ("T", "thesis-methods-of-moments"),
    ],
)
def test_the_statements_are_the_headings_of_the_papers(paper, file, shared_data):
    text = (shared_data.parent / "papers" / f"{file}.txt").read_text(encoding="utf-8")
    kinds = "Theorem|Proposition|Lemma|Corollary|Algorithm"
    number = r"(?:\d+\.\d+\.\d+(?=\.| \()|\d(?= [A-Z]))" if paper == "T" else r"[A\d.]*\d"
    headings = re.findall(rf"^({kinds})\s({number})(?=\.? |$|\.$)", text, re.MULTILINE)
    found = {" ".join(heading) for heading in headings} | NOT_IN_TEXT.get(paper, set())
    assert found == set(STATEMENTS[paper])


def test_the_statements_of_the_lecture_are_its_theorems_and_its_algorithm(shared_data):
    path = shared_data.parent / "papers" / "lecture-method-of-moments-and-tensors.txt"
    text = path.read_text(encoding="utf-8")
    theorems = re.findall(r"^Theorem \((.*?),[^,]*, (\d{4})\.?\)", text, re.MULTILINE)
    found = {f"{names.replace('D. ', '')} {year}" for names, year in theorems}
    found |= set(re.findall(r"^.*'s algorithm(?=\.? \[)", text, re.MULTILINE))
    assert found == set(STATEMENTS["L"])


def test_functions_and_tests_exist():
    for statement, *_, function, test in cells():
        if set(statement.split(", ")) <= PROOF_ONLY:
            assert (function, test) == ("proof only", "")
            continue
        if function:
            assert callable(find(function.strip("`")))
        file, _, name = test.strip("`").partition("::")
        tree = ast.parse((REPOSITORY / file).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def papers() -> tuple[str, ...]:
    """The references to S, H and T on the page."""
    page = (REPOSITORY / "docs" / "theory.md").read_text(encoding="utf-8")
    found = tuple(re.findall(r"^- \*\*[SHT]\*\* — (.*)$", page, re.MULTILINE))
    assert len(found) == 3
    return found


def title(paper: str) -> str:
    """The title, which follows the authors."""
    return re.search(r"(?<=\w\w\. )[A-Z][^.]*", paper).group()


def test_docstrings_and_pages_spell_the_papers_as_the_page_does():
    """One spelling, title, year and DOI for each reference."""
    wrong = []
    sources = [*(REPOSITORY / "src").rglob("*.py"), *REPOSITORY.glob("*.md")]
    for path in sorted([*sources, *(REPOSITORY / "docs").glob("*.md")]):
        text = re.sub(r"\s+", " ", path.read_text(encoding="utf-8"))
        for paper in papers():
            cited = re.findall(re.escape(title(paper)), text, re.IGNORECASE)
            if len(cited) != text.count(paper):
                wrong.append(f"{path.name}: {title(paper)}")
    assert wrong == []


def test_the_citation_file_spells_the_papers_as_the_page_does():
    text = (REPOSITORY / "CITATION.cff").read_text(encoding="utf-8")
    entries = text.partition("references:")[2].split("  - type: ")[1:]
    for paper in papers():
        (entry,) = [one for one in entries if title(paper) in one]
        names = re.findall(r"given-names: (\w)\w+, family-names: (\w+)", entry)
        assert paper.startswith(", ".join(". ".join(name) for name in names) + ". ")
        assert re.search(r"\d{4}(?=\.)", paper).group() in entry
        assert all(doi in entry for doi in re.findall(r"doi:(\S+)", paper))
    assert len(entries) == 3
