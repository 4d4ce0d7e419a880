"""What a page tells of single records: densities that name nobody, or on request themselves."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree.report.documents import clean_text

__all__ = ["few_codes", "heat_bands", "heat_records"]

_MOST_BANDS = 120
_MOST_RECORDS = 2_000
LEVELS = 10
"""Shades of a density; a band has so many records that one shade spans `min_cell` of them."""

Ints = NDArray[np.intp]


def heat_bands(
    X: sp.csr_array[Any], labels: Ints, order: Ints, columns: Ints, min_cell: int
) -> list[dict[str, Any]]:
    """Cut each group into bands of like records and tell how dense each code is in each band.

    Parameters
    ----------
    X : csr_array of shape (n, d)
        1 where a record has a code.
    labels : ndarray of int of shape (n,)
        Group of each record.
    order : ndarray of int of shape (k,)
        Groups from top to bottom.
    columns : ndarray of int of shape (c,)
        Codes, the most common first.
    min_cell : int >= 1
        The smallest count above zero that may be shown.

    Returns
    -------
    list of dict
        Bands from top to bottom: ``leaf``, ``part`` (of how many bands of equal size the group
        has) and ``levels``, one digit a code: floor(10 density), at most 9; or None where the
        group is one band, whose densities are its frequencies. Within a group records with its
        most frequent code come first, and so on as in a dictionary. A band has 10 `min_cell`
        records or more, so that a level says of a count no more than a range of `min_cell`.
    """
    sub = sp.csc_array(X[:, columns])
    bands: list[dict[str, Any]] = []
    for leaf in order.tolist():
        rows = np.flatnonzero(labels == leaf)
        most = max(1, round(_MOST_BANDS * len(rows) / max(X.shape[0], 1)))
        parts = min(most, len(rows) // (LEVELS * min_cell))
        if parts < 2:
            bands.append({"leaf": leaf, "parts": 1, "levels": None})
            continue
        block = _dense(sub, rows)
        block = block[_dictionary_order(block)]
        for piece in np.array_split(block, parts):
            levels = np.minimum(LEVELS * piece.mean(axis=0), LEVELS - 1).astype(int)
            bands.append({"leaf": leaf, "parts": parts, "levels": "".join(map(str, levels))})
    return bands


def heat_records(
    X: sp.csr_array[Any],
    labels: Ints,
    order: Ints,
    columns: Ints,
    ids: NDArray[Any] | None,
) -> dict[str, Any]:
    """Return the records themselves, at most 2,000 spread evenly over the groups.

    Parameters
    ----------
    X : csr_array of shape (n, d)
        1 where a record has a code.
    labels : ndarray of int of shape (n,)
        Group of each record.
    order : ndarray of int of shape (k,)
        Groups from top to bottom.
    columns : ndarray of int of shape (c,)
        Codes, the most common first.
    ids : ndarray of shape (n,) or None
        Names of records; row numbers where there are none.

    Returns
    -------
    dict
        ``ids``, ``leaf``, ``total``, and ``bits``: rows of c bits, each row filled up to whole
        bytes, the first code in the highest bit, in base64.
    """
    sub = sp.csc_array(X[:, columns])
    n = X.shape[0]
    shown: list[Ints] = []
    blocks: list[NDArray[np.bool_]] = []
    for leaf in order.tolist():
        rows = np.flatnonzero(labels == leaf)
        keep = min(len(rows), max(1, _MOST_RECORDS * len(rows) // n)) if n > _MOST_RECORDS else None
        if keep is not None:
            rows = rows[np.linspace(0, len(rows) - 1, keep).astype(np.intp)] if keep else rows
        block = _dense(sub, rows)
        ranks = _dictionary_order(block)
        shown.append(rows[ranks])
        blocks.append(block[ranks])
    rows = np.concatenate(shown)
    bits = np.packbits(np.concatenate(blocks), axis=1)
    names = rows if ids is None else np.asarray(ids, dtype=object)[rows]
    return {
        "ids": [clean_text(name) for name in names.tolist()],
        "leaf": labels[rows].tolist(),
        "total": n,
        "bits": base64.b64encode(bits.tobytes()).decode("ascii"),
    }


def few_codes(X: sp.csr_array[Any]) -> int:
    """Return how many codes three of four records hold at least.

    Parameters
    ----------
    X : csr_array of shape (n, d)
        1 where a record has a code.

    Returns
    -------
    int
        The lower quartile of the number of codes.
    """
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    held = np.bincount(rows[X.data == 1], minlength=X.shape[0])
    return int(np.quantile(held, 0.25, method="lower"))


def _dense(sub: Any, rows: Ints) -> NDArray[np.bool_]:
    block = sp.csr_array(sub)[rows].toarray()
    return np.asarray(np.nan_to_num(block) > 0)


def _dictionary_order(block: NDArray[np.bool_]) -> Ints:
    """Return the order in which those with the most frequent code come first, and so on."""
    codes = np.argsort(-block.sum(axis=0), kind="stable")
    return np.lexsort(tuple(~block[:, j] for j in codes[::-1]))
