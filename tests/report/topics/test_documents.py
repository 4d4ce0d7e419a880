"""Typical documents, the documents that a page includes, and their snippets."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from momentree.report.text import clean_text, snippet
from momentree.report.topics.documents import evenly_spread, typical_documents, words_of_row


def literal_score(x, center, base, shrink):
    """The score of the docstring, one word at a time."""
    top, mass = 0.0, 0.0
    for w in range(len(x)):
        y = np.log(1.0 + x[w])
        mass += y
        if x[w]:
            top += y * np.log(0.99 * center[w] / base[w] + 0.01)
    return top / (mass + shrink)


def test_typical_documents_follow_the_literal_score(case):
    X, root, labels = case.X, case.estimator.tree_, case.estimator.labels_
    dense = X.toarray()
    shrink = np.median(np.log1p(dense).sum(axis=1))
    found = typical_documents(X, root, labels, 5)
    for node in list(root.nodes())[1:]:
        rows = node.samples
        score = [literal_score(dense[i], node.center, root.center, shrink) for i in rows]
        order = sorted(range(len(rows)), key=lambda j: (-round(score[j], 12), rows[j]))
        assert found[node.node_id].tolist() == [rows[j] for j in order[:5]]


def test_the_root_shows_one_document_of_each_leaf_in_turn(case):
    root, labels = case.estimator.tree_, case.estimator.labels_
    found = typical_documents(case.X, root, labels, 6)
    assert sorted(labels[found[0]][:4]) == [0, 1, 2, 3]
    assert len(found[0]) == 6


def test_a_short_or_repetitive_document_does_not_win(case):
    X = sp.lil_array(case.X)
    leaf = next(case.estimator.tree_.leaves())
    typical_word = int(np.argmax(leaf.center / case.estimator.tree_.center))
    rows = leaf.samples
    X[rows[0]], X[rows[1]] = 0, 0
    X[rows[0], typical_word] = 1  # one characteristic word
    X[rows[1], typical_word] = 500  # the same word over and over
    found = typical_documents(sp.csr_array(X), case.estimator.tree_, case.estimator.labels_, 3)
    assert not {rows[0], rows[1]} & set(found[leaf.node_id].tolist())


def test_documents_without_words_are_not_typical(case):
    X = sp.lil_array(case.X)
    X[:] = 0
    found = typical_documents(sp.csr_array(X), case.estimator.tree_, case.estimator.labels_, 3)
    assert all(len(rows) == 0 for rows in found)


@settings(max_examples=80, deadline=None)
@given(
    labels=st.lists(st.integers(0, 5), min_size=1, max_size=200),
    seed=st.integers(0, 100),
    most=st.integers(0, 60),
    budget=st.integers(0, 3000),
)
def test_the_sample_fits_its_budget_and_keeps_proportions(labels, seed, most, budget):
    labels = np.array(labels)
    cost = np.random.default_rng(seed).integers(1, 100, size=len(labels))
    rows = evenly_spread(labels, cost, most, budget)
    assert len(rows) <= most
    assert cost[rows].sum() <= budget
    assert np.array_equal(rows, np.unique(rows))
    # A stride of n/m over runs of leaves takes each leaf's share to within one document.
    share = np.bincount(labels, minlength=6) * len(rows) / len(labels)
    assert np.all(np.abs(np.bincount(labels[rows], minlength=6) - share) <= 1.0)


def test_everything_is_kept_when_it_fits():
    assert evenly_spread(np.array([1, 0, 1]), np.array([5, 5, 5]), 3, 15).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("  a \n\t b ", "a b"),
        ("exactly ten", "exactly…"),
        ("x" * 50, "x" * 9 + "…"),
        ("one, two three", "one, two…"),
        ("\ud800\x00", "\ufffd\ufffd"),
    ],
)
def test_snippets_are_one_line_cut_at_a_word(text, expected):
    assert snippet(text, 10) == expected


@given(st.text(), st.integers(2, 40))
def test_snippets_are_never_too_long_and_always_utf8(text, length):
    cut = snippet(text, length)
    assert len(cut) <= length
    cut.encode("utf-8")


def test_clean_text_keeps_white_space_and_other_scripts():
    assert clean_text("a\tb\nשלום 😀") == "a\tb\nשלום 😀"


def test_words_of_a_row_start_with_the_most_characteristic(case):
    node = list(case.estimator.tree_.leaves())[1]
    row = case.X[[int(node.samples[0])]]
    words = words_of_row(row, node, case.estimator.tree_.center, case.estimator.vocabulary_)
    assert words.split(" ")[0].startswith("engine")
    assert words_of_row(row * 0, node, case.estimator.tree_.center, case.estimator.vocabulary_)


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8])
def test_words_of_a_row_do_not_depend_on_the_type_of_counts(case, dtype):
    root, vocabulary = case.estimator.tree_, case.estimator.vocabulary_
    row = (case.X[[0]] > 0).astype(np.int64)
    whole = words_of_row(row, root.children[0], root.center, vocabulary)
    assert words_of_row(row.astype(dtype), root.children[0], root.center, vocabulary) == whole
