"""The layout: a room imports only leaves and rooms to its left, and no modules form a circle."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
PACKAGE = TESTS.parent / "src" / "momentree"
ROOMS = (
    "readers",
    "datasets",
    "preprocessing",
    "distributions",
    "moments",
    "whitening",
    "decomposition",
    "parameters",
    "inference",
    "refinement",
    "assignment",
    "persistence",
    "naming",
    "estimators",
    "tree",
    "models",
    "report",
    "cli",
)
# Imports against the flow, each with its reason: (file, room). Trees and flat models offer their
# own report, and load that room only when a report is requested.
EXCEPTIONS = {("estimators/page.py", "report")}

Edge = tuple[str, int]


def module_of(path: Path) -> str:
    """The dotted name of a file of the package."""
    return ".".join(("momentree", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(
        ".__init__"
    )


MODULES = {module_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imports(path: Path, source: str) -> Iterator[Edge]:
    """Yield (module, line) of each import of the package: at the top, in functions, for types."""
    package = ("momentree", *path.relative_to(PACKAGE).parts[:-1])
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            # `from momentree.tree import node` needs no name of the package, unlike TopicTree.
            inner = [f"{base}.{alias.name}" for alias in node.names]
            modules = [name for name in inner if name in MODULES]
            whole = base == "momentree" or len(modules) == len(inner)
            names = inner if whole else [base, *modules]
        elif isinstance(node, ast.Call) and called(node) == "import_module":
            names = [str(arg.value) for arg in node.args if isinstance(arg, ast.Constant)]
        else:
            continue
        for name in names:
            if name.split(".")[0] == "momentree":
                yield name, node.lineno


def called(node: ast.Call) -> str:
    """The last part of the name of a function that is called."""
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


@cache
def imports_of(path: Path) -> list[Edge]:
    """The imports of a file of the package."""
    return list(imports(path, path.read_text(encoding="utf-8")))


def room_of(module: str) -> str:
    """The first part of a name below the package."""
    return module.partition(".")[2].partition(".")[0]


def wrong_imports(path: Path, found: Iterable[Edge]) -> list[str]:
    """Describe each import in a file that goes against the flow."""
    own = room_of(module_of(path))
    file = path.relative_to(PACKAGE).as_posix()
    wrong = []
    for name, line in found:
        room = room_of(name)
        if room == own or (room and room not in ROOMS):
            continue
        left = own in ROOMS and room in ROOMS and ROOMS.index(room) < ROOMS.index(own)
        if not left and (file, room) not in EXCEPTIONS:
            wrong.append(f"{file}:{line} imports {name}")
    return wrong


def test_imports_only_from_the_left():
    front = {PACKAGE / "__init__.py", PACKAGE / "__main__.py"}  # the front door names every room
    wrong = [
        line
        for path in MODULES.values()
        if path not in front
        for line in wrong_imports(path, imports_of(path))
    ]
    assert wrong == []


def test_no_circle():
    graph = {
        module: {
            name
            for name, _ in imports_of(path)
            if name != module
            and (path.relative_to(PACKAGE).as_posix(), room_of(name)) not in EXCEPTIONS
        }
        for module, path in MODULES.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(error.args[1][::-1]))


def test_every_exception_is_a_late_import():
    for file, room in EXCEPTIONS:
        tree = ast.parse((PACKAGE / file).read_text(encoding="utf-8"))
        top = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        source = "\n".join(ast.unparse(node) for node in top)
        assert room not in {room_of(name) for name, _ in imports(PACKAGE / file, source)}
        whole = {room_of(name) for name, _ in imports(PACKAGE / file, ast.unparse(tree))}
        assert room in whole


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("moments/x.py", "from momentree.tree import TopicTree"),
        ("moments/x.py", "def f():\n    import momentree.tree.growth"),
        ("moments/x.py", "if TYPE_CHECKING:\n    from momentree import report"),
        ("moments/x.py", "from ..tree import node"),
        ("objects/mixtures.py", "from momentree.moments import SingleTopicMoments"),
        ("whitening.py", "from .report import summarize"),
        ("tree/x.py", "def f():\n    importlib.import_module('momentree.report')"),
        ("tree/x.py", "import momentree"),
    ],
)
def test_a_wrong_import_is_found(file, source):
    assert wrong_imports(PACKAGE / file, imports(PACKAGE / file, source))


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("tree/x.py", "from momentree.moments import SingleTopicMoments"),
        ("tree/x.py", "from .node import TreeNode"),
        ("tree/x.py", "from ..objects import Whitening"),
        ("tree/x.py", "import numpy as np"),
        ("report/x.py", "from momentree._version import __version__"),
    ],
)
def test_a_right_import_passes(file, source):
    assert wrong_imports(PACKAGE / file, imports(PACKAGE / file, source)) == []


def private_names(source: str) -> set[str]:
    """Return the private modules and names of the package that a test uses, also in strings."""
    if not re.search(r"(?<!\w)_[^\W_]", source):  # most have none, and parsing takes long
        return set()
    nodes = list(ast.walk(ast.parse(source)))
    used: set[str] = set()
    imported: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            ours = [alias for alias in node.names if alias.name.startswith("momentree")]
            used |= {alias.name for alias in ours}
            imported |= {alias.asname or "momentree" for alias in ours}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("momentree"):
            used |= {f"{node.module}.{alias.name}" for alias in node.names}
            imported |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            used |= set(re.findall(r"\bmomentree\.[\w.]+", node.value))
    used |= {
        f"{node.value.id}.{node.attr}"
        for node in nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in imported
    }
    return {name for name in used if re.search(r"\._[^_]", name)}


def test_no_test_uses_a_private_name():
    used = {
        path.relative_to(TESTS).as_posix(): names
        for path in sorted(TESTS.rglob("*.py"))
        if path != Path(__file__) and (names := private_names(path.read_text(encoding="utf-8")))
    }
    assert used == {}


@pytest.mark.parametrize(
    "source",
    [
        "from momentree._files import staging",
        "from momentree.models.selection.criteria import _best",
        "def test():\n    import momentree.cli._run",
        "from momentree.decomposition import joint_rotation as room\nroom._tournament(3)",
        "monkeypatch.setattr('momentree.backends._cuts', 3)",
    ],
)
def test_a_private_name_is_found(source):
    assert len(private_names(source)) == 1


def test_a_public_name_passes():
    assert private_names("import momentree as mt\nmt.__version__\nmt.TopicTree") == set()
