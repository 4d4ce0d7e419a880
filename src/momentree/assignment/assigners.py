"""How samples find their leaf: by a mixture over all leaves, by rules of splits, or by both nested.

Flat models use these too; nothing here knows of trees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from momentree.assignment.rules import LinearRule, Rule, ScoreRule
from momentree.backends import RowBlocks
from momentree.inference import log_joint, log_posterior
from momentree.objects import IncompleteBernoulliParameters, MixtureParameters

__all__ = [
    "Assigner",
    "Division",
    "MixtureAssigner",
    "NestedAssigner",
    "RuleAssigner",
    "reading_gaps",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


class Assigner(Protocol):
    """Assigns samples to leaves; leaves are numbered from left to right."""

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        ...

    def labels(self, rows: RowBlocks) -> Ints:
        """Return the leaf of each sample, shape (n,)."""
        ...

    def proba(self, rows: RowBlocks) -> Floats:
        """Return the probability of each leaf for each sample, shape (n, n_leaves)."""
        ...

    def renumbered(self, to: Ints) -> Assigner:
        """Return the assigner with the number `to[i]` for leaf i; leaves of one number are one."""
        ...


@dataclass(frozen=True)
class MixtureAssigner:
    """Maximum a posteriori under the mixture whose components are the leaves (S eq. 1).

    Attributes
    ----------
    parameters : MixtureParameters
        One component a leaf, or several where leaves have been merged.
    leaf : ndarray of int of shape (n_components,)
        The leaf of each component.
    """

    parameters: MixtureParameters
    leaf: Ints

    @classmethod
    def of(cls, parameters: MixtureParameters) -> MixtureAssigner:
        """Return the assigner with one component a leaf."""
        return cls(parameters, np.arange(parameters.n_components))

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(self.leaf.max()) + 1

    def labels(self, rows: RowBlocks) -> Ints:
        """Return the leaf of the likeliest component for each sample, shape (n,)."""
        return np.asarray(self.leaf[log_joint(rows, self.parameters).argmax(axis=1)])

    def proba(self, rows: RowBlocks) -> Floats:
        """Return the probability of each leaf for each sample, shape (n, n_leaves)."""
        posterior = np.exp(log_posterior(log_joint(rows, self.parameters))[0])
        out = np.zeros((len(posterior), self.n_leaves))
        for j, leaf in enumerate(self.leaf):
            out[:, leaf] += posterior[:, j]
        return out

    def renumbered(self, to: Ints) -> MixtureAssigner:
        """Return the same mixture with other numbers of leaves."""
        return MixtureAssigner(self.parameters, np.asarray(to, dtype=np.intp)[self.leaf])


@dataclass(frozen=True)
class RuleAssigner:
    """Follow the rule of each split from the root down (H Algorithm 2, T Algorithm 5, recursively).

    Attributes
    ----------
    rules : tuple of Rule
        One an inner node, in pre-order.
    children : tuple of tuple of int
        Where each side of each rule leads: an inner node j >= 0, or leaf i as -1 - i. Several
        sides may lead to one leaf, where leaves have been merged.
    """

    rules: tuple[Rule, ...]
    children: tuple[tuple[int, ...], ...]

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return -min((side for sides in self.children for side in sides), default=-1)

    def labels(self, rows: RowBlocks) -> Ints:
        """Return the leaf of each sample, shape (n,)."""
        at = np.full(rows.shape[0], -1 if not self.rules else 0, dtype=np.intp)
        for j, (rule, sides) in enumerate(zip(self.rules, self.children, strict=True)):
            here = at == j  # rules stand in pre-order: parents come before their children
            at[here] = np.array(sides)[rule.scores(rows)[here].argmax(axis=1)]
        return -1 - at

    def proba(self, rows: RowBlocks) -> Floats:
        """Return the product of the shares of the sides along the path to each leaf.

        The leaf of :meth:`labels` takes the largest share at every split; where splits are
        uncertain it need not be the leaf of largest probability.
        """
        n = rows.shape[0]
        inner = np.zeros((n, max(len(self.rules), 1)))
        inner[:, 0] = 1.0
        out = np.zeros((n, self.n_leaves))
        if not self.rules:
            return np.ones((n, 1))
        for j, (rule, sides) in enumerate(zip(self.rules, self.children, strict=True)):
            for target, share in zip(sides, rule.shares(rows).T, strict=True):
                into = inner[:, target] if target >= 0 else out[:, -1 - target]
                into += inner[:, j] * share
        return out

    def renumbered(self, to: Ints) -> RuleAssigner:
        """Return the same rules with other numbers of leaves."""
        children = (
            tuple(side if side >= 0 else -1 - int(to[-1 - side]) for side in sides)
            for sides in self.children
        )
        return RuleAssigner(self.rules, tuple(children))


@dataclass(frozen=True)
class Division:
    """How the samples of one leaf are divided further.

    Attributes
    ----------
    assigner : Assigner
        Of the samples of the leaf.
    leaves : tuple of int
        The number that each leaf of this assigner has in the whole.
    """

    assigner: Assigner
    leaves: tuple[int, ...]


@dataclass(frozen=True)
class NestedAssigner:
    """Follow a first assigner, and where its leaf has been divided further a second one within it.

    Attributes
    ----------
    base : Assigner
        Comes first; may be nested itself.
    parts : tuple of int or Division
        For each leaf of `base` its number in the whole, or how it is divided. A number may stand
        more than once, where leaves have been merged.
    """

    base: Assigner
    parts: tuple[int | Division, ...]

    @classmethod
    def of(cls, base: Assigner, group: int, inner: Assigner) -> NestedAssigner:
        """Return the assigner in which the leaves of `inner` stand in the place of one leaf."""
        more = inner.n_leaves - 1
        whole = tuple(range(group, group + more + 1))
        parts: list[int | Division] = [i + more * (i > group) for i in range(base.n_leaves)]
        parts[group] = Division(inner, whole)
        return cls(base, tuple(parts))

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return 1 + max(
            max(part.leaves) if isinstance(part, Division) else part for part in self.parts
        )

    def labels(self, rows: RowBlocks) -> Ints:
        """Return the leaf of each sample, shape (n,)."""
        first = self.base.labels(rows)
        out = np.empty_like(first)
        for i, part in enumerate(self.parts):
            here = np.flatnonzero(first == i)
            if not isinstance(part, Division):
                out[here] = part
            elif len(here):
                out[here] = np.array(part.leaves)[part.assigner.labels(rows.take(here))]
        return out

    def proba(self, rows: RowBlocks) -> Floats:
        """Return the probability of each leaf: that of the first times that of the second.

        The leaf of :meth:`labels` is the likeliest within the likeliest leaf of `base`; it need not
        be the leaf of largest probability.
        """
        first = self.base.proba(rows)
        out = np.zeros((rows.shape[0], self.n_leaves))
        for share, part in zip(first.T, self.parts, strict=True):
            if isinstance(part, Division):
                inner = part.assigner.proba(rows)
                for leaf, within in zip(part.leaves, inner.T, strict=True):
                    out[:, leaf] += share * within
            else:
                out[:, part] += share
        return out

    def renumbered(self, to: Ints) -> NestedAssigner:
        """Return the same assignment with other numbers of leaves."""
        parts = (
            Division(part.assigner, tuple(int(to[i]) for i in part.leaves))
            if isinstance(part, Division)
            else int(to[part])
            for part in self.parts
        )
        return NestedAssigner(self.base, tuple(parts))


def reading_gaps(assigner: Assigner) -> Assigner:
    """Return an assigner of ones and gaps, given one of binary records without missing values.

    Parameters
    ----------
    assigner : Assigner
        Its rows are the d ones of a record.

    Returns
    -------
    Assigner
        Its rows are the statistics of ``IncompleteBernoulliParameters``, of shape (n, 2 d). A
        likelihood leaves missing values out; scores take them for zeros.
    """
    if isinstance(assigner, MixtureAssigner):
        p = assigner.parameters
        return MixtureAssigner(IncompleteBernoulliParameters(p.weights, p.centers), assigner.leaf)
    if isinstance(assigner, NestedAssigner):
        parts = (
            Division(reading_gaps(part.assigner), part.leaves)
            if isinstance(part, Division)
            else part
            for part in assigner.parts
        )
        return NestedAssigner(reading_gaps(assigner.base), tuple(parts))
    assert isinstance(assigner, RuleAssigner)  # noqa: S101 - there is no fourth
    return RuleAssigner(tuple(_padded(rule) for rule in assigner.rules), assigner.children)


def _padded(rule: Rule) -> Rule:
    coef = np.concatenate([rule.coef, np.zeros_like(rule.coef)])
    if isinstance(rule, LinearRule):
        return LinearRule(coef, rule.intercept)
    assert isinstance(rule, ScoreRule)  # noqa: S101 - there is no third
    return ScoreRule(coef, rule.constant)
