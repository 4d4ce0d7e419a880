"""Feature map of a cluster tree: kind of data, constant, unit length, standardized columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp

from momentree import backends, objects
from momentree._types import Floats
from momentree.backends import kernels, products
from momentree.core.choices import CovarianceType
from momentree.exceptions import InvalidDataError
from momentree.messages import wording
from momentree.preprocessing.kinds import Kind, check_kind, detect_kind
from momentree.preprocessing.leaf_mixture import LeafMixture
from momentree.preprocessing.outliers import Bounds

_FAMILIES: dict[Kind, type[objects.MixtureParameters]] = {
    "binary": objects.BernoulliParameters,
    "counts": objects.PoissonParameters,
    "non_negative": objects.GaussianParameters,
    "real": objects.GaussianParameters,
    "directions": objects.VonMisesFisherParameters,
}
_INCOMPLETE: dict[Kind, type[objects.MixtureParameters]] = {
    "binary": objects.IncompleteBernoulliParameters,
    "real": objects.IncompleteGaussianParameters,
}


@dataclass(frozen=True)
class FeatureMap:
    """Map samples of one kind to the rows used for moments and mixtures.

    Samples x become statistics t(x - shift) / scale of a mixture family. The moments see
    augmented rows f (s * t, c), as in :class:`momentree.moments.AugmentedRawMoments`.

    Attributes
    ----------
    kind : {"binary", "counts", "non_negative", "real", "directions"}
        Kind of the data. Each kind includes those before it.
    shift, scale : ndarray of shape (d,)
        Mean and standard deviation of standardized columns; 0 and 1 unless the data are real.
    moment_scale : ndarray of shape (p,)
        s, the factor of each statistic in the moments; 0 excludes it.
    constant : float
        c, the value of the additional feature.
    scaled : bool
        Whether f scales augmented rows to unit length, unless the data are real; otherwise f = 1.
    bounds : Bounds or None
        Ranges of real values, which replace outliers; None if there are none.
    leaves : LeafMixture or None
        Mixture over the leaves of a tree of real data; None if it is that of the splits.
    """

    kind: Kind
    shift: Floats
    scale: Floats
    moment_scale: Floats
    constant: float
    scaled: bool
    bounds: Bounds | None = None
    leaves: LeafMixture | None = None

    @property
    def incomplete(self) -> bool:
        """Whether values were missing."""
        p, d = len(self.moment_scale), len(self.shift)
        return (self.kind, p) in (("binary", 2 * d), ("real", 2 * d + 1))

    @property
    def family(self) -> type[objects.MixtureParameters]:
        """Mixture family that evaluates and refines splits; its statistics are the rows."""
        return (_INCOMPLETE if self.incomplete else _FAMILIES)[self.kind]

    @property
    def leaf_family(self) -> type[objects.MixtureParameters]:
        """Mixture family over the leaves; its statistics are the :meth:`leaf_rows`."""
        return self.family if self.leaves is None else self.leaves.family

    @property
    def n_leaf_statistics(self) -> int:
        """Number of columns of the :meth:`leaf_rows`."""
        return len(self.moment_scale) if self.leaves is None else self.leaves.n_statistics

    @property
    def _unit_length(self) -> bool:
        return self.scaled and self.kind != "real" and self.kind != "directions"

    @classmethod
    def from_data(
        cls,
        X: Any,
        missing: Any | None,
        weight: Floats,
        kind: Kind | Literal["auto"],
        *,
        scaled: bool,
        few: float = 0.0,
    ) -> FeatureMap:
        """Compute the feature map for data.

        Parameters
        ----------
        X : csr_array of shape (n, d)
            Values, with zeros for missing ones.
        missing : csr_array of shape (n, d) or None
            1 where a value is missing.
        weight : ndarray of shape (n,)
            Sample weights.
        kind : {"auto", "binary", "counts", "non_negative", "real", "directions"}
            "auto" detects the kind.
        scaled : bool
            Whether to scale rows to unit length, or real columns to unit variance, and to add the
            constant, and to bound outliers.
        few : float >= 0, default=0.0
            So many samples, by weight, may be outliers; see :class:`Bounds`.

        Returns
        -------
        FeatureMap
            The feature map.
        """
        kind = detect_kind(X) if kind == "auto" else kind
        check_kind(kind, X, missing)
        if kind != "binary" or missing is not None:
            # The last bits of sums decide between symmetric groups, so fix the order of rows.
            ordered, at = backends.in_canonical_order(backends.RowBlocks(X), weight)
            X, weight = ordered.matrix, weight[at]
            missing = None if missing is None else missing[at]
        d = X.shape[1]
        shift, scale, moment_scale = np.zeros(d), np.ones(d), np.ones(d)
        bounds = None
        if kind == "real" and scaled:
            bounds = Bounds.of(X, missing, weight, few)
            X = X if bounds is None else bounds.applied(X, missing)
            shift, scale = _mean_and_deviation(X, missing, weight)
        rates = observation_rates(missing, weight)
        if rates is not None:
            moment_scale = 1.0 / rates
        if issubclass(_FAMILIES[kind], objects.GaussianParameters):
            moment_scale = np.append(moment_scale, 0.0)
        if rates is not None:
            moment_scale = np.append(moment_scale, np.zeros(d))
        constant = _constant(kind, X, weight) if scaled and kind != "directions" else 0.0
        return cls(kind, shift, scale, moment_scale, constant, scaled, bounds)

    @classmethod
    def from_rows(
        cls, rows: backends.Rows, weight: backends.RowArray, kind: Kind, *, scaled: bool
    ) -> FeatureMap:
        """Compute the feature map for binary data or counts, wherever they are.

        Parameters
        ----------
        rows : Rows of shape (n, d)
            Values; none is missing.
        weight : row array of shape (n,)
            Sample weights.
        kind : {"binary", "counts"}
            Their kind.
        scaled : bool
            Whether to scale rows to unit length, and to add the constant.

        Returns
        -------
        FeatureMap
            That of :meth:`from_data` for the same data.
        """
        d = rows.shape[1]
        constant = 0.0
        if scaled:
            constant = 1.0 if kind == "binary" else _root_mean_square(rows, weight)
        return cls(kind, np.zeros(d), np.ones(d), np.ones(d), constant, scaled)

    def with_covariances(self, covariance_type: CovarianceType, columns: Any) -> Self:
        """Return the same map with a mixture of Gaussians over the leaves.

        Parameters
        ----------
        covariance_type : {"spherical", "diag", "tied", "full"}
            Covariances of the mixture.
        columns : ndarray of intp of shape (d,)
            Columns of the mixture.

        Returns
        -------
        FeatureMap
            A new map.
        """
        return replace(self, leaves=LeafMixture(covariance_type, columns, self.incomplete))

    def for_missing_values(self) -> Self | None:
        """Return the map of new samples with missing values, after a fit to real data without.

        Returns
        -------
        FeatureMap or None
            None if the mixture over the leaves cannot ignore missing values.
        """
        leaves = self.leaves
        if self.kind != "real" or leaves is None or leaves.covariance_type in ("tied", "full"):
            return None
        scale = np.concatenate([self.moment_scale, np.zeros(len(self.shift))])
        incomplete = LeafMixture(leaves.covariance_type, leaves.columns, incomplete=True)
        return replace(self, moment_scale=scale, leaves=incomplete)

    def check(self, X: Any, missing: Any | None) -> None:
        """Check that new samples are of the same kind as those of the fit.

        Parameters
        ----------
        X : csr_array of shape (n, d)
            Values, with zeros for missing ones.
        missing : csr_array of shape (n, d) or None
            1 where a value is missing.
        """
        check_kind(self.kind, X, missing)

    def rows(self, X: Any, missing: Any | None) -> backends.RowBlocks:
        """Return the statistics of samples.

        Parameters
        ----------
        X : csr_array of shape (n, d)
            Values, with zeros for missing ones.
        missing : csr_array of shape (n, d) or None
            1 where a value is missing.

        Returns
        -------
        RowBlocks of shape (n, p)
            The statistics of the mixture family.
        """
        if self.kind == "directions":
            return backends.RowBlocks(_filled(self.family.statistics(unit_rows(X))))
        if self.kind == "real":
            X = sp.csr_array(self._standardize(X, missing))
        if self.incomplete:
            family: Any = self.family
            return backends.RowBlocks(family.statistics(X, missing))
        if self.kind == "non_negative" and self._unit_length:
            # Gaussians then model the directions of samples, as the moments do.
            X = unit_rows(X)
        return backends.RowBlocks(self.family.statistics(X))

    def _standardize(self, X: Any, missing: Any | None) -> Floats:
        """Return standardized real values without outliers, zero where a value is missing."""
        if self.bounds is not None:
            X = self.bounds.applied(X, missing)
        Z = (X.toarray() - self.shift) / self.scale
        if missing is not None:
            Z[missing.nonzero()] = 0.0
        return np.asarray(Z)

    def leaf_rows(self, rows: backends.Rows) -> backends.Rows:
        """Return the statistics of samples for the mixture over the leaves.

        Parameters
        ----------
        rows : RowBlocks of shape (n, p)
            Statistics for the splits, of :meth:`rows`.

        Returns
        -------
        RowBlocks of shape (n, n_leaf_statistics)
            The same object if the mixture is that of the splits.
        """
        return rows if self.leaves is None else self.leaves.rows(*self.standardized(rows))

    def standardized(self, rows: backends.Rows) -> tuple[Any, Any | None]:
        """Return the standardized values and the missing values in statistics of real data.

        Parameters
        ----------
        rows : RowBlocks of shape (n, p)
            Statistics for the splits.

        Returns
        -------
        values : csr_array of shape (n, d)
            Zero where a value is missing.
        missing : csr_array of shape (n, d) or None
            1 where a value is missing.
        """
        d, matrix = len(self.shift), backends.collected(rows).matrix
        values = sp.csr_array(matrix[:, :d])
        return values, sp.csr_array(matrix[:, d + 1 :]) if self.incomplete else None

    def restored(self, sums: Floats, sizes: Floats) -> Floats:
        """Return sums of real values, in the units of the data, from sums of their statistics.

        Parameters
        ----------
        sums, sizes : ndarray of shape (p, k) and (k,)
            Sums of the statistics over groups, and the total sample weight of each.

        Returns
        -------
        ndarray of shape (d, k)
            Sums over observed values, with outliers replaced.
        """
        d = len(self.shift)
        observed = sizes - sums[d + 1 :] if self.incomplete else sizes
        scale = np.where(np.isfinite(self.scale), self.scale, 0.0)
        return np.asarray(scale[:, None] * sums[:d] + self.shift[:, None] * observed)

    def row_scale(self, rows: backends.Rows) -> backends.RowArray:
        """Return f, the factor of each row in the moments.

        Parameters
        ----------
        rows : Rows of shape (n, p)
            Statistics of samples.

        Returns
        -------
        row array of shape (n,)
            The factors.
        """
        if not self._unit_length:
            return rows.ones()
        if self.kind == "counts":
            squares = rows.map(squared_length)
        else:
            # A one is its own square; Gaussian statistics include the squared length.
            right = self.moment_scale**2 if self.kind == "binary" else 1.0 - self.moment_scale
            squares = rows.map(partial(products.product, V=right))
        return rows.each(partial(inverse_length, more=self.constant**2), squares)


@kernels.kernel
def squared_length(B: backends.Block) -> Floats:
    """Return the sum of squares of each row, shape (n,)."""
    return B.with_data(np.square(B.csr[0])).dot(np.ones(B.shape[1]))


@kernels.kernel
def inverse_length(squares: Floats, *, more: float) -> Floats:
    """Return the inverse of the length of rows, given the sums of their squares."""
    return _inverse_roots(squares + more)


@kernels.kernel
def n_filled(B: backends.Block) -> Floats:
    """Return the number of stored values of each row, shape (n,)."""
    return np.asarray(np.diff(B.pattern[1]), dtype=np.float64)


def _root_mean_square(rows: backends.Rows, weight: backends.RowArray) -> float:
    """Return the root mean square of the stored values."""
    squares = float(rows.sum(products.dot, rows.map(squared_length), weight))
    filled = float(rows.sum(products.dot, rows.map(n_filled), weight))
    return float(np.sqrt(squares / max(filled, np.finfo(float).tiny)))


def unit_rows(X: Any) -> Any:
    """Return the rows of a CSR array scaled to unit length; zeros remain."""
    inverse = _inverse_roots(backends.RowBlocks(_squared(X)).row_sums)
    data = X.data * np.repeat(inverse, np.diff(X.indptr))
    if X.dtype == np.float32:
        data = data.astype(np.float32)  # halves the memory
    return sp.csr_array((data, X.indices, X.indptr), X.shape)


def _filled(X: Any) -> Any:
    """Return an array with few zeros with all of them stored, so that BLAS computes products."""
    n, d = X.shape
    if 2 * X.nnz < n * d:
        return X
    every = np.tile(np.arange(d, dtype=np.int32), n)
    return sp.csr_array((X.toarray().ravel(), every, np.arange(0, n * d + 1, d)), X.shape)


def _constant(kind: Kind, X: Any, weight: Floats) -> float:
    """Return the value of the additional feature."""
    if kind == "binary":
        return 1.0
    if kind == "real":
        # It outweighs all columns together: the first direction of every group is then the
        # constant, and the second the largest difference within the group.
        return float(np.sqrt(X.shape[1]))
    # The root mean square of the nonzero values, in rows of unit length for "non_negative".
    filled = float(weight @ np.diff(X.indptr))
    unit_length = kind == "non_negative"
    squares = float(
        weight.sum() if unit_length else weight @ backends.RowBlocks(_squared(X)).row_sums
    )
    return float(np.sqrt(squares / max(filled, np.finfo(float).tiny)))


def _mean_and_deviation(X: Any, missing: Any | None, weight: Floats) -> tuple[Floats, Floats]:
    """Return the mean and standard deviation of each column; inf for a constant column."""
    v = weight / weight.sum()
    observed = np.ones(X.shape[1]) if missing is None else 1.0 - np.asarray(missing.T @ v)
    observed = np.maximum(observed, np.finfo(float).tiny)
    mean = np.asarray(X.T @ v) / observed
    # Deviations from the mean of nonzero values, and of the other observed ones, which are zero. A
    # difference of squares would lose values that vary little in relation to their mean.
    n, d = X.shape
    filled = np.where(X.data != 0, np.repeat(v, np.diff(X.indptr)), 0.0)
    apart = filled * (X.data - mean[X.indices]) ** 2
    counts = np.bincount(X.indices[X.data != 0], minlength=d)
    if missing is not None:
        counts = counts + np.bincount(missing.indices, minlength=d)
    zeros = np.maximum(observed - np.bincount(X.indices, filled, minlength=d), 0.0)
    zeros = np.where(counts < n, zeros, 0.0)
    variance = (np.bincount(X.indices, apart, minlength=d) + zeros * mean**2) / observed
    rounding = 1e-12 * np.maximum(np.abs(mean), 1e-300)
    deviation = np.sqrt(variance)
    return mean, np.where(deviation > rounding, deviation, np.inf)


def _squared(X: Any) -> Any:
    """Return the squares of all values in double precision, because small types overflow."""
    return sp.csr_array((X.data.astype(np.float64) ** 2, X.indices, X.indptr), X.shape)


def _inverse_roots(squares: Floats) -> Floats:
    return np.divide(1.0, np.sqrt(squares), out=np.zeros(len(squares)), where=squares > 0)


def observation_rates(missing: Any | None, sample_weight: Floats) -> Floats | None:
    """Return the weighted proportion of rows in which each feature is observed.

        p_i = sum of v_s / sum v over the rows s in which x_si is observed

    Parameters
    ----------
    missing : sparse matrix or array of shape (n_samples, n_features) or None
        1 where a value is missing; None if no value is missing.
    sample_weight : ndarray of shape (n_samples,)
        Weights v >= 0, not all zero.

    Returns
    -------
    ndarray of shape (n_features,) or None
        p in (0, 1]; None if no value is missing.

    Raises
    ------
    InvalidDataError
        If a feature is missing in every row of positive weight.

    Notes
    -----
    With missing values set to zero, x / p has the mean of the complete data, and so do products of
    different features, if values are missing independently of each other and of their own values.
    Time O(number of missing values).

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from momentree.preprocessing import observation_rates
    >>> missing = sp.csr_array(np.array([[0, 1], [0, 0], [0, 0], [0, 0]]))
    >>> observation_rates(missing, np.ones(4))
    array([1.  , 0.75])
    """
    if missing is None:
        return None
    v = sample_weight / sample_weight.sum()
    lost = np.asarray(missing.T @ v)
    # The sum of all weights may differ from 1 by rounding.
    never = np.flatnonzero(lost > 1 - 1e-12)
    if len(never):
        raise InvalidDataError(wording.NEVER_OBSERVED, column=int(never[0]), n_columns=len(never))
    return np.asarray(1.0 - lost)
