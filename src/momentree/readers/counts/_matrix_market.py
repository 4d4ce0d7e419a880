r"""Read Matrix Market files, coordinate or array.

SciPy also has a reader, but damaged files crash it: SciPy 1.17.1 ends the process with a
segmentation fault on a file truncated inside an exponent,

    scipy.io.mmread(io.BytesIO(b"%%MatrixMarket matrix array real general\n1 1\n2.5e"))

and on a symmetric array of 1 row and 3,000 columns. It also reads the fraction 2.5 in a file of
integers as 2, and allocates the memory that the header declares. An open report describes a crash
on a valid file, with numbers of 22 digits: https://github.com/scipy/scipy/issues/19949
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.readers.counts._raw import RawCounts, fault_in_line, quoted
from momentree.readers.counts._triples import BOM, Header, read_lines, read_sizes
from momentree.readers.tables.files import open_bytes

BANNER = b"%%MatrixMarket"
_FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")


def read_matrix_market(path: Path) -> RawCounts:
    """Read a Matrix Market file; documents are its rows."""
    with open_bytes(path) as file:
        line = file.readline().removeprefix(BOM)
        layout, field, symmetry = _read_banner(path, line)
        number = 1
        while True:
            line, number = file.readline(), number + 1
            if not line or (line.strip() and not line.startswith(b"%")):
                break
        dense, symmetric = layout == "array", symmetry == "symmetric"
        sizes = read_sizes(line, 2 if dense else 3)
        if sizes is None:
            code = "array_sizes" if dense else "coordinate_sizes"
            raise fault_in_line(path, number, Message(code, found=quoted(line)))
        n, d = sizes[:2]
        if symmetric and n != d:
            problem = Message("symmetric_not_square", n_rows=n, n_columns=d)
            raise fault_in_line(path, number, problem)
        n_lines = (n * (n + 1) // 2 if symmetric else n * d) if dense else sizes[2]
        place = () if dense else ("document", "word")
        value = () if field == "pattern" else ("count",)
        real = field in ("real", "double")
        columns = read_lines(path, file, Header(n, d, n_lines, number, (*place, *value), real))
    if dense:
        # Values are in column order; in a symmetric matrix, columns start at the diagonal.
        j, i = np.triu_indices(n) if symmetric else np.divmod(np.arange(n * d), n)
    else:
        i, j = columns[0] - 1, columns[1] - 1
    counts = columns[-1] if value else np.ones(len(i), dtype=np.int32)
    if symmetric:
        off = i != j
        i, j = np.concatenate([i, j[off]]), np.concatenate([j, i[off]])
        counts = np.concatenate([counts, counts[off]])
    return RawCounts(sp.coo_array((counts, (i, j)), shape=(n, d)))


def _read_banner(path: Path, line: bytes) -> list[str]:
    """Return layout, field and symmetry from the first line."""
    words = line.decode("ascii", "replace").lower().split()
    if len(words) != 5 or words[0] != BANNER.decode().lower() or words[1] != "matrix":
        raise fault_in_line(path, 1, Message("matrix_market_banner", found=quoted(line)))
    layout, field, symmetry = words[2:]
    if field == "complex":
        raise InvalidDataError("complex_counts", path=str(path))
    if (
        layout not in ("coordinate", "array")
        or field not in _FIELDS
        or symmetry not in ("general", "symmetric")
        or (layout, field) == ("array", "pattern")
    ):
        raise fault_in_line(path, 1, Message("matrix_market_form", found=quoted(line)))
    return words[2:]
