"""States of tables with different columns, on the union of these columns."""

from __future__ import annotations

from collections.abc import Sequence

from momentree.moments.moment_state import MomentState


def union(states: Sequence[MomentState]) -> list[MomentState]:
    """Return states of the first round with the columns of all of them, sorted by name.

    Parameters
    ----------
    states : sequence of MomentState
        States of the first round, possibly with different columns.

    Returns
    -------
    list of MomentState
        The states on the union of the columns: a column that a state does not have is zero in its
        rows.
    """
    columns = sorted({str(name) for state in states for name in state.columns})
    if all(state.columns.tolist() == states[0].columns.tolist() for state in states):
        return list(states)
    return [state.on_columns(columns) for state in states]
