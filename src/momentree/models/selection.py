"""Choose the number of components by BIC, and compare fits."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from momentree._types import Ints
from momentree._validation import check_integer
from momentree.core.ties import exceeds
from momentree.exceptions import ConvergenceWarning, InvalidParameterError
from momentree.metrics import classification_table, stability_score
from momentree.tree.selection import ComponentChoice, choose_n_components

__all__ = [
    "ComponentChoice",
    "StatesFit",
    "choose_n_components",
    "compare_fits",
    "compare_states",
]


if TYPE_CHECKING:
    import pandas as pd


MAX_COMPONENTS = 30
"""Largest number of components that is tried."""
FEW_SAMPLES = 5
"""Components of fewer samples may be outliers, as the leaves of a :class:`ClusterTree`."""
MAX_GROUPS_WITHOUT_GAIN = 3
"""Stop after so many numbers in a row without a lower BIC."""

F = TypeVar("F")


def guard_search(
    fit: Callable[[int], tuple[F, float, ArrayLike]],
    numbers: Sequence[int],
    min_samples: float,
    patience: int = MAX_GROUPS_WITHOUT_GAIN,
) -> tuple[F, list[int], list[float]]:
    """Fit ascending numbers of components until BIC has not fallen `patience` times in a row.

    `fit` returns a fit, its BIC and the sizes of its components. Fits with a component of fewer
    than `min_samples` do not count, but the first always does. Returns the fit of lowest BIC, of
    equal ones the smallest; the numbers whose BIC is below those of all smaller ones, ascending;
    and the BIC of all.
    """
    best, lowest, _ = fit(numbers[0])
    bics, lower, waited = [lowest], [numbers[0]], 0
    for k in numbers[1:]:
        candidate, bic, sizes = fit(k)
        bics.append(bic)
        if exceeds(lowest, bic) and np.min(sizes) >= min_samples:
            best, lowest, waited = candidate, bic, 0
            lower.append(k)
        else:
            waited += 1
            if waited == patience:
                break
    return best, lower, bics


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
        raise InvalidParameterError(
            "[no_numbers_to_compare] {parameters.candidates} contains no number of groups up to "
            "{n_rows:~record}; give numbers from 1 to the number of records",
            n_rows=n,
        )
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


MAX_STATES_WITHOUT_GAIN = 2
"""Stop after so many numbers of states in a row without a lower BIC."""


@dataclass(frozen=True)
class StatesFit:
    """How well a model describes sequences.

    Attributes
    ----------
    kind : {"independent", "states", "chain"}
        Steps that do not depend on each other; a hidden Markov model; or a Markov chain, in which
        the next code depends on the present code.
    n_states : int
        Number of states; for a chain, of codes.
    n_parameters : int
        Number p of free parameters.
    log_likelihood : float
        Total log-likelihood L in nats.
    bic : float
        p log n - 2 L for n steps: lower is better.
    """

    kind: Literal["independent", "states", "chain"]
    n_states: int
    n_parameters: int
    log_likelihood: float
    bic: float


def compare_states(
    estimator: Any,
    X: ArrayLike,
    lengths: ArrayLike,
    candidates: Iterable[int],
    *,
    progress: Callable[[int], object] | None = None,
) -> tuple[Any, list[StatesFit]]:
    """Fit hidden Markov models, and return the one of lowest BIC with a table of all.

    The candidates are tried in ascending order, until two in a row have not lowered the BIC.

    Parameters
    ----------
    estimator : CategoricalHMM
        It is cloned, not fitted.
    X : array-like of int of shape (n_samples,)
        Symbol of each step, 0 to d - 1, sequence after sequence.
    lengths : array-like of int of shape (n_sequences,)
        Number of steps of each sequence.
    candidates : iterable of int >= 2
        Numbers of states to try.
    progress : callable, default=None
        Called as ``progress(n_states)`` before each fit.

    Returns
    -------
    model
        The fitted model of lowest BIC; of equal ones the smallest.
    fits : list of StatesFit
        Independent steps, the models tried by number of states, and a Markov chain of the d codes:
        d - 1, (k - 1) + k (k - 1) + k (d - 1), and (d - 1) + d (d - 1) parameters.

    Raises
    ------
    InvalidParameterError
        If there are no candidates, or one is below 2.
    InvalidDataError
        If ``fit`` refuses X.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.models import CategoricalHMM, compare_states
    >>> steps = np.tile([0, 0, 0, 0, 1, 1, 1, 1, 0, 1], 60)
    >>> model, fits = compare_states(CategoricalHMM(), steps, np.full(60, 10), [2])
    >>> [(fit.kind, fit.n_parameters) for fit in fits]
    [('independent', 1), ('states', 5), ('chain', 3)]
    """
    numbers = sorted(set(candidates))
    if not numbers:
        raise InvalidParameterError(
            "[no_candidates_of_states] {parameters.candidates} is empty; expected numbers of "
            "states, such as 2 to 10"
        )
    for k in numbers:
        check_integer("candidates", k, at_least=2)
    symbols, sizes = np.asarray(X).ravel(), np.asarray(lengths)
    fits = []

    def fit(k: int) -> tuple[Any, float, ArrayLike]:
        if progress is not None:
            progress(k)
        model = clone(estimator).set_params(n_components=k).fit(symbols, sizes)
        likelihood = float(model.score(symbols, sizes))
        fits.append(_fit("states", k, model._n_parameters, likelihood, len(symbols)))
        return model, fits[-1].bic, [len(symbols)]

    best, _, _ = guard_search(fit, numbers, 0, MAX_STATES_WITHOUT_GAIN)
    return best, [_independent(symbols), *fits, _chain(symbols, sizes)]


def _fit(kind: Any, k: int, n_parameters: int, log_likelihood: float, n: int) -> StatesFit:
    return StatesFit(
        kind, k, n_parameters, log_likelihood, n_parameters * float(np.log(n)) - 2 * log_likelihood
    )


def _independent(symbols: Ints) -> StatesFit:
    d = int(symbols.max()) + 1
    found = _log_likelihood(np.bincount(symbols), np.array([len(symbols)]), np.zeros(d, int))
    return _fit("independent", 1, d - 1, found, len(symbols))


def _chain(symbols: Ints, lengths: Ints) -> StatesFit:
    d = int(symbols.max()) + 1
    starts = np.zeros(len(symbols), dtype=bool)
    starts[np.cumsum(lengths) - lengths] = True
    first = np.bincount(symbols[starts], minlength=d)
    before, after = symbols[:-1][~starts[1:]], symbols[1:][~starts[1:]]
    keys, counts = np.unique(before.astype(np.int64) * d + after, return_counts=True)
    found = _log_likelihood(first, np.array([first.sum()]), np.zeros(d, int))
    found += _log_likelihood(counts, np.bincount(before, minlength=d), keys // d)
    return _fit("chain", d, (d - 1) + d * (d - 1), found, len(symbols))


def _log_likelihood(counts: Ints, totals: Ints, group: Ints) -> float:
    """Return the sum of n log(n / N) for counts n with the totals N of their groups."""
    seen = counts > 0
    return float((counts[seen] * np.log(counts[seen] / totals[group[seen]])).sum())
