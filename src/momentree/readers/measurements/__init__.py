"""Read tables of measurements: numbers, yes or no, categories and counts, one row per record."""
