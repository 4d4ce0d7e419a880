"""What a cluster tree makes of its data: the kind, the scaling, and what it is judged by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree.backends import RowBlocks
from momentree.exceptions import InvalidDataError
from momentree.moments import observed_shares
from momentree.objects import (
    BernoulliParameters,
    GaussianParameters,
    IncompleteBernoulliParameters,
    MixtureParameters,
    PoissonParameters,
)

__all__ = ["Kind", "Space"]

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
class Space:
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
    unit_length : bool
        Whether the moments see samples scaled to unit length.
    """

    kind: Kind
    family: type[MixtureParameters]
    shift: Floats
    scale: Floats
    view: Floats
    unit_length: bool

    @property
    def incomplete(self) -> bool:
        """Whether values were missing."""
        return self.family is IncompleteBernoulliParameters

    @classmethod
    def of(
        cls, X: Any, missing: Any | None, weight: Floats, kind: str, *, unit_length: bool
    ) -> Space:
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
        unit_length : bool
            Whether samples of zero or more are scaled to unit length; real ones never are.

        Raises
        ------
        InvalidDataError
            If the data are not of the kind asked for, values are missing that are not binary, or
            one is above 1e100 in size.
        """
        _check_size(X)
        found = _kind_of(X)
        chosen: Kind = found if kind == "auto" else _checked(kind, found, X)
        _check_gaps(chosen, missing)
        d = X.shape[1]
        family = _FAMILIES[chosen]
        shift, scale, view = np.zeros(d), np.ones(d), np.ones(d)
        if missing is not None:
            family = IncompleteBernoulliParameters
            shares = observed_shares(missing, weight)
            assert shares is not None  # noqa: S101 - there are missing values
            view = np.concatenate([1.0 / shares, np.zeros(d)])
        elif chosen == "real":
            shift, scale = _location_and_scale(X, weight)
            # The constant outweighs all columns together, so that it is the first direction of
            # every group, and the largest differences within the group the second.
            view = np.concatenate([np.ones(d), [0.0, np.sqrt(d)]])
        elif chosen == "non_negative":
            view = np.concatenate([np.ones(d), [0.0, 0.0]])
        return cls(chosen, family, shift, scale, view, unit_length and chosen != "real")

    @classmethod
    def again(
        cls, kind: str, shift: Floats, scale: Floats, view: Floats, *, unit_length: bool
    ) -> Space:
        """Return a space from what is kept of it in a file."""
        chosen: Kind = get_args(Kind)[get_args(Kind).index(kind)]
        family = _FAMILIES[chosen]
        if chosen == "binary" and len(view) == 2 * len(shift):
            family = IncompleteBernoulliParameters
        return cls(chosen, family, shift, scale, view, unit_length and chosen != "real")

    def check(self, X: Any, missing: Any | None) -> None:
        """Check that samples are of the kind of the fit.

        Raises
        ------
        InvalidDataError
            If they are not; the message names row and column.
        """
        _check_size(X)
        _checked(self.kind, _kind_of(X), X)
        _check_gaps(self.kind, missing)

    def rows(self, X: Any, missing: Any | None) -> RowBlocks:
        """Return the statistics of samples, shape (n, p)."""
        if self.incomplete:
            return RowBlocks(IncompleteBernoulliParameters.statistics(X, missing))
        if self.kind == "real":
            X = sp.csr_array((X.toarray() - self.shift) / self.scale)
        elif self.kind == "non_negative":
            # The same lengths that the moments see: a mixture of directions.
            X = sp.csr_array(sp.diags_array(_inverse_lengths(X)) @ X) if self.unit_length else X
        return RowBlocks(self.family.statistics(X))

    def factors(self, rows: RowBlocks) -> Floats:
        """Return by what the moments scale each row, shape (n,)."""
        n = rows.shape[0]
        if not self.unit_length or self.kind == "non_negative":
            return np.ones(n)
        squares = self.view**2
        if self.kind == "binary":
            return _inverse_roots(rows.map(lambda B: B.dot(squares)))
        return _inverse_lengths(rows.matrix)


def _kind_of(X: Any) -> Kind:
    data = X.data
    if not len(data) or (data.min() >= 0 and data.max() <= 1 and ((data == 0) | (data == 1)).all()):
        return "binary"
    if data.min() < 0:
        return "real"
    return "counts" if (data == np.floor(data)).all() else "non_negative"


def _checked(kind: str, found: Kind, X: Any) -> Kind:
    order = get_args(Kind)
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
    if X.data.max(initial=0) > MAX_SIZE or X.data.min(initial=0) < -MAX_SIZE:
        at = int(np.argmax(np.abs(X.data) > MAX_SIZE))
        msg = (
            f"Values too large in data: row {_row(X, at)}, column {X.indices[at]} holds "
            f"{X.data[at]}; numbers are {MAX_SIZE:g} or less in size"
        )
        raise InvalidDataError(msg)


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
    square = np.asarray(X.multiply(X).T @ v)
    spread = np.sqrt(np.maximum(square - mean**2, 0.0))
    tiny = 1e-7 * np.sqrt(np.maximum(square, 1e-300))  # a constant column, up to rounding
    return mean, np.where(spread > tiny, spread, np.inf)


def _inverse_lengths(X: Any) -> Floats:
    return _inverse_roots(np.asarray(X.multiply(X).sum(axis=1)).ravel())


def _inverse_roots(squares: Floats) -> Floats:
    return np.divide(1.0, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0)
