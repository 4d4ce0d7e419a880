"""Detect the languages of texts, and scripts that have no blanks between words."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest
from operator import itemgetter
from typing import Any

from numpy.typing import NDArray

from momentree._files import scratch
from momentree.exceptions import MissingLibraryError
from momentree.messages import Message, wording
from momentree.readers.text import words as tokens

_LANGUAGE_WITHOUT_STOP_WORDS = (
    "[language_without_stop_words] there is no list of stop words for {languages:and}: function "
    "words are kept; list them with {parameters.stop_words}"
)


_MAX_TEXTS, _MAX_CHARACTERS = 1000, 400
"""Texts of a corpus that are examined, and characters of each."""

_CONFIDENT = 0.7
"""Probability from which the language of a text is counted."""

_MAIN = 0.05
"""Share of the texts that must be in the main language; otherwise nothing is known."""

_RELEVANT, _AT_LEAST, _OF_FEW = 0.01, 3, 0.2
"""Share of the texts from which a language is relevant, if it has three texts or a fifth."""

_WITHOUT_BLANKS = 0.2
"""Share of letters from which a text is in a script without blanks."""

_MUST_BE_SPLIT = 0.1
"""Share of such texts from which a corpus cannot be read without the library that splits them."""

_FIRST_WORDS, _STOP_WORDS = 60, 20
"""Counts are in a language if so many of their most frequent words are stop words."""


@dataclass(frozen=True)
class Languages:
    """The languages of a corpus.

    Attributes
    ----------
    counts : mapping of str to int
        Number of examined texts by the code of their language, most frequent first; texts whose
        language is uncertain are not counted.
    n_texts : int
        Number of examined texts, without empty ones.
    """

    counts: Mapping[str, int]
    n_texts: int

    @property
    def codes(self) -> tuple[str, ...]:
        """Languages with a relevant share of the texts, most frequent first."""
        if max(self.counts.values(), default=0) < _MAIN * self.n_texts:
            return ()
        least = min(max(_AT_LEAST, _RELEVANT * self.n_texts), _OF_FEW * self.n_texts)
        main = next(iter(self.counts), None)
        return tuple(code for code, n in self.counts.items() if n >= least or code == main)

    def shares(self, codes: Iterable[str]) -> list[str]:
        """Return languages with their shares, such as "French (98%)"."""
        n = max(sum(self.counts.values()), 1)
        return [f"{tokens.NAMES[code]} ({_percent(self.counts[code] / n)})" for code in codes]


@dataclass(frozen=True)
class Reading:
    """How the texts of a corpus are read: languages of stop words, splitting, and notes on both."""

    language: str | None
    segment: bool
    notes: tuple[Message, ...] = ()


def name_of_language(code: str) -> str:
    """Return the English name of a language."""
    return tokens.NAMES[code]


def detect_language(text: str) -> str | None:
    """Return the code of the language of a text; None if it is uncertain.

    At most 400 characters from the middle of the text are examined.
    """
    return _language_of(_excerpt(text))


@lru_cache(1 << 12)
def _language_of(excerpt: str) -> str | None:
    import py3langid

    scores: dict[str, float] = {}
    with scratch():  # its model is expanded into a temporary file
        ranked = py3langid.rank(excerpt)
    for label, score in ranked:
        code = tokens.ALSO_CALLED.get(label, label)
        if code in tokens.NAMES:
            scores.setdefault(code, score)
    best = max(scores, key=scores.__getitem__)
    # The scores of longer texts differ more; this scale keeps probabilities calibrated.
    scale = math.sqrt(len(excerpt.encode(errors="replace")) or 1)
    total = sum(math.exp((score - scores[best]) / scale) for score in scores.values())
    return best if total < 1 / _CONFIDENT else None


def detect_languages(texts: Sequence[str]) -> Languages:
    """Count the languages of texts; of many, a sample that does not depend on their order."""
    sample = _sample(texts)
    found = Counter(filter(None, map(detect_language, sample)))
    if not found and sample:
        # Short texts are clear together.
        together = detect_language(" ".join(sorted(sample)))
        found.update({together: len(sample)} if together else {})
    ordered = dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
    return Languages(ordered, len(sample))


def choose_reading(
    texts: Sequence[str], language: str | None, segment: bool | None, token_pattern: str
) -> Reading:
    """Choose how to read texts; `language` may be "auto", and `segment` None.

    Raises
    ------
    MissingLibraryError
        If many texts are in scripts without blanks and the library to split them is not installed.
    InvalidParameterError
        If a language is unknown.
    """
    found = detect_languages(texts)
    if language == tokens.AUTO:
        codes = found.codes or ("en",)
        language, notes = ",".join(codes), _notes_on_detected(found)
    else:
        notes = _notes_on_given(found, language)
    if segment is None:
        segment, more = choose_segment(texts, token_pattern)
        notes += more
    return Reading(language, segment, tuple(notes))


def choose_segment(texts: Sequence[str], token_pattern: str) -> tuple[bool, list[Message]]:
    """Choose whether to find words in scripts without blanks; also return a note if it is needed.

    Raises
    ------
    MissingLibraryError
        If many texts are in such scripts and the library to split them is not installed.
    """
    sample = _sample(texts)
    n = sum(tokens.share_without_blanks(_excerpt(text)) >= _WITHOUT_BLANKS for text in sample)
    if n < max(1, _RELEVANT * len(sample)) or not tokens.applies_to(token_pattern):
        return False, []
    if tokens.is_available():
        return True, []
    share = _percent(n / len(sample))
    if n >= _MUST_BE_SPLIT * len(sample):
        raise MissingLibraryError(wording.SEGMENTATION_MISSING, where=f" ({share} of all texts)")
    return False, [
        Message(
            "[texts_not_split] {share} of the texts are in Chinese, Japanese, Thai, Lao, Khmer or "
            "Burmese and are not split into words: pip install 'momentree[segmentation]'",
            share=share,
        )
    ]


def choose_for_counts(
    words: Sequence[str], frequencies: NDArray[Any], language: str | None
) -> Reading:
    """Choose the language whose stop words are most common among the frequent words of counts."""
    if language != tokens.AUTO:
        tokens.language_codes(language)
        return Reading(language, segment=False)
    first = sorted(range(len(words)), key=lambda j: (-frequencies[j], words[j]))[:_FIRST_WORDS]
    most = {words[j].lower() for j in first}
    n_stop = {code: len(most & tokens.stop_words(code)) for code in tokens.LANGUAGES}
    best = max(tokens.LANGUAGES, key=lambda code: (n_stop[code], code == "en"))
    if best == "en" or n_stop[best] < _STOP_WORDS:
        return Reading("en", segment=False)
    note = Message(
        "[words_in_language] the words are in {language}: {language} stop words are dropped; "
        "{parameters.language} sets another language",
        language=tokens.NAMES[best],
    )
    return Reading(best, segment=False, notes=(note,))


def notes_on_new_texts(sample: Sequence[str], language: str | None, n_all: int) -> list[Message]:
    """Return a note if new texts, given by a sample, are in other languages than a model."""
    known = tokens.language_codes(None if language == tokens.AUTO else language)
    if not known:
        return []
    found = detect_languages(sample)
    others = [code for code in found.codes if code not in known]
    if not others:
        return []
    return [
        Message(
            "[new_language] the new documents are in {languages:and}; the model was made from "
            "texts in {known:and}, and knows few of their words: make a model for each language",
            languages=found.shares(others),
            known=[tokens.NAMES[code] for code in known],
            n_all=n_all,
        )
    ]


def _notes_on_detected(found: Languages) -> list[Message]:
    codes = found.codes
    if codes in ((), ("en",)):
        return []
    unlisted = [tokens.NAMES[code] for code in codes if code not in tokens.LANGUAGES]
    notes = []
    if len(codes) > 1:
        notes.append(
            Message(
                "[several_languages] the texts are in {languages:and}: from each, the stop words "
                "of its own language are dropped; {parameters.language} sets other languages. If "
                "many are not in the main language, topics may separate languages rather than "
                "subjects: then analyze each language by itself",
                languages=found.shares(codes),
            )
        )
    elif not unlisted:
        notes.append(
            Message(
                "[one_language] the texts are in {languages:and}: {name} stop words are dropped; "
                "{parameters.language} sets another language",
                languages=found.shares(codes),
                name=tokens.NAMES[codes[0]],
            )
        )
    if unlisted:
        notes.append(Message(_LANGUAGE_WITHOUT_STOP_WORDS, languages=unlisted))
    return notes


def _notes_on_given(found: Languages, language: str | None) -> list[Message]:
    given = tokens.language_codes(language)
    if not given:
        return []
    unlisted = [tokens.NAMES[code] for code in given if code not in tokens.LANGUAGES]
    notes = [Message(_LANGUAGE_WITHOUT_STOP_WORDS, languages=unlisted)] if unlisted else []
    others = [code for code in found.codes if code not in given]
    if others:
        notes.append(
            Message(
                "[other_language] {parameter:=value}, but the texts are in {languages:and}, whose "
                "stop words are kept; use {parameter:=auto} to drop those of all languages in the "
                "texts",
                parameter="language",
                value=language,
                languages=found.shares(others),
                auto=tokens.AUTO,
            )
        )
    return notes


def _sample(texts: Sequence[str]) -> list[str]:
    texts = [text for text in texts if text and not text.isspace()]
    return texts if len(texts) <= _MAX_TEXTS else nsmallest(_MAX_TEXTS, texts, key=_hash)


class TextSample:
    """The texts by which the languages of a corpus are judged, collected batch by batch.

    These are the texts that `choose_reading` would examine if it got all texts at once; their
    order does not matter.
    """

    def __init__(self) -> None:
        self._kept: list[tuple[bytes, str]] = []

    def add(self, texts: Iterable[str]) -> None:
        """Examine more texts."""
        new = [(_hash(text), _excerpt(text)) for text in texts if text and not text.isspace()]
        self._kept = nsmallest(_MAX_TEXTS, [*self._kept, *new], key=itemgetter(0))

    def merge(self, other: TextSample) -> None:
        """Add the sample of other texts."""
        self._kept = nsmallest(_MAX_TEXTS, [*self._kept, *other._kept], key=itemgetter(0))

    @property
    def texts(self) -> list[str]:
        """The middle parts of the sampled texts."""
        return [text for _, text in self._kept]


def _excerpt(text: str) -> str:
    """Return the middle of a text, beyond headings and greetings."""
    start = max(0, (len(text) - _MAX_CHARACTERS) // 2)
    return text[start : start + _MAX_CHARACTERS]


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()


def _percent(share: float) -> str:
    return "less than 1%" if share < 0.01 else f"{share:.0%}"
