"""Texts: read documents from files, and count their words."""
