"""Warnings of components that have one sample or none."""

import numpy as np
import pytest

from momentree import BernoulliMixture, GaussianMixture, MixedMixture, MultiviewMixture
from momentree.exceptions import ConvergenceWarning

from ..raising import warns


def outlying():
    """Two groups of 60 samples, and one far from both."""
    X = np.random.default_rng(0).normal(size=(121, 3))
    X[:60] += 8.0
    X[120] = 60.0
    return X


def ones():
    """Two groups of 30 equal samples, and one unlike both."""
    X = np.repeat(np.eye(2), 6, axis=1).repeat(30, axis=0)
    return np.vstack([X, np.tile([0.0, 1.0], 6)])


@pytest.mark.parametrize(
    ("model", "X"),
    [
        (GaussianMixture(3, covariance_type="spherical", smoothing=1), outlying()),
        (MixedMixture(3, reg_covar=1.0), outlying()),
        (MultiviewMixture(3, views=[[0], [1], [2]], reg_covar=1.0), outlying()),
        (BernoulliMixture(3), ones()),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.filterwarnings("ignore::momentree.exceptions.MomentreeWarning")
def test_a_component_of_one_sample_is_not_kept_silently(model, X):
    with warns(ConvergenceWarning, "components_of_one_sample") as caught:
        model.fit(X)
    (message,) = [w.message.message for w in caught if w.category is ConvergenceWarning]
    assert message.values == {"n_few": 1, "components": [2], "sizes": [1]}
    assert np.bincount(model.labels_)[2] == 1


def test_samples_of_weight_zero_do_not_count():
    X = np.vstack([ones(), ones()[-1:]])
    BernoulliMixture(3).fit(X)
    with warns(ConvergenceWarning, "components_of_one_sample"):
        BernoulliMixture(3).fit(X, sample_weight=np.append(np.ones(61), 0.0))


@pytest.mark.parametrize("covariance_type", ["diag", "tied"])
def test_a_note_that_names_the_components_suffices(covariance_type):
    with pytest.warns() as caught:
        GaussianMixture(3, covariance_type=covariance_type).fit(outlying())
    codes = {warning.message.code for warning in caught}
    assert len(codes & {"components_of_few_samples", "components_set_apart"}) == 1
    assert "components_of_one_sample" not in codes
