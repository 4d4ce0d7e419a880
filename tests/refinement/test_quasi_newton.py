"""L-BFGS on hidden Markov models."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad

import momentree.refinement.hidden_markov as module
from momentree.backends.sequences import sequence_blocks
from momentree.datasets import make_hmm
from momentree.objects.hidden_markov import CategoricalEmissions, HMMParameters
from momentree.refinement.hidden_markov import BaumWelch, quasi_newton

K = 3


@pytest.fixture(scope="module")
def start():
    rng = np.random.default_rng(3)
    return HMMParameters(
        rng.dirichlet(np.ones(K)),
        rng.dirichlet(np.ones(K), size=K),
        CategoricalEmissions(rng.dirichlet(np.ones(6), size=K)),
    )


def learner(smoothing):
    data = make_hmm(150, 12, K, n_symbols=6, concentration=1.0, stickiness=0.3, random_state=0)
    lengths = data.lengths.astype(np.intp)
    blocks = sequence_blocks(lengths, np.zeros(len(lengths)), K)
    return BaumWelch(blocks, data.X[:, 0], smoothing)


@pytest.mark.parametrize("smoothing", [0.0, 1e-3, 1.0])
def test_the_slope_is_that_of_the_posterior(start, smoothing, monkeypatch):
    seen = []

    def spy(value, x, **options):
        seen.append(check_grad(lambda y: value(y)[0], lambda y: value(y)[1], x, epsilon=1e-4))
        raise StopIteration

    monkeypatch.setattr(module, "minimize", spy)
    with pytest.raises(StopIteration):
        quasi_newton(learner(smoothing), start, max_iter=10_000, tol=0.0)
    assert seen[0] < 0.01  # differences of a sum of thousands, which is rounded


@pytest.mark.parametrize("smoothing", [1e-3, pytest.param(0.0, marks=pytest.mark.long)])
def test_reaches_the_optimum_of_em_sooner(start, smoothing):
    bw = learner(smoothing)
    start = bw.run(start, max_iter=10, tol=0.0).parameters
    found = quasi_newton(bw, start, max_iter=400, tol=1e-9)
    slow = bw.run(start, max_iter=found.n_iter, tol=0.0)
    assert found.converged
    assert found.log_likelihood == pytest.approx(bw.step(found.parameters)[1])
    assert found.log_likelihood > slow.log_likelihood
    better, _, objective = bw.step(found.parameters)
    assert bw.step(better)[2] - objective < 1e-3


def test_no_more_steps_than_allowed(start):
    bw = learner(1e-3)
    found = quasi_newton(bw, start, max_iter=7, tol=1e-9)
    assert found.n_iter == 7
    assert not found.converged
    assert found.log_likelihood > bw.step(start)[1]
