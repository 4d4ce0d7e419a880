"""Suggested stop words."""

import numpy as np
import scipy.sparse as sp

from momentree.report.topics import notes_on_common_words

WORDS = np.array(["day", "goal", "rare", "time", "vote"], dtype=object)


def corpus(n=2000, seed=0):
    """Two topics: "goal" and "vote" belong to them, "day" and "time" to neither."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    p = np.array([[0.4, 0.5, 0.05, 0.3, 0.1], [0.4, 0.1, 0.05, 0.3, 0.5]])
    return sp.csr_array((rng.random((n, 5)) < p[labels]).astype(int)), labels


def test_words_that_are_as_common_in_every_topic_are_suggested():
    (note,) = notes_on_common_words(*corpus(), WORDS)
    assert note.code == "words_without_topic"
    assert note.values["words"] == ["day", "time"]
    assert "day,time" in str(note)


def test_few_documents_suggest_nothing():
    X, labels = corpus(40)
    assert notes_on_common_words(X, labels, WORDS) == []


def test_one_topic_suggests_nothing():
    X, labels = corpus()
    assert notes_on_common_words(X, np.zeros_like(labels), WORDS) == []


def test_rows_in_any_order_give_the_same_note():
    X, labels = corpus()
    order = np.random.default_rng(1).permutation(len(labels))
    assert notes_on_common_words(X[order], labels[order], WORDS) == notes_on_common_words(
        X, labels, WORDS
    )
