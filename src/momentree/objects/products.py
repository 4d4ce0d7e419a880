"""Parameters of mixtures whose columns are independent and may be of different kinds."""

import itertools
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import xlogy

from momentree._types import Floats, Ints
from momentree.objects import discrete, gaussian, mixtures

POSSIBLE = 0.05
"""Fraction of the average that initial components keep, against extreme estimates."""
EMPTY = 1e-9
"""Below this fraction of all values, sums that were found as differences are rounding errors."""
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class ProductColumns:
    """The columns of a product family: numbers, then yes/no, counts and levels of categories.

    Attributes
    ----------
    n_numbers, n_yes_no, n_counts : int
        Number of columns of each kind, in this order.
    category_of : ndarray of int of shape (n_levels,)
        Category of each level, ascending from 0; the columns of its levels come last.
    gaps : ndarray of int
        Columns in which values are missing, ascending; a category needs none: all its levels are 0.
    least_variance : ndarray of shape (n_numbers,)
        Smallest variance of each number in a component.
    """

    n_numbers: int
    n_yes_no: int
    n_counts: int
    category_of: Ints
    gaps: Ints
    least_variance: Floats

    @property
    def n_single(self) -> int:
        """Number of columns that are not levels of a category."""
        return self.n_numbers + self.n_yes_no + self.n_counts

    @property
    def n_features(self) -> int:
        """d, the number of columns, with those of levels."""
        return self.n_single + len(self.category_of)

    @property
    def n_categories(self) -> int:
        """Number of categories."""
        return int(self.category_of[-1]) + 1 if len(self.category_of) else 0

    @cached_property
    def first_levels(self) -> Ints:
        """Position of the first level of each category, among levels."""
        return np.searchsorted(self.category_of, np.arange(self.n_categories)).astype(np.intp)

    def of_categories(self, levels: Floats) -> Floats:
        """Return sums over the levels of each category.

        Parameters
        ----------
        levels : ndarray of shape (n_levels, ...)
            Values of levels.

        Returns
        -------
        ndarray of shape (n_categories, ...)
            The sums.
        """
        if not len(self.category_of):
            return levels[:0]
        return np.asarray(np.add.reduceat(levels, self.first_levels, axis=0))

    @cached_property
    def parts(self) -> tuple[slice, slice, slice, slice]:
        """Rows of numbers, yes/no, counts and levels, among the first d statistics."""
        ends = np.cumsum([0, self.n_numbers, self.n_yes_no, self.n_counts, len(self.category_of)])
        one, two, three, four = (slice(int(a), int(b)) for a, b in itertools.pairwise(ends))
        return one, two, three, four

    def statistics(self, X: Any, missing: Any | None = None) -> Any:
        """Return (x, squares of numbers, missing values in `gaps`) of every sample.

        Parameters
        ----------
        X : csr_array of shape (n, d)
            Values, with zeros for missing ones.
        missing : csr_array of shape (n, d) or None
            1 where a value is missing.

        Returns
        -------
        csr_array of shape (n, p)
            The statistics.
        """
        numbers = X[:, : self.n_numbers]
        blocks = [X, numbers.multiply(numbers)]
        if len(self.gaps):
            none = sp.csr_array((X.shape[0], len(self.gaps)))
            blocks.append(none if missing is None else missing[:, self.gaps])
        return sp.csr_array(sp.hstack(blocks, format="csr"))


@dataclass(frozen=True)
class ProductParameters(mixtures.MixtureParameters):
    """Parameters of a mixture of independent columns of different kinds.

        log P[x, j] = log omega_j + sum_w log P[x_w | component j]

    over the observed values: a normal density with mean mu_wj and variance v_wj for a number,
    Bernoulli for yes/no, Poisson for a count, and discrete probabilities for the levels of a
    category, in one column each. Several counts in the place of one level are words, which are
    multinomial. Missing values do not affect the likelihood; this assumes that they are missing at
    random.

    Attributes
    ----------
    weights : ndarray of shape (k,)
        omega_j = P[component j], sum 1.
    centers : ndarray of shape (d, k)
        mu_j = E[x | component j] in columns: means, probabilities and rates.
    variances : ndarray of shape (n_numbers, k)
        v_wj > 0, of each number.
    columns : ProductColumns
        Kinds of the columns.
    """

    variances: Floats
    columns: ProductColumns

    signed: ClassVar[bool] = True

    def reordered(self, order: Ints) -> Self:
        """Return the same components in another order."""
        w, mu, v = self.weights[order], self.centers[:, order], self.variances[:, order]
        return type(self)(w, mu, v, self.columns)

    def shrunk(self, whole: Self, kept: float) -> Self:
        """Shrink the mean statistics of the components towards the average.

        Parameters
        ----------
        whole : ProductParameters
            One component: the average.
        kept : float
            Fraction of the differences that remains, also in the mean squares of numbers.

        Returns
        -------
        ProductParameters
            The components, with the same weights. Variances are at least 0.05 of the overall ones.
        """
        means = super().shrunk(whole, kept)
        a = self.columns.n_numbers
        all_squares = whole.variances + whole.centers[:a] ** 2
        squares = self.variances + self.centers[:a] ** 2
        variances = all_squares + kept * (squares - all_squares) - means.centers[:a] ** 2
        least = np.maximum(self.columns.least_variance[:, None], POSSIBLE * whole.variances)
        return replace(means, variances=np.maximum(variances, least))

    @property
    def coefficients(self) -> Floats:
        """theta, shape (p, k)."""
        numbers, _, _, _ = self.columns.parts
        log_mu, log_rest = self._logs
        single = log_mu.copy()
        single[: len(log_rest)] -= log_rest
        rows = [self.centers[numbers] / self.variances, single, -0.5 / self.variances]
        if len(self.columns.gaps):
            rows.append(-self._constants[self.columns.gaps])
        return np.vstack(rows)

    @property
    def offsets(self) -> Floats:
        """b_j = log omega_j + sum_w c_wj, with c the constants of single columns, shape (k,)."""
        return np.asarray(self.log_weights + self._constants.sum(axis=0))

    def m_step(self, sums: Floats, sizes: Floats, smoothing: float) -> Self:  # type: ignore[override]
        """Return the maximum a posteriori parameters of other groups of samples.

        Means of numbers are S_w / N_w, and variances

            v_w = max((Q_w - S_w^2 / N_w) / N_w, least_variance_w),

        with Q the sums of squares and N_w the number of observed values. Probabilities and rates
        are (S_w + smoothing m_w) / (N_w + smoothing), with m the mean of all samples. A group
        without a value of a number gets its overall mean and variance.
        """
        c, k = self.columns, len(sizes)
        numbers, yes_no, counts, levels = c.parts
        N = self._observed(sums, sizes)
        centers = np.empty((c.n_features, k))
        centers[numbers], variances = _normal(
            sums[numbers], sums[c.n_features :][: c.n_numbers], N[numbers], c.least_variance
        )
        totals = c.of_categories(sums[levels])[c.category_of]
        for part, observed in ((yes_no, N[yes_no]), (counts, N[counts]), (levels, totals)):
            S = np.maximum(sums[part], 0.0)  # rounding may make it negative
            mean = S.sum(axis=1, keepdims=True) / np.maximum(
                observed.sum(axis=1, keepdims=True), TINY
            )
            centers[part] = (S + smoothing * mean) / (np.maximum(observed, 0.0) + smoothing)
        centers[yes_no] = np.minimum(centers[yes_no], 1.0)
        return type(self)(sizes / sizes.sum(), centers, variances, c)

    def log_prior(self, sums: Floats, sizes: Floats, smoothing: float) -> float:
        """Return the log density of the prior: `smoothing` samples of mean m in each component.

        smoothing sum_wj E[log P[x_w | j]], over all columns but numbers, which have no prior.
        """
        c = self.columns
        _, yes_no, counts, levels = c.parts
        N, S = self._observed(sums, sizes), np.maximum(sums, 0.0)
        totals = c.of_categories(S[levels]).sum(axis=1)[c.category_of]
        below = np.concatenate([N[yes_no].sum(axis=1), N[counts].sum(axis=1), totals])
        mean = S[c.n_numbers : c.n_features].sum(axis=1) / np.maximum(below, TINY)
        log_mu, log_rest = (part.sum(axis=1) for part in self._logs)
        a = c.n_yes_no
        prior = float(mean @ log_mu + (1.0 - mean[:a]) @ log_rest)
        return smoothing * (prior - float(self.centers[counts].sum()))

    def maximized_log_likelihood(self, sums: Floats, sizes: Floats) -> Floats:  # type: ignore[override]
        """Return the maximized log-likelihood of each group of samples under one component."""
        c = self.columns
        flat, sizes = np.reshape(sums, (len(sums), -1)), np.asarray(sizes)
        numbers, yes_no, counts, levels = c.parts
        N = np.maximum(self._observed(flat, sizes.reshape(-1)), 0.0)
        S = np.maximum(flat, 0.0)
        _, v = _normal(
            flat[numbers], flat[c.n_features :][: c.n_numbers], N[numbers], c.least_variance
        )
        ones, n = S[yes_no], N[yes_no]
        zeros = np.maximum(n - ones, 0.0)
        parts = (
            -0.5 * N[numbers] * (np.log(v) + 1.0),
            xlogy(ones, ones) + xlogy(zeros, zeros) - xlogy(n, n),
            xlogy(S[counts], S[counts]) - xlogy(S[counts], N[counts]) - S[counts],
            xlogy(S[levels], S[levels]),
        )
        totals = c.of_categories(S[levels])
        found = sum(part.sum(axis=0) for part in parts) - xlogy(totals, totals).sum(axis=0)
        return np.asarray(found).reshape(sizes.shape)

    @cached_property
    def _logs(self) -> tuple[Floats, Floats]:
        """Logarithms of mu without numbers, and of 1 - mu of yes/no."""
        c = self.columns
        mu = self.centers[c.n_numbers :]
        a = c.n_yes_no
        yes = np.minimum(np.maximum(mu[:a], discrete.CERTAIN), 1.0 - discrete.CERTAIN)
        others = np.log(np.maximum(mu[a:], TINY))
        return np.vstack([np.log(yes), others]), np.log1p(-yes)

    @cached_property
    def _constants(self) -> Floats:
        """The part of log P[x_w | j] that does not depend on x, shape (n_single, k)."""
        numbers, _, counts, _ = self.columns.parts
        v = self.variances
        normal = -0.5 * (self.centers[numbers] ** 2 / v + np.log(v))
        return np.vstack([normal, self._logs[1], -self.centers[counts]])

    def _observed(self, sums: Floats, sizes: Floats) -> Floats:
        """Return the numbers of observed values of single columns, shape (n_single, k)."""
        c = self.columns
        N = np.repeat(np.asarray(sizes, dtype=np.float64)[None], c.n_single, axis=0)
        if len(c.gaps):
            N[c.gaps] -= sums[c.n_features + c.n_numbers :]
        return N

    def __getstate__(self) -> dict[str, Any]:
        names = ("weights", "centers", "variances", "columns")
        return {name: getattr(self, name) for name in names}


def _normal(S: Floats, Q: Floats, N: Floats, least: Floats) -> tuple[Floats, Floats]:
    """Return the means and variances of numbers, from sums, sums of squares and numbers."""
    empty = EMPTY * np.maximum(N.sum(axis=1, keepdims=True), TINY) >= N
    n = np.where(empty, 1.0, N)
    total = np.maximum(N.sum(axis=1, keepdims=True), TINY)
    mean, square = S.sum(axis=1, keepdims=True) / total, Q.sum(axis=1, keepdims=True) / total
    mu, squares = np.where(empty, mean, S / n), np.where(empty, square, Q / n)
    least = np.maximum(np.maximum(least[:, None], gaussian.ROUNDING * squares), TINY)
    return mu, np.maximum(squares - mu**2, least)
