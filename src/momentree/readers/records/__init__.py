"""Coded records: who has which code."""
