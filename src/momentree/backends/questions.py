"""Questions that sites answer: a closed list of kernels, and their form as bytes."""

from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import partial
from importlib import import_module
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree.backends.kernels import KERNELS, name_of
from momentree.core.container import Arrays, container_bytes, reading
from momentree.exceptions import InvalidDataError, ReadError
from momentree.messages import wording

_DAMAGED_QUESTION = (
    "[damaged_question] this is not a question or answer of momentree, or it is damaged ({error})"
)
_NOT_IN_A_QUESTION = (
    "[not_in_a_question] the algorithm asks for a {type}, which is not one of the questions that "
    "sites answer; choose options that need only sums, or bring the rows together"
)


FORMAT = "momentree-question"

_ROOMS = ("backends", "preprocessing", "moments", "inference", "refinement", "assignment", "tree")
"""Rooms with kernels; a question loads the module of its kernel if it is one of them."""


def encoded(question: dict[str, Any]) -> bytes:
    """Return a question, or an answer, as bytes.

    Parameters
    ----------
    question : dict
        Numbers, strings, arrays, lists and dictionaries of these, and kernels of `KERNELS`.

    Returns
    -------
    bytes
        A ZIP archive of JSON and .npy arrays, without pickle.

    Raises
    ------
    InvalidDataError
        If a value is something else.
    """
    arrays: dict[str, NDArray[Any]] = {}
    return container_bytes({"format": FORMAT, "content": _plain(question, arrays)}, arrays)


def decoded(content: bytes) -> Any:
    """Return what :func:`encoded` turned into bytes.

    Parameters
    ----------
    content : bytes
        The bytes.

    Returns
    -------
    dict
        The question or answer.

    Raises
    ------
    ReadError
        If the bytes are damaged, or contain a kernel that is not in `KERNELS`.
    """
    codes = {"unreadable": _DAMAGED_QUESTION, "damaged": _DAMAGED_QUESTION}
    content = bytes(memoryview(content))  # never the name of a file
    with reading(content, **codes) as (manifest, arrays):
        if manifest.get("format") != FORMAT:
            raise InvalidDataError(wording.BAD_ENTRY, name="format", value=manifest.get("format"))
        return _value(manifest["content"], arrays)


def _plain(value: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biuf":
            raise InvalidDataError(_NOT_IN_A_QUESTION, type=str(value.dtype))
        name = f"a{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    if isinstance(value, slice):
        return {"slice": [value.start, value.stop]}
    if isinstance(value, list | tuple):
        return {"list": [_plain(one, arrays) for one in value]}
    if isinstance(value, dict):
        return {"dict": {str(key): _plain(one, arrays) for key, one in value.items()}}
    name, parts = parts_of(value)
    if name not in KERNELS:
        raise InvalidDataError(_NOT_IN_A_QUESTION, type=name)
    if parts is None:
        return {"function": name}
    return {"kernel": name, "parts": {key: _plain(one, arrays) for key, one in parts.items()}}


def parts_of(kernel: Any) -> tuple[str, dict[str, Any] | None]:
    """Return the name of a kernel and its parameters; None for a function alone."""
    if isinstance(kernel, partial) and not kernel.args:
        return name_of(kernel.func), kernel.keywords
    if isinstance(kernel, FunctionType):
        return name_of(kernel), None
    values = fields(kernel) if is_dataclass(kernel) else ()
    return name_of(type(kernel)), {one.name: getattr(kernel, one.name) for one in values}


def _value(value: Any, arrays: Arrays) -> Any:
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return arrays[value["array"]]
    if "slice" in value:
        return slice(*value["slice"])
    if "list" in value:
        return [_value(one, arrays) for one in value["list"]]
    if "dict" in value:
        return {key: _value(one, arrays) for key, one in value["dict"].items()}
    name = value["function"] if "function" in value else value["kernel"]
    question = _registered(name)
    if "function" in value:
        return question
    parts = {key: _value(one, arrays) for key, one in value["parts"].items()}
    return question(**parts) if isinstance(question, type) else partial(question, **parts)


def _registered(name: Any) -> Any:
    """Return a kernel by its name; load its module, one of this package, if needed."""
    if isinstance(name, str) and name not in KERNELS and name.split(".")[0] in _ROOMS:
        with suppress(ImportError):
            import_module(f"momentree.{name.rpartition('.')[0]}")
    if name not in KERNELS:
        raise ReadError(
            "[unknown_question] {name!r} is not one of the questions that sites answer; use the "
            "same version of momentree everywhere",
            name=str(name),
        )
    return KERNELS[name]
