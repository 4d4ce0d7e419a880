"""Long texts: where they are cut, and how passages are joined again."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from momentree import TopicTree
from momentree.datasets import Corpus, Documents, Passages, read_documents, read_like, vectorize
from momentree.exceptions import EmptyCorpusError, InvalidDataError, InvalidParameterError
from momentree.readers.tables.roles import count_words
from momentree.readers.text.objects import cut_text
from tests.raising import raises

SENTENCE = "The boat of the captain leaves the harbour at noon. "
PARAGRAPH = SENTENCE * 10 + "\n\n"


@given(st.text("ab .!\n\u3002\u6d77", max_size=300), st.integers(1, 40))
def test_passages_joined_give_the_text(text, n_passages):
    parts = cut_text(text, n_passages)
    assert "".join(parts) == text
    assert 1 <= len(parts) <= n_passages
    assert all(parts) or not text


@pytest.mark.parametrize("text", ["", "x", "x" * 10_000, " " * 10_000, "\n" * 10_000, "\u6d77" * 9])
def test_texts_without_breaks(text):
    assert "".join(cut_text(text, 7)) == text


def test_cuts_are_at_paragraphs_or_else_at_sentences():
    parts = cut_text(PARAGRAPH * 12, 6)
    assert parts == [PARAGRAPH * 2] * 6
    parts = cut_text(SENTENCE * 60, 7)
    assert all(part.endswith(". ") for part in parts)
    assert max(map(len, parts)) <= 1.7 * len(SENTENCE) * 60 / 7
    assert all(
        part.endswith("\u3002") for part in cut_text("\u6d77\u306f\u5e83\u3044\u3002" * 50, 5)
    )


def test_words_of_scripts_without_blanks_count():
    assert count_words(SENTENCE) == 10
    assert count_words("\u6d77\u306f\u5e83\u3044\u3002" * 50) == 101


def test_real_speeches_are_cut_at_sentences(shared_data):
    documents = read_documents(shared_data / "sotu_nltk_1945_2005" / "docs.jsonl.gz")
    corpus = vectorize(documents)
    lengths = [count_words(text) for text in documents.texts]
    counts = corpus.passages.counts
    assert (counts > 1).tolist() == [n > 2000 for n in lengths]
    np.testing.assert_allclose(counts[counts > 1], np.array(lengths)[counts > 1] / 200, atol=1)
    ends: list[str] = []
    for i in range(len(documents)):
        parts = [corpus.texts[j] for j in np.flatnonzero(corpus.passages.document_of == i)]
        assert "".join(parts) == documents.texts[i]
        ends += [part.rstrip()[-1] for part in parts[:-1]]
    # Headings end paragraphs too.
    assert np.isin(ends, [*".!?:;\"'"]).mean() > 0.95


def documents():
    rng = np.random.default_rng(0)
    topics = [["boat", "sail", "harbour", "captain"], ["bread", "flour", "oven", "baker"]]
    texts = [" ".join(rng.choice(words, 100)) + ". " for words in topics * 20]
    book = "".join(" ".join(rng.choice(topics[j % 8 >= 6], 100)) + ". " for j in range(40))
    return Documents([*texts, book], [f"t{i}" for i in range(40)] + ["book"], ["x"] * 40 + ["y"])


def test_a_long_document_becomes_passages_and_is_joined():
    corpus = vectorize(documents(), max_df=1.0)
    assert corpus.passages.counts.tolist() == [1] * 40 + [20]
    assert corpus.ids[39:42] == ["t39", "book, passage 1", "book, passage 2"]
    assert corpus.labels[39:42] == ["x", "y", "y"]
    assert corpus.X.shape[0] == len(corpus) == 60
    assert "60 passages of 41 documents" in repr(corpus)
    [note] = [note for note in corpus.notes if note.code == "cut_into_passages"]
    assert str(note) == (
        "1 document with more than 2,000 words is cut into 20 passages; passages=None keeps it "
        "whole"
    )
    tree = TopicTree(2).fit(corpus.X)
    words = np.asarray(corpus.X.sum(axis=1)).ravel()
    joined = corpus.passages.join(tree.predict_proba(corpus.X), words)
    assert joined.shape == (41, 2)
    np.testing.assert_allclose(joined.sum(axis=1), 1)
    sea = tree.predict(corpus.X)[0]
    assert 0.65 < joined[40, sea] < 0.85  # three quarters of the book
    new = read_like(documents(), corpus.vectorizer)
    assert (new.X != corpus.X).nnz == 0
    assert new.ids == corpus.ids


def test_none_and_a_number_of_words():
    whole = vectorize(documents(), max_df=1.0, passages=None)
    assert whole.passages is None
    assert len(whole) == 41
    fine = vectorize(documents(), max_df=1.0, passages=50)
    assert fine.passages.counts.tolist() == [2] * 40 + [80]
    for bad in (0, -1, 2.5, True, "all"):
        with pytest.raises(InvalidParameterError, match="passages"):
            vectorize(documents(), passages=bad)


def test_a_single_long_text_is_a_corpus_of_passages():
    corpus = vectorize(Documents([documents().texts[-1]], ["book.txt"]), max_df=1.0)
    assert corpus.passages.ids == ["book.txt"]
    assert corpus.passages.counts.tolist() == [20]
    assert "20 passages of 1 document," in repr(corpus)
    assert corpus.ids[0] == "book.txt, passage 1"
    assert len(corpus) == 20


def test_a_long_text_that_is_kept_whole_is_not_enough():
    text = documents().texts[-1]
    with raises(EmptyCorpusError, "one_document", name="book.txt"):
        vectorize(Documents([text], ["1"], name="book.txt"), passages=None)


def test_notes_count_passages():
    texts = [f"{'sea boat fish ' * 1000}", "bread oven", "!", "bread oven"]
    notes = {note.code: str(note) for note in vectorize(texts, max_df=1.0).notes}
    assert notes["documents_without_words"].startswith("1 of 18 passages contains none")
    assert " of 18 passages are copies" in notes["copies_counted"]


def test_one_short_document_is_not_enough():
    with raises(EmptyCorpusError, "one_document", n_words=2) as info:
        vectorize(["sea boat"])
    assert "a folder" in str(info.value)


@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=5),
    st.integers(0, 1000),
)
def test_joined_proportions_are_averages_by_words(sizes, seed):
    rng = np.random.default_rng(seed)
    of = np.repeat(np.arange(len(sizes)), sizes)
    proportions = rng.dirichlet(np.ones(3), len(of))
    weights = rng.integers(0, 3, len(of))
    joined = Passages(of, [str(i) for i in range(len(sizes))]).join(proportions, weights)
    for i in range(len(sizes)):
        rows = of == i
        w = weights[rows] if weights[rows].any() else np.ones(rows.sum())
        np.testing.assert_allclose(joined[i], np.average(proportions[rows], axis=0, weights=w))


def test_a_corpus_checks_its_passages():
    corpus = vectorize(documents(), max_df=1.0)
    with raises(InvalidDataError, "wrong_length"):
        Corpus(corpus.X, corpus.vocabulary, corpus.ids, passages=Passages(np.arange(3), ["a"] * 3))
    with raises(InvalidDataError, "wrong_length"):
        Corpus(corpus.X, corpus.vocabulary, corpus.ids, weights=np.ones(3))
