"""BernoulliMixture on unusual and on bad input: a model or an error with a code."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from momentree import BernoulliMixture
from momentree.exceptions import ConvergenceWarning, InvalidDataError

from ..raising import raises, warns

EVERY_START = (
    "auto",
    "moments",
    "raw_moments",
    "clusters",
    "tree",
    "three_view_mom",
    "three_view_tpm",
)
WITHOUT_VIEWS = EVERY_START[:5]
WAYS = [
    *((start, "em") for start in EVERY_START if start != "moments"),
    *((start, None) for start in ("moments", "tree", "three_view_mom")),
]


def draw(n=60, d=6, seed=0):
    return (np.random.default_rng(seed).random((n, d)) < 0.4).astype(float)


def fitted(X, k=2, **options):
    """A model of any number of components, after the checks that each has to pass."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = BernoulliMixture(k, **options).fit(X)
    found, d = len(model.weights_), X.shape[1]
    assert 1 <= found <= k
    assert model.components_.shape == (found, d)
    assert model.weights_.sum() == pytest.approx(1.0)
    assert ((model.components_ >= 0) & (model.components_ <= 1)).all()
    assert np.isfinite(model.score_samples(X)).all()
    proba = model.predict_proba(X)
    assert proba.shape == (len(X), found)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    return model


@pytest.mark.parametrize(("start", "refine"), WAYS)
def test_one_component_is_the_mean(start, refine):
    X = draw()
    model = fitted(X, 1, start=start, refine=refine)
    np.testing.assert_allclose(model.components_[0], X.mean(axis=0), atol=1e-9)
    np.testing.assert_array_equal(model.weights_, [1.0])


@pytest.mark.parametrize(("start", "refine"), WAYS)
def test_odd_data_give_a_model(start, refine):
    X = draw()
    options = {"start": start, "refine": refine}
    constant = fitted(np.column_stack([X, np.ones(60), np.zeros(60)]), **options)
    expected = [[1, 0]] * len(constant.weights_)
    np.testing.assert_allclose(constant.components_[:, 6:], expected, atol=1e-9 if refine else 0.02)
    fitted(np.vstack([X, np.zeros((20, 6))]), **options)
    fitted(np.repeat(X[:5], 20, axis=0), 3, **options)
    fitted(X[:1], 1, **options)
    fitted(X[:4], 4, **options)
    for value in (0.0, 1.0):
        same = fitted(np.full((20, 5), value), **options)
        assert len(same.weights_) == 1
        np.testing.assert_allclose(same.components_, np.full((1, 5), value), atol=1e-12)


@pytest.mark.parametrize("start", WITHOUT_VIEWS)
def test_one_and_two_columns_give_a_model(start):
    X = draw()
    fitted(X[:, :1], start=start)
    fitted(X[:, :2], start=start)


@pytest.mark.parametrize("refine", ["em", None])
def test_two_kinds_of_rows_are_two_components(refine):
    X = np.repeat([[1.0, 1, 0, 0, 1], [0, 1, 1, 1, 0]], [30, 10], axis=0)
    for start in WITHOUT_VIEWS:
        model = fitted(X, start=start, refine=refine)
        assert list(model.labels_) == [0] * 30 + [1] * 10
        np.testing.assert_allclose(model.weights_, [0.75, 0.25], atol=1e-3)
        np.testing.assert_allclose(model.components_, X[[0, -1]], atol=0.1)


@pytest.mark.parametrize("start", ["search", "clusters", "tree"])
def test_groups_may_be_more_than_features(start):
    model = fitted(draw(), 9, start=start, max_iter=10)
    assert len(model.weights_) == 9


@pytest.mark.parametrize("start", ["raw_moments", "moments"])
def test_moments_show_no_more_components_than_features_and_warn(start):
    with warns(ConvergenceWarning, "fewer_components") as caught:
        model = BernoulliMixture(9, start=start, max_iter=20, tol=0.1).fit(draw())
    assert [warning.filename for warning in caught] == [__file__]
    assert len(model.weights_) == 6
    assert model.get_params()["n_components"] == 9


@pytest.mark.parametrize("start", WITHOUT_VIEWS)
def test_equal_rows_are_one_component_with_a_warning(start):
    with warns(ConvergenceWarning, "fewer_components") as caught:
        model = BernoulliMixture(2, start=start).fit(np.ones((20, 5)))
    assert len(caught) == 1
    assert model.weights_ == [1.0]


# --- bad input -----------------------------------------------------------------------------------


def at(value, row=3, column=1):
    X = draw()
    X[row, column] = value
    return X


BAD = {
    "two": (at(2.0), "not_binary"),
    "half": (at(0.5), "not_binary"),
    "negative": (at(-1.0), "negative_not_binary"),
    "sparse": (sp.csr_array(at(7.0)), "not_binary"),
    "infinite": (at(np.inf), "infinite_value"),
    "strings": (np.full((5, 3), "yes"), None),
    "dates": (pd.DataFrame({"a": pd.to_datetime(["2020-01-01"] * 5)}), "column_not_numeric"),
    "complex": (draw() + 0j, None),
    "one row of numbers": (draw()[0], None),
    "no rows": (np.zeros((0, 3)), None),
    "no columns": (np.zeros((3, 0)), None),
    "three dimensions": (np.zeros((3, 3, 3)), None),
    "a column of gaps": (np.where(np.arange(6) == 4, np.nan, draw()), None),
    "gaps alone": (np.full((9, 4), np.nan), None),
    "fewer rows than components": (draw()[:1], "too_few_weighted_samples"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_data_are_refused(name):
    X, code = BAD[name]
    with pytest.raises(InvalidDataError) as caught:
        BernoulliMixture(2).fit(X)
    assert code in (None, caught.value.code)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "transform", "score_samples"])
def test_bad_new_data_are_refused(method):
    use = getattr(BernoulliMixture(2).fit(draw()), method)
    with raises(InvalidDataError, "not_binary", row=3, column=1, value=2.0):
        use(at(2.0))
    with pytest.raises(InvalidDataError):
        use(draw()[:, :5])
    with pytest.raises(NotFittedError):
        getattr(BernoulliMixture(), method)(draw())


def test_bad_weights_are_refused():
    """All bad weights are tested with the function that checks them."""
    with raises(InvalidDataError, "too_few_weighted_samples", n_rows=1, n_components=2):
        BernoulliMixture(2).fit(draw(), sample_weight=np.eye(60)[0])
    with pytest.raises(InvalidDataError):
        BernoulliMixture(2).fit(draw(), sample_weight=np.ones(59))


def test_a_column_seen_only_without_weight_is_refused():
    X = draw()
    X[1:, 2] = np.nan
    weight = np.ones(60)
    BernoulliMixture(2, start="tree").fit(X, sample_weight=weight)
    weight[0] = 0
    with raises(InvalidDataError, "never_observed", column=2):
        BernoulliMixture(2).fit(X, sample_weight=weight)


def test_views_need_three_features():
    with raises(InvalidDataError, "too_few_views", found=2):
        BernoulliMixture(2, start="three_view_mom").fit(draw()[:, :2])


def test_names_have_to_fit():
    with raises(InvalidDataError, "wrong_number_of_names"):
        BernoulliMixture(2).fit(draw(), feature_names=["a", "b"])


def test_a_fit_that_fails_leaves_the_parameters_as_they_were():
    model = BernoulliMixture(2)
    before = model.get_params()
    with pytest.raises(InvalidDataError):
        model.fit(at(2.0))
    assert model.get_params() == before
