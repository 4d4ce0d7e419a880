"""Words of assignment."""

WORDS: dict[str, str] = {}
