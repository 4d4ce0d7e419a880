"""How documents find their leaf: by the mixture over all leaves, or by the rules of the splits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from momentree.backends import RowBlocks
from momentree.inference import log_joint, log_posterior
from momentree.objects import TopicParameters
from momentree.tree.split import LinearRule

__all__ = ["Assigner", "MixtureAssigner", "RuleAssigner"]

Floats = NDArray[np.float64]


class Assigner(Protocol):
    """Assigns documents to leaves; leaves are numbered from left to right."""

    def labels(self, rows: RowBlocks) -> NDArray[np.intp]:
        """Return the leaf of each document, shape (n,)."""
        ...

    def proba(self, rows: RowBlocks) -> Floats:
        """Return the probability of each leaf for each document, shape (n, n_leaves)."""
        ...


@dataclass(frozen=True)
class MixtureAssigner:
    """Maximum a posteriori under the mixture whose components are the leaves (S eq. 1).

    Attributes
    ----------
    parameters : TopicParameters
        One component a leaf.
    """

    parameters: TopicParameters

    def labels(self, rows: RowBlocks) -> NDArray[np.intp]:
        """Return the leaf of each document, shape (n,)."""
        return np.asarray(log_joint(rows, self.parameters).argmax(axis=1), dtype=np.intp)

    def proba(self, rows: RowBlocks) -> Floats:
        """Return the probability of each leaf for each document, shape (n, n_leaves)."""
        return np.asarray(np.exp(log_posterior(log_joint(rows, self.parameters))[0]))


@dataclass(frozen=True)
class RuleAssigner:
    """Follow the rule of each split from the root down (H Algorithm 2, applied recursively).

    Attributes
    ----------
    rules : tuple of LinearRule
        One an inner node, in pre-order.
    children : ndarray of int of shape (n_inner, 2)
        Where each side leads: an inner node j >= 0, or leaf i as -1 - i.
    """

    rules: tuple[LinearRule, ...]
    children: NDArray[np.intp]

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.rules) + 1

    def labels(self, rows: RowBlocks) -> NDArray[np.intp]:
        """Return the leaf of each document, shape (n,)."""
        at = np.full(rows.shape[0], -1 if not self.rules else 0, dtype=np.intp)
        for j, margin in enumerate(self._margins(rows).T):
            here = at == j  # rules stand in pre-order: parents come before their children
            at[here] = self.children[j, np.where(margin[here] >= 0, 0, 1)]
        return -1 - at

    def proba(self, rows: RowBlocks) -> Floats:
        """Return the product of the sides' posteriors along the path to each leaf.

        Each split compares two topics, so a side has the posterior 1 / (1 + exp(-margin)). The
        leaf of :meth:`labels` takes the likelier side at every split; where splits are uncertain
        it need not be the leaf of largest probability.
        """
        n = rows.shape[0]
        inner = np.zeros((n, max(len(self.rules), 1)))
        inner[:, 0] = 1.0
        out = np.zeros((n, self.n_leaves))
        if not self.rules:
            return np.ones((n, 1))
        for j, margin in enumerate(self._margins(rows).T):
            first = 0.5 * (1.0 + np.tanh(0.5 * margin))
            for target, share in zip(self.children[j], (first, 1.0 - first), strict=True):
                into = inner[:, target : target + 1] if target >= 0 else out[:, -1 - target, None]
                into[:, 0] = inner[:, j] * share
        return out

    def _margins(self, rows: RowBlocks) -> Floats:
        if not self.rules:
            return np.empty((rows.shape[0], 0))
        return np.stack([rule.margins(rows) for rule in self.rules], axis=1)
