"""Assign samples by the rules of a tree's splits, from the root down."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from momentree._types import Floats, Ints
from momentree._validation import check_shape
from momentree.assignment.rules import Rule
from momentree.backends import RowBlocks
from momentree.exceptions import InvalidDataError
from momentree.objects import MixtureParameters


@dataclass(frozen=True)
class RuleAssigner:
    """Follow the rule of each split from the root to a leaf; the leaves are the groups.

    There is one rule per inner node, in pre-order. Each side leads to a child: inner node j >= 0,
    or leaf i as -1 - i. After a merge, several sides may lead to the same leaf.
    """

    rules: tuple[Rule, ...]
    children: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        inner = [(j, side) for j, sides in enumerate(self.children) for side in sides if side >= 0]
        # Each rule except the first is the child of exactly one earlier rule.
        sound = (
            [rule.n_sides for rule in self.rules] == [len(sides) for sides in self.children]
            and sorted(side for _, side in inner) == list(range(1, len(self.rules)))
            and all(parent < side for parent, side in inner)
        )
        if not sound:
            raise InvalidDataError("rules_not_a_tree")

    @property
    def n_groups(self) -> int:
        """Number of leaves."""
        return -min((side for sides in self.children for side in sides), default=-1)

    def labels(self, rows: RowBlocks) -> Ints:
        """Return the leaf of each sample, shape (n,)."""
        at = np.full(rows.shape[0], 0 if self.rules else -1, dtype=np.intp)
        for j, (rule, sides) in enumerate(zip(self.rules, self.children, strict=True)):
            here = at == j  # in pre-order, parents come before their children
            at[here] = np.array(sides)[rows.map(rule.scores)[here].argmax(axis=1)]
        return -1 - at

    def proba(self, rows: RowBlocks) -> Floats:
        """Return the product of the side probabilities along the path to each leaf.

        :meth:`labels` follows the most likely side at every split; if splits are uncertain, its
        leaf is not always the most likely one.
        """
        n = rows.shape[0]
        if not self.rules:
            return np.ones((n, 1))
        inner = np.zeros((n, len(self.rules)))
        inner[:, 0] = 1.0
        out = np.zeros((n, self.n_groups))
        for j, (rule, sides) in enumerate(zip(self.rules, self.children, strict=True)):
            for target, p in zip(sides, rule.proba(rows).T, strict=True):
                into = inner[:, target] if target >= 0 else out[:, -1 - target]
                into += inner[:, j] * p
        return out

    def renumbered(self, to: Ints) -> RuleAssigner:
        """Return the same assigner with group i renumbered as `to[i]`."""
        children = (
            tuple(side if side >= 0 else -1 - int(to[-1 - side]) for side in sides)
            for sides in self.children
        )
        return RuleAssigner(self.rules, tuple(children))

    def for_missing_values(self) -> RuleAssigner:
        """Return the same assigner for binary records, with missing values treated as zeros."""
        return RuleAssigner(tuple(rule.for_missing_values() for rule in self.rules), self.children)

    def check(self, family: type[MixtureParameters], n_statistics: int) -> set[int]:  # noqa: ARG002
        """Check that the assigner fits a model, and return its group numbers."""
        for rule in self.rules:
            check_shape("coef", rule.coef, (n_statistics, *rule.coef.shape[1:]))
        return {-1 - side for sides in self.children for side in sides if side < 0} or {0}
