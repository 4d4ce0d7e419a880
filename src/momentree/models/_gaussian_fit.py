"""Fit a Gaussian mixture to prepared data: starts, EM, units and order of components."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from momentree import objects
from momentree._types import Floats
from momentree.core.ties import exceeds, largest_first
from momentree.inference.posteriors import responsibilities
from momentree.messages import Message, wording
from momentree.models._gaussian_data import GaussianComponents, GaussianData
from momentree.models._gaussian_starts import SEARCH_SMOOTHING, Start, starts_of
from momentree.models._groupings import n_distinct
from momentree.refinement import MixtureSearch, search
from momentree.refinement.em import Refined, em_with_gaps

log = logging.getLogger("momentree.models")

EMPTY = 1e-3
"""Components of fewer samples than this are dropped."""
EXCHANGE_TIME = 12.0
"""Time of exchanges of components after EM, in EM steps: most that raise the likelihood are found
among the first."""
PRIOR_OF_FILLED = 1.0
"""Smoothing while gaps are filled with expectations."""


@dataclass(frozen=True)
class GaussianFit:
    """Fitted components in the units of the data, in descending order of weight."""

    components: GaussianComponents
    start: str
    reason: Message | None
    n_iter: int
    converged: bool


@dataclass(frozen=True)
class GaussianSearch:
    """The search for the most likely mixture, with parameters of :class:`GaussianMixture`.

    Attributes
    ----------
    n_components : int >= 1
        k.
    start, refine, smoothing, max_iter, tol
        As in :class:`GaussianMixture`.
    decompose : callable
        Maps moments to their decomposition into k components.
    """

    n_components: int
    start: Start
    refine: bool
    smoothing: float
    max_iter: int
    tol: float
    decompose: Callable[[objects.Moments], objects.Decomposition]

    def fit(self, data: GaussianData) -> GaussianFit:
        """Fit a mixture to prepared data."""
        gaps = data.covariance_type in ("tied", "full")
        if data.missing is not None and gaps:
            # Start from a diagonal mixture, and fill gaps by its expectations.
            diagonal = replace(data, covariance_type="diag")
            name, reason, refined = self._most_likely(diagonal)
            complete = _filled(data, refined.parameters)
            # Values at their expectations have too little variance, which the prior makes up.
            prior = max(self.smoothing, PRIOR_OF_FILLED)
            found = replace(self, smoothing=prior)._most_likely(complete)
            name, reason = found[0], found[1] or reason
            refined = em_with_gaps(
                data.Z,
                data.missing.toarray() > 0,
                found[2].parameters,
                sample_weight=data.weight,
                smoothing=self.smoothing,
                max_iter=self.max_iter if self.refine else 0,
                tol=self.tol,
            )
        else:
            name, reason, refined = self._most_likely(data)
        components = _in_units(refined.parameters, data)
        content = components.means.T
        if data.covariance_type != "tied":
            spreads = components.covariances.reshape(len(components.weights), -1).T
            content = np.vstack([content, spreads])
        order = largest_first(components.weights, content)
        sizes = components.weights[order] * float(data.weight.sum())
        order = order[sizes > EMPTY * float(data.weight[data.weight > 0].min())]
        covariances = components.covariances
        components = GaussianComponents(
            components.weights[order] / components.weights[order].sum(),
            components.means[order],
            covariances if data.covariance_type == "tied" else covariances[order],
            data.covariance_type,
        )
        if len(order) == self.n_components:
            reason = None
        elif reason is None:
            reason = Message("[components_emptied] EM left the others without {samples}")
        return GaussianFit(components, name, reason, refined.n_iter, refined.converged)

    def _most_likely(
        self, data: GaussianData
    ) -> tuple[str, Message | None, Refined[objects.MixtureParameters]]:
        """Return the name of a start, why components are missing, and the result."""
        rows, family = data.rows(), data.family()
        k = min(self.n_components, n_distinct(data.Z, data.weight))
        starts, reason = starts_of(
            data, rows, family, k, self.start, self.smoothing, self.decompose
        )
        if k < self.n_components:
            reason = Message(wording.ONLY_EQUAL_SAMPLES)
        if not self.refine:
            name, parameters = next(iter(starts.items()))
            return name, reason, Refined(parameters, 0.0, 1, converged=True)
        log.info("refining %d components from %d starts", self.n_components, len(starts))

        def run(
            starts: dict[str, objects.MixtureParameters],
        ) -> tuple[str, Refined[objects.MixtureParameters]]:
            return search.em_from_several(
                rows,
                starts,
                sample_weight=data.weight,
                smoothing=self.smoothing,
                max_iter=self.max_iter,
                tol=self.tol,
            )

        name, refined = run(starts)
        if self.start in ("auto", "groups") and data.covariance_type != "full":
            found, k = refined.parameters, refined.parameters.n_components
            prior = max(self.smoothing, SEARCH_SMOOTHING)
            growing = MixtureSearch(rows, family, data.weight, np.ones(rows.shape[1]), k, prior)
            changed = growing.exchanged(found, EXCHANGE_TIME)
            if changed is not found:
                again = run({name: changed})[1]
                if exceeds(again.log_likelihood, refined.log_likelihood):
                    name, refined = f"{name}, exchanges", again
        return name, reason, refined


def _filled(data: GaussianData, diagonal: objects.MixtureParameters) -> GaussianData:
    """Return data with gaps filled by their expectations under a diagonal mixture."""
    assert data.missing is not None  # noqa: S101 - for the type checker
    rows = replace(data, covariance_type="diag").rows()
    expected = np.asarray(responsibilities(rows, diagonal)) @ diagonal.centers.T
    gaps = data.missing.toarray() > 0
    return replace(data, Z=np.where(gaps, expected, data.Z), missing=None)


def _in_units(p: objects.MixtureParameters, data: GaussianData) -> GaussianComponents:
    """Return parameters in the units of the data."""
    s = data.scale
    means = p.centers.T * s + data.shift
    covariances: Floats
    if isinstance(p, objects.FullGaussianParameters):
        covariances = p.covariances * np.outer(s, s)
    elif isinstance(p, objects.SharedGaussianParameters):
        covariances = p.covariance * np.outer(s, s)
    elif isinstance(p, objects.DiagonalGaussianParameters):
        covariances = p.variances.T * s**2
    else:
        assert isinstance(p, objects.GaussianParameters)  # noqa: S101 - for the type checker
        covariances = p.variances * s[0] ** 2
    return GaussianComponents(p.weights, means, covariances, data.covariance_type)
