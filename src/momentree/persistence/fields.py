"""Declared attributes of fitted estimators: what a file contains, and how it is checked."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from momentree._validation import are_labels, check_shape
from momentree.exceptions import InvalidDataError
from momentree.messages import Message, wording
from momentree.objects.mixtures import check_sums
from momentree.persistence.values import check_finite

Sizes = Mapping[str, int]
"""Known lengths of axes: "k" groups, "d" features, "names" column names."""


@dataclass(frozen=True)
class Field:
    """An attribute that ``fit`` sets: the values it may have, and whether a file has it."""

    check: Callable[[str, Any, Sizes], None]
    required: bool = True
    saved: bool = True
    of_one_fit: bool = False  # whether the next fit starts without it

    @property
    def optional(self) -> Field:
        """The same field for an attribute that not every fit sets, or that may be None."""

        def check(name: str, value: Any, sizes: Sizes) -> None:
            if value is not None:
                self.check(name, value, sizes)

        return replace(self, check=check, required=False, of_one_fit=True)

    @property
    def kept(self) -> Field:
        """The same field for an attribute that remains until a fit replaces it."""
        return replace(self, of_one_fit=False)


Fields = Mapping[str, Field]


def array(
    *shape: int | str, at_least: float | None = None, above: float | None = None, sums: bool = False
) -> Field:
    """Declare an array of finite numbers; with `sums`, its last axis contains distributions.

    A name in `shape` is one of the known sizes, or any size.
    """

    def check(name: str, value: Any, sizes: Sizes) -> None:
        check_shape(name, value, tuple(sizes.get(str(size), size) for size in shape))
        check_finite(name, value)
        low = at_least is not None and not (value >= at_least).all()
        if low or (above is not None and not (value > above).all()):
            raise InvalidDataError(wording.BELOW_ZERO, name=name)
        if sums:
            check_sums(name, value.sum(axis=-1))

    return Field(check)


def simplex(*shape: int | str) -> Field:
    """Declare an array whose last axis contains distributions."""
    return array(*shape, at_least=0.0, sums=True)


def sound(holds: Callable[[Any], bool]) -> Field:
    """Declare a value that is valid if `holds` says so."""

    def check(name: str, value: Any, sizes: Sizes) -> None:  # noqa: ARG001
        if not holds(value):
            raise InvalidDataError(wording.BAD_ENTRY, name=name, value=value)

    return Field(check)


def of_type(*kinds: type[Any]) -> Field:
    """Declare an instance of one of some classes; True is no integer."""
    strict = {bool, int, float, str}
    return sound(lambda value: type(value) in kinds if strict & {*kinds} else _is(value, kinds))


def _is(value: Any, kinds: tuple[type[Any], ...]) -> bool:
    return isinstance(value, kinds)


def choice(*values: Any) -> Field:
    """Declare one of some values."""
    return sound(lambda value: any(type(value) is type(v) and value == v for v in values))


def list_of(kind: type[Any], size: str = "") -> Field:
    """Declare a list of objects of a class, whose length may be one of the known sizes."""

    def check(name: str, value: Any, sizes: Sizes) -> None:
        typed = isinstance(value, list) and all(isinstance(entry, kind) for entry in value)
        if not typed or len(value) != sizes.get(size, len(value)):
            raise InvalidDataError(wording.BAD_ENTRY, name=name, value=value)

    return Field(check)


def _check_strings(name: str, value: Any, size: int) -> None:
    check_shape(name, value, (size,))
    if value.dtype != object:
        raise InvalidDataError(wording.NOT_STRINGS, name=name)


def strings(size: str) -> Field:
    """Declare an array of strings."""
    return Field(lambda name, value, sizes: _check_strings(name, value, sizes[size]))


def _check_labels(name: str, value: Any, sizes: Sizes) -> None:
    check_shape(name, value, ("n_samples",))
    if not are_labels(value, sizes["k"]):
        raise InvalidDataError(wording.LABELS_BEYOND_GROUPS, last=sizes["k"] - 1)


def _are_diagnostics(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("reason", ""), str | Message | None)
        and isinstance(value.get("warnings", []), list)
        and isinstance(value.get("start", ""), str)
    )


LABELS = Field(_check_labels)
DIAGNOSTICS = sound(_are_diagnostics)
NUMBER = sound(lambda value: type(value) in (int, float) and math.isfinite(value))
POSITIVE = sound(lambda value: type(value) in (int, float) and 0 < value < math.inf)
INTEGER, FLAG, MESSAGES = of_type(int), of_type(bool), list_of(Message)
ANYTHING = sound(lambda _: True)
DERIVED = replace(ANYTHING, required=False, saved=False, of_one_fit=True)
"""An attribute that follows from others, or is of no use for new samples."""
