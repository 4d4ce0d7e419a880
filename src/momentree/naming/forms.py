"""Join the inflections of a word: "game", "games" and "gaming" are one term of a name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from momentree._types import Ints

STEMMERS = {
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "eo": "esperanto",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hu": "hungarian",
    "hy": "armenian",
    "it": "italian",
    "lt": "lithuanian",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "tr": "turkish",
}
"""The stemmer of Snowball for each language that has one."""

_SHORTEST = 3
"""Shorter stems say too little: "us" and "use" are different words."""


def join_forms(words: Sequence[str], languages: Iterable[str] = ("en",)) -> Ints:
    """Return the group of each word: words with the same stem are forms of one word.

    Parameters
    ----------
    words : sequence of str
        Words in any case, all different.
    languages : iterable of str, default=("en",)
        ISO 639-1 codes. Words are stemmed in one language after another; languages without a
        stemmer are skipped, so that only upper and lower case are joined.

    Returns
    -------
    ndarray of int of shape (n_words,)
        Group numbers from 0, in the order of the stems.

    Examples
    --------
    >>> from momentree.naming import join_forms
    >>> join_forms(["game", "games", "gaming", "law"]).tolist()
    [0, 0, 0, 1]
    >>> join_forms(["cheval", "chevaux", "loi"], ["fr"]).tolist()
    [0, 0, 1]
    """
    stems = [word.lower() for word in words]
    for language in languages:
        stems = [_stemmed(word, language) for word in stems]
    return np.unique(np.array(stems, dtype=str), return_inverse=True)[1].astype(np.intp)


@lru_cache(1 << 16)
def _stemmed(word: str, language: str) -> str:
    stemmer = _stemmer(language)
    stem: str = stemmer.stemWord(word) if stemmer is not None and word.isalpha() else word
    return stem if len(stem) >= _SHORTEST else word


@cache
def _stemmer(language: str) -> Any | None:
    name = STEMMERS.get(language.lower().replace("_", "-").partition("-")[0])
    if name is None:
        return None
    # Loaded when needed, because the package loads every language at once.
    return import_module("snowballstemmer").stemmer(name)
