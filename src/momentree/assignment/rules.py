"""Rules that tell the side of a sample at a split: two topics compared, or scores of D-SIDIWO."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from momentree.backends import Block, RowBlocks
from momentree.objects import MixtureParameters

__all__ = ["LinearRule", "Rule", "ScoreRule"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


class Rule(Protocol):
    """Which side of a split a sample takes."""

    @property
    def coef(self) -> Floats:
        """Of scores that are linear, or the squares of linear ones."""
        ...

    @property
    def n_sides(self) -> int:
        """Number of sides."""
        ...

    def of_block(self, B: Block) -> Floats:
        """Return how much each side claims each sample of a block, shape (n, n_sides).

        A sample takes the side of largest score, and of equal ones the first.
        """
        ...

    def scores(self, rows: RowBlocks) -> Floats:
        """Return the same for all rows."""
        ...

    def shares(self, rows: RowBlocks) -> Floats:
        """Return the probability of each side for each sample, shape (n, n_sides)."""
        ...

    def reordered(self, order: Ints) -> Self:
        """Return the rule with its sides in another order (the old position of each)."""
        ...


@dataclass(frozen=True)
class LinearRule:
    """Of two sides, the first where ``x @ coef + intercept >= 0``.

    Attributes
    ----------
    coef : ndarray of shape (p,)
        theta_1 - theta_2; for topics log mu_1 - log mu_2.
    intercept : float
        b_1 - b_2, or 0 for the conditional likelihood of H Algorithm 2.
    """

    coef: Floats
    intercept: float

    @property
    def n_sides(self) -> int:
        """Two."""
        return 2

    @classmethod
    def between(cls, parameters: MixtureParameters, *, prior: bool) -> LinearRule:
        """Return the rule of maximum a posteriori between two components.

        Without `prior` the offsets are left out, which for topics leaves the likelihood.
        """
        theta = parameters.coefficients
        # EM may starve a topic to a weight of zero: no document takes its side then.
        first, second = parameters.offsets if prior else (0.0, 0.0)
        return cls(theta[:, 0] - theta[:, 1], float(first - second))

    def margins(self, rows: RowBlocks) -> Floats:
        """Return ``x @ coef + intercept`` of each sample, shape (n,)."""
        return rows.map(lambda B: B.dot(self.coef) + self.intercept)

    def of_block(self, B: Block) -> Floats:
        """Return the margin and its negative, shape (n, 2)."""
        margins = B.dot(self.coef) + self.intercept
        return np.stack([margins, -margins], axis=1)

    def scores(self, rows: RowBlocks) -> Floats:
        """Return the same for all rows."""
        return rows.map(self.of_block)

    def shares(self, rows: RowBlocks) -> Floats:
        """Return the posterior of each side, 1 / (1 + exp(-margin)) of the first."""
        first = 0.5 * (1.0 + np.tanh(0.5 * self.margins(rows)))
        return np.stack([first, 1.0 - first], axis=1)

    def reordered(self, order: Ints) -> LinearRule:
        """Return the rule, its sides exchanged where `order` says so."""
        return self if order[0] == 0 else LinearRule(-self.coef, -self.intercept)


@dataclass(frozen=True)
class ScoreRule:
    """The side of the largest score, in size: argmax_i |d_i . x + c_i| (T eq. 6.11).

    Attributes
    ----------
    coef : ndarray of shape (p, s)
        d_i in columns, one a side.
    constant : ndarray of shape (s,)
        c_i; zero in the thesis.
    """

    coef: Floats
    constant: Floats

    @property
    def n_sides(self) -> int:
        """Number of sides."""
        return len(self.constant)

    def of_block(self, B: Block) -> Floats:
        """Return (d_i . x + c_i)^2 of each sample, shape (n, s)."""
        return np.asarray((B.dot(self.coef) + self.constant) ** 2)

    def scores(self, rows: RowBlocks) -> Floats:
        """Return the same for all rows."""
        return rows.map(self.of_block)

    def shares(self, rows: RowBlocks) -> Floats:
        """Return the square of each score over the sum of all; equal shares where all are zero.

        Over the samples of the split, sum_i <d_j, x_i>^2 / n = 1 for every side (T Theorem 6.2.1):
        squares weigh the sides alike.
        """
        squares = self.scores(rows)
        total = squares.sum(axis=1, keepdims=True)
        equal = np.full_like(squares, 1.0 / squares.shape[1])
        return np.asarray(np.divide(squares, total, out=equal, where=total > 0))

    def reordered(self, order: Ints) -> ScoreRule:
        """Return the rule with its sides in another order."""
        return ScoreRule(np.ascontiguousarray(self.coef[:, order]), self.constant[order])
