"""Types of arrays, for annotations."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]
