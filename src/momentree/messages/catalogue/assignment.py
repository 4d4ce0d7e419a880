"""Wording of messages about assignment: edits of groups."""

WORDS: dict[str, str] = {
    "no_such_group": "{parameter:=value}; expected the number of a group, from 0 to {last}",
    "no_such_groups": (
        "{parameter:=value}; expected the numbers of at least two different groups, from 0 to "
        "{last}"
    ),
    "other_number_of_rows": (
        "X has {n_rows:~row}, but the estimator was fitted to {fitted:,}; pass the data used in "
        "fit, in the same order"
    ),
    "missing_not_in_fit": (
        "X has missing values, but the data used in fit had none; pass the data used in fit"
    ),
    "one_part": "a single part is the most likely one for all of its {samples}",
    "cannot_split": "group {group} cannot be split: {reason}",
}
