"""The initialization and the result of a fit, in the form that all flat models share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from momentree._types import Floats
from momentree.backends import RowArray, Rows
from momentree.messages import Message
from momentree.objects import LDAParameters, MixtureParameters, MixtureSums
from momentree.refinement.em import Samples
from momentree.tree.growth import Grown

P = TypeVar("P", bound=MixtureParameters | LDAParameters)
M = TypeVar("M", bound=MixtureParameters)


@dataclass(frozen=True)
class Initialization(Generic[P]):
    """Initial parameters for EM; without EM they are the result."""

    parameters: P  # smoothed, so that no probability is zero
    weights: Floats  # as estimated, (k,)
    centers: Floats  # as estimated, before smoothing, (d, k)
    diagnostics: Mapping[str, Any]

    @classmethod
    def of(cls, parameters: P, diagnostics: Mapping[str, Any]) -> Initialization[P]:
        """Return an initialization whose parameters need no smoothing."""
        return cls(parameters, parameters.weights, parameters.centers, diagnostics)


@dataclass(frozen=True)
class FitResult:
    """A fitted model, its components in descending order of weight."""

    parameters: Any  # used to assign samples
    weights: Floats
    centers: Floats  # without EM, may contain zeros, unlike `parameters`
    labels: RowArray
    diagnostics: Mapping[str, Any]
    n_iter: int = 1
    converged: bool = True
    sums: MixtureSums | None = None  # of the samples, for `partial_fit`


def from_leaves(
    grown: Grown,
    n_components: int,
    family: type[M],
    rows: Rows,
    weight: RowArray,
    smoothing: float,
) -> Initialization[M]:
    """Return one component per leaf of a tree, and the reason if there are too few."""
    leaves = grown.root.leaves()
    k = len(leaves)
    reason = Message("no_group_splits", reason=leaves[0].reason) if k < n_components else None
    parameters = Samples(rows, weight, smoothing).m_step(family, grown.labels, k)
    return Initialization.of(parameters, {"rank": k, "reason": reason, "warnings": []})
