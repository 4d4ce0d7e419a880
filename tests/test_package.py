"""The package as a whole: quick to import, typed, complete once built, and one version."""

from __future__ import annotations

import ast
import importlib.metadata
import json
import re
import subprocess
import sys
import tomllib
import zipfile

import pytest

import momentree

from .conftest import REPOSITORY

# Heavy libraries, which wait until a name that needs them is used.
LATE = {"numpy", "scipy", "sklearn", "pandas", "pyarrow", "matplotlib", "jinja2", "typer", "rich"}
# What a tree does not need either; scikit-learn may load pandas, and pandas pyarrow.
LATER = {"matplotlib", "jinja2", "typer", "rich", "networkx", "stopwordsiso"}
# What is not installed everywhere. Joblib loads cloudpickle, which dask needs, if it is there.
OPTIONAL = {"dask", "distributed", "fsspec", "icu4py", "llvmlite", "numba"}


def run_python(code: str) -> str:
    """Run code in a new interpreter; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


def test_import_loads_only_what_it_needs():
    steps = {
        "import momentree": LATE | OPTIONAL,
        "momentree.TopicTree": LATER | OPTIONAL,
        "import momentree.backends, momentree.readers, momentree.cli": OPTIONAL,
    }
    code = "import json, sys\n"
    code += "".join(f"{step}\nprint(json.dumps([*sys.modules]))\n" for step in steps)
    for loaded, unwanted in zip(run_python(code).splitlines(), steps.values(), strict=True):
        assert unwanted & {name.partition(".")[0] for name in json.loads(loaded)} == set()


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError):
        momentree.TopicForest  # noqa: B018


def test_all_public_names_exist():
    for name in momentree.__all__:
        assert getattr(momentree, name) is not None
    assert dir(momentree) == sorted(momentree.__all__)


@pytest.mark.parametrize("name", momentree.__all__)
def test_nothing_is_fitted_before_fit(name):
    found = getattr(momentree, name)
    if isinstance(found, type) and hasattr(found, "fit"):
        model = found()
        names = [name for name in dir(model) if name.endswith("_") and name[0] != "_"]
        assert [name for name in names if hasattr(model, name)] == []


@pytest.mark.parametrize("name", momentree.__all__)
def test_estimators_inherit_from_at_most_three_classes_of_the_package(name):
    found = getattr(momentree, name)
    if isinstance(found, type) and hasattr(found, "fit"):
        own = [base for base in found.__mro__ if base.__module__.startswith("momentree")]
        assert len(own) <= 4


def test_version_is_the_installed_one():
    assert importlib.metadata.version("momentree") == momentree.__version__
    citation = (REPOSITORY / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (\S+)$", citation, re.MULTILINE)[1] == momentree.__version__


def imported_packages() -> set[str]:
    """Return the first parts of the names of all that the sources import."""
    names: set[str] = set()
    for path in (REPOSITORY / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.partition(".")[0])
    return names


def normal(name: str) -> str:
    """Return the one spelling of the name of a project."""
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.long
def test_every_import_is_declared():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"].values()
    requirements = [*project["dependencies"], *(one for group in optional for one in group)]
    declared = {normal(re.match(r"[\w.-]+", one)[0]) for one in requirements}
    projects = importlib.metadata.packages_distributions()
    foreign = imported_packages() - sys.stdlib_module_names - {"momentree"}
    assert {"numpy", "joblib", "markupsafe"} <= foreign
    undeclared = {
        name for name in foreign if not declared & {normal(p) for p in projects.get(name, [name])}
    }
    assert undeclared == set()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The names of the files in a wheel built from the working tree."""
    folder = tmp_path_factory.mktemp("dist")
    pytest.importorskip("hatchling", reason="hatchling, which builds the wheel, is not installed")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
        timeout=120,
    )
    (path,) = folder.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        return archive.namelist()


def test_wheel_is_typed(wheel):
    assert "momentree/py.typed" in wheel


def test_wheel_holds_every_source_file(wheel):
    package = REPOSITORY / "src"
    sources = {
        path.relative_to(package).as_posix()
        for path in (package / "momentree").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert sources <= set(wheel)


def test_wheel_holds_nothing_else(wheel):
    assert {name.partition("/")[0] for name in wheel} == {
        "momentree",
        f"momentree-{momentree.__version__}.dist-info",
    }
