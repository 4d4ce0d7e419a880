"""The number of states of a hidden Markov model, and simpler models to compare it with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from momentree._types import Ints
from momentree._validation import check_integer
from momentree.core.ties import exceeds
from momentree.exceptions import InvalidParameterError

_PATIENCE = 2
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
        raise InvalidParameterError("no_candidates_of_states", parameter="candidates")
    for k in numbers:
        check_integer("candidates", k, at_least=2)
    symbols, sizes = np.asarray(X).ravel(), np.asarray(lengths)
    fits, best, waited = [], None, 0
    lowest = np.inf
    for k in numbers:
        if progress is not None:
            progress(k)
        model = clone(estimator).set_params(n_components=k).fit(symbols, sizes)
        likelihood = float(model.score(symbols, sizes))
        found = _fit("states", k, model._n_parameters, likelihood, len(symbols))
        fits.append(found)
        if exceeds(lowest, found.bic):
            best, lowest, waited = model, found.bic, 0
        else:
            waited += 1
            if waited == _PATIENCE:
                break
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
