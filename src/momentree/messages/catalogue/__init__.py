"""Wording of all messages by code, one file per sub-package, to review or translate."""

from momentree.messages.catalogue import (
    assignment,
    cli,
    datasets,
    decomposition,
    distributions,
    files,
    inference,
    metrics,
    models,
    moments,
    naming,
    persistence,
    readers_counts,
    readers_measurements,
    readers_records,
    readers_sequences,
    readers_tables,
    readers_text,
    report,
    states,
    tree,
    values,
)

__all__ = ["CATALOGUE"]

CATALOGUE: dict[str, str] = {
    **values.WORDS,
    **files.WORDS,
    **readers_tables.WORDS,
    **readers_text.WORDS,
    **readers_counts.WORDS,
    **readers_measurements.WORDS,
    **readers_records.WORDS,
    **readers_sequences.WORDS,
    **datasets.WORDS,
    **distributions.WORDS,
    **moments.WORDS,
    **decomposition.WORDS,
    **inference.WORDS,
    **metrics.WORDS,
    **assignment.WORDS,
    **naming.WORDS,
    **tree.WORDS,
    **models.WORDS,
    **persistence.WORDS,
    **states.WORDS,
    **report.WORDS,
    **cli.WORDS,
}
"""Templates by code; see :func:`momentree.messages.in_words`."""
