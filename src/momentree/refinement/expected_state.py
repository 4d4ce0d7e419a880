"""States of one EM step: the expected sums of all components, for given parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momentree._types import Bools, Floats
from momentree._validation import (
    as_floats,
    check_choice,
    check_counts,
    check_integer,
    check_missing,
    check_number,
    check_ones,
    check_sample_weight,
    check_shape,
)
from momentree.backends import RowBlocks, single_threaded_blas
from momentree.exceptions import InvalidDataError
from momentree.moments import State
from momentree.objects import (
    BernoulliParameters,
    MixtureParameters,
    PoissonParameters,
    TopicParameters,
)
from momentree.refinement.em import column_sums, expected_statistics

ExpectedModel = Literal["single-topic", "poisson", "bernoulli"]

FAMILIES: Mapping[str, type[MixtureParameters]] = {
    "single-topic": TopicParameters,
    "poisson": PoissonParameters,
    "bernoulli": BernoulliParameters,
}


class ExpectedState(State):
    """The sums behind one EM step of a mixture, which add up across batches, files and sites.

    For given parameters, a state has S = X^T (v R), N = sum_i v_i R_i and the log-likelihood, with
    responsibilities R and sample weights v; see :func:`momentree.refinement.em`. Each EM step is
    one round: all sites update the empty state of :meth:`next_round`.

    Parameters
    ----------
    columns : int >= 1 or sequence of str
        Number or names of the columns.
    model : {"single-topic", "poisson", "bernoulli"}
        Family of the mixture; Bernoulli rows must be complete.
    weights, centers : ndarray of shape (k,) and (d, k)
        Parameters.
    smoothing : float > 0, default=1.0
        Strength of the prior of the M-step.
    n_iter : int >= 1, default=1
        Number of this EM step.
    last : float, default=-1e300
        The log-likelihood plus the log prior in the step before, less the present log prior.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.refinement import ExpectedState
    >>> rng = np.random.default_rng(0)
    >>> means = np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9]])
    >>> sites = [rng.random((500, 3)) < means.T[rng.choice(2, size=500)] for _ in range(3)]
    >>> state = ExpectedState(3, model="bernoulli", weights=[0.5, 0.5], centers=means)
    >>> for _ in range(50):
    ...     pooled = sum(state.empty().update(X) for X in sites)
    ...     if pooled.converged():
    ...         break
    ...     state = pooled.next_round()
    >>> bool(np.abs(pooled.parameters.centers - means).max() < 0.15)
    True
    """

    _by_column: ClassVar[tuple[str, ...]] = ("expected",)
    _not_negative: ClassVar[tuple[str, ...]] = ("expected", "sizes", "weight", "occurrences")

    def __init__(
        self,
        columns: int | Sequence[str] | NDArray[Any],
        *,
        model: ExpectedModel,
        weights: ArrayLike,
        centers: ArrayLike,
        smoothing: float = 1.0,
        n_iter: int = 1,
        last: float = -1e300,
    ) -> None:
        check_choice("model", model, get_args(ExpectedModel))
        check_number("smoothing", smoothing, above=0)
        check_integer("n_iter", n_iter, at_least=1)
        w, mu = as_floats("weights", weights), as_floats("centers", centers)
        settings = {
            "model": model,
            "smoothing": float(smoothing),
            "n_iter": int(n_iter),
            "last": float(last),
        }
        super().__init__(columns, settings, {"weights": w, "centers": mu}, {})
        check_shape("centers", mu, (len(self.columns), "k"))
        highest = 1.0 if model in ("single-topic", "bernoulli") else np.inf
        if not ((mu >= 0) & (mu <= highest + 1e-9)).all() or (w < 0).any():
            raise InvalidDataError("below_zero", name="centers")
        self.parameters = FAMILIES[model](w, mu)
        d, k = mu.shape
        self._sums |= {
            "expected": np.zeros((d, k)),
            "sizes": np.zeros(k),
            "weight": np.zeros(1),
            "log_likelihood": np.zeros(1),
            "words": np.zeros(1),
            "occurrences": np.zeros(d),
        }

    def _counted(self, X: Any, sample_weight: ArrayLike | None) -> Mapping[str, Floats]:
        X = self._checked(X)
        v = check_sample_weight(sample_weight, X.shape[0])
        occurrences = np.bincount(X.indices, minlength=X.shape[1]).astype(np.float64)
        with single_threaded_blas():
            rows = RowBlocks(X).for_products(self.parameters.n_components)
            words = column_sums(rows, v)
            S, N, value = expected_statistics(rows, self.parameters, v, words)
        return {
            "rows": np.array([float(X.shape[0])]),
            "expected": S,
            "sizes": N,
            "weight": np.array([v.sum()]),
            "log_likelihood": np.array([value]),
            "words": np.array([words.sum()]),
            "occurrences": occurrences,
        }

    def _restore(self, sums: dict[str, Floats], *, released: bool) -> None:
        super()._restore(sums, released=released)
        for name, limit in (("sizes", "weight"), ("expected", "words")):
            if not sums[name].sum() <= (1.0 + 1e-6) * sums[limit][0] + 1e-6:
                raise InvalidDataError("sums_beyond_totals", name=name)

    def _checked(self, X: Any) -> Any:
        if self.settings["model"] != "bernoulli":
            return check_counts(X)
        X, missing = check_missing(X)
        if missing is not None:
            row, column = (int(part[0]) for part in missing.nonzero())
            raise InvalidDataError("missing_in_moments", row=row, column=column)
        check_ones(X)
        return X

    def _suppress(self, rare: Bools, min_count: int) -> int:  # noqa: ARG002
        """Suppress components with fewer expected rows, and cells with smaller expected counts."""
        sizes, expected = self._sums["sizes"], self._sums["expected"]
        few = (sizes > 1e-9) & (sizes < min_count)
        sizes[few], expected[:, few] = 0.0, 0.0
        return int(np.count_nonzero(few))

    @property
    def weight(self) -> float:
        """Sum of the sample weights."""
        return float(self._sums["weight"][0])

    @property
    def mean_count(self) -> float:
        """Mean sum of a row."""
        return float(self._sums["words"][0]) / max(self.weight, 1e-300)

    @property
    def log_likelihood(self) -> float:
        """Log-likelihood of the parameters, in nats, up to a constant of the rows."""
        return float(self._sums["log_likelihood"][0])

    @property
    def statistics(self) -> tuple[Floats, Floats]:
        """S (d, k) and N (k,)."""
        return self._sums["expected"], self._sums["sizes"]

    def converged(self, tol: float = 1e-5) -> bool:
        """Return whether the last step gained at most a fraction of the log-likelihood.

        Parameters
        ----------
        tol : float >= 0, default=1e-5
            The fraction.

        Returns
        -------
        bool
            As in :func:`momentree.refinement.em`.
        """
        check_number("tol", tol, at_least=0)
        last = float(self.settings["last"])
        return self.log_likelihood - last <= tol * abs(self.log_likelihood)

    @property
    def smoothing(self) -> float:
        """The strength of the prior: at most a quarter of the counts, as in fits of all rows."""
        S, _ = self.statistics
        asked = float(self.settings["smoothing"])
        return self.parameters.limited_smoothing(asked, float(S.sum()), S.shape)

    def next_round(self) -> ExpectedState:
        """Return the empty state of the next EM step: the M-step.

        Returns
        -------
        ExpectedState
            With the maximum a posteriori parameters for the sums.

        Raises
        ------
        InvalidDataError
            If no rows were added.
        """
        S, N = self.statistics
        if not N.sum() > 0:
            raise InvalidDataError("empty_state")
        smoothing = self.smoothing
        found = type(self.parameters).m_step(S, N, smoothing)
        new, old = (p.log_prior(S, N, smoothing) for p in (found, self.parameters))
        settings = {**self.settings, "n_iter": self.settings["n_iter"] + 1}
        settings["last"] = self.log_likelihood - (new - old)
        return self._asks(
            ExpectedState(self.columns, **settings, weights=found.weights, centers=found.centers)
        )
