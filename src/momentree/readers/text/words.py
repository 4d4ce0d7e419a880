"""Split texts into words, and know which of them are stop words."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any

import regex
import stopwordsiso

from momentree.exceptions import InvalidDataError, InvalidParameterError, MissingLibraryError
from momentree.messages import wording
from momentree.readers.tables.files import open_text

_NAMES = """
af:Afrikaans am:Amharic ar:Arabic az:Azerbaijani be:Belarusian bg:Bulgarian bn:Bengali br:Breton
ca:Catalan cs:Czech cy:Welsh da:Danish de:German el:Greek en:English eo:Esperanto es:Spanish
et:Estonian eu:Basque fa:Persian fi:Finnish fr:French ga:Irish gl:Galician gu:Gujarati ha:Hausa
he:Hebrew hi:Hindi hr:Croatian hu:Hungarian hy:Armenian id:Indonesian is:Icelandic it:Italian
ja:Japanese ka:Georgian kk:Kazakh km:Khmer kn:Kannada ko:Korean ku:Kurdish la:Latin lo:Lao
lt:Lithuanian lv:Latvian mk:Macedonian ml:Malayalam mn:Mongolian mr:Marathi ms:Malay my:Burmese
ne:Nepali nl:Dutch no:Norwegian pa:Punjabi pl:Polish ps:Pashto pt:Portuguese ro:Romanian
ru:Russian si:Sinhala sk:Slovak sl:Slovenian so:Somali sq:Albanian sr:Serbian st:Sotho
sv:Swedish sw:Swahili ta:Tamil te:Telugu th:Thai tl:Tagalog tr:Turkish uk:Ukrainian ur:Urdu
uz:Uzbek vi:Vietnamese xh:Xhosa yo:Yoruba zh:Chinese zu:Zulu
"""
NAMES: dict[str, str] = {
    code: name for code, _, name in (entry.partition(":") for entry in _NAMES.split())
}

ALSO_CALLED = {
    "nb": "no",
    "nn": "no",
    "wuu": "zh",
    "yue": "zh",
    "cmn": "zh",
    "bs": "hr",
    "iw": "he",
}
"""Other codes, and languages so close that they share a list of stop words."""


_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_SOUTH_EAST = "\u0e01-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u109d\u1780-\u17d3"
_RUN = re.compile(f"[{_HAN}{_KANA}{_SOUTH_EAST}\u17d7\u17dc\u200b]+")
_LETTER = re.compile(f"[{_HAN}{_KANA}{_SOUTH_EAST}]")
_WIDE = re.compile("[\uff01-\uffdc]+")
_SAMPLE = "漢字 かな カナ ไทย ລາວ ខ្មែរ မြန်မာ"


def share_without_blanks(text: str) -> float:
    """Return the share of the letters of a text that are in scripts without blanks."""
    if text.isascii():
        return 0.0
    n = len(_LETTER.findall(text))
    return n / max(n, sum(map(str.isalpha, text))) if n else 0.0


def applies_to(token_pattern: str) -> bool:
    """Whether words of scripts without blanks match a pattern."""
    return re.search(token_pattern, _SAMPLE) is not None


def segmenter() -> Callable[[str], str]:
    """Return a function that puts blanks between the words of scripts without blanks.

    The dictionaries of ICU find the words, for all these scripts at once. Half-width and full-width
    characters become normal ones (Unicode form NFKC). Text in other scripts is not changed.

    Raises
    ------
    MissingLibraryError
        If icu4py is not installed.
    """
    if not is_available():
        raise MissingLibraryError(wording.SEGMENTATION_MISSING, where="")
    from icu4py.breakers import WordBreaker

    def split(run: re.Match[str]) -> str:
        return f" {' '.join(WordBreaker(run[0], 'en'))} "

    def normal(wide: re.Match[str]) -> str:
        return unicodedata.normalize("NFKC", wide[0])

    def segment(text: str) -> str:
        return text if text.isascii() else _RUN.sub(split, _WIDE.sub(normal, text))

    return segment


def is_available() -> bool:
    """Whether the optional library is installed."""
    try:
        import icu4py.breakers  # noqa: F401
    except ImportError:
        return False
    return True


TOKEN_PATTERN = r"[^\W\d_]{2,}"  # noqa: S105  # two letters or more, of any alphabet
MAX_SECONDS = 10
"""Time for which a pattern of words is searched in a text, but for the default pattern."""
AUTO = "auto"
# Languages with a list of stop words.
LANGUAGES = tuple(sorted(set(stopwordsiso.langs()) & set(NAMES)))
_HIRAGANA = re.compile("[\u3041-\u309f\u30fc]+")
# Invisible characters inside words: soft hyphen, zero-width space and joiners, byte order mark,
# and the combining dot left when the Turkish capital I is converted to lower case; also the points
# of Hebrew and Arabic vowels, and the line that stretches Arabic words.
_INVISIBLE = dict.fromkeys(
    (
        *map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff\u0307\u05bf\u05c7\u0640\u0670"),
        *(*range(0x0591, 0x05BE), 0x05C1, 0x05C2, 0x05C4, 0x05C5, *range(0x064B, 0x0653)),
    )
)


def stop_words(language: str, token_pattern: str = TOKEN_PATTERN) -> frozenset[str]:
    """Return the stop words of a language, which say little about the subject of a text.

    Parameters
    ----------
    language : str
        ISO 639-1 code, one of ``LANGUAGES``: "en", "it", "de", "zh", ...; a region code is
        ignored ("pt-BR").
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
    code = _code(language)
    if code not in LANGUAGES:
        raise InvalidParameterError(
            "no list of stop words for {parameters.language:=value}; expected {languages}, or "
            "{parameters.language:=keep_all} to keep all words",
            value=language,
            languages=", ".join(LANGUAGES),
            keep_all=None,
        )
    return _stop_words(code, token_pattern)


def language_codes(language: str | None) -> tuple[str, ...]:
    """Return the codes in a value of `language`: none for None, several for "en,fr".

    Raises
    ------
    InvalidParameterError
        If a code is not that of a language, or the value is "auto", which has to be resolved first.
    """
    if language is None:
        return ()
    codes = tuple(dict.fromkeys(map(_code, str(language).split(","))))
    for code in codes:
        if code not in NAMES:
            raise InvalidParameterError(
                "[unknown_language] unknown {parameters.language:=value}; expected a code such as "
                "'fr', several codes such as 'en,fr', 'auto' to find the languages of the texts, "
                "or {parameters.language:=keep_all} to keep all words. There are lists of stop "
                "words for {languages}",
                value=language,
                languages=", ".join(LANGUAGES),
                keep_all=None,
            )
    return codes


def _code(language: str) -> str:
    code = str(language).strip().lower().replace("_", "-").partition("-")[0]
    return ALSO_CALLED.get(code, code)


@cache
def _stop_words(language: str, token_pattern: str, segment: bool = False) -> frozenset[str]:
    # Parts of a phrase are not function words; those that are stand in the list by themselves.
    listed = (word for word in stopwordsiso.stopwords(language) if not re.search(r"\s", word))
    return _cut(listed, token_pattern, segment=segment)


def word_selector(
    language: str | None,
    extra: Iterable[str],
    token_pattern: str,
    *,
    lowercase: bool,
    segment: bool = False,
) -> Callable[[list[str]], list[str]]:
    """Return a function that leaves out the stop words, and `extra` words, of a document.

    Of several languages, those of the document count: the ones with most stop words in it.
    """
    tests = _stop_word_tests(language, extra, token_pattern, segment=segment)

    def select(words: list[str]) -> list[str]:
        if lowercase and len(tests) == 1:
            return [word for word in words if not tests[0](word)]
        compared = words if lowercase else [word.lower() for word in words]
        unwanted = [[bool(test(key)) for key in compared] for test in tests]
        most = max(map(sum, unwanted))
        own = [flags for flags in unwanted if 2 * sum(flags) >= most]
        return [word for word, *flags in zip(words, *own, strict=True) if not any(flags)]

    return select


def _stop_word_tests(
    language: str | None, extra: Iterable[str], token_pattern: str, *, segment: bool
) -> list[Callable[[str], object]]:
    """Return a test for the stop words of each language, which include `extra` words.

    There is at least one test. In Japanese, words in hiragana alone are particles, auxiliaries and
    parts of them: they are stop words.
    """
    more = _cut(extra, token_pattern, segment=segment)  # checks the pattern
    tests: list[Callable[[str], object]] = []
    for code in language_codes(language):
        words = more | _stop_words(code, token_pattern, segment) if code in LANGUAGES else more
        tests.append(_japanese(words) if code == "ja" else words.__contains__)
    return tests or [more.__contains__]


def _japanese(words: frozenset[str]) -> Callable[[str], object]:
    return lambda word: word in words or _HIRAGANA.fullmatch(word)


def unwanted_words(
    language: str | None, extra: Iterable[str], token_pattern: str
) -> frozenset[str]:
    """Return the stop words of all given languages, and `extra` words, split as in texts."""
    codes = [code for code in language_codes(language) if code in LANGUAGES]
    return _cut(extra, token_pattern).union(*(_stop_words(code, token_pattern) for code in codes))


def _cut(words: Iterable[str], token_pattern: str, *, segment: bool = False) -> frozenset[str]:
    """Return words in lower case, both whole and split as in texts."""
    tokenize = tokenizer(token_pattern, lowercase=True, segment=segment)
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
            raise InvalidParameterError(
                "[not_words] {parameter} contains {value!r}; expected a list of strings, or a "
                "pathlib.Path of a file with one word per line",
                parameter=parameter,
                value=word,
            )
    return found


def tokenizer(
    token_pattern: str, *, lowercase: bool, segment: bool = False
) -> Callable[[str], list[str]]:
    """Return a function that splits a text into words, in order.

    Letters followed by combining accents are read as one letter (Unicode form NFC); vowel signs and
    other marks that are written beside or around a letter are part of it. Invisible characters
    inside words, and the points of Arabic and Hebrew vowels, which most texts omit, are removed.
    With `segment`, words are found in scripts without blanks, too.
    """
    shown = {"parameter": "token_pattern", "value": str(token_pattern)[:80]}
    try:
        pattern: Any = re.compile(token_pattern)
        if token_pattern != TOKEN_PATTERN:
            pattern = regex.compile(token_pattern)
    except (re.error, regex.error, TypeError, OverflowError, RecursionError) as error:
        problem = str(error)
        raise InvalidParameterError(
            "[not_a_regular_expression] {parameter:=value} is not a regular expression: {error}",
            **shown,
            error=problem,
        ) from error
    if pattern.groups > 1:
        raise InvalidParameterError(
            "[too_many_groups] {parameter:=value} has {n_groups:~group}; expected at most one, "
            "which matches the word: write (?:...) for the others",
            **shown,
            n_groups=pattern.groups,
        )
    # A pattern may come from the file of a model, and take exponential time.
    limit = {} if token_pattern == TOKEN_PATTERN else {"timeout": MAX_SECONDS}
    split = segmenter() if segment else str

    def tokenize(text: str) -> list[str]:
        if lowercase:
            text = text.lower()
        letters = text
        if not text.isascii():
            text = unicodedata.normalize("NFC", split(text)).translate(_INVISIBLE)
            letters = text.translate(_marks())
        try:
            if letters == text:
                return [word for word in pattern.findall(text, **limit) if word]
            spans = (match.span(pattern.groups) for match in pattern.finditer(letters, **limit))
            return [text[start:end] for start, end in spans if start < end]
        except TimeoutError as error:
            raise InvalidParameterError(
                "[slow_pattern] {parameter:=value} takes more than {seconds:~second} on a text. "
                "Use repetitions that can continue in only one way, such as [a-z]+(?:-[a-z]+)*",
                **shown,
                seconds=MAX_SECONDS,
            ) from error

    return tokenize


@cache
def _marks() -> dict[int, str]:
    """Return a letter for each mark, so that patterns for letters match it."""
    is_mark = (unicodedata.category(chr(point)) in ("Mn", "Mc") for point in range(0x10000))
    marks = {point for point, found in enumerate(is_mark) if found}
    return dict.fromkeys(marks - {*range(0xFE00, 0xFE10)}, "\u02b0")  # variants are no marks


Tokenizer = Callable[[str], Iterable[str]]


def check_tokenizer(value: Any, token_pattern: str) -> None:
    """Raise an error unless a value is a function, the name of one or None."""
    if value is None:
        return
    if isinstance(value, type) or not (callable(value) or isinstance(value, str)):
        raise InvalidParameterError(
            "[not_a_tokenizer] {parameters.tokenizer:=value}; expected a function that splits a "
            "text into a list of words",
            value=value,
        )
    if token_pattern != TOKEN_PATTERN:
        raise InvalidParameterError(
            "[tokenizer_and_pattern] {parameters.token_pattern:=value} has no effect with "
            "{parameters.tokenizer}, which finds the words; omit one of them",
            value=token_pattern,
        )


def name_of(tokenizer: Tokenizer | str | None) -> str | None:
    """Return the name of a function, "module:function", for files and messages."""
    if tokenizer is None or isinstance(tokenizer, str):
        return tokenizer
    module = getattr(tokenizer, "__module__", None) or type(tokenizer).__module__
    return f"{module}:{getattr(tokenizer, '__qualname__', type(tokenizer).__qualname__)}"


def own_tokenizer(tokenizer: Tokenizer | str, *, lowercase: bool) -> Callable[[str], list[str]]:
    """Return a function that splits a text by that of the user, and checks the result."""
    name = name_of(tokenizer)
    if isinstance(tokenizer, str):
        # A file must not decide what is imported and run.
        raise InvalidParameterError(
            "[tokenizer_only_named] {value} is only the name of the function that finds the words, "
            "as in the file of a model; give the function itself with {parameters.tokenizer}",
            value=name,
        )

    def tokenize(text: str) -> list[str]:
        try:
            found = tokenizer(text)
            words = None if isinstance(found, str) else list(found)
        except Exception as error:
            problem = " ".join(f"{type(error).__name__}: {error}".split())
            raise InvalidDataError(
                "[tokenizer_failed] the tokenizer {name} failed on a text: {error}",
                name=name,
                error=problem[:200],
            ) from error
        if words is None or not all(isinstance(word, str) for word in words):
            raise InvalidDataError(
                "[tokenizer_without_words] the tokenizer {name} did not return a list of words; "
                "expected strings",
                name=name,
            )
        kept = (word.strip() for word in words if any(map(str.isalnum, word)))
        return [word.lower() for word in kept] if lowercase else list(kept)

    return tokenize
