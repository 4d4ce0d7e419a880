"""Apply edits of groups, ``--merge`` and ``--split``, in the order on the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import typer

from momentree.cli._run import Run
from momentree.cli.guard import ORDER
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.messages import Message


@dataclass(frozen=True)
class Edit:
    """One edit of the groups."""

    option: str
    value: str
    groups: tuple[int, ...]
    n_groups: int = 1

    def __str__(self) -> str:
        return f"--{self.option} {self.value}"


def read_edits(context: typer.Context, values: Mapping[str, Iterable[str]]) -> list[Edit]:
    """Read the options that edit groups."""
    read = {"merge": _merge, "split": _split}
    waiting = {name: iter(values[name]) for name in read}
    return [read[name](next(waiting[name])) for name in context.meta[ORDER] if name in read]


def _merge(value: str) -> Edit:
    groups = [_number(part) for part in value.split(",")]
    if len(groups) < 2 or -1 in groups or len(set(groups)) < len(groups):
        raise InvalidParameterError("not_a_merge", parameter="merge", value=value)
    return Edit("merge", value, tuple(groups))


def _split(value: str) -> Edit:
    group, colon, parts = value.partition(":")
    n_groups = _number(parts) if colon else 2
    if _number(group) < 0 or n_groups < 2:
        raise InvalidParameterError("not_a_split", parameter="split", value=value)
    return Edit("split", value, (_number(group),), n_groups)


def _number(text: str) -> int:
    return int(text) if text.strip().isdecimal() else -1


def apply_edits(run: Run, estimator: Any, X: Any, edits: Iterable[Edit], min_cell: int) -> Any:
    """Return an estimator with the edits applied; a group below `min_cell` is not split."""
    for edit in edits:
        k = _n_groups(estimator, X)
        written = {"parameter": edit.option, "value": edit.value}
        if max(edit.groups) >= k:
            raise InvalidParameterError("no_group", **written, group=max(edit.groups), last=k - 1)
        if edit.option == "merge":
            estimator = estimator.merge_groups(X, list(edit.groups))
            continue
        if (estimator.labels_ == edit.groups[0]).sum() < min_cell:
            # The reason why so few records cannot be split would disclose their number.
            reason = Message("small_group", group=edit.groups[0], min_cell=min_cell)
            raise InvalidDataError("edit_failed", **written, reason=reason)
        try:
            estimator = estimator.split_group(X, edit.groups[0], n_groups=edit.n_groups)
        except InvalidDataError as error:
            raise InvalidDataError("edit_failed", **written, reason=error.message) from error
        made = _n_groups(estimator, X) - k + 1
        if made < edit.n_groups:
            run.note(Message("fewer_parts", **written, found=made))
    return estimator


def _n_groups(estimator: Any, X: Any) -> int:
    return int(estimator.predict_proba(X[:1]).shape[1])
