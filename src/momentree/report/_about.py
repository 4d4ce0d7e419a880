"""Write notes without the counts that they must protect: what they say and advise stays."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from numbers import Integral
from typing import Any

from momentree.messages import Message

MISSING = ("n_missing", "n_missing_first")
"""Values of messages that count missing values."""
_HARMLESS = ("column", "columns", "outcome", "parameter", "source", "path", "system", "other")
"""Values of messages that do not come from single records."""


class _Text(str):
    """Text instead of a number, whatever the format of the number is."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        return str(self)


def rounded(note: Message, names: Collection[str], known: set[int], min_cell: int) -> Message:
    """Return a note with "about 97,000" for its counts, which `names` lists, and "<5" for small.

    Two counts must not narrow down a small difference between them, so a count near a `known` one
    is replaced by it before it is rounded; otherwise it becomes known. A note on few records does
    not quote them. Numbers of missing values become "some" or "*": even bounds of a sum could give
    its parts away, as those of four groups with "<5" and a sum below 5.
    """

    def number(n: int) -> _Text:
        if n < min_cell:
            return _Text(f"<{min_cell:,}" if n else "0")
        near = [k for k in known if abs(k - n) < min_cell]
        n = min(near, default=n)
        known.add(n)
        unit = max(10 ** (len(str(n)) - 2), 2 * min_cell)
        return _Text(f"about {unit * max(1, (n + unit // 2) // unit):,}")

    def is_few(name: str, value: Any) -> bool:
        if isinstance(value, Message):
            return any(is_few(*item) for item in value.values.items())
        if isinstance(value, Mapping | list | tuple):
            inner = value.values() if isinstance(value, Mapping) else value
            return any(is_few(name, one) for one in inner)
        return name in names and isinstance(value, Integral) and 0 < int(value) < min_cell

    few = is_few("", note)

    def value_of(name: str, value: Any) -> Any:
        if isinstance(value, Message):
            inner = {key: value_of(key, one) for key, one in value.values.items()}
            return _Text("...") if few and name == "origin" else Message(value.code, **inner)
        if isinstance(value, bool) or name in _HARMLESS:
            return value
        if isinstance(value, list | tuple):
            return [value_of(name, one) for one in value]
        if isinstance(value, Integral):
            value = int(value)
            if value and name in MISSING:
                return _Text("some" if name == MISSING[0] else "*")
            near = any(0 < abs(k - value) < min_cell for k in known if k >= 10 * min_cell)
            return number(value) if name in names or near else value
        if isinstance(value, float):
            return _Text("few" if few else f"about {value:.1g}")
        return _Text("...") if (few and value) or isinstance(value, Mapping) else value

    result: Message = value_of("", note)
    return result
