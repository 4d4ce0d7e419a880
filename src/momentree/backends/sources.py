"""Tables in memory and elsewhere as rows: used where they are, or brought to this machine."""

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping
from functools import partial, wraps
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import scipy.sparse as sp

from momentree._files import scratch
from momentree._types import Ints
from momentree.backends.base import Rows
from momentree.backends.file_rows import FileRows
from momentree.backends.row_order import SORTED_NNZ
from momentree.backends.rows import RowBlocks
from momentree.core.pages import mapped
from momentree.core.sparse import NamedColumns
from momentree.exceptions import InvalidDataError
from momentree.messages import Message

_ROWS_ALWAYS_BROUGHT_HERE = (
    "[rows_always_brought_here] {n_rows:~row} were copied to this machine, because {estimator} "
    "needs such data row by row"
)


_FILES = ("data", "indices")


def as_rows(X: Any) -> Rows:
    """Return a table as rows.

    Parameters
    ----------
    X : Rows, Dask array or data frame, or sparse matrix or array of shape (n, d)
        A table of numbers, wherever it is.

    Returns
    -------
    Rows
        X itself if it is one; the rows of a Dask collection where they are; otherwise row blocks
        in memory, which do not copy a CSR array.
    """
    if isinstance(X, Rows):
        return X
    if is_collection(X):
        found: Rows = import_module("momentree.backends.dask_rows").DaskRows(X)
        return found
    return RowBlocks(X)


def is_collection(X: Any) -> bool:
    """Return whether X is a Dask collection, without loading Dask.

    Parameters
    ----------
    X : object
        Any object.

    Returns
    -------
    bool
        True for Dask arrays and data frames.
    """
    return hasattr(X, "__dask_graph__") and hasattr(X, "to_delayed")


def is_elsewhere(X: Any) -> bool:
    """Return whether a table is known only by sums.

    Parameters
    ----------
    X : object
        Any table.

    Returns
    -------
    bool
        True for Dask collections and for rows that are not a matrix in memory.
    """
    return is_collection(X) or (isinstance(X, Rows) and not isinstance(X, RowBlocks))


def collected(rows: Rows, memory: float | None = None) -> RowBlocks:
    """Bring rows to this machine.

    Parameters
    ----------
    rows : Rows of shape (n, d)
        Rows wherever they are; those in memory are returned as they are.
    memory : float, default=None
        Bytes of memory that the rows may take; larger tables are memory-mapped files in a scratch
        folder, which is removed with the result. None sets no limit.

    Returns
    -------
    RowBlocks
        The same rows in the same order.

    Raises
    ------
    InvalidDataError
        If the rows must stay where they are (code ``rows_stay``).
    """
    if rows.local is not None:
        return cast("RowBlocks", rows.local)
    held: list[Any] = []
    pieces, size = iter(rows.pieces()), 0
    for piece in pieces:
        held.append(piece)
        size += piece.data.nbytes + piece.indices.nbytes + piece.indptr.nbytes
        if memory is not None and 2 * size > memory:  # two copies at the end
            return _in_files(held, pieces, rows.shape)
    if not held:
        return RowBlocks(sp.csr_array(rows.shape))
    return RowBlocks(sp.csr_array(sp.vstack(held, format="csr")))


def taken(rows: Rows, at: Ints) -> RowBlocks:
    """Bring some rows to this machine.

    Parameters
    ----------
    rows : Rows of shape (n, d)
        Rows wherever they are.
    at : ndarray of intp
        Row numbers in ascending order, each once.

    Returns
    -------
    RowBlocks
        A copy of the rows.

    Raises
    ------
    InvalidDataError
        If the rows must stay where they are (code ``rows_stay``).
    """
    if rows.local is not None:
        return cast("RowBlocks", rows.local.take(at))
    parts = list(rows.pieces_of(at))
    if not parts:
        return RowBlocks(sp.csr_array((0, rows.shape[1])))
    return RowBlocks(sp.csr_array(sp.vstack(parts, format="csr")))


def _in_files(held: list[Any], pieces: Iterator[Any], shape: tuple[int, int]) -> RowBlocks:
    """Write pieces to files, and return them as memory-mapped rows."""
    folder = Path(tempfile.mkdtemp(prefix="momentree-"))
    try:
        types = held[0].data.dtype, np.dtype(np.int32 if shape[1] < 2**31 else np.int64)
        indptr, nnz = [np.zeros(1, dtype=np.int64)], 0
        while held:
            piece = held.pop(0)
            for name, values, kind in zip(_FILES, (piece.data, piece.indices), types, strict=True):
                # An error of a full disk may come with `close`, and `tofile` may lose it.
                with scratch(), open(folder / name, "ab") as file:
                    file.write(np.ascontiguousarray(values, kind).data)
            indptr.append(nnz + piece.indptr[1:].astype(np.int64))
            nnz += piece.nnz
            if not held:
                held.extend(piece for piece in (next(pieces, None),) if piece is not None)
        arrays = [
            np.memmap(folder / name, dtype=dtype, mode="r", shape=(nnz,))
            for name, dtype in zip(_FILES, types, strict=True)
        ]
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    X = sp.csr_array(shape)
    X.data, X.indices, X.indptr = *arrays, np.concatenate(indptr)
    weakref.finalize(arrays[0], shutil.rmtree, folder, ignore_errors=True)
    return RowBlocks(X)


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
        # Tables in memory of as many values are not sorted either.
        large = type(X) in (sp.csr_array, sp.csr_matrix) and len(X.data) > SORTED_NNZ
        if not large or mapped(X.data) is None:
            return X, []
        in_files = FileRows(X)
        return in_files if instead_for(in_files) == {} else X, []
    rows = as_rows(X)
    instead = instead_for(rows)
    if instead is not None and not instead:
        return rows, []
    options = [
        Message("[option_instead] {parameter:=value}", parameter=name, value=value)
        for name, value in (instead or {}).items()
    ]
    facts = {"estimator": estimator, "options": options}
    if not rows.gives_rows:
        code = (
            (
                "[rows_needed_here] {estimator} with these parameters needs single rows, which "
                "stay where they are; with {options:and}, sums over rows suffice"
            )
            if options
            else (
                "[rows_always_needed_here] {estimator} needs single rows of such data, which stay "
                "where they are; sums over rows suffice for SingleTopicModel, PoissonMixture and "
                "TopicTree, and for BernoulliMixture and ClusterTree if the data are binary and "
                "complete"
            )
        )
        raise InvalidDataError(code, **facts)
    found: Any = collected(rows, _memory()).matrix
    names = getattr(rows, "feature_names", None)
    if names is not None:
        found = NamedColumns.of(found, tuple(names))
        found.is_frame = True
    code = (
        (
            "[rows_brought_here] {n_rows:~row} were copied to this machine, because {estimator} "
            "with these parameters needs them one by one; with {options:and}, rows stay where they "
            "are"
        )
        if options
        else _ROWS_ALWAYS_BROUGHT_HERE
    )
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
        return found, [Message(_ROWS_ALWAYS_BROUGHT_HERE, n_rows=len(found), **facts)]
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
