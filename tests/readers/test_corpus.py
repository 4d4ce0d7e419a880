"""One reader for texts and counts, with one rule for words."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp

from momentree.datasets import (
    filter_vocabulary,
    read_corpus,
    read_counts,
    read_documents,
    vectorize,
)
from momentree.exceptions import (
    EmptyCorpusError,
    InvalidParameterError,
    ReadError,
)
from tests.raising import raises

from .counts.count_files import BAG, BANNER, COUNTS, FORMS, WORDS, write

TEXTS = [
    "The sea and the bread, the bread.",
    "Sea, sun; a sun!",
    "Bread in the sun of the sea",
    "",
    "The wine",
    "A wine and the bread",
]


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.jsonl"
    rows = [{"title": t[:5], "text": t, "kind": str(i % 2)} for i, t in enumerate(TEXTS)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def assert_same(a, b):
    np.testing.assert_array_equal(a.X.toarray(), b.X.toarray())
    assert a.vocabulary.tolist() == b.vocabulary.tolist()
    assert (a.ids, a.labels, a.texts, a.name) == (b.ids, b.labels, b.texts, b.name)
    assert list(a.notes) == list(b.notes)
    assert (a.vectorizer is None) == (b.vectorizer is None)
    if a.vectorizer is not None:
        assert a.vectorizer.to_dict() == b.vectorizer.to_dict()


@pytest.mark.parametrize(
    "words",
    [
        {},
        {"language": None, "max_df": 1.0},
        {"stop_words": ["bread"], "min_df": 1},
        {"max_features": 1},
        {"token_pattern": r"\w+", "lowercase": False, "language": None, "min_df": 1},
    ],
)
def test_texts_are_read_and_counted(texts, words):
    columns = {"text_column": "text", "label_column": "kind", "id_column": "title"}
    expected = vectorize(read_documents(texts, **columns), **words)
    assert_same(read_corpus(texts, **columns, **words), expected)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize(
    "words",
    [
        {},
        {"min_df": 1, "language": None},
        {"min_df": 1, "stop_words": ["moon"]},
        {"min_df": 1, "token_pattern": r"[^\W\d_]{4,}"},
        {"min_df": 1, "max_features": 1},
    ],
)
def test_counts_are_read_and_filtered(tmp_path, name, words):
    X = np.tile(COUNTS, (3, 1))
    X[0, 2] = X[3, 2] = 5
    FORMS[name](tmp_path / name, X)
    expected = filter_vocabulary(read_counts(tmp_path / name, vocabulary=WORDS), **words)
    assert_same(read_corpus(tmp_path / name, vocabulary=WORDS, **words), expected)


def test_texts_and_their_counts_give_the_same_corpus(texts, tmp_path):
    """Texts and their counts yield the same words."""
    everything = vectorize(read_documents(texts), language=None, min_df=1, max_df=1.0)
    sp.save_npz(tmp_path / "X.npz", everything.X)
    (tmp_path / "vocab.txt").write_text("\n".join(everything.vocabulary), encoding="utf-8")
    from_texts, from_counts = read_corpus(texts), read_corpus(tmp_path / "X.npz")
    np.testing.assert_array_equal(from_texts.X.toarray(), from_counts.X.toarray())
    assert (
        from_texts.vocabulary.tolist()
        == from_counts.vocabulary.tolist()
        == [
            "bread",
            "sea",
            "sun",
            "wine",
        ]
    )


def test_a_file_of_more_stop_words(texts, tmp_path):
    (tmp_path / "more.txt").write_text("Bread\n\nwine\n", encoding="utf-8")
    assert read_corpus(texts, stop_words=tmp_path / "more.txt").vocabulary.tolist() == [
        "sea",
        "sun",
    ]
    with pytest.raises(ReadError):
        read_corpus(texts, stop_words=tmp_path / "none.txt")


def test_words_of_counts_may_have_any_form(tmp_path):
    """Codes of diseases are words too, unless a pattern is given."""
    path = write(
        tmp_path, "docword.txt", b"2\n3\n4\n1 1 1\n1 2 1\n2 2 1\n2 3 1\n", ["4", "V1", "x2"]
    )
    corpus = read_corpus(path, min_df=1, max_df=1.0)
    assert corpus.vocabulary.tolist() == ["4", "V1", "x2"]


def test_the_encoding_serves_texts_and_words(tmp_path):
    path = write(tmp_path, "docword.txt", BAG, words=None)
    (tmp_path / "vocab.txt").write_bytes("sole\nluna\ncittà\nmare\n".encode("cp1252"))
    with pytest.raises(ReadError):
        read_corpus(path, min_df=1, encoding="utf-8")
    for encoding in ("cp1252", "auto"):
        corpus = read_corpus(path, min_df=1, max_df=1.0, encoding=encoding)
        assert corpus.vocabulary.tolist() == ["sole", "luna", "mare"]  # città is in no document
    assert "guessed_encoding" in {note.code for note in corpus.notes}


@pytest.mark.parametrize(
    ("option", "value"),
    [("text_column", "text"), ("label_column", "x"), ("id_column", "x"), ("separator", ";")],
)
def test_options_for_texts_are_refused_with_counts(tmp_path, option, value):
    path = write(tmp_path, "docword.txt", BAG)
    with raises(InvalidParameterError, "only_for_texts", parameter=option, path=str(path)):
        read_corpus(path, **{option: value})


def test_options_for_counts_are_refused_with_texts(texts):
    with raises(InvalidParameterError, "only_for_counts", parameter="vocabulary"):
        read_corpus(texts, vocabulary=WORDS)


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("x.jsonl", None, ReadError),
        ("x.npz", None, ReadError),
        ("x.jsonl", b"", ReadError),
        ("docword.txt", BAG + b"9 9 9\n", ReadError),
        ("x.mtx", BANNER + "2 4 1\n1 1 -3\n", ReadError),
        ("docword.txt", b"3\n4\n0\n", EmptyCorpusError),
        ("docword.txt", BAG, EmptyCorpusError),
    ],
)
def test_faults_are_reported(tmp_path, name, content, error):
    path = tmp_path / name if content is None else write(tmp_path, name, content)
    with pytest.raises(error):
        read_corpus(path)


def test_something_other_than_a_path_is_refused():
    with pytest.raises(InvalidParameterError):
        read_corpus(3)


def test_a_corpus_of_counts_on_disk(shared_data):
    corpus = read_corpus(shared_data / "20newsgroups")
    assert len(corpus) == 18774
    assert corpus.X.shape[1] == 20_000
    assert not {"the", "and", "with"} & set(corpus.vocabulary)
