"""The counts that a page of records shows, and the frequencies a reader may take from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree.metrics import GroupProfiles
from momentree.report.records_privacy import (
    HIDDEN,
    Published,
    estimated,
    hide_sizes,
    hide_small,
)

__all__ = ["ShownTable", "shown_table"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ShownTable:
    """What is shown of groups and codes; everything else on the page is computed from it.

    Attributes
    ----------
    sizes : ndarray of int of shape (k,)
        Records of each group; negative where hidden.
    about : ndarray of shape (k,)
        What they may be taken for; the sum is the number of records.
    counts : Published
        Records with each code, (k, d).
    missing : Published or None
        Records in which it is not known whether they have the code; None where there are none.
    expected : ndarray of shape (k, d)
        What the counts may be taken for.
    observed : ndarray of shape (k, d)
        What the records in which a code is known may be taken for.
    min_cell : int
        The smallest count above zero that is shown.
    """

    sizes: Ints
    about: Floats
    counts: Published
    missing: Published | None
    expected: Floats
    observed: Floats
    min_cell: int

    def rates(self, groups: Sequence[int]) -> Floats:
        """Return the frequency of each code in some groups together.

        Parameters
        ----------
        groups : sequence of int
            Their numbers.

        Returns
        -------
        ndarray of shape (d,)
            In [0, 1]; zero where nothing is known.
        """
        at = list(groups)
        known = self.observed[at].sum(axis=0)
        ones = np.minimum(self.expected[at].sum(axis=0), known)
        return np.asarray(ones / np.where(known > 0, known, 1.0))

    def told(self, groups: Sequence[int]) -> NDArray[np.bool_]:
        """Return for which codes the count in some groups together is more than a guess.

        Parameters
        ----------
        groups : sequence of int
            Their numbers.

        Returns
        -------
        ndarray of bool of shape (d,)
            Where the counts that are shown outweigh those that are hidden.
        """
        counts = self.counts.counts[list(groups)]
        seen = np.where(counts > 0, counts, 0).sum(axis=0)
        guessed = np.where(counts < 0, self.expected[list(groups)], 0.0).sum(axis=0)
        return np.asarray((seen > guessed) & (seen > 0))

    def estimated(self, groups: Sequence[int]) -> NDArray[np.bool_]:
        """Return for which codes a hidden number has a part in the frequency in some groups.

        Parameters
        ----------
        groups : sequence of int
            Their numbers.

        Returns
        -------
        ndarray of bool of shape (d,)
            False where the hidden numbers of all groups are among them and their sum is known.
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

    def of_codes(self, columns: NDArray[np.intp]) -> ShownTable:
        """Return the same for some of the codes.

        Parameters
        ----------
        columns : ndarray of int of shape (c,)
            Their places.

        Returns
        -------
        ShownTable
            Of the same groups.
        """

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
            "about": self.about.tolist(),
            "counts": self.counts.counts.tolist(),
            "missing": None
            if missing is None
            else {"counts": missing.counts.tolist(), "totals": missing.totals.tolist()},
        }


def shown_table(profiles: GroupProfiles, min_cell: int) -> ShownTable:
    """Hide what is small in the profiles of groups.

    Parameters
    ----------
    profiles : GroupProfiles
        Of unweighted records.
    min_cell : int >= 1
        The smallest count above zero that may be shown.

    Returns
    -------
    ShownTable
        Counts of a group whose size is hidden behind smaller ones are rounded to multiples of
        `min_cell`: a code that all of its records have would tell the size.

    Raises
    ------
    InvalidDataError
        If every group is smaller than `min_cell`.
    """
    whole = np.rint(profiles.n_records).astype(np.int64)
    sizes, about = hide_sizes(whole, min_cell)
    ones = np.rint(profiles.counts).astype(np.int64)
    unknown = whole[:, None] - np.rint(profiles.observed).astype(np.int64)
    for table in (ones, unknown):
        rounded = min_cell * ((table + min_cell // 2) // min_cell)
        table[:] = np.where((sizes == HIDDEN)[:, None] & (table >= min_cell), rounded, table)
    counts = hide_small(ones, min_cell)
    missing = hide_small(unknown, min_cell) if unknown.any() else None
    lacking = 0.0 if missing is None else estimated(missing, min_cell)
    return ShownTable(
        sizes=sizes,
        about=about,
        counts=counts,
        missing=missing,
        expected=estimated(counts, min_cell),
        observed=np.maximum(about[:, None] - lacking, 0.0) + np.zeros(ones.shape),
        min_cell=min_cell,
    )
