"""The number of components of lowest BIC."""

from __future__ import annotations

import numpy as np
import pytest

from momentree.datasets import make_bernoulli_mixture, make_hmm, make_poisson_mixture
from momentree.models import BernoulliMixture, CategoricalHMM, GaussianHMM, PoissonMixture


@pytest.fixture(scope="module")
def X():
    return make_bernoulli_mixture(600, 20, 3, random_state=0).X


def test_it_is_the_fit_of_lowest_bic_of_those_one_by_one(X):
    model = BernoulliMixture("auto").fit(X)
    bics = model.diagnostics_["bic"]
    alone = [BernoulliMixture(k).fit(X).bic(X) for k in (1, 2, 3)]
    assert len(model.weights_) == 1 + np.argmin(bics) == 3
    assert len(bics) == 6
    np.testing.assert_allclose(bics[:3], alone, rtol=1e-12)
    assert model.bic(X) == alone[2]
    assert model.predict_incomplete(X).max() == 2


def test_it_is_no_more_than_the_number_of_samples():
    model = PoissonMixture("auto").fit(np.eye(2))
    assert (len(model.weights_), len(model.diagnostics_["bic"])) == (1, 2)


@pytest.mark.parametrize("model", [BernoulliMixture, PoissonMixture])
def test_moments_without_em_are_compared_too(model):
    make = make_bernoulli_mixture if model is BernoulliMixture else make_poisson_mixture
    X = make(600, 20, 3, random_state=0).X
    fitted = model("auto", refine=None).fit(X)
    k = len(fitted.weights_)
    assert fitted.diagnostics_["bic"][k - 1] == min(fitted.diagnostics_["bic"])
    np.testing.assert_array_equal(fitted.labels_, model(k, refine=None).fit(X).labels_)


def test_batches_continue_with_the_number_chosen(X):
    model = BernoulliMixture("auto").partial_fit(X)
    assert len(model.partial_fit(X).weights_) == 3


@pytest.mark.parametrize("model", [CategoricalHMM, GaussianHMM])
def test_the_number_of_states(model):
    symbols = {"n_symbols": 4} if model is CategoricalHMM else {"n_features": 3}
    data = make_hmm(20, 30, 2, **symbols, random_state=0)
    fitted = model("auto").fit(data.X, data.lengths)
    bics, k = fitted.diagnostics_["bic"], len(fitted.weights_)
    assert len(bics) == k + 2
    assert k == 1 + np.argmin(bics) == 2
    assert fitted.bic(data.X, data.lengths) == pytest.approx(bics[k - 1])
    np.testing.assert_array_equal(fitted.labels_, model(k).fit(data.X, data.lengths).labels_)


def test_one_observation_per_sequence_is_one_state():
    fitted = CategoricalHMM("auto").fit([0, 1, 1, 0], [1, 1, 1, 1])
    assert len(fitted.weights_) == 1
