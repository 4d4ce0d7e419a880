"""Figures of trees, topics and groups of records for papers and notebooks, with matplotlib."""
