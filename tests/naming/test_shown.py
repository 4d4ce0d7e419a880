"""The words that are shown for topics."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from momentree import LatentDirichletAllocation, SingleTopicModel, TopicTree
from momentree.datasets import make_single_topic, read_documents, vectorize
from momentree.metrics import npmi_coherence
from momentree.naming import N_SHOWN, choose_shown_words


def chosen(X, labels, groups, words, weight=None):
    weight = np.ones(len(labels)) if weight is None else weight
    return [
        [words[j] for j in order]
        for order in choose_shown_words(sp.csr_array(X), labels, groups, words, weight)
    ]


def slow(X, labels, leaves):
    """The formula, word by word: at most 50 words, each in at least five documents."""
    occurs, here = np.asarray(X) > 0, np.isin(labels, leaves)
    n = len(labels)

    def share(*columns):
        return occurs[:, columns].all(axis=1).mean()

    def npmi(i, j):
        p = share(i, j)
        if p in (0, 1):
            return 2 * p - 1
        return np.log(p / (share(i) * share(j))) / -np.log(p)

    def often(j):
        return np.mean([np.log2(1 + count) for count in X[here, j] if count]) ** 0.25

    F = {
        j: 2 * occurs[here, j].sum() / (occurs[:, j].sum() + here.sum()) * often(j)
        for j in range(X.shape[1])
        if occurs[here, j].sum() >= 5
    }
    assert n > 0
    order = []
    while F.keys() - set(order) and len(order) < N_SHOWN:
        value = {
            j: F[j] * (1 + (np.mean([npmi(i, j) for i in order]) if order else 0))
            for j in F
            if j not in order
        }
        order.append(max(value, key=lambda j: (round(value[j], 9), -j)))
    return order


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 10_000))
def test_words_are_those_of_the_formula(seed):
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1, 2], [20, 15, 10])
    X = rng.poisson(rng.gamma(0.5, 1.0, (3, 30))[labels])
    words = [f"w{j:02d}" for j in range(30)]
    for leaves, found in zip(
        ([0], [1], [0, 1]), chosen(X, labels, ([0], [1], [0, 1]), words), strict=True
    ):
        expected = [words[j] for j in slow(X, labels, leaves)]
        assert found[: len(expected)] == expected


def test_a_word_that_one_document_repeats_is_not_shown_before_others():
    X = np.zeros((20, 7), dtype=int)
    X[:10, :5] = 1
    X[10:, 5] = 1
    X[0, 6] = 1000
    found = chosen(X, np.repeat([0, 1], 10), [[0], [1]], list("abcdefg"))
    assert found == [["a", "b", "c", "d", "e", "g"], ["f"]]


def test_of_words_in_the_same_documents_the_one_that_they_repeat_is_first():
    X = np.zeros((20, 3), dtype=int)
    X[:10] = [1, 3, 0]
    X[10:, 2] = 1
    assert chosen(X, np.repeat([0, 1], 10), [[0]], ["a", "b", "c"])[0] == ["b", "a"]


def test_words_that_never_occur_together_are_not_shown_side_by_side():
    # Of three words for "car", each document has one; "road" and "fuel" occur with each.
    X = np.zeros((60, 6), dtype=int)
    for i in range(30):
        X[i, i % 3] = 1
    X[:30:2, 3] = X[:30:2, 4] = 1
    X[30:, 5] = 1
    found = chosen(X, np.repeat([0, 1], 30), [[0]], ["auto", "car", "cab", "fuel", "road", "x"])
    assert found[0][:2] == ["fuel", "road"]


def test_copies_count_by_their_weight():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 20)
    X = rng.poisson(rng.gamma(0.5, 1.0, (2, 30))[labels])
    words = [f"w{j:02d}" for j in range(30)]
    copied = np.concatenate([np.arange(40), [3, 3, 25]])
    weight = 1 / np.bincount(copied)[copied]
    once = chosen(X, labels, [[0], [1], [0, 1]], words)
    assert chosen(X[copied], labels[copied], [[0], [1], [0, 1]], words, weight) == once


def test_the_order_of_documents_and_words_has_no_effect():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 3, 90)
    X = rng.poisson(rng.gamma(0.3, 1.0, (3, 40))[labels])
    words = [f"w{j:02d}" for j in range(40)]
    weight = rng.integers(1, 7, 90) / 3
    rows, columns = rng.permutation(90), rng.permutation(40)
    again = chosen(
        X[np.ix_(rows, columns)],
        labels[rows],
        [[0], [1], [2]],
        [words[j] for j in columns],
        weight[rows],
    )
    assert again == chosen(X, labels, [[0], [1], [2]], words, weight)


def test_a_topic_without_documents_has_no_words():
    assert chosen(np.eye(2, dtype=int), np.array([0, 0]), [[0], [1]], ["a", "b"])[1] == []


@pytest.mark.parametrize("model", [SingleTopicModel(4), LatentDirichletAllocation(4)])
def test_a_flat_model_has_words_for_any_number(model):
    X = make_single_topic(200, 60, 4, length=30, random_state=0).X
    model.fit(X)
    for some, every in zip(model.top_words(5), model.top_words(60), strict=True):
        assert every[:5] == some
        assert len(set(every)) == len(every) > 40


@pytest.mark.long
def test_words_of_news_occur_together(shared_data):
    """Ten titles and first sentences of 15 words: LSA and k-means reach 0.124."""
    documents = read_documents(
        shared_data / "bbc_news" / "docs.jsonl.gz", text_column="text", label_column="label"
    )
    texts = [" ".join(text.split()[:15]) for text in documents.texts]
    corpus = vectorize(texts, language="en")
    tree = TopicTree(5).fit(corpus.X, feature_names=corpus.vocabulary)
    shown = [leaf.words[:10] for leaf in tree.leaves_]
    assert npmi_coherence(shown, corpus.X).mean() > 0.124
