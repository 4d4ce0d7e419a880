"""Refuse regular expressions that may run forever, because saved models may come from anyone.

Python's matcher tries one way after another, and the number of ways explodes if a repetition can go
on in two ways with the same character: "(a+)+", "(?:a|ab|b)*", "a*a*b". Accepted patterns decide
each time by the next character:

- a repeated group begins with characters that are nowhere else in the group, as "-" in
  "[a-z]+(?:-[a-z]+)*",
- a repetition begins with characters that the repetition before it lacks,
- alternatives in a repetition begin with different characters, and what may be left out there with
  characters that a repetition before it lacks.

A repetition that runs over blanks is at the end of the pattern; otherwise the search would go to
the end of the text from every position. An accepted pattern takes time linear in the length of the
text, times the square of the length of a word. The rules also refuse some harmless patterns.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from momentree.messages import Message

_PATTERN_AMBIGUOUS = "[pattern_ambiguous] a repetition can continue in two ways"
_PATTERN_RUNS_OVER_BLANKS = (
    "[pattern_runs_over_blanks] a repetition that matches blanks is not at the end of the pattern"
)


# Letters, digits and signs of most alphabets, by which character classes are compared; those in
# the pattern, and the ends of its ranges, are added.
_CHARACTERS = "".join(map(chr, [*range(0x0700), *range(0x1E00, 0x2100), *range(0x3000, 0x3100)]))
_ONE_CHARACTER = {"LITERAL", "NOT_LITERAL", "ANY", "IN", "CATEGORY", "RANGE"}
_REPEATS = {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}
_MAX_LENGTH, _MAX_UNROLLED, _MAX_WAYS = 5_000, 32, 10_000
"""Characters of a pattern, fixed repetitions read one by one, and ways through alternatives."""


@cache
def find_fault(pattern: str) -> Message | None:
    """Return why a pattern may run forever on some texts; None if it cannot."""
    if len(pattern) > _MAX_LENGTH:
        return Message("[pattern_too_long] it is too long")
    tree = importlib.import_module("re._parser").parse(pattern)
    try:
        _Reader(tree).sequence(tree, frozenset())
    except _Refused as refused:
        return refused.fault
    return None


class _Refused(Exception):  # noqa: N818
    """A part of a pattern for which no time limit is known."""

    def __init__(self, fault: Message) -> None:
        self.fault = fault


@dataclass(frozen=True)
class _Part:
    """The characters of a part of a pattern: those it begins with, others, and those to go on with.

    `going_on` are those of repetitions before its end, which may take more or less of the text.
    """

    going_on: frozenset[str]
    first: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    may_be_empty: bool = True


@dataclass
class _Reader:
    """Reads the tree of Python's own parser of regular expressions."""

    tree: Any
    ways: int = 1
    known: dict[str, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.sample = "".join({*_CHARACTERS, *_characters(self.tree)})

    def sequence(self, items: Any, going_on: frozenset[str], *, in_loop: bool = False) -> _Part:
        """Read items that follow each other."""
        whole = _Part(going_on)
        for i, (kind, value) in enumerate(items):
            part = self.item(items[i : i + 1], str(kind), value, whole.going_on, in_loop=in_loop)
            whole = _Part(
                part.going_on,
                whole.first | part.first if whole.may_be_empty else whole.first,
                whole.others | part.others | (part.first if i else frozenset()),
                whole.may_be_empty and part.may_be_empty,
            )
        return whole

    def item(
        self, item: Any, kind: str, value: Any, going_on: frozenset[str], *, in_loop: bool
    ) -> _Part:
        """Read one item."""
        if kind in _ONE_CHARACTER:
            if " " in going_on:
                raise _Refused(Message(_PATTERN_RUNS_OVER_BLANKS))
            characters = self.characters(item)
            return _Part(
                going_on if characters & going_on else frozenset(), characters, may_be_empty=False
            )
        if kind in _REPEATS:
            least, most, inside = value
            return self.repeat(int(least), int(most), inside, going_on, in_loop=in_loop)
        if kind in ("SUBPATTERN", "ATOMIC_GROUP"):
            inside = value[-1] if kind == "SUBPATTERN" else value
            return self.sequence(inside, going_on, in_loop=in_loop)
        if kind == "BRANCH":
            return self.branch(value[1], going_on, in_loop=in_loop)
        if kind in ("ASSERT", "ASSERT_NOT"):
            if any(repeat in str(value[1]) for repeat in _REPEATS):
                raise _Refused(
                    Message(
                        "[pattern_looks_around] it looks ahead or back over any number of "
                        "characters"
                    )
                )
            return _Part(going_on)
        if kind == "AT":
            return _Part(going_on)
        raise _Refused(Message("[pattern_refers_back] it refers back to a group"))

    def branch(self, branches: Any, going_on: frozenset[str], *, in_loop: bool) -> _Part:
        """Read alternatives."""
        parts = [self.sequence(branch, going_on, in_loop=in_loop) for branch in branches]
        first = frozenset[str]().union(*(part.first for part in parts))
        may_be_empty = any(part.may_be_empty for part in parts)
        if may_be_empty or sum(len(part.first) for part in parts) > len(first):
            if in_loop:
                raise _Refused(Message(_PATTERN_AMBIGUOUS))
            self.multiply(len(parts))
        return _Part(
            frozenset[str]().union(*(part.going_on for part in parts)),
            first,
            frozenset[str]().union(*(part.others for part in parts)),
            may_be_empty,
        )

    def multiply(self, n_ways: int) -> None:
        """Count the ways through the pattern outside of repetitions."""
        self.ways *= n_ways
        if self.ways > _MAX_WAYS:
            raise _Refused(Message("[pattern_too_branched] it has too many alternatives"))

    def repeat(
        self, least: int, most: int, items: Any, going_on: frozenset[str], *, in_loop: bool
    ) -> _Part:
        """Read a repetition, or an item that may be left out."""
        if least == most <= _MAX_UNROLLED:
            whole = self.tree.__class__(self.tree.state, list(items) * most)
            return self.sequence(whole, going_on, in_loop=in_loop)
        if most <= 1 and not in_loop:
            self.multiply(2)
            part = self.sequence(items, going_on)
            return replace(part, going_on=going_on | part.going_on, may_be_empty=True)
        is_class = len(items) == 1 and str(items[0][0]) in _ONE_CHARACTER
        inside = self.sequence(items, frozenset(), in_loop=True)
        again = most > 1 and not is_class and (inside.may_be_empty or inside.first & inside.others)
        if again or inside.first & going_on:
            raise _Refused(Message(_PATTERN_AMBIGUOUS))
        if " " in going_on:
            raise _Refused(Message(_PATTERN_RUNS_OVER_BLANKS))
        return _Part(
            (going_on if least == 0 else frozenset()) | inside.first | inside.others,
            inside.first,
            inside.others | (inside.first if most > 1 else frozenset()),
            least == 0 or inside.may_be_empty,
        )

    def characters(self, item: Any) -> frozenset[str]:
        """Return the characters of the sample that an item matches."""
        key = str(item)
        if key not in self.known:
            compiled = importlib.import_module("re._compiler").compile(item, self.tree.state.flags)
            self.known[key] = frozenset(match[0] for match in compiled.finditer(self.sample))
        return self.known[key]


def _characters(tree: Any) -> Iterator[str]:
    """Yield the characters in a parsed pattern, and the ends of its ranges, in both cases."""
    if isinstance(tree, int):
        if 0 <= tree < 0x110000:
            yield from (chr(tree), *chr(tree).lower(), *chr(tree).upper())
    elif isinstance(tree, tuple | list) or hasattr(tree, "data"):
        for part in tree:
            yield from _characters(part)
