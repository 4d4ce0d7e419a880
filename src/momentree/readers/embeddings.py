"""Read embeddings (one vector per document) from NumPy files, without trusting the file."""

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree.core.container import DAMAGE, StoredArrays, read_array
from momentree.exceptions import InvalidDataError, MomentreeError, ReadError
from momentree.messages import Message, wording
from momentree.readers.tables.files import check_exists

_EMBEDDINGS_NOT_NUMPY = (
    "[embeddings_not_numpy] {path} is not a NumPy file; save the embeddings with "
    "numpy.save('vectors.npy', E), one row per document"
)


@dataclass(frozen=True, eq=False)
class Embeddings:
    """Embeddings of documents.

    Attributes
    ----------
    X : ndarray of float32 or float64, shape (n, d)
        One vector per document.
    notes : sequence of Message
        What was found when they were read.
    """

    X: NDArray[np.floating[Any]]
    notes: Sequence[Message] = ()


def read_embeddings(
    path: str | PathLike[str], *, n_rows: int | None = None, n_columns: int | None = None
) -> Embeddings:
    """Read embeddings, one row per document, from a ``.npy`` file or a ``.npz`` file of one array.

    Parameters
    ----------
    path : str or path-like
        The file, as written by ``numpy.save`` or ``numpy.savez``. Nothing is unpickled.
    n_rows : int or None, default=None
        Number of documents; None accepts any number of rows.
    n_columns : int or None, default=None
        Number of dimensions; None accepts any.

    Returns
    -------
    Embeddings
        The vectors, and a note if some are zero, which have no direction.

    Raises
    ------
    ReadError
        If the file is missing or damaged, or is no NumPy file.
    InvalidDataError
        If it does not contain one table of finite real numbers of the expected shape.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from momentree.datasets import read_embeddings
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "vectors.npy"
    ...     np.save(file, np.eye(4, 3))
    ...     embeddings = read_embeddings(file, n_rows=4)
    >>> embeddings.X.shape, [str(note) for note in embeddings.notes]
    ((4, 3), ['1 of 4 embeddings contains only zeros, and has no direction'])
    """
    path = check_exists(path)
    try:
        X = _read(path)
    except ReadError:
        raise
    except DAMAGE as error:
        problem = error.message if isinstance(error, MomentreeError) else str(error)
        raise ReadError(
            "[embeddings_damaged] {path} is damaged or has unexpected content: {problem}. Save it "
            "again with numpy.save",
            path=str(path),
            problem=problem,
        ) from error
    except OSError as error:
        raise ReadError(wording.UNREADABLE_PATH, path=str(path), error=error.strerror) from error
    _check_shape(X, path, n_rows, n_columns)
    X = X.astype(np.float64 if X.dtype.itemsize >= 8 else np.float32, order="C", copy=False)
    n_zero = _check_values(X, path)
    zeros = Message(
        "[zero_embeddings] {n_rows:,} of {n_all:~embedding} {n_rows:?contains/contain} only zeros, "
        "and {n_rows:?has/have} no direction",
        n_rows=n_zero,
        n_all=len(X),
    )
    return Embeddings(X, [zeros] if n_zero else [])


def _check_shape(X: NDArray[Any], path: Path, n_rows: int | None, n_columns: int | None) -> None:
    """Raise ``InvalidDataError`` unless an array is a table of real numbers of this shape."""
    if X.dtype.kind != "f" or X.ndim != 2 or 0 in X.shape:
        raise InvalidDataError(
            "[embeddings_shape] the array in {path} has shape {shape} and values of type {type}; "
            "expected a table of real numbers with one row per document and one column per "
            "dimension. Embeddings stored as integers: save E.astype('float32')",
            path=str(path),
            type=str(X.dtype),
            shape=str(X.shape),
        )
    n, d = X.shape
    if n_rows is not None and n != n_rows:
        raise InvalidDataError(
            "[embeddings_of_other_rows] {path} has {found:~row} for {needed:~document}; give one "
            "row per document, in the order of the documents. {parameters.csv:FILE.csv}, without "
            "the embeddings, lists the documents in this order",
            path=str(path),
            found=n,
            needed=n_rows,
        )
    if n_columns is not None and d != n_columns:
        raise InvalidDataError(
            "[embeddings_of_other_size] the embeddings in {path} have {found:~dimension}, but the "
            "model was fitted to {needed:,}; compute them as for the fit",
            path=str(path),
            found=d,
            needed=n_columns,
        )


def _check_values(X: NDArray[Any], path: Path) -> int:
    """Return how many rows contain only zeros; refuse infinite values, and nothing but zeros."""
    finite = np.isfinite(X)
    if not finite.all():
        row, column = divmod(int(np.argmin(finite)), X.shape[1])
        raise InvalidDataError(
            "[embeddings_not_finite] {path} contains {value} in row {row}, column {column} (from "
            "0), and NaN or infinity in {n_rows:~row} in all; compute these embeddings again, or "
            "leave out the documents",
            path=str(path),
            row=row,
            column=column,
            value=float(X[row, column]),
            n_rows=int((~finite.all(axis=1)).sum()),
        )
    n_zero = int((~X.any(axis=1)).sum())
    if n_zero == len(X):
        raise InvalidDataError(
            "[embeddings_all_zero] {path} contains only zeros; expected embeddings", path=str(path)
        )
    return n_zero


def _read(path: Path) -> NDArray[Any]:
    if path.is_dir():
        raise ReadError(_EMBEDDINGS_NOT_NUMPY, path=str(path))
    with path.open("rb") as file:
        start = file.read(6)
    if start == b"\x93NUMPY":
        return read_array(path)
    if not zipfile.is_zipfile(path):
        raise ReadError(_EMBEDDINGS_NOT_NUMPY, path=str(path))
    with zipfile.ZipFile(path) as archive:
        arrays = StoredArrays(archive, path)
        if len(arrays) != 1:
            names = sorted(arrays)
            raise ReadError(
                "[embeddings_many_arrays] {path} contains {n:~array} ({names:list}); save only the "
                "embeddings, with numpy.save('vectors.npy', E)",
                path=str(path),
                n=len(names),
                names=names,
            )
        return next(iter(arrays.values()))
