"""Where a fit starts from and what it finds: values that the fits of all models pass on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from momentree.backends import RowBlocks
from momentree.messages import Message
from momentree.objects import LDAParameters, MixtureParameters
from momentree.tree.growth import Grown

__all__ = ["FitResult", "Initialization", "from_leaves", "m_step"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
P = TypeVar("P", bound=MixtureParameters | LDAParameters)
M = TypeVar("M", bound=MixtureParameters)


@dataclass(frozen=True)
class Initialization(Generic[P]):
    """Parameters that EM starts from; without EM they are the result.

    Attributes
    ----------
    parameters : MixtureParameters or LDAParameters
        Valid, and smoothed so that no probability is zero.
    weights : ndarray of shape (k,)
        Of the components, as found.
    centers : ndarray of shape (d, k)
        As found, before smoothing.
    diagnostics : mapping
        Of the decomposition or the tree.
    """

    parameters: P
    weights: Floats
    centers: Floats
    diagnostics: Mapping[str, Any]

    @classmethod
    def of(cls, parameters: P, diagnostics: Mapping[str, Any]) -> Initialization[P]:
        """Return an initialization whose parameters need no smoothing."""
        return cls(parameters, parameters.weights, parameters.centers, diagnostics)


@dataclass(frozen=True)
class FitResult:
    """A fitted model, its components in descending order of weight.

    Attributes
    ----------
    parameters : MixtureParameters or LDAParameters
        Samples are assigned by these.
    weights : ndarray of shape (k,)
        Of the components.
    centers : ndarray of shape (d, k)
        Of the components; without EM they may hold zeros that `parameters` do not.
    labels : ndarray of intp of shape (n,)
        Component of each sample.
    diagnostics : mapping
        Of the initialization and of EM.
    n_iter : int
        Steps of EM; 1 without it.
    converged : bool
        Whether EM met its tolerance; True without it.
    """

    parameters: Any
    weights: Floats
    centers: Floats
    labels: Ints
    diagnostics: Mapping[str, Any]
    n_iter: int = 1
    converged: bool = True


def m_step(
    family: type[M], rows: RowBlocks, responsibilities: Floats, weight: Floats, smoothing: float
) -> M:
    """Return the parameters of given responsibilities.

    Parameters
    ----------
    family : type of MixtureParameters
        The mixture.
    rows : RowBlocks of shape (n, p)
        Statistics of the samples.
    responsibilities : ndarray of shape (n, k)
        Rows sum to 1.
    weight : ndarray of shape (n,)
        Sample weights.
    smoothing : float > 0
        Of ``family.m_step``.

    Returns
    -------
    MixtureParameters
        Of `family`.
    """
    weighted = responsibilities * weight[:, None]
    sums = rows.sum(lambda B: B.tdot(weighted[B.at]))
    return family.m_step(sums, weighted.sum(axis=0), smoothing)


def from_leaves(
    grown: Grown,
    n_components: int,
    family: type[M],
    rows: RowBlocks,
    weight: Floats,
    smoothing: float,
) -> Initialization[M]:
    """Return one component for each leaf of a tree.

    Parameters
    ----------
    grown : Grown
        A tree of the samples.
    n_components : int >= 1
        Number of components requested.
    family, rows, weight, smoothing
        As in :func:`m_step`.

    Returns
    -------
    Initialization
        Fewer components, with the reason, where the tree has fewer leaves.
    """
    leaves = grown.root.leaves()
    k = len(leaves)
    reason = Message("no_group_splits", reason=leaves[0].reason) if k < n_components else None
    parameters = m_step(family, rows, np.eye(k)[grown.labels], weight, smoothing)
    return Initialization.of(parameters, {"rank": k, "reason": reason, "warnings": []})
