"""Counts, texts and corpora in folders on disk, written in batches and read as needed."""
