"""Disclosure control: decide which counts of records may be shown, and replace the others.

A page contains only counts of groups, not of inner nodes, and computes everything else from them,
so the only equation a reader can use is that, for each code, the groups add up to the total.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._types import Floats, Int64s
from momentree._validation import check_integer
from momentree.exceptions import InvalidDataError
from momentree.messages import Message

SMALL = -1
"""Replaces a count from 1 to `min_cell` - 1 (primary suppression)."""
HIDDEN = -2
"""Replaces a count from which a small one could be derived (complementary suppression)."""
HIDDEN_MARK = "*"
"""Replaces a hidden count, or another value from which a small count could be derived, in text."""

COUNTS = ("n_records", "n_rows", "n_entries", "n_entries_first", "n_patients")
"""Values of messages that count records, or rows or entries, which may belong to one record."""
PERSONS = ("n_records", "n_patients")
"""Those that are compared between notes."""
TOTAL = "n_all"
"""Value of messages that contains the number of all records."""
MISSING = ("n_missing", "n_missing_first")
"""Values of messages that count missing values."""
_HARMLESS = ("column", "columns", "outcome", "parameter", "source", "path", "system", "other")
"""Values of messages that do not come from single records."""


@dataclass(frozen=True)
class Published:
    """Counts (k, c) of groups and their totals (c,) for publication: exact values or markers."""

    counts: Int64s
    totals: Int64s

    def only(self, columns: NDArray[Any]) -> Published:
        """Return some of the columns."""
        return Published(self.counts[:, columns], self.totals[columns])

    def hide_classes(self) -> Published:
        """Hide all classes of a group with suppressed counts, except missing values, the last.

        The quartiles of the group would narrow them down. If this is one group, its counts would
        follow from those of the others, as a quarter of all numbers is in each class: the smallest
        other group is hidden too.
        """
        counts = self.counts.copy()
        hidden = np.asarray((counts < 0).any(axis=1))
        known = np.where(hidden, 0, counts[:, :-1].sum(axis=1))
        if hidden.sum() == 1 and known.any():
            hidden[np.argmin(np.where(known > 0, known, known.max() + 1))] = True
        counts[hidden, :-1] = HIDDEN
        totals = np.where((counts == HIDDEN).any(axis=0), HIDDEN, self.totals)
        return Published(counts, totals)


@dataclass(frozen=True)
class Disclosure:
    """The rules of disclosure control for `min_cell` >= 1, the smallest nonzero count shown."""

    min_cell: int

    def __post_init__(self) -> None:
        check_integer("min_cell", self.min_cell, at_least=1)

    @property
    def hides(self) -> bool:
        """Whether any count can be too small to show."""
        return self.min_cell > 1

    @property
    def symbol(self) -> str:
        """Text that replaces a small count."""
        return f"<{self.min_cell}"

    def is_small(self, counts: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which counts are nonzero and below the threshold."""
        return np.asarray((counts > 0) & (counts < self.min_cell))

    def suppress(self, counts: Int64s) -> Published:
        """Suppress small counts of k groups with c properties, and totals that narrow them down.

        A total is kept if none of its counts is suppressed, or if each of them can have any value
        from 1 to m - 1 for m = min_cell: if the sum e of what h of them exceed 1 by satisfies
        m - 2 <= e <= (h - 1) (m - 2). For m >= 3, each can also have any value if the total is
        hidden, except in a column of only two small counts, whose total is never shown.
        """
        table = np.where(self.is_small(counts), SMALL, counts)
        small = self.is_small(counts.sum(axis=0))
        return Published(table, np.where(small, SMALL, self._totals(counts, table)))

    def suppress_classes(self, counts: Int64s) -> Published:
        """Suppress small counts of c classes that partition each of k groups.

        Groups whose size is hidden are hidden as a whole, and so are totals that include a hidden
        count, or a small one from a group with several, so that each group discloses nothing of any
        other. `_suppress_rows` chooses the hidden counts of a group.
        """
        table = self._suppress_rows(counts)
        table[np.ix_(self.hides_size(counts.sum(axis=1)), counts.any(axis=0))] = HIDDEN
        small, total = table == SMALL, counts.sum(axis=0)
        tied = ((table == HIDDEN) | (small & (small.sum(axis=1, keepdims=True) > 1))).any(axis=0)
        few = self.is_small(total) & (small.sum(axis=0) <= self.min_cell - 2)
        totals = np.where(few, SMALL, self._totals(counts, table))
        return Published(table, np.where(tied, HIDDEN, totals))

    def hides_size(self, sizes: Int64s) -> NDArray[np.bool_]:
        """Return which sizes of groups are suppressed.

        The groups are gone through backwards, because small ones tend to be the last.
        """
        return np.asarray(self._suppress_rows(sizes[None, ::-1], ordered=True)[0, ::-1] < 0)

    def suppress_sizes(self, sizes: Int64s) -> tuple[Int64s, Floats]:
        """Suppress small sizes of k groups with known sum, and as many others as they need.

        Returns sizes, `SMALL` or `HIDDEN`, and estimates from published sizes, with the same sum.
        """
        shown = self._suppress_rows(sizes[None, ::-1], ordered=True)[0, ::-1]
        small, hidden = shown == SMALL, shown == HIDDEN
        alike = hidden.any() and not small.any()
        if alike or (small.any() and not (sizes >= self.min_cell).any()):
            raise InvalidDataError(
                "[all_groups_small] every group has fewer than {parameters.min_cell:{min_cell}} "
                "records, or its number would disclose that of such a group, so nothing can be "
                "shown; request fewer groups, or lower {parameters.min_cell} if small counts are "
                "not confidential",
                min_cell=self.min_cell,
            )
        # What is left of the sum is divided equally.
        left = hidden if hidden.any() else small
        estimates = np.where(left, 0.0, np.where(small, self.min_cell / 2.0, sizes))
        estimates[left] = (sizes.sum() - estimates.sum()) / max(int(left.sum()), 1)
        return shown, estimates

    def round_counts(self, counts: Int64s, sizes: Int64s, estimates: Floats) -> Int64s:
        """Round counts (k, c) of groups of hidden size to multiples of `min_cell`.

        An exact count, or one above the smallest size that the group may have, could disclose the
        size.
        """
        m, hidden = self.min_cell, np.flatnonzero(sizes == HIDDEN)
        most = np.full(len(sizes), m)
        for first in hidden[:1]:
            left = round(estimates[sizes < 0].sum()) - (sizes == SMALL).sum() - (m - 2)
            most[first] = left - (len(hidden) - 1) * m
        rounded = np.minimum(m * ((counts + m // 2) // m), m * (most // m)[:, None])
        return np.where((sizes == HIDDEN)[:, None] & (counts >= m), rounded, counts)

    def _suppress_rows(self, counts: Int64s, *, ordered: bool = False) -> Int64s:
        """Suppress small counts in rows of known sums, and as many others as they need.

        Let e be the sum of what the s small counts of a row exceed 1 by, and m = min_cell. If
        m - 2 < e <= (s - 1) (m - 2), each can have any value, and nothing else is hidden.
        Otherwise, the other nonzero counts are hidden from left to right until e and what they
        exceed m by sum to more than m - 2. If they never do, or no count exceeds m, all counts of
        the row are hidden alike, except columns of zeros.

        A reader who knows this rule cannot exclude any value from 1 to m - 1 of a count marked as
        small: if all others are 1, and the hidden counts are m, but the last one larger, they have
        the same sum and would be hidden in the same way. If all are hidden alike, they can be
        exchanged. This requires m >= 3, because "<2" means 1.

        If the counts may be `ordered`, and ascend, a reader who knows this can still not derive a
        count: all could be larger by one, and the last one hidden smaller, or smaller by one, and
        the last one larger. It has room for that if the next count is at least m + e.
        """
        m, small = self.min_cell, self.is_small(counts)
        shown = np.where(small, SMALL, counts)
        for place in np.flatnonzero(small.any(axis=1)):
            row, values, few = shown[place], counts[place], small[place]
            s, excess = int(few.sum()), int((values[few] - 1).sum())
            most = min((s - 1) * (m - 2), s * (m - 3)) if ordered else (s - 1) * (m - 2)
            if max(m - 2, s * ordered) < excess <= most:
                continue
            others = np.flatnonzero(~few & (values > 0))
            for h, at in enumerate(others, start=1):
                row[at] = HIDDEN
                excess += int(values[at]) - m
                free = excess > max(m - 2, (s + h) * ordered) and values.max() > m
                if ordered and h < len(others):
                    following = values[others[h]] - m
                    free &= following >= excess or (h == 1 and following < excess - s * (m - 2))
                if free:
                    break
            else:
                row[counts.any(axis=0)] = HIDDEN
        return shown

    def _totals(self, counts: Int64s, shown: Int64s) -> Int64s:
        """Return the totals of columns, or `HIDDEN` if they narrow small counts down."""
        m, small, total = self.min_cell, shown == SMALL, counts.sum(axis=0)
        h, excess = small.sum(axis=0), np.where(small, counts - 1, 0).sum(axis=0)
        free = (excess >= m - 2) & (excess <= (h - 1) * (m - 2))
        free &= (h > 2) | (excess + h < total)
        return np.where((h == 0) | free, total, HIDDEN)

    def known(self, sizes: Floats, missing: Sequence[int] | Int64s) -> Floats:
        """Estimate the known values of groups from their sizes and published missing values."""
        lacking = np.asarray(missing)
        return np.maximum(sizes - np.where(lacking < 0, self.min_cell / 2.0, lacking), 0.0)

    def estimate(self, published: Published) -> Floats:
        """Estimate the suppressed counts from the published ones alone.

        The remainder of a total is divided equally among its suppressed counts; if the total is
        hidden too, each estimate is `min_cell` / 2.
        """
        counts, totals = published.counts, published.totals
        hidden = counts < 0
        h = np.maximum(hidden.sum(axis=0), 1)
        known = np.where(hidden, 0, counts)
        half = self.min_cell / 2.0
        values = np.where(
            totals >= 0, (totals - known.sum(axis=0)) / h, np.where(totals == SMALL, half / h, half)
        )
        return np.where(hidden, values, known).astype(np.float64)

    def count(self, n: int) -> int | str:
        """Return a count, or "<5" if it is small."""
        return self.symbol if 0 < n < self.min_cell else n

    def size(self, sizes: Int64s, estimate: float, *, exact: bool) -> str:
        """Return the size of a node as text, given the published sizes of its groups."""
        if exact:
            return f"{round(estimate):,}"
        one = len(sizes) == 1 and sizes[0] == SMALL
        return self.symbol if one else f"about {round(estimate):,}"

    def size_symbols(self, sizes: Floats) -> list[str | None]:
        """Return the replacement of each size in a figure: "<5", "*" if hidden, or None."""
        whole = np.rint(sizes).astype(np.int64)
        if (whole >= self.min_cell).any():
            shown = self.suppress_sizes(whole)[0]
        else:  # the figure shows no other sizes to derive a hidden one from
            shown = np.where(self.is_small(whole), SMALL, whole)
        return [self.symbol if n == SMALL else HIDDEN_MARK if n == HIDDEN else None for n in shown]

    def join_rare(self, table: Int64s, names: list[str], other: str) -> tuple[Int64s, list[str]]:
        """Merge classes into `other` that are so rare that their names could identify a record.

        `table` (k, c + 1) contains the records of each class in each group, missing values last. If
        the rare classes are still rare together, they become missing. Returns the table and the
        names of the remaining classes.

        A class that is named is known to have at least `min_cell` records. In a group whose counts
        are all hidden, this could give them away: only the records of other groups count.
        """
        while True:
            hidden = (self._suppress_rows(table) == HIDDEN) | ~table.any(axis=0)
            open_ = ~(hidden.all(axis=1) | self.hides_size(table.sum(axis=1)))
            totals = table[open_, :-1].sum(axis=0)
            joined = totals < self.min_cell
            if not joined.any():
                return table, names
            joined |= np.array(names) == other
            known, few = table[:, :-1], totals[joined].sum() < self.min_cell
            merged = known[:, joined].sum(axis=1, keepdims=True)
            names = [name for name, gone in zip(names, joined, strict=True) if not gone]
            last = [table[:, -1:] + merged] if few else [merged, table[:, -1:]]
            table = np.hstack([known[:, ~joined], *last])
            names = names if few else [*names, other]

    def notes(self, notes: Sequence[Message], shown: Iterable[int]) -> list[Message]:
        """Round the counts in notes that disclose a small number of records, and say so in a note.

        A note is rounded if one of its counts is small, or could be subtracted from another one to
        give a small difference: another count of the same note, one of `shown` (the counts shown
        elsewhere), or a count of records or patients in a note that is not rounded. Numbers of
        missing values are always left out: they are sums of numbers that may be suppressed in
        groups, two of which would follow if both are 4 and their sum were known to be 8.
        """
        known, kept, n_rounded = set(shown), list[Message](), 0
        for note in notes:
            numbers = list(_numbers("", note))
            counts = {n for name, n in numbers if name in COUNTS}
            if counts:
                counts |= {n for name, n in numbers if name == TOTAL}
            persons = {n for name, n in numbers if counts and name in (*PERSONS, TOTAL)}
            differences = [n - m for n in counts for m in counts]
            differences += [n - m for n in persons for m in known]
            # Any number may be the total, whatever its name is.
            differences += [n - m for _, n in numbers for m in known if m >= 10 * self.min_cell]
            small = self.is_small(np.abs([*counts, *differences])).any()
            if small or (self.hides and any(n for name, n in numbers if name in MISSING)):
                names = (*COUNTS, TOTAL) if small else MISSING
                note = _rounded(note, names, set(known), self.min_cell)
                n_rounded += 1
            else:
                known |= persons
            kept.append(note)
        if n_rounded:
            kept.append(
                Message(
                    "[notes_rounded] {n_notes:~note} {n_notes:?has/have} no exact numbers here, to "
                    "protect counts below {min_cell}",
                    n_notes=n_rounded,
                    min_cell=self.min_cell,
                )
            )
        return kept

    def class_rate(
        self, outcome: Mapping[str, Any], at: int, groups: Sequence[int], sizes: Floats
    ) -> tuple[float, bool]:
        """Return the rate of a class of an outcome in some groups, and whether it is an estimate.

        `outcome` is one of `count_outcomes`; `sizes` are those of all groups. The rate refers to
        records with a known value, and is NaN if there are none. A count hidden to protect a small
        one is estimated by the size of the group minus the counts of other classes.
        """
        groups = list(groups)
        half = self.min_cell / 2.0
        table = np.array([one["counts"] for one in outcome["classes"]] + [outcome["missing"]])
        one = outcome["classes"][at]
        counts, missing = table[at], table[-1]
        small = self.estimate(Published(counts[:, None], np.array([one["total"]])))[:, 0]
        n_small = (table == SMALL).sum(axis=0)
        if outcome["binary"]:
            # "Yes" is hidden if "no", which has no column, is small.
            n_small = n_small + (counts == HIDDEN)
        left = sizes - np.where(table >= 0, table, 0).sum(axis=0) - n_small * half
        hidden = np.maximum(0.0, left) / np.maximum((table == HIDDEN).sum(axis=0), 1)
        ones = np.where(counts == HIDDEN, hidden, small)
        unknown = np.where(missing == HIDDEN, hidden, np.where(missing < 0, half, missing))
        known = float((sizes - unknown)[groups].sum())
        unsure = counts[groups] < 0
        summed = outcome["binary"] and one["total"] >= 0 and unsure.sum() == (counts < 0).sum()
        estimated = bool((unsure.any() and not summed) or (missing[groups] < 0).any())
        rate = min(float(ones[groups].sum()) / known, 1.0) if known > 0 else float("nan")
        return rate, estimated

    def group_rates(
        self, outcome: Mapping[str, Any], at: int, sizes: Floats
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the rates that `class_rate` publishes for a class of an outcome, one per group."""
        rates = [self.class_rate(outcome, at, [group], sizes) for group in range(len(sizes))]
        return np.array([rate for rate, _ in rates]), np.array([guess for _, guess in rates])

    def permits_accuracy(self, counted: Sequence[Mapping[str, Any]], values: Sequence[Any]) -> bool:
        """Whether the exact accuracy of predicting an outcome, a ratio of its counts, may be shown.

        This is the case if no count from `count_outcomes` is suppressed, and no class is small or
        was merged with others.
        """
        suppressed = any(
            n < 0
            for outcome in counted
            for one in ({"counts": outcome["missing"], "total": 0}, *outcome["classes"])
            for n in (*one["counts"], one["total"])
        )
        sizes = Counter(value for value in values if value == value and value != "").values()
        named = sum(len(outcome["classes"]) + outcome["binary"] for outcome in counted)
        merged = self.hides and len(sizes) > named
        return not suppressed and not merged and min(sizes, default=0) >= self.min_cell

    def rough_auc(self, outcome: Mapping[str, Any], sizes: Floats) -> float | None:
        """Return the area under the ROC curve of the published rates of "yes", None if undefined.

        `outcome` is a binary one of `count_outcomes`; `sizes` are those of all groups.
        """
        rates = np.nan_to_num(self.group_rates(outcome, 0, sizes)[0])
        known = self.known(sizes, outcome["missing"])
        pairs = np.outer(rates * known, (1.0 - rates) * known)
        if not pairs.sum() > 0:
            return None
        above = np.sign(rates[:, None] - rates)
        return float((pairs * (1.0 + above)).sum() / (2.0 * pairs.sum()))

    def decimals(self, n: float) -> int:
        """Return decimals (0 to 4) so that one step of a share of n covers `min_cell` records."""
        if not self.hides:
            return 4
        return int(np.clip(np.floor(np.log10(n / self.min_cell)), 1, 4))


def _numbers(name: str, value: Any) -> Iterator[tuple[str, int]]:
    """Yield all integers in a message and in nested messages, with their names."""
    if isinstance(value, Message):
        for key, inner in value.values.items():
            yield from _numbers(key, inner)
    elif isinstance(value, Mapping | list | tuple):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _numbers(name, inner)
    elif isinstance(value, int | np.integer) and not isinstance(value, bool):
        yield name, int(value)


class _Text(str):
    """Text instead of a number, whatever the format of the number is."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        return str(self)


def _rounded(note: Message, names: Collection[str], known: set[int], min_cell: int) -> Message:
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
            return _Text("...") if few and name == "origin" else Message(value.template, **inner)
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
