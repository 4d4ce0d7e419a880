"""Group samples by their squares and products, in which components with equal means differ."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats
from momentree.backends import RowBlocks
from momentree.core.ties import SAME, fixed_vectors, largest
from momentree.decomposition import discriminators
from momentree.moments import AugmentedRawMoments
from momentree.whitening import whiten

PRODUCTS_OF = 16
"""Most directions whose products are used: those of the largest variance."""
MOST_VALUES = 1 << 24
"""Lifted values from which directions are found on a part of the samples: 128 MB."""
AT_ONCE = 4096
"""Samples that are lifted at once to be assigned."""
RANK_TOLERANCE = 1e-8
"""Standard deviations below this, relative to the largest, are rounding error."""


def groups_by_squares(Z: Floats, weight: Floats, n_groups: int) -> Floats:
    """Return groups of samples from the moments of z and z^2, as 0 and 1, shape (n, k).

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Samples, standardized.
    weight : ndarray of shape (n,)
        Weights >= 0.
    n_groups : int >= 1
        Number of groups, at most.

    Returns
    -------
    ndarray of shape (n, k)
        One 1 in each row.
    """
    return _groups(Z, weight, n_groups, products=False)


def groups_by_products(Z: Floats, weight: Floats, n_groups: int) -> Floats:
    """Return groups of samples from the moments of z and z z^T after sphering.

    Sphering removes what the covariances of all components have in common, so the products of
    coordinates show in what they differ. Parameters and result are those of
    :func:`groups_by_squares`.
    """
    S = (Z.T * weight) @ Z / weight.sum()
    values, U = np.linalg.eigh(S)
    U = fixed_vectors(values[::-1], U[:, ::-1])[:, :PRODUCTS_OF]
    values = values[::-1][:PRODUCTS_OF]
    kept = values > RANK_TOLERANCE**2 * max(float(values[0]), 0.0)
    if not kept.any():
        return np.ones((len(Z), 1))
    return _groups(Z @ (U[:, kept] / np.sqrt(values[kept])), weight, n_groups, products=True)


def _groups(Z: Floats, weight: Floats, n_groups: int, *, products: bool) -> Floats:
    """Split samples into k groups at once by D-SIDIWO of (t(z), 1)."""
    n = len(Z)
    p = _lifted(Z[:1], products=products).shape[1]
    # In canonical order, every m-th sample is a fair part of them.
    some = slice(None, None, 1 + n * p // MOST_VALUES)
    part, v = _lifted(Z[some], products=products), weight[some]
    if not v.any():
        part, v = _lifted(Z, products=products), weight
    moments = AugmentedRawMoments(
        RowBlocks(sp.csr_array(part)), v, np.ones(len(part)), np.ones(p), 1.0
    )
    D = discriminators(moments, whiten(moments, n_groups))
    cubes = (part @ D[:, :-1].T + D[:, -1]) ** 3
    D *= np.where(v @ cubes < -SAME * (v @ np.abs(cubes)), -1.0, 1.0)[:, None]
    labels = np.concatenate(
        [
            largest(_lifted(Z[a : a + AT_ONCE], products=products) @ D[:, :-1].T + D[:, -1])
            for a in range(0, n, AT_ONCE)
        ]
    )
    return np.asarray(np.eye(len(D))[labels])


def _lifted(Z: Floats, *, products: bool) -> Floats:
    """Return z, (z^2 - 1) / sqrt 2 and, if wanted, products of different coordinates.

    Under a standard normal distribution, all of them are uncorrelated and have variance 1.
    """
    parts = [Z, (np.square(Z) - 1.0) / np.sqrt(2.0)]
    if products:
        a, b = np.triu_indices(Z.shape[1], 1)
        parts.append(Z[:, a] * Z[:, b])
    return np.hstack(parts)
