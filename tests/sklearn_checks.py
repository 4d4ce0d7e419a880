"""Scikit-learn's own checks that are expected to fail."""

CLASSIFIERS_ONLY = (
    "scikit-learn takes whatever has predict_proba and accepts sparse data for a classifier "
    "and counts its columns against the four classes of its y"
)


def expected_to_fail(estimator):
    return dict.fromkeys(
        ["check_estimator_sparse_array", "check_estimator_sparse_matrix"], CLASSIFIERS_ONLY
    )
