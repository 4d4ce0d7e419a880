"""Say why a result has fewer groups than were asked for."""

from __future__ import annotations

from typing import Any, Literal

from momentree.cli._run import Run
from momentree.estimators.node import why_no_more
from momentree.messages import Message

_CODES = {
    "groups": ("fewer_groups", "fewer_groups_because"),
    "leaves": ("fewer_leaves", "fewer_leaves_because"),
}


def note_number(
    run: Run, fitted: Any, requested: int | None, what: Literal["groups", "leaves"]
) -> None:
    """Print a note if there are fewer groups or leaves than requested."""
    found = len(getattr(fitted, "leaves_", ())) or len(fitted.weights_)
    if not requested or found >= requested:
        return
    reason = why_no_more(fitted)
    code = _CODES[what][reason is not None]
    run.note(Message(code, found=found, requested=requested, reason=reason))


def why_one(fitted: Any, requested: int | None) -> Message:
    """Return why a result is a single group."""
    code = "one_group_requested" if requested == 1 else "one_group_supported"
    return why_no_more(fitted) or Message(code)
