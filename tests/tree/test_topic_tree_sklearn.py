"""scikit-learn's own checks of the estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from momentree import TopicTree

CLASSIFIERS_ONLY = (
    "scikit-learn takes whatever has predict_proba and accepts sparse data for a classifier "
    "and counts its columns against the four classes of its y"
)


def expected_to_fail(estimator):
    return dict.fromkeys(
        ["check_estimator_sparse_array", "check_estimator_sparse_matrix"], CLASSIFIERS_ONLY
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [
        TopicTree(),
        TopicTree(refine=None),
        TopicTree(refine=None, damping=None, growth="depth", weighting="uniform"),
        TopicTree(max_leaf_nodes=None),
    ],
    expected_failed_checks=expected_to_fail,
)
def test_estimator_checks(estimator, check):
    check(estimator)
