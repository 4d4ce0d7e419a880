"""Words of metrics."""

WORDS: dict[str, str] = {}
