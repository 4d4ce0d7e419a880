"""T eq. 6.5 and 6.6: raw moments of rows, without a model, for T Algorithm 5."""

from __future__ import annotations

from typing import ClassVar

from momentree.moments.sample_means import SampleMeans


class RawMoments(SampleMeans):
    """Estimate the raw moments of rows.

    With v the sample weights, scaled to sum 1,

        M1 = sum v x,     M2 = sum v x x^T,     M3 = sum v x (x) x (x) x.

    If a group of features occurs together in some rows and is absent from others, a common
    rotation of the whitened slices finds it for any distribution of the rows (T section 6.2).

    Parameters
    ----------
    rows : Rows of shape (n, d)
        Nonnegative values.
    sample_weight : row array of shape (n,)
        Weights >= 0, not all zero.

    Notes
    -----
    T Algorithm 5, line 1. Time and memory as for :class:`momentree.moments.FactorialMoments`.

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, Universitat Politècnica de Catalunya, 2019. Section 6.2.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.moments import RawMoments
    >>> RawMoments.from_data(np.array([[2, 0], [0, 2]])).m2 @ np.eye(2)
    array([[2., 0.],
           [0., 2.]])
    """

    _count_per_token: ClassVar[float] = 0.0
