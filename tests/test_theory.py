"""docs/theory.md misses no statement of the papers, and all that it names exists."""

from __future__ import annotations

import ast
import functools
import importlib
import re

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
    "L": ["Hsu and Kakade 2013", "Anandkumar et al. 2014"],
}
NOT_BUILT = {"L Hsu and Kakade 2013"}
PROOF_ONLY = {"S Lemma 1", "T Lemma 3.2.1"}


def find(name: str) -> object:
    """The object of a dotted name below the package."""
    try:
        return functools.reduce(getattr, name.split("."), momentree)
    except AttributeError:  # not exported, or a function of the name of its module
        module, _, last = name.rpartition(".")
        return getattr(importlib.import_module(f"momentree.{module}"), last)


def rows() -> list[tuple[list[str], str, str]]:
    """(statements, function, test) of each row of the tables."""
    text = (REPOSITORY / "docs" / "theory.md").read_text(encoding="utf-8")
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if re.match(r"\| [SHTL] ", line)
    ]
    return [(cell[0].split(", "), cell[3], cell[4]) for cell in cells]


def test_no_statement_is_missing_or_made_up():
    listed = [statement for statements, _, _ in rows() for statement in statements]
    expected = [f"{paper} {name}" for paper, names in STATEMENTS.items() for name in names]
    assert sorted(listed) == sorted(expected)


def test_the_statements_are_those_of_the_papers(shared_data):
    """Every heading of a statement in the texts is in the list above."""
    papers = shared_data.parent / "papers"
    for paper, file in {
        "S": "svtd-new-method-of-moments.txt",
        "H": "hierarchical-methods-of-moments.txt",
        "T": "thesis-methods-of-moments.txt",
    }.items():
        text = (papers / file).read_text(encoding="utf-8")
        kinds = "Theorem|Proposition|Lemma|Corollary|Algorithm"
        number = r"(?:\d+\.\d+\.\d+(?=\.| \()|\d(?= [A-Z]))" if paper == "T" else r"[A\d.]*\d"
        headings = re.findall(rf"^({kinds})\s({number})(?=\.? |$|\.$)", text, re.MULTILINE)
        assert {" ".join(heading) for heading in headings} <= set(STATEMENTS[paper])
        assert len(headings) >= 5


def test_functions_and_tests_exist():
    for statements, function, test in rows():
        named = set(statements)
        if named <= NOT_BUILT:
            assert (function, test) == ("not built yet", "")
        elif named <= PROOF_ONLY:
            assert (function, test) == ("proof only", "")
        else:
            if function:
                assert callable(find(function.strip("`")))
            file, _, name = test.strip("`").partition("::")
            tree = ast.parse((REPOSITORY / file).read_text(encoding="utf-8"))
            assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_docstrings_spell_the_papers_as_the_page_does():
    """One spelling, title, year and DOI for each reference."""
    page = (REPOSITORY / "docs" / "theory.md").read_text(encoding="utf-8")
    papers = tuple(re.findall(r"^- \*\*[SHT]\*\* — (.*)$", page, re.MULTILINE))
    assert len(papers) == 3
    wrong = []
    for path in sorted((REPOSITORY / "src").rglob("*.py")):
        text = re.sub(r"\s+", " ", path.read_text(encoding="utf-8"))
        references = re.findall(
            r"\.\. \[\d+\] (M\. Ruffini.*?)(?= \.\. \[| [A-Z][a-z]+ ---|\"\"\")", text
        )
        wrong += [f"{path.name}: {one[:80]}" for one in references if not one.startswith(papers)]
    assert wrong == []
