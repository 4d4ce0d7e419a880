"""Words of inference."""

WORDS: dict[str, str] = {}
