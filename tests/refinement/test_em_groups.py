"""EM within several groups at once: the result of EM for each group alone."""

import numpy as np
import pytest

from momentree.backends import RowBlocks, counted_passes
from momentree.datasets import make_single_topic
from momentree.objects import BernoulliParameters, TopicParameters
from momentree.refinement import em
from momentree.refinement.em import em_of_groups

X = make_single_topic(200, 30, 4, length=20, random_state=0).X
SAMPLES = {TopicParameters: X, BernoulliParameters: (X > 0).astype(float)}


@pytest.mark.parametrize("family", SAMPLES)
@pytest.mark.parametrize("max_iter", [1, 4, 300])
def test_each_group_gets_its_own_mixture(family, max_iter):
    rows = RowBlocks(SAMPLES[family], block_nnz=300)
    rng = np.random.default_rng(0)
    own, weight = rng.integers(-1, 3, 200), rng.uniform(0.5, 2.0, 200)
    half = rng.integers(0, 2, 200)
    starts = [
        family.m_step(rows.group_sums(half, 2, weight * (own == j))[0], np.ones(2), 1.0)
        for j in range(3)
    ]
    starts[1] = None
    options = {"smoothing": 0.5, "max_iter": max_iter, "tol": 1e-7}
    found = em_of_groups(rows, own, starts, sample_weight=weight, **options)
    assert found[1] is None
    for j in (0, 2):
        at = np.flatnonzero(own == j)
        alone = em(rows.take(at), starts[j], sample_weight=weight[at], **options)
        assert (found[j].n_iter, found[j].converged) == (alone.n_iter, alone.converged)
        assert found[j].log_likelihood == pytest.approx(alone.log_likelihood, rel=1e-10)
        np.testing.assert_allclose(found[j].parameters.centers, alone.parameters.centers, rtol=1e-6)
        np.testing.assert_allclose(found[j].parameters.weights, alone.parameters.weights, rtol=1e-6)


def test_a_step_of_all_groups_is_one_pass():
    rows, weight = RowBlocks(SAMPLES[TopicParameters]), np.ones(200)
    own = np.arange(200) % 5
    start = TopicParameters.m_step(rows.group_sums(own % 2, 2, weight)[0], np.ones(2), 1.0)
    with counted_passes() as read:
        em_of_groups(rows, own, [start] * 5, sample_weight=weight, smoothing=1.0, max_iter=3, tol=0)
    assert read.n_rows == 4 * 200  # the sums of the groups, and three steps


def test_a_component_of_no_weight_stays_empty():
    rows, weight = RowBlocks(SAMPLES[TopicParameters]), np.ones(200)
    sums, _ = rows.group_sums(np.arange(200) % 2, 2, weight)
    centers = TopicParameters.m_step(sums, np.ones(2), 1)
    for weights in ([1.0, 0.0], [0.0, 1.0]):
        start = TopicParameters(np.array(weights), centers.centers)
        own = np.zeros(200, dtype=int)
        (found,) = em_of_groups(rows, own, [start], sample_weight=weight, smoothing=1, max_iter=2)
        np.testing.assert_array_equal(found.parameters.weights, weights)
        assert np.isfinite(found.log_likelihood)
