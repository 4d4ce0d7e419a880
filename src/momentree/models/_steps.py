"""Steps that the flat models share: decompose moments, start, return a result, draw samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeVar, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

import momentree.decomposition as decompositions
from momentree._types import Floats, Ints
from momentree._validation import check_choice, check_integer, generator
from momentree.backends import RowArray, Rows
from momentree.core.ties import largest_first
from momentree.messages import Message
from momentree.objects import Decomposition, LDAParameters, MixtureParameters, MixtureSums, Moments
from momentree.refinement.em import Samples
from momentree.tree.growth import Grown
from momentree.whitening import whiten

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
    """The components of a fitted model, with the most likely one of each sample."""

    parameters: Any  # used to assign samples
    weights: Floats
    centers: Floats  # without EM, may contain zeros, unlike `parameters`
    diagnostics: Mapping[str, Any]
    n_iter: int = 1
    converged: bool = True
    sums: MixtureSums | None = None  # of the samples, for `partial_fit`
    labels: RowArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    attributes: Mapping[str, Any] = field(default_factory=dict)  # others of the estimator

    def largest_first(self, assign: Callable[[Any], RowArray]) -> FitResult:
        """Return the components by descending weight, with the labels by their parameters."""
        order = largest_first(self.weights, self.centers)
        parameters = self.parameters.reordered(order)
        return replace(
            self,
            parameters=parameters,
            weights=self.weights[order],
            centers=self.centers[:, order],
            sums=None if self.sums is None else self.sums.reordered(order),
            labels=assign(parameters),
        )


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
    reason = (
        Message(
            "[no_group_splits] no group of {samples} can be split further: {reason}",
            reason=leaves[0].reason,
        )
        if k < n_components
        else None
    )
    parameters = Samples(rows, weight, smoothing).m_step(family, grown.labels, k)
    return Initialization.of(parameters, {"rank": k, "reason": reason, "warnings": []})


DecompositionName = Literal[
    "sidiwo",
    "svtd",
    "tensor_power_method",
    "als",
    "svd_method",
    "eigendecomposition",
    "jennrich",
    "random_projections",
]
Decomposer = DecompositionName | Callable[..., Decomposition]

DECOMPOSITIONS: tuple[str, ...] = get_args(DecompositionName)
"""Names of the functions in ``momentree.decomposition`` that a flat model accepts."""
WHITENING_TOL = 1e-4
"""Residual of the eigenpairs of estimated moments, far below the error of the moments."""
WHITENING_ITER = 30
"""Products with M2, beyond two per component, if its spectrum is flat."""


def check_decomposition(name: str, method: object) -> None:
    """Raise an error if a method is neither callable nor the name of one."""
    if not callable(method):
        check_choice(name, method, DECOMPOSITIONS)


def decomposer(method: str | Callable[..., Decomposition]) -> Callable[..., Decomposition]:
    """Return the function of a name, or the function itself."""
    found: Callable[..., Decomposition]
    found = method if callable(method) else getattr(decompositions, method)
    return found


def decomposed(
    moments: Moments, k: int, method: str | Callable[..., Decomposition], random_state: Any
) -> Decomposition:
    """Whiten estimated moments as precisely as they deserve, and decompose them."""
    white = whiten(moments, k, tol=WHITENING_TOL, max_iter=2 * k + WHITENING_ITER)
    return decomposer(method)(moments, k, random_state=random_state, whitening=white)


DENSE_VALUES = 1 << 22
"""Number of values in a dense block of new samples: 32 MB."""


def draw_rows(n_samples: int, d: int, draw: Callable[[slice], Any]) -> Any:
    """Return new samples as a sparse array; `draw(at)` returns the rows `at`, in order."""
    step = max(1, DENSE_VALUES // d)
    starts = range(0, n_samples, step)
    parts = [sp.csr_array(draw(slice(at, min(at + step, n_samples)))) for at in starts]
    return sp.vstack(parts, format="csr") if parts else sp.csr_array((0, d), dtype=np.int64)


def draw_by_component(labels: Ints, d: int, draw: Callable[[int, int], Any]) -> Any:
    """Return new samples as a sparse array; `draw(j, n)` returns n samples of component j."""

    def rows(at: slice) -> Any:
        here = labels[at]
        X = np.zeros((len(here), d), dtype=np.int64)
        for j in np.unique(here):
            X[here == j] = draw(int(j), int(np.count_nonzero(here == j)))
        return X

    return draw_rows(len(labels), d, rows)


def sample_documents(
    self: Any,
    n_samples: int = 1,
    *,
    length: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Any, NDArray[Any]]:
    """Draw documents from the fitted model.

    Parameters
    ----------
    n_samples : int >= 0, default=1
        Number of documents.
    length : int >= 0, default=None
        Number of words per document. None uses the rounded mean over the documents of ``fit``.
    random_state : int, RandomState or None, default=None
        Seed; None means seed 0.

    Returns
    -------
    X : csr_array of int64, shape (n_samples, n_features)
        Counts.
    topics : ndarray of shape (n_samples,) or (n_samples, n_components)
        Topic of each document; for :class:`LatentDirichletAllocation` its topic proportions,
        rows with sum 1.
    """
    check_is_fitted(self, "components_")
    check_integer("n_samples", n_samples, at_least=0)
    check_integer("length", length, at_least=0, optional=True)
    words = round(self.mean_count_) if length is None else length
    found: tuple[Any, NDArray[Any]] = self._draw_documents(
        n_samples, words, generator(random_state)
    )
    return found
