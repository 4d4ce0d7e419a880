"""Words of decomposition."""

WORDS: dict[str, str] = {}
