"""scikit-learn's own checks of the flat models, and the models in pipelines and searches."""

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
from sklearn.utils.validation import check_is_fitted, validate_data

from momentree import (
    BernoulliMixture,
    CategoricalHMM,
    GaussianHMM,
    GaussianMixture,
    LatentDirichletAllocation,
    MixedMixture,
    MultiviewMixture,
    PoissonMixture,
    SingleTopicModel,
)
from momentree.datasets import make_bernoulli_mixture
from momentree.exceptions import InvalidDataError

from ..raising import raises
from ..sklearn_checks import passes


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


unwarned = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.SkipTestWarning",
    "ignore::momentree.exceptions.MomentreeWarning",
)


# One model for each way of reading data: counts, numbers, yes and no.
@unwarned
@parametrize_with_checks(
    [
        SingleTopicModel(3),
        GaussianMixture(2, covariance_type="diag", start="groups"),
        OfParity(3, start="tree", convergence="weights"),
    ],
)
def test_estimator_checks(estimator, check):
    passes(estimator, check)


@unwarned
@pytest.mark.long
@parametrize_with_checks(
    [
        PoissonMixture(2, refine=None),
        LatentDirichletAllocation(2, max_iter=2, start="moments"),
        MixedMixture(2, start="search", max_iter=2),
        MultiviewMixture(1, max_iter=2),  # fitted as MixedMixture is
    ],
)
def test_estimator_checks_of_models_that_read_as_others_do(estimator, check):
    passes(estimator, check)


@unwarned
@parametrize_with_checks([OfOneColumn(2, n_features=3, max_iter=2)])
def test_checks_of_a_model_of_sequences(estimator, check):
    check(estimator)


@unwarned
@pytest.mark.long
@parametrize_with_checks([OfOneSequence(2, max_iter=2, start="clusters")])
def test_checks_of_a_model_of_sequences_of_numbers(estimator, check):
    check(estimator)


def test_tags():
    assert get_tags(BernoulliMixture()).input_tags.allow_nan
    tags = get_tags(GaussianMixture()).input_tags
    assert tags.sparse
    assert tags.allow_nan
    assert not tags.positive_only
    for Model in (BernoulliMixture, LatentDirichletAllocation, PoissonMixture, SingleTopicModel):
        assert get_tags(Model()).input_tags.sparse
        assert get_tags(Model()).input_tags.positive_only


def test_a_model_is_a_step_of_a_pipeline_and_of_a_search():
    truth = make_bernoulli_mixture(250, 12, 3, scaled_by="feature", random_state=0)
    pipeline = make_pipeline(Binarizer(threshold=0.5), BernoulliMixture(3))
    proportions = pipeline.fit_transform(truth.X.toarray() * 0.9)
    np.testing.assert_array_equal(proportions, BernoulliMixture(3).fit_transform(truth.X))
    # The score is a mean log-likelihood: of one and three components, three predict better.
    search = GridSearchCV(BernoulliMixture(), {"n_components": [1, 3]}, cv=2).fit(truth.X)
    assert search.best_params_ == {"n_components": 3}


def test_names_of_columns_are_kept():
    truth = make_bernoulli_mixture(300, 6, 2, scaled_by="feature", random_state=1)
    frame = pd.DataFrame(truth.X.toarray(), columns=list("abcdef"))
    model = BernoulliMixture(2).fit(frame)
    assert list(model.vocabulary_) == list(model.feature_names_in_) == list("abcdef")
    assert list(model.get_feature_names_out()) == ["bernoullimixture0", "bernoullimixture1"]
    assert list(clone(model).fit(truth.X, feature_names=list("uvwxyz")).vocabulary_) == [*"uvwxyz"]
    with raises(InvalidDataError, "refused_by_sklearn"):
        model.predict(frame.rename(columns={"a": "z"}))
