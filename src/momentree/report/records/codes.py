"""Codes of groups of records: published counts, nodes and the heat map."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree.assignment.posteriors import IncompleteAssigner
from momentree.estimators.names import choose_codes, most_relevant
from momentree.metrics import GroupProfiles
from momentree.report.disclosure import Published
from momentree.report.groups import DIGITS, Groups
from momentree.report.text import clean_text

_FEW_CODES = 2 / 3
_COMMON = 0.5
"""In a residual group, records have fewer codes than this fraction of the overall mean, and no code
occurs in half of them. Births also have few codes, but they have the same ones."""
_MAX_RECORDS = 2_000
_LEVELS = 10
_AT_ONCE = 1 << 14
"""Records that are unpacked at a time."""


@dataclass(frozen=True)
class PublishedTable:
    """Published counts of k groups and d codes, from which the page computes everything else.

    `expected` and `observed` (k, d) estimate the counts, and the records where a code is known.
    """

    groups: Groups
    counts: Published
    missing: Published | None
    expected: Floats
    observed: Floats

    @classmethod
    def of(cls, profiles: GroupProfiles, groups: Groups) -> PublishedTable:
        """Suppress small counts in the profiles of groups of unweighted records."""
        disclosure, sizes, estimates = groups.disclosure, groups.sizes, groups.estimates
        whole = np.rint(profiles.n_records).astype(np.int64)
        # Round, because a code that all records of a hidden group have would disclose its size.
        ones = np.rint(profiles.counts).astype(np.int64)
        unknown = whole[:, None] - np.rint(profiles.observed).astype(np.int64)
        share = estimates / (2.0 if unknown.any() else 1.0)
        ones, unknown = (disclosure.round_counts(n, sizes, share) for n in (ones, unknown))
        # Both are at most the whole group: of each, leave room for any small number of the other.
        most = np.where(sizes < 0, whole.sum(), whole - disclosure.min_cell)[:, None]
        ones = np.where(disclosure.is_small(unknown), np.minimum(ones, most), ones)
        unknown = np.where(unknown < whole[:, None], np.minimum(unknown, most), unknown)
        counts = disclosure.suppress(ones)
        missing = disclosure.suppress(unknown) if unknown.any() else None
        lacking = 0.0 if missing is None else disclosure.estimate(missing)
        observed = np.maximum(estimates[:, None] - lacking, 0.0) + np.zeros(ones.shape)
        return cls(groups, counts, missing, disclosure.estimate(counts), observed)

    @property
    def tables(self) -> list[Published]:
        """The counts of ones, and of missing values if there are any."""
        return [table for table in (self.counts, self.missing) if table is not None]

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
        inside, hidden = np.zeros(self.groups.k, dtype=bool), self.groups.sizes < 0
        inside[list(groups)] = True
        parted = (hidden & inside).any() and (hidden & ~inside).any()
        unknown = np.full(self.counts.totals.shape, parted)
        for table in self.tables:
            hidden = table.counts < 0
            whole = (table.totals >= 0) & ~hidden[~inside].any(axis=0)
            unknown |= hidden[inside].any(axis=0) & ~whole
        return unknown

    def known(self) -> NDArray[np.bool_]:
        """Return the codes of which no number is suppressed, in any group."""
        shown = [(one.counts >= 0).all(axis=0) & (one.totals >= 0) for one in self.tables]
        return np.asarray(np.all(shown, axis=0) & (self.groups.sizes >= 0).all())

    def of_codes(self, columns: Ints) -> PublishedTable:
        """Return the table of some of the codes."""
        return replace(
            self,
            counts=self.counts.only(columns),
            missing=None if self.missing is None else self.missing.only(columns),
            expected=self.expected[:, columns],
            observed=self.observed[:, columns],
        )


def describe_codes(
    published: PublishedTable, names: Mapping[str, list[str]], columns: Ints
) -> dict[str, Any]:
    """Return the sections ``codes``, ``groups``, ``common`` and ``scoring`` of some columns.

    The assigner of incomplete records comes from the published counts alone. A suppressed count is
    replaced by its estimate, so no small count can be derived from the probabilities. If nothing is
    suppressed, they are those of ``predict_incomplete_proba``.
    """
    groups, everyone = published.groups, range(published.groups.k)
    base, observed = published.rates(everyone), published.observed
    counts, *missing = [
        {"counts": table.counts.tolist(), "totals": table.totals.tolist()}
        for table in published.tables
    ]
    expected = published.expected.clip(max=observed).round(4)
    return {
        "codes": {
            **{key: [texts[j] for j in columns] for key, texts in names.items()},
            "total": counts["totals"],
            "rate": np.round(base, DIGITS).tolist(),
            "estimated": published.estimated(everyone).tolist(),
        },
        "groups": {
            "sizes": groups.sizes.tolist(),
            "estimated": groups.estimates.tolist(),
            "counts": counts["counts"],
            "missing": missing[0] if missing else None,
        },
        "common": np.lexsort((np.arange(len(base)), -np.round(base, DIGITS))).tolist(),
        "scoring": IncompleteAssigner(expected, observed.round(4), groups.estimates).to_dict(),
    }


def describe_nodes(
    table: PublishedTable, names: Mapping[str, list[str]], n_codes: int
) -> list[dict[str, Any]]:
    """Describe every node for `summarize_records`, in pre-order, with at most `n_codes` codes."""
    groups = table.groups
    base = table.rates(range(groups.k))
    all_rates = [table.rates(leaves) for leaves in groups.below]
    disclosed = [table.disclosed(leaves) for leaves in groups.below]
    parents = [0 if node.parent is None else node.parent.node_id for node in groups.root.nodes()]
    named = choose_codes(all_rates, parents, names["name"], disclosed)
    parts = {key: [[texts[j] for j in codes] for codes in named] for key, texts in names.items()}
    nodes = groups.describe(parts["short"], parts["name"], "(no common codes)")
    for node, rates, shown in zip(nodes, all_rates, disclosed, strict=True):
        top, per_record = most_relevant(rates, base, shown)[:n_codes], float(rates.sum())
        few = per_record < _FEW_CODES * base.sum() and rates.max() < _COMMON
        node.update(
            {
                "codes_per_record": round(per_record, DIGITS),
                "residual": bool(node["leaf"] is not None and few),
                "top": top.tolist(),
                "top_rates": np.round(rates[top], DIGITS).tolist(),
                "top_estimated": table.estimated(node["leaves"])[top].tolist(),
            }
        )
    return nodes


def draw_heat_map(
    X: sp.csr_array[Any], groups: Groups, columns: Ints, *, ids: NDArray[Any] | None, single: bool
) -> dict[str, Any]:
    """Return ``bands`` of similar records and, if wanted, the ``records`` of some codes."""
    codes = _Bits.of(X, columns)
    return {
        "bands": _bands(codes, groups),
        "records": _single_records(codes, groups, ids) if single else None,
    }


def _bands(codes: _Bits, groups: Groups) -> list[dict[str, Any]]:
    """Divide each group into bands of similar records, and compute the density of each code.

    A band has at least 10 `min_cell` records, so that one level spans `min_cell` of them. ``parts``
    is the number of equally large bands of a group; ``levels`` contains one digit per code,
    floor(10 density), at most 9, or is None for a group with one band.
    """
    bands: list[dict[str, Any]] = []
    for leaf, rows in _members(groups):
        most = max(1, round(120 * len(rows) / max(len(groups.labels), 1)))
        parts = min(most, len(rows) // (_LEVELS * groups.disclosure.min_cell))
        if parts < 2 or groups.sizes[leaf] < 0:
            bands.append({"leaf": leaf, "parts": 1, "levels": None})
            continue
        block = codes.rows(rows)
        for band in np.array_split(block[_lexicographic(block)], parts):
            levels = np.minimum(_LEVELS * band.mean(axis=0), _LEVELS - 1).astype(int)
            bands.append({"leaf": leaf, "parts": parts, "levels": "".join(map(str, levels))})
    return bands


def _single_records(codes: _Bits, groups: Groups, ids: NDArray[Any] | None) -> dict[str, Any]:
    """Return the individual records, at most 2,000, spread evenly over the groups.

    In ``bits``, in base64, each record is a row of one bit per column, padded to whole bytes.
    """
    n = len(groups.labels)
    places: list[Ints] = []
    for _, rows in _members(groups):
        if n > _MAX_RECORDS and len(rows):
            keep = max(1, _MAX_RECORDS * len(rows) // n)
            rows = rows[np.linspace(0, len(rows) - 1, keep).astype(np.intp)]
        places.append(rows[_lexicographic(codes.rows(rows))])
    rows = np.concatenate(places)
    names = rows if ids is None else np.asarray(ids, dtype=object)[rows]
    return {
        "ids": [clean_text(name) for name in names.tolist()],
        "leaf": groups.labels[rows].tolist(),
        "total": n,
        "bits": base64.b64encode(codes.packed[rows].tobytes()).decode("ascii"),
    }


def _members(groups: Groups) -> Iterator[tuple[int, Ints]]:
    """Yield the records of each group, in the order of the page."""
    for leaf in groups.root.leaves():
        yield int(leaf.leaf_id or 0), np.flatnonzero(groups.labels == (leaf.leaf_id or 0))


@dataclass(frozen=True)
class _Bits:
    """Which records have which of some codes, one bit each."""

    packed: NDArray[np.uint8]
    n_columns: int

    @classmethod
    def of(cls, X: sp.csr_array[Any], columns: Ints) -> _Bits:
        """Read the records in parts, since there may be many."""
        packed = [np.empty((0, -(-len(columns) // 8)), np.uint8)]
        for start in range(0, X.shape[0], _AT_ONCE):
            part = sp.csr_array(X[start : start + _AT_ONCE])[:, columns].toarray()
            packed.append(np.packbits(part == 1, axis=1))
        return cls(np.concatenate(packed), len(columns))

    def rows(self, rows: Ints) -> NDArray[np.bool_]:
        """Return some records, of shape (n_rows, n_columns)."""
        return np.unpackbits(self.packed[rows], axis=1, count=self.n_columns).astype(bool)


def _lexicographic(block: NDArray[np.bool_]) -> Ints:
    """Return an order that puts records with the most frequent code first, and so on."""
    codes = np.argsort(-block.sum(axis=0), kind="stable")
    every = np.zeros(len(block), dtype=np.bool_)  # a key, also where there are no codes
    return np.lexsort((every, *(~block[:, j] for j in codes[::-1])))
