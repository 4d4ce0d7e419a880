"""Short documents: pseudo-counts do not outweigh the words of a topic, so that EM keeps topics."""

import numpy as np
import pytest

import momentree as mt
from momentree.datasets import make_single_topic
from momentree.objects import PoissonParameters, TopicParameters

K = 20

pytestmark = pytest.mark.filterwarnings("ignore::momentree.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def titles():
    return make_single_topic(20_000, 6_000, K, length=5, random_state=0)


@pytest.mark.long
@pytest.mark.parametrize("model", [mt.SingleTopicModel(K), mt.TopicTree(K)])
def test_topics_of_titles_of_five_words_are_kept(titles, model):
    found = np.unique(model.fit(titles.X).labels_)
    assert len(found[found >= 0]) >= 18


def test_a_topic_has_at_most_a_quarter_as_many_pseudo_counts():
    assert TopicParameters.limited_smoothing(1.0, 1200.0, (100, 4)) == 0.75
    assert TopicParameters.limited_smoothing(0.5, 1200.0, (100, 4)) == 0.5
    assert TopicParameters.limited_smoothing(1.0, 0.0, (100, 4)) == 1.0
    assert PoissonParameters.limited_smoothing(1.0, 1.0, (100, 4)) == 1.0  # average samples


def test_topics_of_long_documents_are_smoothed_as_asked():
    X = make_single_topic(400, 30, 3, length=60, random_state=0).X
    model = mt.SingleTopicModel(3, log_scaling=None).fit(X)
    sums = model._sums
    expected = (sums.statistics + 1.0) / (sums.statistics + 1.0).sum(axis=0)
    np.testing.assert_allclose(model.components_, expected.T, atol=1e-3)


def topics_of(model):
    parameters = getattr(model, "posterior_", None) or model._assigner.parameters
    return parameters.centers


@pytest.mark.parametrize("model", [mt.SingleTopicModel, mt.TopicTree])
def test_later_batches_are_smoothed_by_all_documents(model):
    """A batch of a few documents alone would limit the pseudo-counts far more."""
    X = make_single_topic(4_000, 300, 4, length=5, random_state=0).X
    whole = model(4, log_scaling=None).fit(X)
    parts = model(4, log_scaling=None).fit(X[:3_900]).partial_fit(X[3_900:])
    assert whole._sums.smoothing == parts._sums.smoothing == 1.0
    unseen = topics_of(parts).min() / topics_of(whole).min()
    assert 0.9 < unseen < 1.1


def test_sites_fit_the_model_of_pooled_titles():
    X = np.asarray(make_single_topic(300, 200, 3, length=5, random_state=0).X.toarray(), float)
    sites = mt.Sites([mt.Site(part, min_count=1) for part in np.split(X, [100, 180])])
    found = mt.SingleTopicModel(3, start="moments", log_scaling=None).fit(sites)
    model = mt.SingleTopicModel(3, start="moments", log_scaling=None).fit(X)
    np.testing.assert_allclose(found.components_, model.components_, rtol=0, atol=1e-5)
