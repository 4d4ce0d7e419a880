"""Mixtures of views: separate matrices and column groups, kinds, means from moments alone."""

import copy

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import norm, poisson
from sklearn.metrics import adjusted_rand_score

import momentree as mt
from momentree.exceptions import (
    InvalidDataError,
    InvalidParameterError,
    MomentreeError,
    MomentreeWarning,
)

from ..raising import raises

LAB = np.array([[0.0, 1.0], [2.0, -1.0], [-2.0, 3.0]])
CODES = np.array([[0.1, 0.2, 0.5], [0.6, 0.1, 0.1], [0.3, 0.8, 0.2]])
VISITS = np.array([[1.0], [4.0], [0.3]])
WORDS = np.random.default_rng(9).dirichlet(np.full(25, 0.3), 3)
WEIGHTS = np.array([0.5, 0.3, 0.2])


def drawn(n=3000, seed=0, correlation=0.0):
    """Four views; the two columns of the first may be correlated within a component."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, size=n, p=WEIGHTS)
    both = rng.normal(size=(n, 1))
    noise = np.sqrt(correlation) * both + np.sqrt(1 - correlation) * rng.normal(size=(n, 2))
    lab, codes = LAB[y] + noise, (rng.random((n, 3)) < CODES[y]).astype(float)
    words = np.stack(
        [rng.multinomial(m, p) for m, p in zip(rng.integers(5, 30, n), WORDS[y], strict=True)]
    )
    return [lab, codes, rng.poisson(VISITS[y]), sp.csr_array(words)], y


@pytest.fixture(scope="module")
def views():
    return drawn()


@pytest.fixture(scope="module")
def model(views):
    return mt.MultiviewMixture(3).fit(views[0])


def test_it_finds_the_conditional_means_of_every_view(views, model):
    """Within five standard errors of the smallest component, 0.2 n samples."""
    error = 5 / np.sqrt(0.2 * len(views[1]))
    np.testing.assert_allclose(model.weights_, WEIGHTS, atol=error)
    for found, means, deviation in zip(
        model.means_, (LAB, CODES, VISITS, WORDS), (1.0, 0.5, 2.0, 0.5), strict=True
    ):
        np.testing.assert_allclose(found, means, atol=error * deviation)
    assert adjusted_rand_score(model.labels_, views[1]) > 0.8
    assert [coder.kind for coder in model.views_.coders] == ["number", "yes_no", "count", "words"]


def test_the_order_of_rows_does_not_matter(views, model):
    order = np.random.default_rng(0).permutation(len(views[1]))
    again = mt.MultiviewMixture(3).fit([part[order] for part in views[0]])
    np.testing.assert_array_equal(again._all_means, model._all_means)
    np.testing.assert_array_equal(again.labels_, model.labels_[order])


def test_moments_assume_only_that_the_views_are_independent():
    """The columns of the first view are correlated; EM would divide it along the correlation."""
    views, _ = drawn(20_000, seed=1, correlation=0.9)
    found = mt.MultiviewMixture(3, refine=None).fit(views)
    np.testing.assert_allclose(found.weights_, WEIGHTS, atol=0.02)
    np.testing.assert_allclose(found.means_[0], LAB, atol=0.1)
    np.testing.assert_allclose(found.means_[1], CODES, atol=0.03)
    np.testing.assert_allclose(found.means_[3], WORDS, atol=0.01)


def test_the_score_is_a_log_density(views, model):
    lab, codes, visits, words = views[0]
    mu = model.means_
    joint = np.tile(np.log(model.weights_), (len(lab), 1))
    for j in range(3):
        joint[:, j] += norm.logpdf(lab, mu[0][j], np.sqrt(model.variances_[j])).sum(axis=1)
        joint[:, j] += (codes * np.log(mu[1][j]) + (1 - codes) * np.log(1 - mu[1][j])).sum(axis=1)
        joint[:, j] += poisson.logpmf(visits, mu[2][j]).sum(axis=1)
        joint[:, j] += words @ np.log(mu[3][j])
    from momentree.inference import log_multinomial

    expected = np.logaddexp.reduce(joint, axis=1) + log_multinomial(words)
    np.testing.assert_allclose(model.score_samples(views[0]), expected, rtol=1e-7)
    np.testing.assert_array_equal(model.predict(views[0]), model.labels_)


def test_columns_of_one_table_are_views(views, model):
    lab, codes, visits, words = views[0]
    whole = np.hstack([lab, codes, visits, words.toarray()])
    groups = [slice(0, 2), [2, 3, 4], 5, range(6, 31)]
    kinds = ["number", "yes_no", "count", "words"]
    for X in (whole, sp.csr_array(whole)):
        found = mt.MultiviewMixture(3, views=groups, kinds=kinds).fit(X)
        np.testing.assert_array_equal(found.labels_, model.labels_)
    np.testing.assert_array_equal(model.predict(whole), model.labels_)


def test_views_of_a_data_frame_have_columns_of_several_kinds(views):
    lab, codes, visits, _ = views[0]
    table = pd.DataFrame(np.hstack([lab, codes, visits]), columns=list("abcdef"))
    table["sex"] = np.where(
        np.random.default_rng(0).random(len(table)) < 0.2 + 0.6 * codes[:, 1], "m", "f"
    )
    groups = {"lab": ["a", "b"], "codes": ["c", "d"], "rest": ["f", "sex"]}
    model = mt.MultiviewMixture(3, views=groups).fit(table)
    assert list(model.view_names_) == ["lab", "codes", "rest"]
    assert model.mean_names_ == [["a", "b"], ["c", "d"], ["f", "sex=f", "sex=m"]]
    assert [part.shape for part in model.means_] == [(3, 2), (3, 2), (3, 3)]
    np.testing.assert_allclose(model.means_[2][:, 1:].sum(axis=1), 1.0, rtol=1e-9)
    parts, labels = model.sample(5, random_state=0)
    assert [part.shape for part in parts] == [(5, 2), (5, 2), (5, 2)]
    assert labels.shape == (5,)


def test_missing_values_do_not_matter_much(views, model):
    parts = list(views[0])
    parts[0] = np.where(np.random.default_rng(1).random(parts[0].shape) < 0.2, np.nan, parts[0])
    found = mt.MultiviewMixture(3).fit(parts)
    assert adjusted_rand_score(found.labels_, model.labels_) > 0.7
    np.testing.assert_allclose(found.means_[0], LAB, atol=0.3)


def test_samples_look_like_the_data(views, model):
    parts, labels = model.sample(2000, random_state=0)
    assert (model.predict(parts) == labels).mean() > 0.85
    assert abs(parts[3].sum() / 2000 - views[0][3].sum() / len(views[1])) < 1


def test_every_column_may_be_a_view(views):
    X = views[0][0][:200]
    X = np.hstack([X, X[::-1], views[0][1][:200]])
    assert len(mt.MultiviewMixture(2).fit(X).means_) == 7


@pytest.mark.parametrize(
    ("options", "X", "kind", "code"),
    [
        ({}, lambda v: v[:2], InvalidDataError, "two_views"),
        ({}, lambda v: v[:1], InvalidDataError, "too_few_views_given"),
        ({}, lambda v: [v[0], v[1], v[2][:5]], InvalidDataError, "views_of_different_samples"),
        ({"views": [[0], [1], [1]]}, lambda v: v[1], InvalidParameterError, "column_in_two_views"),
        ({"views": [[0], [1], [9]]}, lambda v: v[1], InvalidParameterError, "no_column_of_view"),
        ({"views": [[0], [1], []]}, lambda v: v[1], InvalidParameterError, "empty_view"),
        ({"views": 3}, lambda v: v[1], InvalidParameterError, "not_views"),
        ({"kinds": {"lab": "number"}}, lambda v: v, InvalidParameterError, "kind_of_no_view"),
        ({"kinds": ["number"]}, lambda v: v, InvalidParameterError, "kinds_of_other_views"),
        ({"kinds": "real"}, lambda v: v, InvalidParameterError, "not_a_kind_of_view"),
        ({"kinds": "yes_no"}, lambda v: v, InvalidDataError, "view_not_yes_no"),
        ({"kinds": "words"}, lambda v: v, InvalidDataError, "view_not_counts"),
    ],
)
def test_bad_input_is_refused(views, options, X, kind, code):
    with raises(kind, code):
        mt.MultiviewMixture(2, **options).fit(X(views[0]))


def test_other_views_are_refused(views, model):
    with raises(InvalidDataError, "other_views"):
        model.predict(views[0][:3])
    with pytest.raises(MomentreeError):
        model.predict(views[0][0])


def test_difficult_columns_of_one_array():
    rng = np.random.default_rng(0)
    truth = np.arange(200) % 2
    X = rng.normal(size=(200, 4)) + 4 * truth[:, None]
    X[3, 1] = 1e12
    with pytest.warns(MomentreeWarning, match="column '1', such as 1e"):
        model = mt.MultiviewMixture(2).fit(X)
    assert adjusted_rand_score(truth, model.labels_) > 0.95
    assert model.mean_names_ == [["0"], ["1"], ["2"], ["3"]]
    X[7, 2] = np.inf
    with pytest.raises(InvalidDataError, match="row 7, column 2"):
        mt.MultiviewMixture(2).fit(X)
    X[:, 2] = np.nan
    with raises(InvalidDataError, "never_observed", column="2"):
        mt.MultiviewMixture(2).fit(X)


@pytest.mark.parametrize("kinds", [True, 10**9, None])
def test_kinds_that_are_no_list_are_refused(kinds):
    X = np.random.default_rng(0).normal(size=(60, 6))
    with raises(InvalidParameterError, "not_a_kind_of_view"):
        mt.MultiviewMixture(2, kinds=kinds).fit(X)


def test_parameters_that_were_changed_to_none_are_not_saved(tmp_path, views, model):
    for parameters, code in (
        ({"kinds": 10**9}, "not_a_kind_of_view"),
        ({"views": 1.0}, "not_views"),
        ({"views": "x"}, "not_views"),
        ({"views": [0, 0, 1]}, "column_in_two_views"),
    ):
        changed = copy.copy(model).set_params(**parameters)
        with raises(InvalidParameterError, code):
            changed.save(tmp_path / "m.mt")
    assert not any(tmp_path.iterdir())
