"""What a cluster tree makes of its data: the kind, the scaling, and what it is judged by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree.backends import RowBlocks, in_canonical_order
from momentree.exceptions import InvalidDataError
from momentree.moments import observation_rates
from momentree.objects import (
    BernoulliParameters,
    GaussianParameters,
    IncompleteBernoulliParameters,
    MixtureParameters,
    PoissonParameters,
)

__all__ = ["FeatureMap", "Kind"]

Floats = NDArray[np.float64]
Kind = Literal["binary", "counts", "non_negative", "real"]

MAX_SIZE = 1e100
"""Third powers of larger numbers leave double precision."""

_FAMILIES: dict[str, type[MixtureParameters]] = {
    "binary": BernoulliParameters,
    "counts": PoissonParameters,
    "non_negative": GaussianParameters,
    "real": GaussianParameters,
}


@dataclass(frozen=True)
class FeatureMap:
    """How samples of one kind become rows.

    Attributes
    ----------
    kind : {"binary", "counts", "non_negative", "real"}
        What the data are.
    family : type of MixtureParameters
        Mixture by which splits are judged and refined; its statistics are the rows.
    shift, scale : ndarray of shape (d,)
        Values are taken as (x - shift) / scale; 0 and 1 but for real data.
    view : ndarray of shape (p,)
        What the moments see of each statistic: a factor, 0 where they do not see it.
    constant : float
        What the moments see besides, the same in every sample.
    unit_length : bool
        Whether the moments see samples, with the constant, scaled to unit length.
    """

    kind: Kind
    family: type[MixtureParameters]
    shift: Floats
    scale: Floats
    view: Floats
    constant: float
    unit_length: bool

    @property
    def incomplete(self) -> bool:
        """Whether values were missing."""
        return self.family is IncompleteBernoulliParameters

    @classmethod
    def of(
        cls, X: Any, missing: Any | None, weight: Floats, kind: str, *, scaled: bool
    ) -> FeatureMap:
        """Return the space of given data.

        Parameters
        ----------
        X : csr_array of shape (n, d)
            Numbers, zero where one is missing.
        missing : csr_array of shape (n, d) or None
            1 where a value is missing.
        weight : ndarray of shape (n,)
            Sample weights.
        kind : {"auto", "binary", "counts", "non_negative", "real"}
            "auto" finds out.
        scaled : bool
            Whether the moments see data scaled, and a constant beside them.

        Raises
        ------
        InvalidDataError
            If the data are not of the kind asked for, values are missing that are not binary, or
            one is above 1e100 in size.
        """
        _check_size(X)
        chosen = _kind_of(X) if kind == "auto" else _checked(kind, X)
        _check_gaps(chosen, missing)
        if chosen != "binary" or missing is not None:
            # Means to the last bit for any order of rows: symmetric groups are told apart by it.
            ordered, at = in_canonical_order(RowBlocks(X), weight)
            X, weight = ordered.matrix, weight[at]
            missing = None if missing is None else missing[at]
        d = X.shape[1]
        family = _FAMILIES[chosen]
        shift, scale, view = np.zeros(d), np.ones(d), np.ones(d)
        if missing is not None:
            family = IncompleteBernoulliParameters
            shares = observation_rates(missing, weight)
            assert shares is not None  # noqa: S101 - there are missing values
            view = np.concatenate([1.0 / shares, np.zeros(d)])
        elif chosen == "real" and scaled:
            shift, scale = _location_and_scale(X, weight)
        if family is GaussianParameters:
            view = np.append(np.ones(d), 0.0)
        constant = _constant(chosen, X, weight) if scaled else 0.0
        return cls(chosen, family, shift, scale, view, constant, scaled and chosen != "real")

    @classmethod
    def again(
        cls,
        kind: str,
        shift: Floats,
        scale: Floats,
        view: Floats,
        *,
        constant: float,
        scaled: bool,
    ) -> FeatureMap:
        """Return a space from what is kept of it in a file."""
        chosen: Kind = get_args(Kind)[get_args(Kind).index(kind)]
        family = _FAMILIES[chosen]
        if chosen == "binary" and len(view) == 2 * len(shift):
            family = IncompleteBernoulliParameters
        return cls(chosen, family, shift, scale, view, constant, scaled and chosen != "real")

    def check(self, X: Any, missing: Any | None) -> None:
        """Check that samples are of the kind of the fit.

        Raises
        ------
        InvalidDataError
            If they are not; the message names row and column.
        """
        _check_size(X)
        _checked(self.kind, X)
        _check_gaps(self.kind, missing)

    def rows(self, X: Any, missing: Any | None) -> RowBlocks:
        """Return the statistics of samples, shape (n, p)."""
        if self.incomplete:
            return RowBlocks(IncompleteBernoulliParameters.statistics(X, missing))
        if self.kind == "real":
            X = sp.csr_array((X.toarray() - self.shift) / self.scale)
        elif self.kind == "non_negative" and self.unit_length:
            # The same lengths that the moments see: Gaussians around directions.
            lengths = _inverse_roots(RowBlocks(_squared(X)).row_sums)
            X = sp.csr_array(sp.diags_array(lengths) @ X)
        return RowBlocks(self.family.statistics(X))

    def factors(self, rows: RowBlocks) -> Floats:
        """Return by what the moments scale each row, shape (n,)."""
        if not self.unit_length:
            return np.ones(rows.shape[0])
        if self.kind == "counts":
            squares = RowBlocks(_squared(rows.matrix)).row_sums
        else:
            # A one is its own square; the squared length of other values is a statistic.
            right = self.view**2 if self.kind == "binary" else 1.0 - self.view
            squares = rows.map(lambda B: B.dot(right))
        return _inverse_roots(squares + self.constant**2)


def _kind_of(X: Any) -> Kind:
    found = _narrowest(X)
    # Values of zero or more that are seldom zero are measurements: their sizes tell, not only
    # their proportions.
    return "real" if found == "non_negative" and 2 * X.nnz > X.shape[0] * X.shape[1] else found


def _narrowest(X: Any) -> Kind:
    data = X.data
    if data.min(initial=0) < 0:
        return "real"
    # Of numbers from 0 to 1 the sum is as much as how many are not zero if these are all 1.
    if data.max(initial=0) <= 1 and data.sum(dtype=np.float64) == np.count_nonzero(data):
        return "binary"
    return "counts" if (data == np.floor(data)).all() else "non_negative"


def _checked(kind: str, X: Any) -> Kind:
    found, order = _narrowest(X), get_args(Kind)
    asked: Kind = order[order.index(kind)]
    if order.index(found) > order.index(asked):
        fits = {"binary": (0, 1), "counts": "whole numbers", "non_negative": "numbers"}
        bad = {
            "binary": (X.data != 0) & (X.data != 1),
            "counts": (X.data < 0) | (X.data != np.floor(X.data)),
            "non_negative": X.data < 0,
        }[asked]
        at = int(np.argmax(bad))
        expected = "0 or 1" if asked == "binary" else f"{fits[asked]} of zero or more"
        msg = (
            f"data={asked!r}, but row {_row(X, at)}, column {X.indices[at]} holds {X.data[at]}; "
            f"expected {expected}"
        )
        raise InvalidDataError(msg)
    return asked


def _row(X: Any, at: int) -> int:
    return int(np.searchsorted(X.indptr, at, side="right")) - 1


def _check_size(X: Any) -> None:
    if float(X.data.max(initial=0)) > MAX_SIZE or float(X.data.min(initial=0)) < -MAX_SIZE:
        at = int(np.argmax(np.abs(X.data) > MAX_SIZE))
        msg = (
            f"Values too large in data: row {_row(X, at)}, column {X.indices[at]} holds "
            f"{X.data[at]}; numbers are {MAX_SIZE:g} or less in size"
        )
        raise InvalidDataError(msg)


def _constant(kind: Kind, X: Any, weight: Floats) -> float:
    """Return the value of the feature that all samples share in the moments."""
    if kind == "binary":
        return 1.0
    if kind == "real":
        # It outweighs all columns together, so that it is the first direction of every group, and
        # the largest differences within the group the second.
        return float(np.sqrt(X.shape[1]))
    # As much as a value that is not zero; where rows have unit length already, of such rows.
    filled = float(weight @ np.diff(X.indptr))
    unit = kind == "non_negative"
    squares = float(weight.sum() if unit else weight @ RowBlocks(_squared(X)).row_sums)
    return float(np.sqrt(squares / max(filled, np.finfo(float).tiny)))


def _check_gaps(kind: Kind, missing: Any | None) -> None:
    if missing is None or kind == "binary":
        return
    row, column = (int(part[0]) for part in missing.nonzero())
    msg = (
        f"Input X contains NaN: row {row}, column {column} is missing. Missing values are taken in "
        f"binary data only, and these are {kind.replace('_', '-')}: fill them"
    )
    raise InvalidDataError(msg)


def _location_and_scale(X: Any, weight: Floats) -> tuple[Floats, Floats]:
    v = weight / weight.sum()
    mean = np.asarray(X.T @ v)
    square = np.asarray(_squared(X).T @ v)
    spread = np.sqrt(np.maximum(square - mean**2, 0.0))
    tiny = 1e-7 * np.sqrt(np.maximum(square, 1e-300))  # a constant column, up to rounding
    return mean, np.where(spread > tiny, spread, np.inf)


def _squared(X: Any) -> Any:
    """Return the squares of all values, in double precision: those of small types overflow."""
    return sp.csr_array((X.data.astype(np.float64) ** 2, X.indices, X.indptr), X.shape)


def _inverse_roots(squares: Floats) -> Floats:
    return np.divide(1.0, np.sqrt(squares), out=np.zeros(len(squares)), where=squares > 0)
