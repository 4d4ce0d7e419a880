"""Words of cli."""

WORDS: dict[str, str] = {}
