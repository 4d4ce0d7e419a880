"""From texts to counts: what a word is, which words stay, and one rule for both sources."""

from __future__ import annotations

import json
import pickle
import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
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
from momentree.messages import Message
from tests.raising import raises

ALL = {"language": None, "min_df": 1, "max_df": 1.0, "max_features": None}


def words_of(text, **options):
    return vectorize([text], **(ALL | options)).vocabulary.tolist()


def slow_counts(texts, language, min_df, max_df, max_features):
    """Count by the definition; only the list of stop words comes from the package."""
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
    # The rule for counts, applied to the counts of all words, keeps the same.
    again = filter_vocabulary(vectorize(texts, **ALL), **options)
    assert again.vocabulary.tolist() == kept
    assert again.X.toarray().tolist() == counts
    # New texts are counted in the same way.
    assert corpus.vectorizer.transform(texts).toarray().tolist() == counts


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
        ("हिन्दी की भाषा", ["हिन्दी", "की", "भाषा"]),  # vowel signs are no letters for Python
        ("தமிழ்நாடு, বাংলাদেশের", ["தமிழ்நாடு", "বাংলাদেশের"]),
        ("كِتَابٌ المكتبـــة", ["كتاب", "المكتبة"]),
        ("שָׁלוֹם עולם", ["שלום", "עולם"]),
        ("საქართველო Երևան", ["საქართველო", "երևան"]),
        ("Việt Nam, thu\u0309 đô", ["việt", "nam", "thủ", "đô"]),
        ("I \u2764\ufe0f York", ["york"]),
        ("a I 7 _ - x", None),
    ],
)
def test_what_a_word_is(text, words):
    if words is None:
        with raises(EmptyCorpusError, "no_word_in_texts", n_documents=1):
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


def test_stop_words_of_each_language():
    """There is no warning, and stop words are cut as they are in texts."""
    for language in LANGUAGES:
        words = sorted(stop_words(language))
        assert len(words) > 20
        with raises(EmptyCorpusError, "no_word_in_texts"):
            vectorize([" ".join(words)], language=language, min_df=1, max_df=1.0)


def test_stop_words_with_apostrophes():
    text = "I don't think that's what she'll do; we've a boat"
    assert words_of(text, language="en") == ["boat"]
    assert words_of("dell'amore nell'aria", language="it") == ["amore", "aria"]


def test_regions_and_other_names_of_languages():
    assert stop_words("pt-BR") == stop_words("PT") == stop_words("pt_PT")
    assert stop_words("nb") == stop_words("no")


@pytest.mark.parametrize("language", ["xx", "", "english", "en,xx", 3])
def test_unknown_language(language):
    with raises(InvalidParameterError, "unknown_language", parameter="language", value=language):
        vectorize(["words"], language=language)


def test_more_stop_words(tmp_path):
    expected = ["bread"]
    text = "bread Boat l'isola"
    assert words_of(text, stop_words=["BOAT", " isola "]) == expected
    path = tmp_path / "stop.txt"
    path.write_text("\ufeffboat\r\n\r\nl'isola\r\n", encoding="utf-8")
    assert words_of(text, stop_words=path) == expected
    with pytest.raises(ReadError):
        vectorize(["words"], stop_words=tmp_path / "none.txt")


@pytest.mark.parametrize(
    ("parameter", "value", "code"),
    [
        ("stop_words", "boat", "not_words"),
        ("stop_words", [3], "not_words"),
        ("stop_words", 3, "not_words"),
        ("min_df", -1, "not_a_document_frequency"),
        ("min_df", 1.5, "not_a_document_frequency"),
        ("min_df", True, "not_a_document_frequency"),
        ("min_df", float("nan"), "not_a_document_frequency"),
        ("max_df", None, "not_a_document_frequency"),
        ("max_df", "all", "not_a_document_frequency"),
        ("max_features", 0, "not_a_number"),
        ("max_features", 2.5, "not_a_number"),
        ("token_pattern", "(", "not_a_regular_expression"),
        ("token_pattern", 3, "not_a_regular_expression"),
        ("token_pattern", [], "not_a_regular_expression"),
        ("token_pattern", "(a)(b)", "too_many_groups"),
    ],
)
def test_parameters_out_of_range(parameter, value, code):
    corpus = Corpus(sp.csr_array([[1]]), np.array(["word"]), ["1"])
    option = {parameter: value}
    with raises(InvalidParameterError, code, parameter=parameter):
        vectorize(["words"], **option)
    with raises(InvalidParameterError, code, parameter=parameter):
        TextVectorizer(**option)
    with raises(InvalidParameterError, code, parameter=parameter):
        filter_vocabulary(corpus, **option)


def test_numbers_of_numpy_are_numbers():
    options = ALL | {"min_df": np.int64(1), "max_df": np.float64(1), "max_features": np.int32(1)}
    assert words_of("sea sea boat", **options) == ["sea"]


@pytest.mark.parametrize("texts", [[], Documents([], [])])
def test_no_documents(texts):
    with raises(EmptyCorpusError, "no_documents"):
        vectorize(texts)


@pytest.mark.parametrize(
    ("texts", "code", "values"),
    [
        ("one text", "one_string", {}),
        (["a", None], "text_not_a_string", {"place": 1, "type": "NoneType"}),
        ([b"a"], "text_not_a_string", {"place": 0, "type": "bytes"}),
        (pd.Series(["a", float("nan")]), "text_not_a_string", {"place": 1, "type": "float"}),
        (pd.DataFrame({"a": ["a"], "b": ["b"]}), "texts_not_a_column", {"type": "DataFrame"}),
        ({"1": "a", "2": "b"}, "texts_not_a_column", {"type": "dict"}),
        ((text for text in "ab"), "texts_not_a_column", {"type": "generator"}),
    ],
)
def test_texts_that_are_not_strings(texts, code, values):
    with raises(InvalidDataError, code, **values):
        vectorize(texts)
    with raises(InvalidDataError, code, **values):
        TextVectorizer(vocabulary=("a",)).transform(texts)


@pytest.mark.parametrize(
    ("texts", "code", "values"),
    [
        (["", " "], "no_word_in_texts", {"n_documents": 2}),
        (["the and of"] * 3, "no_word_in_texts", {"n_documents": 3}),
        (
            ["sea", "boat", "sky"],
            "no_word_kept",
            {"n_rare": 3},
        ),
        (
            ["sea boat"] * 4,
            "no_word_kept",
            {"n_common": 2},
        ),
    ],
)
def test_no_word_is_kept(texts, code, values):
    with raises(EmptyCorpusError, code, **values):
        vectorize(texts)


def test_no_word_of_counts_is_kept():
    X = sp.csr_array(np.eye(3, dtype=int))
    corpus = Corpus(X, np.array(["the", "x1", "sea"]), list("abc"))
    with raises(EmptyCorpusError, "no_word_kept", min_df=2, n_words=3, n_rare=2, n_other=1):
        filter_vocabulary(corpus)
    with raises(EmptyCorpusError, "no_candidate_words", n_words=3):
        filter_vocabulary(corpus, stop_words=["x1", "SEA"], min_df=1)
    with raises(EmptyCorpusError, "no_documents"):
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
    note = Message("[files_empty]", n_rows=1, n_all=3, source="trips")
    documents = Documents(
        ["sea boat", "the", "boat sea sky"], list("abc"), list("xyx"), "trips", [note]
    )
    corpus = vectorize(documents, min_df=1, max_df=1.0)
    assert corpus.X.format == "csr"
    assert corpus.X.dtype == np.int32
    assert corpus.X.has_canonical_format
    assert (corpus.ids, corpus.labels, corpus.name) == (list("abc"), list("xyx"), "trips")
    assert corpus.texts == documents.texts
    assert corpus.notes == [
        note,
        Message(
            "[documents_without_words]",
            n_rows=1,
            n_all=3,
            every=Message("[all_documents]", n_all=3),
        ),
    ]
    assert corpus.X.toarray()[1].tolist() == [0, 0, 0]


def test_filter_keeps_its_input_and_documents():
    X = sp.csr_array(np.array([[3, 1, 0, 2], [4, 0, 1, 0], [2, 1, 0, 0], [5, 0, 0, 0]]))
    before = X.copy()
    corpus = Corpus(X, np.array(["the", "code 9", "sea", "sky"]), list("abcd"), labels=list("xxyy"))
    kept = filter_vocabulary(corpus, min_df=1)
    assert kept.vocabulary.tolist() == ["code 9", "sea", "sky"]
    assert kept.labels == corpus.labels
    assert kept.notes == [
        Message(
            "[documents_without_words]",
            n_rows=1,
            n_all=4,
            every=Message("[all_documents]", n_all=4),
        )
    ]
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
    ("values", "problem"),
    [
        ({"language": "xx"}, "unknown_language"),
        ({"min_df": "5"}, "not_a_document_frequency"),
        ({"vocabulary": "words"}, "not_words"),
        ({"stop_words": 3}, "not_words"),
        ({"lowercase": "no"}, "not_a_flag"),
    ],
)
def test_damaged_settings(values, problem):
    with raises(InvalidDataError, "bad_settings") as caught:
        TextVectorizer.from_dict(values)
    assert caught.value.message.values["problem"].code == problem


def test_unknown_settings():
    with raises(InvalidDataError, "unknown_settings", names=["colour"]):
        TextVectorizer.from_dict({"language": "en", "colour": "red"})


def test_no_vocabulary_yet():
    with raises(InvalidParameterError, "vectorizer_has_not_learned"):
        TextVectorizer().transform(["words"])


def test_new_texts():
    vectorizer = TextVectorizer(vocabulary=("boat", "sea"))
    X = vectorizer.transform(["Sea, sea and sky", "", "boat"])
    assert X.toarray().tolist() == [[0, 2], [0, 0], [1, 0]]
    with raises(EmptyCorpusError, "no_documents"):
        vectorizer.transform([])


def test_italian_verse(shared_data):
    corpus = vectorize(
        read_documents(shared_data / "divina_commedia" / "docs.jsonl.gz"), language="it"
    )
    vocabulary = set(corpus.vocabulary)
    assert len(corpus) == 100
    assert {"inferno", "virtù", "cielo"} <= vocabulary
    assert not {"che", "del", "dell", "non"} & vocabulary


def test_frequent_words_that_max_df_drops_are_listed():
    texts = ["movie sea film", "movie boat film", "movie sky film", "movie sea boat sky"]
    texts.append("boat sky")
    corpus = vectorize(texts, min_df=1)
    note = corpus.notes[0]
    assert str(note) == (
        "4 frequent words are dropped by max_df=0.5: movie (80%), boat (60%), film (60%), sky "
        "(60%); max_df=1.0 keeps them"
    )
    counts = filter_vocabulary(vectorize(texts, min_df=1, max_df=1.0), min_df=1)
    assert counts.notes[0] == note
    assert vectorize(["the sea", "the boat", "the sea", "the boat"]).notes[-1].code != note.code
    many = ["".join(f"x{'abcdefghijkl'[j]} " for j in range(12)) + "sea", "sea boat", "boat"]
    [note] = vectorize([many[0], many[0] + " sky", *many[1:]], min_df=1, max_df=0.3).notes[1:2]
    assert str(note).count("%") == 8
    assert "and 6 more" in str(note)


def test_encoded_data_is_no_word():
    blob = "q" * 256
    texts = [f"sea boat {blob}", f"sea sky {blob} {blob[1:]}", f"boat sky {blob[1:]}", "sky"] * 2
    corpus = vectorize(texts, max_df=1.0)
    assert list(corpus.vocabulary) == ["boat", blob[1:], "sea", "sky"]
    with raises(EmptyCorpusError, "no_word_kept", n_other=1):
        vectorize([blob] * 4, max_df=1.0)
