"""scikit-learn's own checks of every estimator."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted, validate_data

from momentree import (
    BernoulliMixture,
    CategoricalHMM,
    ClusterTree,
    GaussianHMM,
    GaussianMixture,
    IndependentComponents,
    LatentDirichletAllocation,
    MixedMixture,
    MixtureOfRegressions,
    MultiviewMixture,
    PoissonMixture,
    SingleTopicModel,
    TopicTree,
)


def parity(values):
    """Zeros and ones of numbers of zero or more; all other values, and zeros and ones, stay."""
    if values.dtype.kind == "O" and all(isinstance(value, float) for value in values.flat):
        values = values.astype(float)
    if values.dtype.kind not in "uif":
        return values
    with np.errstate(invalid="ignore"):
        good = np.isfinite(values) & (values >= 0)
        return np.where(good, np.ceil(values) % 2, values)


def binary(X):
    """The data of scikit-learn's checks, which are numbers of any size, as binary data."""
    if sp.issparse(X):
        if X.format not in ("csr", "csc", "coo", "bsr"):
            return X
        out = X.copy()
        out.data = parity(X.data)
        return out
    if isinstance(X, pd.DataFrame):
        return pd.DataFrame(parity(X.to_numpy()), columns=X.columns, index=X.index)
    return parity(np.asarray(X))


class OfParity(BernoulliMixture):
    """BernoulliMixture for numbers that are neither 0 nor 1, which most checks give it."""

    def fit(self, X, y=None, *, sample_weight=None, feature_names=None):
        options = {"sample_weight": sample_weight, "feature_names": feature_names}
        return super().fit(binary(X), y, **options)

    def partial_fit(self, X, y=None, *, sample_weight=None, feature_names=None):
        options = {"sample_weight": sample_weight, "feature_names": feature_names}
        return super().partial_fit(binary(X), y, **options)

    def predict(self, X):
        return super().predict(binary(X))

    def predict_proba(self, X):
        return super().predict_proba(binary(X))

    def score_samples(self, X):
        return super().score_samples(binary(X))


class OfOneSequence(GaussianHMM):
    """GaussianHMM without lengths: most checks give a vector y as the second argument."""

    def fit(self, X, y=None):
        return super().fit(X)

    def score(self, X, y=None):
        return super().score(X)


class OfOneColumn(CategoricalHMM):
    """CategoricalHMM of one column of symbols, made of tables of numbers of any size."""

    def symbols(self, X, reset):
        X = validate_data(self, X, reset=reset, dtype=np.float64)
        return np.abs(X[:, 0]).astype(int) % 3

    def fit(self, X, y=None):
        symbols, n_features = self.symbols(X, True), self.n_features_in_
        super().fit(symbols)
        self.n_features_in_ = n_features
        return self

    def predict(self, X):
        check_is_fitted(self)
        return super().predict(self.symbols(X, False))

    def predict_proba(self, X):
        check_is_fitted(self)
        return super().predict_proba(self.symbols(X, False))

    def score(self, X, y=None):
        check_is_fitted(self)
        return super().score(self.symbols(X, False))


CLASSIFIERS_ONLY = dict.fromkeys(
    ["check_estimator_sparse_array", "check_estimator_sparse_matrix"],
    "scikit-learn takes whatever has predict_proba and accepts sparse data for a classifier "
    "and counts its columns against the four classes of its y",
)
DENSE_ONLY = {
    "check_sample_weight_equivalence_on_sparse_data": "scikit-learn before 1.7 checks this of "
    "estimators that refuse sparse data as well"
}
TWO_COLUMNS = dict.fromkeys(
    [
        "check_estimators_overwrite_params",
        "check_estimators_fit_returns_self",
        "check_readonly_memmap_input",
        "check_sample_weights_pandas_series",
        "check_sample_weights_not_an_array",
        "check_sample_weights_shape",
        "check_sample_weights_not_overwritten",
        "check_fit_idempotent",
        "check_fit_check_is_fitted",
        "check_n_features_in",
    ],
    "the check has two columns, which are two views, and two views are refused",
)
OF_REGRESSORS = {
    "check_regressors_no_decision_function": "predict_proba(X, y) is of the regressions"
}

# One estimator for each way of reading data, and others that read as these do.
ESTIMATORS = [
    (SingleTopicModel(3), CLASSIFIERS_ONLY),
    (OfParity(3, start="tree", convergence="weights"), CLASSIFIERS_ONLY),
    (ClusterTree(2), CLASSIFIERS_ONLY),
    (OfOneColumn(2, n_features=3, max_iter=2), {}),
    (IndependentComponents(), {}),
]
LONG = [
    (ClusterTree(3), CLASSIFIERS_ONLY),
    (TopicTree(3), CLASSIFIERS_ONLY),
    (GaussianMixture(2, covariance_type="diag", start="groups"), CLASSIFIERS_ONLY),
    (PoissonMixture(2, refine=None), CLASSIFIERS_ONLY),
    (LatentDirichletAllocation(2, max_iter=2, start="moments"), CLASSIFIERS_ONLY),
    (MixedMixture(2, start="search", max_iter=2), CLASSIFIERS_ONLY),
    (MultiviewMixture(1, max_iter=2), CLASSIFIERS_ONLY | TWO_COLUMNS),
    (OfOneSequence(2, max_iter=2, start="clusters"), {}),
    (MixtureOfRegressions(max_iter=30), OF_REGRESSORS),
]


@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.SkipTestWarning",
    "ignore::momentree.exceptions.MomentreeWarning",  # small data
)
@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        *(pytest.param(*case, id=type(case[0]).__name__) for case in ESTIMATORS),
        *(
            pytest.param(*case, id=f"{type(case[0]).__name__}, long", marks=pytest.mark.long)
            for case in LONG
        ),
    ],
)
def test_estimator_checks(estimator, expected):
    """Every check passes, except for those that are expected to fail, which do."""
    results = check_estimator(
        estimator, expected_failed_checks={**DENSE_ONLY, **expected}, on_fail=None, on_skip=None
    )
    failed = {run["check_name"]: run["exception"] for run in results if run["status"] == "failed"}
    assert failed == {}
    assert {run["check_name"] for run in results if run["status"] == "xfail"} >= {*expected}
