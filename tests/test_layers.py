"""The way of the data: every room imports only leaves and rooms to its left."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "momentree"
ROOMS = (
    "readers",
    "datasets",
    "preprocessing",
    "moments",
    "whitening",
    "decomposition",
    "parameters",
    "inference",
    "refinement",
    "assignment",
    "tree",
    "models",
    "report",
    "cli",
)
LEAVES = (
    "objects",
    "backends",
    "metrics",
    "testing",
    "exceptions",
    "messages",
    "_arrays",
    "_container",
    "_files",
    "_fit",
    "_limits",
    "_logging",
    "_sparse",
    "_validation",
    "_version",
)
# Imports against the flow, each with its reason: (file, room). Trees and flat models offer their
# own report, and load the room for it only when they are asked to.
EXCEPTIONS = {("tree/page.py", "report")}
MAX_LINES = 500

FILES = sorted(PACKAGE.rglob("*.py"))


def room_of(path: Path) -> str:
    """The first part of a file's path in the package: its room, its leaf, or ``__init__``."""
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imported_parts(tree: ast.AST, path: Path) -> Iterator[tuple[str, int]]:
    """Yield (first part below momentree, line) of each import of the package, wherever it is."""
    package = ("momentree", *path.relative_to(PACKAGE).parts[:-1])
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            # `from momentree import x` may name a room, so the names count as well.
            whole = module == "momentree"
            names = [f"{module}.{alias.name}" for alias in node.names] if whole else [module]
        elif isinstance(node, ast.Call) and "import_module" in ast.unparse(node.func):
            names = [str(arg.value) for arg in node.args if isinstance(arg, ast.Constant)]
        else:
            continue
        for name in names:
            top, _, rest = name.partition(".")
            if top == "momentree" and rest:
                yield rest.partition(".")[0], node.lineno


def wrong_imports(path: Path, source: str) -> list[str]:
    """Describe each import in a file that goes against the flow."""
    own = room_of(path)
    wrong = []
    for part, line in imported_parts(ast.parse(source), path):
        if part == own or part in LEAVES or part == "__version__":
            continue
        allowed = own in ROOMS and part in ROOMS and ROOMS.index(part) < ROOMS.index(own)
        known = (path.relative_to(PACKAGE).as_posix(), part) in EXCEPTIONS
        if not (allowed or known):
            wrong.append(f"{path.relative_to(PACKAGE)}:{line} imports {part}")
    return wrong


def test_every_module_is_a_known_room_or_leaf():
    assert {room_of(path) for path in FILES} <= {*ROOMS, *LEAVES, "__init__", "__main__"}


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_imports_only_from_the_left(path):
    if room_of(path) in {"__init__", "__main__"}:
        pytest.skip("the front door names every room")
    assert wrong_imports(path, path.read_text(encoding="utf-8")) == []


def test_exceptions_are_late_imports():
    """An import against the flow is inside a function, so that it costs nothing at the start."""
    for file, room in EXCEPTIONS:
        path = PACKAGE / file
        if not path.exists():
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        top_level = ast.Module(
            [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))], []
        )
        assert room not in {part for part, _ in imported_parts(top_level, path)}


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("moments/x.py", "from momentree.tree import TopicTree"),
        ("moments/x.py", "def f():\n    import momentree.tree.node"),
        ("moments/x.py", "from momentree import TopicTree"),
        ("moments/x.py", "from momentree import report"),
        ("moments/x.py", "from ..tree import node"),
        ("objects/mixtures.py", "from momentree.moments import SingleTopicMoments"),
        ("backends/rows.py", "from momentree.whitening import whiten"),
        ("whitening.py", "from .report import summarize"),
        ("tree/x.py", "def f():\n    importlib.import_module('momentree.report')"),
    ],
)
def test_a_wrong_import_is_found(file, source):
    assert len(wrong_imports(PACKAGE / file, source)) == 1


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("tree/x.py", "from momentree.moments import SingleTopicMoments"),
        ("tree/x.py", "from .node import TreeNode"),
        ("tree/x.py", "from ..objects import Whitening"),
        ("tree/x.py", "import numpy as np"),
        ("report/x.py", "from momentree import __version__"),
    ],
)
def test_a_right_import_passes(file, source):
    assert wrong_imports(PACKAGE / file, source) == []


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_files_stay_short(path):
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MAX_LINES, f"{path.name} has {lines} lines; split it by idea"
