"""Assignment of samples to groups, block by block, by the posteriors of a mixture."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from momentree._types import Floats, Ints
from momentree._validation import check_shape
from momentree.backends import Block, RowArray, Rows
from momentree.backends.kernels import kernel
from momentree.core.ties import largest
from momentree.exceptions import InvalidDataError
from momentree.inference import log_posterior
from momentree.inference.posteriors import JointKernel
from momentree.messages import wording
from momentree.objects import (
    BernoulliParameters,
    DiagonalGaussianParameters,
    GaussianParameters,
    IncompleteBernoulliParameters,
    IncompleteDiagonalGaussianParameters,
    IncompleteGaussianParameters,
    MixtureParameters,
)


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


_INCOMPLETE: dict[type[MixtureParameters], type[MixtureParameters]] = {
    BernoulliParameters: IncompleteBernoulliParameters,
    IncompleteBernoulliParameters: IncompleteBernoulliParameters,
    GaussianParameters: IncompleteGaussianParameters,
    DiagonalGaussianParameters: IncompleteDiagonalGaussianParameters,
}


@kernel
@dataclass(frozen=True, eq=False)
class LikeliestGroup(JointKernel):
    """The group of the most likely component of each sample, shape (n,)."""

    group: Ints

    def __call__(self, B: Block) -> Ints:
        """Return the groups of the samples of a block."""
        return np.asarray(self.group[largest(self.joint(B))])


@kernel
@dataclass(frozen=True, eq=False)
class GroupProbabilities(JointKernel):
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

    parameters: MixtureParameters
    group: Ints

    def __post_init__(self) -> None:
        check_shape("group", self.group, (self.parameters.n_components,))

    @classmethod
    def of(cls, parameters: MixtureParameters) -> MixtureAssigner:
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

    def check(self, family: type[MixtureParameters], n_statistics: int) -> set[int]:
        """Check that the assigner fits a model, and return its group numbers."""
        if type(self.parameters) is not family:
            raise InvalidDataError(
                wording.BAD_ENTRY, name="parameters", value=type(self.parameters).__name__
            )
        shape = (n_statistics, self.parameters.n_components)
        check_shape("coefficients", self.parameters.coefficients, shape)
        return set(self.group.tolist())
