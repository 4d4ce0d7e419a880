"""Read matrices written by ``scipy.sparse.save_npz``, without trusting the file."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from momentree.core.container import DAMAGE, StoredArrays
from momentree.core.sparse import check_structure
from momentree.exceptions import InvalidDataError, MomentreeError, ReadError
from momentree.readers.counts._raw import RawCounts


def read_npz(path: Path) -> RawCounts:
    """Read a SciPy sparse matrix; nothing is unpickled."""
    try:
        with zipfile.ZipFile(path) as archive:
            X = _sparse_matrix(StoredArrays(archive, path))
        if X.dtype.kind in "biuf":
            check_structure(X)  # an index out of range would crash compiled code
    except ReadError:
        raise
    except DAMAGE as error:
        problem = error.message if isinstance(error, MomentreeError) else _in_one_line(error)
        raise ReadError("npz_damaged", path=str(path), problem=problem) from error
    except OSError as error:
        raise ReadError("unreadable_path", path=str(path), error=error.strerror) from error
    return RawCounts(X)


def _in_one_line(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


def _sparse_matrix(arrays: StoredArrays) -> Any:
    """Build a matrix as ``scipy.sparse.load_npz`` does, without checking its structure."""
    form = arrays["format"].item()
    form = form.decode("ascii") if isinstance(form, bytes) else form
    shape = tuple(arrays["shape"].tolist())
    if len(shape) != 2:
        raise InvalidDataError("npz_shape", shape=list(shape))
    where: Any
    if form in ("csr", "csc", "bsr"):
        where = [arrays["indices"], arrays["indptr"]]
    elif form == "dia":
        where = [arrays["offsets"]]
    elif form == "coo":
        where = [tuple(arrays["coords"] if "coords" in arrays else (arrays["row"], arrays["col"]))]
    else:
        raise InvalidDataError("npz_format", format=str(form))
    return getattr(sp, f"{form}_array")((arrays["data"], *where), shape=shape)
