"""Wording of messages about datasets."""

WORDS: dict[str, str] = {
    "not_a_generator": (
        "{parameter:=value}; expected an integer of at least 0, a Generator or None"
    ),
    "not_lengths": ("{parameter} must be a whole number of at least {least}, or {n_rows} of them"),
    "symbols_or_features": (
        "give either {parameters.n_symbols}, for symbols, or {parameters.n_features}, for real "
        "numbers"
    ),
    "not_one_or_each": (
        "{parameter} must be a number from {low:g} to {high:g}, or one for each of {k:~component}"
    ),
    "row_without_positive_number": (
        "each row of {parameter} must contain finite numbers of at least 0, with at least one "
        "above 0"
    ),
    "not_probabilities": (
        "{parameter} range from {low:g} to {high:g}; expected probabilities, from 0 to 1"
    ),
    "concentration_too_small": (
        "{parameters.concentration:=value} is so small that every word of a topic has "
        "probability zero; increase it"
    ),
    "too_many_codes_per_record": (
        "{parameters.codes_per_record:=value}; expected at most a quarter of the {d:~code}: "
        "lower it, or raise {parameters.n_codes}"
    ),
}
