"""Suppress counts for a page of records, and compute frequencies from the published counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._types import Floats, Int64s, Ints
from momentree.metrics import GroupProfiles
from momentree.report.disclosure import Disclosure, Published


@dataclass(frozen=True)
class PublishedTable:
    """Published counts of k groups and d codes, from which the page computes everything else.

    `expected` and `observed` (k, d) estimate the counts, and the records where a code is known.
    """

    sizes: Int64s
    size_estimates: Floats
    counts: Published
    missing: Published | None
    expected: Floats
    observed: Floats
    disclosure: Disclosure

    @classmethod
    def of(cls, profiles: GroupProfiles, disclosure: Disclosure) -> PublishedTable:
        """Suppress small counts in the profiles of groups of unweighted records."""
        whole = np.rint(profiles.n_records).astype(np.int64)
        sizes, size_estimates = disclosure.suppress_sizes(whole)
        # Round, because a code that all records of a hidden group have would disclose its size.
        ones = np.rint(profiles.counts).astype(np.int64)
        unknown = whole[:, None] - np.rint(profiles.observed).astype(np.int64)
        share = size_estimates / (2.0 if unknown.any() else 1.0)
        ones, unknown = (disclosure.round_counts(n, sizes, share) for n in (ones, unknown))
        # Both are at most the whole group: of each, leave room for any small number of the other.
        most = np.where(sizes < 0, whole.sum(), whole - disclosure.min_cell)[:, None]
        ones = np.where(disclosure.is_small(unknown), np.minimum(ones, most), ones)
        unknown = np.where(unknown < whole[:, None], np.minimum(unknown, most), unknown)
        counts = disclosure.suppress(ones)
        missing = disclosure.suppress(unknown) if unknown.any() else None
        lacking = 0.0 if missing is None else disclosure.estimate(missing)
        return cls(
            sizes=sizes,
            size_estimates=size_estimates,
            counts=counts,
            missing=missing,
            expected=disclosure.estimate(counts),
            observed=np.maximum(size_estimates[:, None] - lacking, 0.0) + np.zeros(ones.shape),
            disclosure=disclosure,
        )

    def rates(self, groups: Sequence[int]) -> Floats:
        """Return the frequency of each code in the union of some groups; 0 if nothing is known."""
        at = list(groups)
        known = self.observed[at].sum(axis=0)
        ones = np.minimum(self.expected[at].sum(axis=0), known)
        return np.asarray(ones / np.where(known > 0, known, 1.0))

    def disclosed(self, groups: Sequence[int]) -> NDArray[np.bool_]:
        """Return the codes whose published counts in some groups outweigh the suppressed ones."""
        counts = self.counts.counts[list(groups)]
        shown = np.where(counts > 0, counts, 0).sum(axis=0)
        guessed = np.where(counts < 0, self.expected[list(groups)], 0.0).sum(axis=0)
        return np.asarray((shown > guessed) & (shown > 0))

    def estimated(self, groups: Sequence[int]) -> NDArray[np.bool_]:
        """Return the codes whose frequency in some groups depends on a suppressed number.

        It does not if these groups include all suppressed numbers and their sum is known.
        """
        inside = np.zeros(len(self.sizes), dtype=bool)
        inside[list(groups)] = True
        hidden = self.sizes < 0
        unknown = np.full(
            self.counts.totals.shape, (hidden & inside).any() and (hidden & ~inside).any()
        )
        for table in (self.counts, self.missing):
            if table is None:
                continue
            hidden = table.counts < 0
            whole = (table.totals >= 0) & ~hidden[~inside].any(axis=0)
            unknown |= hidden[inside].any(axis=0) & ~whole
        return unknown

    def known(self) -> NDArray[np.bool_]:
        """Return the codes of which no number is suppressed, in any group."""
        tables = [table for table in (self.counts, self.missing) if table is not None]
        shown = np.all(
            [(one.counts >= 0).all(axis=0) & (one.totals >= 0) for one in tables], axis=0
        )
        return np.asarray(shown & (self.sizes >= 0).all())

    def of_codes(self, columns: Ints) -> PublishedTable:
        """Return the table of some of the codes."""

        def only(table: Published) -> Published:
            return Published(table.counts[:, columns], table.totals[columns])

        return replace(
            self,
            counts=only(self.counts),
            missing=None if self.missing is None else only(self.missing),
            expected=self.expected[:, columns],
            observed=self.observed[:, columns],
        )

    def as_json(self) -> dict[str, Any]:
        """Return sizes and counts as lists."""
        missing = self.missing
        return {
            "sizes": self.sizes.tolist(),
            "estimated": self.size_estimates.tolist(),
            "counts": self.counts.counts.tolist(),
            "missing": None
            if missing is None
            else {"counts": missing.counts.tolist(), "totals": missing.totals.tolist()},
        }
