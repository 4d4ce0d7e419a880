"""Every parameter of every estimator: values out of its range are refused, named and kept."""

from __future__ import annotations

import numpy as np
import pytest

import momentree as mt
from momentree.exceptions import InvalidParameterError

from .raising import raises

X = np.random.default_rng(0).poisson(2.0, size=(20, 6))
ESTIMATORS = {
    mt.TopicTree(): (X,),
    mt.ClusterTree(): (X,),
    mt.SingleTopicModel(): (X,),
    mt.PoissonMixture(): (X,),
    mt.LatentDirichletAllocation(): (X,),
    mt.BernoulliMixture(): (X > 2,),
    mt.GaussianMixture(): (X,),
    mt.MixedMixture(): (X,),
    mt.MultiviewMixture(): (X,),
    mt.CategoricalHMM(): (X[:, 0],),
    mt.GaussianHMM(): (X,),
    mt.IndependentComponents(): (X,),
    mt.MixtureOfRegressions(): (X, X[:, 0]),
}

WHOLE = (0, -1, 2.5, "8", True, np.nan, [8])
NUMBERS = {
    "n_components": WHOLE,
    "max_leaf_nodes": WHOLE,
    "max_iter": (*WHOLE, None),
    "n_features": (0, 1.5),
    "max_depth": (-1, 1.5, "2", False),
    "min_samples_leaf": (0, -1, np.nan, np.inf, "5", None, True),
    "smoothing": (-0.5, np.nan, np.inf, "x", None),
    "tol": (-1e-9, np.nan, np.inf, "x"),
    "half_life": (0, -1.0, np.inf, "1"),
    "reg_covar": (-1.0, np.inf, "x", None),
    "reg_variance": (0, -1.0, "x", None),
    "alpha0": (0.0, 5e-324, 1e300, "many"),
}
CHOICES = {
    "convergence": ("never", None),
    "covariance_type": ("sphere", None),
    "data": ("text", None),
    "decomposition": ("pca", None),
    "growth": ("best", None, 1),
    "log_scaling": ("log", True, 0),
    "refine": ("EM", "svm", True, 0),
    "scaling": ("log", True),
    "search": ("best", None),
    "start": ("random", None, 1),
    "variances": ("all", None),
    "weighting": ("len", None, np.array(["length", "uniform"])),
}
FLAGS = dict.fromkeys(("exact", "fit_intercept", "warm_start"), ("yes", None))
RULES = {"not_a_number": NUMBERS, "not_a_choice": CHOICES, "not_a_flag": FLAGS}
# These may be zero in other estimators.
ABOVE_ZERO = {
    "smoothing": (
        *(mt.TopicTree, mt.ClusterTree, mt.SingleTopicModel, mt.PoissonMixture),
        *(mt.LatentDirichletAllocation, mt.BernoulliMixture, mt.MixedMixture, mt.MultiviewMixture),
    ),
    "reg_covar": (mt.MixedMixture, mt.MultiviewMixture, mt.GaussianHMM),
}
WITH_TESTS_OF_THEIR_OWN = {"kinds", "random_state", "vectorizer", "verbose", "views"}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_values_out_of_range_are_refused_named_and_kept(estimator):
    names = estimator.get_params().keys() - WITH_TESTS_OF_THEIR_OWN
    cases = [
        (name, value, code)
        for code, bad in RULES.items()
        for name in names & bad.keys()
        for value in bad[name]
    ]
    assert names == {name for name, *_ in cases}
    cases += [
        (name, 0, "not_a_number")
        for name, classes in ABOVE_ZERO.items()
        if isinstance(estimator, classes)
    ]
    for name, value, code in cases:
        model = type(estimator)(**{name: value})
        with raises(InvalidParameterError, code, parameter=name):
            model.fit(*ESTIMATORS[estimator])
        assert getattr(model, name) is value
