"""Wording of messages about the names of topics and groups."""

WORDS: dict[str, str] = {
    "names_not_a_mapping": (
        "{parameter} is a {type}; expected a mapping from numbers to names, such as "
        "{{3: 'Climate'}}"
    ),
    "no_number_to_name": (
        "{parameter:{source}} names {number!r}, but the result has the numbers 0 to {last}; these "
        "names may belong to another result"
    ),
    "no_node_to_name": (
        "{parameter:{source}} names {number!r}, but no inner node of the tree has exactly these "
        "leaves; give the numbers of its first and last leaf, or of one leaf (0 to {last})"
    ),
    "empty_name": "{parameter:{source}} gives {number} no name; write a name, or leave it out",
    "long_name": (
        "{parameter:{source}} gives {number} a name of {length:,} characters; expected at most "
        "{most}"
    ),
    "unprintable_name": (
        "{parameter:{source}} gives {number} the name {name!r}, with characters that cannot be "
        "shown; remove them"
    ),
    "named_twice": "{parameter:{source}} names {number} twice; leave out one of the names",
    "same_name": (
        "{parameter:{source}} gives {numbers:and} the same name, {name!r}; give different names"
    ),
    "not_a_rename": (
        "{parameter:{value}}; expected a number and a name, such as {parameter:3=Climate}"
    ),
    "not_a_table_of_names": (
        "{path} has the columns {columns:quoted list}; a file of names has the columns 'number' "
        "and 'name'"
    ),
    "not_a_corpus": (
        "corpus is a {type}; expected a Corpus, such as that of read_corpus or vectorize, "
        "or feature_names"
    ),
    "corpus_not_of_fit": (
        "the corpus has {n_rows:~document} and other documents or words than those of the fit; "
        "pass the corpus whose counts were used in fit"
    ),
}
