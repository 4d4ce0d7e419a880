"""Components split and merged by hand: nested, exact, and a mixture again."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp, softmax
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from momentree import BernoulliMixture
from momentree.assignment.posteriors import MixtureAssigner
from momentree.backends import RowBlocks
from momentree.datasets import make_bernoulli_mixture
from momentree.objects import BernoulliParameters

from ..incomplete import probabilities
from ..oracle import assert_near_oracle, bernoulli_labels

every_option = pytest.mark.parametrize(
    ("refine", "gaps"), [("em", 0.0), ("em", 0.15), (None, 0.0), (None, 0.15)]
)
EVERY_GAP = pytest.mark.parametrize("gaps", [0.0, 0.15])


def draw(n=600, d=16, gaps=0.0, seed=0):
    truth = make_bernoulli_mixture(
        n, d, 4, weights=[0.4, 0.3, 0.2, 0.1], scaled_by="feature", random_state=seed
    )
    X = truth.X.toarray().astype(float)
    return np.where(np.random.default_rng(seed).random(X.shape) < gaps, np.nan, X), truth


@cache
def fitted(k=3, gaps=0.0, refine="em"):
    """Data and a model of them; edits leave both as they are."""
    X, _ = draw(gaps=gaps)
    return X, BernoulliMixture(k, refine=refine).fit(X)


def assert_whole(model, X):
    """What holds of every fitted mixture."""
    k, d = len(model.weights_), X.shape[1]
    assert model.components_.shape == (k, d)
    assert model.weights_.sum() == pytest.approx(1.0)
    assert (np.diff(model.weights_) <= 0).all()
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    proba = model.predict_proba(X)
    assert proba.shape == (len(X), k)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.transform(X), proba)
    assert len(model.top_words()) == len(model.get_feature_names_out()) == k
    sample, labels = model.sample(400, random_state=0)
    assert labels.max() < k
    error = 5 * np.sqrt(0.25 / 400)
    assert np.abs(sample.mean(axis=0) - model.weights_ @ model.components_).max() < error


def literal_joint(parameters, X):
    """log P[x, j] under the weights and centers of a mixture."""
    joint = np.tile(np.log(parameters.weights), (len(X), 1))
    for j, mu in enumerate(parameters.centers.T):
        p = np.clip(mu, 1e-9, 1 - 1e-9)
        terms = np.where(X == 1, np.log(p), np.log1p(-p))
        joint[:, j] += np.where(np.isnan(X), 0.0, terms).sum(axis=1)
    return joint


def assert_likelihood(model, X, *, refined=True):
    """The likelihood is that of the mixture of posterior_: of weights_ and components_."""
    np.testing.assert_array_equal(model.posterior_.weights, model.weights_)
    if refined:
        np.testing.assert_array_equal(model.posterior_.centers, model.components_.T)
    expected = logsumexp(literal_joint(model.posterior_, X), axis=1)
    np.testing.assert_allclose(model.score_samples(X), expected, rtol=1e-9)
    p = model.components_.size + len(model.weights_) - 1
    assert model.bic(X) == pytest.approx(-2 * expected.sum() + p * np.log(len(X)))


@every_option
def test_a_split_divides_one_group_and_no_other(refine, gaps):
    X, model = fitted(gaps=gaps, refine=refine)
    before = model.labels_.copy(), model.weights_.copy(), model.components_.copy()
    for group in range(3):
        found = model.split_group(X, group)
        assert_whole(found, X)
        assert len(found.weights_) == 4
        inside = before[0] == group
        parts = set(found.labels_[inside])
        assert len(parts) == 2
        assert not parts & set(found.labels_[~inside])
        pairs = set(zip(before[0][~inside], found.labels_[~inside], strict=True))
        assert len(pairs) == 2
        for old, new in pairs:
            assert found.weights_[new] == model.weights_[old]
            np.testing.assert_array_equal(found.components_[new], model.components_[old])
        assert found.weights_[list(parts)].sum() == pytest.approx(model.weights_[group])
        # Of a record the parts have together what the group had.
        proba = found.predict_proba(X)[:, list(parts)].sum(axis=1)
        np.testing.assert_allclose(proba, model.predict_proba(X)[:, group], atol=1e-12)
        # Within the group it is Bayes' rule for the parts alone.
        within = softmax(literal_joint(found.posterior_, X)[:, list(parts)], axis=1)
        expected = proba[:, None] * within
        np.testing.assert_allclose(found.predict_proba(X)[:, list(parts)], expected, atol=1e-12)
        assert_likelihood(found, X, refined=refine == "em")
    for array, kept in zip((model.labels_, model.weights_, model.components_), before, strict=True):
        np.testing.assert_array_equal(array, kept)
    assert "_edited" not in vars(model)


@every_option
def test_a_merge_is_the_union(refine, gaps):
    X, model = fitted(4, gaps=gaps, refine=refine)
    for groups in ([3, 1], (2, 0, 3), np.array([1, 2])):
        found = model.merge_groups(X, groups)
        assert_whole(found, X)
        union = np.isin(model.labels_, groups)
        merged = found.labels_[union][0]
        np.testing.assert_array_equal(found.labels_ == merged, union)
        some = np.unique(groups)
        w = model.weights_[some]
        assert found.weights_[merged] == pytest.approx(w.sum())
        mean = w @ model.components_[some] / w.sum()
        np.testing.assert_allclose(found.components_[merged], mean, atol=1e-12)
        proba = model.predict_proba(X)[:, some].sum(axis=1)
        np.testing.assert_allclose(found.predict_proba(X)[:, merged], proba, atol=1e-12)
        assert_likelihood(found, X, refined=refine == "em")


@EVERY_GAP
def test_a_split_is_a_fit_of_the_group_alone(gaps):
    """Complete data: the same model. With gaps rates of observation are those of all."""
    X, model = fitted(2, gaps=gaps)
    inside = model.labels_ == 0
    alone = BernoulliMixture(3).fit(X[inside])
    found = model.split_group(X, 0, 3)
    parts = np.unique(found.labels_[inside])
    assert len(parts) == 3
    agree = adjusted_rand_score(found.labels_[inside], alone.labels_)
    assert agree == 1.0 if not gaps else agree > 0.9
    if not gaps:
        np.testing.assert_allclose(
            found.components_[parts], alone.components_, rtol=1e-9, atol=1e-12
        )
        expected = model.weights_[0] * alone.weights_
        np.testing.assert_allclose(found.weights_[parts], expected, rtol=1e-9)


def test_parts_have_the_rate_of_their_group_where_none_of_its_records_is_observed():
    X, _ = draw(n=1500)
    model = BernoulliMixture(3).fit(X)
    X[model.labels_ == 0, 5] = np.nan
    model = BernoulliMixture(3).fit(X)
    group = model.labels_[np.flatnonzero(np.isnan(X[:, 5]))[0]]
    X[model.labels_ == group, 5] = np.nan
    found = model.split_group(X, group)
    parts = np.unique(found.labels_[model.labels_ == group])
    expected = model.components_[group, 5]
    np.testing.assert_array_equal(found.components_[parts, 5], [expected] * 2)
    assert_whole(found, X)
    assert_likelihood(found, X)


def test_a_split_finds_groups_that_were_joined():
    X, truth = draw(n=3000)
    model = BernoulliMixture(4).fit(X)
    oracle = bernoulli_labels(X, truth.weights, truth.means)
    assert_near_oracle(truth.labels, oracle, model.labels_)
    whole = model.merge_groups(X, [0, 2])
    merged = whole.labels_[np.flatnonzero(model.labels_ == 0)[0]]
    again = whole.split_group(X, merged)
    assert_near_oracle(truth.labels, oracle, again.labels_)
    assert np.abs(np.sort(again.weights_) - np.sort(model.weights_)).max() < 0.01


@every_option
def test_edits_follow_one_another(refine, gaps):
    X, model = fitted(gaps=gaps, refine=refine)
    rng = np.random.default_rng(0)
    for step in range(4):
        k = len(model.weights_)
        if step % 2 == 0 or k < 3:
            model = model.split_group(X, int(np.bincount(model.labels_).argmax()), 2 + step % 3)
        else:
            model = model.merge_groups(X, rng.permutation(k)[:2])
        assert_whole(model, X)


def test_all_merged_are_one_group_which_can_be_split_again():
    X, model = fitted()
    one = model.merge_groups(X, range(3))
    assert_whole(one, X)
    np.testing.assert_allclose(one.predict_proba(X), np.ones((len(X), 1)))
    again = one.split_group(X, 0, 3)
    assert_whole(again, X)
    np.testing.assert_array_equal(again.labels_, model.labels_)


def test_weights_are_repetitions_in_edits_too():
    X, _ = draw()
    weight = np.random.default_rng(3).integers(0, 3, size=len(X))
    again = np.repeat(np.arange(len(X)), weight)
    one = BernoulliMixture(3).fit(X, sample_weight=weight)
    other = BernoulliMixture(3).fit(X[again])
    one, other = one.split_group(X, 0, sample_weight=weight), other.split_group(X[again], 0)
    np.testing.assert_array_equal(one.labels_[again], other.labels_)
    np.testing.assert_allclose(one.components_, other.components_, rtol=1e-6)
    one = one.merge_groups(X, [0, 3], sample_weight=weight)
    other = other.merge_groups(X[again], [0, 3])
    np.testing.assert_array_equal(one.labels_[again], other.labels_)
    np.testing.assert_allclose(one.components_, other.components_, rtol=1e-6)


def test_the_order_of_rows_does_not_matter_to_edits():
    X, model = fitted()
    order = np.random.default_rng(0).permutation(len(X))
    one = model.split_group(X, 1).merge_groups(X, [0, 2])
    other = BernoulliMixture(3).fit(X[order]).split_group(X[order], 1)
    other = other.merge_groups(X[order], [0, 2])
    np.testing.assert_array_equal(one.labels_[order], other.labels_)
    np.testing.assert_array_equal(one.components_, other.components_)


def edited(X, model):
    """Divided twice, once within a part, and merged across."""
    found = model.split_group(X, 1, 3).merge_groups(X, [0, 2])
    return found.split_group(X, 0).split_group(X, 0)


@EVERY_GAP
def test_new_records_are_assigned_like_the_old_ones(gaps):
    X, model = fitted(gaps=gaps)
    found = edited(X, model)
    np.testing.assert_array_equal(found.predict(sp.csr_array(X[::-1])), found.labels_[::-1])
    new = np.nan_to_num(X[:20])
    new[:, 5] = np.nan
    proba = found.predict_proba(new)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    both = (found.predict_proba(np.where(np.arange(16) == 5, v, new)) for v in (0, 1))
    low, high = np.sort(np.stack(list(both)), axis=0)
    inside = (proba >= low - 1e-9) & (proba <= high + 1e-9)
    assert inside.mean() > 0.9


@EVERY_GAP
def test_an_edited_model_assigns_incomplete_records_by_its_own_groups(gaps):
    X, model = fitted(gaps=gaps)
    for found in (model, model.merge_groups(X, [0, 2]), edited(X, model)):
        scoring = found.scoring()
        assert scoring["sizes"] == np.bincount(found.labels_).tolist()
        assert (scoring["observed"] is None) == (gaps == 0)
        groups = range(len(found.weights_))
        ones = [np.nansum(X[found.labels_ == j], axis=0).tolist() for j in groups]
        assert scoring["counts"] == ones
        P = found.predict_incomplete_proba(X[:20])
        np.testing.assert_allclose(P, probabilities(scoring, X[:20]), rtol=1e-9, atol=1e-12)


def test_a_fit_forgets_the_edits():
    X, model = fitted()
    found = edited(X, model)
    assert clone(found).get_params() == model.get_params()
    found.fit(X)
    np.testing.assert_array_equal(found.labels_, model.labels_)
    np.testing.assert_array_equal(found.predict(X), model.labels_)
    assert "_edited" not in vars(found)


def test_an_edit_removes_the_likelihood_of_the_fit():
    X, model = fitted()
    assert "log_likelihood" in model.diagnostics_
    for found in (model.split_group(X, 0), model.merge_groups(X, [0, 1])):
        assert "log_likelihood" not in found.diagnostics_
        assert found.diagnostics_["start"] == model.diagnostics_["start"]
        assert found.converged_ == model.converged_


def test_fewer_parts_than_requested_are_made_where_there_are_fewer():
    kinds = np.array([[1.0, 1, 0, 0, 0, 0, 0], [1, 1, 1, 1, 0, 0, 0], [0, 0, 0, 0, 1, 1, 1]])
    X = np.repeat(kinds, [20, 15, 10], axis=0)
    found = BernoulliMixture(2, start="clusters").fit(X).split_group(X, 0, 5)
    assert_whole(found, X)
    np.testing.assert_array_equal(found.labels_, np.repeat([0, 1, 2], [20, 15, 10]))


def test_a_merged_mixture_is_one_of_more_components_than_groups():
    """The likeliest component decides, so that a merge moves no record."""
    X, model = fitted(4)
    found = model.merge_groups(X, [1, 2])
    parameters = BernoulliParameters(model.weights_, model.components_.T)
    old = MixtureAssigner.of(parameters).labels(RowBlocks(sp.csr_array(X)))
    for group in np.unique(found.labels_):
        assert len(set(old[found.labels_ == group])) == (
            2 if group in found.labels_[old == 1] else 1
        )
