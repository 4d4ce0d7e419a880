"""What counts as a word: patterns, stop words, and the reading of a text as words."""

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
from momentree.readers.text._patterns import fault_of_pattern

__all__ = [
    "LANGUAGES",
    "TOKEN_PATTERN",
    "read_words",
    "stop_words",
    "tokenizer",
    "unwanted_words",
]

TOKEN_PATTERN = r"[^\W\d_]{2,}"  # noqa: S105  # two letters or more, of any alphabet
# Languages written with letters and spaces, so that the pattern above finds their words.
LANGUAGES = (
    *("bg", "br", "ca", "cs", "da", "de", "el", "en", "eo", "es", "et", "eu", "fi", "fr", "ga"),
    *("gl", "hr", "hu", "hy", "it", "la", "lt", "lv", "nl", "no", "pl", "pt", "ro", "ru", "sk"),
    *("sl", "sv", "tr", "uk"),
)
_ALSO_CALLED = {"nb": "no", "nn": "no"}
# Soft hyphen, zero-width space and joiners, byte order mark: invisible, and inside words. The dot
# above is what lower-casing leaves of the Turkish capital I.
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff\u0307"))


def stop_words(language: str, token_pattern: str = TOKEN_PATTERN) -> frozenset[str]:
    """Return the words of a language that say little of what a text is about.

    Parameters
    ----------
    language : str
        ISO 639-1 code, one of ``LANGUAGES``: "en", "it", "de", ...; a region after it is ignored
        ("pt-BR").
    token_pattern : str, default=TOKEN_PATTERN
        Regular expression of a word. Forms with an apostrophe are cut as in texts: "didn't" gives
        "didn".

    Returns
    -------
    frozenset of str
        Lower-case words, from the collection stopwords-iso.

    Raises
    ------
    InvalidParameterError
        If there is no list for the language, or the pattern is no regular expression.

    Examples
    --------
    >>> from momentree.datasets import stop_words
    >>> sorted({"della", "didn", "amore"} & (stop_words("it") | stop_words("en")))
    ['della', 'didn']
    """
    code = str(language).lower().replace("_", "-").partition("-")[0]
    code = _ALSO_CALLED.get(code, code)
    if code not in LANGUAGES:
        msg = (
            f"no stop words for language {language!r}; give one of {', '.join(LANGUAGES)}, "
            f"or None to keep all words"
        )
        raise InvalidParameterError(msg)
    return _stop_words(code, token_pattern)


@cache
def _stop_words(language: str, token_pattern: str) -> frozenset[str]:
    return _cut(stopwordsiso.stopwords(language), token_pattern)


def unwanted_words(
    language: str | None, extra: Iterable[str], token_pattern: str
) -> frozenset[str]:
    """Return the stop words of a language, if any, and others, cut as texts are.

    Parameters
    ----------
    language : str or None
        As in :func:`stop_words`; None for no language.
    extra : iterable of str
        More words.
    token_pattern : str
        Regular expression of a word.

    Returns
    -------
    frozenset of str
        Lower-case words.
    """
    listed = frozenset[str]() if language is None else stop_words(language, token_pattern)
    return listed | _cut(extra, token_pattern)


def _cut(words: Iterable[str], token_pattern: str) -> frozenset[str]:
    """Return words in lower case: whole, as a list of counts has them, and cut as in texts."""
    tokenize = tokenizer(token_pattern, lowercase=True)
    whole = {word.strip().lower() for word in words}
    return frozenset(whole.union(*map(tokenize, whole)) - {""})


def read_words(words: Iterable[str] | PathLike[str] | None) -> tuple[str, ...]:
    """Return words as a tuple, from a sequence or from a file with one word a line.

    Parameters
    ----------
    words : iterable of str, path-like or None
        The words, or a file in UTF-8; lines that are empty are skipped. None for no words.

    Returns
    -------
    tuple of str
        The words as they are.

    Raises
    ------
    ReadError
        If the file cannot be read.
    InvalidParameterError
        If something else than words is given.
    """
    if words is None:
        return ()
    if isinstance(words, PathLike):
        with open_text(Path(words), "utf-8") as file:
            return tuple(line.strip() for line in file if line.strip())
    if isinstance(words, str):
        msg = f"{words!r} is one string where words are expected; give a list, or a pathlib.Path"
        raise InvalidParameterError(msg)
    found = tuple(words)
    for word in found:
        if not isinstance(word, str):
            msg = f"{word!r} is no word: it is a {type(word).__name__}; give words as str"
            raise InvalidParameterError(msg)
    return found


def tokenizer(token_pattern: str, *, lowercase: bool) -> Callable[[str], list[str]]:
    """Return the function that cuts a text into words.

    Parameters
    ----------
    token_pattern : str
        Regular expression of a word, with at most one group, which is then the word.
    lowercase : bool
        Whether texts are put in lower case first.

    Returns
    -------
    callable
        From a text to its words, in order. Letters followed by combining accents are read as one
        letter (Unicode form NFC), and invisible characters inside words are left out.

    Raises
    ------
    InvalidParameterError
        If the pattern is no regular expression, has more than one group, or can take time beyond
        all bounds.
    """
    try:
        pattern = re.compile(token_pattern)
        fault = fault_of_pattern(token_pattern)
    except (re.error, TypeError, OverflowError, RecursionError) as error:
        msg = f"token_pattern {token_pattern!r} is no regular expression: {error}"
        raise InvalidParameterError(msg) from error
    if pattern.groups > 1:
        msg = (
            f"token_pattern {token_pattern!r} has {pattern.groups} groups, at most one is "
            f"expected; write (?:...) for a group that is not the word"
        )
        raise InvalidParameterError(msg)
    if fault is not None:
        msg = (
            f"token_pattern {token_pattern!r} can take for ever on some texts: {fault}; write it "
            f"with repetitions that can go on in one way only, as in [a-z]+(?:-[a-z]+)*"
        )
        raise InvalidParameterError(msg)
    find = pattern.findall

    def tokenize(text: str) -> list[str]:
        if lowercase:
            text = text.lower()
        if not text.isascii():
            text = unicodedata.normalize("NFC", text).translate(_INVISIBLE)
        return [word for word in cast("list[str]", find(text)) if word]

    return tokenize
