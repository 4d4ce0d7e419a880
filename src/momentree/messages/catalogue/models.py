"""Words of models."""

WORDS: dict[str, str] = {}
