"""Where latent Dirichlet allocation starts from, and which start is the better one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree.backends import RowBlocks
from momentree.decomposition import Concentration, estimate_alpha0
from momentree.inference import completion_log_likelihood, variational_proportions
from momentree.models._base import WHITENING_ITER
from momentree.models.single_topic_model import SingleTopicModel
from momentree.moments import LDAMoments, SingleTopicMoments, Weighting
from momentree.objects import Decomposition, LDAParameters, Moments
from momentree.parameters import lda_parameters
from momentree.refinement import smoothed_topics
from momentree.whitening import whiten

__all__ = ["Corpus", "Start", "concentrations", "from_moments", "from_single_topics", "likeliest"]

Floats = NDArray[np.float64]
Decompose = Callable[[Moments], Decomposition]

JUDGES = 2000
"""Documents that judge starts: enough to tell them apart, and no more than a step of EM costs."""
WRONG_FACTOR = 1.5
WRONG_FIT = 1.3
"""A given alpha_0 is called wrong where the estimate is this factor away and leaves so many times
less of the third moment off the diagonal. By noise alone the first happens, not the second."""
RAW_TOL = 1e-3
"""Residual of eigenpairs from which alpha_0 is estimated: on a grid, so roughly."""
TEXT_ALPHA0 = 1.0


@dataclass(frozen=True)
class Corpus:
    """Counts in canonical order, their weights, and how topics are smoothed.

    Attributes
    ----------
    rows : RowBlocks of shape (n, d)
        Word counts.
    weight : ndarray of shape (n,)
        Sample weights.
    smoothing : float
        Pseudo-count of every word in every topic.
    """

    rows: RowBlocks
    weight: Floats
    smoothing: float

    def smoothed(self, found: LDAParameters) -> LDAParameters:
        """Return parameters without zeros: topics as the counts they predict, smoothed."""
        total = float(self.weight @ self.rows.row_sums)
        topics = smoothed_topics(found.centers * (found.weights * total), self.smoothing)
        return LDAParameters(found.alpha, topics)


@dataclass(frozen=True)
class Start:
    """A start of refinement.

    Attributes
    ----------
    name : {"moments", "single-topic"}
        Where it comes from.
    found : LDAParameters
        As it was found; topics may hold zeros.
    smoothed : LDAParameters
        Without zeros.
    diagnostics : mapping
        Of the decomposition.
    """

    name: str
    found: LDAParameters
    smoothed: LDAParameters
    diagnostics: Mapping[str, Any]


def from_moments(
    corpus: Corpus,
    decompose: Decompose,
    n_components: int,
    *,
    alpha0: float | None,
    weighting: Weighting,
    random_state: int | np.random.RandomState | None,
) -> list[Start]:
    """Decompose the moments of the model (S Theorem 3).

    Parameters
    ----------
    corpus : Corpus
        The documents.
    decompose : callable
        Moments in, decomposition out.
    n_components : int >= 1
        Number of topics.
    alpha0 : float > 0 or None
        Total concentration; None estimates it.
    weighting : {"length", "uniform", "three_words"}
        Of documents in the moments.
    random_state : int, RandomState or None
        Draws the words of "three_words".

    Returns
    -------
    list of Start
        One; with `alpha0` that the moments contradict a second one, with the estimate.
    """
    raw = SingleTopicMoments.from_rows(
        corpus.rows,
        sample_weight=corpus.weight,
        weighting=weighting,
        random_state=random_state,
    )
    white = whiten(raw, n_components, tol=RAW_TOL, max_iter=2 * n_components + WHITENING_ITER)
    estimate = estimate_alpha0(raw, n_components, whitening=white)
    used = estimate.alpha0 if alpha0 is None else alpha0
    wrong = _contradicts(estimate, used)
    numbers = {
        "alpha0_estimate": estimate.alpha0,
        "alpha0_curve": (estimate.candidates, estimate.off_diagonal),
        "alpha0_reason": estimate.reason,
    }
    advice = []
    if wrong:
        advice.append(
            f"alpha0={used:g} was given, but the moments fit alpha0={estimate.alpha0:.3g} better: "
            "leave alpha0=None, or refine."
        )
    starts = []
    for value in [used, estimate.alpha0] if wrong else [used]:
        found = decompose(LDAMoments(raw, value))
        if found.weights.sum() > 0:
            parameters = lda_parameters(found, value)
        else:  # nothing but the mean shows
            parameters = LDAParameters(np.array([value]), raw.m1[:, None] / raw.m1.sum())
        own = {**found.diagnostics, **numbers, "alpha0": value}
        own["alpha0_advice"] = advice
        own["advice"] = list(found.diagnostics.get("advice", []))
        starts.append(Start("moments", parameters, corpus.smoothed(parameters), own))
    return starts


def _contradicts(estimate: Concentration, alpha0: float) -> bool:
    if estimate.reason:
        return False
    far = abs(np.log(alpha0 / estimate.alpha0)) > np.log(WRONG_FACTOR)
    return bool(far and estimate.at(alpha0) > WRONG_FIT * estimate.at(estimate.alpha0))


def from_single_topics(corpus: Corpus, model: SingleTopicModel, *, alpha0: float | None) -> Start:
    """Give each document one topic first.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    model : SingleTopicModel
        Not fitted; with the number of topics to find.
    alpha0 : float > 0 or None
        Total concentration to start with; None is 1.

    Returns
    -------
    Start
        The topics of that model; alpha_i is in proportion to their documents.
    """
    model.fit(corpus.rows.matrix, sample_weight=corpus.weight)
    total = TEXT_ALPHA0 if alpha0 is None else alpha0
    alpha = concentrations(model.weights_, float(corpus.weight.sum()), total)
    words = float(corpus.weight @ corpus.rows.row_sums)
    topics = smoothed_topics(model.components_.T * (model.weights_ * words), corpus.smoothing)
    parameters = LDAParameters(alpha, topics)
    diagnostics = {**model.diagnostics_, "alpha0": total}
    return Start("single-topic", parameters, parameters, diagnostics)


def concentrations(weights: Floats, n: float, alpha0: float) -> Floats:
    """Return concentrations with a given sum for topics that hold given shares of n documents.

    One document is added to each topic, so that none is too rare to grow.
    """
    alpha = weights * n + 1.0
    return np.asarray(alpha * (alpha0 / alpha.sum()))


def likeliest(corpus: Corpus, starts: list[Start]) -> tuple[Start, dict[str, Any]]:
    """Return the start under which one half of each document best tells the other half.

    Parameters
    ----------
    corpus : Corpus
        The documents; up to 2,000 of them judge.
    starts : list of Start
        At least one.

    Returns
    -------
    best : Start
        The first of the best.
    numbers : dict
        "completion": for each start its name, alpha_0, and perplexity of the other halves.
    """
    if len(starts) == 1:
        return starts[0], {}
    usable = np.flatnonzero(corpus.weight > 0)
    some = usable[:: -(-len(usable) // JUDGES)]
    known, asked = (RowBlocks(half) for half in _halves(corpus.rows.matrix[some]))
    weight = corpus.weight[some]
    words = float(weight @ asked.row_sums)
    perplexities = []
    for start in starts:
        shares = variational_proportions(known, start.smoothed)
        total = float(weight @ completion_log_likelihood(asked, start.smoothed, shares))
        perplexities.append(float(np.exp(-total / max(words, 1e-300))))
    table = [
        (start.name, start.found.alpha0, value)
        for start, value in zip(starts, perplexities, strict=True)
    ]
    return starts[int(np.argmin(perplexities))], {"completion": table}


def _halves(X: Any) -> tuple[Any, Any]:
    """Halve each count; the odd word of it goes to a side that is the same in all documents.

    A document is halved by itself: neither order nor repetition of documents matter.
    """
    side = np.random.RandomState(0).randint(0, 2, size=X.shape[1])[X.indices]
    first = np.floor(0.5 * X.data)
    first = first + side * (X.data - 2.0 * first)

    def half(data: Floats) -> Any:
        return sp.csr_array((data, X.indices, X.indptr), shape=X.shape)

    return half(first), half(X.data - first)
