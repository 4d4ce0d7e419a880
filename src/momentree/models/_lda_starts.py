"""Initialize latent Dirichlet allocation from moments (S Theorem 3) or a single-topic model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats, Ints
from momentree.backends import RowArray, RowBlocks, Rows, products, taken
from momentree.core import choices, pages, ties
from momentree.decomposition import Concentration, estimate_alpha0
from momentree.inference import completion_log_likelihood, variational_proportions
from momentree.messages import Message
from momentree.models._steps import WHITENING_ITER, Initialization
from momentree.models.count_models import SingleTopicModel
from momentree.moments import LDAMoments, SingleTopicMoments
from momentree.objects import Decomposition, LDAParameters, Moments
from momentree.parameters import lda_parameters
from momentree.refinement.lda import concentrations, smoothed_topics
from momentree.whitening import whiten

Start = Initialization[LDAParameters]

TEST_DOCUMENTS = 2000
"""Number of documents for comparing starts: enough to rank them, in the time of one EM step."""
WRONG_FACTOR = 1.5
WRONG_FIT = 1.3
"""The moments contradict a given alpha_0 if the estimate differs by the first factor and reduces
the off-diagonal part of the third moment by the second. Noise can cause the former, not the
latter."""
RAW_TOL = 1e-3
"""Residual of the eigenpairs for the estimate of alpha_0, which is rough because it uses a grid."""
TEXT_ALPHA0 = 1.0


@dataclass(frozen=True)
class LDAData:
    """Documents of a fit in canonical order."""

    rows: Rows
    weight: RowArray
    smoothing: float

    def smoothed(self, topics: Floats, weights: Floats) -> Floats:
        """Return topics (d, k) after smoothing the counts that they predict."""
        total = float(self.rows.sum(products.dot, self.rows.row_sums, self.weight))
        return smoothed_topics(topics * (weights * total), self.smoothing)


def from_moments(
    data: LDAData,
    decompose: Callable[[Moments], Decomposition],
    n_components: int,
    *,
    alpha0: float | None,
    weighting: choices.Weighting,
    random_state: int | np.random.RandomState | None,
) -> tuple[list[Start], list[Message]]:
    """Decompose the moments of the model (S Theorem 3).

    If the moments contradict a given `alpha0`, also return a start with the estimate and a warning.
    """
    raw = SingleTopicMoments.from_rows(
        data.rows,
        sample_weight=data.weight,
        weighting=weighting,
        random_state=random_state,
    )
    white = whiten(raw, n_components, tol=RAW_TOL, max_iter=2 * n_components + WHITENING_ITER)
    estimate = estimate_alpha0(raw, n_components, whitening=white)
    values, warnings = [estimate.alpha0 if alpha0 is None else alpha0], []
    if _contradicts(estimate, values[0]):
        values.append(estimate.alpha0)
        contradiction = {"alpha0": values[0], "estimate": estimate.alpha0}
        warnings.append(
            Message(
                "[alpha0_contradicted] the moments contradict {parameters.alpha0:{alpha0:g}} and "
                "suggest {estimate:.3g}; use {parameters.alpha0:=instead}, or refine the topics",
                **contradiction,
                instead=None,
            )
        )
    numbers = {
        "start": "moments",
        "alpha0_estimate": estimate.alpha0,
        "alpha0_curve": (estimate.candidates, estimate.off_diagonal),
        "alpha0_reason": estimate.reason,
    }
    starts = []
    for value in values:
        found = decompose(LDAMoments(raw, value))
        if found.weights.sum() > 0:
            parameters = lda_parameters(found, value)
        else:  # the moments support only one topic
            parameters = LDAParameters(np.array([value]), raw.m1[:, None] / raw.m1.sum())
        weights, topics = parameters.weights, parameters.centers
        smoothed = LDAParameters(parameters.alpha, data.smoothed(topics, weights))
        diagnostics = {**found.diagnostics, **numbers, "alpha0": value}
        starts.append(Initialization(smoothed, weights, topics, diagnostics))
    return starts, warnings


def _contradicts(estimate: Concentration, alpha0: float) -> bool:
    if estimate.reason:
        return False
    far = abs(np.log(alpha0 / estimate.alpha0)) > np.log(WRONG_FACTOR)
    return bool(far and estimate.at(alpha0) > WRONG_FIT * estimate.at(estimate.alpha0))


def from_single_topics(data: LDAData, model: SingleTopicModel, *, alpha0: float | None) -> Start:
    """Start from the topics of a single-topic model, with alpha proportional to its weights."""
    found, _ = model._fit_components(data.rows, data.weight)
    total = TEXT_ALPHA0 if alpha0 is None else alpha0
    alpha = concentrations(found.weights, float(data.rows.total(data.weight)), total)
    parameters = LDAParameters(alpha, data.smoothed(found.centers, found.weights))
    diagnostics = {**found.diagnostics, "start": "single-topic", "alpha0": total}
    return Initialization.of(parameters, diagnostics)


def most_likely(data: LDAData, starts: Sequence[Start]) -> tuple[Start, dict[str, Any]]:
    """Return the start with the lowest document completion perplexity, and all perplexities."""
    if len(starts) == 1:
        return starts[0], {}
    some = _some(data.weight)
    known, hidden = (RowBlocks(half) for half in _halves(taken(data.rows, some).matrix))
    weight = data.weight[some]
    words = max(float(weight @ hidden.row_sums), 1e-300)
    table = []
    for start in starts:
        proportions = variational_proportions(known, start.parameters)
        values = completion_log_likelihood(hidden, start.parameters, proportions)
        perplexity = float(np.exp(-float(weight @ values) / words))
        table.append((start.diagnostics["start"], start.parameters.alpha0, perplexity))
    best = int(ties.largest([-perplexity for *_, perplexity in table]))
    return starts[best], {"completion": table}


def _some(weight: Floats) -> Ints:
    """Return about 2,000 documents of positive weight, at equal distances."""
    n = sum(int(np.count_nonzero(part > 0)) for part in pages.in_parts(weight, always=True))
    step, found, start, before = -(-n // TEST_DOCUMENTS), [], 0, 0
    for part in pages.in_parts(weight, always=True):
        here = np.flatnonzero(part > 0)
        found.append(start + here[-before % step :: step])
        start, before = start + len(part), before + len(here)
    return np.concatenate(found)


def _halves(X: Any) -> tuple[Any, Any]:
    """Halve each count; the odd token of a word goes to the same half in all documents.

    The halves of a document do not depend on the order or repetition of documents.
    """
    side = np.random.RandomState(0).randint(0, 2, size=X.shape[1])[X.indices]
    first = np.floor(0.5 * X.data)
    first = first + side * (X.data - 2.0 * first)

    def half(data: Floats) -> Any:
        return sp.csr_array((data, X.indices, X.indptr), shape=X.shape)

    return half(first), half(X.data - first)
