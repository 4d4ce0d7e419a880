"""Small data of each kind that a cluster tree takes, with four groups in them."""

import numpy as np


def records(n=240, d=24, seed=0, rate=0.55, noise=0.05):
    """Zeros and ones: four groups of unequal size, each with codes of its own."""
    rng = np.random.default_rng(seed)
    profiles = np.kron(np.eye(4), np.ones(d // 4)) * (rate - noise) + noise
    truth = rng.choice(4, size=n, p=[0.4, 0.3, 0.2, 0.1])
    return (rng.random((n, d)) < profiles[truth]).astype(float), truth


def of_kind(kind, **options):
    """The same groups as data of another kind."""
    X, truth = records(**options)
    rng = np.random.default_rng(1)
    if kind == "counts":
        X = X * rng.integers(1, 4, size=X.shape)
    elif kind == "non_negative":
        X = X * rng.uniform(0.5, 1.5, size=X.shape)
    elif kind == "real":
        X = X + 0.3 * rng.standard_normal(X.shape)
    elif kind == "gaps":
        X = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    return X, truth


KINDS = ("binary", "counts", "non_negative", "real", "gaps")
REFINE = ("em", "splits", "leaves", None)

PAIRS = (
    ("binary", "em"),
    ("counts", "leaves"),
    ("non_negative", None),
    ("real", "splits"),
    ("gaps", "em"),
)
"""Every kind of data once, and every way of refinement."""
