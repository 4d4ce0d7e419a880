"""Words of persistence."""

WORDS: dict[str, str] = {}
