"""Real labelled corpora: agreement with the labels, and the same leaves after a shuffle.

The floors of NMI guard against regression: they are the values that the present code reaches, less
three standard errors of resampling. They say nothing about what a good method should reach.

The corpora lie in ../shared/data beside the repository; without them the tests are skipped.
"""

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score

from momentree import TopicTree
from momentree.datasets import read_corpus

CORPORA = {
    "20newsgroups/X.npz": ({}, 20, 0.649),
    "bbc_news/docs.jsonl.gz": ({"text_column": "text", "label_column": "label"}, 5, 0.841),
    "reuters_r8/docs.jsonl.gz": ({"text_column": "text", "label_column": "label"}, 8, 0.635),
}


@pytest.fixture(scope="module", params=CORPORA)
def corpus(request, shared_data):
    options, classes, measured = CORPORA[request.param]
    path = shared_data / request.param
    if not path.exists():
        pytest.skip(f"{request.param} is not in ../shared/data")
    read = read_corpus(path, **options)
    assert len(set(read.labels)) == classes
    tree = TopicTree(classes).fit(read.X, feature_names=read.vocabulary)
    return read, tree, measured


def test_leaves_agree_with_the_labels(corpus):
    """A guard against regression: each floor is the present NMI less three standard errors."""
    read, tree, measured = corpus
    assert tree.n_leaves_ == tree.max_leaf_nodes
    assert tree.converged_
    labels, rng = np.asarray(read.labels), np.random.default_rng(0)
    draws = (rng.integers(len(labels), size=len(labels)) for _ in range(10))
    error = np.std(
        [normalized_mutual_info_score(labels[i], tree.labels_[i]) for i in draws], ddof=1
    )
    assert normalized_mutual_info_score(labels, tree.labels_) > measured - 3 * error


@pytest.mark.parametrize("corpus", ["bbc_news/docs.jsonl.gz"], indirect=True)
def test_a_shuffle_of_documents_gives_the_same_leaves(corpus):
    read, tree, _ = corpus
    order = np.random.default_rng(0).permutation(read.X.shape[0])
    shuffled = TopicTree(tree.max_leaf_nodes).fit(read.X[order])
    np.testing.assert_array_equal(shuffled.labels_, tree.labels_[order])
    np.testing.assert_array_equal(tree.predict(read.X), tree.labels_)
