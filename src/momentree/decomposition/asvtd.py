"""ASVTD: approximate SVTD of the raw moments of binary data (T Algorithm 2)."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from momentree.decomposition.svtd import svtd
from momentree.moments import BernoulliMoments
from momentree.objects import Decomposition


def asvtd(
    X: Any,
    n_components: int,
    *,
    sample_weight: ArrayLike | None = None,
    feature: int | None = None,
) -> Decomposition:
    """Find approximate components of a mixture of Bernoulli variables by ASVTD.

    This is SVTD of the raw moments of the data, with slices H_i = z^T diag(x_i) z / n of the
    whitened data z = x (E^+)^T. The d x d x d tensor is never formed.

    Parameters
    ----------
    X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
        0 or 1; NaN for a missing value (stored explicitly in a sparse matrix).
    n_components : int >= 1
        Number of components k.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights >= 0; None is 1 each.
    feature : int in [0, d) or None, default=None
        Feature whose slice gives the rotation; None selects one as in :func:`svtd`.

    Returns
    -------
    Decomposition
        As in :func:`svtd`. Centers are biased and may lie outside [0, 1]: use them to start EM.

    Raises
    ------
    InvalidDataError
        If X contains values other than 0, 1 and NaN, or `sample_weight` is invalid.
    InvalidParameterError
        If `n_components` is not a whole number of at least 1, or `feature` is not a feature.

    See Also
    --------
    momentree.moments.BernoulliMoments : The raw moments.
    momentree.BernoulliMixture : ASVTD and EM, with ``decomposition="svtd"`` and
        ``start="raw_moments"``.

    Notes
    -----
    Algorithm 2 of [1]. Deviations: eigenvectors instead of singular vectors (see :func:`svtd`), and
    negative weights are set to zero. Time and memory as for :func:`svtd`.

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, Universitat Politècnica de Catalunya, 2019. Algorithm 2.

    Examples
    --------
    >>> from momentree.datasets import make_bernoulli_mixture
    >>> from momentree.decomposition import asvtd
    >>> means = [[0.9] * 5 + [0.1] * 15, [0.1] * 10 + [0.8] * 10]
    >>> sample = make_bernoulli_mixture(
    ...     5000, 20, 2, weights=[0.6, 0.4], means=means, random_state=0
    ... )
    >>> asvtd(sample.X, 2).weights.round(1)
    array([0.6, 0.4])
    """
    moments = BernoulliMoments.from_data(X, sample_weight=sample_weight)
    return svtd(moments, n_components, feature=feature)
