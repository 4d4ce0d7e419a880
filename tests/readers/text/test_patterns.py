"""Patterns of words that can run without bound are refused."""

from __future__ import annotations

import re

import pytest

from momentree import TopicTree
from momentree.datasets import TOKEN_PATTERN, TextVectorizer, vectorize
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.messages import Message
from tests.raising import raises

GOOD = [
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

BAD = [
    (r"(a+)+$", "ambiguous"),
    (r"(a*)*b", "ambiguous"),
    (r"(.*)*x", "ambiguous"),
    (r"(?:a|aa)+$", "ambiguous"),
    (r"(\w+\s?)+$", "ambiguous"),
    (r".*.*.*=", "ambiguous"),
    (r"\w*\w*\w*1", "ambiguous"),
    (r"(?:\w+ )+x", "ambiguous"),
    (r"(?:[a-z]+-?)+", "ambiguous"),
    (r"(?:.|\n)*x", "runs_over_blanks"),
    (r"(?:a?a?)*b", "ambiguous"),
    (r"(?:|a+)+b", "ambiguous"),
    (r"(?>a+)+b", "ambiguous"),
    (r"(?:(?:a{1,30}){1,30}){1,30}b", "ambiguous"),
    (r"(?:a?){30}a{30}", "too_branched"),
    ("a?" * 30 + "a" * 30, "too_branched"),
    (r"[^1]+1", "runs_over_blanks"),
    (r".+x", "runs_over_blanks"),
    (r"(?=.*x)\w+", "looks_around"),
    (r"(a*)\1", "refers_back"),
    ("a" * 6000, "too_long"),
    ("(?:a|ab)" * 20, "too_branched"),
    ("(?:ab)?" * 30 + "c", "too_branched"),
    ("(?:-a?a?)*b", "ambiguous"),
    (r"(?:ab|[ax]b)+y", "ambiguous"),
    ("(一+)+", "ambiguous"),
    ("[一-龥]+[丁-龥]+x", "ambiguous"),
]


@pytest.mark.parametrize("pattern", GOOD)
def test_patterns_of_words_find_their_words(pattern):
    texts = ["a" * 2000 + "!", "ab-" * 700 + "!", "a b " * 500 + "!", "ababab cats sing: a@b.com's"]
    texts += ["word7 #\u4e00x key=5 1-2 on 2024-05-06"]
    whole = TextVectorizer(language=None, token_pattern=pattern, min_df=1, max_df=1.0, raw=True)
    expected = {word for text in texts for word in re.findall(pattern, text) if 0 < len(word) < 256}
    assert {*whole.learn(texts)[0].vocabulary} == expected


@pytest.mark.parametrize(("pattern", "fault"), BAD)
def test_patterns_without_a_bound_are_refused(pattern, fault):
    with raises(InvalidParameterError, "slow_pattern", fault=Message(f"pattern_{fault}")):
        vectorize(["a text"], token_pattern=pattern)


def test_a_pattern_from_the_file_of_a_model_is_refused(tmp_path):
    texts = ["aaa b", "aaa c", "b c"] * 4
    vectorizer, X = TextVectorizer(token_pattern=r"[a-z]+(?:-[a-z]+)*", max_df=1.0).learn(texts)
    config = vectorizer.to_dict()
    TopicTree(2).fit(X).save(tmp_path / "good.mt", vectorizer_config=config)
    again = TextVectorizer.from_dict(TopicTree.load(tmp_path / "good.mt").vectorizer_config_)
    assert (again.transform(texts) != X).nnz == 0
    with raises(InvalidDataError, "bad_settings"):
        TextVectorizer.from_dict({**config, "token_pattern": r"(a+)+$"})
