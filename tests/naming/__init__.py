"""Tests of the names of topics and groups."""
