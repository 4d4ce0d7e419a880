"""The figure of the map of documents is that of the page."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from momentree import SingleTopicModel, TopicTree
from momentree.exceptions import InvalidDataError
from momentree.report import plot_documents, summarize
from tests.raising import raises


@pytest.mark.parametrize("kind", [TopicTree, SingleTopicModel])
def test_it_shows_the_points_of_the_page(make_case, kind):
    case = make_case()
    fitted = kind(4).fit(case.X, feature_names=case.estimator.vocabulary_)
    ax = plot_documents(fitted, case.X)
    items = summarize(fitted, case.X)["documents"]["items"]
    names = [node["name"] for node in summarize(fitted)["nodes"] if node["leaf"] is not None]
    for j, points in enumerate(ax.collections):
        own = {tuple(item["at"]) for item in items if item["leaf"] == j}
        assert {tuple(at) for at in points.get_offsets().tolist()} == own
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert sorted(label.split("  ")[1] for label in labels) == sorted(names)
    assert plot_documents(fitted, case.X, ax=ax) is ax
    plt.close(ax.figure)


def test_bad_input_is_refused(make_case):
    case = make_case()
    tree = TopicTree(2).fit(case.X)
    with raises(InvalidDataError, "too_few_topics_for_a_map"):
        plot_documents(tree, case.X)
    with raises(InvalidDataError, "not_of_fit"):
        plot_documents(tree, np.ones((3, 2)))
