"""Rules of one split: the side of each sample (H Algorithm 2, T Algorithm 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from momentree._types import Floats, Ints
from momentree._validation import check_shape
from momentree.backends.kernels import kernel
from momentree.core.ties import largest
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
        return LinearRule(_padded(self.coef), self.intercept)


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
        return ScoreRule(_padded(self.coef), self.constant)


Rule: TypeAlias = LinearRule | ScoreRule
"""A rule assigns a sample to the side with the largest score; ties go to the first."""


def _padded(coef: Floats) -> Floats:
    """Append zero coefficients for the indicators of missing values."""
    return np.concatenate([coef, np.zeros_like(coef)])
