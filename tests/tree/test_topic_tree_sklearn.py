"""scikit-learn's own checks of the estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from momentree import TopicTree

from ..sklearn_checks import expected_to_fail


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [
        TopicTree(),
        TopicTree(refine=None),
        TopicTree(refine=None, log_scaling=None, growth="depth", weighting="uniform"),
        TopicTree(max_leaf_nodes=None),
    ],
    expected_failed_checks=expected_to_fail,
)
def test_estimator_checks(estimator, check):
    check(estimator)
