"""Whether a regular expression can take for ever: patterns of words come with models of others."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

__all__ = ["fault_of_pattern"]

# Letters, digits and signs of most alphabets, by which two classes of characters are compared.
_CHARACTERS = "".join(map(chr, [*range(0x0700), *range(0x1E00, 0x2100), *range(0x3000, 0x3100)]))
_ONE_CHARACTER = {"LITERAL", "NOT_LITERAL", "ANY", "IN", "CATEGORY", "RANGE"}
_REPEATS = {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}
_FEW = 32
"""So many repetitions are no loop."""

_DOUBTS = 8
"""So many places outside loops may be followed in two ways: the ways multiply."""

_PLACES = 5_000
"""The most places of characters in a pattern that is looked at."""

_WAYS = 4_000_000
"""The most ways from one place to two others, each of which is looked at: a third of a second."""


@cache
def fault_of_pattern(pattern: str) -> str | None:
    """Say why a pattern can take time beyond all bounds on some text; None if it cannot.

    Parameters
    ----------
    pattern : str
        A regular expression.

    Returns
    -------
    str or None
        The part that is at fault, for a message.

    Notes
    -----
    Python looks for a match by trying one way after the other, and the ways multiply where a loop
    can go on in two ways with the same character: "(a+)+", "(?:a|ab|b)*" or "a*a*b". Two places in
    a pattern (of its Glushkov automaton) are such ways if they follow the same place in a loop,
    have a character in common and both lead to loops, or are one place that follows twice. A loop
    over blanks must be the end of the pattern, or else the search runs to the end of the text from
    every place in it. What passes takes time linear in the text, times the square of the length
    of a word.

    Examples
    --------
    >>> from momentree.readers.text._patterns import fault_of_pattern
    >>> fault_of_pattern(r"[a-z]+(?:-[a-z]+)*"), fault_of_pattern(r"(?:[a-z]+-?)+")
    (None, 'a repetition can go on in two ways')
    """
    parser = importlib.import_module("re._parser")
    automaton = _Automaton(importlib.import_module("re._compiler"))
    try:
        tree = parser.parse(pattern)
        automaton.flags = tree.state.flags
        whole = automaton.add(tree)
    except _CannotTellError as error:
        return str(error)
    return automaton.fault(whole.last)


class _CannotTellError(Exception):
    """The pattern has a part whose time has no bound that is known."""


@dataclass
class _Part:
    """Places where a part of a pattern can begin and end, and whether it can be empty."""

    first: set[int] = field(default_factory=set)
    last: set[int] = field(default_factory=set)
    empty: bool = True


class _Automaton:
    """The places of characters in a pattern, and which can follow which."""

    def __init__(self, compiler: Any) -> None:
        self.flags = 0
        self._compiler = compiler
        self._known: dict[str, frozenset[str]] = {}
        self._sets: list[frozenset[str]] = []
        self._follow: list[set[int]] = []
        self._twice: set[int] = set()
        self._n_ways = 0

    def add(self, items: Any) -> _Part:
        """Add a sequence of parsed items."""
        whole = _Part()
        for i in range(len(items)):
            part = self._item(items, i)
            self._join(whole.last, part.first)
            whole.first |= part.first if whole.empty else set()
            whole.last = part.last | (whole.last if part.empty else set())
            whole.empty = whole.empty and part.empty
        return whole

    def _item(self, items: Any, i: int) -> _Part:
        kind, value = items[i]
        name = str(kind)
        if name in _ONE_CHARACTER:
            return self._character(items[i : i + 1])
        if name in _REPEATS:
            return self._repeat(*value)
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
            if around.loops():
                msg = "it looks ahead or back over any number of characters"
                raise _CannotTellError(msg)
            return _Part()
        msg = "it refers back to a group"
        raise _CannotTellError(msg)

    def _character(self, item: Any) -> _Part:
        if len(self._sets) >= _PLACES:
            msg = "it is too long"
            raise _CannotTellError(msg)
        key = str(item)
        if key not in self._known:
            matches = self._compiler.compile(item, self.flags).finditer(_CHARACTERS)
            self._known[key] = frozenset(match[0] for match in matches)
        self._sets.append(self._known[key])
        self._follow.append(set())
        place = {len(self._sets) - 1}
        return _Part(place, set(place), empty=False)

    def _repeat(self, least: int, most: int, items: Any) -> _Part:
        most = int(most)
        if most <= 1 or (least == most and most <= _FEW and not self._holds_loop(items)):
            parts = [self.add(items) for _ in range(most)]
            whole = _Part()
            for part in parts:
                self._join(whole.last, part.first)
                whole = _Part(whole.first or part.first, part.last, whole.empty and part.empty)
            return _Part(whole.first, whole.last, whole.empty or least == 0)
        part = self.add(items)
        self._join(part.last, part.first)
        if part.empty and least > 1:  # each of the first repetitions may be empty or not
            self._twice |= part.last
        return _Part(part.first, part.last, part.empty or least == 0)

    def _holds_loop(self, items: Any) -> bool:
        return any(str(kind) in _REPEATS | {"BRANCH", "SUBPATTERN"} for kind, _ in items)

    def _join(self, last: set[int], first: set[int]) -> None:
        for place in last:
            after = self._follow[place]
            if after & first:
                self._twice.add(place)
            self._n_ways -= len(after) ** 2
            after |= first
            self._n_ways += len(after) ** 2
            if self._n_ways > _WAYS:
                msg = "too many places in it can follow one another"
                raise _CannotTellError(msg)

    def loops(self) -> set[int]:
        """Return the places that can come again."""
        n = len(self._sets)
        pairs = [(a, b) for a in range(n) for b in self._follow[a]]
        if not pairs:
            return set()
        rows, columns = zip(*pairs, strict=True)
        graph = sp.coo_array((np.ones(len(pairs)), (rows, columns)), shape=(n, n))
        _, group = connected_components(graph, connection="strong")
        sizes = np.bincount(group)
        return {
            place for place in range(n) if sizes[group[place]] > 1 or place in self._follow[place]
        }

    def _before(self, places: set[int]) -> set[int]:
        """Return these places and all that lead to one of them."""
        found, new = set(places), set(places)
        while new:
            new = {a for a, after in enumerate(self._follow) if after & new} - found
            found |= new
        return found

    def fault(self, last: set[int]) -> str | None:
        """Say what is wrong with a pattern that can end at these places."""
        loops = self.loops()
        lead_to_loops = self._before(loops)
        doubts = 0
        for place, after in enumerate(self._follow):
            in_two_ways = [
                (a, b) for a, b in combinations(sorted(after), 2) if self._sets[a] & self._sets[b]
            ]
            doubts += bool(in_two_ways)
            ways = any(a in lead_to_loops and b in lead_to_loops for a, b in in_two_ways)
            if place in self._twice or (place in loops and ways) or doubts > _DOUBTS:
                return "a repetition can go on in two ways"
            if place in loops and " " in self._sets[place] and place not in last:
                return "a repetition over blanks is not the end"
        return None
