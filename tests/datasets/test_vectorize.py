"""From texts to counts: what a word is, which words are kept, and one rule for both sources."""

from __future__ import annotations

import json
import pickle
import re
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from momentree.datasets import (
    LANGUAGES,
    TOKEN_PATTERN,
    Corpus,
    Documents,
    TextVectorizer,
    default_min_df,
    filter_vocabulary,
    read_documents,
    stop_words,
    vectorize,
)
from momentree.exceptions import (
    EmptyCorpusError,
    InvalidDataError,
    InvalidParameterError,
    ReadError,
)

ALL = {"language": None, "min_df": 1, "max_df": 1.0, "max_features": None}


def words_of(text, **options):
    return vectorize([text], **(ALL | options)).vocabulary.tolist()


def slow_counts(texts, language, min_df, max_df, max_features):
    """Count by the definition, with nothing shared with the library but the list of stop words."""
    unwanted = stop_words(language) if language else set()
    bags = [
        Counter(w for w in re.findall(r"[^\W\d_]{2,}", text.lower()) if w not in unwanted)
        for text in texts
    ]
    n = len(texts)
    low = min_df if isinstance(min_df, int) else min_df * n
    high = max_df if isinstance(max_df, int) else max_df * n
    df = Counter(word for bag in bags for word in bag)
    kept = sorted(word for word in df if low <= df[word] <= high)
    if max_features is not None:
        totals = {word: sum(bag[word] for bag in bags) for word in kept}
        kept = sorted(sorted(kept, key=lambda word: (-totals[word], word))[:max_features])
    return kept, [[bag[word] for word in kept] for bag in bags]


WORDS = st.sampled_from(
    [
        *("the", "sea", "SEA", "boat", "a-b", "x1y", "42", "_", "don't"),
        *("è", "già", "l'aria", "ἄνεμος", "море"),
    ]
)
TEXTS = st.lists(st.lists(WORDS, max_size=8).map(" ".join), min_size=1, max_size=8)


@settings(max_examples=150, deadline=None)
@given(
    texts=TEXTS,
    language=st.sampled_from([None, "en", "it"]),
    min_df=st.sampled_from([1, 2, 0.3]),
    max_df=st.sampled_from([1.0, 0.6, 3]),
    max_features=st.sampled_from([None, 1, 3]),
)
def test_against_the_definition(texts, language, min_df, max_df, max_features):
    options = {
        "language": language,
        "min_df": min_df,
        "max_df": max_df,
        "max_features": max_features,
    }
    kept, counts = slow_counts(texts, **options)
    if not kept:
        with pytest.raises(EmptyCorpusError):
            vectorize(texts, **options)
        return
    corpus = vectorize(texts, **options)
    assert corpus.vocabulary.tolist() == kept
    assert corpus.X.toarray().tolist() == counts
    # The rule for counts, on the counts of all words, keeps the same.
    again = filter_vocabulary(vectorize(texts, **ALL), **options)
    assert again.vocabulary.tolist() == kept
    assert again.X.toarray().tolist() == counts
    # New texts are counted as the old ones were.
    assert corpus.vectorizer.transform(texts).toarray().tolist() == counts


@settings(max_examples=50, deadline=None)
@given(texts=TEXTS, random=st.randoms(use_true_random=False))
def test_order_of_documents_changes_nothing(texts, random):
    order = list(range(len(texts)))
    random.shuffle(order)
    texts = [*texts, "море boat"]
    order.append(len(order))
    options = ALL | {"max_features": 3}
    one, other = vectorize(texts, **options), vectorize([texts[i] for i in order], **options)
    assert one.vocabulary.tolist() == other.vocabulary.tolist()
    np.testing.assert_array_equal(one.X.toarray()[order], other.X.toarray())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("L'amore e l'aria dell'isola", ["amore", "aria", "dell", "isola"]),
        ("random_state, x86, covid19 3rd 2024", ["covid", "rd", "random", "state"]),
        ("Straße ŁÓDŹ žena Ελλάδα Київ", ["straße", "žena", "łódź", "ελλάδα", "київ"]),
        ("cafe\u0301 CAFÉ", ["café"]),
        ("Ver\u00adwaltung \ufeffzero\u200bwidth", ["verwaltung", "zerowidth"]),
        ("İstanbul", ["istanbul"]),
        ("a I 7 _ - x", None),
    ],
)
def test_what_a_word_is(text, words):
    if words is None:
        with pytest.raises(EmptyCorpusError, match="no word in 1 documents"):
            words_of(text)
    else:
        assert words_of(text) == sorted(words)


def test_case_is_kept_on_demand():
    corpus = vectorize(["The Rose and THE rose"], **(ALL | {"language": "en"}), lowercase=False)
    assert corpus.vocabulary.tolist() == ["Rose", "rose"]


def test_token_pattern():
    assert words_of("a-1 b-2", token_pattern=r"\w-\d") == ["a-1", "b-2"]
    assert words_of("key=value", token_pattern=r"(\w+)=") == ["key"]
    assert words_of("aa b", token_pattern=r"a*") == ["aa"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_stop_words_of_each_language(language):
    """No warning, and the forms that texts hold are those that are left out."""
    words = sorted(stop_words(language))
    assert len(words) > 20
    with pytest.raises(EmptyCorpusError, match="stop words"):
        vectorize([" ".join(words)], language=language, min_df=1, max_df=1.0)


def test_stop_words_with_apostrophes():
    text = "I don't think that's what she'll do; we've a boat"
    assert words_of(text, language="en") == ["boat"]
    assert words_of("dell'amore nell'aria", language="it") == ["amore", "aria"]


def test_regions_and_other_names_of_languages():
    assert stop_words("pt-BR") == stop_words("PT") == stop_words("pt_PT")
    assert stop_words("nb") == stop_words("no")


@pytest.mark.parametrize("language", ["xx", "", "english", "zh", 3])
def test_unknown_language(language):
    with pytest.raises(InvalidParameterError, match=r"en, .*it, .*or None"):
        vectorize(["words"], language=language)


def test_more_stop_words(tmp_path):
    expected = ["bread"]
    text = "bread Boat l'isola"
    assert words_of(text, stop_words=["BOAT", " isola "]) == expected
    path = tmp_path / "stop.txt"
    path.write_text("\ufeffboat\r\n\r\nl'isola\r\n", encoding="utf-8")
    assert words_of(text, stop_words=path) == expected
    with pytest.raises(ReadError, match=r"none\.txt"):
        vectorize(["words"], stop_words=tmp_path / "none.txt")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"stop_words": "boat"}, "one string"),
        ({"stop_words": [3]}, "3 is no word"),
        ({"min_df": -1}, "min_df is -1"),
        ({"min_df": 1.5}, r"min_df is 1\.5"),
        ({"min_df": True}, "min_df is True"),
        ({"min_df": float("nan")}, "min_df is nan"),
        ({"max_df": None}, "max_df is None"),
        ({"max_df": "all"}, "max_df is 'all'"),
        ({"max_features": 0}, "max_features is 0"),
        ({"max_features": 2.5}, r"max_features is 2\.5"),
        ({"token_pattern": "("}, r"token_pattern '\('"),
        ({"token_pattern": "(a)(b)"}, "2 groups"),
        ({"token_pattern": 3}, "token_pattern 3"),
    ],
)
def test_parameters_out_of_range(options, words):
    corpus = Corpus(sp.csr_array([[1]]), np.array(["word"]), ["1"])
    for function in (lambda: vectorize(["words"], **options), lambda: TextVectorizer(**options)):
        with pytest.raises(InvalidParameterError, match=words):
            function()
    with pytest.raises(InvalidParameterError, match=words):
        filter_vocabulary(corpus, **options)


def test_numbers_of_numpy_are_numbers():
    options = ALL | {"min_df": np.int64(1), "max_df": np.float64(1), "max_features": np.int32(1)}
    assert words_of("sea sea boat", **options) == ["sea"]


@pytest.mark.parametrize("texts", [[], Documents([], [])])
def test_no_documents(texts):
    with pytest.raises(EmptyCorpusError, match="no documents"):
        vectorize(texts)


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ("one text", "one string"),
        (["a", None], "text 1 is a NoneType"),
        ([b"a"], "text 0 is a bytes"),
    ],
)
def test_texts_that_are_no_texts(texts, words):
    with pytest.raises(InvalidDataError, match=words):
        vectorize(texts)
    with pytest.raises(InvalidDataError, match=words):
        TextVectorizer(vocabulary=("a",)).transform(texts)


@pytest.mark.parametrize(
    ("texts", "options", "words"),
    [
        (["", " "], {}, "no word in 2 documents"),
        (["the and of"] * 3, {}, "all 9 words of 3 documents are stop words"),
        (["sea", "boat", "sky"], {}, "no word is left of 3 in 3 documents: 3 .* min_df=2.*lower"),
        (["sea boat"] * 4, {}, "2 in more than max_df=0.5 allows.*raise max_df"),
    ],
)
def test_nothing_left(texts, options, words):
    with pytest.raises(EmptyCorpusError, match=words):
        vectorize(texts, **options)


def test_nothing_left_of_counts():
    X = sp.csr_array(np.eye(3, dtype=int))
    corpus = Corpus(X, np.array(["the", "x1", "sea"]), list("abc"))
    with pytest.raises(EmptyCorpusError, match="min_df=2"):
        filter_vocabulary(corpus)
    with pytest.raises(EmptyCorpusError, match="all 3 words are stop words"):
        filter_vocabulary(corpus, stop_words=["x1", "SEA"], min_df=1)
    with pytest.raises(EmptyCorpusError, match="no documents"):
        filter_vocabulary(Corpus(X[:0], corpus.vocabulary, []))


def test_the_default_rule():
    assert [default_min_df(n) for n in (0, 999, 1000, 10**6)] == [2, 2, 5, 5]
    texts = [
        f"filler{chr(97 + i % 20)} " + "rare " * (i < 4) + "seldom" * (i < 5) for i in range(1000)
    ]
    vocabulary = vectorize(texts).vocabulary
    assert "rare" not in vocabulary
    assert "seldom" in vocabulary
    assert "rare" in vectorize(texts[:999]).vocabulary


def test_what_a_corpus_keeps():
    documents = Documents(
        ["sea boat", "the", "boat sea sky"], list("abc"), list("xyx"), "trips", ["mended"]
    )
    corpus = vectorize(documents, min_df=1, max_df=1.0)
    assert corpus.X.format == "csr"
    assert corpus.X.dtype == np.int32
    assert corpus.X.has_canonical_format
    assert (corpus.ids, corpus.labels, corpus.name) == (list("abc"), list("xyx"), "trips")
    assert corpus.texts is documents.texts
    assert corpus.skipped[0] == "mended"
    assert corpus.skipped[1].startswith("1 of 3 documents have none of the words")
    assert corpus.X.toarray()[1].tolist() == [0, 0, 0]


def test_filter_keeps_its_input_and_documents():
    X = sp.csr_array(np.array([[3, 1, 0, 2], [4, 0, 1, 0], [2, 1, 0, 0], [5, 0, 0, 0]]))
    before = X.copy()
    corpus = Corpus(X, np.array(["the", "code 9", "sea", "sky"]), list("abcd"), labels=list("xxyy"))
    kept = filter_vocabulary(corpus, min_df=1)
    assert kept.vocabulary.tolist() == ["code 9", "sea", "sky"]
    assert kept.labels == corpus.labels
    assert "1 of 4 documents" in kept.skipped[-1]
    assert (before != corpus.X).nnz == 0
    only_letters = filter_vocabulary(corpus, min_df=1, token_pattern=TOKEN_PATTERN)
    assert only_letters.vocabulary.tolist() == ["sea", "sky"]
    assert filter_vocabulary(corpus, **ALL) is corpus


def test_stored_zeros_are_no_words():
    X = sp.csr_array((np.array([1, 0, 2, 0]), np.array([0, 1, 0, 1]), np.array([0, 2, 4])), (2, 2))
    corpus = Corpus(X, np.array(["sea", "sky"]), list("ab"))
    assert filter_vocabulary(corpus, max_df=1.0).vocabulary.tolist() == ["sea"]


def test_a_vectorizer_survives_json_and_pickle():
    vectorizer, X = TextVectorizer("it", ("mare",), 1, 0.9, 5, lowercase=False).learn(
        ["Amore mare", "aria di mare", "aria"]
    )
    again = TextVectorizer.from_dict(json.loads(json.dumps(vectorizer.to_dict())))
    assert again.to_dict() == vectorizer.to_dict()
    assert again.vocabulary == ("Amore", "aria")
    np.testing.assert_array_equal(again.transform(["aria aria"]).toarray(), [[0, 2]])
    assert pickle.loads(pickle.dumps(vectorizer)).to_dict() == vectorizer.to_dict()
    assert X.toarray().tolist() == [[1, 0], [0, 1], [0, 1]]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"language": "en", "colour": "red"}, "colour"),
        ({"language": "xx"}, "no stop words for language"),
        ({"min_df": "5"}, "min_df"),
        ({"vocabulary": "words"}, "one string"),
        ({"stop_words": 3}, "settings"),
    ],
)
def test_broken_settings(values, words):
    with pytest.raises(InvalidDataError, match=words):
        TextVectorizer.from_dict(values)


def test_no_vocabulary_yet():
    with pytest.raises(InvalidParameterError, match="call learn first"):
        TextVectorizer().transform(["words"])


def test_new_texts():
    vectorizer = TextVectorizer(vocabulary=("boat", "sea"))
    X = vectorizer.transform(["Sea, sea and sky", "", "boat"])
    assert X.toarray().tolist() == [[0, 2], [0, 0], [1, 0]]
    with pytest.raises(EmptyCorpusError, match="no documents"):
        vectorizer.transform([])


def test_italian_verse(shared_data):
    corpus = vectorize(
        read_documents(shared_data / "divina_commedia" / "docs.jsonl.gz"), language="it"
    )
    vocabulary = set(corpus.vocabulary)
    assert len(corpus) == 100
    assert {"inferno", "virtù", "cielo"} <= vocabulary
    assert not {"che", "del", "dell", "non"} & vocabulary
