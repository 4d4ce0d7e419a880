"""Reports on hidden Markov models of sequences of codes."""

from momentree.report.sequences.summary import summarize_sequences

__all__ = ["summarize_sequences"]
