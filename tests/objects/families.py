"""Checks that apply to every family of mixtures."""

import numpy as np

from momentree.refinement import em


def maximal(function, at, step=1e-4):
    """The numerical gradient is zero, and no step increases the function."""
    scale = max(1.0, abs(function(at)))
    for i in range(len(at)):
        e = np.zeros_like(at)
        e[i] = step
        up, down = function(at + e), function(at - e)
        assert abs(up - down) / (2 * step) < 1e-5 * scale
        assert max(up, down) <= function(at) + 1e-9 * scale


def log_likelihood_never_falls(rows, start, steps=25):
    """With negligible smoothing, no step of EM lowers the log-likelihood."""
    last, one, first = -np.inf, np.ones(rows.shape[0]), None
    for _ in range(steps):
        found = em(rows, start, sample_weight=one, smoothing=1e-12, max_iter=1)
        assert found.log_likelihood >= last - 1e-9 * abs(found.log_likelihood)
        first = found.log_likelihood if first is None else first
        last, start = found.log_likelihood, found.parameters
    assert last > first
