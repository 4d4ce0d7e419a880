"""Split the features of one matrix into three views at random (T section 4.5, experiment 2)."""

from __future__ import annotations

import numpy as np

from momentree._types import Ints
from momentree._validation import check_integer, generator


def split_views(
    n_features: int, random_state: int | np.random.RandomState | None = None
) -> tuple[Ints, Ints, Ints]:
    """Split features at random into three views whose sizes differ by at most one.

    Parameters
    ----------
    n_features : int >= 3
        Number of features d.
    random_state : int, RandomState or None, default=None
        Seed of the split; None is the same as 0.

    Returns
    -------
    tuple of three ndarrays of int
        Columns of each view, ascending; each column is in exactly one view.

    Raises
    ------
    InvalidParameterError
        If `n_features` is not a whole number of at least 3, or `random_state` is not a random
        state.

    Notes
    -----
    The results of multiview methods depend on the split (T section 4.5, experiment 2).

    Examples
    --------
    >>> from momentree.moments import split_views
    >>> [part.tolist() for part in split_views(7)]
    [[1, 2, 6], [0, 3], [4, 5]]
    """
    check_integer("n_features", n_features, at_least=3)
    order = generator(random_state).permutation(int(n_features))
    one, two, three = (np.sort(part).astype(np.intp) for part in np.array_split(order, 3))
    return one, two, three
