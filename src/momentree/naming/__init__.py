"""Names of topics and groups: the terms that set a node apart from its parent and siblings."""

from momentree.naming.forms import STEMMERS, join_forms
from momentree.naming.given import check_names, holds_names, parse_names, read_names
from momentree.naming.phrases import Phrases, find_phrases
from momentree.naming.terms import NAME_TERMS, choose_distinct, rank_terms
from momentree.naming.words import choose_words

__all__ = [
    "NAME_TERMS",
    "STEMMERS",
    "Phrases",
    "check_names",
    "choose_distinct",
    "choose_words",
    "find_phrases",
    "holds_names",
    "join_forms",
    "parse_names",
    "rank_terms",
    "read_names",
]
