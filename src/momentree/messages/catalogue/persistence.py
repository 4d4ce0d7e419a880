"""Wording of messages about persistence: files of models."""

WORDS: dict[str, str] = {
    "unreadable_model": "cannot read the model {path}: {error}",
    "not_plain_values": "{parameter} contains a value that JSON cannot represent: {error}",
    "not_storable": "{name} is a {type}, which a model file cannot contain; remove it",
    "damaged_model": "{path} is not a momentree model, or it is damaged ({error})",
    "other_format": "{path} contains {found!r}, not a momentree model",
    "newer_format": (
        "{path} has format version {found}, but momentree {version} reads version {known}; it was "
        "written by momentree {writer}: upgrade momentree"
    ),
    "older_format": (
        "{path} has format version {found}, but momentree {version} reads version {known}; fit "
        "and save the model again"
    ),
    "unknown_model": "{path} contains a {kind!r}, which momentree {version} does not have; upgrade",
    "own_decomposition": (
        "{parameter} is a custom function, which cannot be saved; set it to the name of a function "
        "in momentree.decomposition before saving"
    ),
    "own_vectorizer": (
        "{parameter} is not a TextVectorizer, and cannot be saved in a model file; use "
        "TextVectorizer(...), or store the model with pickle"
    ),
    "other_model": "{path} contains a {found}, not a {expected}",
    # What is wrong in a damaged file.
    "bad_entry": "{name} is {value!r:.100}",
    "not_strings": "{name} contains values that are not strings",
    "not_positive_definite": "{name} contains a matrix that is not positive definite",
    "below_zero": "{name} contains negative values",
    "not_usable_numbers": "{name} contains values other than finite numbers below {largest:g}",
    "unknown_attribute": "{name!r} is not an attribute of a fitted estimator",
    "labels_beyond_groups": "labels_ contains values outside 0 to {last}",
    "other_groups": "the groups of the assigner are {found:list}; expected 0 to {last}",
    "rules_not_a_tree": "the sides of the rules do not lead from the root to the leaves",
    "nodes_not_a_tree": "the nodes are not a tree in pre-order",
    "merges_not_of_tree": "the merges of leaves do not match the nodes of the tree",
    "centers_not_of_root": "the centers are not proportions of the words of the root",
    "words_not_columns": "the words shown are not among the {n_columns:~column}",
    "other_feature_map": "the feature map does not fit the data",
}
