"""Data of a Gaussian mixture in standard units, and its components in those of the data."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree import objects
from momentree._types import Floats
from momentree.backends import LiftedRows, RowBlocks, in_canonical_order
from momentree.core.choices import CovarianceType
from momentree.messages import Message
from momentree.objects import full_gaussian, gaussian

MAX_DENSE = 1 << 25
"""Values of a dense copy, at most (256 MB), if most values are zero."""
TYPICAL = 0.9
"""Fraction of the values of a column that counts as typical."""
EXTREME = 1e6
"""A value this many typical distances from the median is extreme: beside its square, squares of
typical distances are rounding errors."""

HIDING = 0.1
"""A floor of variances above this share of the variance of a column may hide groups."""


@dataclass(frozen=True)
class GaussianData:
    """Checked real-valued data of a fit in canonical order.

    Samples are z = (x - shift) / scale.

    Attributes
    ----------
    Z : ndarray or csr_array of shape (n, d)
        Samples, 0 if a value is missing; sparse if they are many and mostly zero.
    missing : csr_array of shape (n, d) or None
        1 if a value is missing.
    weight : ndarray of shape (n,)
        Sample weights; 0 for extreme rows.
    shift, scale : ndarray of shape (d,)
        The scales are equal for "spherical", whose covariances depend on units.
    floor : ndarray of shape (d,)
        The floor of variances, in units of Z.
    covariance_type : {"spherical", "tied", "diag", "full"}
        Covariances of the components.
    notes : list of Message
        What was left out.
    """

    Z: Any
    missing: Any | None
    weight: Floats
    shift: Floats
    scale: Floats
    floor: Floats
    covariance_type: CovarianceType
    notes: list[Message]

    @classmethod
    def prepared(
        cls,
        X: Any,
        missing: Any | None,
        weight: Floats,
        covariance_type: CovarianceType,
        reg_covar: float,
    ) -> GaussianData:
        """Return the data of a fit.

        Parameters
        ----------
        X : csr_array of shape (n, d)
            Finite values, with zeros for missing ones.
        missing : csr_array of shape (n, d) or None
            1 where a value is missing.
        weight : ndarray of shape (n,)
            Weights >= 0, not all zero.
        covariance_type : {"spherical", "tied", "diag", "full"}
            Covariances of the components.
        reg_covar : float >= 0
            The floor of variances, in squared units of X.

        Returns
        -------
        GaussianData
            The data.
        """
        d = X.shape[1]
        both = X if missing is None else sp.csr_array(sp.hstack([X, missing], format="csr"))
        ordered, at = in_canonical_order(RowBlocks(both), weight)
        matrix, weight = ordered.matrix, weight[at]
        if missing is not None:
            matrix, missing = matrix[:, :d], matrix[:, d:]
        notes = list[Message]()
        n = X.shape[0]
        if n * d > MAX_DENSE and 2 * X.nnz < n * d and covariance_type in ("spherical", "diag"):
            Z, shift, spread = matrix, np.zeros(d), _deviations(matrix, weight)
        else:
            Z = matrix.toarray().astype(np.float64, copy=False)
            seen = None if missing is None else missing.toarray() == 0
            weight, notes = without_extremes(Z, seen, weight)
            if seen is not None and len(empty := np.flatnonzero(~seen.any(axis=0))):
                columns = empty.tolist()
                notes.append(
                    Message(
                        "[columns_all_missing] {n_columns:~column} {n_columns:?contains/contain} "
                        "no values ({columns:and}): {n_columns:?it does/they do} not affect the "
                        "groups, and {n_columns:?its mean is/their means are} 0; remove "
                        "{n_columns:?it/them}",
                        n_columns=len(columns),
                        columns=columns,
                    )
                )
            shift, spread = _mean_and_deviation(Z, seen, weight)
        if len(low := np.flatnonzero((spread > 0) & (reg_covar > HIDING * spread**2))):
            notes.append(
                Message(
                    "[reg_covar_large] {parameters.reg_covar:=reg_covar} is more than a tenth of "
                    "the variance of {n_columns:~column} ({columns:and}) and may hide groups "
                    "there: lower it, or convert {n_columns:?this column/these columns} to other "
                    "units",
                    reg_covar=reg_covar,
                    n_columns=len(low),
                    columns=low.tolist(),
                )
            )
        scale = np.where(spread > 0, spread, 1.0)
        if covariance_type == "spherical":
            rms = float(np.sqrt(np.mean(spread**2)))
            scale = np.full(d, rms if rms > 0 else 1.0)
        if hasattr(Z, "indptr"):
            Z = sp.csr_array((Z.data / scale[Z.indices], Z.indices, Z.indptr), Z.shape)
        else:
            Z = (Z - shift) / scale
            if seen is not None:
                Z[~seen] = 0.0
        floor = reg_covar / scale**2
        return cls(Z, missing, weight, shift, scale, floor, covariance_type, notes)

    def family(self) -> objects.MixtureParameters:
        """Return the family of the components, with its floor."""
        if self.covariance_type == "tied":
            squares = self.Z.T @ (self.weight[:, None] * self.Z) / self.weight.sum()
            return objects.SharedGaussianParameters.with_squares(squares, self.floor)
        if self.covariance_type == "full":
            return objects.FullGaussianParameters.with_floor(self.floor)
        return self._simple.with_floor(self.floor)

    @property
    def _simple(self) -> type[objects.GaussianParameters | objects.DiagonalGaussianParameters]:
        """The class of the parameters of "spherical" and "diag"."""
        if self.covariance_type == "spherical":
            complete = self.missing is None
            return objects.GaussianParameters if complete else objects.IncompleteGaussianParameters
        diagonal = objects.DiagonalGaussianParameters
        return diagonal if self.missing is None else objects.IncompleteDiagonalGaussianParameters

    def rows(self) -> RowBlocks:
        """Return the statistics of the samples for this family."""
        d = self.Z.shape[1]
        if self.covariance_type in ("spherical", "diag"):
            statistics: Any = self._simple.statistics
            if self.missing is not None:
                return RowBlocks(statistics(sp.csr_array(self.Z), self.missing))
            if sp.issparse(self.Z):
                return RowBlocks(statistics(self.Z))
        lifts: dict[str, tuple[Callable[[Floats], Floats], int]] = {
            "spherical": (_with_length, d + 1),
            "diag": (_with_squares, 2 * d),
            "tied": (np.array, d),
            "full": (full_gaussian.lifted, d + d * (d + 1) // 2),
        }
        return LiftedRows(self.Z, *lifts[self.covariance_type])


def _with_length(Z: Floats) -> Floats:
    return np.column_stack([Z, np.einsum("iw,iw->i", Z, Z)])


def _with_squares(Z: Floats) -> Floats:
    return np.hstack([Z, Z * Z])


def _deviations(X: Any, weight: Floats) -> Floats:
    v = weight / weight.sum()
    mean, square = X.T @ v, sp.csr_array((X.data**2, X.indices, X.indptr), X.shape).T @ v
    return _proper(np.asarray(square - mean**2), np.asarray(square))


def _mean_and_deviation(X: Floats, seen: Any | None, weight: Floats) -> tuple[Floats, Floats]:
    """Return the weighted mean and standard deviation of the observed values of each column."""
    v = weight[:, None] * (1.0 if seen is None else seen)
    total = np.broadcast_to(v, X.shape).sum(axis=0)
    total = np.where(total > 0, total, 1.0)
    mean = (v * X).sum(axis=0) / total
    variance = (v * (X - mean) ** 2).sum(axis=0) / total
    return mean, _proper(variance, mean**2 + variance)


def _proper(variance: Floats, square: Floats) -> Floats:
    """Return deviations, 0 if a variance is a rounding error."""
    return np.sqrt(np.where(variance > 1e-24 * square, np.maximum(variance, 0.0), 0.0))


def without_extremes(X: Floats, seen: Any | None, weight: Floats) -> tuple[Floats, list[Message]]:
    """Return weights that are zero for rows with extreme values, and what was left out."""
    usable = np.flatnonzero(weight > 0)
    values = X[usable]
    if seen is not None:
        values = np.where(seen[usable], values, np.nan)
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)  # a column without values
        median, quantile = np.nanmedian, np.nanquantile
        if seen is None:  # several times as fast
            median, quantile = np.median, np.quantile
        distances = np.abs(values - median(values, axis=0))
        typical = quantile(distances, TYPICAL, axis=0)
        for column in np.flatnonzero(~(typical > 0)):  # most values are equal
            others = distances[distances[:, column] > 0, column]
            typical[column] = np.median(others) if len(others) else np.inf
        extreme = distances > EXTREME * typical
    bad = extreme.any(axis=1)
    if not bad.any() or bad.all():
        return weight, []
    weight = weight.copy()
    weight[usable[bad]] = 0.0
    row, column = np.argwhere(extreme)[0]
    note = Message(
        "[extreme_rows] {n_rows:~row} {n_rows:?has/have} a value a million times farther from the "
        "median of its column than typical values (such as {value:.6g} in column {column}), and "
        "{n_rows:?was/were} left out of the fit and assigned afterwards; check these values",
        n_rows=int(np.count_nonzero(bad)),
        column=int(column),
        value=float(X[usable[row], column]),
    )
    return weight, [note]


BLOCK_VALUES = 1 << 20
"""Values of a dense block of samples: 8 MB."""


@dataclass(frozen=True)
class GaussianComponents:
    """Gaussian components in the units of the data.

    Attributes
    ----------
    weights : ndarray of shape (k,)
        omega.
    means : ndarray of shape (k, d)
        mu in rows.
    covariances : ndarray
        Of shape (k,), (d, d), (k, d) or (k, d, d), as in scikit-learn.
    covariance_type : {"spherical", "tied", "diag", "full"}
        Which of them.
    """

    weights: Floats
    means: Floats
    covariances: Floats
    covariance_type: CovarianceType

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        k, d = (int(size) for size in self.means.shape)
        return k - 1 + k * d + gaussian.covariance_parameters(self.covariance_type, k, d)

    def variances(self) -> Floats:
        """Return the variance of each feature in each component, shape (k, d)."""
        k, d = self.means.shape
        if self.covariance_type == "spherical":
            return np.repeat(self.covariances[:, None], d, axis=1)
        if self.covariance_type == "diag":
            return self.covariances
        return np.broadcast_to(np.diagonal(self.full(), axis1=1, axis2=2), (k, d))

    def full(self) -> Floats:
        """Return the covariances of each component, shape (k, d, d)."""
        k, d = self.means.shape
        if self.covariance_type == "tied":
            return np.broadcast_to(self.covariances, (k, d, d))
        if self.covariance_type == "full":
            return self.covariances
        return np.stack([np.diag(v) for v in self.variances()])

    def log_joint(self, X: Any, missing: Any | None) -> Floats:
        """Return log omega_j + log P[x | component j] of samples.

        Parameters
        ----------
        X : csr_array of shape (n, d)
            Values, with zeros for missing ones.
        missing : csr_array of shape (n, d) or None
            1 where a value is missing; the density is that of the observed values.

        Returns
        -------
        ndarray of shape (n, k)
            In nats. Time O(n d k), or O(n d^2 k) with covariances.
        """
        n, d = X.shape
        diagonal = self.covariance_type in ("spherical", "diag")
        with np.errstate(divide="ignore"):
            log_weights = np.log(self.weights)
        if diagonal and missing is None and n * d > MAX_DENSE and 2 * X.nnz < n * d:
            return np.asarray(self._sparse(X) + log_weights)
        out = np.empty((n, len(self.weights)))
        roots = None if diagonal else _roots(self.full())
        step = max(1, BLOCK_VALUES // max(d, 1))
        for at in range(0, n, step):
            here = slice(at, min(at + step, n))
            block = X[here].toarray().astype(np.float64, copy=False)
            gaps = None if missing is None else missing[here].toarray() > 0
            if roots is None:
                out[here] = self._diagonal(block, gaps)
            elif gaps is None or not gaps.any():
                out[here] = self._complete(block, roots)
            else:
                out[here] = self._by_pattern(block, gaps, roots)
        return out + log_weights

    def _sparse(self, X: Any) -> Floats:
        v = self.variances()
        squares = sp.csr_array((X.data**2, X.indices, X.indptr), X.shape)
        quadratic = X @ (self.means / v).T - 0.5 * (squares @ (1.0 / v).T)
        constant = (self.means**2 / v + np.log(v) + gaussian.LOG_2_PI).sum(axis=1)
        return np.asarray(quadratic - 0.5 * constant)

    def _diagonal(self, X: Floats, gaps: Any | None) -> Floats:
        out = np.empty((len(X), len(self.weights)))
        for j, (mean, v) in enumerate(zip(self.means, self.variances(), strict=True)):
            terms = (X - mean) ** 2 / v + np.log(v) + gaussian.LOG_2_PI
            if gaps is not None:
                terms[gaps] = 0.0
            out[:, j] = -0.5 * terms.sum(axis=1)
        return out

    def _complete(self, X: Floats, roots: Floats) -> Floats:
        k, d = self.means.shape
        out = np.empty((len(X), k))
        for j in range(k):
            if j == 0 or self.covariance_type == "full":
                inverse = np.linalg.inv(roots[j])
            distances = (((X - self.means[j]) @ inverse.T) ** 2).sum(axis=1)
            log_determinant = 2.0 * np.log(np.diag(roots[j])).sum()
            out[:, j] = -0.5 * (distances + log_determinant + d * gaussian.LOG_2_PI)
        return out

    def _by_pattern(self, X: Floats, gaps: Any, roots: Floats) -> Floats:
        """Return the densities of the observed values, for rows with the same ones together."""
        out = np.empty((len(X), len(self.weights)))
        patterns, group = np.unique(gaps, axis=0, return_inverse=True)
        group = group.reshape(-1)
        full = self.full()
        for g, pattern in enumerate(patterns):
            rows, seen = np.flatnonzero(group == g), np.flatnonzero(~pattern)
            if len(seen) == X.shape[1]:
                out[rows] = self._complete(X[rows], roots)
                continue
            part = GaussianComponents(
                self.weights,
                self.means[:, seen],
                full[:, seen[:, None], seen],
                "full",
            )
            out[rows] = part._complete(X[np.ix_(rows, seen)], _roots(part.covariances))
        return out

    def draw(self, labels: Any, rng: np.random.RandomState) -> Floats:
        """Return one sample from each of the given components, shape (len(labels), d)."""
        noise = rng.standard_normal((len(labels), self.means.shape[1]))
        if self.covariance_type in ("spherical", "diag"):
            return np.asarray(self.means[labels] + noise * np.sqrt(self.variances()[labels]))
        roots = np.linalg.cholesky(self.full())
        for j in np.unique(labels):
            noise[labels == j] = noise[labels == j] @ roots[j].T
        return np.asarray(self.means[labels] + noise)


def _roots(covariances: Floats) -> Floats:
    return np.asarray(np.linalg.cholesky(covariances), dtype=np.float64)
