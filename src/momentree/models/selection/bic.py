"""The number of components by the BIC of fitted models."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from momentree._validation import check_integer
from momentree.exceptions import ConvergenceWarning

_PATIENCE = 3
"""Stop after so many numbers in a row without a lower BIC."""


def lowest_bic(
    estimator: Any,
    X: Any,
    *,
    largest: int = 20,
    min_samples: int = 0,
    bic: Callable[[Any], float] | None = None,
    progress: Callable[[int], object] | None = None,
    **fit_params: Any,
) -> tuple[Any, list[float]]:
    """Fit models with 1, 2, ... components, and return the one of lowest BIC.

    Stops after three numbers in a row without a lower BIC. A fit that finds fewer components, or
    stops before convergence, does not warn.

    Parameters
    ----------
    estimator : flat model
        With a parameter ``n_components`` and a method ``bic``; it is cloned, not fitted.
    X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
        Samples, as for ``estimator.fit``.
    largest : int >= 1, default=20
        Largest number of components; at most n_samples are tried.
    min_samples : int >= 0, default=0
        Fits with a component of fewer samples do not count: a few almost equal samples may be very
        likely, but describe nothing else. One component always counts.
    bic : callable, default=None
        Returns the BIC of a fitted model; None is ``estimator.bic`` of X.
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
    best, best_k, bics = None, 0, list[float]()
    for k in range(1, min(largest, np.shape(X)[0]) + 1):
        if progress is not None:
            progress(k)
        model = clone(estimator).set_params(n_components=k)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, **fit_params)
        bics.append(float(model.bic(X) if bic is None else bic(model)))
        sizes = np.bincount(model.labels_, minlength=len(model.weights_))
        if best is None or (bics[-1] < bics[best_k - 1] and sizes.min() >= min_samples):
            best, best_k = model, k
        elif k >= best_k + _PATIENCE:
            break
    return best, bics
