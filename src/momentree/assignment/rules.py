"""Assignment by the rules of the splits of a tree, and in two steps after an edit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from momentree._types import Floats, Ints
from momentree._validation import check_shape
from momentree.assignment.posteriors import BlockAssigner, MixtureAssigner
from momentree.backends import Block
from momentree.backends.kernels import kernel
from momentree.core.ties import largest
from momentree.exceptions import InvalidDataError
from momentree.objects import MixtureParameters

ROUNDING = 1e-13
"""A score below this, relative to the coefficients, is zero."""


@kernel
@dataclass(frozen=True)
class LinearRule:
    """Assign x to the first of two sides if x . coef + intercept >= 0, coef = theta_1 - theta_2."""

    coef: Floats
    intercept: float

    def __post_init__(self) -> None:
        check_shape("coef", self.coef, ("n_statistics",))

    @property
    def n_sides(self) -> int:
        """Number of sides, 2."""
        return 2

    @classmethod
    def between(cls, parameters: MixtureParameters, *, prior: bool) -> LinearRule:
        """Return the maximum a posteriori rule between two components.

        Without `prior` the offsets are omitted; for topics the rule then compares likelihoods.
        """
        theta = parameters.coefficients
        # EM may reduce the weight of a topic to zero; no document is then assigned to it.
        first, second = parameters.offsets if prior else (0.0, 0.0)
        return cls(theta[:, 0] - theta[:, 1], float(first - second))

    @property
    def zero(self) -> float:
        """Scores up to this size are rounding error."""
        finite = self.coef[np.isfinite(self.coef)]
        return ROUNDING * (float(np.abs(finite).max(initial=0.0)) + abs(self.intercept))

    @property
    def columns(self) -> Floats:
        """The coefficients as a matrix of shape (n_statistics, 1)."""
        return self.coef[:, None]

    def sides(self, products: Floats) -> Ints:
        """Return the side of each sample, given its products with `columns`."""
        return np.asarray(products[:, 0] + self.intercept < -self.zero, dtype=np.intp)

    def proba(self, products: Floats) -> Floats:
        """Return the posterior of each side, (n, 2): 1 / (1 + exp(-margin)) for the first."""
        first = 0.5 * (1.0 + np.tanh(0.5 * (products[:, 0] + self.intercept)))
        return np.stack([first, 1.0 - first], axis=1)

    def reordered(self, order: Ints) -> LinearRule:
        """Return the rule with its sides reordered, given the old position of each."""
        return self if order[0] == 0 else LinearRule(-self.coef, -self.intercept)

    def for_missing_values(self) -> LinearRule:
        """Return the same rule for binary records, with missing values treated as zeros."""
        return LinearRule(_pad(self.coef), self.intercept)


@kernel
@dataclass(frozen=True)
class ScoreRule:
    """Assign x to the side with the largest absolute score: argmax_i |d_i . x + c_i| (T eq. 6.11).

    d_i are the columns of `coef`; the `constant` c_i is zero in the thesis.
    """

    coef: Floats
    constant: Floats

    def __post_init__(self) -> None:
        check_shape("constant", self.constant, ("n_sides",))
        check_shape("coef", self.coef, ("n_statistics", self.n_sides))

    @property
    def n_sides(self) -> int:
        """Number of sides."""
        return len(self.constant)

    @property
    def columns(self) -> Floats:
        """The coefficients d_i, shape (n_statistics, s)."""
        return self.coef

    def sides(self, products: Floats) -> Ints:
        """Return the side of each sample, given its products with `columns`."""
        return np.asarray(largest((products + self.constant) ** 2))

    def proba(self, products: Floats) -> Floats:
        """Return squared scores divided by their sum, (n, s); equal values if all are zero.

        Over the samples of the split, sum_i <d_j, x_i>^2 / n = 1 for every side (T Theorem 6.2.1),
        so all sides have the same average squared score.
        """
        squares = (products + self.constant) ** 2
        total = squares.sum(axis=1, keepdims=True)
        equal = np.full_like(squares, 1.0 / squares.shape[1])
        return np.asarray(np.divide(squares, total, out=equal, where=total > 0))

    def reordered(self, order: Ints) -> ScoreRule:
        """Return the rule with its sides reordered, given the old position of each."""
        return ScoreRule(np.ascontiguousarray(self.coef[:, order]), self.constant[order])

    def for_missing_values(self) -> ScoreRule:
        """Return the same rule for binary records, with missing values treated as zeros."""
        return ScoreRule(_pad(self.coef), self.constant)


Rule: TypeAlias = LinearRule | ScoreRule
"""A rule assigns a sample to the side with the largest score; ties go to the first."""


def _pad(coef: Floats) -> Floats:
    """Append zero coefficients for the indicators of missing values."""
    return np.concatenate([coef, np.zeros_like(coef)])


AT_ONCE = 8
"""Columns of a product: more take more time each."""


@dataclass(frozen=True)
class RuleAssigner(BlockAssigner):
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
            raise InvalidDataError(
                "[rules_not_a_tree] the sides of the rules do not lead from the root to the leaves"
            )

    @property
    def n_groups(self) -> int:
        """Number of leaves."""
        return -min((side for sides in self.children for side in sides), default=-1)

    def labels_kernel(self) -> RuleLabels:
        """Return a kernel that maps a block to the leaf of each row, shape (n,)."""
        return RuleLabels(self)

    def proba_kernel(self) -> RuleProbabilities:
        """Return a kernel for the product of side probabilities along the path to each leaf.

        :meth:`labels` follows the most likely side at every split; if splits are uncertain, its
        leaf is not always the most likely one.
        """
        return RuleProbabilities(self)

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


@dataclass(frozen=True, eq=False)
class OfRules:
    """A kernel that needs the products of each row with all rules."""

    tree: RuleAssigner

    @cached_property
    def _parts(self) -> list[Floats]:
        """The columns of all rules, about eight to a matrix: even numbers are faster."""
        columns = np.concatenate([rule.columns for rule in self.tree.rules], axis=1)
        columns = np.pad(columns, ((0, 0), (0, columns.shape[1] % 2)))
        ends = range(AT_ONCE, columns.shape[1], AT_ONCE)
        return [np.ascontiguousarray(part) for part in np.split(columns, ends, axis=1)]

    def products(self, B: Block) -> list[Floats]:
        """Return the products of the rows of a block with the columns of each rule."""
        if not self.tree.rules:
            return []
        found = np.concatenate([B.dot(part) for part in self._parts], axis=1)
        ends = np.cumsum([rule.columns.shape[1] for rule in self.tree.rules])
        return np.split(found, ends, axis=1)[:-1]


@kernel
class RuleLabels(OfRules):
    """The leaf of each row, shape (n,)."""

    def __call__(self, B: Block, *_: Any) -> Ints:
        """Return the leaves of the rows of a block."""
        tree = self.tree
        at = np.full(B.shape[0], 0 if tree.rules else -1, dtype=np.int32)
        products = self.products(B)
        for j, (rule, sides) in enumerate(zip(tree.rules, tree.children, strict=True)):
            here = at == j  # in pre-order, parents come before their children
            at[here] = np.array(sides)[rule.sides(products[j][here])]
        return np.asarray(-1 - at)


@kernel
class RuleProbabilities(OfRules):
    """The probability of each leaf for each row, shape (n, n_groups)."""

    def __call__(self, B: Block) -> Floats:
        """Return the probabilities for the rows of a block."""
        tree, n = self.tree, B.shape[0]
        if not tree.rules:
            return np.ones((n, 1))
        inner, products = np.zeros((n, len(tree.rules))), self.products(B)
        inner[:, 0] = 1.0
        out = np.zeros((n, tree.n_groups))
        for j, (rule, sides) in enumerate(zip(tree.rules, tree.children, strict=True)):
            for target, p in zip(sides, rule.proba(products[j]).T, strict=True):
                into = inner[:, target] if target >= 0 else out[:, -1 - target]
                into += inner[:, j] * p
        return out


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
