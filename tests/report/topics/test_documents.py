"""The documents that a page includes, their snippets and words."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momentree.report.text import clean_text, snippet
from momentree.report.topics.documents import characteristic_words, evenly_spread


@settings(max_examples=80, deadline=None)
@given(labels=st.lists(st.integers(0, 5), min_size=1, max_size=200), most=st.integers(0, 200))
def test_the_sample_keeps_proportions(labels, most):
    labels = np.array(labels)
    most = min(most, len(labels))
    rows = evenly_spread(labels, most)
    assert len(rows) == most
    assert np.array_equal(rows, np.unique(rows))
    # A stride of n/m over runs of leaves takes each leaf's share to within one document.
    share = np.bincount(labels, minlength=6) * len(rows) / len(labels)
    assert np.all(np.abs(np.bincount(labels[rows], minlength=6) - share) <= 1.0)


def test_the_sample_is_every_nth_row_of_the_sorted_ones():
    labels = np.random.default_rng(0).integers(-1, 5, size=200_000)
    order = np.argsort(labels, kind="stable")
    for m in (0, 1, 7, 50_000, 200_000):
        expected = np.sort(order[np.arange(m) * len(order) // max(m, 1)])
        np.testing.assert_array_equal(evenly_spread(labels, m), expected)


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


def words_of(X, row, node, root, vocabulary):
    cells = slice(X.indptr[row], X.indptr[row + 1])
    return characteristic_words(
        X.indices[cells], X.data[cells], node.center, root.center, vocabulary
    )


def test_words_of_a_document_start_with_the_most_characteristic(case):
    root, vocabulary = case.estimator.tree_, case.estimator.vocabulary_
    node = list(root.leaves())[1]
    row = int(node.samples[0])
    assert words_of(case.X, row, node, root, vocabulary).startswith("engine")
    assert words_of(case.X * 0, row, node, root, vocabulary)


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8])
def test_words_of_a_document_do_not_depend_on_the_type_of_counts(case, dtype):
    root, vocabulary = case.estimator.tree_, case.estimator.vocabulary_
    X = (case.X > 0).astype(np.int64)
    whole = words_of(X, 0, root.children[0], root, vocabulary)
    assert words_of(X.astype(dtype), 0, root.children[0], root, vocabulary) == whole
