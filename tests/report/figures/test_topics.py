"""Figures of flat topics show their words and proportions."""

import numpy as np
import pytest

from momentree import SingleTopicModel
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.report import plot_topic_proportions, plot_topic_words
from tests.raising import raises


@pytest.fixture(scope="module")
def case(make_case):
    return make_case()


@pytest.fixture(scope="module")
def topics(case):
    return SingleTopicModel(4).fit(case.X, feature_names=case.estimator.vocabulary_)


def test_the_figure_of_proportions_shows_the_proportions(topics, case):
    proportions = topics.transform(case.X)
    ax = plot_topic_proportions(topics, case.X)
    assert len(ax.collections) == 4
    assert ax.get_xlim() == (0, 120)
    # The area of each topic in the figure is the sum of its proportions.
    for j, collection in enumerate(ax.collections):
        x, y = collection.get_paths()[0].vertices.T
        area = 0.5 * abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))
        assert area == pytest.approx(proportions[:, j].sum(), abs=0.2)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[0].startswith("0  ")
    same = plot_topic_proportions(proportions, ax=ax)
    assert same is ax
    assert len(ax.collections) == 8


def test_words_are_the_most_relevant(topics):
    ax = plot_topic_words(topics, n_words=5)
    texts = [text.get_text() for text in ax.texts]
    for words in topics.top_words(5):
        at = texts.index(words[0])
        assert texts[at : at + 5] == words
    assert len(ax.patches) == 20
    assert max(patch.get_width() for patch in ax.patches) <= 0.9


def test_bad_input_is_refused(topics):
    with raises(InvalidDataError, "x_required"):
        plot_topic_proportions(topics)
    with raises(InvalidDataError, "not_proportions"):
        plot_topic_proportions(np.ones((3, 2)))
    with raises(InvalidDataError, "not_proportions"):
        plot_topic_proportions([0.5, 0.5])
    with pytest.raises(InvalidDataError):
        plot_topic_proportions("proportions")
    for options in ({"n_words": 0}, {"lam": 2.0}, {"fontsize": 0}):
        with pytest.raises(InvalidParameterError):
            plot_topic_words(topics, **options)
