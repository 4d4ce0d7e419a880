"""Hidden Markov models of symbols and of numbers."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from sklearn.utils.validation import validate_data

from momentree._types import Floats, Ints
from momentree._validation import check_symbols, rules
from momentree.core.choices import CovarianceType, Refine
from momentree.exceptions import InvalidDataError
from momentree.messages import wording
from momentree.models import _hmm_starts as hmm_starts
from momentree.models._hidden_markov import HiddenMarkovModel
from momentree.models._steps import Decomposer, decomposer
from momentree.objects.hidden_markov import CategoricalEmissions, GaussianEmissions, HMMParameters
from momentree.persistence import fields

HMMStart = Literal["auto", "moments", "windows", "short_windows", "contexts"]


@dataclass(eq=False, repr=False)
class CategoricalHMM(HiddenMarkovModel):
    """Learn a hidden Markov model of sequences of symbols.

        h_1 ~ Discrete(pi),   h_(t+1) | h_t = i ~ Discrete(A_i),   x_t | h_t = j ~ Discrete(O_j)

    Parameters
    ----------
    n_components : int >= 1 or "auto", default=8
        Number of states k. "auto" fits 1, 2, ... states, up to 30, until BIC has not fallen twice
        in a row, and keeps the fit of lowest BIC.
    n_features : int >= 1 or None, default=None
        Number of symbols d; None is the largest symbol of ``fit`` plus 1. With a larger number,
        symbols that ``fit`` has not seen are accepted later, and say nothing about the state.
    decomposition : str or callable, default="sidiwo"
        "sidiwo", "svtd", "tensor_power_method", "als", "svd_method", "eigendecomposition",
        "jennrich" or "random_projections" from ``momentree.decomposition``, or a function with the
        same signature.
    refine : {"em", None}, default="em"
        "em" refines the start by Baum-Welch, and by L-BFGS where the observations are at least 40
        times as many as the symbols. None returns the moment estimates.
    start : {"auto", "moments", "windows", "short_windows", "contexts"}, default="auto"
        How Baum-Welch starts. "moments" decomposes the moments of triples of consecutive symbols;
        see :class:`momentree.moments.HMMMoments`. It requires sequences of three observations
        and at least k symbols with linearly independent distributions in the states.
        "windows" groups windows of 8 observations by their counts of symbols, which suits states
        that last, and does not have these requirements; "short_windows" groups windows of 3, which
        suits short sequences. "contexts" groups symbols by the symbols before and after them.
        "auto" runs Baum-Welch from all four, and continues with the most likely one; without
        Baum-Welch, it is the first of them that applies.

    Attributes
    ----------
    startprob_ : ndarray of shape (n_components,)
        pi, sum 1, estimated from the first symbols of all sequences: it need not be stationary.
    transmat_ : ndarray of shape (n_components, n_components)
        A_ij = P[next state j | state i]; rows sum to 1.
    emissionprob_ : ndarray of shape (n_components, n_features)
        P[symbol | state]; rows sum to 1.
    weights_ : ndarray of shape (n_components,)
        Expected share of the observations of ``fit`` in each state, descending, sum 1. States are
        numbered in this order.
    labels_ : ndarray of int of shape (n_samples,)
        State of each observation, in the most likely sequence of states.
    log_likelihood_ : float
        Total log-likelihood of the data of ``fit``, in nats.
    n_iter_ : int
        Number of steps of Baum-Welch and L-BFGS.
    converged_ : bool
        Whether the tolerance was reached.
    diagnostics_ : dict
        "start": the name of the start that was kept; "bic", with ``n_components="auto"``: the BIC
        of 1, 2, ... states.
    n_features_in_ : int
        1: the column of symbols.

    Other Parameters
    ----------------
    smoothing : float >= 0, default=0.001
        Strength of the prior, in samples: the number of average observations and transitions added
        to every state, so that no probability is 0.
    max_iter : int >= 1, default=500
        Maximum number of steps of Baum-Welch, from each start.
    tol : float >= 0, default=1e-9
        Baum-Welch stops when a step raises the log-likelihood, plus the log prior of `smoothing`,
        by no more than this fraction of its size.
    random_state : int, RandomState or None, default=None
        Seed for random decompositions. None means seed 0.
    verbose : bool or int, default=False
        Whether to print progress to standard error; the logger ``momentree.models`` always gets it.

    See Also
    --------
    GaussianHMM : Hidden Markov models of real-valued observations.

    Notes
    -----
    Names and conventions are those of the package hmmlearn: ``fit(X, lengths)``, ``score`` the
    total log-likelihood.

    Baum-Welch is slow where states are hard to distinguish: after 20 of its steps, L-BFGS continues
    with the gradient that the expected counts give, for the same prior and at the same time per
    step.

    Each step of Baum-Welch takes time O(n k^2 + d k) and memory O(n k + d k); a few long sequences
    are cut into pieces that are linked by products of k x k matrices, which is exact.

    Examples
    --------
    >>> from momentree import CategoricalHMM
    >>> from momentree.datasets import make_hmm
    >>> data = make_hmm(500, 20, 2, n_symbols=4, random_state=0)
    >>> model = CategoricalHMM(2).fit(data.X, data.lengths)
    >>> model.transmat_.shape, model.emissionprob_.shape
    ((2, 2), (2, 4))
    """

    n_components: int | Literal["auto"] = 8
    _: KW_ONLY
    n_features: int | None = None
    decomposition: Decomposer = "sidiwo"
    refine: Refine | None = "em"
    start: HMMStart = "auto"
    smoothing: float = 1e-3
    max_iter: int = 500
    tol: float = 1e-9
    random_state: int | np.random.RandomState | None = None
    verbose: bool | int = False

    _rules: ClassVar[rules.Rules] = {
        **HiddenMarkovModel._rules,
        "n_features": rules.whole(1, optional=True),
        "start": get_args(HMMStart),
    }
    _fields: ClassVar[fields.Fields] = {
        **HiddenMarkovModel._fields,
        "emissionprob_": fields.simplex("k", "n_features"),
    }

    def _check_observations(self, X: Any, *, reset: bool) -> Ints:
        if reset:
            symbols = check_symbols(X, self.n_features)
            self.n_features_in_ = 1
            return symbols
        return check_symbols(X, self.emissionprob_.shape[1])

    def _keys(self, X: Ints, lengths: Ints) -> Floats:
        starts = np.cumsum(lengths) - lengths
        values = np.random.RandomState(0).random_sample(int(X.max()) + 1)[X]
        place = np.arange(len(X)) - np.repeat(starts, lengths)
        return np.add.reduceat(values * np.sqrt(1.0 + place), starts)

    def _start(self, name: str, X: Ints, lengths: Ints, k: int) -> HMMParameters | None:
        d = int(X.max()) + 1 if self.n_features is None else int(self.n_features)
        if name == "cycle":  # every k-th symbol belongs to a state
            mean = np.bincount(X, minlength=d) / len(X)
            own = (np.arange(d) % k == np.arange(k)[:, None]) * mean + 1e-3 * mean
            same = np.full(k, 1.0 / k)
            emissions = CategoricalEmissions(own / own.sum(axis=1, keepdims=True))
            return HMMParameters(same, np.tile(same, (k, 1)), emissions)
        if name == "moments":
            method = decomposer(self.decomposition)
            found = hmm_starts.from_moments(X, lengths, k, d, method, self.random_state)
        elif name == "contexts":
            found = hmm_starts.from_contexts(X, lengths, k, d)
        else:
            window = hmm_starts.WINDOW if name == "windows" else hmm_starts.SHORT_WINDOW
            found = hmm_starts.from_windows(X, lengths, k, d, window)
        if found is None or not self.refine:
            return found
        return hmm_starts.softened(found, X, d)

    @property
    def _emissions(self) -> CategoricalEmissions:
        return CategoricalEmissions(self.emissionprob_)

    def _set_emissions(self, emissions: CategoricalEmissions, X: Ints) -> None:
        # A symbol that was never seen says nothing: it is equally likely in all states.
        d = emissions.probabilities.shape[1]
        seen = np.bincount(X, minlength=d) > 0
        rare = 1.0 / (len(X) + d)
        rest = 1.0 - rare * np.count_nonzero(~seen)
        self.emissionprob_ = np.where(seen, emissions.probabilities * rest, rare)
        self.vocabulary_ = np.arange(d).astype(str).astype(object)

    @property
    def _n_names(self) -> int:
        return int(self.emissionprob_.shape[1])

    def _draw(self, states: Ints, rng: np.random.RandomState) -> Ints:
        X = np.empty((len(states), 1), dtype=np.intp)
        for j in np.unique(states):
            here = states == j
            X[here, 0] = rng.choice(
                self.emissionprob_.shape[1], size=int(here.sum()), p=self.emissionprob_[j]
            )
        return X


GaussianHMMStart = Literal["auto", "moments", "windows", "clusters"]

NORMAL_QUARTILES = 1.349
"""Distance between the quartiles of a normal distribution, in standard deviations."""
NEAR = 8.0
"""Starts see values beyond this, in standard deviations, as this: clusters of the observations
would otherwise only separate outliers."""
LARGEST = 1e100
"""Larger values overflow when they are squared."""


@dataclass(eq=False, repr=False)
class GaussianHMM(HiddenMarkovModel):
    """Learn a hidden Markov model of sequences of real-valued observations.

        h_1 ~ Discrete(pi),   h_(t+1) | h_t = i ~ Discrete(A_i),   x_t | h_t = j ~ N(mu_j, Sigma_j)

    Parameters
    ----------
    n_components : int >= 1 or "auto", default=8
        Number of states k. "auto" fits 1, 2, ... states, up to 30, until BIC has not fallen twice
        in a row, and keeps the fit of lowest BIC.
    covariance_type : {"spherical", "diag", "full", "tied"}, default="diag"
        "spherical" has one variance for each state, "diag" one for each state and feature,
        "full" any covariances in each state, and "tied" the same covariances in all states.
    decomposition : str or callable, default="sidiwo"
        "sidiwo", "svtd", "tensor_power_method", "als", "svd_method", "eigendecomposition",
        "jennrich" or "random_projections" from ``momentree.decomposition``, or a function with the
        same signature.
    refine : {"em", None}, default="em"
        "em" refines the start by Baum-Welch. None returns the start.
    start : {"auto", "moments", "windows", "clusters"}, default="auto"
        How Baum-Welch starts. "moments" divides the observations into more clusters than states,
        and decomposes the moments of triples of their numbers; see
        :class:`momentree.moments.HMMMoments`. "windows" clusters means of windows of 8
        observations, which suits states that last, and "clusters" the observations; see
        :class:`momentree.ClusterTree`. "auto" runs Baum-Welch from all three, and continues with
        the most likely one; without Baum-Welch, it is the first of them that applies.

    Attributes
    ----------
    startprob_ : ndarray of shape (n_components,)
        pi, sum 1, estimated from the first observations of all sequences: it need not be
        stationary.
    transmat_ : ndarray of shape (n_components, n_components)
        A_ij = P[next state j | state i]; rows sum to 1.
    means_ : ndarray of shape (n_components, n_features)
        Mean of each feature in each state.
    covars_ : ndarray of shape (n_components, n_features, n_features)
        Covariances of the features in each state, as full matrices for every `covariance_type`.
    weights_ : ndarray of shape (n_components,)
        Expected share of the observations of ``fit`` in each state, descending, sum 1. States are
        numbered in this order.
    labels_ : ndarray of int of shape (n_samples,)
        State of each observation, in the most likely sequence of states.
    log_likelihood_ : float
        Total log-likelihood of the data of ``fit``, in nats.
    n_iter_ : int
        Number of steps of Baum-Welch.
    converged_ : bool
        Whether Baum-Welch converged.
    diagnostics_ : dict
        "start": the name of the start that was kept; "bic", with ``n_components="auto"``: the BIC
        of 1, 2, ... states.
    n_features_in_ : int
        Number of features d.

    Other Parameters
    ----------------
    reg_covar : float > 0, default=1e-6
        Added to each variance, as a fraction of the mean variance of the features (estimated from
        quartiles), so that a state of equal observations has a finite likelihood.
    smoothing : float >= 0, default=0.001
        Strength of the prior, in samples: the number of transitions added to every state, so that
        no probability is 0.
    max_iter : int >= 1, default=500
        Maximum number of steps of Baum-Welch, from each start.
    tol : float >= 0, default=1e-9
        Baum-Welch stops when a step raises the log-likelihood, plus the log prior of `smoothing`,
        by no more than this fraction of its size.
    random_state : int, RandomState or None, default=None
        Seed for random decompositions. None means seed 0.
    verbose : bool or int, default=False
        Whether to print progress to standard error; the logger ``momentree.models`` always gets it.

    See Also
    --------
    CategoricalHMM : Hidden Markov models of symbols.

    Notes
    -----
    Names and conventions are those of the package hmmlearn: ``fit(X, lengths)``, ``score`` the
    total log-likelihood. Missing values are refused: fill them first.

    Each step of Baum-Welch takes time O(n k^2 + n k d) for "spherical" and "diag", else
    O(n k^2 + n k d^2), and memory O(n (k + d)).

    Examples
    --------
    >>> from momentree import GaussianHMM
    >>> from momentree.datasets import make_hmm
    >>> data = make_hmm(20, 30, 2, n_features=3, random_state=0)
    >>> model = GaussianHMM(2).fit(data.X, data.lengths)
    >>> model.means_.shape, model.covars_.shape
    ((2, 3), (2, 3, 3))
    """

    n_components: int | Literal["auto"] = 8
    _: KW_ONLY
    covariance_type: CovarianceType = "diag"
    decomposition: Decomposer = "sidiwo"
    refine: Refine | None = "em"
    start: GaussianHMMStart = "auto"
    reg_covar: float = 1e-6
    smoothing: float = 1e-3
    max_iter: int = 500
    tol: float = 1e-9
    random_state: int | np.random.RandomState | None = None
    verbose: bool | int = False

    _rules: ClassVar[rules.Rules] = {
        **HiddenMarkovModel._rules,
        "covariance_type": get_args(CovarianceType),
        "start": get_args(GaussianHMMStart),
        "reg_covar": rules.number(above=0),
    }
    _fields: ClassVar[fields.Fields] = {
        **HiddenMarkovModel._fields,
        "means_": fields.array("k", "d"),
        "covars_": fields.array("k", "d", "d"),
        "_offset": fields.array("d"),
        "_scale": fields.POSITIVE,
        "_covariance_type": fields.choice(*get_args(CovarianceType)),  # of the fit
        "_reg_covar": fields.POSITIVE,  # of the fit
    }

    def _check_observations(self, X: Any, *, reset: bool) -> Floats:
        try:
            found = validate_data(self, X, reset=reset, dtype=np.float64)
        except ValueError as error:
            raise InvalidDataError(wording.REFUSED_BY_SKLEARN, error=str(error)) from error
        if np.abs(found).max() > LARGEST:
            row, column = (int(i) for i in np.argwhere(np.abs(found) > LARGEST)[0])
            value = float(found[row, column])
            raise InvalidDataError(
                wording.HUGE_VALUE, row=row, column=column, value=value, largest=LARGEST
            )
        if reset:
            # Without an offset and a scale, squares would lose digits. Quartiles ignore outliers.
            ordered = np.sort(found, axis=0)  # rounding errors do not depend on the order of X
            low, self._offset, high = np.quantile(ordered, [0.25, 0.5, 0.75], axis=0)
            spread = np.where(high > low, (high - low) / NORMAL_QUARTILES, ordered.std(axis=0))
            scale = float(np.sqrt((spread**2).mean()))
            self._scale = scale if scale > 0 else 1.0
        return np.asarray((found - self._offset) / self._scale)

    def _keys(self, X: Floats, lengths: Ints) -> Floats:
        starts = np.cumsum(lengths) - lengths
        place = np.arange(len(X)) - np.repeat(starts, lengths)
        values = (np.tanh(X) * np.random.RandomState(0).random_sample(X.shape[1])).sum(axis=1)
        return np.add.reduceat(values * np.sqrt(1.0 + place), starts)

    def _start(self, name: str, X: Floats, lengths: Ints, k: int) -> HMMParameters | None:
        d, near = X.shape[1], np.clip(X, -NEAR, NEAR)
        if name == "cycle":
            G: Floats | None = np.eye(k)[np.argsort(np.argsort(X[:, 0], kind="stable")) % k]
        elif name == "moments":
            method = decomposer(self.decomposition)
            G = hmm_starts.posteriors_of_moments(near, lengths, k, method, self.random_state)
        elif name == "windows":
            G = hmm_starts.posteriors_of_windows(near, lengths, k)
        else:
            G = hmm_starts.posteriors_of_clusters(near, k)
        kind, floor = self.covariance_type, float(self.reg_covar)
        form = GaussianEmissions(np.zeros((k, d)), np.zeros((k, d, d)), kind, floor)
        return None if G is None else hmm_starts.gaussian_start(G, X, lengths, form)

    @property
    def _emissions(self) -> GaussianEmissions:
        means = (self.means_ - self._offset) / self._scale
        roots = np.asarray(np.linalg.cholesky(self.covars_ / self._scale**2), dtype=np.float64)
        return GaussianEmissions(means, roots, self._covariance_type, self._reg_covar)

    def _set_emissions(self, emissions: GaussianEmissions, X: Floats) -> None:  # noqa: ARG002
        self.means_ = emissions.means * self._scale + self._offset
        self.covars_ = emissions.covariances * self._scale**2
        self._covariance_type, self._reg_covar = emissions.kind, emissions.floor
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_).astype(str))
        self.vocabulary_ = np.asarray(names, dtype=object)

    @property
    def _log_volume(self) -> float:
        """Change of the log density of each observation due to scaling."""
        return -self.n_features_in_ * float(np.log(self._scale))

    @property
    def _needed_observations(self) -> int:
        return self.n_features_in_ + 1 if self.covariance_type == "full" else 2

    def _draw(self, states: Ints, rng: np.random.RandomState) -> Floats:
        roots = np.linalg.cholesky(self.covars_)
        noise = rng.standard_normal((len(states), self.n_features_in_))
        return np.asarray(self.means_[states] + np.einsum("nvw,nw->nv", roots[states], noise))
