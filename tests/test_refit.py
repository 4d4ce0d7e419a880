"""A fit that is refused or interrupted leaves the estimator as it was."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import momentree as mt
from momentree.exceptions import ConvergenceWarning, InvalidParameterError, MomentreeError
from tests.raising import raises, warns


def groups(n: int = 60, d: int = 10) -> np.ndarray:
    """Zeros and ones of two groups, valid data for every model."""
    rng = np.random.default_rng(n + d)
    share = np.where(np.add.outer(np.arange(n), np.arange(d)) % 2, 0.8, 0.2)
    return (rng.random((n, d)) < share).astype(np.int64)


def put(value: float) -> np.ndarray:
    """A wider table in which one cell has the given value."""
    X = groups(60, 2000).astype(float)
    X[3, 1999] = value
    return X


def damaged() -> sp.csr_array:
    X = sp.csr_array(groups(60, 2000))
    X.indices[7] = 2**30
    return X


WIDE = groups(60, 2000)
# Data, arguments of fit, and parameters set before the second fit.
REFUSED: dict[str, Callable[[], tuple[Any, dict[str, Any], dict[str, Any]]]] = {
    "no row": lambda: (WIDE[:0], {}, {}),
    "no column": lambda: (WIDE[:, :0], {}, {}),
    "one dimension": lambda: (WIDE[0], {}, {}),
    "three dimensions": lambda: (WIDE[None], {}, {}),
    "strings": lambda: (WIDE.astype(str).astype(object) + "x", {}, {}),
    "complex numbers": lambda: (WIDE * 1j, {}, {}),
    "dates": lambda: (pd.DataFrame({"day": pd.to_datetime(["2020-01-01"] * 60)}), {}, {}),
    "infinity": lambda: (put(np.inf), {}, {}),
    "categories": lambda: (pd.DataFrame({"kind": pd.Categorical(["a", "b"] * 30)}), {}, {}),
    "damaged indices": lambda: (damaged(), {}, {}),
    "negative weight": lambda: (WIDE, {"sample_weight": -np.ones(60)}, {}),
    "too few weights": lambda: (WIDE, {"sample_weight": np.ones(3)}, {}),
    "weights of NaN": lambda: (WIDE, {"sample_weight": np.full(60, np.nan)}, {}),
    "weights of words": lambda: (WIDE, {"sample_weight": ["a"] * 60}, {}),
    "no weight": lambda: (WIDE, {"sample_weight": np.zeros(60)}, {}),
    "too few names": lambda: (WIDE, {"feature_names": ["a", "b"]}, {}),
    "max_iter 0": lambda: (WIDE, {}, {"max_iter": 0}),
    "smoothing below zero": lambda: (WIDE, {}, {"smoothing": -1.0}),
    "a choice that is none": lambda: (WIDE, {}, {"refine": "magic"}),
    "tol of words": lambda: (WIDE, {}, {"tol": "small"}),
}
ESTIMATORS = [
    mt.TopicTree(3),
    mt.TopicTree(3, refine=None),
    mt.ClusterTree(3),
    mt.ClusterTree(3, refine=None),
    mt.SingleTopicModel(2),
    mt.LatentDirichletAllocation(2, max_iter=5),
    mt.PoissonMixture(2),
    mt.BernoulliMixture(2),
]


def answers(estimator: Any, X: Any) -> list[Any]:
    """All results of a fitted estimator."""
    return [
        estimator.predict(X),
        estimator.predict_proba(X),
        estimator.labels_,
        estimator.vocabulary_,
        estimator.n_features_in_,
        *([estimator.score_samples(X)] if hasattr(estimator, "score_samples") else []),
        *([estimator.to_dict()] if hasattr(estimator, "tree_") else [estimator.components_]),
    ]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_a_refused_refit_changes_nothing(estimator):
    X = groups()
    fitted = clone(estimator).fit(X)
    before, attributes, kept = answers(fitted, X), vars(fitted).copy(), fitted.get_params()
    for way, refused in REFUSED.items():
        Y, arguments, parameters = refused()
        fitted.set_params(**parameters)
        with pytest.raises(MomentreeError):
            fitted.fit(Y, **arguments)
        fitted.set_params(**kept)
        assert vars(fitted).keys() == attributes.keys(), way
        assert all(vars(fitted)[name] is value for name, value in attributes.items()), way
    for one, other in zip(before, answers(fitted, X), strict=True):
        np.testing.assert_equal(one, other)
    for columns in (3, 2000):
        with raises(MomentreeError, "refused_by_sklearn"):  # another number of features
            fitted.predict_proba(groups(60, columns))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_a_refused_first_fit_leaves_the_estimator_unfitted(estimator):
    new = clone(estimator)
    with pytest.raises(MomentreeError):
        new.fit(groups(), sample_weight=np.zeros(60))
    assert not [name for name in vars(new) if name.endswith("_")]
    with pytest.raises(NotFittedError):
        new.predict(groups())


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_an_interrupted_fit_changes_nothing(estimator, monkeypatch):
    X = groups()
    fitted = clone(estimator).fit(X)
    before = answers(fitted, X)

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("momentree.backends.rows.RowBlocks.sum", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fitted.fit(groups(80, 30))
    for one, other in zip(before, answers(fitted, X), strict=True):
        np.testing.assert_equal(one, other)


OTHERS = (object(), "tied", "spherical", 0, -1.0, float("nan"))


@pytest.mark.parametrize(
    "estimator",
    [
        *ESTIMATORS,
        *(
            mt.GaussianMixture(2, covariance_type=kind)
            for kind in ("full", "tied", "diag", "spherical")
        ),
        mt.GaussianHMM(2, covariance_type="full"),
        mt.MixedMixture(2),
        mt.IndependentComponents(2),
        mt.MultiviewMixture(2, views=[[0, 1, 2], [3, 4, 5], [6, 7, 8, 9]]),
    ],
    ids=str,
)
def test_predictions_do_not_depend_on_parameters_set_after_the_fit(estimator):
    X = groups()
    model = clone(estimator).fit(X)
    names = ["predict", "predict_proba", "transform", "score_samples", "score", "bic"]
    methods = [name for name in names if hasattr(model, name)]

    def results():
        return [np.asarray(getattr(model, name)(X)) for name in methods]

    before, params = results(), model.get_params(deep=False)
    for other in OTHERS:
        model.set_params(**dict.fromkeys(params, other))
        for found, expected in zip(results(), before, strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_a_seed_is_checked_by_every_fit(estimator):
    with raises(InvalidParameterError, "not_a_random_state"):
        clone(estimator).set_params(random_state=len).fit(groups())


@pytest.mark.parametrize(
    "estimator",
    [
        mt.SingleTopicModel,
        mt.BernoulliMixture,
        mt.GaussianMixture,
        mt.GaussianHMM,
        mt.TopicTree,
        mt.ClusterTree,
    ],
    ids=str,
)
def test_numbers_of_components_may_have_any_type_of_integer(estimator):
    few, many = estimator(np.int8(2)).fit(groups(600)), estimator(2).fit(groups(600))
    np.testing.assert_array_equal(few.labels_, many.labels_)


def test_fewer_leaves_than_any_type_of_integer_are_a_warning():
    with warns(ConvergenceWarning, "fewer_leaves_found"):
        mt.TopicTree(np.int64(9)).fit(np.kron(np.eye(2, dtype=int), np.ones((20, 3), int)))


def test_one_hidden_markov_model_fitted_by_several_threads():
    symbols = np.random.default_rng(0).integers(0, 4, (200, 1))
    model = mt.CategoricalHMM(2)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: model.fit(symbols, lengths=[20] * 10), range(8)))
    assert model.predict(symbols).shape == (200,)


def derived(estimator: Any, X: Any) -> dict[str, Any]:
    """Models that follow from a fitted one."""
    model = clone(estimator).fit(X)
    found = {"renamed": model.rename(0, "first"), "relabeled": model.relabeled(model)}
    if hasattr(model, "cut"):
        found["cut"] = model.cut(2)
    if hasattr(model, "split_group"):
        found["split"] = model.split_group(X, 0)
        found["merged"] = model.merge_groups(X, [0, 1])
    return found


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_the_parameters_of_a_derived_model_say_what_it_is(estimator):
    X = groups(600)
    for way, model in derived(estimator, X).items():
        k = model.n_leaves_ if hasattr(model, "tree_") else len(model.weights_)
        size = "max_leaf_nodes" if hasattr(model, "max_leaf_nodes") else "n_components"
        wanted = k if way in ("cut", "split", "merged") else getattr(estimator, size)
        assert getattr(model, size) == wanted, way
        assert clone(model).fit(X).predict_proba(X).shape == (600, k), way
