"""Compute the heat map: densities of codes in bands of similar records, or the records."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._types import Ints
from momentree.report.groups import Groups
from momentree.report.text import clean_text

_MAX_RECORDS = 2_000
_LEVELS = 10
_AT_ONCE = 1 << 14
"""Records that are unpacked at a time."""


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
