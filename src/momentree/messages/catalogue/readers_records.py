"""Words of readers: records."""

WORDS: dict[str, str] = {}
