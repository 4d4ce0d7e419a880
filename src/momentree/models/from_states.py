"""Flat models from states, whose rows may be in other files or at other sites."""

from __future__ import annotations

from typing import Any

import numpy as np

from momentree._fit import converging, warn_caller
from momentree._types import Floats
from momentree._validation import check_number
from momentree.assignment.incomplete import IncompleteAssigner
from momentree.core.ties import largest_first
from momentree.exceptions import ConvergenceWarning, InvalidDataError
from momentree.messages import Message
from momentree.models._base import FlatModel
from momentree.models._steps import DecompositionName, decomposer
from momentree.models.bernoulli_mixture import BernoulliMixture
from momentree.models.latent_dirichlet_allocation import LatentDirichletAllocation
from momentree.models.poisson_mixture import PoissonMixture
from momentree.models.single_topic_model import SingleTopicModel
from momentree.moments import MomentState, State
from momentree.objects import (
    BernoulliParameters,
    Decomposition,
    LDAParameters,
    MixtureParameters,
    PoissonParameters,
)
from momentree.parameters import lda_parameters, project_to_simplex
from momentree.refinement import ExpectedState
from momentree.refinement.expected_state import FAMILIES
from momentree.refinement.lda import smoothed_topics

POSSIBLE = 1e-3
"""Fraction of the average row mixed into every component of counts, so that EM can leave zero."""
POSSIBLE_CODES = 0.05
"""The same for binary rows, whose raw moments are biased."""


@converging()
def next_round(
    state: State,
    n_components: int | None = None,
    *,
    decomposition: DecompositionName = "sidiwo",
    smoothing: float = 1.0,
) -> State:
    """Return the empty state of the next round, for all sites to update.

    The rounds are those of the moments, and then one for each step of EM. Stop after any round that
    :func:`fitted_from` accepts.

    Parameters
    ----------
    state : MomentState or ExpectedState
        The merged state of a round.
    n_components : int >= 1 or None, default=None
        Number of components, for the first rounds.
    decomposition : str, default="sidiwo"
        Function of :mod:`momentree.decomposition` for the step from moments to EM.
    smoothing : float > 0, default=1.0
        Strength of the prior in EM; see the model.

    Returns
    -------
    MomentState or ExpectedState
        Without rows.

    Raises
    ------
    InvalidDataError
        If the number of components is missing, the state has too few rows, or EM from states does
        not exist for the model.

    Warns
    -----
    ConvergenceWarning
        If the moments support fewer components than requested.
    MomentreeWarning
        If this round has another number of rows than the one before.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.models import fitted_from, next_round
    >>> from momentree.moments import MomentState
    >>> rng = np.random.default_rng(0)
    >>> means = np.array([[0.9, 0.8, 0.1, 0.2, 0.1], [0.1, 0.2, 0.8, 0.9, 0.8]])
    >>> sites = [rng.random((500, 5)) < means[rng.choice(2, size=500)] for _ in range(3)]
    >>> state = MomentState(5, model="bernoulli")
    >>> for _ in range(10):
    ...     state = sum(state.empty().update(X) for X in sites)
    ...     state = next_round(state, 2)
    >>> state = sum(state.empty().update(X) for X in sites)
    >>> model = fitted_from(state)
    >>> bool(np.abs(np.sort(model.means_, axis=0) - np.sort(means, axis=0)).max() < 0.05)
    True
    """
    if isinstance(state, ExpectedState):
        return state.next_round()
    if not isinstance(state, MomentState):
        raise InvalidDataError("not_of_a_round", type=type(state).__name__)
    if not state.third:
        if n_components is None:
            raise InvalidDataError("how_many_components")
        return state.next_round(n_components)
    if state.model not in FAMILIES or state.settings["log_scaling"]:
        raise InvalidDataError("no_em_from_states", model=state.model)
    found = _decomposed(state, decomposition)
    k = found.n_components
    start = _smoothed(state, found, np.full(k, 1.0 / k), smoothing)
    model: Any = state.model
    return state._asks(
        ExpectedState(
            state.columns,
            model=model,
            weights=start.weights,
            centers=start.centers,
            smoothing=smoothing,
        )
    )


@converging()
def fitted_from(
    state: State,
    *,
    decomposition: DecompositionName = "sidiwo",
    smoothing: float | None = None,
) -> FlatModel:
    """Return the fitted model of a merged state: of moments alone, or after steps of EM.

    Parameters
    ----------
    state : MomentState or ExpectedState
        The merged state of the last round of moments, or of a step of EM.
    decomposition : str, default="sidiwo"
        Function of :mod:`momentree.decomposition`, for moments.
    smoothing : float > 0 or None, default=None
        As in the model, for moments; None is its default.

    Returns
    -------
    SingleTopicModel, PoissonMixture, BernoulliMixture or LatentDirichletAllocation
        The same estimates as of a fit to the pooled rows from the moments of the model, up to
        rounding. ``labels_`` is empty, because the rows are elsewhere; ``predict`` assigns rows.

    Raises
    ------
    InvalidDataError
        If the state belongs to another round, or there is no estimator for its model.

    Warns
    -----
    ConvergenceWarning
        If the moments support fewer components than requested.
    MomentreeWarning
        If this round has another number of rows than the one before.
    """
    model: Any
    fitted: Any
    if isinstance(state, ExpectedState):
        S, N = state.statistics
        smoothing = state.settings["smoothing"]
        if not N.sum() > 0:
            raise InvalidDataError("empty_state")
        model = _of(state.settings["model"], len(N), smoothing, refine="em")
        model.n_iter_ = state.settings["n_iter"]
        model.converged_ = state.converged(1e-7 if model.tol is None else model.tol)
        # As in `em`, the parameters are those before the step that gained almost nothing.
        fitted = state.parameters
        if not model.converged_:
            fitted = type(fitted).m_step(S, N, state.smoothing)
        diagnostics: dict[str, Any] = {
            "start": "moments",
            "log_likelihood": state.log_likelihood,
            "reason": None,
            "warnings": [],
        }
        weights, centers = fitted.weights, fitted.centers
    elif isinstance(state, MomentState) and state.third:
        if state.model == "gaussian" or state.settings["log_scaling"]:
            raise InvalidDataError("no_model_from_state", model=state.model)
        found = _decomposed(state, decomposition)
        weights = found.weights / found.weights.sum()
        model = _of(state.model, found.n_components, smoothing, refine=None)
        smoothing = float(model.smoothing)
        model.decomposition = decomposition
        diagnostics = {**found.diagnostics, "start": "moments"}
        model.n_iter_, model.converged_ = 1, True
        if state.model == "lda":
            model.alpha0 = state.settings["alpha0"]
            found_lda = lda_parameters(found, model.alpha0)
            weights, centers = found_lda.weights, found_lda.centers
            total = state.mean_count * state.weight
            topics = smoothed_topics(centers * (weights * total), smoothing)
            fitted = LDAParameters(found_lda.alpha, topics)
        else:
            centers = _valid(state.model, found.centers)
            fitted = _smoothed(state, found, weights, smoothing)
        if state.model in ("single-topic", "lda"):
            model.weighting = state.settings["weighting"]
    else:
        raise InvalidDataError("round_without_model")
    state._check_rows()
    order = largest_first(weights, centers)
    model.posterior_ = fitted.reordered(order)
    model.weights_, model.components_ = weights[order], centers[:, order].T.copy()
    model.labels_ = np.empty(0, dtype=np.intp)
    model.diagnostics_, model.mean_count_ = diagnostics, state.mean_count
    model.vocabulary_, model.n_features_in_ = state.columns, len(state.columns)
    model.choice_ = None
    if isinstance(model, SingleTopicModel | PoissonMixture):
        model.log_scaling_ = None
    if isinstance(model, BernoulliMixture):
        sizes = model.weights_ * state.weight
        ones = model.posterior_.centers * sizes
        model._incomplete = IncompleteAssigner.from_sums(ones, None, sizes)
    return model  # type: ignore[no-any-return]


def _of(name: str, k: int, smoothing: float | None, *, refine: Any) -> Any:
    kinds: dict[str, Any] = {
        "single-topic": SingleTopicModel,
        "lda": LatentDirichletAllocation,
        "poisson": PoissonMixture,
        "bernoulli": BernoulliMixture,
    }
    model = kinds[name](k, refine=refine)
    if smoothing is not None:
        check_number("smoothing", smoothing, above=0)
        model.smoothing = smoothing
    model.start = "moments" if name != "bernoulli" else "raw_moments"
    return model


def _decomposed(state: MomentState, decomposition: str) -> Decomposition:
    moments: Any = state.moments()
    k = moments.basis.shape[1]
    found = decomposer(decomposition)(moments, k)
    if not found.n_components or not found.weights.sum() > 0:
        raise InvalidDataError("no_component_in_state")
    if found.n_components < k:
        reason = found.diagnostics.get("reason") or Message("moments_show_no_more")
        warn_caller(
            ConvergenceWarning(
                "fewer_components", found=found.n_components, requested=k, reason=reason
            )
        )
    return found


def _valid(model: str, centers: Floats) -> Floats:
    if model == "single-topic":
        return project_to_simplex(centers)
    return np.clip(centers, 0.0, 1.0 if model == "bernoulli" else np.inf)


def _smoothed(
    state: MomentState, found: Decomposition, weights: Floats, smoothing: float
) -> MixtureParameters:
    """Return parameters without zeros, as the models do."""
    centers = _valid(state.model, found.centers)
    mean = state.m1[:, None]
    if state.model == "bernoulli":
        mixed = (1.0 - POSSIBLE_CODES) * centers + POSSIBLE_CODES * np.clip(mean, 0.0, 1.0)
        return BernoulliParameters(weights, mixed)
    sums = centers * weights
    mass = state.mean_count * state.weight
    sums *= mass / max(float(sums.sum()), 1e-300)
    sums += POSSIBLE * mean * mass / max(float(mean.sum()), 1e-300) * weights
    family = PoissonParameters if state.model == "poisson" else FAMILIES["single-topic"]
    limited = family.limited_smoothing(smoothing, mass, sums.shape)
    return family.m_step(sums, weights * state.weight, limited)
