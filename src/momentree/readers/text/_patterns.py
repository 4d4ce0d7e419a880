"""Reject regular expressions that can run forever, because saved models may come from anyone.

Python's matcher tries one way after another, and the number of ways explodes if a loop can
continue in two ways with the same character: "(a+)+", "(?:a|ab|b)*", "a*a*b". This module builds
the Glushkov automaton of a pattern: its states are the positions of characters in the pattern, and
`follow` contains the positions that can come next. A pattern is ambiguous

- if two positions that follow the same position of a loop share a character and both lead to
  loops, or
- if one position follows another in two ways.

A loop over blanks must also be at the end of the pattern; otherwise the search runs to the end of
the text from every position. Matching an accepted pattern takes time linear in the length of the
text, times the square of the length of a word.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from momentree.messages import Message

# Letters, digits and signs of most alphabets, used to test whether character classes overlap.
_CHARACTERS = "".join(map(chr, [*range(0x0700), *range(0x1E00, 0x2100), *range(0x3000, 0x3100)]))
_ONE_CHARACTER = {"LITERAL", "NOT_LITERAL", "ANY", "IN", "CATEGORY", "RANGE"}
_REPEATS = {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}
_UNROLLED = 32
"""A fixed number of repetitions up to this limit is unrolled, not treated as a loop."""

_MAX_AMBIGUOUS = 8
"""Positions outside loops that may continue in two ways; the numbers of ways multiply."""

_MAX_POSITIONS = 5_000
_MAX_PAIRS = 4_000_000
"""Pairs of positions that follow one position; comparing them takes a third of a second."""


@cache
def find_fault(pattern: str) -> Message | None:
    """Return why a pattern may run forever on some texts; None if it cannot."""
    parser = importlib.import_module("re._parser")
    automaton = _Automaton(importlib.import_module("re._compiler"))
    try:
        tree = parser.parse(pattern)
        automaton.flags = tree.state.flags
        whole = automaton.add(tree)
    except _Unsupported as error:
        return error.fault
    return automaton.fault(whole.last)


class _Unsupported(Exception):  # noqa: N818
    """A part of a pattern for which no time limit is known."""

    def __init__(self, fault: Message) -> None:
        self.fault = fault


@dataclass
class _Part:
    """Positions where a part of a pattern can begin and end, and whether it can be empty."""

    first: set[int] = field(default_factory=set)
    last: set[int] = field(default_factory=set)
    empty: bool = True


class _Automaton:
    """The Glushkov automaton of a pattern, built from the tree of Python's own parser."""

    def __init__(self, compiler: Any) -> None:
        self.flags = 0
        self._compiler = compiler
        self._known: dict[str, frozenset[str]] = {}
        self._characters: list[frozenset[str]] = []  # those that match at each position
        self._follow: list[set[int]] = []
        self._doubled: set[int] = set()  # positions with a successor reached in two ways
        self._n_pairs = 0

    def add(self, items: Any) -> _Part:
        """Add a sequence of parsed items."""
        whole = _Part()
        for i in range(len(items)):
            part = self._add_item(items, i)
            self._join(whole.last, part.first)
            whole.first |= part.first if whole.empty else set()
            whole.last = part.last | (whole.last if part.empty else set())
            whole.empty = whole.empty and part.empty
        return whole

    def _add_item(self, items: Any, i: int) -> _Part:
        kind, value = items[i]
        name = str(kind)
        if name in _ONE_CHARACTER:
            return self._add_character(items[i : i + 1])
        if name in _REPEATS:
            return self._add_repetition(*value)
        if name == "SUBPATTERN":
            return self.add(value[-1])
        if name == "ATOMIC_GROUP":
            return self.add(value)
        if name == "BRANCH":
            parts = [self.add(branch) for branch in value[1]]
            return _Part(
                set().union(*(part.first for part in parts)),
                set().union(*(part.last for part in parts)),
                any(part.empty for part in parts),
            )
        if name == "AT":
            return _Part()
        if name in ("ASSERT", "ASSERT_NOT"):
            around = _Automaton(self._compiler)
            around.flags = self.flags
            around.add(value[1])
            if around._loops():
                raise _Unsupported(Message("pattern_looks_around"))
            return _Part()
        raise _Unsupported(Message("pattern_refers_back"))

    def _add_character(self, item: Any) -> _Part:
        if len(self._characters) >= _MAX_POSITIONS:
            raise _Unsupported(Message("pattern_too_long"))
        key = str(item)
        if key not in self._known:
            matches = self._compiler.compile(item, self.flags).finditer(_CHARACTERS)
            self._known[key] = frozenset(match[0] for match in matches)
        self._characters.append(self._known[key])
        self._follow.append(set())
        position = len(self._characters) - 1
        return _Part({position}, {position}, empty=False)

    def _add_repetition(self, least: int, most: int, items: Any) -> _Part:
        most = int(most)
        nested = any(str(kind) in _REPEATS | {"BRANCH", "SUBPATTERN"} for kind, _ in items)
        if most <= 1 or (least == most and most <= _UNROLLED and not nested):
            whole = _Part()
            for part in [self.add(items) for _ in range(most)]:
                self._join(whole.last, part.first)
                whole = _Part(whole.first or part.first, part.last, whole.empty and part.empty)
            return _Part(whole.first, whole.last, whole.empty or least == 0)
        part = self.add(items)
        self._join(part.last, part.first)
        if part.empty and least > 1:  # each of the first repetitions may be empty or not
            self._doubled |= part.last
        return _Part(part.first, part.last, part.empty or least == 0)

    def _join(self, last: set[int], first: set[int]) -> None:
        """Let each position of `first` follow each of `last`."""
        for position in last:
            after = self._follow[position]
            if after & first:
                self._doubled.add(position)
            self._n_pairs -= len(after) ** 2
            after |= first
            self._n_pairs += len(after) ** 2
            if self._n_pairs > _MAX_PAIRS:
                raise _Unsupported(Message("pattern_too_branched"))

    def _loops(self) -> set[int]:
        """Return the positions that can be repeated."""
        n = len(self._characters)
        pairs = [(a, b) for a in range(n) for b in self._follow[a]]
        if not pairs:
            return set()
        rows, columns = zip(*pairs, strict=True)
        graph = sp.coo_array((np.ones(len(pairs)), (rows, columns)), shape=(n, n))
        _, group = connected_components(graph, connection="strong")
        sizes = np.bincount(group)
        return {i for i in range(n) if sizes[group[i]] > 1 or i in self._follow[i]}

    def _leading_to(self, positions: set[int]) -> set[int]:
        """Return the given positions and all positions that lead to them."""
        found, new = set(positions), set(positions)
        while new:
            new = {a for a, after in enumerate(self._follow) if after & new} - found
            found |= new
        return found

    def fault(self, last: set[int]) -> Message | None:
        """Return what is wrong with a pattern that can end at the positions `last`."""
        loops = self._loops()
        lead_to_loops = self._leading_to(loops)
        n_ambiguous = 0
        for position, after in enumerate(self._follow):
            overlapping = [
                (a, b)
                for a, b in combinations(sorted(after), 2)
                if self._characters[a] & self._characters[b]
            ]
            n_ambiguous += bool(overlapping)
            in_loop = position in loops
            both_loop = any({a, b} <= lead_to_loops for a, b in overlapping)
            doubled = position in self._doubled
            if doubled or (in_loop and both_loop) or n_ambiguous > _MAX_AMBIGUOUS:
                return Message("pattern_ambiguous")
            if in_loop and " " in self._characters[position] and position not in last:
                return Message("pattern_runs_over_blanks")
        return None
