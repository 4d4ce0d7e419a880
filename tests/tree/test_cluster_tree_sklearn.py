"""scikit-learn's own checks of the estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from momentree import ClusterTree

from ..sklearn_checks import expected_to_fail


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::momentree.exceptions.ConvergenceWarning")  # small data
@parametrize_with_checks(
    [
        ClusterTree(),
        ClusterTree(refine=None),
        ClusterTree(max_leaf_nodes=None, refine="splits"),
        ClusterTree(n_components=3),
    ],
    expected_failed_checks=expected_to_fail,
)
def test_estimator_checks(estimator, check):
    check(estimator)
