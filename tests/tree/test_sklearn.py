"""scikit-learn's own checks of the trees."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from momentree import ClusterTree, TopicTree

from ..sklearn_checks import passes

unwarned = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.SkipTestWarning",
    "ignore::momentree.exceptions.ConvergenceWarning",  # small data
)


@unwarned
@parametrize_with_checks([ClusterTree(3)])
def test_estimator_checks(estimator, check):
    passes(estimator, check)


@unwarned
@pytest.mark.long
@parametrize_with_checks([TopicTree(3)])
def test_estimator_checks_of_topics(estimator, check):
    passes(estimator, check)
