"""CategoricalHMM: a hidden Markov model of symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, get_args

import numpy as np

from momentree._types import Floats, Ints
from momentree._validation import check_choice, check_integer, check_shape, check_symbols
from momentree.core.choices import Refine
from momentree.exceptions import InvalidDataError
from momentree.models._decomposers import Decomposer, decomposer
from momentree.models._hidden_markov import HiddenMarkovModel
from momentree.models._hmm_starts import (
    SHORT_WINDOW,
    WINDOW,
    from_contexts,
    from_moments,
    from_windows,
    softened,
)
from momentree.objects.hidden_markov import CategoricalEmissions, HMMParameters
from momentree.objects.mixtures import check_sums

HMMStart = Literal["auto", "moments", "windows", "short_windows", "contexts"]


class CategoricalHMM(HiddenMarkovModel):
    """Learn a hidden Markov model of sequences of symbols.

        h_1 ~ Discrete(pi),   h_(t+1) | h_t = i ~ Discrete(A_i),   x_t | h_t = j ~ Discrete(O_j)

    Parameters
    ----------
    n_components : int >= 1, default=8
        Number of states k.
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
    smoothing : float >= 0, default=0.001
        Number of average observations and transitions added to each state, so that no probability
        is 0.
    max_iter : int >= 1, default=500
        Maximum number of steps of Baum-Welch, from each start.
    tol : float >= 0, default=1e-9
        Baum-Welch stops when a step raises the log-likelihood by at most this fraction of its
        size.
    random_state : int, RandomState or None, default=None
        Seed for random decompositions. None means seed 0.
    verbose : bool or int, default=False
        Whether to print progress to standard error; the logger ``momentree.models`` always gets it.

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
        "start", the name of the start that was kept, and "warnings", a list of messages.
    n_features_in_ : int
        1: the column of symbols.

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

    emissionprob_: Floats

    def __init__(
        self,
        n_components: int = 8,
        *,
        n_features: int | None = None,
        decomposition: Decomposer = "sidiwo",
        refine: Refine | None = "em",
        start: HMMStart = "auto",
        smoothing: float = 1e-3,
        max_iter: int = 500,
        tol: float = 1e-9,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_components = n_components
        self.n_features = n_features
        self.decomposition = decomposition
        self.refine = refine
        self.start = start
        self.smoothing = smoothing
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("n_features", self.n_features, at_least=1, optional=True)
        check_choice("start", self.start, get_args(HMMStart))

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

    def _starts(self, X: Ints, lengths: Ints) -> Iterator[tuple[str, HMMParameters]]:
        k, d = int(self.n_components), int(X.max()) + 1
        d = d if self.n_features is None else int(self.n_features)
        method = decomposer(self.decomposition)
        methods: dict[str, Callable[[], HMMParameters | None]] = {
            "moments": lambda: from_moments(X, lengths, k, d, method, self.random_state),
            "windows": lambda: from_windows(X, lengths, k, d, WINDOW),
            "short_windows": lambda: from_windows(X, lengths, k, d, SHORT_WINDOW),
            "contexts": lambda: from_contexts(X, lengths, k, d),
        }
        any_found = False
        wanted = list(methods) if self.start == "auto" else [self.start]
        for name in wanted if k > 1 else []:
            found = methods[name]()
            if found is not None:
                any_found = True
                yield name, softened(found, X, d) if self.refine else found
        if not any_found and self.start != "auto" and k > 1:
            raise InvalidDataError("no_such_start", parameter="start", start=self.start, k=k)
        if not any_found:  # one state, or almost equal sequences
            yield "cycle", _cycle(X, k, d)

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
    def _n_parameters(self) -> int:
        k, d = self.emissionprob_.shape
        return int(k - 1 + k * (k - 1) + k * (d - 1))

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

    def _check_restored(self) -> int:
        k = super()._check_restored()
        check_shape("emissionprob_", self.emissionprob_, (k, "n_features"))
        if (self.emissionprob_ < 0).any():
            raise InvalidDataError("below_zero", name="emissionprob_")
        check_sums("emissionprob_", self.emissionprob_.sum(axis=1))
        return k


def _cycle(X: Ints, k: int, d: int) -> HMMParameters:
    """Return a start in which every k-th symbol belongs to a state."""
    mean = np.bincount(X, minlength=d) / len(X)
    own = (np.arange(d) % k == np.arange(k)[:, None]) * mean
    own = own + 1e-3 * mean
    same = np.full(k, 1.0 / k)
    return HMMParameters(
        same,
        np.tile(same, (k, 1)),
        CategoricalEmissions(own / own.sum(axis=1, keepdims=True)),
    )
