"""Feature map of a cluster tree: kind of data, constant, unit length, standardized columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats
from momentree.backends import RowBlocks, in_canonical_order
from momentree.objects import (
    BernoulliParameters,
    GaussianParameters,
    IncompleteBernoulliParameters,
    MixtureParameters,
    PoissonParameters,
    TiedGaussianParameters,
)
from momentree.preprocessing.kinds import Kind, check_kind, detect_kind
from momentree.preprocessing.observation_rates import observation_rates

_FAMILIES: dict[Kind, type[MixtureParameters]] = {
    "binary": BernoulliParameters,
    "counts": PoissonParameters,
    "non_negative": GaussianParameters,
    "real": GaussianParameters,
    "embeddings": TiedGaussianParameters,
}


@dataclass(frozen=True)
class FeatureMap:
    """Map samples of one kind to the rows used for moments and mixtures.

    Samples x become statistics t(x - shift) / scale of a mixture family. The moments see
    augmented rows f (s * t, c), as in :class:`momentree.moments.AugmentedRawMoments`.

    Attributes
    ----------
    kind : {"binary", "counts", "non_negative", "real", "embeddings"}
        Kind of the data. Each kind includes those before it.
    shift, scale : ndarray of shape (d,)
        Mean and standard deviation of standardized columns; 0 and 1 unless the data are real.
    moment_scale : ndarray of shape (p,)
        s, the factor of each statistic in the moments; 0 excludes it.
    constant : float
        c, the value of the additional feature.
    scaled : bool
        Whether f scales augmented rows to unit length, unless the data are real; otherwise f = 1.
    """

    kind: Kind
    shift: Floats
    scale: Floats
    moment_scale: Floats
    constant: float
    scaled: bool

    @property
    def incomplete(self) -> bool:
        """Whether values were missing."""
        return self.kind == "binary" and len(self.moment_scale) == 2 * len(self.shift)

    @property
    def family(self) -> type[MixtureParameters]:
        """Mixture family that evaluates and refines splits; its statistics are the rows."""
        return IncompleteBernoulliParameters if self.incomplete else _FAMILIES[self.kind]

    @property
    def _unit_length(self) -> bool:
        return self.scaled and self.kind not in ("real", "embeddings")

    @classmethod
    def from_data(
        cls,
        X: Any,
        missing: Any | None,
        weight: Floats,
        kind: Kind | Literal["auto"],
        *,
        scaled: bool,
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
        kind : {"auto", "binary", "counts", "non_negative", "real", "embeddings"}
            "auto" detects the kind.
        scaled : bool
            Whether to scale rows to unit length, or real columns to unit variance, and to add the
            constant.

        Returns
        -------
        FeatureMap
            The feature map.
        """
        kind = detect_kind(X) if kind == "auto" else kind
        check_kind(kind, X, missing)
        if kind != "binary" or missing is not None:
            # The last bits of sums decide between symmetric groups, so fix the order of rows.
            ordered, at = in_canonical_order(RowBlocks(X), weight)
            X, weight = ordered.matrix, weight[at]
            missing = None if missing is None else missing[at]
        d = X.shape[1]
        shift, scale, moment_scale = np.zeros(d), np.ones(d), np.ones(d)
        rates = observation_rates(missing, weight)
        if rates is not None:
            moment_scale = np.concatenate([1.0 / rates, np.zeros(d)])
        elif kind == "real" and scaled:
            shift, scale = _mean_and_deviation(X, weight)
        if issubclass(_FAMILIES[kind], GaussianParameters):
            moment_scale = np.append(np.ones(d), 0.0)
        constant = _constant(kind, X, weight) if scaled and kind != "embeddings" else 0.0
        return cls(kind, shift, scale, moment_scale, constant, scaled)

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

    def rows(self, X: Any, missing: Any | None) -> RowBlocks:
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
        if self.incomplete:
            return RowBlocks(IncompleteBernoulliParameters.statistics(X, missing))
        if self.kind == "embeddings":
            return RowBlocks(_filled(self.family.statistics(unit_rows(X))))
        if self.kind == "real":
            X = sp.csr_array((X.toarray() - self.shift) / self.scale)
        elif self.kind == "non_negative" and self._unit_length:
            # Gaussians then model the directions of samples, as the moments do.
            X = unit_rows(X)
        return RowBlocks(self.family.statistics(X))

    def row_scale(self, rows: RowBlocks) -> Floats:
        """Return f, the factor of each row in the moments.

        Parameters
        ----------
        rows : RowBlocks of shape (n, p)
            Statistics of samples.

        Returns
        -------
        ndarray of shape (n,)
            The factors.
        """
        if not self._unit_length:
            return np.ones(rows.shape[0])
        if self.kind == "counts":
            squares = RowBlocks(_squared(rows.matrix)).row_sums
        else:
            # A one is its own square; Gaussian statistics include the squared length.
            right = self.moment_scale**2 if self.kind == "binary" else 1.0 - self.moment_scale
            squares = rows.map(lambda B: B.dot(right))
        return _inverse_roots(squares + self.constant**2)


def unit_rows(X: Any) -> Any:
    """Return the rows of a CSR array scaled to unit length; zeros remain."""
    inverse = _inverse_roots(RowBlocks(_squared(X)).row_sums)
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
    squares = float(weight.sum() if unit_length else weight @ RowBlocks(_squared(X)).row_sums)
    return float(np.sqrt(squares / max(filled, np.finfo(float).tiny)))


def _mean_and_deviation(X: Any, weight: Floats) -> tuple[Floats, Floats]:
    """Return the mean and standard deviation of each column; inf for a constant column."""
    v = weight / weight.sum()
    mean = np.asarray(X.T @ v)
    square = np.asarray(_squared(X).T @ v)
    deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
    rounding = 1e-7 * np.sqrt(np.maximum(square, 1e-300))
    return mean, np.where(deviation > rounding, deviation, np.inf)


def _squared(X: Any) -> Any:
    """Return the squares of all values in double precision, because small types overflow."""
    return sp.csr_array((X.data.astype(np.float64) ** 2, X.indices, X.indptr), X.shape)


def _inverse_roots(squares: Floats) -> Floats:
    return np.divide(1.0, np.sqrt(squares), out=np.zeros(len(squares)), where=squares > 0)
