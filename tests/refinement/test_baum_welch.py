"""Baum-Welch: it never lowers the likelihood, and ends where plain EM does."""

import numpy as np

from momentree.backends.sequences import sequence_blocks
from momentree.datasets import make_hmm
from momentree.objects.hidden_markov import CategoricalEmissions, HMMParameters
from momentree.refinement.hidden_markov import BaumWelch


def learner_and_start():
    data = make_hmm(80, 15, 2, n_symbols=4, random_state=0)
    rng = np.random.default_rng(0)
    start = HMMParameters(
        rng.dirichlet(np.ones(2)),
        rng.dirichlet(np.ones(2), size=2),
        CategoricalEmissions(rng.dirichlet(np.ones(4), size=2)),
    )
    blocks = sequence_blocks(data.lengths.astype(np.intp), np.zeros(80), 2)
    return BaumWelch(blocks, data.X[:, 0]), start


def test_extrapolation_ends_where_plain_steps_do():
    learner, start = learner_and_start()
    now, values = start, []
    for _ in range(400):
        now, _, posterior = learner.step(now)
        values.append(posterior)
    assert (np.diff(values) > -1e-9 * abs(values[-1])).all()
    found = learner.run(start, max_iter=400, tol=1e-12)
    assert found.converged
    assert found.n_iter < 250
    # Both are near a maximum, where the likelihood is flat.
    assert abs(learner.step(found.parameters)[2] - values[-1]) < 1e-3
    assert learner.step(found.parameters)[1] == found.log_likelihood


def test_few_steps_are_kept():
    learner, start = learner_and_start()
    last = learner.step(start)[1]
    for max_iter in (1, 2, 3, 4, 7):
        found = learner.run(start, max_iter=max_iter, tol=0.0)
        assert not found.converged
        assert max_iter <= found.n_iter <= max_iter + 2  # a cycle is not interrupted
        assert found.log_likelihood >= last - 1e-3
        last = found.log_likelihood
