"""Assignment of samples to groups by posteriors: of a mixture, and of incomplete records."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree import objects
from momentree._types import Floats, Ints
from momentree._validation import check_shape
from momentree.backends import Block, RowArray, Rows, kernels
from momentree.core.ties import largest
from momentree.exceptions import InvalidDataError
from momentree.inference import log_posterior, posteriors
from momentree.messages import wording


class BlockAssigner(ABC):
    """Base class of assigners, which map each row to a group without regard to the others."""

    @abstractmethod
    def labels_kernel(self) -> Callable[[Block], Ints]:
        """Return a kernel that maps a block to the group of each row, shape (n,)."""

    @abstractmethod
    def proba_kernel(self) -> Callable[[Block], Floats]:
        """Return a kernel that maps a block to group probabilities, shape (n, n_groups)."""

    def labels(self, rows: Rows) -> RowArray:
        """Return the group of each sample, shape (n,)."""
        return rows.map(self.labels_kernel())

    def proba(self, rows: Rows) -> RowArray:
        """Return the probability of each group for each sample, shape (n, n_groups)."""
        return rows.map(self.proba_kernel())


_INCOMPLETE: dict[type[objects.MixtureParameters], type[objects.MixtureParameters]] = {
    objects.BernoulliParameters: objects.IncompleteBernoulliParameters,
    objects.IncompleteBernoulliParameters: objects.IncompleteBernoulliParameters,
    objects.GaussianParameters: objects.IncompleteGaussianParameters,
    objects.DiagonalGaussianParameters: objects.IncompleteDiagonalGaussianParameters,
}


@kernels.kernel
@dataclass(frozen=True, eq=False)
class LikeliestGroup(posteriors.JointKernel):
    """The group of the most likely component of each sample, shape (n,)."""

    group: Ints

    def __call__(self, B: Block) -> Ints:
        """Return the groups of the samples of a block."""
        return np.asarray(self.group[largest(self.joint(B))])


@kernels.kernel
@dataclass(frozen=True, eq=False)
class GroupProbabilities(posteriors.JointKernel):
    """The probability of each group for each sample, shape (n, n_groups)."""

    group: Ints

    def __call__(self, B: Block) -> Floats:
        """Return the probabilities for the samples of a block."""
        posterior = np.exp(log_posterior(self.joint(B))[0])
        out = np.zeros((len(posterior), int(self.group.max()) + 1))
        for j, group in enumerate(self.group):
            out[:, group] += posterior[:, j]
        return out


@dataclass(frozen=True)
class MixtureAssigner(BlockAssigner):
    """Assign each sample to the group of its most likely component.

    `group` contains the group of each component; merged components share a group.
    """

    parameters: objects.MixtureParameters
    group: Ints

    def __post_init__(self) -> None:
        check_shape("group", self.group, (self.parameters.n_components,))

    @classmethod
    def of(cls, parameters: objects.MixtureParameters) -> MixtureAssigner:
        """Return an assigner with one group per component."""
        return cls(parameters, np.arange(parameters.n_components))

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.group.max()) + 1

    def labels_kernel(self) -> LikeliestGroup:
        """Return a kernel that maps a block to the group of each row, shape (n,)."""
        p = self.parameters
        return LikeliestGroup(p.coefficients, p.offsets, self.group)

    def proba_kernel(self) -> GroupProbabilities:
        """Return a kernel that maps a block to group probabilities, shape (n, n_groups)."""
        p = self.parameters
        return GroupProbabilities(p.coefficients, p.offsets, self.group)

    def renumbered(self, to: Ints) -> MixtureAssigner:
        """Return the same assigner with group i renumbered as `to[i]`."""
        return MixtureAssigner(self.parameters, np.asarray(to, dtype=np.intp)[self.group])

    def for_missing_values(self) -> MixtureAssigner:
        """Return the same assigner for samples with missing values, which the likelihood ignores.

        Its rows are the statistics of the family of incomplete samples.
        """
        p = self.parameters
        values = {field.name: getattr(p, field.name) for field in fields(p)}
        return MixtureAssigner(_INCOMPLETE[type(p)](**values), self.group)

    def check(self, family: type[objects.MixtureParameters], n_statistics: int) -> set[int]:
        """Check that the assigner fits a model, and return its group numbers."""
        if type(self.parameters) is not family:
            raise InvalidDataError(
                wording.BAD_ENTRY, name="parameters", value=type(self.parameters).__name__
            )
        shape = (n_statistics, self.parameters.n_components)
        check_shape("coefficients", self.parameters.coefficients, shape)
        return set(self.group.tolist())


RATES = 5.0 ** (-np.arange(6) / 5.0)
"""Recording rates from all codes to a fifth of them, equally likely on a logarithmic scale."""

UNDECIDED = -1
"""Label of a record that is not assigned to a group."""

_CERTAIN = 1e-9
_HALF = 0.5 + 1e-9  # beyond rounding errors, so that the page names the same group
_ENOUGH = 5
"""A code in fewer records of a group than this is not enough to name the group."""


@dataclass(frozen=True)
class IncompleteAssigner:
    """Posteriors of k groups for records in which codes may have been left out.

    A record of group j has code w with probability mu_jw, and each of its codes is recorded with
    the same unknown rate r, independently. With P[r] = 1/6 for r = 1, 5^-1/5, ..., 1/5,

        P[j | x] ~ n_j sum_r P[r] prod_w (r mu_jw)^x_w (1 - r mu_jw)^(1 - x_w)
        mu_jw = (c_jw + m_w) / (n_jw + 1)

    where c_jw of n_jw records of the group have the code, and m_w is its frequency in all records.
    At r = 1, this is the posterior of a mixture (T eq. 4.1); as r approaches 0, absent codes do not
    count. Missing values are left out of the product.

    Attributes
    ----------
    counts : ndarray of shape (k, d)
        c: records of each group with each code.
    observed : ndarray of shape (k, d)
        n_jw: records of each group in which it is known whether they have the code.
    sizes : ndarray of shape (k,)
        n_j: records of each group.
    """

    counts: Floats
    observed: Floats
    sizes: Floats

    def __post_init__(self) -> None:
        check_shape("sizes", self.sizes, ("n_groups",))
        check_shape("counts", self.counts, (len(self.sizes), "n_features"))
        check_shape("observed", self.observed, self.counts.shape)
        for name in ("counts", "observed", "sizes"):
            if not (getattr(self, name) >= 0).all():
                raise InvalidDataError(wording.BELOW_ZERO, name=name)

    @classmethod
    def from_sums(cls, ones: Floats, missing: Floats | None, sizes: Floats) -> IncompleteAssigner:
        """Return the assigner for sums of ones, and of missing values, in groups: (d, k)."""
        whole = np.broadcast_to(sizes, ones.shape)
        observed = whole if missing is None else np.maximum(whole - missing, 0.0)
        return cls(ones.T.copy(), observed.T.copy(), sizes)

    def merged(self, to: Ints) -> IncompleteAssigner:
        """Return the assigner with group i renumbered as `to[i]`; equal numbers are merged."""
        into = (np.arange(to.max() + 1)[:, None] == to).astype(np.float64)
        return IncompleteAssigner(into @ self.counts, into @ self.observed, into @ self.sizes)

    @classmethod
    def from_dict(cls, content: Any) -> IncompleteAssigner:
        """Return the assigner that :meth:`to_dict` converted to plain values."""
        try:
            counts, sizes = (np.array(content[key], dtype=float) for key in ("counts", "sizes"))
            if content["observed"] is None:
                observed = np.broadcast_to(sizes[:, None], counts.shape)
            else:
                observed = np.array(content["observed"], dtype=float)
            usable = all(np.isfinite(values).all() for values in (counts, observed, sizes))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise InvalidDataError(
                wording.BAD_ENTRY, name="assignment", value=repr(error)
            ) from error
        if not usable:
            raise InvalidDataError(wording.BAD_ENTRY, name="assignment", value="not finite")
        return cls(counts, observed, sizes)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; "observed" is None if no value is missing."""
        complete = bool((self.observed == self.sizes[:, None]).all())
        return {
            "rates": RATES.tolist(),
            "sizes": self.sizes.tolist(),
            "counts": self.counts.tolist(),
            "observed": None if complete else self.observed.tolist(),
        }

    @property
    def shape(self) -> tuple[int, int]:
        """Number of groups k and of codes d."""
        return len(self.sizes), int(self.counts.shape[1])

    def proba(self, ones: Any, missing: Any | None = None) -> Floats:
        """Return the probability of each group for each record, shape (n, k).

        `ones` and `missing` are sparse arrays of shape (n, d), with ones where a record has a code,
        and where that is unknown.
        """
        known = np.maximum(self.observed.sum(axis=0), np.finfo(float).tiny)
        mean = self.counts.sum(axis=0) / known
        mu = np.clip((self.counts + mean) / (self.observed + 1.0), _CERTAIN, 1.0 - _CERTAIN)
        with np.errstate(divide="ignore"):
            log_sizes = np.log(self.sizes)
        total = np.full((ones.shape[0], len(self.sizes)), -np.inf)
        for rate in RATES:
            absent = np.log1p(-rate * mu)
            scores = ones @ (np.log(rate * mu) - absent).T + (log_sizes + absent.sum(axis=1))
            if missing is not None:
                scores = scores - missing @ absent.T
            total = np.logaddexp(total, scores)
        return np.exp(log_posterior(total)[0])

    def labels(self, ones: Any, proba: Floats) -> Ints:
        """Return the group of each record, shape (n,), or -1 where its codes do not decide.

        A group is named if

        - it is more probable than all others together,
        - one of the codes occurs in at least five of its records, and
        - it has records with each of the codes that occurs in any group.
        """
        best = largest(proba)
        known = ones @ (self.counts >= _ENOUGH).T.astype(np.float64) > 0
        named = (proba > _HALF) & known & ~self.lacks(ones)
        return np.where(named[np.arange(len(best)), best], best, UNDECIDED)

    def lacks(self, ones: Any) -> NDArray[np.bool_]:
        """Return whether a record has a code that occurs in other groups only, shape (n, k)."""
        elsewhere = (self.counts == 0) & (self.counts > 0).any(axis=0)
        return np.asarray(ones @ elsewhere.T.astype(np.float64) > 0)
