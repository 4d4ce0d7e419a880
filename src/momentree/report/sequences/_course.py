"""The course of sequences: shares of states by position, common paths, and single sequences."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np

from momentree._types import Floats, Ints
from momentree.messages import Message
from momentree.report.disclosure import Disclosure
from momentree.report.text import clean_text, for_readers, snippet

_COLUMNS = 60
"""Maximum number of columns of the chart of positions."""
_FEWEST = 10
"""With suppression, at least this many times `min_cell` sequences reach a position shown."""
_RUNS = 5
"""States of a path that are told apart; longer paths end in an ellipsis."""
_PATHS = 12
_EXAMPLES, _STEPS = 40, 200
_MAX_ID = 40


def shares_by_position(proba: Floats, lengths: Ints, disclosure: Disclosure) -> dict[str, Any]:
    """Return the mean posterior of each state by position, in the form of the chart of areas."""
    reached = np.bincount(lengths)[::-1].cumsum()[::-1][1:]  # sequences of at least 1, 2, ... steps
    least = _FEWEST * disclosure.min_cell if disclosure.hides else 1
    n_positions = max(1, int((reached >= min(least, reached[0])).sum()))
    width = -(-n_positions // _COLUMNS)
    place = np.arange(len(proba)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    kept = place < n_positions
    column = place[kept] // width
    m = -(-n_positions // width)
    sums = np.stack([np.bincount(column, weights=row, minlength=m) for row in proba[kept].T])
    means = sums / np.bincount(column, minlength=m)
    starts = np.arange(m) * width
    n_sequences = reached[starts]
    for at, n in enumerate(n_sequences):
        means[:, at] = np.round(means[:, at], disclosure.decimals(float(n)))
    ends = np.minimum(starts + width, n_positions)
    names = [
        f"Step {a + 1}" if b == a + 1 else f"Steps {a + 1} to {b}"
        for a, b in zip(starts.tolist(), ends.tolist(), strict=True)
    ]
    ticks = np.unique(np.linspace(0, m - 1, min(m, 7)).round().astype(int))
    note = Message("positions_shown", least=int(least)) if n_positions < len(reached) else ""
    return {
        "proportions": np.rint(1000.0 * means).astype(int).tolist(),
        "names": names,
        "reached": n_sequences.tolist(),
        "ticks": [[int(at), str(int(starts[at]) + 1)] for at in ticks],
        "note": for_readers(note) if note else "",
    }


def common_paths(path: Ints, lengths: Ints, disclosure: Disclosure) -> dict[str, Any]:
    """Count the sequences with each succession of states, without repeats.

    Paths of fewer than `min_cell` sequences are only in the number of others.
    """
    found: Counter[tuple[int, ...]] = Counter()
    ends = np.cumsum(lengths)
    new = np.ones(len(path), dtype=bool)
    new[1:] = path[1:] != path[:-1]
    new[(ends - lengths)] = True
    at = np.flatnonzero(new)
    runs = path[at].tolist()
    bounds = np.searchsorted(at, np.concatenate([[0], ends])).tolist()
    for start, end in pairwise(bounds):
        states = runs[start : min(end, start + _RUNS)]
        found[(*states, -1) if end - start > _RUNS else tuple(states)] += 1
    ordered = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    top = [(states, n) for states, n in ordered[:_PATHS] if n >= disclosure.min_cell]
    others = len(lengths) - sum(n for _, n in top)
    while top and 0 < others < disclosure.min_cell:
        others += top.pop()[1]
    return {
        "items": [
            {
                "states": [state for state in states if state >= 0],
                "more": states[-1] < 0,
                "n": n,
                "share": round(n / len(lengths), 4),
            }
            for states, n in top
        ],
        "others": disclosure.count(others),
        "share_of_others": round(others / len(lengths), 4),
    }


def single_sequences(path: Ints, symbols: Ints, lengths: Ints, ids: list[str]) -> dict[str, Any]:
    """Return some sequences with their states and codes, spread evenly over all of them."""
    chosen = np.unique(np.linspace(0, len(lengths) - 1, _EXAMPLES).astype(np.intp))
    starts = np.cumsum(lengths) - lengths
    return {
        "total": len(lengths),
        "items": [
            {
                "id": snippet(clean_text(ids[i]), _MAX_ID),
                "states": path[starts[i] : starts[i] + min(lengths[i], _STEPS)].tolist(),
                "codes": symbols[starts[i] : starts[i] + min(lengths[i], _STEPS)].tolist(),
                "n_more": int(max(0, lengths[i] - _STEPS)),
            }
            for i in chosen
        ],
    }
