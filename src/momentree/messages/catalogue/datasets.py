"""Words of datasets."""

WORDS: dict[str, str] = {}
