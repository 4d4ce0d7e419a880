"""Wording of messages about inference."""

WORDS: dict[str, str] = {
    "count_not_whole": (
        "a count is {value:g}; Gibbs sampling draws a topic for each word, so counts must be whole "
        "numbers"
    ),
}
