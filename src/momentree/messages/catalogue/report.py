"""Words of report."""

WORDS: dict[str, str] = {}
