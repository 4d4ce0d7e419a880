"""Rows elsewhere in ``fit``: used where they are, or brought to this machine with a note."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial, wraps
from importlib import import_module
from typing import Any, TypeVar, cast

from momentree._sparse import NamedColumns
from momentree.backends import Rows, as_rows, collected, in_files, is_collection, is_elsewhere
from momentree.exceptions import InvalidDataError
from momentree.messages import Message

Method = TypeVar("Method", bound=Callable[..., Any])

SHARE = 0.25
"""Rows that take more of the memory of this machine become memory-mapped files."""


def in_reach(
    X: Any, estimator: str, instead_for: Callable[[Rows], Mapping[str, Any] | None]
) -> tuple[Any, list[Message]]:
    """Return a table in a form that ``fit`` can use, and notes about it.

    Parameters
    ----------
    X : object
        Anything given to ``fit``.
    estimator : str
        Name of the class of the estimator.
    instead_for : callable
        Returns parameters that avoid the need for single rows, given rows elsewhere: none if sums
        over rows suffice, and None if no parameters do.

    Returns
    -------
    X : object
        Rows elsewhere, and those of a large matrix mapped from files, if sums over them suffice;
        rows in memory, or in files, if they are needed; any other object unchanged.
    notes : list of Message
        That rows were brought to this machine, and how to avoid it.

    Raises
    ------
    InvalidDataError
        If single rows are needed and must stay where they are.
    """
    if not is_elsewhere(X):
        mapped = in_files(X)
        return X if mapped is None or instead_for(mapped) != {} else mapped, []
    rows = as_rows(X)
    instead = instead_for(rows)
    if instead is not None and not instead:
        return rows, []
    options = [
        Message("option_instead", parameter=name, value=value)
        for name, value in (instead or {}).items()
    ]
    facts = {"estimator": estimator, "options": options}
    if not rows.gives_rows:
        code = "rows_needed_here" if options else "rows_always_needed_here"
        raise InvalidDataError(code, **facts)
    found: Any = collected(rows, _memory()).matrix
    names = getattr(rows, "feature_names", None)
    if names is not None:
        found = NamedColumns.of(found, tuple(names))
        found.is_frame = True
    code = "rows_brought_here" if options else "rows_always_brought_here"
    return found, [Message(code, n_rows=rows.shape[0], **facts)]


def here(X: Any, estimator: str, *, dense: bool = False) -> tuple[Any, list[Message]]:
    """Return a table for an estimator that always needs single rows.

    Parameters
    ----------
    X : object
        Anything given to ``fit``.
    estimator : str
        Name of the class of the estimator.
    dense : bool, default=False
        Whether it needs a dense array.

    Returns
    -------
    X : object
        Rows elsewhere as a table in memory; any other object unchanged.
    notes : list of Message
        That rows were brought to this machine.

    Raises
    ------
    InvalidDataError
        If the rows must stay where they are.
    """
    if is_collection(X) and (dense or hasattr(X, "columns")):
        found: Any = import_module("momentree.backends.dask_rows").gathered(X)
        facts = {"estimator": estimator, "options": []}
        return found, [Message("rows_always_brought_here", n_rows=len(found), **facts)]
    found, notes = in_reach(X, estimator, lambda _: None)
    return found.toarray() if notes and dense else found, notes


def by_partition(method: Method) -> Method:
    """Let a method that maps samples to one result each accept a Dask collection.

    The fitted estimator is sent to the workers, and the results return as an array in the order of
    rows.
    """

    @wraps(method)
    def whole(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        if not is_collection(X):
            return method(self, X, *args, **options)
        if hasattr(X, "to_frame") and len(X.shape) == 1:  # a column, as of texts
            X = X.to_frame()
        over = import_module("momentree.backends.dask_rows").of_partitions
        return over(partial(method, self), X)

    return cast("Method", whole)


def _memory() -> float | None:
    try:
        return SHARE * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not known on this system
        return None
