"""Disclosure control: decide which counts of records may be shown, and replace the others.

A page contains only counts of groups, not of inner nodes, and computes everything else from them,
so the only equation a reader can use is that, for each code, the groups add up to the total.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._types import Floats, Int64s, Ints
from momentree._validation import check_integer
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.report._about import rounded

SMALL = -1
"""Replaces a count from 1 to `min_cell` - 1 (primary suppression)."""
HIDDEN = -2
"""Replaces a count from which a small one could be derived (complementary suppression)."""

COUNTS = ("n_records", "n_rows", "n_entries", "n_entries_first", "n_patients")
"""Values of messages that count records, or rows or entries, which may belong to one record."""
PERSONS = ("n_records", "n_patients")
"""Those that are compared between notes."""
TOTAL = "n_all"
"""Value of messages that contains the number of all records."""


@dataclass(frozen=True)
class Published:
    """Counts (k, c) of groups and their totals (c,) for publication: exact values or markers."""

    counts: Int64s
    totals: Int64s


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

        A total is kept if none of its counts is suppressed, or if the sum H of its h suppressed
        counts satisfies h + m - 2 <= H <= 1 + (h - 1) (m - 1) for m = min_cell, because each count
        can then still have any value from 1 to m - 1.
        """
        m, small = self.min_cell, self.is_small(counts)
        h, total = small.sum(axis=0), counts.sum(axis=0)
        hidden = np.where(small, counts, 0).sum(axis=0)
        free = (h == 0) | ((hidden >= h + m - 2) & (hidden <= 1 + (h - 1) * (m - 1)))
        totals = np.where(self.is_small(total), SMALL, np.where(free, total, HIDDEN))
        return Published(np.where(small, SMALL, counts), totals)

    def suppress_classes(self, counts: Int64s) -> Published:
        """Suppress small counts of c classes that partition each of k groups of known size.

        In a row with small counts, the smallest other count is hidden too, so that no small count
        is a difference of known numbers. If, given their sum, all counts in a row could be small,
        the whole row is hidden. Totals that include a hidden count are hidden too.
        """
        published = self.suppress(counts)
        table = published.counts.copy()
        for row, values in zip(table, counts, strict=True):
            if not (row == SMALL).any():
                continue
            if values.sum() <= len(values) * (self.min_cell - 1):
                row[:] = HIDDEN
            else:
                _hide_smallest(row, values, self.min_cell)
        hidden = (table == HIDDEN).any(axis=0) & (published.totals > 0)
        return Published(table, np.where(hidden, HIDDEN, published.totals))

    def suppress_binary(self, counts: Int64s) -> Published:
        """Suppress counts of k groups in columns "no", "yes" and unknown; return the last two.

        "No" is never shown. "Yes" is hidden if "no" is small ("18 of 20" discloses the other two),
        if a small unknown count could be derived from it, and, to give no hint which of the two is
        small, if few values are known. The unknown count is hidden if few values are known. Totals
        that include a hidden count are hidden too.
        """
        m, small = self.min_cell, self.is_small(counts)
        published = self.suppress(counts[:, 1:])
        table = published.counts.copy()
        no, yes, unknown = counts.T
        known = no + yes
        either = small[:, :2].any(axis=1) & (known >= m) & (known <= 2 * (m - 1))
        derived = small[:, 2] & (no + unknown < m + 2)
        table[either | ((yes >= m) & (small[:, 0] | derived)), 0] = HIDDEN
        table[self.is_small(known) & (unknown >= m), 1] = HIDDEN
        table[small.any(axis=1) & (unknown > 0) & (counts.sum(axis=1) <= 3 * (m - 1))] = HIDDEN
        # If few records have "no", all in groups without "yes", the total discloses their
        # number.
        if 0 < no.sum() < m and not (table[:, 0] == HIDDEN).any() and (yes >= m).any():
            _hide_smallest(table[:, 0], yes, m)
        hidden = (table == HIDDEN).any(axis=0)
        return Published(table, np.where(hidden, HIDDEN, published.totals))

    def suppress_sizes(self, sizes: Int64s) -> tuple[Int64s, Floats]:
        """Suppress small sizes of k groups with known sum and, if there are any, the next smallest.

        Returns sizes, `SMALL` or `HIDDEN`, and estimates from published sizes, with the same sum.
        """
        small = self.is_small(sizes)
        if not small.any():
            return sizes, sizes.astype(np.float64)
        if not (sizes >= self.min_cell).any():
            raise InvalidDataError("all_groups_small", min_cell=self.min_cell)
        shown = np.where(small, SMALL, sizes)
        other = _hide_smallest(shown, sizes, self.min_cell)
        estimates = np.where(small, self.min_cell / 2.0, sizes)
        estimates[other] += sizes.sum() - estimates.sum()
        return shown, estimates

    def round_counts(self, counts: Int64s, sizes: Int64s) -> Int64s:
        """Round counts (k, c) of groups of hidden size to multiples of `min_cell`.

        The largest exact count could be close to the size.
        """
        m = self.min_cell
        rounded = m * ((counts + m // 2) // m)
        return np.where((sizes == HIDDEN)[:, None] & (counts >= m), rounded, counts)

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
        return [self.symbol if n == SMALL else "*" if n == HIDDEN else None for n in shown]

    def join_rare(self, classes: Ints, names: list[str], other: str) -> tuple[Ints, list[str]]:
        """Merge classes into `other` that are so rare that their names could identify a record.

        If they are still rare together, they become missing (-1). Returns the class of each record,
        and the names of the remaining classes.
        """
        totals = np.bincount(classes[classes >= 0], minlength=len(names))
        if not (totals < self.min_cell).any():
            return classes, names
        joined = (totals < self.min_cell) | (np.array(names) == other)
        place = np.append(np.cumsum(~joined) - 1, -1)  # the last entry is for -1, missing
        kept = [name for name, gone in zip(names, joined, strict=True) if not gone]
        few = totals[joined].sum() < self.min_cell
        place[:-1][joined] = -1 if few else len(kept)
        return place[classes].astype(np.intp), kept if few else [*kept, other]

    def notes(self, notes: Sequence[Message], shown: Iterable[int]) -> list[Message]:
        """Round the counts in notes that disclose a small number of records, and say so in a note.

        A note is rounded if one of its counts is small, or could be subtracted from another one to
        give a small difference: another count of the same note, one of `shown` (the counts shown
        elsewhere), or a count of records or patients in a note that is not rounded.
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
            if self.is_small(np.abs([*counts, *differences])).any():
                note = rounded(note, (*COUNTS, TOTAL), set(known), self.min_cell)
                n_rounded += 1
            else:
                known |= persons
            kept.append(note)
        if n_rounded:
            kept.append(Message("notes_rounded", n_notes=n_rounded, min_cell=self.min_cell))
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

    def permits_accuracy(self, counted: Iterable[Mapping[str, Any]], values: Sequence[Any]) -> bool:
        """Whether the exact accuracy of predicting an outcome, a ratio of its counts, may be shown.

        This is the case if no count from `count_outcomes` is suppressed and no class is small, not
        even one that was merged with others.
        """
        suppressed = any(
            n < 0
            for outcome in counted
            for one in ({"counts": outcome["missing"], "total": 0}, *outcome["classes"])
            for n in (*one["counts"], one["total"])
        )
        sizes = Counter(value for value in values if value == value and value != "").values()
        return not suppressed and min(sizes, default=0) >= self.min_cell

    def decimals(self, n: float) -> int:
        """Return decimals (0 to 4) so that one step of a share of n covers `min_cell` records."""
        if not self.hides:
            return 4
        return int(np.clip(np.floor(np.log10(n / self.min_cell)), 1, 4))


def _hide_smallest(shown: Int64s, values: NDArray[Any], min_cell: int) -> int:
    """Hide the smallest count that is not small, in place; return its position."""
    large = np.flatnonzero((values >= min_cell) & (shown >= 0))
    at = int(large[np.argmin(values[large])])
    shown[at] = HIDDEN
    return at


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
