"""Counts of words: files of them, and the choice of their words."""
