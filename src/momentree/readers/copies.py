"""Find documents that are copies of others: exactly or nearly, or on disk exactly by checksums."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from momentree._types import Floats, Ints
from momentree._validation import check_flag
from momentree.core import pages
from momentree.exceptions import EmptyCorpusError
from momentree.messages import Message, wording

MIN_SIMILARITY = 0.8
"""Words that near copies share, as a fraction of the words of both."""

MIN_WORDS = 10
"""Different words below which texts may be alike by chance, such as titles and short answers."""

MIN_COPIES, MIN_SHARE = 5, 0.01
"""Copies that can form a leaf: 2% of 400 to 2,000 news stories mostly did, 0.5% never."""

_AT_ONCE = 1 << 18
"""Checksums that are compared at a time, about."""

_BANDS, _ROWS = 12, 4
"""Pairs with similarity 0.8 agree in all rows of at least one band with probability 0.998."""


@dataclass(frozen=True, eq=False)
class Copies:
    """Groups of equal or nearly equal documents.

    Parameters
    ----------
    group : ndarray of int of shape (n,)
        Number of the group of each document; a document without copies is a group of its own.
    n_exact, n_near : int
        Documents that are, exactly or nearly, copies of another one; the first of each group is
        not counted.
    long : ndarray of bool of shape (n,)
        Whether a document has enough different words for its copies not to be chance.
    """

    group: Ints
    n_exact: int
    n_near: int
    long: NDArray[np.bool_]

    @property
    def weights(self) -> Floats:
        """Weights that sum to 1 in each group."""
        return np.asarray(1.0 / np.bincount(self.group)[self.group])

    @property
    def largest(self) -> int:
        """Size of the largest group of documents that are long enough."""
        return int(np.bincount(self.group[self.long]).max()) if self.long.any() else 0


def find_copies(X: sp.csr_array[Any], texts: Sequence[str] | None = None) -> Copies:
    """Find equal and nearly equal documents; the order of rows has no effect.

    Documents are equal if their texts are, apart from case and white space; without texts, if
    their counts are. They are nearly equal if both have at least 10 different words and the sum of
    the smaller counts is at least 80% of the sum of the larger ones, or if a chain of such pairs
    links them. Documents without words have no copies.

    Parameters
    ----------
    X : csr_array of shape (n, d)
        Counts >= 0, without duplicate entries.
    texts : sequence of str of length n, default=None
        The texts.

    Returns
    -------
    Copies
        The groups.

    Notes
    -----
    Candidates are pairs with equal minimum hashes of their words in one of 12 bands of 4, next to
    each other in the order of the hashes. Time: O(48 nnz + n log n).

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from momentree.readers.copies import find_copies
    >>> X = sp.csr_array([[1, 1, 0], [0, 1, 2], [1, 1, 0]])
    >>> find_copies(X, ["sea boat", "boat, fish, fish", "Sea  boat"]).group.tolist()
    [0, 1, 0]
    """
    n, sums = X.shape[0], checksums(X, texts)
    # A number of its own for each document without words; those of others are not multiples of 4.
    group = pd.factorize(np.where(sums == 0, 4 * np.arange(n, dtype=np.uint64), sums))[0]
    _, first = np.unique(group, return_index=True)
    long = np.diff(X.indptr) >= MIN_WORDS
    chosen = first[long[first]]
    pairs = chosen[_similar_pairs(X[chosen])] if len(chosen) > 1 else np.empty((0, 2), dtype=int)
    links = sp.coo_array(
        (np.ones(len(pairs)), (group[pairs[:, 0]], group[pairs[:, 1]])),
        shape=(len(first), len(first)),
    )
    _, joined = connected_components(links, directed=False)
    whole = np.unique(joined[group], return_inverse=True)[1]
    n_groups = int(whole.max()) + 1 if n else 0
    return Copies(whole, n - len(first), len(first) - n_groups, long)


def checksums(X: sp.csr_array[Any], texts: Sequence[str] | None = None) -> NDArray[np.uint64]:
    """Return a number for each document, equal for equal ones.

    Documents are equal if their texts are equal but for case and blanks; without texts, if their
    counts are. The number is 0 for documents without words; odd numbers are of documents with ten
    different words or more.
    """
    sizes = np.diff(X.indptr)
    sums = np.zeros(len(sizes), dtype=np.uint64)
    for i in np.flatnonzero(sizes).tolist():
        if texts is None:
            row = slice(X.indptr[i], X.indptr[i + 1])
            columns, counts = X.indices[row].astype(np.int64), X.data[row].astype(np.float64)
            content = columns.tobytes() + counts.tobytes()
        else:
            content = " ".join(texts[i].casefold().split()).encode("utf-8", "replace")
        sums[i] = int.from_bytes(blake2b(content, digest_size=8).digest(), "little") | 2
    return (sums & ~np.uint64(1)) | (sizes >= MIN_WORDS).astype(np.uint64)


def check_unique(value: Any) -> None:
    """Raise ``InvalidParameterError`` unless a value is True, False or "auto"."""
    if value != "auto":
        check_flag("unique", value)


def all_rows(n: int, passages: bool) -> Message:
    """Return "all documents" or "all passages" of a corpus with their number, for notes."""
    return Message(wording.ALL_PASSAGES if passages else wording.ALL_DOCUMENTS, n_all=n)


def weigh_copies(
    copies: Copies, unique: bool | Literal["auto"], passages: bool = False
) -> tuple[Floats | None, list[Message]]:
    """Return the weights of documents, None for equal weights; and a note on copies, if any.

    "auto" gives each group the weight of one if a text of ten different words or more has copies
    enough to form a topic: at least 5, and 1% of the documents. `passages` is whether the
    documents are passages.
    """
    n, n_exact, n_near = len(copies.group), copies.n_exact, copies.n_near
    weighted, notes = _judge(n, n_exact, n_near, copies.largest, unique, passages)
    return copies.weights if weighted else None, notes


def weigh_checksums(
    sums: NDArray[np.uint64], unique: bool | Literal["auto"], passages: bool
) -> tuple[Floats | None, list[Message]]:
    """Return the same as `weigh_copies` given the checksums of documents, which may be on disk.

    Near copies are not found.
    """
    n_copies = largest = 0
    for part, _ in parts_of_equal(sums):
        values, sizes = np.unique(part, return_counts=True)
        has_words = values > 1
        n_copies += int((sizes[has_words] - 1).sum())
        largest = max(largest, int(sizes[has_words & (values & 1 == 1)].max(initial=0)))
    weighted, notes = _judge(len(sums), n_copies, 0, largest, unique, passages)
    if not weighted:
        return None, notes
    weights = pages.each_part(lambda part: np.ones(len(part)), sums)
    for part, rows in parts_of_equal(sums):
        _, group, sizes = np.unique(part, return_inverse=True, return_counts=True)
        copied = np.flatnonzero((part > 1) & (sizes[group] > 1))
        places, shares = rows[copied], 1.0 / sizes[group[copied]]
        for window in pages.windows(weights, places):
            weights[places[window]] = shares[window]
            pages.release_at(weights, places[window])
    return weights, notes


def parts_of_equal(sums: NDArray[np.uint64]) -> Iterator[tuple[NDArray[np.uint64], Ints]]:
    """Yield checksums with their rows, so that equal ones are in the same part."""
    n_parts = 1 + len(sums) // _AT_ONCE

    def part_of(part: NDArray[np.uint64]) -> Ints:
        return ((part >> np.uint64(2)) % np.uint64(n_parts)).astype(np.int32)

    order, ends = pages.grouped(pages.each_part(part_of, sums), n_parts)
    for a, b in pairwise(ends.tolist()):
        rows = np.array(order[a:b])
        pages.release(order[a:b])
        yield pages.picked(sums, rows), rows


def _judge(
    n: int, n_exact: int, n_near: int, largest: int, unique: bool | Literal["auto"], passages: bool
) -> tuple[bool, list[Message]]:
    """Return whether copies of n documents together have the weight of one, and a note on them.

    `largest` is the number of copies of a long text.
    """
    n_copies = n_exact + n_near
    if not n_copies:
        return False, []
    weighted = largest >= max(MIN_COPIES, MIN_SHARE * n) if unique == "auto" else unique
    if weighted and n == n_copies + 1:
        raise EmptyCorpusError(wording.ALL_COPIES, n_rows=n, parameter="unique", every=False)
    note = Message(
        (
            "[copies_weighted] {n_rows:,} of {every} {n_rows:?is a copy/are copies} of "
            "others{near}; each text is counted once, so that copies form no topic "
            "({parameter:=other} counts every copy)"
        )
        if weighted
        else (
            "[copies_counted] {n_rows:,} of {every} {n_rows:?is a copy/are copies} of "
            "others{near}; {parameter:=other} counts each text once"
        ),
        n_rows=n_copies,
        n_all=n,
        n_groups=n - n_copies,
        every=all_rows(n, passages),
        near=Message("[of_these_near] , {n_rows:,} of them nearly", n_rows=n_near)
        if n_near and n_exact
        else ""
        if n_exact
        else " nearly",
        parameter="unique",
        other=not weighted,
    )
    return weighted, [note]


def _similar_pairs(X: sp.csr_array[Any]) -> Ints:
    """Return pairs of similar rows, shape (m, 2), found by minimum hashes."""
    n, d = X.shape
    random = np.random.default_rng(0)
    # Equal for equal rows wherever they are: it orders the rows of a bucket.
    content = X.astype(np.uint64) @ random.integers(1, 2**63, size=d, dtype=np.uint64)
    found = [np.empty((0, 2), dtype=np.intp)]
    for _ in range(_BANDS):
        bucket = np.zeros(n, dtype=np.uint64)
        for _ in range(_ROWS):
            hashes = random.integers(2**32, size=d, dtype=np.uint32)[X.indices]
            bucket = bucket * np.uint64(0x9E3779B97F4A7C15) + np.minimum.reduceat(
                hashes, X.indptr[:-1]
            )
        order = np.lexsort((content, bucket))
        same = bucket[order[1:]] == bucket[order[:-1]]
        found.append(np.column_stack((order[:-1][same], order[1:][same])))
    pairs = np.unique(np.sort(np.concatenate(found), axis=1), axis=0)
    counts = X.astype(np.float64)
    total = np.asarray(counts.sum(axis=1)).ravel()
    similar = np.empty(len(pairs), dtype=bool)
    for start in range(0, len(pairs), _BLOCK):
        block = pairs[start : start + _BLOCK]
        shared = counts[block[:, 0]].minimum(counts[block[:, 1]]).sum(axis=1)
        union = total[block].sum(axis=1) - shared
        similar[start : start + _BLOCK] = shared >= MIN_SIMILARITY * union
    return np.asarray(pairs[similar])


_BLOCK = 10_000
"""Pairs compared at a time."""
