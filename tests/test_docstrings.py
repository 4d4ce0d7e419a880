"""Every public name has a complete docstring in numpydoc form."""

from __future__ import annotations

import ast
import dataclasses
import functools
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest

import momentree
from momentree import exceptions

docscrape = pytest.importorskip("numpydoc.docscrape", reason="numpydoc is not installed")
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
# What users import from: the package and its rooms and leaves. Names in other modules need a
# docstring, but not a complete one.
PUBLIC_MODULES = sorted(
    f"momentree.{module.name}"
    for module in pkgutil.iter_modules(momentree.__path__)
    if not module.name.startswith("_")
    and module.name != "cli"  # a command documents itself by --help
)


def public_names() -> Iterator[str]:
    """Yield the dotted names of all public functions, classes and methods, each object once."""
    seen: set[int] = set()
    for module_name in ["momentree", *PUBLIC_MODULES]:
        module = importlib.import_module(module_name)
        for name in getattr(module, "__all__", []):
            thing = getattr(module, name, None)  # a missing one fails a test of its own
            if not (inspect.isclass(thing) or inspect.isfunction(thing)) or id(thing) in seen:
                continue
            seen.add(id(thing))
            yield f"{module_name}.{name}"
            if inspect.isclass(thing):
                for method, member in vars(thing).items():
                    inner = getattr(member, "__func__", member)
                    if not method.startswith("_") and inspect.isfunction(inner):
                        yield f"{module_name}.{name}.{method}"


def find(name: str) -> Any:
    """Return the object of a dotted name."""
    return functools.reduce(getattr, name.split(".")[1:], momentree)


def test_every_public_module_names_its_contents():
    for name in PUBLIC_MODULES:
        module = importlib.import_module(name)
        assert hasattr(module, "__all__"), f"{name} has no __all__"
        for public in module.__all__:
            assert hasattr(module, public), f"{name}.__all__ names {public}, which is not there"
        assert module.__doc__, f"{name} has no docstring"


def overrides(name: str) -> bool:
    """Whether a method overrides another, which documents its parameters."""
    owner, _, method = name.rpartition(".")
    bases = getattr(find(owner), "__mro__", ())[1:]
    return any(method in vars(base) for base in bases)


def _parameters(doc: Any) -> list[Any]:
    """The described parameters, also the rarely used ones of "Other Parameters"."""
    return [*doc["Parameters"], *doc["Other Parameters"]]


def faults(name: str) -> list[str]:
    """Return what the docstring of a public name lacks."""
    thing = find(name)
    checks = CHECKS - {"PR01", "RT01", "YD01"} if overrides(name) else CHECKS
    if dataclasses.is_dataclass(thing):
        # Its parameters are its attributes, and documented once, as either.
        doc = docscrape.get_doc_object(thing)
        described = {entry.name for entry in [*doc["Attributes"], *_parameters(doc)]}
        described = {part.strip() for entry in described for part in entry.split(",")}
        fields = {f.name for f in dataclasses.fields(thing) if not f.name.startswith("_")}
        if fields - described:
            return [f"not described: {sorted(fields - described)}"]
        checks = CHECKS - {"PR01"}
    if getattr(thing, "_is_protocol", False) or thing in vars(exceptions).values():
        checks = CHECKS - {"PR01"}  # nobody makes one; exceptions share one constructor
    if inspect.isfunction(thing) and list(inspect.signature(thing).parameters) == ["self"]:
        # A method without parameters may say in one line what it returns.
        checks = CHECKS - {"RT01", "YD01"}
    found = validation.validate(name)["errors"]
    return [f"{code}: {text}" for code, text in found if code in checks]


def wrong_defaults(name: str) -> list[str]:
    """The parameters of a public name whose documented default is not that of the signature."""
    thing = find(name)
    try:
        parameters = inspect.signature(thing).parameters
    except ValueError:
        return []  # an exception takes any arguments
    made = getattr(thing, "__dataclass_fields__", {})
    module = vars(inspect.getmodule(thing))
    wrong = []
    for entry in _parameters(docscrape.get_doc_object(thing)):
        documented = entry.type.partition("default=")[2]
        for one in (part.strip() for part in entry.name.split(",")):
            if documented and one in parameters:
                default = parameters[one].default
                if one in made and made[one].default_factory is not dataclasses.MISSING:
                    default = made[one].default_factory()
                named = documented.isidentifier() and documented in module
                value = module[documented] if named else ast.literal_eval(documented)
                wrong += [one] if value != default else []
    return wrong


def test_docstrings():
    names = list(public_names())
    assert len(names) > 200
    assert {name: found for name in names if (found := faults(name))} == {}
    assert {name: found for name in names if (found := wrong_defaults(name))} == {}


def test_functions_and_estimators_of_the_package_have_examples():
    names = [name for name in public_names() if name.count(".") == 1]
    shown = [name for name in names if docscrape.get_doc_object(find(name))["Examples"]]
    # The nodes of a fitted tree, and the comparison of two models, are not made by users.
    assert sorted({*names} - {*shown}) == ["momentree.ModelChanges", "momentree.TreeNode"]


def test_every_function_inside_has_a_docstring():
    bare = []
    for info in pkgutil.walk_packages(momentree.__path__, "momentree."):
        if info.name == "momentree.__main__":
            continue
        module = importlib.import_module(info.name)
        bare += [
            f"{info.name}.{name}"
            for name, thing in vars(module).items()
            if (inspect.isclass(thing) or inspect.isfunction(thing))
            and thing.__module__ == info.name
            and not name.startswith("_")
            and not inspect.getdoc(thing)
        ]
    assert bare == []
