"""Words of moments."""

WORDS: dict[str, str] = {}
