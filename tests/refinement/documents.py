"""Documents of a small model of latent Dirichlet allocation."""

import numpy as np

from momentree.objects import LDAParameters


def data(n=80, d=10, k=3, seed=0):
    """Word counts, one document of them empty, and initial parameters."""
    rng = np.random.default_rng(seed)
    mu = rng.dirichlet(0.5 * np.ones(d), size=k)
    h = rng.dirichlet(np.full(k, 0.3), n)
    X = np.array([rng.multinomial(30, p) for p in h @ mu])
    X[5] = 0
    start = LDAParameters(np.full(k, 0.5), rng.dirichlet(2 * np.ones(d), size=k).T)
    return X, start
