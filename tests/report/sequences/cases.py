"""Clicks of three intentions, and a model of them."""

from __future__ import annotations

from functools import cache

import numpy as np

from momentree import CategoricalHMM
from momentree.datasets import SequenceCoder, Sequences
from momentree.models import compare_states

PAGES = ["buy", "cart", "help", "home", "mail", "search"]
EMISSIONS = np.array(
    [
        [0.00, 0.10, 0.00, 0.45, 0.00, 0.45],
        [0.50, 0.50, 0.00, 0.00, 0.00, 0.00],
        [0.00, 0.00, 0.60, 0.00, 0.40, 0.00],
    ]
)
MOVES = np.array([[0.8, 0.15, 0.05], [0.2, 0.8, 0.0], [0.1, 0.0, 0.9]])


def draw(n_sequences=150, seed=0, codes=PAGES):
    """Draw sequences of 2 to 21 steps."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(2, 22, n_sequences)
    symbols = []
    for n in lengths:
        state = rng.choice(3, p=[0.8, 0.0, 0.2])
        for _ in range(n):
            symbols.append(rng.choice(6, p=EMISSIONS[state]))
            state = rng.choice(3, p=MOVES[state])
    ids = [f"user {i}" for i in range(n_sequences)]
    return Sequences(
        np.array(symbols), lengths, np.array(codes, dtype=object), ids, SequenceCoder(list(codes))
    )


@cache
def clicks():
    """Sequences with a model and the fits it was chosen from; not to be changed."""
    sequences = draw()
    model, fits = compare_states(CategoricalHMM(), sequences.symbols, sequences.lengths, [2, 3])
    return sequences, model, fits
