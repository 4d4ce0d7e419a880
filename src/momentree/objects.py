"""The objects that rooms hand to one another: read this file first.

Inside the mathematical rooms arrays hold components in columns, (d, k), as in the papers;
public estimators put the component first, (k, d).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

__all__ = [
    "Decomposition",
    "LDAParameters",
    "MixtureParameters",
    "Moments",
    "PoissonParameters",
    "TopicParameters",
    "Whitening",
]

Floats = NDArray[np.float64]


class Moments(Protocol):
    """Low-order moments M1, M2, M3 of data or of a model, never as a d x d x d array.

    In every model they have the form M1 = sum_i w_i mu_i, M2 = sum_i w_i mu_i mu_i^T and
    M3 = sum_i w_i mu_i (x) mu_i (x) mu_i (S eq. 2, H eq. 1 and 2).
    """

    @property
    def m1(self) -> Floats:
        """M1, shape (d,)."""
        ...

    @property
    def m2(self) -> LinearOperator:
        """M2 as a symmetric operator of shape (d, d)."""
        ...

    def whitened_slices(self, W: Floats) -> Floats:
        """Return H[r] = W M3[r] W^T, the slices of M3 whitened in two modes.

        Parameters
        ----------
        W : ndarray of shape (k, d)
            Whitening map.

        Returns
        -------
        ndarray of shape (d, k, k)
            Symmetric in its last two axes.
        """
        ...

    def whitened_tensor(self, W: Floats) -> Floats:
        """Return T = M3(W, W, W) = sum_r W[:, r] (x) H[r], without the d slices.

        Parameters
        ----------
        W : ndarray of shape (k, d)
            Whitening map.

        Returns
        -------
        ndarray of shape (k, k, k)
            Symmetric.
        """
        ...


@dataclass(frozen=True)
class Whitening:
    """Truncated eigen-decomposition M2 ~ E E^T and the whitening map W, so that W M2 W^T = I.

    Attributes
    ----------
    W : ndarray of shape (rank, d)
        W = S^(-1/2) U^T.
    E : ndarray of shape (d, rank)
        E = U S^(1/2), the pseudo-inverse of W.
    eigenvalues : ndarray of shape (n_components,)
        The largest eigenvalues of M2, descending; the first `rank` of them are used.
    reason : str
        Why `rank` is less than the number of components asked for; "" when it is not.
    next_eigenvalue : float
        The eigenvalue after the last of `eigenvalues`, which tells how clear the cut is; NaN
        where there is none or it is not known.
    """

    W: Floats
    E: Floats
    eigenvalues: Floats
    reason: str = ""
    next_eigenvalue: float = float("nan")

    @property
    def rank(self) -> int:
        """Number of components that M2 supports."""
        return int(self.W.shape[0])


@dataclass(frozen=True)
class Decomposition:
    """Components recovered from moments, M ~ [mu_1 ... mu_k] and their weights.

    Attributes
    ----------
    centers : ndarray of shape (d, k)
        mu_i in columns as the moments give them: not projected, so entries may be negative.
    weights : ndarray of shape (k,)
        w_i >= 0, descending; they sum to 1 up to sampling error.
    diagnostics : mapping
        Numbers that tell how far to trust the result ("eigenvalues", "objective", ...), and
        "reason": in words, why fewer components than asked for came back, or "".
    """

    centers: Floats
    weights: Floats
    diagnostics: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_components(self) -> int:
        """Number of components found."""
        return int(self.weights.shape[0])


@dataclass(frozen=True)
class MixtureParameters(ABC):
    """Parameters of a mixture in which log P[x, component j] is linear in the counts x.

        log P[x, j] = sum_w x_w log mu_wj + b_j + const(x)

    Attributes
    ----------
    weights : ndarray of shape (k,)
        omega_j = P[component j], sum 1.
    centers : ndarray of shape (d, k)
        mu_j in columns, >= 0.
    """

    weights: Floats
    centers: Floats

    def __post_init__(self) -> None:
        d, k = self.centers.shape
        if self.weights.shape != (k,):
            msg = f"weights have shape {self.weights.shape}, centers {(d, k)} need {(k,)}"
            raise ValueError(msg)
        _check_sums("weights", self.weights.sum())

    @property
    def n_components(self) -> int:
        """Number of components."""
        return int(self.weights.shape[0])

    def reordered(self, order: NDArray[np.intp]) -> Self:
        """Return the same components in another order.

        Parameters
        ----------
        order : ndarray of intp of shape (k,)
            The old position of each component.

        Returns
        -------
        MixtureParameters
            Weights and centers in the new order, of the same class.
        """
        return type(self)(self.weights[order], self.centers[:, order])

    @property
    @abstractmethod
    def offsets(self) -> Floats:
        """b_j, shape (k,)."""

    @classmethod
    @abstractmethod
    def fitted_to(cls, sums: Floats, sizes: Floats, smoothing: float) -> Self:
        """Return the parameters that fit given statistics: the M-step of EM.

        Parameters
        ----------
        sums : ndarray of shape (d, k)
            S, the counts expected in each component.
        sizes : ndarray of shape (k,)
            N, the samples expected in each component.
        smoothing : float > 0
            How much is added so that no center is zero.

        Returns
        -------
        MixtureParameters
            All centers > 0.
        """


class TopicParameters(MixtureParameters):
    """Parameters of a single-topic model (a mixture of multinomials).

    Attributes
    ----------
    weights : ndarray of shape (k,)
        omega_i = P[topic i], sum 1.
    centers : ndarray of shape (d, k)
        mu_i = P[word | topic i] in columns, each >= 0 with sum 1.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_sums("centers", self.centers.sum(axis=0))

    @property
    def offsets(self) -> Floats:
        """b_j = log omega_j, shape (k,)."""
        with np.errstate(divide="ignore"):
            return np.log(self.weights)

    @classmethod
    def fitted_to(cls, sums: Floats, sizes: Floats, smoothing: float) -> Self:
        """Return the topics that fit given statistics.

            mu_wj = (S_wj + smoothing) / sum_w (S_wj + smoothing),   omega_j = N_j / sum N.

        Parameters
        ----------
        sums : ndarray of shape (d, k)
            S, the word counts expected in each topic.
        sizes : ndarray of shape (k,)
            N, the documents expected in each topic.
        smoothing : float > 0
            Pseudo-count of every word in every topic.

        Returns
        -------
        TopicParameters
            All centers > 0.
        """
        C = sums + smoothing
        return cls(sizes / sizes.sum(), C / C.sum(axis=0))


@dataclass(frozen=True)
class LDAParameters:
    """Parameters of latent Dirichlet allocation.

    Attributes
    ----------
    alpha : ndarray of shape (k,)
        Concentrations > 0 of the Dirichlet distribution of the shares of topics in a document.
    centers : ndarray of shape (d, k)
        mu_i = P[word | topic i] in columns, each >= 0 with sum 1.
    """

    alpha: Floats
    centers: Floats

    def __post_init__(self) -> None:
        d, k = self.centers.shape
        if self.alpha.shape != (k,):
            msg = f"alpha has shape {self.alpha.shape}, centers {(d, k)} need {(k,)}"
            raise ValueError(msg)
        if not (self.alpha > 0).all():
            msg = f"alpha={self.alpha}; every concentration is above zero"
            raise ValueError(msg)
        _check_sums("centers", self.centers.sum(axis=0))

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
        """Expected share of each topic, alpha_i / alpha_0, shape (k,)."""
        return np.asarray(self.alpha / self.alpha.sum())

    def reordered(self, order: NDArray[np.intp]) -> LDAParameters:
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


class PoissonParameters(MixtureParameters):
    """Parameters of a mixture of independent Poisson variables (Poisson naive Bayes).

    Attributes
    ----------
    weights : ndarray of shape (k,)
        omega_i = P[component i], sum 1.
    centers : ndarray of shape (d, k)
        mu_i = E[x | component i] in columns, >= 0.
    """

    @property
    def offsets(self) -> Floats:
        """b_j = log omega_j - sum_w mu_wj, shape (k,)."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.weights) - self.centers.sum(axis=0))

    @classmethod
    def fitted_to(cls, sums: Floats, sizes: Floats, smoothing: float) -> Self:
        """Return the means that fit given statistics.

            mu_wj = (S_wj + smoothing m_w) / (N_j + smoothing),   omega_j = N_j / sum N,

        with m the mean of all samples.

        Parameters
        ----------
        sums : ndarray of shape (d, k)
            S, the counts expected in each component.
        sizes : ndarray of shape (k,)
            N, the samples expected in each component.
        smoothing : float > 0
            Samples of mean m that are added to every component.

        Returns
        -------
        PoissonParameters
            Centers > 0 where a count is.
        """
        mean = sums.sum(axis=1, keepdims=True) / sizes.sum()
        return cls(sizes / sizes.sum(), (sums + smoothing * mean) / (sizes + smoothing))


def _check_sums(name: str, sums: Floats) -> None:
    if not np.abs(sums - 1.0).max(initial=0.0) < 1e-6:
        msg = f"{name} sum to {sums}, not to 1"
        raise ValueError(msg)
