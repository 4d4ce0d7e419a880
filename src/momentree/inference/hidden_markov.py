"""Inference in hidden Markov models: posteriors of states, and the most likely path."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from momentree._types import Floats, Ints
from momentree.backends.sequences import SequenceBlock
from momentree.objects.hidden_markov import LEAST, HMMParameters


@dataclass(frozen=True)
class Expectations:
    """What the observations of a block say about its states.

    Attributes
    ----------
    log_likelihood : ndarray of shape (n_sequences,)
        log P[x] of each sequence, in nats.
    gamma : ndarray of shape (k, n)
        P[h_t = j | x] of each observation.
    start : ndarray of shape (k,)
        Expected number of sequences that begin in each state.
    moves : ndarray of shape (k, k)
        Expected number of transitions from i to j.
    """

    log_likelihood: Floats
    gamma: Floats
    start: Floats
    moves: Floats


def forward_backward(block: SequenceBlock, X: Any, parameters: HMMParameters) -> Expectations:
    """Return posteriors of states, expected transitions and log-likelihoods.

        alpha_t = B_t * (A^T alpha_(t-1)) / c_t,   beta_t = A (B_(t+1) * beta_(t+1)) / c_(t+1)

    with B_t the likelihoods of x_t and c_t such that alpha_t sums to 1; then log P[x] = sum log c_t
    and P[h_t | x] = alpha_t * beta_t.

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
    Expectations
        Exact, also for sequences that are divided into pieces: products of k x k matrices link
        the pieces.

    Notes
    -----
    Time O(n k^2), with pieces O(n k^3); memory O(n k).
    """
    A = np.maximum(parameters.transmat, LEAST)
    pi = np.maximum(parameters.startprob, LEAST)
    B, logs = parameters.emissions.likelihoods(X)
    pieces, k, n = len(block.last), len(pi), B.shape[1]
    offsets = block.offsets
    before = np.repeat(pi[:, None], pieces, axis=1)
    after = np.ones((k, pieces))
    if block.links:
        _link(block, A, B, before, after)

    alpha, scale = np.empty((k, n)), np.empty(n)
    At = np.ascontiguousarray(A.T)
    for t in range(len(offsets) - 1):
        a, b = offsets[t], offsets[t + 1]
        now = alpha[:, a:b]
        if t:
            np.matmul(At, alpha[:, offsets[t - 1] : offsets[t - 1] + b - a], out=now)
            now *= B[:, a:b]
        else:
            np.multiply(before, B[:, a:b], out=now)
        c = scale[a:b]
        np.sum(now, axis=0, out=c)
        now /= c
    # With alpha . beta = 1 at the end of a piece, it is 1 at every time.
    after /= np.einsum("jp,jp->p", alpha[:, block.last], after)

    # In place of B: U_t = B_t * beta_t / c_t.
    B /= scale
    gamma, moves = np.empty((k, n)), np.zeros((k, k))
    for t in range(len(offsets) - 2, -1, -1):
        a, b = offsets[t], offsets[t + 1]
        on = offsets[t + 2] - b if t + 2 < len(offsets) else 0
        beta = gamma[:, a:b]
        if on:
            np.matmul(A, B[:, b : b + on], out=beta[:, :on])
        beta[:, on:] = after[:, on : b - a]
        B[:, a:b] *= beta
        if t:
            moves += alpha[:, offsets[t - 1] : offsets[t - 1] + b - a] @ B[:, a:b].T
    for here, there in block.links:
        moves += alpha[:, block.last[here]] @ B[:, there].T
    gamma *= alpha
    gamma /= gamma.sum(axis=0)
    found: Floats = np.bincount(block.owner, weights=np.log(scale) + logs).astype(np.float64)
    return Expectations(found, gamma, gamma[:, block.heads].sum(axis=1), A * moves)


def _link(block: SequenceBlock, A: Floats, B: Floats, before: Floats, after: Floats) -> None:
    """Set the distribution of states before each piece, and the likelihood of all after it."""
    offsets = block.offsets
    M = B[:, : offsets[1]].T[:, :, None] * A
    for t in range(1, len(offsets) - 1):
        a, b = offsets[t], offsets[t + 1]
        now = M[: b - a]
        now *= B[:, a:b].T[:, None, :]
        np.matmul(now, A, out=now)
        now /= now.max(axis=(1, 2), keepdims=True)
    for here, there in block.links:
        p = np.einsum("jp,pji->ip", before[:, here], M[here])
        before[:, there] = p / p.sum(axis=0)
    w = M.sum(axis=2).T.copy()
    for here, there in reversed(block.links):
        after[:, here] = A @ w[:, there]
        p = np.einsum("pji,ip->jp", M[here], w[:, there])
        w[:, here] = p / p.max(axis=0)


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
    firsts = _link_best(block, log_A, B, before) if block.links else None
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


def _link_best(block: SequenceBlock, log_A: Floats, B: Floats, before: Floats) -> Ints:
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
