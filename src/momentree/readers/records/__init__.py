"""Coded records: which record has which codes."""
