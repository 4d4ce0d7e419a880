"""Copies of documents: which are found, their weights, and trees that spend no leaf on them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from momentree import TopicTree
from momentree.datasets import Corpus, filter_vocabulary, vectorize
from momentree.exceptions import EmptyCorpusError, InvalidParameterError
from momentree.readers.copies import find_copies
from tests.raising import raises
from tests.wording import message


@pytest.fixture(scope="module")
def originals(docstrings):
    return docstrings.texts[:400]


def same_groups(a, b):
    return len({*zip(a.tolist(), b.tolist(), strict=True)}) == len({*a}) == len({*b})


def edited(text, rng, share):
    """Replace a share of the words of a text."""
    words = text.split()
    for at in rng.choice(len(words), round(share * len(words)), replace=False):
        words[at] = f"new{rng.choice(list('abcdefghij'))}"
    return " ".join(words)


def test_exact_copies_ignore_case_and_white_space():
    X = sp.csr_array(np.ones((5, 2), dtype=int))
    X[4] = 0
    X.eliminate_zeros()
    found = find_copies(X, ["a sea", "Sea a", "A\nSEA ", "a  sea", "a sea"])
    assert found.group.tolist() == [0, 1, 0, 0, 2]
    assert (found.n_exact, found.n_near) == (2, 0)
    np.testing.assert_allclose(found.weights, [1 / 3, 1, 1 / 3, 1 / 3, 1])


def test_counts_are_copies_if_they_are_equal():
    X = sp.csr_array(np.array([[1, 2, 0], [1, 2, 0], [2, 1, 0], [0, 0, 0], [0, 0, 0]]))
    assert find_copies(X).group.tolist() == [0, 0, 1, 2, 3]


def test_planted_near_copies_are_found_and_others_are_not(originals):
    rng = np.random.default_rng(0)
    long = [text for text in originals if 80 < len(text.split()) < 200]
    texts = [*long, *(edited(text, rng, 0.05) for text in long[:50])]
    everything = {"language": None, "min_df": 1, "max_df": 1.0, "max_features": None}
    X = vectorize(texts, unique=False, **everything).X
    group, n = find_copies(X, texts).group, len(long)
    found = np.mean([group[i] == group[n + i] for i in range(50)])
    assert found >= 0.95  # 5% of the words replaced: similarity 0.9
    different = vectorize([edited(text, rng, 0.5) for text in texts], unique=False, **everything)
    assert find_copies(different.X).n_near == 0


@pytest.mark.parametrize("with_texts", [True, pytest.param(False, marks=pytest.mark.long)])
def test_the_order_of_rows_has_no_effect(with_texts, originals):
    rng = np.random.default_rng(0)
    texts = originals + originals[:30] + [edited(text, rng, 0.05) for text in originals[:60]]
    X = vectorize(texts, unique=False).X
    at = rng.permutation(len(texts))
    one = find_copies(X, texts if with_texts else None)
    other = find_copies(X[at], [texts[i] for i in at] if with_texts else None)
    assert same_groups(one.group[at], other.group)
    assert (one.n_exact, one.n_near) == (other.n_exact, other.n_near)
    assert one.n_near >= 20


def test_a_tree_spends_no_leaf_on_copies(originals):
    """300 of 500 documents are copies of one text: the others keep their tree."""
    originals = originals[:200]
    texts = originals + [originals[7]] * 300
    corpus, alone = vectorize(texts), vectorize(originals, unique=True)
    assert corpus.weights.sum() == pytest.approx(alone.weights.sum())
    assert corpus.vocabulary.tolist() == alone.vocabulary.tolist()
    tree = TopicTree().fit(corpus.X, sample_weight=corpus.weights)
    expected = TopicTree().fit(alone.X, sample_weight=alone.weights)
    assert len({*tree.labels_[200:].tolist()}) == 1
    # The weights 1/301 sum to 1 only to rounding error.
    assert np.mean(tree.labels_[:200] == expected.labels_) > 0.99


def test_a_corpus_with_many_copies_is_weighted_by_default(originals):
    texts = originals[:100] + [originals[0]] * 4
    corpus = vectorize(texts)
    assert corpus.weights is not None
    [note] = [note for note in corpus.notes if note.code == "copies_weighted"]
    assert note.values["n_rows"] >= 4
    assert "unique=False" in str(note)
    assert vectorize(texts, unique=False).weights is None
    few = vectorize(originals[:100] + [originals[0]] * 2)
    assert few.weights is None
    assert "copies_counted" in [note.code for note in few.notes]
    assert vectorize(originals[:100] + [originals[0]] * 2, unique=True).weights is not None


def test_short_answers_are_no_copies_by_default():
    corpus = vectorize(["good service", "bad food", "fine soup today"] * 20, max_df=1.0)
    assert corpus.weights is None
    assert [note.code for note in corpus.notes] == ["copies_counted"]


def test_counts_are_weighted_in_the_same_way():
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, (100, 60))
    X = sp.csr_array(np.concatenate([X, np.tile(X[:1], (30, 1))]))
    corpus = Corpus(X, np.array([f"word{j}" for j in range(60)]), [str(i) for i in range(130)])
    kept = filter_vocabulary(corpus, language=None, max_df=0.9)
    np.testing.assert_allclose(kept.weights[[0, 1, 129]], [1 / 31, 1, 1 / 31])
    assert kept.notes[0].code == "copies_weighted"
    assert filter_vocabulary(corpus, language=None, max_df=0.9, unique=False).weights is None


def test_document_frequencies_count_copies_once(originals):
    texts = [f"{originals[i]} whale" for i in range(20)] + [f"{originals[30]} walrus"] * 100
    assert "walrus" in vectorize(texts, unique=False, max_df=1.0).vocabulary
    assert "walrus" not in vectorize(texts, max_df=1.0).vocabulary  # in one text
    assert "whale" in vectorize(texts, max_df=1.0).vocabulary


def test_only_copies_are_refused(originals):
    with raises(EmptyCorpusError, "all_copies", n_rows=8):
        vectorize([originals[0]] * 8)
    with raises(InvalidParameterError, "not_a_flag", parameter="unique"):
        vectorize(originals[:9], unique="yes")


def test_words_of_the_note():
    note = message(
        "copies_weighted",
        n_rows=645,
        n_all=1000,
        every=message("all_documents", n_all=1000),
        near=message("of_these_near", n_rows=45),
        parameter="unique",
        other=False,
    )
    assert str(note) == (
        "645 of 1,000 documents are copies of others, 45 of them nearly; each text is counted "
        "once, so that copies form no topic (unique=False counts every copy)"
    )
