"""Observation rates: how often each feature is observed when values are missing."""

from __future__ import annotations

from typing import Any

import numpy as np

from momentree._types import Floats
from momentree.exceptions import InvalidDataError


def observation_rates(missing: Any | None, sample_weight: Floats) -> Floats | None:
    """Return the weighted proportion of rows in which each feature is observed.

        p_i = sum of v_s / sum v over the rows s in which x_si is observed

    Parameters
    ----------
    missing : sparse matrix or array of shape (n_samples, n_features) or None
        1 where a value is missing; None if no value is missing.
    sample_weight : ndarray of shape (n_samples,)
        Weights v >= 0, not all zero.

    Returns
    -------
    ndarray of shape (n_features,) or None
        p in (0, 1]; None if no value is missing.

    Raises
    ------
    InvalidDataError
        If a feature is missing in every row of positive weight.

    Notes
    -----
    With missing values set to zero, x / p has the mean of the complete data, and so do products of
    different features, if values are missing independently of each other and of their own values.
    Time O(number of missing values).

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from momentree.preprocessing import observation_rates
    >>> missing = sp.csr_array(np.array([[0, 1], [0, 0], [0, 0], [0, 0]]))
    >>> observation_rates(missing, np.ones(4))
    array([1.  , 0.75])
    """
    if missing is None:
        return None
    v = sample_weight / sample_weight.sum()
    lost = np.asarray(missing.T @ v)
    # The sum of all weights may differ from 1 by rounding.
    never = np.flatnonzero(lost > 1 - 1e-12)
    if len(never):
        raise InvalidDataError("never_observed", column=int(never[0]), n_columns=len(never))
    return np.asarray(1.0 - lost)
