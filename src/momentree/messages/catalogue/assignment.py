"""Words of assignment: edits of groups."""

WORDS: dict[str, str] = {
    "no_such_group": "{parameter:=value}; expected the number of a group, from 0 to {last}",
    "no_such_groups": (
        "{parameter:=value}; expected the numbers of at least two different groups, from 0 to "
        "{last}"
    ),
    "other_number_of_rows": (
        "X has {n_rows:~row}, but the data of fit had {fitted:,}; give the data of fit, in the "
        "same order"
    ),
    "missing_not_in_fit": (
        "X has missing values, but the data of fit had none; give the data of fit"
    ),
    "one_part": "one part is the most likely one for all of its samples",
    "cannot_split": "group {group} cannot be split: {reason}",
}
