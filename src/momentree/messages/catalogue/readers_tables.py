"""Words of readers: tables."""

WORDS: dict[str, str] = {}
