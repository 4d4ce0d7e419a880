"""Read counts that ``store_counts`` has written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from momentree.readers.counts._raw import RawCounts
from momentree.readers.stored.counts import MARK, StoredCounts


def is_stored(folder: Path) -> bool:
    """Return whether a folder contains counts, rather than other files of such a name."""
    return all((folder / name).is_file() for name in (MARK, "indptr.npy"))


def read_stored(mark: Path) -> RawCounts:
    """Read all counts of a folder, given the file that marks it, into memory."""
    stored = StoredCounts.open(mark.parent)
    arrays = (np.array(array) for array in (stored.X.data, stored.X.indices, stored.X.indptr))
    data, indices, indptr = arrays
    X = sp.csr_array((data, indices, indptr), shape=stored.shape)
    stored.check(X)
    names = None if stored.feature_names is None else list(map(str, stored.feature_names))
    return RawCounts(X, words=names, ids=list(stored.ids))
