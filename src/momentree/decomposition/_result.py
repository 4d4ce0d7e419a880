"""What all decompositions share: the whitening they start from, and how an answer is put together.

Each method finds, in its own way, the directions of the components; scaling, order and the
numbers that tell how far to trust the answer are the same for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._validation import check_integer
from momentree.exceptions import InvalidParameterError
from momentree.objects import Decomposition, Moments, Whitening
from momentree.whitening import whiten

__all__ = [
    "decomposition",
    "from_directions",
    "from_slices",
    "prepared",
    "whitened_tensor",
]

Floats = NDArray[np.float64]

TINY = 1e-300
"""Keeps a quotient of norms finite when both are zero."""
NO_SHARE = 1e-8
"""A component with this share of M1's largest is rounding error: its center would be 0 / 0."""
SMALL_GAP = 0.01
"""Noise in M2 of one percent of its norm turns the subspace at will where the gap is smaller."""
LARGE_RESIDUAL = 0.5
"""Above this the components leave half of the whitened third moment unexplained, by size."""
LARGE_NEGATIVE_MASS = 0.1
"""Above this a projection to valid parameters changes more than a tenth of a component."""


def prepared(moments: Moments, n_components: int, whitening: Whitening | None) -> Whitening:
    """Return a whitening for `n_components`: a new one, or the leading part of the given one."""
    if whitening is None:
        return whiten(moments, n_components)
    check_integer("n_components", n_components, at_least=1)
    known = len(whitening.eigenvalues)
    if n_components > known and not whitening.reason:
        msg = (
            f"n_components={n_components}, but the whitening holds {known}; "
            f"whiten(moments, {n_components}) gives one that fits"
        )
        raise InvalidParameterError(msg)
    if n_components >= known:
        return whitening
    return replace(
        whitening,
        W=whitening.W[:n_components],
        E=whitening.E[:, :n_components],
        eigenvalues=whitening.eigenvalues[:n_components],
        reason=None if n_components <= whitening.rank else whitening.reason,
        next_eigenvalue=float(whitening.eigenvalues[n_components]),
    )


def check_option(name: str, value: float, low: float = 1, *, whole: bool = True) -> None:
    """Refuse an option that is no number, or no whole number, or below its lowest value."""
    kind = Integral if whole else Real
    if not isinstance(value, kind) or isinstance(value, bool) or not value >= low:
        msg = f"{name}={value!r}; expected a {'whole ' if whole else ''}number, {low} or more"
        raise InvalidParameterError(msg)


def whitened_tensor(moments: Moments, white: Whitening) -> Floats:
    """Return T = M3(W, W, W) of shape (k, k, k), also where M2 shows no component at all."""
    if not white.rank:
        return np.zeros((0, 0, 0))
    return moments.whitened_tensor(white.W)


def from_directions(
    moments: Moments,
    white: Whitening,
    directions: Floats,
    T: Floats,
    extras: dict[str, Any],
    advice: Sequence[str] = (),
) -> Decomposition:
    """Scale directions D, one for each component, by the first two moments.

    With mu_i = D_i t_i and R = (W D)^+, M2 says that b_i = |R_i|^2 is w_i t_i^2, and M1 that
    a = R W M1 is w_i t_i. So t_i = b_i / a_i and w_i = a_i^2 / b_i. For D = E O with a rotation O
    these are step 4 of H Algorithm 1, b = 1.
    """
    R = np.linalg.pinv(white.W @ directions)
    b = np.square(R).sum(axis=1)
    a = R @ (white.W @ moments.m1)
    share = np.abs(a) / np.sqrt(np.maximum(b, TINY))
    keep = share > NO_SHARE * max(float(share.max(initial=0.0)), TINY)
    if not keep.all():
        reason = white.reason or "a component has no share of M1"
        extras = {**extras, "reason": reason}
    a, b = a[keep], b[keep]
    return decomposition(white, directions[:, keep] * (b / a), a * a / b, T, extras, advice)


def from_slices(
    moments: Moments,
    white: Whitening,
    M: Floats,
    T: Floats,
    extras: dict[str, Any],
    advice: Sequence[str] = (),
) -> Decomposition:
    """Weight centers that third moments have given: least squares on M omega = M1, not below 0.

    Noise may turn the sign of the third moment along a component. Its center then points away from
    M1 and has a negative weight, and is turned back.
    """
    weights = np.linalg.pinv(M) @ moments.m1
    turned = (weights < 0) & (M.T @ moments.m1 < 0)
    M, weights = np.where(turned, -M, M), np.where(turned, -weights, weights)
    clipped = int(np.count_nonzero(weights < 0))
    more = [
        f"{clipped} weight(s) came out negative and were set to zero: use fewer components, or "
        "more samples."
    ]
    advice = [*advice, *(more if clipped else [])]
    extras = {**extras, "clipped_weights": clipped}
    return decomposition(white, M, np.maximum(weights, 0.0), T, extras, advice)


def decomposition(
    white: Whitening,
    centers: Floats,
    weights: Floats,
    T: Floats,
    extras: dict[str, Any],
    advice: Sequence[str] = (),
) -> Decomposition:
    """Put components in order, larger weight first, and say how far to trust them."""
    peaks = np.abs(centers).max(axis=0, initial=0.0)
    order = np.lexsort((-peaks, -weights))
    centers, weights = centers[:, order], weights[order]
    numbers = {
        **_spectrum(white),
        **_residuals(white, centers, weights, T),
        "n_iter": 0,
        "negative_mass": _negative_mass(centers),
        "reason": white.reason,
        **extras,
    }
    numbers["advice"] = [*advice, *_advice(numbers)]
    return Decomposition(centers, weights, numbers)


def _spectrum(white: Whitening) -> dict[str, Any]:
    values = white.eigenvalues
    if np.isfinite(white.next_eigenvalue):
        values = np.append(values, white.next_eigenvalue)
    k = white.rank
    known = 0 < k < len(values)
    gap = float((values[k - 1] - values[k]) / values[0]) if known else float("nan")
    return {"eigenvalues": values, "gap": gap, "rank": k, "whitening_residual": white.residual}


def _residuals(white: Whitening, centers: Floats, weights: Floats, T: Floats) -> dict[str, Any]:
    k = white.rank
    V = white.W @ centers
    second = np.eye(k) - (V * weights) @ V.T
    third = T - np.einsum("i,ai,bi,ci->abc", weights, V, V, V, optimize=True)
    return {
        "residual_m2": float(np.linalg.norm(second)) / max(k, 1) ** 0.5,
        "residual_m3": float(np.linalg.norm(third)) / max(float(np.linalg.norm(T)), TINY),
    }


def _negative_mass(centers: Floats) -> Floats:
    total = np.abs(centers).sum(axis=0)
    return np.asarray(np.maximum(-centers, 0.0).sum(axis=0) / np.maximum(total, TINY))


def _advice(numbers: dict[str, Any]) -> list[str]:
    k, gap, residual = numbers["rank"], numbers["gap"], numbers["residual_m3"]
    advice = []
    if gap < SMALL_GAP:
        advice.append(
            f"M2 shows no clear cut after component {k}: its next eigenvalue is {gap:.1%} of the "
            "largest away. Try fewer or more components, or more samples."
        )
    if residual > LARGE_RESIDUAL:
        advice.append(
            f"The components leave {residual:.0%} of the whitened third moment unexplained: the "
            "number of components does not fit the data, the model does not, or the samples are "
            "few. Refine the answer by EM, or compare other numbers of components."
        )
    negative = numbers["negative_mass"]
    if (negative > LARGE_NEGATIVE_MASS).any():
        advice.append(
            f"{np.count_nonzero(negative > LARGE_NEGATIVE_MASS)} component(s) have more than "
            f"{LARGE_NEGATIVE_MASS:.0%} of their mass below zero. Where parameters cannot be "
            "negative that part is cut off: use more samples or fewer components, or refine by EM."
        )
    return advice
