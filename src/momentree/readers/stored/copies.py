"""Find documents that are copies of others by checksums on disk, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree.core.pages import each_part, grouped, picked, release, release_at, windows
from momentree.messages import Message
from momentree.readers.copies import MIN_WORDS, note_copies
from momentree.readers.stored.arrays import open_array

_AT_ONCE = 1 << 18
"""Checksums that are compared at a time, about."""


def checksums(X: sp.csr_array[Any], texts: Sequence[str] | None = None) -> NDArray[np.uint64]:
    """Return a number for each document, equal for copies.

    Documents are copies if their texts are equal but for case and blanks; without texts, if their
    counts are. The number is 0 for documents without words; odd numbers are of documents with ten
    different words or more.
    """
    sizes = np.diff(X.indptr)
    found = np.zeros(len(sizes), dtype=np.uint64)
    columns, counts = X.indices.astype(np.int64), X.data.astype(np.float64)
    for i in np.flatnonzero(sizes).tolist():
        if texts is None:
            here = slice(X.indptr[i], X.indptr[i + 1])
            content = columns[here].tobytes() + counts[here].tobytes()
        else:
            content = " ".join(texts[i].casefold().split()).encode("utf-8", "replace")
        found[i] = int.from_bytes(blake2b(content, digest_size=8).digest(), "little") | 2
    long = (sizes >= MIN_WORDS).astype(np.uint64)
    return (found & ~np.uint64(1)) | long


def weigh_stored_copies(
    path: Path, unique: bool | Literal["auto"], passages: bool
) -> tuple[Floats | None, list[Message]]:
    """Return the weights of documents given a file of their checksums; None for equal weights.

    Like `momentree.readers.copies.weigh_copies`, but near copies are not found.
    """
    sums = open_array(path)
    n, n_copies, n_groups, largest = len(sums), 0, 0, 0
    for found, _ in parts_of_equal(sums):
        groups, sizes = np.unique(found, return_counts=True)
        alone = groups < 2  # without words
        n_copies += int((sizes[~alone] - 1).sum())
        n_groups += int(sizes[alone].sum()) + int((~alone).sum())
        largest = max(largest, int(sizes[(groups & 1 == 1) & ~alone].max(initial=0)))
    weighted, notes = note_copies(n, n_copies, 0, largest, n_groups, unique, passages)
    if not weighted:
        return None, notes
    weights = each_part(lambda found: np.ones(len(found)), sums)
    for found, rows in parts_of_equal(sums):
        _, group, sizes = np.unique(found, return_inverse=True, return_counts=True)
        copied = np.flatnonzero((found >= 2) & (sizes[group] > 1))
        at, weight = rows[copied], 1.0 / sizes[group[copied]]
        for part in windows(weights, at):
            weights[at[part]] = weight[part]
            release_at(weights, at[part])
    return weights, notes


def parts_of_equal(
    sums: NDArray[np.uint64],
) -> Iterator[tuple[NDArray[np.uint64], Ints]]:
    """Yield checksums with their rows, so that equal ones are in the same part."""
    n_parts = 1 + len(sums) // _AT_ONCE

    def part_of(found: NDArray[np.uint64]) -> Ints:
        return ((found >> np.uint64(2)) % np.uint64(n_parts)).astype(np.int32)

    order, ends = grouped(each_part(part_of, sums), n_parts)
    for a, b in pairwise(ends.tolist()):
        rows = np.array(order[a:b])
        release(order[a:b])
        yield picked(sums, rows), rows
