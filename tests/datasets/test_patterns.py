"""Patterns of words that can take for ever are refused, whoever gives them."""

from __future__ import annotations

import re

import pytest

from momentree import TopicTree
from momentree.datasets import TOKEN_PATTERN, TextVectorizer
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.readers.text import vectorize
from momentree.readers.text._patterns import fault_of_pattern

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
    "|".join(f"word{i}" for i in range(300)),
    "#(?:" + "|".join(chr(0x4E00 + i) + "x" for i in range(1000)) + ")",
]

BAD = [
    r"(a+)+$",
    r"(a*)*b",
    r"(.*)*x",
    r"(?:a|aa)+$",
    r"(\w+\s?)+$",
    r".*.*.*=",
    r"\w*\w*\w*1",
    r"(?:\w+ )+x",
    r"(?:[a-z]+-?)+",
    r"(?:.|\n)*x",
    r"(?:a?a?)*b",
    r"(?:|a+)+b",
    r"(?>a+)+b",
    r"(?:(?:a{1,30}){1,30}){1,30}b",
    r"(?:a?){30}a{30}",
    "a?" * 30 + "a" * 30,
    r"[^1]+1",
    r".+x",
    r"(?=.*x)\w+",
    r"(a*)\1",
    "a" * 6000,
    "(?:a" + "".join(chr(0x4E00 + i) + "?" for i in range(3000)) + ")+",
    "(?:" + "|".join(chr(0x4E00 + i) + "x" for i in range(2000)) + ")+y",
    "(?:" + "|".join(chr(0x4E00 + i) + "?" for i in range(4000)) + ")+x",
]


@pytest.mark.parametrize("pattern", GOOD)
def test_patterns_of_words_pass(pattern):
    assert fault_of_pattern(pattern) is None
    for text in ("a" * 2000 + "!", "ab-" * 700 + "!", "a b " * 500 + "!"):
        re.findall(pattern, text)  # ends


@pytest.mark.parametrize("pattern", BAD)
def test_patterns_without_an_end_are_refused(pattern):
    assert fault_of_pattern(pattern) is not None
    with pytest.raises(InvalidParameterError, match="can take for ever on some texts"):
        vectorize(["a text"], token_pattern=pattern)


def test_a_pattern_from_the_file_of_a_model_is_refused(tmp_path):
    texts = ["aaa b", "aaa c", "b c"] * 4
    vectorizer, X = TextVectorizer(token_pattern=r"[a-z]+(?:-[a-z]+)*", max_df=1.0).learn(texts)
    config = vectorizer.to_dict()
    TopicTree(2).fit(X).save(tmp_path / "good.mt", vectorizer_config=config)
    again = TextVectorizer.from_dict(TopicTree.load(tmp_path / "good.mt").vectorizer_config_)
    assert (again.transform(texts) != X).nnz == 0
    with pytest.raises(InvalidDataError, match="can take for ever"):
        TextVectorizer.from_dict({**config, "token_pattern": r"(a+)+$"})
