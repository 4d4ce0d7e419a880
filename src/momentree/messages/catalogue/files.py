"""Words of files."""

WORDS: dict[str, str] = {}
