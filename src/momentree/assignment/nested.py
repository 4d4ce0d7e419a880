"""Assign samples in two steps: to a group, then to a part of that group (T Remark 4.4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from momentree._types import Floats, Ints
from momentree.assignment.posteriors import MixtureAssigner
from momentree.assignment.tree_rules import RuleAssigner
from momentree.backends import RowBlocks
from momentree.exceptions import InvalidDataError
from momentree.objects import MixtureParameters


@dataclass(frozen=True)
class Division:
    """An assigner of the samples of one group to its parts, and the final group of each part."""

    assigner: Assigner
    groups: tuple[int, ...]


@dataclass(frozen=True)
class NestedAssigner:
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

    def labels(self, rows: RowBlocks) -> Ints:
        """Return the group of each sample, shape (n,)."""
        first = self.base.labels(rows)
        out = np.empty_like(first)
        for i, part in enumerate(self.parts):
            here = np.flatnonzero(first == i)
            if not isinstance(part, Division):
                out[here] = part
            elif len(here):
                out[here] = np.array(part.groups)[part.assigner.labels(rows.take(here))]
        return out

    def proba(self, rows: RowBlocks) -> Floats:
        """Return the probability of each group: the product of the probabilities of both steps.

        :meth:`labels` returns the most likely part of the most likely group of `base`, which is
        not always the most likely part overall.
        """
        first = self.base.proba(rows)
        out = np.zeros((rows.shape[0], self.n_groups))
        for p, part in zip(first.T, self.parts, strict=True):
            if isinstance(part, Division):
                inner = part.assigner.proba(rows)
                for group, within in zip(part.groups, inner.T, strict=True):
                    out[:, group] += p * within
            else:
                out[:, part] += p
        return out

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


Assigner: TypeAlias = MixtureAssigner | RuleAssigner | NestedAssigner
"""Assigns samples to groups 0, 1, ...; the groups of a tree are its leaves from left to right."""


def check_assigner(
    assigner: Assigner, family: type[MixtureParameters], n_statistics: int, n_groups: int
) -> None:
    """Check that an assigner from a file fits a model, because compiled code trusts shapes."""
    found = assigner.check(family, n_statistics)
    if found != set(range(n_groups)):
        raise InvalidDataError("other_groups", found=sorted(found), last=n_groups - 1)
