"""Names of topics and groups: the terms that set a node apart from its parent and siblings."""

from momentree.naming.given import check_names, parse_names, read_names
from momentree.naming.phrases import Phrases, find_phrases
from momentree.naming.shown import N_SHOWN, choose_shown_words
from momentree.naming.words import (
    NAME_TERMS,
    STEMMERS,
    choose_distinct,
    choose_words,
    common_last,
    join_forms,
    rank_terms,
)

__all__ = [
    "NAME_TERMS",
    "N_SHOWN",
    "STEMMERS",
    "Phrases",
    "check_names",
    "choose_distinct",
    "choose_shown_words",
    "choose_words",
    "common_last",
    "find_phrases",
    "join_forms",
    "parse_names",
    "rank_terms",
    "read_names",
]
