"""Assign samples in two steps: to a group, then to a part of that group (T Remark 4.4.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from momentree._types import Floats, Ints
from momentree.assignment.posteriors import BlockAssigner, MixtureAssigner
from momentree.assignment.rules import RuleAssigner
from momentree.backends import Block
from momentree.backends.kernels import kernel
from momentree.exceptions import InvalidDataError
from momentree.objects import MixtureParameters


@dataclass(frozen=True)
class Division:
    """An assigner of the samples of one group to its parts, and the final group of each part."""

    assigner: Assigner
    groups: tuple[int, ...]


@dataclass(frozen=True)
class NestedAssigner(BlockAssigner):
    """Assign samples to a group of `base`, then to a part of that group if it is divided further.

    For each group of `base`, `parts` contains its final number or its division. Numbers repeat if
    groups have been merged.
    """

    base: Assigner
    parts: tuple[int | Division, ...]

    @classmethod
    def of(cls, base: Assigner, group: int, inner: Assigner) -> NestedAssigner:
        """Return an assigner in which the groups of `inner` replace one group of `base`."""
        more = inner.n_groups - 1
        parts: list[int | Division] = [i + more * (i > group) for i in range(base.n_groups)]
        parts[group] = Division(inner, tuple(range(group, group + more + 1)))
        return cls(base, tuple(parts))

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return 1 + max(
            max(part.groups) if isinstance(part, Division) else part for part in self.parts
        )

    def labels_kernel(self) -> NestedLabels:
        """Return a kernel that maps a block to the group of each row, shape (n,)."""
        return NestedLabels(self.base.labels_kernel(), self._kernels("labels_kernel"))

    def proba_kernel(self) -> NestedProbabilities:
        """Return a kernel for the product of the probabilities of both steps.

        :meth:`labels` returns the most likely part of the most likely group of `base`, which is
        not always the most likely part overall.
        """
        kernels = self._kernels("proba_kernel")
        return NestedProbabilities(self.base.proba_kernel(), kernels, self.n_groups)

    def _kernels(self, name: str) -> tuple[Part, ...]:
        return tuple(
            (getattr(part.assigner, name)(), part.groups) if isinstance(part, Division) else part
            for part in self.parts
        )

    def renumbered(self, to: Ints) -> NestedAssigner:
        """Return the same assigner with group i renumbered as `to[i]`."""
        parts = (
            Division(part.assigner, tuple(int(to[i]) for i in part.groups))
            if isinstance(part, Division)
            else int(to[part])
            for part in self.parts
        )
        return NestedAssigner(self.base, tuple(parts))

    def for_missing_values(self) -> NestedAssigner:
        """Return the same assigner for binary records with missing values."""
        parts = (
            Division(part.assigner.for_missing_values(), part.groups)
            if isinstance(part, Division)
            else part
            for part in self.parts
        )
        return NestedAssigner(self.base.for_missing_values(), tuple(parts))

    def check(self, family: type[MixtureParameters], n_statistics: int) -> set[int]:
        """Check that the assigner fits a model, and return its group numbers."""
        check_assigner(self.base, family, n_statistics, len(self.parts))
        found: set[int] = set()
        for part in self.parts:
            if isinstance(part, Division):
                check_assigner(part.assigner, family, n_statistics, len(part.groups))
                found.update(part.groups)
            else:
                found.add(part)
        return found


Part: TypeAlias = int | tuple[Callable[[Block], Any], tuple[int, ...]]
"""The final number of a group, or the kernel of its division and the number of each part."""


@kernel
@dataclass(frozen=True, eq=False)
class NestedLabels:
    """The group of each row, shape (n,)."""

    base: Callable[[Block], Ints]
    parts: tuple[Part, ...]

    def __call__(self, B: Block) -> Ints:
        """Return the groups of the rows of a block."""
        first = self.base(B)
        out = np.empty_like(first)
        for i, part in enumerate(self.parts):
            here = first == i
            if isinstance(part, int):
                out[here] = part
            elif here.any():
                kernel, groups = part
                out[here] = np.array(groups)[kernel(B)[here]]
        return out


@kernel
@dataclass(frozen=True, eq=False)
class NestedProbabilities:
    """The probability of each group for each row, shape (n, n_groups)."""

    base: Callable[[Block], Floats]
    parts: tuple[Part, ...]
    n_groups: int

    def __call__(self, B: Block) -> Floats:
        """Return the probabilities for the rows of a block."""
        first = self.base(B)
        out = np.zeros((len(first), self.n_groups))
        for p, part in zip(first.T, self.parts, strict=True):
            if isinstance(part, int):
                out[:, part] += p
            else:
                kernel, groups = part
                for group, within in zip(groups, kernel(B).T, strict=True):
                    out[:, group] += p * within
        return out


Assigner: TypeAlias = MixtureAssigner | RuleAssigner | NestedAssigner
"""Assigns samples to groups 0, 1, ...; the groups of a tree are its leaves from left to right."""


def check_assigner(
    assigner: Assigner, family: type[MixtureParameters], n_statistics: int, n_groups: int
) -> None:
    """Check that an assigner from a file fits a model, because compiled code trusts shapes."""
    found = assigner.check(family, n_statistics)
    if found != set(range(n_groups)):
        raise InvalidDataError(
            "the groups of the assigner are {found:list}; expected 0 to {last}",
            found=sorted(found),
            last=n_groups - 1,
        )
