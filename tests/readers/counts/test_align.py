"""Counts take the columns of another vocabulary."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from momentree.datasets import Corpus, align_columns
from momentree.exceptions import InvalidDataError
from tests.raising import raises


def corpus_of(X, words) -> Corpus:
    return Corpus(X=sp.csr_array(X), vocabulary=np.array(words), ids=["x"] * X.shape[0])


@given(
    X=hnp.arrays(np.int64, (3, 5), elements=st.integers(0, 3)),
    wanted=st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1),
)
def test_aligned_columns_are_those_of_the_words(X, wanted):
    words = list("abcde")
    corpus = corpus_of(X, words)
    if not set(wanted) & set(words):
        with raises(InvalidDataError, "no_common_words", n_found=5):
            align_columns(corpus, wanted)
        return
    aligned = align_columns(corpus, wanted)
    expected = [X[:, words.index(w)] if w in words else np.zeros(3) for w in wanted]
    np.testing.assert_array_equal(aligned.X.toarray(), np.transpose(expected))
    assert aligned.X.has_canonical_format
    assert aligned.vocabulary.tolist() == wanted
    assert aligned.ids == corpus.ids
    np.testing.assert_array_equal(corpus.X.toarray(), X)  # the input is not modified


def test_words_may_be_invalid_unicode():
    """JSON can hold a lone surrogate, which UTF-8 cannot encode."""
    words = ["\ud800", "b"]
    assert align_columns(corpus_of(np.ones((2, 2)), words), words[::-1]).vocabulary.tolist() == [
        "b",
        "\ud800",
    ]


def test_a_vocabulary_to_align_to_names_words_once():
    with raises(InvalidDataError, "word_repeated", word="a"):
        align_columns(corpus_of(np.ones((2, 2)), ["a", "b"]), ["a", "a"])
