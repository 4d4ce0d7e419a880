"""Mixtures of von Mises-Fisher distributions: Bessel functions, concentrations, EM."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.integrate import quad
from scipy.special import ive
from scipy.stats import vonmises_fisher

from momentree.backends import RowBlocks
from momentree.inference import log_joint
from momentree.objects import VonMisesFisherParameters
from momentree.objects.von_mises_fisher import concentration, log_bessel, log_normalizer
from momentree.refinement import em


@pytest.mark.parametrize("order", [0.0, 0.5, 49.5, 50.0, 60.0])
def test_bessel_functions_are_those_of_scipy(order):
    x = np.array([1.0, 10.0, 100.0, 1e4])
    # 1e-11 is the error of four terms at order 50.
    np.testing.assert_allclose(log_bessel(order, x), np.log(ive(order, x)) + x, rtol=0, atol=2e-11)


@pytest.mark.parametrize("order", [0.0, 3.0, 49.5, 383.0])
def test_bessel_functions_obey_their_recurrence(order):
    # I_(v-1)(x) - I_(v+1)(x) = 2 v / x I_v(x), also where the functions underflow.
    for x in np.array([[1e-3], [0.5], [30.0], [3e3]]):
        low, mid, high = (log_bessel(order + step, x) for step in (0, 1, 2))
        left = np.exp(low - mid) - np.exp(high - mid)
        np.testing.assert_allclose(left, 2 * (order + 1) / x, rtol=1e-7)


@pytest.mark.parametrize("d", [3, 100, 768])
@pytest.mark.parametrize("kappa", [0.5, 20.0, 2000.0])
def test_concentration_inverts_the_mean_resultant_length(d, kappa):
    at = np.array([kappa])
    r = float(np.exp(log_bessel(d / 2, at) - log_bessel(d / 2 - 1, at))[0])
    assert concentration(r, d) == pytest.approx(kappa, rel=1e-8)


def test_the_density_is_that_of_scipy_and_integrates_to_one():
    mean = np.array([0.6, 0.0, 0.8])
    x = vonmises_fisher(mean, 3.0).rvs(20, random_state=0)
    p = VonMisesFisherParameters(np.ones(1), 0.5 * mean[:, None], np.array([3.0]))
    found = log_joint(RowBlocks(sp.csr_array(x)), p)[:, 0]
    np.testing.assert_allclose(found, vonmises_fisher(mean, 3.0).logpdf(x), rtol=1e-10)
    # On the circle, the only angle is that to the mean.
    c = np.exp(log_normalizer(np.array([2.5]), 2))[0]
    assert quad(lambda a: c * np.exp(2.5 * np.cos(a)), -np.pi, np.pi)[0] == pytest.approx(1.0)


def test_em_recovers_directions_and_never_lowers_the_likelihood():
    means = np.eye(3)[:2]
    x = np.vstack([vonmises_fisher(m, 12.0).rvs(400, random_state=i) for i, m in enumerate(means)])
    rows, v = RowBlocks(sp.csr_array(x)), np.ones(len(x))
    start = VonMisesFisherParameters(np.full(2, 0.5), x[[0, -1]].T, np.ones(2))
    likelihoods = [
        em(rows, start, sample_weight=v, max_iter=n, tol=0).log_likelihood for n in range(1, 12)
    ]
    assert (np.diff(likelihoods) >= -1e-9 * abs(likelihoods[0])).all()
    found = em(rows, start, sample_weight=v).parameters
    directions = found.centers / np.linalg.norm(found.centers, axis=0)
    assert (np.einsum("jw,wj->j", means, directions) > 0.999).all()
    # Four standard errors of the concentration, whose variance is about kappa^2 / n.
    assert abs(found.concentrations[0] - 12.0) < 4 * 12.0 / np.sqrt(800)


def test_likelihoods_of_groups_are_lengths_and_their_unit_is_the_concentration():
    x = vonmises_fisher(np.array([1.0, 0, 0]), 5.0).rvs(50, random_state=1)
    S, N = x.sum(axis=0), np.array([50.0])
    assert VonMisesFisherParameters.maximized_log_likelihood(S, np.array(50.0)) == pytest.approx(
        np.linalg.norm(S)
    )
    unit = VonMisesFisherParameters.nats_per_unit(S[:, None], N)
    assert unit == pytest.approx(VonMisesFisherParameters.m_step(S[:, None], N, 1.0).concentrations)
    # Opposite directions cancel; the smallest concentration is finite and positive.
    zero = VonMisesFisherParameters.m_step(np.zeros((3, 1)), N, 1.0)
    assert 0 < zero.concentrations[0] < 1e-3
    assert np.isfinite(zero.coefficients).all()
