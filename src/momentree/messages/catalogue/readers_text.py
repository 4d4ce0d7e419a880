"""Words of readers: text."""

WORDS: dict[str, str] = {}
