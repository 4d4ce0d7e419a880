"""Assign records that may be incomplete: each code was recorded at an unknown rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree._validation import check_shape
from momentree.core.ties import largest
from momentree.exceptions import InvalidDataError
from momentree.inference import log_posterior
from momentree.messages import wording

RATES = 5.0 ** (-np.arange(6) / 5.0)
"""Recording rates from all codes to a fifth of them, equally likely on a logarithmic scale."""

UNDECIDED = -1
"""Label of a record that is not assigned to a group."""

_CERTAIN = 1e-9
_HALF = 0.5 + 1e-9  # beyond rounding errors, so that the page names the same group
_ENOUGH = 5
"""A code in fewer records of a group than this is not enough to name the group."""


@dataclass(frozen=True)
class IncompleteAssigner:
    """Posteriors of k groups for records in which codes may have been left out.

    A record of group j has code w with probability mu_jw, and each of its codes is recorded with
    the same unknown rate r, independently. With P[r] = 1/6 for r = 1, 5^-1/5, ..., 1/5,

        P[j | x] ~ n_j sum_r P[r] prod_w (r mu_jw)^x_w (1 - r mu_jw)^(1 - x_w)
        mu_jw = (c_jw + m_w) / (n_jw + 1)

    where c_jw of n_jw records of the group have the code, and m_w is its frequency in all records.
    At r = 1, this is the posterior of a mixture (T eq. 4.1); as r approaches 0, absent codes do not
    count. Missing values are left out of the product.

    Attributes
    ----------
    counts : ndarray of shape (k, d)
        c: records of each group with each code.
    observed : ndarray of shape (k, d)
        n_jw: records of each group in which it is known whether they have the code.
    sizes : ndarray of shape (k,)
        n_j: records of each group.
    """

    counts: Floats
    observed: Floats
    sizes: Floats

    def __post_init__(self) -> None:
        check_shape("sizes", self.sizes, ("n_groups",))
        check_shape("counts", self.counts, (len(self.sizes), "n_features"))
        check_shape("observed", self.observed, self.counts.shape)
        for name in ("counts", "observed", "sizes"):
            if not (getattr(self, name) >= 0).all():
                raise InvalidDataError(wording.BELOW_ZERO, name=name)

    @classmethod
    def from_sums(cls, ones: Floats, missing: Floats | None, sizes: Floats) -> IncompleteAssigner:
        """Return the assigner for sums of ones, and of missing values, in groups: (d, k)."""
        whole = np.broadcast_to(sizes, ones.shape)
        observed = whole if missing is None else np.maximum(whole - missing, 0.0)
        return cls(ones.T.copy(), observed.T.copy(), sizes)

    def merged(self, to: Ints) -> IncompleteAssigner:
        """Return the assigner with group i renumbered as `to[i]`; equal numbers are merged."""
        into = (np.arange(to.max() + 1)[:, None] == to).astype(np.float64)
        return IncompleteAssigner(into @ self.counts, into @ self.observed, into @ self.sizes)

    @classmethod
    def from_dict(cls, content: Any) -> IncompleteAssigner:
        """Return the assigner that :meth:`to_dict` converted to plain values."""
        try:
            counts, sizes = (np.array(content[key], dtype=float) for key in ("counts", "sizes"))
            if content["observed"] is None:
                observed = np.broadcast_to(sizes[:, None], counts.shape)
            else:
                observed = np.array(content["observed"], dtype=float)
            usable = all(np.isfinite(values).all() for values in (counts, observed, sizes))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise InvalidDataError(
                wording.BAD_ENTRY, name="assignment", value=repr(error)
            ) from error
        if not usable:
            raise InvalidDataError(wording.BAD_ENTRY, name="assignment", value="not finite")
        return cls(counts, observed, sizes)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; "observed" is None if no value is missing."""
        complete = bool((self.observed == self.sizes[:, None]).all())
        return {
            "rates": RATES.tolist(),
            "sizes": self.sizes.tolist(),
            "counts": self.counts.tolist(),
            "observed": None if complete else self.observed.tolist(),
        }

    @property
    def shape(self) -> tuple[int, int]:
        """Number of groups k and of codes d."""
        return len(self.sizes), int(self.counts.shape[1])

    def proba(self, ones: Any, missing: Any | None = None) -> Floats:
        """Return the probability of each group for each record, shape (n, k).

        `ones` and `missing` are sparse arrays of shape (n, d), with ones where a record has a code,
        and where that is unknown.
        """
        known = np.maximum(self.observed.sum(axis=0), np.finfo(float).tiny)
        mean = self.counts.sum(axis=0) / known
        mu = np.clip((self.counts + mean) / (self.observed + 1.0), _CERTAIN, 1.0 - _CERTAIN)
        with np.errstate(divide="ignore"):
            log_sizes = np.log(self.sizes)
        total = np.full((ones.shape[0], len(self.sizes)), -np.inf)
        for rate in RATES:
            absent = np.log1p(-rate * mu)
            scores = ones @ (np.log(rate * mu) - absent).T + (log_sizes + absent.sum(axis=1))
            if missing is not None:
                scores = scores - missing @ absent.T
            total = np.logaddexp(total, scores)
        return np.exp(log_posterior(total)[0])

    def labels(self, ones: Any, proba: Floats) -> Ints:
        """Return the group of each record, shape (n,), or -1 where its codes do not decide.

        A group is named if

        - it is more probable than all others together,
        - one of the codes occurs in at least five of its records, and
        - it has records with each of the codes that occurs in any group.
        """
        best = largest(proba)
        known = ones @ (self.counts >= _ENOUGH).T.astype(np.float64) > 0
        named = (proba > _HALF) & known & ~self.lacks(ones)
        return np.where(named[np.arange(len(best)), best], best, UNDECIDED)

    def lacks(self, ones: Any) -> NDArray[np.bool_]:
        """Return whether a record has a code that occurs in other groups only, shape (n, k)."""
        elsewhere = (self.counts == 0) & (self.counts > 0).any(axis=0)
        return np.asarray(ones @ elsewhere.T.astype(np.float64) > 0)
