"""Word counts: read them from files, and choose the words to keep."""
