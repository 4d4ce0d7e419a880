"""scikit-learn's own checks of latent Dirichlet allocation."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from momentree import LatentDirichletAllocation

from ..sklearn_checks import expected_to_fail


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
