"""Texts: files of documents, and how documents become counts of words."""
