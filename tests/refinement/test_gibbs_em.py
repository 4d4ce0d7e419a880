"""Stochastic EM of latent Dirichlet allocation with Gibbs sampling."""

import numpy as np
import scipy.sparse as sp

from momentree.backends import RowBlocks, num_threads
from momentree.exceptions import InvalidDataError
from momentree.objects import LDAParameters
from momentree.refinement import gibbs_em
from tests.raising import raises
from tests.refinement.documents import data


def test_it_finds_the_truth_and_repeats_itself():
    rng = np.random.default_rng(0)
    mu = rng.dirichlet(np.full(30, 0.2), 3)
    h = rng.dirichlet([0.2, 0.3, 0.5], 1500)
    X = np.array([rng.multinomial(40, p) for p in h @ mu])
    X[4] = 0
    rows, one = RowBlocks(sp.csr_array(X)), np.ones(len(X))
    start = LDAParameters(np.ones(3), (0.5 * mu + 0.5 / 30).T)
    found = gibbs_em(rows, start, sample_weight=one, smoothing=0.01)
    # About 20,000 words for each topic, over 30 words: the sampling error alone is about 0.04.
    assert np.abs(found.parameters.centers.T - mu).sum(axis=1).max() < 0.08
    np.testing.assert_allclose(found.parameters.alpha, [0.2, 0.3, 0.5], rtol=0.2)
    assert found.n_iter == 30
    with num_threads(1):
        again = gibbs_em(rows, start, sample_weight=one, smoothing=0.01)
    np.testing.assert_array_equal(again.parameters.centers, found.parameters.centers)


def test_it_ignores_documents_without_weight():
    X, start = data()
    v = np.ones(len(X))
    v[::2] = 0.0
    weighted = gibbs_em(RowBlocks(sp.csr_array(X)), start, sample_weight=v, max_iter=4)
    fewer = gibbs_em(RowBlocks(sp.csr_array(X[1::2])), start, sample_weight=v[1::2], max_iter=4)
    np.testing.assert_allclose(weighted.parameters.centers, fewer.parameters.centers, rtol=1e-12)
    np.testing.assert_allclose(weighted.parameters.alpha, fewer.parameters.alpha, rtol=1e-7)


def test_it_requires_whole_counts():
    X, start = data()
    with raises(InvalidDataError, "count_not_whole", value=0.5):
        gibbs_em(RowBlocks(sp.csr_array(0.5 * (X > 0))), start, sample_weight=np.ones(len(X)))
