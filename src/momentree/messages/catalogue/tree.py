"""Words of tree."""

WORDS: dict[str, str] = {}
