"""Compare how often one code follows another with what the model and chance expect."""

from __future__ import annotations

from typing import Any

import numpy as np

from momentree._types import Floats, Ints
from momentree.report.disclosure import Disclosure

_CODES = 30
"""Most common codes whose pairs are compared."""
_COMMON, _DEVIANT = 10, 8


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
    codes = allowed[np.lexsort((allowed, -frequent[allowed]))][:_CODES]
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
    common = _largest(np.where(shown, observed, -1), _COMMON)
    deviant = [pair for pair in _largest(deviance, _COMMON + _DEVIANT) if pair not in common]
    digits = disclosure.decimals(max(float(n), float(disclosure.min_cell)))
    pairs = [
        {
            "codes": [int(codes[i]), int(codes[j])],
            "observed": round(float(observed[i, j] / n), max(digits, 3)),
            "expected": round(float(model[i, j] / n), 5),
            "chance": round(float(chance[i, j] / n), 5),
            "deviant": (i, j) not in common,
        }
        for i, j in [*common, *deviant[:_DEVIANT]]
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
