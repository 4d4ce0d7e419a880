"""Flat models in pipelines and searches of scikit-learn."""

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer
from sklearn.utils import get_tags

from momentree import (
    BernoulliMixture,
    GaussianMixture,
    LatentDirichletAllocation,
    PoissonMixture,
    SingleTopicModel,
)
from momentree.datasets import make_bernoulli_mixture
from momentree.exceptions import InvalidDataError

from ..raising import raises


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
