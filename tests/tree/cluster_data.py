"""Small data of each kind that a cluster tree takes, with four groups in them."""

import numpy as np
import pytest

WEIGHTS = np.array([0.4, 0.3, 0.2, 0.1])


def profiles_of(d, rate, noise):
    return np.kron(np.eye(4), np.ones(d // 4)) * (rate - noise) + noise


def records(n=240, d=24, seed=0, rate=0.55, noise=0.05):
    """Zeros and ones: four groups of unequal size, each with codes of its own."""
    rng = np.random.default_rng(seed)
    profiles = profiles_of(d, rate, noise)
    truth = rng.choice(4, size=n, p=WEIGHTS)
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


def oracle(X, kind, rate=0.55, noise=0.05):
    """Return the most probable group of each record under the parameters that made the data."""
    profiles = profiles_of(X.shape[1], rate, noise)
    if kind == "real":
        ones = 1 / (1 + np.exp((1 - 2 * X) / (2 * 0.3**2)))  # probabilities, under the noise
    else:
        ones = (X > 0).astype(float)
    likelihood = ones[:, None] * profiles + (1.0 - ones[:, None]) * (1.0 - profiles)
    # A missing value has the same probability in every group.
    logs = np.where(np.isnan(X)[:, None], 0.0, np.log(likelihood)).sum(axis=2)
    return (logs + np.log(WEIGHTS)).argmax(axis=1)


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

SHORT = ("binary", "real", "gaps")
every_kind = pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=() if kind in SHORT else pytest.mark.long) for kind in KINDS]
)
