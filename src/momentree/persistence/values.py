"""Convert plain values, arrays, messages and registered dataclasses to JSON and arrays, and back.

A dataclass is written field by field. Nothing in a file is trusted: each field must have the type
of its annotation, and numeric arrays must be finite.
"""

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from momentree import objects
from momentree._validation import check_shape
from momentree.assignment import posteriors, rules
from momentree.core.container import Arrays
from momentree.exceptions import InvalidDataError
from momentree.messages import Message, wording
from momentree.preprocessing import FeatureMap, MatrixColumns, MixedColumns, leaf_mixture, outliers

T = TypeVar("T", bound=type[Any])

LARGEST = 1e200
"""Larger numbers overflow when parameters are used."""

_UNBOUNDED = {
    (FeatureMap, "scale"),  # infinite for a constant column
    (outliers.Bounds, "lower"),  # infinite for a column without outliers
    (outliers.Bounds, "upper"),
}

_ARRAY, _STRINGS, _MAPPING, _MESSAGE = "array", "strings", "mapping", "message"
_VALUES, _CLASS, _OBJECT = "values", "class", "object"


def storable(kind: T) -> T:
    """Register a dataclass so that files can contain its instances; use as a decorator.

    Parameters
    ----------
    kind : type
        A dataclass; reading a file checks its fields against their annotations.

    Returns
    -------
    type
        The same class.
    """
    _STORABLE[kind.__name__] = kind
    return kind


_STORABLE: dict[str, type[Any]] = {}
for _known in (
    objects.TopicParameters,
    objects.PoissonParameters,
    objects.BernoulliParameters,
    objects.IncompleteBernoulliParameters,
    objects.GaussianParameters,
    objects.DiagonalGaussianParameters,
    objects.FullGaussianParameters,
    objects.SharedGaussianParameters,
    objects.IncompleteGaussianParameters,
    objects.IncompleteDiagonalGaussianParameters,
    objects.VonMisesFisherParameters,
    objects.LDAParameters,
    objects.MixtureSums,
    rules.LinearRule,
    rules.ScoreRule,
    posteriors.MixtureAssigner,
    rules.RuleAssigner,
    rules.Division,
    rules.NestedAssigner,
    posteriors.IncompleteAssigner,
    outliers.Bounds,
    FeatureMap,
    leaf_mixture.LeafMixture,
    MatrixColumns,
    MixedColumns,
):
    storable(_known)


class Encoder:
    """Converts values to JSON, and collects each of their arrays once."""

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self._names: dict[int, str] = {}  # by id; `arrays` keeps the objects alive

    def encoded(self, value: Any, name: str) -> Any:
        """Return a value for JSON; its arrays are stored under `name`."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, np.ndarray):
            if value.dtype.kind in "OU":
                return {_STRINGS: [str(entry) for entry in value]}
            return {_ARRAY: self._place(value, name)}
        if isinstance(value, list | tuple):
            return [self.encoded(entry, f"{name}.{i}") for i, entry in enumerate(value)]
        if isinstance(value, Mapping):
            return {_MAPPING: self._entries(value, name)}
        if isinstance(value, Message):
            return {_MESSAGE: value.template, _VALUES: self._entries(value.values, name)}
        if isinstance(value, type) and value in _STORABLE.values():
            return {_CLASS: value.__name__}
        kind: type[Any] = type(value)
        if _STORABLE.get(kind.__name__) is kind:
            content = {f.name: getattr(value, f.name) for f in fields(value) if not f.kw_only}
            return {_OBJECT: kind.__name__, _VALUES: self._entries(content, name)}
        raise InvalidDataError(
            "[not_storable] {name} is a {type}, which a model file cannot contain; remove it",
            name=name,
            type=kind.__name__,
        )

    def _entries(self, values: Mapping[str, Any], name: str) -> dict[str, Any]:
        return {str(key): self.encoded(value, f"{name}.{key}") for key, value in values.items()}

    def _place(self, array: NDArray[Any], name: str) -> str:
        if id(array) not in self._names:
            while name in self.arrays:
                name += "_"
            self.arrays[name] = array
            self._names[id(array)] = name
        return self._names[id(array)]


def decoded(value: Any, arrays: Arrays) -> Any:
    """Return the value that :meth:`Encoder.encoded` converted to JSON."""
    if isinstance(value, list):
        return [decoded(entry, arrays) for entry in value]
    if not isinstance(value, dict):
        return value
    if _ARRAY in value:
        return arrays[value[_ARRAY]]
    if _STRINGS in value:
        strings = value[_STRINGS]
        if not (isinstance(strings, list) and all(isinstance(entry, str) for entry in strings)):
            raise InvalidDataError(wording.NOT_STRINGS, name=_STRINGS)
        return np.array(strings, dtype=object)
    if _CLASS in value:
        return _STORABLE[value[_CLASS]]
    entries = value[_MAPPING] if _MAPPING in value else value[_VALUES]
    content = {key: decoded(entry, arrays) for key, entry in entries.items()}
    if _MESSAGE in value:
        message = Message(_fitting(value[_MESSAGE], str, "code"), **content)
        str(message)  # raises if the values do not fit the template
        return message
    return _object(_STORABLE[value[_OBJECT]], content) if _OBJECT in value else content


def _object(cls: type[Any], content: dict[str, Any]) -> Any:
    hints = get_type_hints(cls)
    # Fields with a default were added later; older files do not have them.
    names = [f.name for f in fields(cls) if f.name in content or f.default is MISSING]
    values = {name: _fitting(content[name], hints[name], name) for name in names}
    for name, value in values.items():
        numbers = isinstance(value, np.ndarray) and value.dtype != object
        if numbers and (cls, name) not in _UNBOUNDED:
            check_finite(name, value)
    if issubclass(cls, objects.MixtureParameters | objects.LDAParameters):
        _check_parameters(cls, values)
    return cls(**values)


def _check_parameters(cls: type[Any], values: dict[str, Any]) -> None:
    """Check that parameters are non-negative where required, and the number of components."""
    d, k = values["centers"].shape
    for name, array in values.items():
        if name in ("covariance", "covariances"):
            check_shape(name, array, (d, d) if name == "covariance" else (k, d, d))
            _check_positive_definite(name, array)
            continue
        if (array < 0).any() and not (name == "centers" and getattr(cls, "signed", False)):
            raise InvalidDataError(wording.BELOW_ZERO, name=name)
        if array.shape != values["centers"].shape:
            check_shape(name, array, values["centers"].shape[1:])


def _check_positive_definite(name: str, array: NDArray[Any]) -> None:
    try:
        np.linalg.cholesky(array)
    except np.linalg.LinAlgError as error:
        raise InvalidDataError(
            "{name} contains a matrix that is not positive definite", name=name
        ) from error


def _fitting(value: Any, hint: Any, name: str) -> Any:
    """Convert a value to the type of its annotation, which it must match."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hasattr(origin, "__value__"):  # from NumPy 2.5, NDArray is an alias of ndarray
        return _fitting(value, origin.__value__[arguments], name)
    if origin is np.ndarray and isinstance(value, np.ndarray):
        dtype = np.dtype(get_args(arguments[1])[0])
        if value.dtype.kind == dtype.kind:
            return value.astype(dtype, copy=False) if dtype.kind == "i" else value
    elif origin is tuple and isinstance(value, list):
        return tuple(_fitting(entry, arguments[0], name) for entry in value)
    elif origin in (Union, UnionType):
        for one in arguments:
            try:
                return _fitting(value, one, name)
            except InvalidDataError:
                continue
    elif origin is Literal:
        if isinstance(value, str) and value in arguments:
            return value
    elif origin is type:
        if isinstance(value, type) and issubclass(value, arguments[0]):
            return value
    elif hint is float:
        if type(value) in (int, float) and math.isfinite(value):
            return float(value)
    elif hint in (bool, int, str, NoneType):
        if type(value) is hint:
            return value
    elif isinstance(hint, type) and isinstance(value, hint):
        return value
    raise InvalidDataError(wording.BAD_ENTRY, name=name, value=value)


def check_finite(name: str, array: NDArray[Any]) -> None:
    """Raise ValueError unless an array contains integers or usable floats."""
    if array.dtype.kind != "i" and not (
        array.dtype.kind == "f" and (np.abs(array) < LARGEST).all()
    ):
        raise InvalidDataError(
            "{name} contains values other than finite numbers below {largest:g}",
            name=name,
            largest=LARGEST,
        )
