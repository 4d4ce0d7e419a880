"""States: small objects that hold sums over rows, and add up across batches, files and sites."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from os import PathLike
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momentree._fit import warn_caller
from momentree._types import Bools, Floats
from momentree._validation import check_integer, check_shape
from momentree._version import __version__
from momentree.core.container import container_bytes, reading, write_container
from momentree.core.limits import Source, name_of
from momentree.core.sparse import NamedColumns
from momentree.exceptions import InvalidDataError, MomentreeWarning, ReadError
from momentree.moments._fingerprint import (
    column_difference,
    column_names,
    digest,
    setting_differences,
)

FORMAT = "momentree-moments"
FORMAT_VERSION = 1
ROUNDING = 1e-9
"""A difference below zero by less than this fraction of the minuend is rounding error."""
LARGEST = 1e290
"""Sums above this are not stored: they would overflow when they are merged."""

S = TypeVar("S", bound="State")

_KINDS: dict[str, type[State]] = {}


class State(ABC):
    """Sums over the rows that were added, with a fingerprint of what they belong to.

    States with equal fingerprints can be merged and subtracted. A state contains no row. But **a
    difference of two states reveals what differs**: the state of a hospital today minus that of
    yesterday is the record of the patient who came in between. :meth:`release` makes a copy to
    send.

    Parameters
    ----------
    columns : int >= 1 or sequence of str
        Number or names of the columns; names must be all different.
    settings : mapping
        Arguments of the constructor that JSON can represent.
    fixed : mapping of str to ndarray
        Arguments of the constructor that are arrays.
    sums : mapping of str to ndarray
        Zeros in the shapes of the sums.

    Attributes
    ----------
    columns : ndarray of str of shape (d,)
        Names of the columns.
    settings : dict
        What the sums belong to, besides the columns.
    released : bool
        Whether small counts were suppressed; see :meth:`release`.
    reader : dict or None
        Settings that convert new data to these columns, for the model; not in the fingerprint.
    rows_before : int or None
        Number of rows in the round before, which should be the same ones; None in the first round.
    """

    _by_column: ClassVar[tuple[str, ...]]
    """Sums whose first axis is that of the columns."""
    _not_negative: ClassVar[tuple[str, ...]]
    """Sums that cannot be negative."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _KINDS[cls.__name__] = cls

    def __init__(
        self,
        columns: int | Sequence[str] | NDArray[Any],
        settings: Mapping[str, Any],
        fixed: Mapping[str, Floats],
        sums: Mapping[str, Floats],
    ) -> None:
        self.columns = column_names(columns)
        self.settings, self._fixed = dict(settings), dict(fixed)
        self._sums = {"rows": np.zeros(1), "suppressed": np.zeros(2), **sums}
        self.released = False
        self.reader: dict[str, Any] | None = None
        self.rows_before: int | None = None
        self._parts: frozenset[str] = frozenset()

    # --- adding rows ------------------------------------------------------------------------------

    @abstractmethod
    def _counted(self, X: Any, sample_weight: ArrayLike | None) -> Mapping[str, Floats]:
        """Return the sums over rows, after checking them."""

    def update(self, X: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Add rows.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Rows with the columns of the state. The state is the same for any division of rows into
            batches: bit by bit for whole counts, else up to rounding.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0; a weight of 2 is equivalent to two copies.

        Returns
        -------
        self
            This state, changed. After an error it is unchanged.

        Raises
        ------
        InvalidDataError
            If the columns or values of X do not fit the state, or the state was released.
        """
        if self.released:
            raise InvalidDataError("released_state")
        shape = getattr(X, "shape", None)
        if isinstance(shape, tuple) and len(shape) == 2 and shape[0] == 0:
            return self
        self._check_columns(X)
        added = self._counted(X, sample_weight)
        for name, value in added.items():
            _check_size(name, value)
        for name, value in added.items():
            self._sums[name] = self._sums[name] + value
        self._parts = frozenset()
        return self

    def _check_columns(self, X: Any) -> None:
        names: Any = X.feature_names if isinstance(X, NamedColumns) else getattr(X, "columns", None)
        d = np.shape(X)[1] if names is None and len(np.shape(X)) == 2 else len(self.columns)
        if names is not None:
            names = np.array([str(name) for name in names], dtype=object)
            if not np.array_equal(names, self.columns):
                difference = column_difference(names, self.columns)
                raise InvalidDataError("columns_not_of_state", difference=difference)
        if d != len(self.columns):
            raise InvalidDataError("n_columns_not_of_state", found=d, needed=len(self.columns))

    # --- adding and subtracting states ------------------------------------------------------------

    def merge(self, other: Self) -> Self:
        """Return the state of the rows of both; the same as ``self + other``.

        Parameters
        ----------
        other : State
            A state with the same fingerprint.

        Returns
        -------
        State
            A new state.

        Raises
        ------
        InvalidDataError
            If the fingerprints differ; the message says in what.

        Warns
        -----
        MomentreeWarning
            If both contain the same part, such as one site twice.
        """
        self._check_same(other)
        merged = self._with(other, 1.0)
        mine, others = self._content_parts, other._content_parts
        if mine & others:
            warn_caller(MomentreeWarning("same_part_twice", n_parts=len(mine & others)))
        merged._parts = mine | others
        return merged

    def __add__(self, other: Self | int) -> Self:
        """Return the merged state; ``sum`` starts with 0."""
        if isinstance(other, int) and other == 0:
            return self
        if not isinstance(other, State):
            return NotImplemented
        return self.merge(other)

    __radd__ = __add__

    def __sub__(self, other: Self) -> Self:
        """Return the state of the rows of `self` without those of `other`.

        Parts of the sums that would be negative, and so were never added, are an error. Up to this
        check, the result is the same as if the rows had not been added: bit by bit for whole
        counts, else up to rounding.
        """
        if not isinstance(other, State):
            return NotImplemented
        self._check_same(other)
        rest = self._with(other, -1.0)
        for name in ("rows", *self._not_negative):
            if name not in rest._sums:
                continue
            values = rest._sums[name]
            if (values < -ROUNDING * np.abs(self._sums[name]).max(initial=0.0)).any():
                raise InvalidDataError("never_added")
            np.maximum(values, 0.0, out=values)
        mine, others = self._content_parts, other._content_parts
        rest._parts = mine - others if others < mine else frozenset()
        return rest

    def _with(self, other: Self, sign: float) -> Self:
        out = copy(self)
        both = [name for name in self._sums if name in other._sums]  # released states have fewer
        out._sums = {name: self._sums[name] + sign * other._sums[name] for name in both}
        out.released = self.released or other.released
        return out

    def _check_same(self, other: State) -> None:
        differences = self._differences(other)
        if differences:
            raise InvalidDataError("states_differ", differences=differences)

    def _differences(self, other: State) -> list[str]:
        """Say in what the fingerprints of two states differ."""
        if type(self) is not type(other):
            return [f"kind: {type(self).__name__} and {type(other).__name__}"]
        found = setting_differences(self.settings, other.settings)
        if not np.array_equal(self.columns, other.columns):
            found.append(column_difference(self.columns, other.columns))
        elif self._fixed.keys() != other._fixed.keys() or any(
            not np.array_equal(value, other._fixed[name]) for name, value in self._fixed.items()
        ):
            names = " and ".join(self._fixed or other._fixed)
            found.append(f"{names}: they are of different rounds or files")
        return found

    @property
    def fingerprint(self) -> str:
        """Fingerprint of what the sums belong to: kind, columns, settings and fixed arrays."""
        text = [FORMAT_VERSION, type(self).__name__, self.columns.tolist(), self.settings]
        return digest(json.dumps(text, sort_keys=True).encode(), self._fixed)

    @property
    def _content_parts(self) -> frozenset[str]:
        if self._parts or not self.n_rows:
            return self._parts
        return frozenset([digest(b"", self._sums)])

    # --- what is in it ----------------------------------------------------------------------------

    @property
    def n_rows(self) -> int:
        """Number of rows that were added."""
        return round(float(self._sums["rows"][0]))

    @property
    def suppressed(self) -> tuple[int, int]:
        """Number of suppressed columns, summed over the sites, and of other suppressed sums."""
        columns, others = self._sums["suppressed"]
        return round(columns), round(others)

    def empty(self) -> Self:
        """Return a state with the same fingerprint and no rows."""
        made: Any = type(self)
        out: Self = made(self.columns, **self.settings, **self._fixed)
        out.reader, out.rows_before = self.reader, self.rows_before
        return out

    def _asks(self, question: S) -> S:
        """Return the empty state of the next round, with what it takes from this one."""
        self._check_rows()
        question.reader, question.rows_before = self.reader, self.n_rows
        return question

    def _check_rows(self) -> None:
        """Warn if this round has another number of rows than the one before."""
        before = self.rows_before
        if before not in (None, self.n_rows):
            warn_caller(MomentreeWarning("other_rows", n_rows=self.n_rows, before=before))

    def release(self, min_count: int = 5, *, left_out: int = 0) -> Self:
        """Return a copy to send to others, without sums over few rows.

        Parameters
        ----------
        min_count : int >= 1, default=5
            Columns that are not zero in fewer rows than this, but in some, are treated as if they
            were zero in all; so are pairs of columns, and components that have fewer rows.
        left_out : int >= 0, default=0
            Number of columns that the state does not have because too few rows have them. Leave
            such columns out if their names tell anything that the others do not know.

        Returns
        -------
        State
            A copy to which no rows can be added. ``suppressed`` counts what was suppressed: the
            result of a merge equals that of pooled rows only if it is (0, 0).

        Raises
        ------
        InvalidDataError
            If the state has fewer than `min_count` rows in all.

        Notes
        -----
        This is no guarantee of privacy: see ``docs/sites.md``. Totals, such as the number of words,
        still count what was suppressed; to avoid this, empty such columns before :meth:`update`, or
        leave them out.
        """
        check_integer("min_count", min_count, at_least=1)
        check_integer("left_out", left_out, at_least=0)
        if self.n_rows < min_count:
            raise InvalidDataError("too_few_rows_to_release", min_count=min_count)
        if self.released:
            return copy(self)
        out = copy(self)
        out._parts = frozenset()  # a digest of sums that are not sent would tell small ones
        out._sums = {name: value.copy() for name, value in self._sums.items()}
        occurrences = out._sums.pop("occurrences")
        rare = (occurrences > 0) & (occurrences < min_count)
        others = out._suppress(rare, min_count)
        for name in self._by_column:
            if name in out._sums:
                out._sums[name][rare] = 0.0
        n_columns = np.count_nonzero(rare) + left_out
        out._sums["suppressed"] = out._sums["suppressed"] + [n_columns, others]
        out.released = True
        return out

    @abstractmethod
    def _suppress(self, rare: Bools, min_count: int) -> int:
        """Set further sums over few rows to zero, in place; return their number."""

    # --- files ------------------------------------------------------------------------------------

    def _stored(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        manifest = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "momentree": __version__,
            "kind": type(self).__name__,
            "columns": self.columns.tolist(),
            "settings": self.settings,
            "fixed": list(self._fixed),
            "sums": list(self._sums),
            "released": self.released,
            "reader": self.reader,
            "rows_before": self.rows_before,
            "parts": sorted(self._content_parts),
            "fingerprint": self.fingerprint,
        }
        return manifest, {**self._fixed, **{f"sum_{n}": v for n, v in self._sums.items()}}

    def to_bytes(self) -> bytes:
        """Return the state as bytes, the content of a file.

        States that were made in the same way from the same rows give the same bytes.
        """
        return container_bytes(*self._stored())

    def save(self, path: str | PathLike[str]) -> None:
        """Save the state to a file; on an error, no partial file remains.

        Parameters
        ----------
        path : str or path-like
            The file, usually ".mom": a ZIP archive of JSON and .npy arrays, without pickle.
        """
        write_container(path, *self._stored())

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """Return the state of :meth:`to_bytes`.

        Parameters
        ----------
        content : bytes
            The bytes.

        Returns
        -------
        State
            Of the class that was saved; errors as for :meth:`load`.
        """
        return cls._read(bytes(content))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Load a state from a file written by :meth:`save`.

        Parameters
        ----------
        path : str or path-like
            The file.

        Returns
        -------
        State
            Of the class that was saved.

        Raises
        ------
        ReadError
            If the file is missing, damaged, of another kind or of another format version.
        """
        return cls._read(path)

    @classmethod
    def _read(cls, source: Source) -> Self:
        codes = {"unreadable": "unreadable_state", "damaged": "damaged_state"}
        with reading(source, **codes) as (manifest, arrays):
            name, version = name_of(source), manifest.get("format_version")
            if manifest.get("format") != FORMAT:
                raise ReadError("not_a_state", path=name, found=str(manifest.get("format")))
            if version != FORMAT_VERSION:
                raise ReadError(
                    "state_of_other_version",
                    path=name,
                    found=str(version),
                    known=FORMAT_VERSION,
                    version=__version__,
                )
            kind: Any = _KINDS.get(manifest["kind"])
            if kind is None or not issubclass(kind, cls):
                found = str(manifest["kind"])
                raise ReadError("other_state", path=name, found=found, expected=cls.__name__)
            columns, settings = manifest["columns"], manifest["settings"]
            if not all(isinstance(c, str) for c in columns):
                raise InvalidDataError("bad_entry", name="columns", value=columns)
            fixed = {str(n): _finite(str(n), arrays[n]) for n in manifest["fixed"]}
            state: Self = kind(columns, **settings, **fixed)
            if state.fingerprint != manifest["fingerprint"]:
                raise InvalidDataError("bad_entry", name="fingerprint", value="")
            sums = {str(n): _finite(f"sum_{n}", arrays[f"sum_{n}"]) for n in manifest["sums"]}
            state._restore(sums, released=bool(manifest["released"]))
            state._parts = frozenset(map(str, manifest["parts"]))
            if not isinstance(manifest["reader"], dict | None):
                raise InvalidDataError("bad_entry", name="reader", value=manifest["reader"])
            state.reader = manifest["reader"]
            before = manifest.get("rows_before")
            if not isinstance(before, int | None):
                raise InvalidDataError("bad_entry", name="rows_before", value=before)
            state.rows_before = before
            return state

    def _restore(self, sums: dict[str, Floats], *, released: bool) -> None:
        required = set(self._sums) - (set(self._unreleased) if released else set())
        if set(sums) != required:
            raise InvalidDataError("bad_entry", name="sums", value=sorted(sums))
        for name, value in sums.items():
            check_shape(name, value, self._sums[name].shape)
        for name in ("rows", "suppressed", *self._not_negative):
            if name in sums and (sums[name] < 0).any():
                raise InvalidDataError("below_zero", name=name)
        n = sums["rows"][0]
        for name in ("rows", "occurrences", "pair_rows"):
            if name in sums and not (sums[name] <= min(n, 2.0**53)).all():
                raise InvalidDataError("sums_beyond_totals", name=name)
        self._sums, self.released = sums, released

    _unreleased: ClassVar[tuple[str, ...]] = ("occurrences",)
    """Sums that a released state does not have."""


def _check_size(name: str, value: Floats) -> None:
    if not (np.abs(value) < LARGEST).all():
        raise InvalidDataError("sums_overflow", name=name)


def _finite(name: str, array: NDArray[Any]) -> Floats:
    if array.dtype != np.float64 or not (np.abs(array) < LARGEST).all():
        raise InvalidDataError("not_usable_numbers", name=name, largest=LARGEST)
    return array
