"""Flat topics of real text: agreement with labels, and likelihood against random starts.

The labelled corpora lie in ../shared/data beside the repository; their tests are skipped where
they are not. The docstrings are always there.
"""

import importlib

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score

from momentree import SingleTopicModel
from momentree.datasets import load_docstrings, read_corpus
from momentree.readers import vectorize

from ..conftest import REPOSITORY

TABLE = {"text_column": "text", "label_column": "label"}


@pytest.mark.parametrize(
    ("file", "options", "classes", "measured"),
    [
        ("20newsgroups/X.npz", {}, 20, 0.588),
        ("bbc_news/docs.jsonl.gz", TABLE, 5, 0.824),
        ("reuters_r8/docs.jsonl.gz", TABLE, 8, 0.567),
    ],
)
def test_topics_agree_with_the_labels(shared_data, file, options, classes, measured):
    """A guard against regression: each floor is the present NMI less three standard errors."""
    if not (shared_data / file).exists():
        pytest.skip(f"{file} is not in ../shared/data")
    read = read_corpus(shared_data / file, **options)
    model = SingleTopicModel(classes).fit(read.X)
    assert len(model.weights_) == classes
    assert model.converged_
    labels, rng = np.asarray(read.labels), np.random.default_rng(0)
    draws = (rng.integers(len(labels), size=len(labels)) for _ in range(10))
    error = np.std(
        [normalized_mutual_info_score(labels[i], model.labels_[i]) for i in draws], ddof=1
    )
    assert normalized_mutual_info_score(labels, model.labels_) > measured - 3 * error


def test_one_start_from_moments_is_likelier_than_the_best_of_ten_random_ones(monkeypatch):
    monkeypatch.syspath_prepend(REPOSITORY / "benchmarks")
    random_runs = importlib.import_module("random_starts").random_runs
    X = vectorize(load_docstrings()).X[::3]
    X = X[:, X.sum(axis=0) >= 5]
    best = max(run.value for run in random_runs(X, 15, "log1p", 10))
    assert SingleTopicModel(15).fit(X).diagnostics_["log_likelihood"] >= best
