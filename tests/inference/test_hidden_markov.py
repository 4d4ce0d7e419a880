"""Forward-backward and Viterbi against enumeration of all sequences of states."""

from itertools import pairwise, product

import numpy as np
import pytest

from momentree.backends.sequences import sequence_blocks
from momentree.inference.hidden_markov import forward_backward, viterbi
from momentree.objects.hidden_markov import CategoricalEmissions, HMMParameters


def model(k=3, d=4, seed=0):
    rng = np.random.default_rng(seed)
    return HMMParameters(
        rng.dirichlet(np.ones(k)),
        rng.dirichlet(np.ones(k), size=k),
        CategoricalEmissions(rng.dirichlet(np.ones(d), size=k)),
    )


def enumerated(x, p):
    """Probability of every sequence of states, jointly with x."""
    E = p.emissions.probabilities
    return {
        h: p.startprob[h[0]]
        * np.prod([p.transmat[i, j] for i, j in pairwise(h)])
        * np.prod([E[j, w] for j, w in zip(h, x, strict=True)])
        for h in product(range(p.n_states), repeat=len(x))
    }


def everything(lengths, x, p):
    """Forward-backward and Viterbi of all sequences, in original order."""
    lengths = np.asarray(lengths)
    keys = np.arange(len(lengths), dtype=float)
    gamma, states = np.empty((len(x), p.n_states)), np.empty(len(x), dtype=int)
    start, moves, total, joint = 0, 0, 0.0, 0.0
    n_pieces = 0
    for block in sequence_blocks(lengths, keys, p.n_states):
        found = forward_backward(block, x[block.at], p)
        gamma[block.at] = found.gamma.T
        start, moves = start + found.start, moves + found.moves
        total += found.log_likelihood.sum()
        path, values = viterbi(block, x[block.at], p)
        states[block.at], joint = path, joint + values.sum()
        n_pieces += len(block.last)
    return gamma, start, moves, total, states, joint, n_pieces


def test_enumeration():
    p, lengths = model(), [4, 1, 6, 2]
    x = np.random.default_rng(1).integers(0, 4, size=sum(lengths))
    gamma, start, moves, total, states, joint, n_pieces = everything(lengths, x, p)
    assert n_pieces > len(lengths)  # the longest is cut into pieces
    expected = {name: np.zeros(3) for name in ("start",)}
    all_moves, log_likelihood, log_joint = np.zeros((3, 3)), 0.0, 0.0
    at = 0
    for n in lengths:
        probabilities = enumerated(x[at : at + n], p)
        mass = sum(probabilities.values())
        log_likelihood += np.log(mass)
        best = max(probabilities, key=probabilities.get)
        log_joint += np.log(probabilities[best])
        np.testing.assert_array_equal(states[at : at + n], best)
        marginal = np.zeros((n, 3))
        for h, q in probabilities.items():
            expected["start"][h[0]] += q / mass
            for t in range(n):
                marginal[t, h[t]] += q / mass
            for i, j in pairwise(h):
                all_moves[i, j] += q / mass
        np.testing.assert_allclose(gamma[at : at + n], marginal, atol=1e-13)
        at += n
    np.testing.assert_allclose(start, expected["start"], atol=1e-13)
    np.testing.assert_allclose(moves, all_moves, atol=1e-13)
    assert total == pytest.approx(log_likelihood, abs=1e-12)
    assert joint == pytest.approx(log_joint, abs=1e-12)


def literal(x, p):
    """Scaled recursions of one sequence, step by step."""
    E, A = p.emissions.probabilities, p.transmat
    alphas, scales = [], []
    for t, w in enumerate(x):
        a = (p.startprob if t == 0 else alphas[-1] @ A) * E[:, w]
        scales.append(a.sum())
        alphas.append(a / a.sum())
    beta, gamma, moves = np.ones(len(A)), [alphas[-1]], np.zeros_like(A)
    for t in range(len(x) - 1, 0, -1):
        u = E[:, x[t]] * beta / scales[t]
        moves += A * np.outer(alphas[t - 1], u)
        beta = A @ u
        gamma.append(alphas[t - 1] * beta)
    return np.array(gamma[::-1]), moves, np.log(scales).sum()


def test_a_long_sequence_in_pieces_is_exact():
    p = model(k=4, d=6, seed=3)
    lengths = [3000, 700, 1]
    x = np.random.default_rng(0).integers(0, 6, size=sum(lengths))
    gamma, _, moves, total, _, joint, n_pieces = everything(lengths, x, p)
    assert n_pieces > 50
    ends = np.cumsum(lengths)
    parts = [literal(x[b - n : b], p) for b, n in zip(ends, lengths, strict=True)]
    # Rounding errors of 3,000 steps.
    np.testing.assert_allclose(gamma, np.concatenate([g for g, _, _ in parts]), atol=1e-11)
    np.testing.assert_allclose(moves, sum(m for _, m, _ in parts), rtol=1e-10)
    assert total == pytest.approx(sum(value for *_, value in parts), rel=1e-12)
    # Many sequences of the same length are not cut.
    whole = everything([1] * 200 + lengths, np.concatenate([x[:200], x]), p)
    assert whole[6] == n_pieces + 200 or whole[6] < n_pieces
    assert joint < total


def test_impossible_sequences_have_a_finite_likelihood():
    p = HMMParameters(
        np.array([1.0, 0.0]), np.eye(2), CategoricalEmissions(np.array([[1.0, 0.0], [0.0, 1.0]]))
    )
    gamma, _, _, total, *_ = everything([3], np.array([0, 1, 0]), p)
    assert np.isfinite(total)
    assert total < -200
    np.testing.assert_allclose(gamma.sum(axis=1), 1.0)
