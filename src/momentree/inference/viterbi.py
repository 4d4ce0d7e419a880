"""The Viterbi recursion: the most likely states of many sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

from momentree._types import Floats, Ints
from momentree.backends.sequences import SequenceBlock
from momentree.objects.hidden_markov import LEAST, HMMParameters

_EQUAL = 1e-6
"""Difference of log-probabilities that EM and rounding cause, in nats."""


def viterbi(block: SequenceBlock, X: Any, parameters: HMMParameters) -> tuple[Ints, Floats]:
    """Return the most likely sequence of states of each sequence.

    Parameters
    ----------
    block : SequenceBlock
        The sequences.
    X : array
        Observations of the block, in its order.
    parameters : HMMParameters
        Parameters.

    Returns
    -------
    states : ndarray of int of shape (n,)
        The states of highest joint probability; of those that differ by less than 1e-6 nats, the
        first.
    log_joint : ndarray of shape (n_sequences,)
        log P[x, states] of each sequence, in nats.

    Notes
    -----
    Time O(n k^2); for sequences that are divided into pieces, O(n k^3).
    """
    log_A = np.log(np.maximum(parameters.transmat, LEAST))
    log_pi = np.log(np.maximum(parameters.startprob, LEAST))
    B, logs = parameters.emissions.likelihoods(X)
    B = np.log(B)
    offsets = block.offsets
    before = np.repeat(log_pi[:, None], len(block.last), axis=1)
    firsts = _link(block, log_A, B, before) if block.links else None
    score, came = np.empty_like(B), np.zeros(B.shape, dtype=np.intp)
    for t in range(len(offsets) - 1):
        a, b = offsets[t], offsets[t + 1]
        now = score[:, a:b]
        if t:
            last = score[:, offsets[t - 1] : offsets[t - 1] + b - a]
            _step(last, log_A, now, came[:, a:b])
            now += B[:, a:b]
        else:
            np.add(before, B[:, a:b], out=now)
    final = score[:, block.last]
    log_joint = final[:, block.tails].max(axis=0)
    if firsts is not None:
        for here, there in block.links:
            final[:, here] += log_A[:, firsts[there]]
    path = np.empty(B.shape[1], dtype=np.intp)
    path[block.last] = _first(final, final.max(axis=0))
    for t in range(len(offsets) - 2, 0, -1):
        a, b = offsets[t], offsets[t + 1]
        path[offsets[t - 1] : offsets[t - 1] + b - a] = came[path[a:b], np.arange(a, b)]
    return path, log_joint + np.bincount(block.owner, weights=np.zeros(len(path)) + logs)


def _step(last: Floats, log_A: Floats, best: Floats, came: Ints) -> None:
    """Set the best score of each next state, without its observation, and where it comes from."""
    for j in range(len(log_A)):
        scores = last + log_A[:, [j]]
        np.max(scores, axis=0, out=best[j])
        came[j] = _first(scores, best[j])


def _first(scores: Floats, best: Floats) -> Ints:
    """Return the first state of each column whose score equals the best one, up to rounding.

    Processors round sums in different ways, and therefore parameters after EM.
    """
    return np.asarray((scores >= best - _EQUAL).argmax(axis=0))


def _link(block: SequenceBlock, log_A: Floats, B: Floats, before: Floats) -> Ints:
    """Set the best score before each piece, and return the best first state of each piece."""
    offsets, k = block.offsets, len(log_A)
    # The best score of a piece from its first state to the last, shape (first, last, piece).
    N = np.full((k, k, offsets[1]), -np.inf)
    N[np.arange(k), np.arange(k)] = B[:, : offsets[1]]
    for t in range(1, len(offsets) - 1):
        a, b = offsets[t], offsets[t + 1]
        N[:, :, : b - a] = _product(N[:, :, : b - a], log_A) + B[:, a:b]
    M = _product(N, log_A)
    for here, there in block.links:
        before[:, there] = (before[:, None, here] + M[:, :, here]).max(axis=0)
    scores = before + N.max(axis=1)
    firsts = _first(scores, scores.max(axis=0))
    for here, there in reversed(block.links):
        scores = before[:, here] + M[:, firsts[there], here]
        firsts[here] = _first(scores, scores.max(axis=0))
    return np.asarray(firsts)


def _product(N: Floats, log_A: Floats) -> Floats:
    """Return max_i N[., i] + log A[i, .] for each piece."""
    out = N[:, :1] + log_A[0][:, None]
    for i in range(1, len(log_A)):
        np.maximum(out, N[:, i : i + 1] + log_A[i][:, None], out=out)
    return np.asarray(out)
