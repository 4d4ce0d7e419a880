"""How often each feature is observed, where values are missing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree.exceptions import InvalidDataError

__all__ = ["observation_rates"]

Floats = NDArray[np.float64]


def observation_rates(missing: Any | None, sample_weight: Floats) -> Floats | None:
    """Return the share of the weight of all rows in which each feature is observed.

        p_i = sum over rows s with x_si observed of v_s / sum v.

    Parameters
    ----------
    missing : sparse matrix or array of shape (n_samples, n_features) or None
        1 where a value is missing; None where none is.
    sample_weight : ndarray of shape (n_samples,)
        Weights v >= 0, not all zero.

    Returns
    -------
    ndarray of shape (n_features,) or None
        p in (0, 1]; None where no value is missing.

    Raises
    ------
    InvalidDataError
        If a feature is missing in every row of positive weight.

    Notes
    -----
    Where values go missing independently of the others and of their own value, x / p with the
    missing ones set to zero has the mean of x, and products of different features have the mean
    that they have without missing values. Time O(number of missing values).

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from momentree.moments import observation_rates
    >>> missing = sp.csr_array(np.array([[0, 1], [0, 0], [0, 0], [0, 0]]))
    >>> observation_rates(missing, np.ones(4))
    array([1.  , 0.75])
    """
    if missing is None:
        return None
    v = sample_weight / sample_weight.sum()
    lost = np.asarray(missing.T @ v)
    # A sum of weights may end a rounding error beside 1.
    never = np.flatnonzero(lost > 1 - 1e-12)
    if len(never):
        msg = (
            f"column {never[0]} is missing in every row of positive weight ({len(never)} such "
            "column(s)); a feature must be observed at least once: drop it"
        )
        raise InvalidDataError(msg)
    return np.asarray(1.0 - lost)
