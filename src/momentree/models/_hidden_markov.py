"""Base class of hidden Markov models: fit, inference and information criteria."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from momentree._types import Floats, Ints
from momentree._validation import check_integer, check_sequence_lengths, generator, rules
from momentree.backends.sequences import SequenceBlock, sequence_blocks
from momentree.backends.sources import here
from momentree.core.ties import largest_first
from momentree.estimators import base
from momentree.exceptions import ConvergenceWarning, InvalidDataError
from momentree.inference.hidden_markov import forward_backward, viterbi
from momentree.messages import Message
from momentree.models._hmm_starts import most_likely
from momentree.models._steps import check_decomposition
from momentree.models.selection import MAX_COMPONENTS, MAX_STATES_WITHOUT_GAIN, guard_search
from momentree.objects.hidden_markov import HMMParameters
from momentree.persistence import fields
from momentree.refinement.hidden_markov import BaumWelch, RefinedHMM


class HiddenMarkovModel(base.Estimator):
    """Base class of hidden Markov models; a subclass has emissions of one family."""

    _rules: ClassVar[rules.Rules] = {
        "n_components": rules.whole(1, words=("auto",)),
        "decomposition": check_decomposition,
        "refine": rules.REFINE,
        "smoothing": rules.number(at_least=0),
        "max_iter": rules.whole(1),
        "tol": rules.number(at_least=0),
        "verbose": rules.check_verbose,
    }
    _fields: ClassVar[fields.Fields] = {
        **base.Estimator._fields,
        **base.GROUPS,
        "startprob_": fields.simplex("k"),
        "transmat_": fields.simplex("k", "k"),
        "weights_": fields.simplex("k"),
        "log_likelihood_": fields.NUMBER,
        "diagnostics_": fields.DIAGNOSTICS,
    }

    n_components: int | Literal["auto"]
    decomposition: Any
    refine: str | None
    start: str
    smoothing: float
    max_iter: int
    tol: float
    random_state: int | np.random.RandomState | None
    verbose: bool | int

    startprob_: Floats
    transmat_: Floats
    log_likelihood_: float
    diagnostics_: dict[str, Any]

    @abstractmethod
    def _check_observations(self, X: Any, *, reset: bool) -> Any:
        """Return checked observations, one per row."""

    @abstractmethod
    def _keys(self, X: Any, lengths: Ints) -> Floats:
        """Return a number for each sequence that depends only on its content."""

    @abstractmethod
    def _start(self, name: str, X: Any, lengths: Ints, k: int) -> HMMParameters | None:
        """Return a start of k states; None if there are fewer. "cycle" always exists."""

    @property
    @abstractmethod
    def _emissions(self) -> Any:
        """Emissions of the fitted model."""

    @abstractmethod
    def _set_emissions(self, emissions: Any, X: Any) -> None:
        """Set the attributes of the emissions."""

    @property
    def _log_volume(self) -> float:
        """What is added to the log-likelihood of each observation."""
        return 0.0

    @property
    def _n_parameters(self) -> int:
        """Number of free parameters."""
        return self._parameters.n_parameters

    @property
    def _needed_observations(self) -> int:
        """Number of observations below which a state may be an outlier."""
        return 0

    def fit(self, X: Any, lengths: ArrayLike | None = None) -> Self:
        """Fit the model to sequences.

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, n_features)
            All observations, one sequence after another.
        lengths : array-like of int of shape (n_sequences,), default=None
            Length of each sequence, sum n_samples; None means that X is one sequence.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        InvalidDataError
            If X or `lengths` are invalid or do not match, there are fewer observations than
            states, or no sequence has two observations.
        InvalidParameterError
            If a parameter is out of its range.

        Warns
        -----
        ConvergenceWarning
            If the data cannot determine the states: all observations are equal, or no sequence has
            three observations. If a state of numbers has too few observations for its covariance,
            as an outlier does.
        """
        return self._fit(X, lengths=lengths)

    def _gather(self, X: Any) -> tuple[Any, list[Message]]:
        return here(X, type(self).__name__, dense=True)

    def _check_samples(self, X: Any, **given: Any) -> tuple[Any, int]:
        X = self._check_observations(X, reset=True)
        lengths = check_sequence_lengths(given["lengths"], len(X))
        k = 1 if isinstance(self.n_components, str) else int(self.n_components)
        if len(X) < k:
            raise InvalidDataError(
                "[too_few_observations] {n_rows:~sample}, fewer than "
                "{parameters.n_components:{n_components}}; lower it or add {samples}",
                n_rows=len(X),
                n_components=k,
            )
        if k > 1 and lengths.max() < 2:
            raise InvalidDataError(
                "[only_single_observations] all {n_sequences:~sequence} have one observation, so "
                "there are no transitions; check lengths, or use a mixture model, which has none",
                n_sequences=len(lengths),
            )
        return (X, lengths), len(X)

    def _learn(self, samples: Any) -> tuple[RefinedHMM, dict[str, Any], Floats]:
        X, n = samples
        # In an order that depends on their content only, sequences give the same sums.
        by_content = np.lexsort((self._keys(X, n), -n))
        starts = (np.cumsum(n) - n)[by_content]
        n = n[by_content]
        rows = np.repeat(starts - np.cumsum(n) + n, n) + np.arange(len(X))
        X = X[rows]
        if isinstance(self.n_components, str):
            found, diagnostics = self._lowest_bic(X, n)
        else:
            found, diagnostics = self._refined(X, n, int(self.n_components))
        k = found.parameters.n_states
        blocks = self._blocks(X, n, k)
        sizes = np.zeros(k)
        for block in blocks:
            sizes += forward_backward(block, X[block.at], found.parameters).gamma.sum(axis=1)
        order = largest_first(sizes, _content(found.parameters))
        parameters = found.parameters.reordered(order)
        self.startprob_, self.transmat_ = parameters.startprob, parameters.transmat
        self._set_emissions(parameters.emissions, X)
        self.weights_ = sizes[order] / sizes.sum()
        self.labels_ = np.empty(len(X), dtype=np.intp)
        self.labels_[rows] = self._decode(blocks, X)[0]
        return found, diagnostics, sizes[order]

    def _finish(self, samples: Any, result: Any) -> Iterable[Warning]:
        X, lengths = samples
        found, self.diagnostics_, sizes = result
        self.n_iter_, self.converged_ = found.n_iter, found.converged
        self.log_likelihood_ = found.log_likelihood + len(X) * self._log_volume
        k = len(sizes)
        if k > 1 and (reason := _unidentified(X, lengths)):
            yield ConvergenceWarning(
                "[states_not_determined] the data do not determine the states: {reason}",
                reason=reason,
            )
        needed = self._needed_observations
        few = np.flatnonzero(sizes.round(3) < needed).tolist()
        if k > 1 and few:
            yield ConvergenceWarning(
                "[states_of_few_observations] {n_few:~state} {n_few:?has/have} fewer than {needed} "
                "observations (number {states:and}), too few for a covariance: check the data for "
                "outliers, or lower {parameters.n_components}",
                n_few=len(few),
                states=few,
                needed=needed,
            )

    def _starts(self, X: Any, lengths: Ints, k: int) -> Iterator[tuple[str, HMMParameters]]:
        """Yield names and starts of k states, at least one, best guess first."""
        names = self._rules["start"] if self.start == "auto" else ("auto", self.start)
        any_found = False
        for name in names[1:] if k > 1 else ():  # type: ignore[index]
            if (start := self._start(name, X, lengths, k)) is not None:
                any_found = True
                yield name, start
        if not any_found and self.start != "auto" and k > 1:
            raise InvalidDataError(
                "[no_such_start] {parameter:=start} finds fewer than {k:~state} in these "
                "sequences; lower {parameters.n_components}, or use {parameters.start:'auto'}",
                parameter="start",
                start=self.start,
                k=k,
            )
        if not any_found:  # one state, or hardly any different observations
            start = self._start("cycle", X, lengths, k)
            assert start is not None  # noqa: S101 - for the type checker
            yield "cycle", start

    def _refined(self, X: Any, lengths: Ints, k: int) -> tuple[RefinedHMM, dict[str, Any]]:
        """Return the most likely result of all starts, and the name of its start."""
        learner = BaumWelch(self._blocks(X, lengths, k), X, self.smoothing)
        starts = self._starts(X, lengths, k)
        if self.refine:
            found, name = most_likely(learner, dict(starts), self.max_iter, self.tol)
        else:
            name, start = next(starts)
            found = RefinedHMM(start, learner.step(start)[1], 0, converged=True)
        return found, {"start": name}

    def _lowest_bic(self, X: Any, lengths: Ints) -> tuple[RefinedHMM, dict[str, Any]]:
        """Fit 1, 2, ... states until BIC stops falling; return the best."""

        def fit(k: int) -> tuple[tuple[RefinedHMM, dict[str, Any]], float, list[int]]:
            found = self._refined(X, lengths, k)
            likelihood = found[0].log_likelihood + len(X) * self._log_volume
            p = found[0].parameters.n_parameters
            return found, p * float(np.log(len(X))) - 2.0 * likelihood, [len(X)]

        most = min(MAX_COMPONENTS, len(X)) if lengths.max() > 1 else 1
        (found, diagnostics), _, bics = guard_search(
            fit, range(1, most + 1), 0, MAX_STATES_WITHOUT_GAIN
        )
        return found, {**diagnostics, "bic": bics}

    def _blocks(self, X: Any, lengths: Ints, k: int) -> list[SequenceBlock]:
        return sequence_blocks(lengths, self._keys(X, lengths), k)

    def _checked(self, X: Any, lengths: ArrayLike | None) -> tuple[Any, list[SequenceBlock]]:
        check_is_fitted(self, "startprob_")
        X = self._check_observations(X, reset=False)
        return X, self._blocks(X, check_sequence_lengths(lengths, len(X)), len(self.startprob_))

    @property
    def _parameters(self) -> HMMParameters:
        return HMMParameters(self.startprob_, self.transmat_, self._emissions)

    def _decode(self, blocks: list[SequenceBlock], X: Any) -> tuple[Ints, float]:
        states, total = np.empty(len(X), dtype=np.intp), 0.0
        for block in blocks:
            path, log_joint = viterbi(block, X[block.at], self._parameters)
            states[block.at] = path
            total += float(log_joint.sum())
        return states, total + len(X) * self._log_volume

    def decode(self, X: Any, lengths: ArrayLike | None = None) -> tuple[float, Ints]:
        """Return the most likely states, and their joint log-probability with X.

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, n_features)
            Observations, one sequence after another.
        lengths : array-like of int of shape (n_sequences,), default=None
            Length of each sequence; None means one sequence.

        Returns
        -------
        log_prob : float
            Sum over the sequences, in nats.
        states : ndarray of int of shape (n_samples,)
            State of each observation.
        """
        X, blocks = self._checked(X, lengths)
        states, total = self._decode(blocks, X)
        return total, states

    def predict(self, X: Any, lengths: ArrayLike | None = None) -> Ints:
        """Return the most likely sequences of states, by the Viterbi algorithm.

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, n_features)
            Observations, one sequence after another.
        lengths : array-like of int of shape (n_sequences,), default=None
            Length of each sequence; None means one sequence.

        Returns
        -------
        ndarray of int of shape (n_samples,)
            State of each observation; equal to ``labels_`` for the data of ``fit``.
        """
        return self.decode(X, lengths)[1]

    def predict_proba(self, X: Any, lengths: ArrayLike | None = None) -> Floats:
        """Return the probability of each state, given all observations of the sequence.

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, n_features)
            Observations, one sequence after another.
        lengths : array-like of int of shape (n_sequences,), default=None
            Length of each sequence; None means one sequence.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Rows sum to 1.
        """
        X, blocks = self._checked(X, lengths)
        P = np.empty((len(X), len(self.startprob_)))
        for block in blocks:
            P[block.at] = forward_backward(block, X[block.at], self._parameters).gamma.T
        return P

    def score_sequences(self, X: Any, lengths: ArrayLike | None = None) -> Floats:
        """Return the log-likelihood of each sequence.

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, n_features)
            Observations, one sequence after another.
        lengths : array-like of int of shape (n_sequences,), default=None
            Length of each sequence; None means one sequence.

        Returns
        -------
        ndarray of shape (n_sequences,)
            log P[x], in nats; longer sequences have lower values.
        """
        check_is_fitted(self, "startprob_")
        X = self._check_observations(X, reset=False)
        n = check_sequence_lengths(lengths, len(X))
        order = np.lexsort((self._keys(X, n), -n))
        found = [
            forward_backward(block, X[block.at], self._parameters).log_likelihood
            for block in self._blocks(X, n, len(self.startprob_))
        ]
        out = np.empty(len(n))
        out[order] = np.concatenate(found)
        return np.asarray(out + n * self._log_volume)

    def score(self, X: Any, lengths: ArrayLike | None = None) -> float:
        """Return the total log-likelihood.

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, n_features)
            Observations, one sequence after another.
        lengths : array-like of int of shape (n_sequences,), default=None
            Length of each sequence; None means one sequence.

        Returns
        -------
        float
            Sum of :meth:`score_sequences`, in nats; larger is better.
        """
        return float(self.score_sequences(X, lengths).sum())

    def bic(self, X: Any, lengths: ArrayLike | None = None) -> float:
        """Return the Bayesian information criterion.

            -2 log P[X] + p log n,   p the number of free parameters, n of observations

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, n_features)
            Observations, one sequence after another.
        lengths : array-like of int of shape (n_sequences,), default=None
            Length of each sequence; None means one sequence.

        Returns
        -------
        float
            Smaller is better; compare only models of the same data.
        """
        return -2.0 * self.score(X, lengths) + self._n_parameters * float(np.log(np.shape(X)[0]))

    def aic(self, X: Any, lengths: ArrayLike | None = None) -> float:
        """Return the Akaike information criterion.

            -2 log P[X] + 2 p,   p the number of free parameters

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, n_features)
            Observations, one sequence after another.
        lengths : array-like of int of shape (n_sequences,), default=None
            Length of each sequence; None means one sequence.

        Returns
        -------
        float
            Smaller is better; compare only models of the same data.
        """
        return -2.0 * self.score(X, lengths) + 2.0 * self._n_parameters

    def sample(
        self, n_samples: int = 1, *, random_state: int | np.random.RandomState | None = None
    ) -> tuple[Any, Ints]:
        """Draw one sequence from the fitted model.

        Parameters
        ----------
        n_samples : int >= 1, default=1
            Length of the sequence.
        random_state : int, RandomState or None, default=None
            Seed; None means seed 0.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Observations.
        states : ndarray of int of shape (n_samples,)
            State of each observation.
        """
        check_is_fitted(self, "startprob_")
        check_integer("n_samples", n_samples, at_least=1)
        rng = generator(random_state)
        moves = np.cumsum(self.transmat_, axis=1)
        u = rng.random_sample(n_samples)
        states = np.empty(n_samples, dtype=np.intp)
        now, k = np.cumsum(self.startprob_), len(self.startprob_)
        for t in range(n_samples):
            states[t] = min(int(np.searchsorted(now, u[t] * now[-1], side="right")), k - 1)
            now = moves[states[t]]
        return self._draw(states, rng), states

    @abstractmethod
    def _draw(self, states: Ints, rng: np.random.RandomState) -> Any:
        """Return one observation from each of the given states."""

    def get_stationary_distribution(self) -> Floats:
        """Return the stationary distribution of the states.

        Returns
        -------
        ndarray of shape (n_components,)
            p with p A = p, sum 1. ``weights_`` are the shares of observations in the data, which
            differ if sequences are short.
        """
        check_is_fitted(self, "startprob_")
        k = len(self.startprob_)
        system = np.vstack([self.transmat_.T - np.eye(k), np.ones(k)])
        p = np.linalg.lstsq(system, np.append(np.zeros(k), 1.0), rcond=None)[0]
        return np.asarray(np.maximum(p, 0.0) / np.maximum(p, 0.0).sum())

    def _trial_samples(self) -> Floats:
        return np.zeros((2, self.n_features_in_))


def _content(p: HMMParameters) -> Floats:
    """Return numbers that describe each state, in columns."""
    own = [p.emissions.reordered(np.array([j])).coordinates for j in range(p.n_states)]
    return np.vstack([np.transpose(own), np.diag(p.transmat), p.startprob])


def _unidentified(X: Any, lengths: Ints) -> Message | None:
    """Return why the data do not determine the states, or None if they may."""
    if (X[:1] == X).all():
        return Message("[equal_observations] all observations are equal")
    return (
        Message(
            "[only_pairs] no sequence has three observations, and different transitions explain "
            "pairs equally well; give longer sequences"
        )
        if lengths.max() < 3
        else None
    )
