"""Phrases, n-grams and tokenizers: what is counted besides words."""

from collections import Counter
from itertools import pairwise
from math import log

import numpy as np
import pytest
from sklearn.base import clone

from momentree import TopicTree, load
from momentree.datasets import TextVectorizer, read_corpus, vectorize
from momentree.exceptions import InvalidDataError, InvalidParameterError
from tests.raising import raises

ALL = {"language": "en", "min_df": 1, "max_df": 1.0, "max_features": None}
TEXTS = [
    "Climate change is here. Tax law",
    "The climate change report of Hong Kong Island",
    "a climate change; oceans",
    "change of the climate",
    "Hong Kong Island has a tax. Law",
    "Hong Kong Island: oceans report",
    "Hong notes in the island",
    "Kong is an island of oceans",
] * 3


def learned(texts, **options):
    vectorizer, X = TextVectorizer(**(ALL | options)).learn(texts)
    return vectorizer, dict(zip(vectorizer.vocabulary, X.sum(axis=0).tolist(), strict=True)), X


def test_phrases_are_counted_besides_their_words():
    vectorizer, counts, X = learned(TEXTS, phrases=True, min_df=2)
    for phrase in ("climate change", "hong kong", "hong kong island", "kong island"):
        assert counts[phrase] == 9
    assert not {"change oceans", "kong oceans", "island tax"} & counts.keys()
    assert counts["climate"] == 12
    assert (vectorizer.transform(TEXTS) != X).nnz == 0


def test_phrases_are_those_of_the_definition():
    rng = np.random.default_rng(0)
    words = np.array([f"{a}{b}x" for a in "abcdefgh" for b in "klmnop"])
    texts = []
    for _ in range(60):
        text = rng.choice(words, 8).tolist()
        for i in np.flatnonzero(rng.random(10) < 0.2):
            text += [f"s{i}x".replace(str(i), "qrtuvwyzij"[i]), words[i]]
        texts.append(" ".join(text))
    _, counts, _ = learned(texts, phrases=True, language=None, min_df=4)
    once, pairs, df = Counter(), Counter(), Counter()
    for text in texts:
        split = text.split()
        found = [pair for pair in pairwise(split) if pair[0] != pair[1]]
        once.update(split)
        pairs.update(found)
        df.update(set(found))
    n = sum(once.values())

    def npmi(a, b):
        p = pairs[a, b] / n
        return log(p * n * n / (once[a] * once[b])) / -log(p)

    expected = {f"{a} {b}" for a, b in pairs if df[a, b] >= 4 and npmi(a, b) >= 0.5}
    assert {word for word in counts if word.count(" ") == 1} == expected
    assert len(expected) > 3


def test_phrases_do_not_depend_on_the_order_of_documents():
    order = np.random.default_rng(0).permutation(len(TEXTS))
    one = learned(TEXTS, phrases=True)[0].vocabulary
    assert learned([TEXTS[i] for i in order], phrases=True)[0].vocabulary == one


def test_ngrams_have_neither_stop_words_nor_punctuation_between_them():
    vectorizer, counts, X = learned(TEXTS, ngram_range=(2, 3))
    assert counts["hong kong island"] == counts["kong island"] == 9
    assert counts["tax law"] == 3  # "a tax. Law" is none
    assert "change oceans" not in counts
    assert "island oceans" not in counts
    assert (vectorizer.transform(TEXTS) != X).nnz == 0


def test_phrases_of_words_with_punctuation():
    texts = ["A.B machine", "the A.B machine", "machine of A.B"] * 5
    options = {"token_pattern": r"[a-z.]+", "language": None, "ngram_range": (1, 2)}
    assert "a.b machine" in learned(texts, **options)[1]


@pytest.mark.parametrize("value", [(0, 1), (2, 1), (1,), (1, 9), "12", (1, 1.5), (True, 2), None])
def test_ngram_ranges_are_checked(value):
    with raises(InvalidParameterError, "not_an_ngram_range", value=value):
        TextVectorizer(ngram_range=value)


def lemmas(text):
    return [word.rstrip("s") for word in text.split()] + ["!", " "]


def test_a_tokenizer_finds_the_words():
    texts = ["Seas and boats", "Boat, seas", "sea"]
    _, counts, _ = learned(texts, tokenizer=lemmas)
    assert counts == {"boat": 1, "boat,": 1, "sea": 3}
    upper = learned(texts, tokenizer=lemmas, lowercase=False)[1]
    assert set(upper) == {"Boat,", "Sea", "boat", "sea"}
    assert clone(TextVectorizer(tokenizer=lemmas)).tokenizer is lemmas


def test_a_model_needs_its_tokenizer_again(tmp_path):
    texts = ["sea boats sails"] * 6 + ["tax laws votes"] * 6
    vectorizer = TextVectorizer(tokenizer=lemmas, min_df=1, max_df=1.0)
    tree = TopicTree(2, vectorizer=vectorizer).fit(texts, sample_weight=np.ones(12))
    tree.save(tmp_path / "m.mt", vectorizer_config=tree.vectorizer_.to_dict())
    again = load(tmp_path / "m.mt")
    name = again.vectorizer_config_["tokenizer"]
    assert name == f"{__name__}:lemmas"
    with raises(InvalidParameterError, "tokenizer_only_named", value=name):
        again.predict(texts)
    again.vectorizer_.set_params(tokenizer=lemmas)
    np.testing.assert_array_equal(again.predict(texts), tree.labels_)


def broken(text):
    raise KeyError(text)


@pytest.mark.parametrize(
    ("tokenizer", "code"),
    [
        (broken, "tokenizer_failed"),
        (lambda _: None, "tokenizer_failed"),
        (lambda text: text, "tokenizer_without_words"),
        (lambda _: [1, 2], "tokenizer_without_words"),
    ],
)
def test_errors_of_tokenizers(tokenizer, code):
    with raises(InvalidDataError, code):
        vectorize(["a boat", "the sea"], tokenizer=tokenizer)


def test_values_that_are_no_tokenizers():
    for value in (3, str, ["a"]):
        with raises(InvalidParameterError, "not_a_tokenizer"):
            TextVectorizer(tokenizer=value)
    with raises(InvalidParameterError, "tokenizer_and_pattern"):
        TextVectorizer(tokenizer=lemmas, token_pattern=r"\w+")


def test_counts_have_no_phrases(tmp_path):
    (tmp_path / "docword.a.txt").write_text("2\n2\n2\n1 1 1\n2 2 1\n")
    (tmp_path / "vocab.a.txt").write_text("a\nb\n")
    for options in ({"phrases": True}, {"ngram_range": (1, 2)}, {"tokenizer": lemmas}):
        with raises(InvalidParameterError, "only_for_texts", parameter=next(iter(options))):
            read_corpus(tmp_path / "docword.a.txt", **options)
