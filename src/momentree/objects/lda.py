"""Parameters of latent Dirichlet allocation (S section 2.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from momentree._types import Floats, Ints
from momentree._validation import check_shape
from momentree.exceptions import InvalidDataError
from momentree.objects.mixtures import check_sums


@dataclass(frozen=True)
class LDAParameters:
    """Parameters of latent Dirichlet allocation.

    Attributes
    ----------
    alpha : ndarray of shape (k,)
        Concentrations > 0 of the Dirichlet distribution of topic proportions.
    centers : ndarray of shape (d, k)
        mu_i = P[word | topic i] in columns, each >= 0 with sum 1.
    """

    alpha: Floats
    centers: Floats

    def __post_init__(self) -> None:
        check_shape("alpha", self.alpha, self.centers.shape[1:])
        if not (self.alpha > 0).all():
            raise InvalidDataError("bad_concentrations", values=self.alpha.tolist())
        check_sums("centers", self.centers.sum(axis=0))

    @property
    def n_components(self) -> int:
        """Number of topics."""
        return int(self.alpha.shape[0])

    @property
    def alpha0(self) -> float:
        """Total concentration, alpha_0 = sum_i alpha_i."""
        return float(self.alpha.sum())

    @property
    def weights(self) -> Floats:
        """Expected topic proportions alpha_i / alpha_0, shape (k,)."""
        return np.asarray(self.alpha / self.alpha.sum())

    def reordered(self, order: Ints) -> LDAParameters:
        """Return the same topics in another order.

        Parameters
        ----------
        order : ndarray of intp of shape (k,)
            The old position of each topic.

        Returns
        -------
        LDAParameters
            Concentrations and centers in the new order.
        """
        return LDAParameters(self.alpha[order], self.centers[:, order])
