"""Three views: features of one matrix split at random, and checks of what is given as views."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momentree._validation import as_floats, check_missing, generator
from momentree.exceptions import InvalidDataError, InvalidParameterError

__all__ = ["checked_means", "checked_views", "split_views"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


def split_views(
    n_features: int, random_state: int | np.random.RandomState | None = None
) -> tuple[Ints, Ints, Ints]:
    """Split features at random into three views of the same size, but for one feature.

    Parameters
    ----------
    n_features : int >= 3
        Number of features d.
    random_state : int, RandomState or None, default=None
        Draws the split; None is the same as 0.

    Returns
    -------
    tuple of three ndarrays of int
        Columns of each view, ascending; each column is in one of them.

    Raises
    ------
    InvalidDataError
        If there are fewer than three features.
    InvalidParameterError
        If `n_features` is no whole number, or `random_state` is none.

    Notes
    -----
    T section 4.5, experiment 2: what the answer is depends on the split.

    Examples
    --------
    >>> from momentree.moments import split_views
    >>> [part.tolist() for part in split_views(7)]
    [[1, 2, 6], [0, 3], [4, 5]]
    """
    if not isinstance(n_features, Integral) or isinstance(n_features, bool):
        msg = f"n_features={n_features!r}; expected a whole number, 3 or more"
        raise InvalidParameterError(msg)
    if n_features < 3:
        msg = f"{n_features} feature(s) do not make three views; three or more are needed"
        raise InvalidDataError(msg)
    order = generator(random_state).permutation(int(n_features))
    one, two, three = (np.sort(part).astype(np.intp) for part in np.array_split(order, 3))
    return one, two, three


def checked_views(views: Sequence[Any]) -> list[tuple[Any, Any | None]]:
    """Return three views of the same samples, each with its missing cells."""
    if len(views) != 3:
        msg = f"{len(views)} views; expected three, as split_views gives them"
        raise InvalidDataError(msg)
    checked = [check_missing(X) for X in views]
    if len({X.shape[0] for X, _ in checked}) > 1:
        rows = ", ".join(str(X.shape[0]) for X, _ in checked)
        msg = f"views have {rows} rows; all three must show the same samples"
        raise InvalidDataError(msg)
    return checked


def checked_means(weights: ArrayLike, means: Sequence[ArrayLike]) -> tuple[Floats, list[Floats]]:
    """Return weights (k,) that sum to 1 and three finite matrices of k rows."""
    w = as_floats("weights", weights)
    if w.ndim != 1 or not ((w >= 0).all() and np.isclose(w.sum(), 1.0, atol=1e-8)):
        msg = f"weights must be zero or more and sum to 1 (received: {w})"
        raise InvalidDataError(msg)
    mu = [as_floats("means", part) for part in means]
    if len(mu) != 3 or any(part.ndim != 2 or len(part) != len(w) for part in mu):
        shapes = [part.shape for part in mu]
        msg = f"means of shapes {shapes}; expected three of {len(w)} rows, one a component"
        raise InvalidDataError(msg)
    if not all(np.isfinite(part).all() for part in mu):
        msg = "means must be finite numbers"
        raise InvalidDataError(msg)
    return w, mu
