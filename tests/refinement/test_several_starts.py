"""EM from several starts: the best of single runs, for every family."""

import numpy as np
import pytest

from momentree.backends import LiftedRows
from momentree.objects import (
    DiagonalGaussianParameters,
    FullGaussianParameters,
    SharedGaussianParameters,
)
from momentree.objects.full_gaussian import lifted
from momentree.refinement.search import em_from_several


def problem(kind):
    rng = np.random.default_rng(0)
    X = (
        rng.standard_normal((150, 2))
        + 3.0 * np.array([[0, 0], [2, 0], [0, 2]])[rng.integers(3, size=150)]
    )
    if kind == "diagonal":
        family, lift, p = DiagonalGaussianParameters, lambda Z: np.hstack([Z, Z * Z]), 4
    elif kind == "full":
        family, lift, p = FullGaussianParameters, lifted, 5
    else:
        family, lift, p = SharedGaussianParameters.with_squares(X.T @ X / 150), np.array, 2
    rows = LiftedRows(X, lift, p)
    starts = {}
    for seed in range(4):
        labels = np.random.default_rng(seed).integers(3, size=150)
        sums, _ = rows.group_sums(labels, 3, np.ones(150))
        starts[str(seed)] = family.m_step(sums, np.bincount(labels).astype(float), 0.0)
    return rows, starts


def best_of(rows, starts, **options):
    options = {"smoothing": 0.0, "max_iter": 500, "tol": 1e-9, **options}
    return em_from_several(rows, starts, sample_weight=np.ones(150), **options)


@pytest.mark.parametrize("kind", ["diagonal", "full", "shared"])
def test_together_they_reach_what_one_alone_reaches(kind):
    rows, starts = problem(kind)
    alone = {name: best_of(rows, {name: start})[1] for name, start in starts.items()}
    name, found = best_of(rows, starts)
    assert found.converged
    assert found.log_likelihood == pytest.approx(alone[name].log_likelihood, rel=1e-6)
    assert found.log_likelihood >= np.median([one.log_likelihood for one in alone.values()]) - 1e-6


def test_starts_with_fewer_components_are_left_out():
    rows, starts = problem("full")
    name, found = best_of(rows, {"few": starts["0"].without(2), "1": starts["1"]})
    assert name == "1"
    assert found.parameters.n_components == 3


def test_the_number_of_steps_is_limited():
    rows, starts = problem("full")
    _, found = best_of(rows, starts, max_iter=5, tol=0.0)
    assert found.n_iter <= 6
    assert not found.converged
