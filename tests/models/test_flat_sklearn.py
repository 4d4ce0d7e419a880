"""scikit-learn's own checks of the flat models."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from momentree import PoissonMixture, SingleTopicModel

from ..sklearn_checks import expected_to_fail


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::momentree.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        SingleTopicModel(),
        SingleTopicModel(2, refine=None, decomposition="svtd"),
        SingleTopicModel(3, start="moments", log_scaling=None, weighting="uniform"),
        PoissonMixture(),
        PoissonMixture(2, refine=None, start="moments"),
    ],
    expected_failed_checks=expected_to_fail,
)
def test_estimator_checks(estimator, check):
    check(estimator)
