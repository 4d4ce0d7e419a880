"""The number of components by the BIC of fitted models."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from momentree._fit import warn_caller
from momentree._validation import check_integer
from momentree.core.ties import exceeds
from momentree.exceptions import ConvergenceWarning

MOST_COMPONENTS = 30
"""Largest number of components that is tried."""
FEW_SAMPLES = 5
"""Components of fewer samples may be outliers, as the leaves of a :class:`ClusterTree`."""
_PATIENCE = 3
"""Stop after so many numbers in a row without a lower BIC."""

F = TypeVar("F")


def guarded_search(
    fit: Callable[[int], tuple[F, float, ArrayLike]], largest: int, min_samples: float
) -> tuple[F, list[int], list[float]]:
    """Fit 1, 2, ... components until BIC has not fallen three times in a row.

    `fit` returns a fit, its BIC and the sizes of its components. Fits with a component of fewer
    than `min_samples` do not count, but one component always does. Returns the fit of lowest BIC,
    of equal ones the smallest; the numbers whose BIC is below those of all smaller ones, ascending;
    and the BIC of all.
    """
    best, lowest, _ = fit(1)
    bics, lower = [lowest], [1]
    for k in range(2, largest + 1):
        found, bic, sizes = fit(k)
        bics.append(bic)
        if exceeds(lowest, bic) and np.min(sizes) >= min_samples:
            best, lowest = found, bic
            lower.append(k)
        elif k >= lower[-1] + _PATIENCE:
            break
    return best, lower, bics


def lowest_bic(
    estimator: Any,
    X: Any,
    *,
    largest: int = MOST_COMPONENTS,
    min_samples: int = FEW_SAMPLES,
    progress: Callable[[int], object] | None = None,
    **fit_params: Any,
) -> tuple[Any, list[float]]:
    """Fit models with 1, 2, ... components, and return the one of lowest BIC.

    Stops after three numbers in a row without a lower BIC. Of the warnings of the fits, only those
    of the best are issued, but not that it has fewer components or did not converge.

    Parameters
    ----------
    estimator : flat model
        With a parameter ``n_components`` and a method ``bic``; it is cloned, not fitted.
    X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
        Samples, as for ``estimator.fit``.
    largest : int >= 1, default=30
        Largest number of components; at most n_samples are tried.
    min_samples : int >= 0, default=5
        Fits with a component of fewer samples do not count: a few almost equal samples may be very
        likely, but describe nothing else. One component always counts.
    progress : callable, default=None
        Called as ``progress(n_components)`` before each fit.
    **fit_params
        Further arguments of ``fit``.

    Returns
    -------
    model
        The fitted model; of equal ones the smallest.
    bics : list of float
        The BIC with 1, 2, ... components, as far as they were tried.

    Raises
    ------
    InvalidParameterError
        If `largest` is below 1, or `min_samples` below 0.
    InvalidDataError
        If ``fit`` refuses X.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.models import BernoulliMixture, lowest_bic
    >>> X = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], 50, axis=0)
    >>> model, bics = lowest_bic(BernoulliMixture(), X)
    >>> model.n_components, len(bics)
    (2, 5)
    """
    check_integer("largest", largest, at_least=1)
    check_integer("min_samples", min_samples, at_least=0)

    def fit(k: int) -> tuple[Any, float, ArrayLike]:
        if progress is not None:
            progress(k)
        model = clone(estimator).set_params(n_components=k)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, **fit_params)
        sizes = np.bincount(model.labels_, minlength=len(model.weights_))
        return (model, caught), float(model.bic(X)), sizes

    (best, caught), _, bics = guarded_search(fit, min(largest, np.shape(X)[0]), min_samples)
    for warning in caught:
        if isinstance(warning.message, Warning) and warning.category is not ConvergenceWarning:
            warn_caller(warning.message)
    return best, bics
