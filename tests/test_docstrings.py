"""Every public name has a docstring in numpydoc form that says what a reader needs."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import pytest

import momentree

validation = pytest.importorskip("numpydoc.validate", reason="numpydoc is not installed")

# Checks of numpydoc that help a reader. Left out are matters of taste (GL01 to GL03, SS05) and
# sections that not every name owes (SA01 "See Also", EX01 "Examples", ES01 extended summary).
CHECKS = {
    "GL06",  # unknown section
    "GL07",  # sections in the wrong order
    "GL08",  # no docstring
    "SS01",  # no summary
    "SS03",  # summary does not end with a period
    "SS06",  # summary of more than one line
    "PR01",  # parameter not documented
    "PR02",  # unknown parameter documented
    "PR03",  # parameters in the wrong order
    "PR04",  # parameter without a type
    "PR07",  # parameter without a description
    "PR10",  # space before the colon
    "RT01",  # no Returns section
    "RT03",  # return value without a description
    "YD01",  # no Yields section
}
PUBLIC_MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(momentree.__path__, "momentree.")
    if not any(part.startswith("_") for part in module.name.split("."))
    and not module.name.startswith("momentree.cli")  # a command documents itself by --help
)


def public_names() -> Iterator[str]:
    """Yield the dotted names of all public functions, classes and methods, each object once."""
    seen: set[int] = set()
    for module_name in ["momentree", *PUBLIC_MODULES]:
        module = importlib.import_module(module_name)
        for name in getattr(module, "__all__", []):
            thing = getattr(module, name)
            if not (inspect.isclass(thing) or inspect.isfunction(thing)) or id(thing) in seen:
                continue
            seen.add(id(thing))
            yield f"{module_name}.{name}"
            if inspect.isclass(thing):
                for method, member in vars(thing).items():
                    inner = getattr(member, "__func__", member)
                    if not method.startswith("_") and inspect.isfunction(inner):
                        yield f"{module_name}.{name}.{method}"


def test_every_public_module_names_its_contents():
    for name in PUBLIC_MODULES:
        module = importlib.import_module(name)
        assert hasattr(module, "__all__"), f"{name} has no __all__"
        for public in module.__all__:
            assert hasattr(module, public), f"{name}.__all__ names {public}, which is not there"
        assert module.__doc__, f"{name} has no docstring"


@pytest.mark.parametrize("name", list(public_names()))
def test_docstring(name):
    errors = [(code, text) for code, text in validation.validate(name)["errors"] if code in CHECKS]
    assert errors == []
