"""How samples find their leaf: by the mixture over all leaves, or by the rules of the splits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from momentree.backends import RowBlocks
from momentree.inference import log_joint, log_posterior
from momentree.objects import MixtureParameters
from momentree.tree.rules import Rule

__all__ = ["Assigner", "MixtureAssigner", "RuleAssigner"]

Floats = NDArray[np.float64]


class Assigner(Protocol):
    """Assigns samples to leaves; leaves are numbered from left to right."""

    def labels(self, rows: RowBlocks) -> NDArray[np.intp]:
        """Return the leaf of each sample, shape (n,)."""
        ...

    def proba(self, rows: RowBlocks) -> Floats:
        """Return the probability of each leaf for each sample, shape (n, n_leaves)."""
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
    leaf: NDArray[np.intp]

    @classmethod
    def of(cls, parameters: MixtureParameters) -> MixtureAssigner:
        """Return the assigner with one component a leaf."""
        return cls(parameters, np.arange(parameters.n_components))

    def labels(self, rows: RowBlocks) -> NDArray[np.intp]:
        """Return the leaf of the likeliest component for each sample, shape (n,)."""
        return np.asarray(self.leaf[log_joint(rows, self.parameters).argmax(axis=1)])

    def proba(self, rows: RowBlocks) -> Floats:
        """Return the probability of each leaf for each sample, shape (n, n_leaves)."""
        posterior = np.exp(log_posterior(log_joint(rows, self.parameters))[0])
        out = np.zeros((len(posterior), int(self.leaf.max()) + 1))
        for j, leaf in enumerate(self.leaf):
            out[:, leaf] += posterior[:, j]
        return out


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

    def labels(self, rows: RowBlocks) -> NDArray[np.intp]:
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
