"""SVTD: singular value-based tensor decomposition (S Algorithm 1), and ASVTD (T Algorithm 2)."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from momentree._types import Floats
from momentree._validation import check_integer
from momentree.core.ties import largest
from momentree.decomposition._result import TINY, from_centers, whitening_for
from momentree.messages import Message
from momentree.moments import BernoulliMoments
from momentree.objects import Decomposition, Moments, Whitening

CHUNK = 1 << 22
"""Number of entries of slices whose eigenvalues are computed at once: 32 MB."""
SMALL_ALPHA = 1e-3
"""Relative to the range of eigenvalues: noise of 0.1% may reorder closer eigenvalues."""


def svtd(
    moments: Moments,
    n_components: int,
    *,
    random_state: int | np.random.RandomState | None = None,  # noqa: ARG001
    whitening: Whitening | None = None,
    feature: int | None = None,
) -> Decomposition:
    """Find components by SVTD: the eigenvectors of one whitened slice diagonalize all slices.

    With H[r] = W M3[r] W^T = O diag(mu_r1, ..., mu_rk) O^T for one feature r, row i of M is the
    diagonal of O^T H[i] O, and omega solves M omega = M1.

    Parameters
    ----------
    moments : Moments
        Moments of any model (``m1``, ``m2``, ``whitened_slices``).
    n_components : int >= 1
        Number of components k.
    random_state : int, RandomState or None, default=None
        Ignored: SVTD is deterministic.
    whitening : Whitening, default=None
        A whitening of these moments for at least k components; None computes one.
    feature : int in [0, d) or None, default=None
        The feature r. None selects the feature with the largest minimum difference of eigenvalues,
        alpha_r = min_{i != j} |mu_ri - mu_rj|.

    Returns
    -------
    Decomposition
        Adds these diagnostics: "feature" (r), "alpha_r" (infinite for k = 1), "clipped_weights"
        (number of negative weights, set to zero).

    Raises
    ------
    InvalidParameterError
        If `n_components` is not a whole number of at least 1 or exceeds that of `whitening`, or
        `feature` is not a feature.

    Notes
    -----
    Algorithm 1 of [1] with r chosen as in its Remark 7; exact if the entries of row r of M are
    distinct (Theorem 4 of [1]). Deviation: eigenvalues and eigenvectors of the slices replace
    singular values and vectors. For exact moments of a nonnegative M they agree up to sign, and r
    is the same; if M has negative entries, the eigenvalues are correct. Estimated slices also have
    negative eigenvalues, so that r may differ from that of [1] on a sample. Time: one whitening,
    one pass over the data, O(d k^3); memory O(d k^2).

    References
    ----------
    .. [1] M. Ruffini, M. Casanellas, R. Gavaldà. A new method of moments for latent variable
       models. Machine Learning 107, 1431–1455, 2018. doi:10.1007/s10994-018-5706-4. Algorithm
       1, Theorem 4, Remark 7.

    Examples
    --------
    >>> from momentree.decomposition import svtd
    >>> from momentree.moments import SingleTopicMoments
    >>> moments = SingleTopicMoments.from_parameters([0.6, 0.4], [[0.7, 0.3], [0.1, 0.9]])
    >>> svtd(moments, 2).centers.T.round(6)
    array([[0.7, 0.3],
           [0.1, 0.9]])
    """
    white = whitening_for(moments, n_components, whitening)
    d = moments.m1.shape[0]
    check_integer("feature", feature, at_least=0, at_most=d - 1, optional=True)
    k = white.rank
    H = moments.whitened_slices(white.W) if k else np.zeros((d, 0, 0))
    alpha = _smallest_differences(H if feature is None else H[[feature]])
    r = int(largest(alpha)) if feature is None else int(feature)
    alpha_r = float(alpha.max())
    values, R = np.linalg.eigh(H[r])
    M = np.einsum("rab,ai,bi->ri", H, R, R, optimize=True)
    warnings = []
    if k > 1 and alpha_r < SMALL_ALPHA * max(float(np.ptp(values)), TINY):
        warnings.append(
            Message(
                "[components_not_distinct] Even the best feature, {feature}, barely distinguishes "
                "two of the components (alpha_r = {alpha_r:.2g}): use sidiwo, which uses all "
                "features, or fewer components.",
                feature=r,
                alpha_r=alpha_r,
            )
        )
    T = np.asarray(np.tensordot(white.W, H, 1))
    return from_centers(moments, white, M, T, {"feature": r, "alpha_r": alpha_r}, warnings)


def _smallest_differences(H: Floats) -> Floats:
    """Return the smallest difference between two eigenvalues of each slice."""
    d, k, _ = H.shape
    step = max(1, CHUNK // max(k * k, 1))
    parts = [np.linalg.eigvalsh(H[at : at + step]) for at in range(0, d, step)]
    return np.asarray(np.diff(np.concatenate(parts), axis=1).min(axis=1, initial=np.inf))


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
