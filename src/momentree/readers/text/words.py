"""Split texts into words: the pattern of a word, and stop words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache
from os import PathLike
from pathlib import Path
from typing import cast

import stopwordsiso

from momentree.exceptions import InvalidParameterError
from momentree.readers.tables.files import open_text
from momentree.readers.text._patterns import find_fault

TOKEN_PATTERN = r"[^\W\d_]{2,}"  # noqa: S105  # two letters or more, of any alphabet
# Languages written with letters and spaces, so that the pattern above finds their words.
LANGUAGES = (
    *("bg", "br", "ca", "cs", "da", "de", "el", "en", "eo", "es", "et", "eu", "fi", "fr", "ga"),
    *("gl", "hr", "hu", "hy", "it", "la", "lt", "lv", "nl", "no", "pl", "pt", "ro", "ru", "sk"),
    *("sl", "sv", "tr", "uk"),
)

_ALSO_CALLED = {"nb": "no", "nn": "no"}
# Invisible characters inside words: soft hyphen, zero-width space and joiners, byte order mark,
# and the combining dot left when the Turkish capital I is converted to lower case.
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff\u0307"))


def stop_words(language: str, token_pattern: str = TOKEN_PATTERN) -> frozenset[str]:
    """Return the stop words of a language, which say little about the subject of a text.

    Parameters
    ----------
    language : str
        ISO 639-1 code, one of ``LANGUAGES``: "en", "it", "de", ...; a region code is ignored
        ("pt-BR").
    token_pattern : str, default=TOKEN_PATTERN
        Regular expression for a word. Words with an apostrophe are split as in texts: "didn't"
        gives "didn".

    Returns
    -------
    frozenset of str
        Lower-case words, from the stopwords-iso collection.

    Raises
    ------
    InvalidParameterError
        If there is no list for the language, or `token_pattern` is invalid.

    Examples
    --------
    >>> from momentree.datasets import stop_words
    >>> sorted({"della", "didn", "amore"} & (stop_words("it") | stop_words("en")))
    ['della', 'didn']
    """
    code = str(language).lower().replace("_", "-").partition("-")[0]
    code = _ALSO_CALLED.get(code, code)
    if code not in LANGUAGES:
        raise InvalidParameterError(
            "no_stop_words",
            parameter="language",
            value=language,
            languages=", ".join(LANGUAGES),
            keep_all=None,
        )
    return _stop_words(code, token_pattern)


@cache
def _stop_words(language: str, token_pattern: str) -> frozenset[str]:
    return _cut(stopwordsiso.stopwords(language), token_pattern)


def unwanted_words(
    language: str | None, extra: Iterable[str], token_pattern: str
) -> frozenset[str]:
    """Return the stop words of a language, if any, and `extra` words, split as in texts."""
    words = _cut(extra, token_pattern)  # checks the pattern
    return words if language is None else words | stop_words(language, token_pattern)


def _cut(words: Iterable[str], token_pattern: str) -> frozenset[str]:
    """Return words in lower case, both whole and split as in texts."""
    tokenize = tokenizer(token_pattern, lowercase=True)
    whole = {word.strip().lower() for word in words}
    return frozenset(whole.union(*map(tokenize, whole)) - {""})


def read_words(parameter: str, words: Iterable[str] | PathLike[str] | None) -> tuple[str, ...]:
    """Return words as a tuple, from a sequence or from a file with one word per line."""
    if words is None:
        return ()
    if isinstance(words, PathLike):
        with open_text(Path(words), "utf-8") as file:
            return tuple(line.strip() for line in file if line.strip())
    found = (words,) if isinstance(words, str) or not isinstance(words, Iterable) else tuple(words)
    for word in found:
        if word is words or not isinstance(word, str):
            raise InvalidParameterError("not_words", parameter=parameter, value=word)
    return found


def tokenizer(token_pattern: str, *, lowercase: bool) -> Callable[[str], list[str]]:
    """Return a function that splits a text into words, in order.

    Letters followed by combining accents are read as one letter (Unicode form NFC); invisible
    characters inside words are removed.
    """
    shown = {"parameter": "token_pattern", "value": token_pattern}
    if isinstance(token_pattern, str) and len(token_pattern) > 80:
        shown["value"] = f"{token_pattern[:80]}..."
    try:
        pattern = re.compile(token_pattern)
        fault = find_fault(token_pattern)
    except (re.error, TypeError, OverflowError, RecursionError) as error:
        problem = str(error)
        raise InvalidParameterError("not_a_regular_expression", **shown, error=problem) from error
    if pattern.groups > 1:
        raise InvalidParameterError("too_many_groups", **shown, n_groups=pattern.groups)
    if fault is not None:
        raise InvalidParameterError("slow_pattern", **shown, fault=fault)

    def tokenize(text: str) -> list[str]:
        if lowercase:
            text = text.lower()
        if not text.isascii():
            text = unicodedata.normalize("NFC", text).translate(_INVISIBLE)
        return [word for word in cast("list[str]", pattern.findall(text)) if word]

    return tokenize
