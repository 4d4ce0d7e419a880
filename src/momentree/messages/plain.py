"""Wording for readers of pages and terminals, by the codes of the messages."""

_INDISTINCT = "it contains no distinct groups"
_SMALL_PART = "one of two groups would be too small"
_AT_FLOOR = (
    "{found:~group} {found:?has/have} almost no variance in {columns:list}: "
    "{found:?it describes/they describe} few {samples}, or many with the same value, and may mean "
    "nothing;"
)
_KINDS = "give these columns the kind 'category' or 'count' with {parameters.kinds}"

PLAIN: dict[str, str] = {
    "components_of_few_samples": (
        "{n_few:~group} {n_few:?has/have} fewer than {needed} {samples} (number {components:and}), "
        "too few for the relations of {n_features:~column}: {n_few:?it/they} may mean "
        "nothing; use fewer groups"
    ),
    "bic_penalty": "two groups describe it no better than one (by BIC)",
    "aic3_penalty": "two groups describe it no better than one (by AIC3)",
    "max_depth_reached": "the maximum depth, {limit}, was reached",
    "max_leaf_nodes_reached": "the maximum number of groups, {limit}, was reached",
    "more_components_than_features": _INDISTINCT,
    "one_component": _INDISTINCT,
    "rank_too_low": _INDISTINCT,
    "small_part_after_em": _SMALL_PART,
    "small_side": _SMALL_PART,
    "too_few_to_split": "it is too small to split",
    "variances_at_floor": f"{_AT_FLOOR} use fewer groups, {_KINDS}, or leave them out",
    "variances_at_floor_of_auto": f"{_AT_FLOOR} {_KINDS}, or leave them out",
}
"""Plain wording by code, without terms of the algorithm, for readers of a page or terminal.

Pass it as `words` of an `Audience`; all other messages keep their words.
"""

PAGE: dict[str, str] = {
    "rare_codes_merged": (
        "merged {n_codes:,} of {n_all_codes:~code}, found in fewer than {least} sequences each, "
        "into {other!r}: {share:.1%} of the steps"
    ),
    "ordered_by_rows": (
        "the table has no times: the steps of each sequence are in the order of the rows"
    ),
    "repeated_steps": (
        "{n_rows:~row} {n_rows:?repeats/repeat} the id, time and code of another row and "
        "{n_rows:?counts as a step/count as steps} too"
    ),
    "possible_outcomes": (
        "treated {n_columns:~column} as codes that may be outcomes: {columns:quoted list}"
    ),
    "repeated_ids": (
        "{n_rows:~row} {n_rows:?repeats/repeat} an id of column {column!r}; each row is a separate "
        "record"
    ),
    "shared_patients": (
        "{n_records:~record} belong to {n_patients:~patient}, according to column {column!r}"
    ),
    "titles_omitted": "",
}
"""Notes without what the person who made the page could have done instead, for its readers."""
