"""A table of fits with different numbers of groups, as in latent class analysis."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from momentree._validation import check_integer
from momentree.exceptions import ConvergenceWarning, InvalidParameterError
from momentree.metrics import classification_table, stability_score

if TYPE_CHECKING:
    import pandas as pd


def compare_fits(
    estimator: Any,
    X: Any,
    candidates: Iterable[int] | None = None,
    *,
    stability: int = 0,
    progress: Callable[[int], object] | None = None,
    feature_names: Sequence[str] | NDArray[Any] | None = None,
) -> pd.DataFrame:
    """Fit different numbers of groups, and compare the fits.

    With p free parameters and log-likelihood L of n records:

        AIC = 2 p - 2 L,   BIC = p log n - 2 L,   adjusted BIC = p log((n + 2) / 24) - 2 L.

    k groups of binary records, in which the d codes are independent, have p = k d + k - 1.

    Parameters
    ----------
    estimator : BernoulliMixture, GaussianMixture, MixedMixture or ClusterTree
        It is cloned, not fitted. For a tree, each row is the tree grown to this number of leaves,
        as with ``max_leaf_nodes``, and L that of the mixture of its leaves
        (:meth:`ClusterTree.score_samples`).
    X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
        Records, as for ``estimator.fit``.
    candidates : iterable of int >= 1, default=None
        Numbers of groups to fit, in any order; None means 1 to 10. Those above n_samples are left
        out.
    stability : int >= 0, default=0
        Number of repeats of :func:`momentree.metrics.stability_score` for each candidate; 0
        measures no stability, because each repeat needs two more fits.
    progress : callable, default=None
        Called as ``progress(n_groups)`` before each fit.
    feature_names : sequence of str of shape (n_features,), default=None
        Column names, as for ``estimator.fit``.

    Returns
    -------
    DataFrame
        One row per candidate, in ascending order, with columns "n_groups" (requested), "found"
        (groups found), "log_likelihood" (nats), "n_parameters", "aic", "bic", "adjusted_bic",
        "entropy" (relative, see :func:`momentree.metrics.classification_table`; NaN for one group),
        "smallest" (records in the smallest group), "stability" (mean adjusted Rand index; NaN for
        one group or if not measured) and "converged". Smaller criteria are
        better, larger entropies and stabilities.

    Raises
    ------
    InvalidParameterError
        If there is no candidate, one is below 1, or `stability` is below 0.
    InvalidDataError
        If ``fit`` refuses X.

    Notes
    -----
    BIC [1] prefers fewer groups than the adjusted one [2] and AIC. A likelihood-ratio test between
    numbers of groups is not given: its distribution is not a chi-squared one.

    References
    ----------
    .. [1] G. Schwarz. Estimating the dimension of a model. Annals of Statistics 6, 1978.
    .. [2] S. L. Sclove. Application of model-selection criteria to some problems in multivariate
       analysis. Psychometrika 52, 1987.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.models import BernoulliMixture, compare_fits
    >>> X = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], [60, 40], axis=0)
    >>> fits = compare_fits(BernoulliMixture(), X, range(1, 3))
    >>> fits[["n_groups", "n_parameters", "smallest"]].to_numpy().tolist()
    [[1, 4, 100], [2, 9, 40]]
    >>> int(fits.n_groups[fits.bic.idxmin()])
    2
    """
    import pandas as pd

    check_integer("stability", stability, at_least=0)
    given = range(1, 11) if candidates is None else list(candidates)
    for k in given:
        check_integer("candidates", k, at_least=1)
    n = int(np.shape(X)[0])
    numbers = sorted({k for k in given if k <= n})
    if not numbers:
        raise InvalidParameterError("no_numbers_to_compare", n_rows=n)
    size = "max_leaf_nodes" if "max_leaf_nodes" in estimator.get_params() else "n_components"
    rows = []
    for k in numbers:
        if progress is not None:
            progress(k)
        model = clone(estimator).set_params(**{size: k})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, feature_names=feature_names)
            scores: Any = []
            if stability and k > 1:
                scores = stability_score(model, X, n_repeats=stability)
        P = model.predict_proba(X)
        likelihood = float(model.score_samples(X).sum())
        found = P.shape[1]
        p = getattr(model, "n_parameters_", found * (model.n_features_in_ + 1) - 1)
        entropy = classification_table(model.labels_, P).entropy if found > 1 else np.nan
        rows.append(
            {
                "n_groups": int(k),
                "found": found,
                "log_likelihood": likelihood,
                "n_parameters": p,
                "aic": 2.0 * p - 2.0 * likelihood,
                "bic": p * np.log(n) - 2.0 * likelihood,
                "adjusted_bic": p * np.log((n + 2.0) / 24.0) - 2.0 * likelihood,
                "entropy": entropy,
                "smallest": int(np.bincount(model.labels_, minlength=found).min()),
                "stability": float(np.mean(scores)) if len(scores) else np.nan,
                "converged": bool(model.converged_),
            }
        )
    return pd.DataFrame(rows)
