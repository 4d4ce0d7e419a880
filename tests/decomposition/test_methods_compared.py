"""The claims of the papers on samples and on models with more components than requested."""

from functools import partial

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from momentree.decomposition import sidiwo, svtd, tensor_power_method
from momentree.moments import SingleTopicMoments
from momentree.whitening import whiten


def error(found, mu):
    distance = np.square(found.centers.T[:, None] - mu).sum(axis=2)
    return np.sqrt(distance[linear_sum_assignment(distance)].sum()) / np.linalg.norm(mu)


@pytest.mark.long
def test_sidiwo_and_svtd_err_no_more_than_the_power_method():
    """T section 2.3, S section 4.2: d = 100, k = 5, n = 1000, uniform topics and weights."""
    methods = {
        "tpm": tensor_power_method,
        "svtd": svtd,
        "sidiwo": sidiwo,
        "rotation": partial(sidiwo, centers="rotation"),
    }
    errors = {name: [] for name in methods}
    rarest = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        mu, w = rng.uniform(size=(5, 100)), rng.uniform(size=5)
        mu, w = mu / mu.sum(axis=1, keepdims=True), w / w.sum()
        rarest.append(w.min())
        X = rng.multinomial(100, mu[rng.choice(5, size=1000, p=w)])
        moments = SingleTopicMoments.from_data(X)
        white = whiten(moments, 5)
        for name, method in methods.items():
            errors[name].append(error(method(moments, 5, whitening=white), mu))
    for name in ("svtd", "sidiwo"):
        worse = np.array(errors[name]) - np.array(errors["tpm"])
        assert worse.mean() < 2 * worse.std(ddof=1) / np.sqrt(10), name
    # The lengths of H Algorithm 1 are off for the rarest topics alone. A regression guard: over
    # seeds 0 to 39, the ratio of errors has mean 1.006 and standard deviation 0.015 if every weight
    # is above 3%, and is above 1 otherwise.
    ratio = np.array(errors["rotation"]) / errors["tpm"]
    common = np.array(rarest) > 0.03
    assert (ratio[common] < 1.006 + 4 * 0.015).all()
    assert (ratio[~common] > 1).all()


@pytest.mark.parametrize("groups", [2, 3])
def test_pseudo_centers_gather_related_topics_and_lie_in_their_span(groups):
    """H Theorem 3.1, point 2, and Theorem 3.2: rows of D as good as orthogonal to all but one."""
    rng = np.random.default_rng(groups)
    blocks = np.kron(np.eye(groups), np.ones(8))
    mu = np.repeat(blocks, 2, axis=0) + rng.uniform(0, 0.3, size=(2 * groups, 8 * groups))
    mu /= mu.sum(axis=1, keepdims=True)
    w = rng.dirichlet(20 * np.ones(2 * groups))
    moments = SingleTopicMoments.from_parameters(w, mu)
    found = sidiwo(moments, groups)
    assert found.n_components == groups
    assert found.diagnostics["objective"] > 1e-6
    span = np.linalg.qr(mu.T)[0]
    outside = found.centers - span @ (span.T @ found.centers)
    assert np.abs(outside).max() < 1e-12 * np.abs(found.centers).max()
    D = np.linalg.pinv(found.centers * np.sqrt(found.weights))
    share = np.square(D @ mu.T)
    share /= share.sum(axis=0)
    # A regression guard: over 30 draws, the mean is 0.9991 for two groups and 0.9975 for three,
    # with standard deviations of 0.0007 and 0.0019; the least is 0.990.
    assert share.max(axis=0).min() > 0.9975 - 4 * 0.0019
    side = share.argmax(axis=0).reshape(groups, 2)
    assert (side[:, 0] == side[:, 1]).all()
    assert sorted(side[:, 0]) == list(range(groups))
