"""Words about values of parameters and data: the checks that every room shares."""

WORDS: dict[str, str] = {
    "not_a_choice": "{parameter:{value!r}}; expected {choices:quoted or}",
    "too_few_samples": "{found:~sample}; at least {needed} {needed:?is/are} required",
}
