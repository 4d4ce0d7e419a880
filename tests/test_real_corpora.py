"""Trees and flat topics of real text: agreement with labels, order of documents, likelihood.

The floors of NMI guard against regression: they are the values that the present code reaches, less
three standard errors of resampling. They say nothing about what a good method should reach.

The labeled corpora lie in ../shared/data beside the repository; their tests are skipped where
they are not. The docstrings are always there.
"""

import importlib

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score

from momentree import SingleTopicModel, TopicTree
from momentree.datasets import read_corpus
from momentree.readers import vectorize

from .conftest import REPOSITORY

TABLE = {"text_column": "text", "label_column": "label"}
CORPORA = {
    # options of the reader, classes, NMI of the tree, NMI of flat topics
    "bbc_news/docs.jsonl.gz": (TABLE, 5, 0.856, 0.845),
    "reuters_r8/docs.jsonl.gz": (TABLE, 8, 0.633, 0.634),
}


@pytest.fixture(
    scope="module",
    params=[pytest.param(path, marks=pytest.mark.long) for path in CORPORA],
)
def corpus(request, shared_data):
    """A corpus, read once for the tree and the flat model, and its row of the table."""
    options, classes, *measured = CORPORA[request.param]
    path = shared_data / request.param
    if not path.exists():
        pytest.skip(f"{request.param} is not in ../shared/data")
    read = read_corpus(path, **options)
    assert len(set(read.labels)) == classes
    return read, classes, *measured


@pytest.fixture(scope="module")
def tree(corpus):
    read, classes, *_ = corpus
    return TopicTree(classes).fit(read.X, feature_names=read.vocabulary)


def assert_agrees(labels, found, measured):
    """The NMI is at least the measured one less three standard errors."""
    labels, rng = np.asarray(labels), np.random.default_rng(0)
    draws = (rng.integers(len(labels), size=len(labels)) for _ in range(10))
    error = np.std([normalized_mutual_info_score(labels[i], found[i]) for i in draws], ddof=1)
    assert normalized_mutual_info_score(labels, found) > measured - 3 * error


def test_leaves_agree_with_the_labels(corpus, tree):
    """A guard against regression."""
    read, classes, measured, _ = corpus
    assert tree.n_leaves_ == classes
    assert tree.converged_
    assert_agrees(read.labels, tree.labels_, measured)


def test_topics_agree_with_the_labels(corpus):
    """A guard against regression."""
    read, classes, _, measured = corpus
    model = SingleTopicModel(classes).fit(read.X)
    assert len(model.weights_) == classes
    assert model.converged_
    assert_agrees(read.labels, model.labels_, measured)


@pytest.mark.parametrize("corpus", ["bbc_news/docs.jsonl.gz"], indirect=True)
def test_a_shuffle_of_documents_gives_the_same_leaves(corpus, tree):
    read, classes, *_ = corpus
    order = np.random.default_rng(0).permutation(read.X.shape[0])
    shuffled = TopicTree(classes).fit(read.X[order])
    np.testing.assert_array_equal(shuffled.labels_, tree.labels_[order])
    np.testing.assert_array_equal(tree.predict(read.X), tree.labels_)


@pytest.mark.long
def test_one_start_from_moments_is_likelier_than_the_best_of_ten_random_ones(
    monkeypatch, docstrings
):
    monkeypatch.syspath_prepend(REPOSITORY / "benchmarks")
    random_runs = importlib.import_module("random_starts").random_runs
    X = vectorize(docstrings).X[::5]
    X = X[:, X.sum(axis=0) >= 5]
    best = max(run.value for run in random_runs(X, 8, "log1p", 10))
    assert SingleTopicModel(8).fit(X).diagnostics_["log_likelihood"] >= best
