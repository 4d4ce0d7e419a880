"""The package as a whole: quick to import, typed, complete once built, and one version."""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
import zipfile

import pytest

import momentree

from .conftest import REPOSITORY

# Heavy or drawing libraries that only some calls need.
LATE = {"matplotlib", "pyarrow", "jinja2", "pandas", "typer", "rich", "networkx"}


def run_python(code: str) -> str:
    """Run code in a new interpreter; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


def test_import_loads_only_what_it_needs():
    loaded = json.loads(
        run_python("import json, sys, momentree; print(json.dumps([*sys.modules]))")
    )
    assert LATE & {name.partition(".")[0] for name in loaded} == set()


def test_import_is_quick():
    """Little is added to what NumPy, SciPy and scikit-learn take by themselves."""
    code = (
        "import time, sklearn.base, sklearn.utils.validation, scipy.sparse.linalg;"
        "start = time.perf_counter(); import momentree; print(time.perf_counter() - start)"
    )
    assert min(float(run_python(code)) for _ in range(3)) < 0.5


def test_all_public_names_exist():
    for name in momentree.__all__:
        assert getattr(momentree, name) is not None
    assert set(momentree.__all__) <= set(dir(momentree))


def test_version_is_the_installed_one():
    assert importlib.metadata.version("momentree") == momentree.__version__
    citation = (REPOSITORY / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (\S+)$", citation, re.MULTILINE)[1] == momentree.__version__


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
        if path.is_file() and path.suffix not in {".pyc"}
    }
    assert sources <= set(wheel)


def test_wheel_holds_nothing_else(wheel):
    assert {name.partition("/")[0] for name in wheel} == {
        "momentree",
        f"momentree-{momentree.__version__}.dist-info",
    }
