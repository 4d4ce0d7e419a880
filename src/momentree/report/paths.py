"""What the paths of sequences are: counts of states and codes, their course, and pairs of codes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree.messages import Message
from momentree.report.disclosure import Disclosure
from momentree.report.text import clean_text, for_readers, snippet

if TYPE_CHECKING:
    from momentree.datasets import Sequences

Mask = NDArray[np.bool_]

_MAX_COLUMNS = 60
"""Maximum number of columns of the chart of positions."""
_MIN_CELLS = 10
"""With suppression, at least this many times `min_cell` sequences reach a position shown."""
_MAX_RUNS = 5
"""States of a path that are told apart; longer paths end in an ellipsis."""
_MAX_PATHS = 12
_MAX_EXAMPLES, _MAX_STEPS = 40, 200
_MAX_ID = 40
_MAX_CODES = 30
"""Most common codes whose pairs are compared."""
_MAX_COMMON, _MAX_DEVIANT = 10, 8
"""Pairs that are shown: the most common, and those that differ most from what is expected."""


@dataclass(frozen=True)
class PathCounts:
    """Steps and sequences of the most likely paths of k states, with d codes.

    Counts of sequences decide what is shown: many steps may belong to one person.
    """

    steps: Ints  # (k,) steps in each state
    sequences: Ints  # (k,) sequences that visit each state
    starts: Ints  # (k,) sequences that start there
    moves: Ints  # (k, k) sequences that go from one state to another, or stay
    codes: Ints  # (d,) sequences with each code
    emissions: Ints  # (k, d) sequences with a code in a state

    @classmethod
    def of(cls, path: Ints, symbols: Ints, lengths: Ints, k: int, d: int) -> PathCounts:
        """Count the states of a path, concatenated like the symbols."""
        sequence = np.repeat(np.arange(len(lengths)), lengths)
        inside = np.diff(sequence) == 0
        moves = path[:-1] * k + path[1:]
        return cls(
            steps=np.bincount(path, minlength=k),
            sequences=_distinct(sequence, path, k),
            starts=np.bincount(path[np.cumsum(lengths) - lengths], minlength=k),
            moves=_distinct(sequence[1:][inside], moves[inside], k * k).reshape(k, k),
            codes=_distinct(sequence, symbols, d),
            emissions=_distinct(sequence, path * d + symbols, k * d).reshape(k, d),
        )


def _distinct(sequence: Ints, value: Ints, n_values: int) -> Ints:
    """Return the number of sequences with each value."""
    keys = np.unique(sequence.astype(np.int64) * n_values + value)
    return np.bincount(keys % n_values, minlength=n_values)


def hidden_cells(counts: Ints, shares: Floats, disclosure: Disclosure) -> Mask:
    """Return which cells of each row of shares are hidden: those of few sequences.

    If a row has one such cell, its smallest other one is hidden too, because the shares of a row
    sum to 1.
    """
    hidden = disclosure.is_small(counts)
    for row, values in zip(hidden, shares, strict=True):
        if row.sum() == 1 and len(row) > 1:
            row[np.argmin(np.where(row | (values <= 0), np.inf, values))] = True
    return hidden


def shares_by_position(proba: Floats, lengths: Ints, disclosure: Disclosure) -> dict[str, Any]:
    """Return the mean posterior of each state by position, in the form of the chart of areas."""
    reached = np.bincount(lengths)[::-1].cumsum()[::-1][1:]  # sequences of at least 1, 2, ... steps
    least = _MIN_CELLS * disclosure.min_cell if disclosure.hides else 1
    n_positions = max(1, int((reached >= min(least, reached[0])).sum()))
    width = -(-n_positions // _MAX_COLUMNS)
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
    note = (
        Message(
            "[positions_shown] Only positions that at least {least:,} sequences reach are shown.",
            least=int(least),
        )
        if n_positions < len(reached)
        else ""
    )
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
    counts: Counter[tuple[int, ...]] = Counter()
    ends = np.cumsum(lengths)
    new = np.ones(len(path), dtype=bool)
    new[1:] = path[1:] != path[:-1]
    new[(ends - lengths)] = True
    at = np.flatnonzero(new)
    runs = path[at].tolist()
    bounds = np.searchsorted(at, np.concatenate([[0], ends])).tolist()
    for start, end in pairwise(bounds):
        states = runs[start : min(end, start + _MAX_RUNS)]
        counts[(*states, -1) if end - start > _MAX_RUNS else tuple(states)] += 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    top = [(states, n) for states, n in ordered[:_MAX_PATHS] if n >= disclosure.min_cell]
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


def single_sequences(path: Ints, sequences: Sequences) -> dict[str, Any]:
    """Return some sequences with their states and codes, spread evenly over all of them."""
    symbols, lengths = sequences.symbols, np.asarray(sequences.lengths)
    chosen = np.unique(np.linspace(0, len(lengths) - 1, _MAX_EXAMPLES).astype(np.intp))
    starts = np.cumsum(lengths) - lengths
    return {
        "total": len(lengths),
        "items": [
            {
                "id": snippet(clean_text(sequences.ids[i]), _MAX_ID),
                "states": path[starts[i] : starts[i] + min(lengths[i], _MAX_STEPS)].tolist(),
                "codes": symbols[starts[i] : starts[i] + min(lengths[i], _MAX_STEPS)].tolist(),
                "n_more": int(max(0, lengths[i] - _MAX_STEPS)),
            }
            for i in chosen
        ],
    }


def expected_moves(startprob: Floats, transmat: Floats, lengths: Ints) -> Floats:
    """Return the expected number of moves (k, k) between states in sequences of these lengths."""
    reached = np.bincount(lengths)[::-1].cumsum()[::-1][2:]  # sequences with a step 2, 3, ...
    state = startprob
    total = np.zeros(len(startprob))
    for n in reached:
        total += n * state
        state = state @ transmat
    return np.asarray(total[:, None] * transmat)


def compare_pairs(
    symbols: Ints,
    lengths: Ints,
    startprob: Floats,
    transmat: Floats,
    emissionprob: Floats,
    allowed: Ints,
    disclosure: Disclosure,
) -> dict[str, Any] | None:
    """Compare pairs of consecutive codes among the most common of the `allowed` codes.

    Returns None without a pair; ``misfit`` is half the sum of absolute differences between observed
    and expected shares of all pairs of these codes: 0 = equal, 1 = disjoint.
    """
    n_codes = emissionprob.shape[1]
    sequence = np.repeat(np.arange(len(lengths)), lengths)
    inside = np.diff(sequence) == 0
    n = int(inside.sum())
    if not n or not len(allowed):
        return None
    frequent = np.bincount(symbols, minlength=n_codes)
    codes = allowed[np.lexsort((allowed, -frequent[allowed]))][:_MAX_CODES]
    c = len(codes)
    place = np.full(n_codes, c)
    place[codes] = np.arange(c)
    first, second = place[symbols[:-1][inside]], place[symbols[1:][inside]]
    keys = first * (c + 1) + second
    observed = np.bincount(keys, minlength=(c + 1) ** 2).reshape(c + 1, c + 1)[:c, :c]
    from_sequence = sequence[1:][inside].astype(np.int64)
    persons = np.unique(from_sequence * (c + 1) ** 2 + keys) % (c + 1) ** 2
    persons = np.bincount(persons, minlength=(c + 1) ** 2).reshape(c + 1, c + 1)[:c, :c]
    chosen = emissionprob[:, codes]
    model = chosen.T @ expected_moves(startprob, transmat, lengths) @ chosen
    at_first = np.bincount(first, minlength=c + 1)[:c]
    at_second = np.bincount(second, minlength=c + 1)[:c]
    chance = np.outer(at_first, at_second) / n
    # Counts of few sequences are not shown; pairs that never occur are.
    shown = ~disclosure.is_small(persons)
    deviance = np.where(shown, (observed - model) ** 2 / np.maximum(model, 1.0), -1.0)
    common = _largest(np.where(shown, observed, -1), _MAX_COMMON)
    deviant = [
        pair for pair in _largest(deviance, _MAX_COMMON + _MAX_DEVIANT) if pair not in common
    ]
    digits = disclosure.decimals(max(float(n), float(disclosure.min_cell)))
    pairs = [
        {
            "codes": [int(codes[i]), int(codes[j])],
            "observed": round(float(observed[i, j] / n), max(digits, 3)),
            "expected": round(float(model[i, j] / n), 5),
            "chance": round(float(chance[i, j] / n), 5),
            "deviant": (i, j) not in common,
        }
        for i, j in [*common, *deviant[:_MAX_DEVIANT]]
    ]
    return {
        "n_codes": c,
        "pairs": pairs,
        "misfit": round(float(np.abs(observed - model).sum() / (2 * n)), 3),
        "misfit_of_chance": round(float(np.abs(observed - chance).sum() / (2 * n)), 3),
    }


def _largest(values: Any, n: int) -> list[tuple[int, int]]:
    order = np.argsort(-values, axis=None, kind="stable")[:n]
    rows, columns = np.unravel_index(order, values.shape)
    return [(int(i), int(j)) for i, j in zip(rows, columns, strict=True) if values[i, j] > 0]
