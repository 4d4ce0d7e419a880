"""Steps shared by all decompositions: whitening, scale, order and diagnostics."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from momentree._types import Floats
from momentree._validation import check_integer
from momentree.core.ties import SAME, largest_first
from momentree.exceptions import InvalidParameterError
from momentree.messages import Message
from momentree.objects import Decomposition, Moments, Whitening
from momentree.whitening import whiten

TINY = 1e-300
"""Keeps quotients of norms finite if both norms are zero."""
NO_WEIGHT = 1e-8
"""Smaller components, relative to the largest, are rounding error: the center would be 0 / 0."""
SMALL_GAP = 0.01
"""With a smaller gap, noise of one percent in M2 can rotate the subspace arbitrarily."""
LARGE_RESIDUAL = 0.5
"""Above this, the components explain less than half of the norm of the whitened third moment."""
LARGE_NEGATIVE_MASS = 0.1
"""Above this, projection to valid parameters changes more than a tenth of a component."""


def whitening_for(moments: Moments, n_components: int, whitening: Whitening | None) -> Whitening:
    """Return the leading part of a whitening, or compute one if `whitening` is None."""
    if whitening is None:
        return whiten(moments, n_components)
    check_integer("n_components", n_components, at_least=1)
    known = len(whitening.eigenvalues)
    if n_components > known and not whitening.reason:
        raise InvalidParameterError(
            "[whitening_too_small] {parameters.n_components:{requested}}, but the whitening has "
            "{found:~component}; compute a larger one with whiten(moments, {requested})",
            requested=int(n_components),
            found=known,
        )
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


def whitened_tensor(moments: Moments, white: Whitening) -> Floats:
    """Return T = M3(W, W, W) of shape (k, k, k), also for k = 0."""
    if not white.rank:
        return np.zeros((0, 0, 0))
    return moments.whitened_tensor(white.W)


def from_directions(
    moments: Moments,
    white: Whitening,
    directions: Floats,
    T: Floats,
    extras: dict[str, Any],
    warnings: Sequence[Message] = (),
) -> Decomposition:
    """Scale the directions of the components by M1 and M2; see :func:`scaled_directions`."""
    centers, weights, reason = scaled_directions(moments.m1, white, directions)
    if reason is not None:
        extras = {**extras, "reason": reason}
    return with_diagnostics(white, centers, weights, T, extras, warnings)


def scaled_directions(
    m1: Floats, white: Whitening, directions: Floats
) -> tuple[Floats, Floats, Message | None]:
    """Return centers and weights, given the directions D of the components.

    With mu_i = D_i t_i and R = (W D)^+, M2 implies b_i = |R_i|^2 = w_i t_i^2, and M1 implies
    a = R W M1 with a_i = w_i t_i. So t_i = b_i / a_i and w_i = a_i^2 / b_i. For D = E O with a
    rotation O, b = 1 and this is step 4 of H Algorithm 1. Components of zero weight are dropped,
    and the reason is returned.
    """
    R = np.linalg.pinv(white.W @ directions)
    b = np.square(R).sum(axis=1)
    a = R @ (white.W @ m1)
    size = np.abs(a) / np.sqrt(np.maximum(b, TINY))
    keep = size > NO_WEIGHT * max(float(size.max(initial=0.0)), TINY)
    reason = None
    if not keep.all():
        reason = Message(
            "[component_without_weight] {found:~component} {found:?has/have} a weight of zero, "
            "because M1 has no projection onto {found:?it/them}",
            found=int(np.count_nonzero(~keep)),
        )
        reason = white.reason or reason
    a, b = a[keep], b[keep]
    return directions[:, keep] * (b / a), a * a / b, reason


def from_centers(
    moments: Moments,
    white: Whitening,
    M: Floats,
    T: Floats,
    extras: dict[str, Any],
    warnings: Sequence[Message] = (),
) -> Decomposition:
    """Find the weights of centers M by least squares, M omega = M1, and clip them at 0.

    Noise may flip the sign of the third moment along a component. Its center then points away from
    M1 and has a negative weight; both signs are flipped back.
    """
    # Centers that depend on each other up to rounding share their weight; else rounding decides.
    weights = np.linalg.pinv(M, rcond=SAME) @ moments.m1
    flipped = (weights < 0) & (M.T @ moments.m1 < 0)
    M, weights = np.where(flipped, -M, M), np.where(flipped, -weights, weights)
    clipped = int(np.count_nonzero(weights < 0))
    if clipped:
        warnings = [
            *warnings,
            Message(
                "[negative_weights] {found:~weight} {found:?was/were} negative and "
                "{found:?was/were} set to zero: use fewer components or more samples.",
                found=clipped,
            ),
        ]
    extras = {**extras, "clipped_weights": clipped}
    return with_diagnostics(white, M, np.maximum(weights, 0.0), T, extras, warnings)


def with_diagnostics(
    white: Whitening,
    centers: Floats,
    weights: Floats,
    T: Floats,
    extras: dict[str, Any],
    warnings: Sequence[Message] = (),
) -> Decomposition:
    """Sort components by descending weight and add the diagnostics of all decompositions."""
    centers, weights = by_weight(centers, weights)
    gap, residual_m3 = _gap(white), _residual_m3(white, centers, weights, T)
    mass = negative_mass(centers)
    warnings = list(warnings)
    if gap < SMALL_GAP:
        warnings.append(
            Message(
                "[no_gap_in_m2] M2 has no clear gap after component {rank}: the next eigenvalue "
                "differs by only {gap:.1%} of the largest. Try fewer or more components, or use "
                "more samples.",
                rank=white.rank,
                gap=gap,
            )
        )
    if residual_m3 > LARGE_RESIDUAL:
        warnings.append(
            Message(
                "[third_moment_unexplained] The components leave {residual:.0%} of the whitened "
                "third moment unexplained: the number of components or the model does not fit the "
                "data, or there are too few samples. Refine the result with EM, or compare other "
                "numbers of components.",
                residual=residual_m3,
            )
        )
    diagnostics = {
        "eigenvalues": _spectrum(white),
        "gap": gap,
        "rank": white.rank,
        "whitening_residual": white.residual,
        "residual_m2": _residual_m2(white, centers, weights),
        "residual_m3": residual_m3,
        "n_iter": 0,
        "negative_mass": mass,
        "reason": white.reason,
        **extras,
        "warnings": [*warnings, *negative_mass_warnings(mass)],
    }
    return Decomposition(centers, weights, diagnostics)


def by_weight(centers: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Sort components by descending weight; ties are sorted by content."""
    order = largest_first(weights, centers)
    return centers[:, order], weights[order]


def _spectrum(white: Whitening) -> Floats:
    if np.isfinite(white.next_eigenvalue):
        return np.append(white.eigenvalues, white.next_eigenvalue)
    return white.eigenvalues


def _gap(white: Whitening) -> float:
    values, k = _spectrum(white), white.rank
    return float((values[k - 1] - values[k]) / values[0]) if 0 < k < len(values) else float("nan")


def _residual_m2(white: Whitening, centers: Floats, weights: Floats) -> float:
    k = white.rank
    V = white.W @ centers
    return float(np.linalg.norm(np.eye(k) - (V * weights) @ V.T) / np.sqrt(max(k, 1)))


def _residual_m3(white: Whitening, centers: Floats, weights: Floats, T: Floats) -> float:
    V = white.W @ centers
    unexplained = T - np.einsum("i,ai,bi,ci->abc", weights, V, V, V, optimize=True)
    return float(np.linalg.norm(unexplained)) / max(float(np.linalg.norm(T)), TINY)


def negative_mass(centers: Floats) -> Floats:
    """Return the absolute sum of negative entries of each column, relative to that of all."""
    total = np.abs(centers).sum(axis=0)
    return np.asarray(np.maximum(-centers, 0.0).sum(axis=0) / np.maximum(total, TINY))


def negative_mass_warnings(mass: Floats) -> list[Message]:
    """Return a warning if any component has a large negative mass."""
    found = int(np.count_nonzero(mass > LARGE_NEGATIVE_MASS))
    return (
        [
            Message(
                "[negative_components] {found:~component} {found:?has/have} more than {most:.0%} "
                "of {found:?its/their} mass below zero. Where parameters must be nonnegative, this "
                "part is clipped to zero: use more samples or fewer components, or refine the "
                "result with EM.",
                found=found,
                most=LARGE_NEGATIVE_MASS,
            )
        ]
        if found
        else []
    )
