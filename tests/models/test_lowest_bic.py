"""The number of components by the BIC of fitted models."""

from __future__ import annotations

import numpy as np
import pytest

from momentree.datasets import make_bernoulli_mixture
from momentree.exceptions import InvalidParameterError
from momentree.models import BernoulliMixture, PoissonMixture, lowest_bic
from tests.raising import raises


@pytest.fixture(scope="module")
def X():
    return make_bernoulli_mixture(600, 20, 3, random_state=0).X


def test_it_returns_the_model_of_lowest_bic_and_all_bics(X):
    tried = []
    model, bics = lowest_bic(BernoulliMixture(), X, progress=tried.append)
    assert model.n_components == 1 + np.argmin(bics) == 3
    assert tried == [1, 2, 3, 4, 5, 6]
    alone = [BernoulliMixture(k).fit(X).bic(X) for k in (1, 2, 3)]
    assert bics[:3] == alone
    assert model.bic(X) == alone[2]


def test_it_tries_no_more_than_it_may_and_than_there_are_samples(X):
    assert len(lowest_bic(BernoulliMixture(), X, largest=2)[1]) == 2
    assert len(lowest_bic(PoissonMixture(), np.eye(2))[1]) <= 2
    with raises(InvalidParameterError, "not_a_number", parameter="largest"):
        lowest_bic(BernoulliMixture(), X, largest=0)


def test_fits_with_small_components_do_not_count(X):
    # Two components have 386 and 214 samples; of three, the smallest has 8.
    for least, k in ((8, 3), (9, 2), (215, 1)):
        assert lowest_bic(BernoulliMixture(), X, largest=3, min_samples=least)[0].n_components == k


def test_the_estimator_is_not_fitted_and_its_parameters_are_kept(X):
    estimator = BernoulliMixture(7, refine=None)
    model, _ = lowest_bic(estimator, X, feature_names=[f"code {j}" for j in range(20)])
    assert estimator.n_components == 7
    assert not hasattr(estimator, "weights_")
    assert model.refine is None
    assert model.vocabulary_[0] == "code 0"
