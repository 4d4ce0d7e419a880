"""Inflections of a word are one term; different words stay apart."""

import pytest

from momentree.naming import STEMMERS, join_forms
from momentree.readers.text.words import LANGUAGES


def joined(words, *languages):
    return dict(zip(words, join_forms(words, languages), strict=True))


@pytest.mark.parametrize(
    ("language", "one", "others", "different"),
    [
        ("en", "game", ["games", "gaming"], "gamma"),
        ("fr", "cheval", ["chevaux"], "chevelure"),
        ("de", "haus", ["häuser"], "hand"),
        ("es", "libro", ["libros"], "libertad"),
        ("it", "amore", ["amori"], "ombra"),
        ("ru", "книга", ["книги", "книгу"], "кино"),
    ],
)
def test_forms_of_a_word(language, one, others, different):
    group = joined([one, *others, different], language)
    assert {group[other] for other in others} == {group[one]}
    assert group[different] != group[one]


def test_every_stemmer_exists_and_its_language_is_read():
    assert set(STEMMERS) <= set(LANGUAGES)
    for language in STEMMERS:
        assert len(join_forms(["aa", "bb"], [language])) == 2


def test_only_case_is_joined_without_a_stemmer():
    for languages in ((), ("zh",), ("la",)):
        assert join_forms(["Games", "games", "game"], languages).tolist() == [1, 1, 0]


def test_a_region_of_a_language_is_ignored():
    assert len(set(join_forms(["game", "games"], ["en-GB"]))) == 1


def test_codes_and_short_words_are_not_shortened():
    words = ["250", "250s", "x1", "us", "use", "uses"]
    group = joined(words, "en")
    assert group["us"] != group["use"] == group["uses"]
    assert len({group[word] for word in words}) == 5


def test_two_languages():
    group = joined(["game", "games", "cheval", "chevaux"], "en", "fr")
    assert group["game"] == group["games"] != group["cheval"] == group["chevaux"]
