"""scikit-learn's own checks of the trees."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from momentree import ClusterTree, TopicTree

from ..sklearn_checks import passes


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::momentree.exceptions.ConvergenceWarning")  # small data
@parametrize_with_checks(
    [
        TopicTree(3),
        ClusterTree(3),
    ],
)
def test_estimator_checks(estimator, check):
    passes(estimator, check)
