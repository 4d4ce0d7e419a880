"""Words of readers: counts."""

WORDS: dict[str, str] = {}
