"""The table of fits: its columns are those of single fits, for mixtures and trees."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp

from momentree import ClusterTree
from momentree.datasets import make_bernoulli_mixture
from momentree.exceptions import InvalidParameterError
from momentree.metrics import classification_table, stability_score
from momentree.models import BernoulliMixture, compare_fits
from tests.raising import raises


@pytest.fixture(scope="module")
def X():
    return make_bernoulli_mixture(600, 20, 3, random_state=0).X


def test_each_row_is_that_of_a_fit(X):
    tried = []
    fits = compare_fits(BernoulliMixture(), X, [3, 1, 2], progress=tried.append)
    assert tried == [1, 2, 3]
    assert fits["n_groups"].tolist() == [1, 2, 3]
    for fit in fits.to_dict("records"):
        model = BernoulliMixture(fit["n_groups"]).fit(X)
        assert fit["bic"] == pytest.approx(model.bic(X))
        assert fit["log_likelihood"] == pytest.approx(model.score_samples(X).sum())
        k, p = fit["n_groups"], fit["n_parameters"]
        assert (fit["found"], p) == (k, 20 * k + k - 1)
        assert fit["aic"] == pytest.approx(2 * p - 2 * fit["log_likelihood"])
        adjusted = p * np.log(602 / 24) - 2 * fit["log_likelihood"]
        assert fit["adjusted_bic"] == pytest.approx(adjusted)
        assert fit["smallest"] == np.bincount(model.labels_).min()
        if k > 1:
            entropy = classification_table(model.labels_, model.predict_proba(X)).entropy
            assert fit["entropy"] == pytest.approx(entropy)
    assert fits["n_groups"][fits["bic"].idxmin()] == 3
    assert np.isnan(fits["entropy"][0])
    assert fits["stability"].isna().all()


def test_stability_is_measured_on_request(X):
    fits = compare_fits(BernoulliMixture(), X, [1, 3], stability=2)
    expected = stability_score(BernoulliMixture(3), X, n_repeats=2).mean()
    assert fits["stability"][1] == pytest.approx(expected)
    assert np.isnan(fits["stability"][0])


def literal_log_likelihood(X, weights, centers):
    X, centers = X.toarray(), np.clip(centers, 1e-9, 1 - 1e-9)
    joint = np.log(weights) + X @ np.log(centers) + (1 - X) @ np.log(1 - centers)
    return logsumexp(joint, axis=1)


@pytest.mark.parametrize("refine", ["em", None])
def test_the_likelihood_of_a_tree_is_that_of_the_mixture_of_its_leaves(X, refine):
    tree = ClusterTree(3, refine=refine).fit(X)
    centers = np.column_stack([leaf.center for leaf in tree.leaves_])
    weights = np.bincount(tree.labels_) / 600
    hard = literal_log_likelihood(X, weights, centers)
    if refine is None:
        assert tree.score_samples(X) == pytest.approx(hard, rel=1e-9)
    else:
        # The mixture that EM has fitted, smoothed by one record per leaf.
        assert tree.score_samples(X).mean() == pytest.approx(hard.mean(), abs=0.03)
    fits = compare_fits(ClusterTree(refine=refine), X, [2, 3])
    assert fits["log_likelihood"][1] == pytest.approx(tree.score_samples(X).sum())
    assert fits["found"].tolist() == [2, 3]


@pytest.mark.parametrize("refine", ["em", None])
def test_the_probabilities_of_all_records_sum_to_one(X, refine):
    tree = ClusterTree(3, refine=refine).fit(X[:, :8])
    every = (np.arange(256)[:, None] >> np.arange(8)) & 1
    assert np.exp(tree.score_samples(every)).sum() == pytest.approx(1)


def test_missing_values_are_left_out_of_the_likelihood(X):
    gaps = X.toarray().astype(float)
    gaps[::3, 0] = np.nan
    tree = ClusterTree(3).fit(X)
    short = tree.score_samples(gaps)
    full = gaps.copy()
    both = np.array([np.where(np.isnan(full), value, full) for value in (0.0, 1.0)])
    summed = logsumexp([tree.score_samples(one) for one in both], axis=0)
    assert short[::3] == pytest.approx(summed[::3])
    assert np.isfinite(ClusterTree(3).fit(sp.csr_array(gaps)).score_samples(gaps)).all()


def test_bad_requests_are_refused(X):
    with raises(InvalidParameterError, "no_numbers_to_compare"):
        compare_fits(BernoulliMixture(), X, [601])
    with raises(InvalidParameterError, "not_a_number", parameter="candidates"):
        compare_fits(BernoulliMixture(), X, [0, 2])
    with raises(InvalidParameterError, "not_a_number", parameter="stability"):
        compare_fits(BernoulliMixture(), X, [2], stability=-1)
    assert not hasattr(ClusterTree(2).fit(np.arange(40.0).reshape(20, 2)), "score_samples")


def test_candidates_of_several_types_are_refused():
    with pytest.raises(InvalidParameterError):
        compare_fits(BernoulliMixture(), np.eye(6), [2, "three"])
