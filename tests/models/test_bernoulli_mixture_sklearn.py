"""scikit-learn's own checks of the binary mixture, and its place in scikit-learn's tools."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from momentree import BernoulliMixture
from momentree.datasets import make_bernoulli_mixture

from ..sklearn_checks import expected_to_fail


def parity(values):
    """Zeros and ones of numbers of zero or more; whatever else there is stays as it is."""
    if values.dtype.kind == "O" and all(isinstance(value, float) for value in values.flat):
        values = values.astype(float)
    if values.dtype.kind not in "uif":
        return values
    with np.errstate(invalid="ignore"):
        good = np.isfinite(values) & (values >= 0)
        return np.where(good, np.floor(2 * values) % 2, values)


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
    """The estimator, for data that are not binary: what the checks give it is made so."""

    def fit(self, X, y=None, *, sample_weight=None, feature_names=None):
        options = {"sample_weight": sample_weight, "feature_names": feature_names}
        return super().fit(binary(X), y, **options)

    def _values(self, X):
        return super()._values(binary(X))


NOT_BINARY = "the check fits numbers that are neither 0 nor 1, which the estimator refuses"
# All of them run on binary data below.
ON_OTHER_NUMBERS = [
    "check_all_zero_sample_weights_error",
    "check_dict_unchanged",
    "check_dont_overwrite_parameters",
    "check_dtype_object",
    "check_estimator_sparse_tag",
    "check_estimators_dtypes",
    "check_estimators_fit_returns_self",
    "check_estimators_overwrite_params",
    "check_estimators_pickle",
    "check_f_contiguous_array_estimator",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit2d_predict1d",
    "check_fit_check_is_fitted",
    "check_fit_idempotent",
    "check_fit_score_takes_y",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_pipeline_consistency",
    "check_positive_only_tag_during_fit",
    "check_readonly_memmap_input",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
    "check_sample_weights_list",
    "check_sample_weights_not_an_array",
    "check_sample_weights_not_overwritten",
    "check_sample_weights_pandas_series",
    "check_sample_weights_shape",
    "check_transformer_data_not_an_array",
    "check_transformer_general",
    "check_transformer_n_iter",
    "check_transformer_preserve_dtypes",
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [BernoulliMixture()],
    expected_failed_checks=lambda estimator: {
        **expected_to_fail(estimator),
        **dict.fromkeys(ON_OTHER_NUMBERS, NOT_BINARY),
    },
)
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::momentree.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        OfParity(2, refine=None, decomposition="svtd", start="raw_moments"),
        OfParity(3, start="tree", convergence="weights"),
    ],
    expected_failed_checks=expected_to_fail,
)
def test_estimator_checks_on_binary_data(estimator, check):
    check(estimator)


def test_missing_values_and_sparse_data_are_told_to_be_taken():
    tags = get_tags(BernoulliMixture())
    assert tags.input_tags.allow_nan
    assert tags.input_tags.sparse


def test_it_is_a_step_of_a_pipeline_and_of_a_search():
    truth = make_bernoulli_mixture(400, 12, 3, scaled_by="feature", random_state=0)
    pipeline = make_pipeline(Binarizer(threshold=0.5), BernoulliMixture(3))
    shares = pipeline.fit_transform(truth.X.toarray() * 0.9)
    np.testing.assert_array_equal(shares, BernoulliMixture(3).fit_transform(truth.X))
    # The score is a mean log-likelihood, so that a search can choose by it: of one component
    # and of three, three are likelier on data that were not seen.
    search = GridSearchCV(BernoulliMixture(), {"n_components": [1, 3]}, cv=3).fit(truth.X)
    assert search.best_params_ == {"n_components": 3}


def test_names_of_columns_go_in_and_out():
    truth = make_bernoulli_mixture(300, 6, 2, scaled_by="feature", random_state=1)
    frame = pd.DataFrame(truth.X.toarray(), columns=list("abcdef"))
    model = BernoulliMixture(2).fit(frame)
    assert list(model.vocabulary_) == list(model.feature_names_in_) == list("abcdef")
    assert list(model.get_feature_names_out()) == ["bernoullimixture0", "bernoullimixture1"]
    assert list(clone(model).fit(truth.X, feature_names=list("uvwxyz")).vocabulary_) == [*"uvwxyz"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={"a": "z"}))
