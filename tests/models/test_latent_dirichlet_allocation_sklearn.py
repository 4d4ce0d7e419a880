"""scikit-learn's own checks of latent Dirichlet allocation."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from momentree import LatentDirichletAllocation

CLASSIFIERS_ONLY = (
    "scikit-learn takes whatever has predict_proba and accepts sparse data for a classifier "
    "and counts its columns against the four classes of its y"
)


def expected_to_fail(estimator):
    return dict.fromkeys(
        ["check_estimator_sparse_array", "check_estimator_sparse_matrix"], CLASSIFIERS_ONLY
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::momentree.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        LatentDirichletAllocation(2),
        LatentDirichletAllocation(2, start="moments", alpha0=0.5, refine=None),
    ],
    expected_failed_checks=expected_to_fail,
)
def test_estimator_checks(estimator, check):
    check(estimator)
