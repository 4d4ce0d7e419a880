"""Questions that sites answer: a closed list of kernels, and their form as bytes."""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree.core.container import Arrays, container_bytes, reading
from momentree.exceptions import InvalidDataError, ReadError

FORMAT = "momentree-question"

_ROOMS = {
    "backends.base": "OfArrays OfDerived",
    "backends.contents": "ValueCounts weight_if_filled",
    "backends.products": "Dot Given GroupSizes GroupSums LargestColumn Ones Product Renumbered "
    "Stored Total TransposedProduct",
    "preprocessing.burstiness": "LongDocuments Outsized RepeatSums",
    "preprocessing.log_scaling": "CountPerToken TokenSums log2_of_one_more",
    "preprocessing.feature_map": "Filled InverseLength SquaredLength",
    "moments.augmented": "AugmentedCubes AugmentedPairs AugmentedSecondMoment AugmentedSums "
    "ScaledWeights",
    "moments.augmented_groups": "RawPairs RawProducts RawSums",
    "moments.factorial": "ColumnTerms Cubes PairSums SecondMoment WeightedWords",
    "moments.grouped": "GroupProducts GroupSlices MomentSums RowWeights",
    "moments.pairs": "PairProducts",
    "moments.sample_means": "Shares",
    "moments.weighting": "DocumentSizes DocumentWeights SizeTotals",
    "inference.posteriors": "LikeliestComponent LogJoint Responsibilities",
    "inference.lda": "VariationalGammas",
    "refinement.em": "Expectation GroupSteps SumsAndWeights WeightedSums",
    "assignment.nested": "NestedLabels NestedProbabilities",
    "assignment.posteriors": "GroupProbabilities LikeliestGroup",
    "assignment.rules": "LinearRule RuleLabels RuleProbabilities ScoreRule",
    "tree.growth": "Divided Lookup",
    "tree.split": "Inside Lookup2 SidesByRule SumsOfSides Untied replace_inside weigh_inside",
    "tree.stopping": "GroupOccurrences",
}

QUESTIONS: frozenset[str] = frozenset(
    f"{room}.{name}" for room, names in _ROOMS.items() for name in names.split()
)
"""Kernels, their parts and functions of values that a question may contain. Each is a frozen
dataclass or a function whose module shows the formula. Nothing else is ever executed at a site."""


def encoded(question: dict[str, Any]) -> bytes:
    """Return a question, or an answer, as bytes.

    Parameters
    ----------
    question : dict
        Numbers, strings, arrays, lists and dictionaries of these, and kernels of `QUESTIONS`.

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
        If the bytes are damaged, or contain a class that is not in `QUESTIONS`.
    """
    codes = {"unreadable": "damaged_question", "damaged": "damaged_question"}
    content = bytes(memoryview(content))  # never the name of a file
    with reading(content, **codes) as (manifest, arrays):
        if manifest.get("format") != FORMAT:
            raise InvalidDataError("bad_entry", name="format", value=manifest.get("format"))
        return _value(manifest["content"], arrays)


def _plain(value: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biuf":
            raise InvalidDataError("not_in_a_question", type=str(value.dtype))
        name = f"a{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    if isinstance(value, slice):
        return {"slice": [value.start, value.stop]}
    if isinstance(value, list | tuple):
        return {"list": [_plain(one, arrays) for one in value]}
    if isinstance(value, dict):
        return {"dict": {str(key): _plain(one, arrays) for key, one in value.items()}}
    is_function = isinstance(value, FunctionType)
    name = _name(value if is_function else type(value))
    if name in QUESTIONS and is_function:
        return {"function": name}
    if name not in QUESTIONS:
        raise InvalidDataError("not_in_a_question", type=name)
    parts = {field.name: _plain(getattr(value, field.name), arrays) for field in fields(value)}
    return {"kernel": name, "parts": parts}


def _name(kind: Any) -> str:
    return f"{kind.__module__.removeprefix('momentree.')}.{kind.__qualname__}"


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
    if name not in QUESTIONS:
        raise ReadError("unknown_question", name=str(name))
    module, _, kind = name.rpartition(".")
    found: Any = getattr(import_module(f"momentree.{module}"), kind)
    if "function" in value:
        return found
    return found(**{key: _value(one, arrays) for key, one in value["parts"].items()})
