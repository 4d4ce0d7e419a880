"""Patterns of words find what they find in Python, in limited time."""

from __future__ import annotations

import re

import pytest

from momentree import TopicTree
from momentree.datasets import TOKEN_PATTERN, TextVectorizer, vectorize
from momentree.exceptions import InvalidParameterError
from momentree.readers.text import words
from tests.raising import raises

PATTERNS = [
    TOKEN_PATTERN,
    r"(?u)\b\w\w+\b",
    r"\w+",
    r"a*",
    r".+",
    r"\S+",
    r"[^\s,;]+",
    r"#?\w+",
    r"\b[a-m]\w+",
    r"\w-\d",
    r"(\w+)=",
    r"\w+ing",
    r"[a-z]+\d*",
    r"\w{3,20}",
    r"[a-z]{3}",
    r"(?:ab){3}",
    r"(?i)[a-z]{3,}",
    r"\w+|[^\w\s]",
    r"\d{4}-\d{2}-\d{2}",
    r"[a-z]+(?:-[a-z]+)*",
    r"[a-z]+(?:'[a-z]+)?",
    r"\w+(?:[-']\w+)*",
    r"[a-z]+@[a-z]+\.[a-z]+",
    r"(?<!\w)[a-z]+(?!\w)",
    r"\b(?:cat|dog)s?\b",
    r"(?:un|re)?[a-z]+",
    r"[a-z]+(?:-[a-z]+|'[a-z]+)*",
    "|".join(f"word{i}" for i in range(300)),
    "#(?:" + "|".join(chr(0x4E00 + i) + "x" for i in range(1000)) + ")",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_of_words_find_their_words(pattern):
    texts = ["a" * 2000 + "!", "ab-" * 700 + "!", "a b " * 500 + "!", "ababab cats sing: a@b.com's"]
    texts += ["word7 #\u4e00x key=5 1-2 on 2024-05-06"]
    whole = TextVectorizer(language=None, token_pattern=pattern, min_df=1, max_df=1.0, raw=True)
    expected = {word for text in texts for word in re.findall(pattern, text) if 0 < len(word) < 256}
    assert {*whole.learn(texts)[0].vocabulary} == expected


SLOW = r"(?:(?:a{1,30}){1,30}){1,30}b"
TEXT = "a" * 60


def test_a_pattern_has_limited_time(monkeypatch):
    monkeypatch.setattr(words, "MAX_SECONDS", 0.1)
    for text in (TEXT, f"été {TEXT}", f"हिन्दी {TEXT}"):
        with raises(InvalidParameterError, "slow_pattern", value=SLOW):
            vectorize([text, "a text"], token_pattern=SLOW)


def test_a_pattern_from_the_file_of_a_model_has_limited_time(tmp_path, monkeypatch):
    texts = ["aaa b", "aaa c", "b c"] * 4
    vectorizer, X = TextVectorizer(token_pattern=r"[a-z]+(?:-[a-z]+)*", max_df=1.0).learn(texts)
    config = vectorizer.to_dict()
    TopicTree(2).fit(X).save(tmp_path / "good.mt", vectorizer_config=config)
    again = TextVectorizer.from_dict(TopicTree.load(tmp_path / "good.mt").vectorizer_config_)
    assert (again.transform(texts) != X).nnz == 0
    monkeypatch.setattr(words, "MAX_SECONDS", 0.1)
    with raises(InvalidParameterError, "slow_pattern"):
        TextVectorizer.from_dict({**config, "token_pattern": SLOW}).transform([TEXT])
