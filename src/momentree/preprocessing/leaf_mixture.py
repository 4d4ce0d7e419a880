"""Mixtures of Gaussians over the leaves of a tree of real data, by kind of covariances."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree import objects
from momentree._types import Floats, Ints
from momentree.backends import LiftedRows, RowBlocks
from momentree.core.choices import CovarianceType
from momentree.objects import full_gaussian, gaussian

_FAMILIES: dict[str, type[objects.MixtureParameters]] = {
    "spherical": objects.GaussianParameters,
    "diag": objects.DiagonalGaussianParameters,
    "tied": objects.SharedGaussianParameters,
    "full": objects.FullGaussianParameters,
}
_INCOMPLETE: dict[str, type[objects.MixtureParameters]] = {
    "spherical": objects.IncompleteGaussianParameters,
    "diag": objects.IncompleteDiagonalGaussianParameters,
}

FLOOR = 1e-6
"""Added to each variance, as a fraction of the variance of the column: columns that determine each
other have a finite likelihood."""


@dataclass(frozen=True)
class LeafMixture:
    """Statistics and parameters of a mixture of Gaussians over the leaves of a tree.

    Attributes
    ----------
    covariance_type : {"spherical", "diag", "tied", "full"}
        Covariances of the components: one variance each; one variance per feature each; one
        covariance matrix for all; a covariance matrix each.
    columns : ndarray of intp of shape (d,)
        The columns that vary. Others would have a likelihood without bound.
    incomplete : bool
        Whether values may be missing; "spherical" and "diag" only.
    """

    covariance_type: CovarianceType
    columns: Ints
    incomplete: bool = False

    @property
    def family(self) -> type[objects.MixtureParameters]:
        """Family of the parameters."""
        return (_INCOMPLETE if self.incomplete else _FAMILIES)[self.covariance_type]

    @property
    def n_statistics(self) -> int:
        """p, the number of statistics of a sample."""
        d = len(self.columns)
        gaps = d if self.incomplete else 0
        more = {"spherical": 1, "diag": d, "tied": 0, "full": d * (d + 1) // 2}
        return d + more[self.covariance_type] + gaps

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters of a mixture."""
        k, d = n_components, len(self.columns)
        return k - 1 + k * d + gaussian.covariance_parameters(self.covariance_type, k, d)

    def rows(self, values: Any, missing: Any | None) -> RowBlocks:
        """Return the statistics of samples.

        Parameters
        ----------
        values : csr_array of shape (n, d)
            All columns, zero for missing values.
        missing : csr_array of shape (n, d) or None
            1 where a value is missing.

        Returns
        -------
        RowBlocks of shape (n, p)
            Those of "full" are computed block by block, because they are many.
        """
        if len(self.columns) < values.shape[1]:
            values = sp.csr_array(values[:, self.columns])
            missing = None if missing is None else sp.csr_array(missing[:, self.columns])
        if self.covariance_type == "full":
            return LiftedRows(values.toarray(), full_gaussian.lifted, self.n_statistics)
        if self.incomplete:
            return RowBlocks(self.family.statistics(values, missing))  # type: ignore[call-arg]
        return RowBlocks(self.family.statistics(values))

    def fitting_family(self, values: Any, weight: Floats) -> objects.MixtureParameters:
        """Return the family for EM, with a floor of variances and what else it needs of the data.

        Parameters
        ----------
        values : csr_array of shape (n, d)
            All columns, zero for missing values.
        weight : ndarray of shape (n,)
            Sample weights.
        """
        values = sp.csr_array(values[:, self.columns])
        v = weight / weight.sum()
        mean = np.asarray(values.T @ v)
        variance = np.maximum(np.asarray(values.multiply(values).T @ v) - mean**2, 0.0)
        floor = FLOOR * variance
        if self.covariance_type == "tied":
            scaled: Any = values.multiply(v[:, None])
            squares = np.asarray((values.T @ sp.csr_array(scaled)).toarray())
            return objects.SharedGaussianParameters.with_squares(squares, floor)
        family: Any = self.family
        member: objects.MixtureParameters = family.with_floor(floor)
        return member

    def continued(
        self, parameters: objects.MixtureParameters, earlier: float, values: Any, weight: Floats
    ) -> objects.MixtureParameters:
        """Return parameters of a file as members of the family for EM on another batch.

        Parameters
        ----------
        parameters : MixtureParameters
            Parameters after earlier batches, of the plain family.
        earlier : float
            Total sample weight of earlier batches.
        values : csr_array of shape (n, d)
            All standardized columns of the batch, zero for missing values.
        weight : ndarray of shape (n,)
            Sample weights.
        """
        d = len(self.columns)
        floor = np.full(d, FLOOR)  # columns are standardized
        family: Any = self.family
        if isinstance(parameters, objects.SharedGaussianParameters):
            # The mean of x x^T of all samples: of earlier ones, from the parameters.
            M, n = parameters.centers, float(weight.sum())
            before = parameters.covariance - np.diag(floor) + (M * parameters.weights) @ M.T
            values = sp.csr_array(values[:, self.columns])
            scaled: Any = values.multiply(weight[:, None])
            here = np.asarray((values.T @ sp.csr_array(scaled)).toarray())
            squares = (earlier * before + here) / (earlier + n)
            family = objects.SharedGaussianParameters.with_squares(squares, floor)
        else:
            family = family.with_floor(floor)
        member: objects.MixtureParameters = family.member(*parameters.values)
        return member

    def stored(self, parameters: Any) -> objects.MixtureParameters:
        """Return parameters that EM found as members of the plain family, which files contain."""
        return self.family(*parameters.values)
