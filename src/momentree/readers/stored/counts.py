"""Counts in a folder on disk: the three arrays of a CSR matrix, mapped into memory as needed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._files import check_readable, staging
from momentree._validation import check_counts, check_lengths
from momentree.core.sparse import as_csr, check_structure
from momentree.exceptions import InvalidDataError, MomentreeError, ReadError
from momentree.messages import wording
from momentree.readers.stored import arrays

_STORED_COUNTS_DAMAGED = (
    "[stored_counts_damaged] the counts in {path} are damaged: a file is missing, cut off or "
    "changed; write them again"
)


MAX_COLUMNS = np.iinfo(np.int32).max
MARK = "counts.json"
"""The last file written: a folder without it is not finished."""
BLOCK_ROWS, BLOCK_VALUES = 1 << 16, 1 << 20
"""Rows and counts of a block, at most, unless a row has more."""
_FORMAT = "momentree.counts"
_TYPES = (np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.uint32), np.dtype(np.float64))


@dataclass(frozen=True, eq=False)
class StoredCounts:
    """Counts in a folder on disk, larger than memory if need be.

    ``fit`` of every model of counts accepts its matrix `X`.

    Parameters
    ----------
    folder : Path
        The folder.
    shape : tuple of int
        (n_rows, n_columns).
    feature_names : ndarray of str of shape (n_columns,) or None
        Names of the columns.
    content : mapping
        Everything else in ``counts.json``.

    Notes
    -----
    The folder contains the arrays of a matrix in CSR form as ``data.npy``, ``indices.npy`` and
    ``indptr.npy``: counts of 1, 2 or 4 bytes as needed, columns of 4 bytes, and row ends of 4 bytes
    if all fit, otherwise of 8. Rows have ascending columns, each once, and no zeros.

    Examples
    --------
    >>> import tempfile
    >>> from momentree.datasets import StoredCounts, store_counts
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     stored = store_counts([[[2, 0, 1]], [[0, 5, 0], [1, 1, 1]]], f"{folder}/pets")
    ...     StoredCounts.open(f"{folder}/pets").X.toarray().tolist()
    [[2, 0, 1], [0, 5, 0], [1, 1, 1]]
    """

    folder: Path
    shape: tuple[int, int]
    feature_names: NDArray[Any] | None = None
    content: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def open(cls, folder: str | PathLike[str]) -> StoredCounts:
        """Open a folder that :func:`store_counts` has written.

        Parameters
        ----------
        folder : str or path-like
            The folder.

        Returns
        -------
        StoredCounts
            The counts, of which nothing is read yet.

        Raises
        ------
        ReadError
            If the folder does not exist, was not finished, or is damaged.
        """
        path = check_readable(folder)
        mark = path / MARK
        if not mark.is_file():
            raise ReadError(
                "[not_stored_counts] {path} does not contain finished counts: {mark} is missing; "
                "write them with store_counts",
                path=str(path),
                mark=MARK,
            )
        try:
            content = json.loads(mark.read_text(encoding="utf-8"))
            n, d = (int(size) for size in content["shape"])
            names = content.pop("feature_names")
            _require(content["format"] == _FORMAT and (names is None or len(names) == d))
            stored = cls(path, (n, d), names and np.asarray(names, dtype=object), content)
            _ = stored.X, stored.ids
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise ReadError(_STORED_COUNTS_DAMAGED, path=str(path)) from error
        return stored

    @cached_property
    def X(self) -> sp.csr_array[Any]:  # noqa: N802
        """The counts as a CSR array whose arrays are memory maps, shape (n_rows, n_columns)."""
        data, indices, indptr = (
            arrays.open_array(self.folder / f"{name}.npy") for name in ("data", "indices", "indptr")
        )
        _require(len(indptr) == self.shape[0] + 1 and indptr[-1] == len(indices) == len(data))
        _require(data.dtype in _TYPES and indices.dtype == np.int32)
        _require(indptr.dtype in (np.int32, np.int64))
        X = sp.csr_array(self.shape, dtype=data.dtype)
        # Not by the constructor, which would copy them if their types differ.
        X.data, X.indices, X.indptr = data, indices, indptr
        X.has_canonical_format = True
        return X

    @property
    def has_ids(self) -> bool:
        """Whether rows have names."""
        return bool(self.content.get("has_ids"))

    @cached_property
    def ids(self) -> Sequence[str]:
        """Name of each row, read from disk as needed; "1", "2", ... if none were given."""
        n = self.shape[0]
        if not self.has_ids:
            return arrays.Numbers(n)
        ids = arrays.StoredStrings(self.folder / "ids")
        _require(len(ids) == n)
        return ids

    def blocks(self) -> Iterator[sp.csr_array[Any]]:
        """Yield the rows in order, in blocks of about a million counts, none of which is kept.

        Counts have at least 32 bits, so that sums do not overflow.
        """
        data, indices, indptr = (
            arrays.ArrayReader(self.folder / f"{name}.npy")
            for name in ("data", "indices", "indptr")
        )
        for first in range(0, self.shape[0], BLOCK_ROWS):
            ends = indptr.read(first, min(first + BLOCK_ROWS, self.shape[0]) + 1).astype(np.int64)
            if ends[0] < 0 or ends[-1] > data.size or (ends[1:] < ends[:-1]).any():
                raise ReadError(_STORED_COUNTS_DAMAGED, path=str(self.folder))
            at = 0
            while at < len(ends) - 1:
                stop = int(np.searchsorted(ends, ends[at] + BLOCK_VALUES, "right")) - 1
                stop = max(at + 1, stop)
                a, b = int(ends[at]), int(ends[stop])
                values = data.read(a, b)
                if values.dtype.itemsize < 4:
                    values = values.astype(np.int32)
                pointers = (ends[at : stop + 1] - a).astype(np.int32)
                shape = (stop - at, self.shape[1])
                block = sp.csr_array((values, indices.read(a, b), pointers), shape=shape)
                self.check(block)
                block.has_canonical_format = True
                yield block
                at = stop

    def in_memory(self) -> sp.csr_array[Any]:
        """Return all rows in memory; counts have at least 32 bits."""
        data, indices, indptr = (
            np.array(part) for part in (self.X.data, self.X.indices, self.X.indptr)
        )
        if data.itemsize < 4:
            data = data.astype(np.int32)
        X = sp.csr_array((data, indices, indptr), shape=self.shape)
        self.check(X)
        return X

    def check(self, X: sp.csr_array[Any]) -> None:
        """Raise ``ReadError`` if some rows are not as they were written.

        Parameters
        ----------
        X : csr_array
            Rows that were read into memory.
        """
        try:
            check_structure(X)
            within = np.ones(len(X.indices), dtype=bool)
            starts = X.indptr[:-1]
            within[starts[starts < len(within)]] = False
            _require(bool((X.indices[1:] > X.indices[:-1])[within[1:]].all()))
            # Missing cells of records are NaN.
            _require(not bool((X.data <= 0).any() or np.isinf(X.data).any()))
        except (InvalidDataError, ValueError) as error:
            raise ReadError(_STORED_COUNTS_DAMAGED, path=str(self.folder)) from error

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        n, d = self.shape
        return f"StoredCounts({str(self.folder)!r}, {n:,} rows, {d:,} columns)"


class CountsWriter:
    """Appends rows of counts to the arrays in a folder; memory is that of a batch.

    Parameters
    ----------
    folder : Path
        An empty folder.
    n_columns : int, default=MAX_COLUMNS
        Number of columns of every batch.
    """

    def __init__(self, folder: Path, n_columns: int = MAX_COLUMNS) -> None:
        self._folder, self._d, self._n = folder, n_columns, 0
        self._end = 0
        with ExitStack() as stack:
            enter = stack.enter_context
            self._data = enter(arrays.ArrayWriter(folder / "data.npy", np.uint8))
            self._indices = enter(arrays.ArrayWriter(folder / "indices.npy", np.int32))
            self._indptr = enter(arrays.ArrayWriter(folder / "indptr.npy", np.int32))
            self._indptr.append(np.zeros(1, np.int32))
            self._ids: arrays.StringsWriter | None = None
            self._stack = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def append(self, X: Any, ids: Iterable[str] | None = None) -> None:
        """Add rows: counts >= 0 in a dense or sparse matrix, and their names, for all or none."""
        X = as_csr(X)
        if X.shape[1] != self._d:
            raise InvalidDataError(
                "[batch_of_other_columns] a batch has {found:~column}, the first one {needed:,}; "
                "batches are rows of one table",
                found=X.shape[1],
                needed=self._d,
            )
        if not X.has_canonical_format or not X.data.all():
            X = X.copy()
            X.sum_duplicates()
            X.eliminate_zeros()
        dtype = _narrowest(X.data)
        if _TYPES.index(dtype) > _TYPES.index(self._data.dtype):
            self._data.widen(dtype)
        self._data.append(X.data)
        self._indices.append(X.indices)
        ends = X.indptr[1:].astype(np.int64) + self._end
        self._end += X.nnz
        if self._end > np.iinfo(np.int32).max:
            self._indptr.widen(np.int64)
        self._indptr.append(ends)
        if ids is not None and not self._n and self._ids is None:
            self._ids = self._stack.enter_context(arrays.StringsWriter(self._folder / "ids"))
        if (ids is None) != (self._ids is None):
            raise InvalidDataError(
                "some rows have ids and others do not; give ids for all rows or for none"
            )
        if ids is not None and self._ids is not None:
            given = list(ids)
            check_lengths(X.shape[0], "row", ids=given)
            self._ids.extend(given)
        self._n += X.shape[0]

    def finish(self, feature_names: Sequence[str] | None = None) -> None:
        """Write everything to disk, and then the mark that the folder is finished."""
        for file in (self._data, self._indices, self._indptr, self._ids):
            if file is not None:
                file.finish()
        names = None if feature_names is None else list(map(str, feature_names))
        check_lengths(self._d, "column", feature_names=names)
        values = {
            "format": _FORMAT,
            "version": 1,
            "shape": [self._n, self._d],
            "n_stored": self._end,
            "has_ids": self._ids is not None,
            "feature_names": names,
        }
        with (self._folder / MARK).open("x", encoding="utf-8") as mark:
            json.dump(values, mark, ensure_ascii=False, indent=1)
            mark.flush()
            os.fsync(mark.fileno())


def store_counts(
    batches: Any,
    folder: str | PathLike[str],
    *,
    feature_names: Sequence[str] | NDArray[Any] | None = None,
    ids: Sequence[str] | None = None,
) -> StoredCounts:
    """Write counts to a folder, batch by batch, to fit models to more than fits in memory.

    Parameters
    ----------
    batches : iterable of {ndarray, sparse matrix or array} of shape (n_rows, n_columns)
        Counts >= 0 of consecutive rows; or one matrix.
    folder : str or path-like
        The folder to make. It appears only when it is complete: an error, a full disk or a killed
        process leaves nothing under this name.
    feature_names : sequence of str of shape (n_columns,), default=None
        Names of the columns, such as words.
    ids : sequence of str of shape (n_rows,), default=None
        Names of the rows; None numbers them from 1.

    Returns
    -------
    StoredCounts
        The counts on disk.

    Raises
    ------
    InvalidDataError
        If a batch is not a matrix of finite counts >= 0 with the columns of the first, or the
        number of names is wrong.
    ReadError
        If the folder exists already.
    MomentreeError
        If the folder cannot be written, for instance because the disk is full.

    Notes
    -----
    Memory: a batch. Disk: 5 bytes per stored count up to 255, 4 per row.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from momentree import SingleTopicModel
    >>> from momentree.datasets import store_counts
    >>> rng = np.random.default_rng(0)
    >>> topics = np.kron(np.eye(2), np.ones(5)) * 0.18 + 0.01
    >>> batches = (rng.multinomial(50, topics[rng.integers(2, size=100)]) for _ in range(3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     stored = store_counts(batches, f"{folder}/counts")
    ...     stored, SingleTopicModel(2).fit(stored.X).weights_.round(1).tolist()
    (StoredCounts('...', 300 rows, 10 columns), [0.5, 0.5])
    """
    checked = map(check_counts, (batches,) if hasattr(batches, "shape") else batches)
    with new_folder(Path(folder)) as place:
        first = next(checked, None)
        if first is None:
            raise InvalidDataError(
                "[no_batches] there are no batches; expected at least one matrix of counts"
            )
        with CountsWriter(place, first.shape[1]) as writer:
            n = 0
            for X in chain([first], checked):
                writer.append(X, None if ids is None else ids[n : n + X.shape[0]])
                n += X.shape[0]
            check_lengths(n, "row", ids=ids)
            writer.finish(None if feature_names is None else list(feature_names))
    return StoredCounts.open(folder)


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Make a folder to write to, and give it its name only if the block succeeds."""
    if target.exists():
        raise ReadError(
            "[folder_exists] {path} exists already; remove it, or give another name",
            path=str(target),
        )
    try:
        with staging(target.parent) as hidden:
            place = hidden / "new"
            place.mkdir()
            yield place
            place.replace(target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise MomentreeError(wording.CANNOT_STORE, path=str(target), reason=reason) from error


def _require(sound: bool) -> None:
    if not sound:
        raise ValueError


def _narrowest(data: NDArray[Any]) -> np.dtype[Any]:
    """Return the narrowest type of a file that has room for counts."""
    most = data.max(initial=0)
    if data.dtype.kind == "f" and (data != np.floor(data)).any():
        return _TYPES[-1]
    return next((kind for kind in _TYPES[:-1] if most <= np.iinfo(kind).max), _TYPES[-1])
