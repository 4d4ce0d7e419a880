"""Words of report."""

WORDS: dict[str, str] = {}

PLAIN: dict[str, str] = {
    "too_few_components": "its codes show no groups",
    "no_two_components": "its codes show no groups",
    "gain_below_penalty": "two groups would describe its records no better than chance (by BIC)",
}
"""Words for readers of a page or a terminal, without the terms of the algorithm, by code.

Pass it as `words` of an `Audience`; codes that it lacks keep the words of the catalogue.
"""
