"""Groups edited by hand: which were merged and split on the command line, in the order given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import typer
from typer.core import TyperCommand

from momentree.cli._reasons import in_plain_words
from momentree.exceptions import InvalidDataError, InvalidParameterError

__all__ = ["Edit", "InOrder", "apply_edits", "read_edits"]

_ORDER = "momentree.order"


class InOrder(TyperCommand):
    """A command that keeps in mind in which order its options were written."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options, and the order of all of them: others keep it for each one alone."""
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        ctx.meta[_ORDER] = [parameter.name for parameter in order]
        return super().parse_args(ctx, args)


@dataclass(frozen=True)
class Edit:
    """One change of the groups.

    Parameters
    ----------
    text : str
        The option as it was written, such as "--merge 2,5".
    groups : tuple of int
        The group to split, or those to merge.
    n_groups : int or None
        Into how many groups to split; None merges.
    """

    text: str
    groups: tuple[int, ...]
    n_groups: int | None = None


def read_edits(context: typer.Context, values: Mapping[str, Iterable[str]]) -> list[Edit]:
    """Read the options that edit groups.

    Parameters
    ----------
    context : Context
        Of an `InOrder` command.
    values : mapping of str to iterable of str
        What was given to "merge" and to "split".

    Returns
    -------
    list of Edit
        In the order in which they were written.

    Raises
    ------
    InvalidParameterError
        If a value has not the form 2,5 (merge), 3 or 3:4 (split).
    """
    read = {"merge": _merge, "split": _split}
    left = {name: iter(values[name]) for name in read}
    return [read[name](next(left[name])) for name in context.meta[_ORDER] if name in left]


def _merge(value: str) -> Edit:
    groups = tuple(number for part in value.split(",") if (number := _number(part)) is not None)
    if len(groups) < 2 or len(groups) < len(value.split(",")) or len(set(groups)) < len(groups):
        message = f"--merge {value}: expected two or more numbers of groups, such as --merge 2,5."
        raise InvalidParameterError(message)
    return Edit(f"--merge {value}", groups)


def _split(value: str) -> Edit:
    before, colon, after = value.partition(":")
    group, n_groups = _number(before), _number(after) if colon else 2
    if group is None or n_groups is None or n_groups < 2:
        message = (
            f"--split {value}: expected the number of a group, and after a colon into how many "
            f"groups if not into two, such as --split 3 or --split 3:4."
        )
        raise InvalidParameterError(message)
    return Edit(f"--split {value}", (group,), n_groups)


def _number(text: str) -> int | None:
    return int(text) if text.strip().isdecimal() else None


def apply_edits(estimator: Any, X: Any, edits: Iterable[Edit], tell: Callable[[str], None]) -> Any:
    """Return an estimator with edited groups.

    Parameters
    ----------
    estimator : ClusterTree or BernoulliMixture
        Fitted on X; it stays as it is.
    X : csr_array of shape (n, d)
        The records.
    edits : iterable of Edit
        Each counts groups as they are after those before it.
    tell : callable
        Takes a note where a split made fewer groups than were asked for.

    Returns
    -------
    estimator
        Of the same class.

    Raises
    ------
    InvalidParameterError
        If there is no such group.
    InvalidDataError
        If a group cannot be split.
    """
    for edit in edits:
        k = _n_groups(estimator, X)
        for group in edit.groups:
            if group >= k:
                message = (
                    f"{edit.text}: there is no group {group}; the groups are 0 to {k - 1}, as "
                    f"numbered by the same command without this option."
                )
                raise InvalidParameterError(message)
        if edit.n_groups is None:
            estimator = estimator.merge_groups(X, list(edit.groups))
        else:
            try:
                estimator = estimator.split_group(X, edit.groups[0], n_groups=edit.n_groups)
            except InvalidDataError as error:
                message = f"{edit.text}: {in_plain_words(str(error))}"
                raise InvalidDataError(message) from error
            made = _n_groups(estimator, X) - k + 1
            if made < edit.n_groups:
                tell(f"{edit.text} made {made} groups, as no more could be told apart")
    return estimator


def _n_groups(estimator: Any, X: Any) -> int:
    return int(estimator.predict_proba(X[:1]).shape[1])
