"""What a site does: it answers questions with sums over its rows, and shares no row."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree import _files
from momentree._fit import warn_caller
from momentree._types import Floats
from momentree._validation import check_feature_names, check_integer, check_missing
from momentree.backends.base import Kernel, OfDerived
from momentree.backends.questions import decoded, encoded, parts_of
from momentree.backends.rows import RowBlocks
from momentree.exceptions import InvalidDataError, MomentreeError, MomentreeWarning, ReadError
from momentree.messages import wording

_N_COLUMNS_NOT_OF_STATE = (
    "[n_columns_not_of_state] X has {found:~column}, but the state has {needed}"
)
_STATES_DIFFER = (
    "[states_differ] the states answer different questions, of the rounds {rounds:and}; add up "
    "only answers to the same question, which depends on the columns and parameters of all sites"
)
_REFUSED_QUESTION = "{name!r} is not a question that sites answer"


DESCRIBE = encoded({"do": "describe", "round": 1})
"""The question of the first round: how many rows there are, and which columns."""
SUPPRESSED = ("columns", "rows", "sums")


def fingerprint_of(question: bytes) -> str:
    """Return the digest of a question, 32 hexadecimal digits."""
    return hashlib.sha256(question).hexdigest()[:32]


@dataclass
class State:
    """The answer of some rows to a question: sums, which add up across batches, files and sites.

    States of the same question can be merged and subtracted, and contain no row. But **a difference
    of two states reveals what differs**: the state of a hospital today minus that of yesterday is
    the record of the patient who came in between. :meth:`Site.answer` suppresses small counts;
    :meth:`update` does not.

    Parameters
    ----------
    question : bytes
        From :func:`next_round`.

    Attributes
    ----------
    fingerprint : str
        Digest of the question: all that the sums belong to.
    round : int
        Number of the question, from 1.
    n_rows : int
        Number of rows that were added.
    total : ndarray or None
        The sums; None in the first round.
    columns : list of str or None
        Names of the columns, in the first round.
    named : bool
        Whether the columns have names, rather than numbers.
    suppressed : dict
        Number of "columns", "rows" and other "sums" that were suppressed, added over the sites.
    parts : frozenset of str
        Digests of the tables that were added.
    about : list of dict
        What the sites say of their tables, in the first round: how to read others like them.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree import PoissonMixture, State, next_round
    >>> X = np.random.default_rng(0).poisson([[1, 5, 1], [4, 1, 2]] * 50)
    >>> model, answers = PoissonMixture(2), []
    >>> while question := next_round(model, answers):
    ...     answers.append(State(question).update(X[:60]) + State(question).update(X[60:]))
    >>> model.means_.shape, answers[0].n_rows
    ((2, 3), 100)
    """

    question: bytes = field(repr=False)
    fingerprint: str = ""
    round: int = 0
    n_rows: int = 0
    total: NDArray[Any] | None = None
    columns: list[str] | None = None
    named: bool = False
    suppressed: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SUPPRESSED, 0))
    parts: frozenset[str] = frozenset()
    about: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.fingerprint:
            self.fingerprint = fingerprint_of(self.question)
            self.round = read_question(self.question)["round"]

    def empty(self) -> State:
        """Return a state of the same question without rows."""
        return State(self.question)

    def update(self, X: Any) -> Self:
        """Add rows, without suppressing small counts.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Rows. The state is the same for any division of rows into batches, up to rounding.

        Returns
        -------
        self
            This state, changed. After an error it is unchanged.

        Raises
        ------
        InvalidDataError
            If the columns or values of X do not fit the question, or the state was loaded, so that
            its question is not known.
        """
        if not self.question:
            raise InvalidDataError(
                "[state_without_question] rows cannot be added to a loaded state, because it does "
                "not contain the question; make a State of the question, update it, and merge both"
            )
        if np.shape(X)[0]:
            merged = self.merge(Site(X, min_count=1).state(self.question))
            vars(self).update(vars(merged))
        return self

    def merge(self, other: State) -> State:
        """Return the state of the rows of both; the same as ``self + other``.

        Parameters
        ----------
        other : State
            The answer of other rows to the same question.

        Returns
        -------
        State
            A new state. In the first round it has the columns of both.

        Raises
        ------
        InvalidDataError
            If the states answer different questions.

        Warns
        -----
        MomentreeWarning
            If both contain the same table, such as one site twice.
        """
        if common := self.parts & other.parts:
            warn_caller(
                MomentreeWarning(
                    "[same_part_twice] both states contain the same {n_parts:~part}: if one site "
                    "or batch was added twice, its rows now count double",
                    n_parts=len(common),
                )
            )
        return self._combine(other, 1)

    def __add__(self, other: State | int) -> State:
        """Return the merged state; ``sum`` starts with 0."""
        if isinstance(other, int) and other == 0:
            return self
        return self.merge(other) if isinstance(other, State) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: State) -> State:
        """Return the state of the rows of `self` without those of `other`, which were added."""
        if not isinstance(other, State):
            return NotImplemented
        if other.n_rows > self.n_rows:
            raise InvalidDataError(
                "[never_added] the difference of the states is negative: the rows of the second "
                "one were not all added to the first; subtract only what was added"
            )
        return self._combine(other, -1)

    def _combine(self, other: State, sign: int) -> State:
        if self.fingerprint != other.fingerprint:
            raise InvalidDataError(_STATES_DIFFER, rounds=[self.round, other.round])
        totals = [state.total for state in (self, other) if state.total is not None]
        if len({total.shape for total in totals}) > 1:
            raise InvalidDataError(_STATES_DIFFER, rounds=[self.round, other.round])
        total = None
        if totals:
            total = totals[0] if len(totals) == 1 else totals[0] + sign * totals[1]
        mine, others = self.parts, other.parts
        return replace(
            self,
            question=self.question or other.question,
            n_rows=self.n_rows + sign * other.n_rows,
            total=total,
            columns=_union(self, other),
            named=self.named or other.named,
            suppressed={
                name: self.suppressed[name] + sign * other.suppressed[name] for name in SUPPRESSED
            },
            parts=mine | others if sign > 0 else mine - others if others < mine else frozenset(),
            about=self.about + other.about if sign > 0 else self.about,
        )

    def to_bytes(self) -> bytes:
        """Return the state as bytes, the content of a file, without the question."""
        content = {
            "of": self.fingerprint,
            "round": self.round,
            "rows": self.n_rows,
            "sum": self.total,
            "columns": self.columns,
            "named": self.named,
            "suppressed": [self.suppressed[name] for name in SUPPRESSED],
            "parts": sorted(self.parts),
            "about": json.dumps(self.about),
        }
        return encoded(content)

    @classmethod
    def from_bytes(cls, content: bytes) -> State:
        """Return the state of :meth:`to_bytes`.

        Parameters
        ----------
        content : bytes
            The bytes.

        Raises
        ------
        ReadError
            If the bytes are damaged, or those of something else.
        """
        answer = decoded(content)
        if not isinstance(answer, dict) or not _is_answer(answer):
            raise ReadError("[not_an_answer] this is not the answer to a question of momentree")
        return cls(
            question=b"",
            fingerprint=answer["of"],
            round=answer["round"],
            n_rows=answer["rows"],
            total=answer["sum"],
            columns=answer["columns"],
            named=answer["named"],
            suppressed=dict(zip(SUPPRESSED, answer["suppressed"], strict=True)),
            parts=frozenset(answer["parts"]),
            about=json.loads(answer["about"]),
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Save the state to a file; on an error, no partial file remains.

        Parameters
        ----------
        path : str or path-like
            The file, usually ".mom": a ZIP archive of JSON and .npy arrays, without pickle.
        """
        with _files.atomic_write(path) as file:
            file.write(self.to_bytes())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> State:
        """Load a state from a file.

        Parameters
        ----------
        path : str or path-like
            The file.

        Raises
        ------
        ReadError
            If the file is missing, damaged, or of another kind.
        """
        try:
            return cls.from_bytes(_files.read_file(path))
        except ReadError as error:
            if error.code not in ("damaged_question", "not_an_answer", "unknown_question"):
                raise
            raise ReadError(wording.DAMAGED_STATE, path=str(path), error=error.message) from error


class Site:
    """Rows of one site, which answers questions with sums over them.

    The questions are those of the algorithms, a closed list
    (:data:`momentree.backends.kernels.KERNELS`); anything else is refused. What belongs to
    single rows, such as the group of each row, stays here.

    **This is not differential privacy.** Each answer is exact, and a coordinator who chooses
    questions with care can isolate a row by the difference of two answers. Answer only
    coordinators whom you trust to run this library, and keep ``questions_``; see
    ``docs/sites.md``.

    Parameters
    ----------
    X : {ndarray, sparse matrix or array, data frame} of shape (n_rows, n_columns)
        Finite numbers.
    columns : sequence of str, default=None
        Names of the columns; None uses those of a data frame, or numbers.
    min_count : int >= 1, default=5
        Columns that are not zero in fewer rows than this are treated as zero, rows of smaller
        groups are left out of the sums over groups, and so are products of two columns that fewer
        rows share. Components of fewer expected rows are added to the largest. 1 suppresses
        nothing.
    name_rare : bool, default=True
        Whether to name columns that are treated as zero.
    about : dict, default=None
        What to say of the table in the first round, in values that JSON can represent. Questions
        repeat those of the first site, but for "reader".

    Attributes
    ----------
    suppressed_ : dict
        "columns": number of columns treated as zero; "rows": number of times that a row was left
        out of a sum, over all answers; "sums": number of other sums that were suppressed.
    questions_ : Counter
        Number of answers to each kind of question.
    bytes_sent_ : int
        Size of all answers.

    Raises
    ------
    InvalidDataError
        If X has missing or infinite values, or fewer rows than `min_count`.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree import Site
    >>> Site(np.eye(5, 3), min_count=2).suppressed_["columns"]  # each column is in one row
    3
    """

    def __init__(
        self,
        X: Any,
        *,
        columns: Sequence[str] | NDArray[Any] | None = None,
        min_count: int = 5,
        name_rare: bool = True,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        check_integer("min_count", min_count, at_least=1)
        names = getattr(X, "columns", None) if columns is None else columns
        X, missing = check_missing(X)
        if missing is not None:
            row, column = (int(part[0]) for part in missing.nonzero())
            raise InvalidDataError(wording.MISSING_IN_MOMENTS, row=row, column=column)
        n, d = X.shape
        if n < min_count:
            raise InvalidDataError(
                "[too_few_rows_to_release] fewer than {min_count} rows: their sums could disclose "
                "single rows; add rows, or lower {parameters.min_count}",
                min_count=min_count,
            )
        self._named = names is not None
        names = np.arange(d).astype(str) if names is None else names
        self.columns = check_feature_names([str(name) for name in names], d)
        self._min_count, self._about = min_count, about
        occurrences = np.bincount(X.indices, minlength=d)
        rare = (occurrences > 0) & (occurrences < min_count)
        if rare.any() and name_rare:
            X = X @ sp.diags_array(~rare, dtype=X.dtype).tocsr()
            X.eliminate_zeros()
        elif rare.any():
            X, self.columns = X[:, np.flatnonzero(~rare)], self.columns[~rare]
        self._X = sp.csr_array(X)
        self._rows = RowBlocks(self._X)
        digest = hashlib.sha256()
        for part in (self._X.data, self._X.indices, self._X.indptr):
            digest.update(np.ascontiguousarray(part).tobytes())
        self._digest = digest.hexdigest()
        self._arrays: dict[int, Any] = {}
        self.suppressed_ = {"columns": int(np.count_nonzero(rare)), "rows": 0, "sums": 0}
        self.questions_: Counter[str] = Counter()
        self.bytes_sent_ = 0

    @property
    def n_kept_(self) -> int:
        """Number of row arrays that the site keeps for later questions."""
        return len(self._arrays)

    def __call__(self, question: bytes) -> bytes:
        """Return :meth:`answer`, so that a site in the same process is its own transport."""
        return self.answer(question)

    def answer(self, question: bytes) -> bytes:
        """Answer a question.

        Parameters
        ----------
        question : bytes
            From :class:`Sites` or :func:`next_round`.

        Returns
        -------
        bytes
            Those of a :class:`State`, or the reason why the question is refused.
        """
        try:
            answer = self.state(question).to_bytes()
        except MomentreeError as error:
            answer = encoded({"refused": str(error)})
        self.bytes_sent_ += len(answer)
        return answer

    def state(self, question: bytes) -> State:
        """Return the answer to a question as a state.

        Parameters
        ----------
        question : bytes
            From :class:`Sites` or :func:`next_round`.

        Returns
        -------
        State
            The sums.

        Raises
        ------
        InvalidDataError
            If the question is refused.
        """
        try:
            # In a context of its own: nothing of the caller's is known at another place.
            return Context().run(self._answered, question)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, MomentreeError):
                raise
            reason = f"{type(error).__name__}: {error}"
            raise InvalidDataError(_REFUSED_QUESTION, name=reason) from error

    def _answered(self, question: bytes) -> State:
        asked = read_question(question)
        state = State(question, n_rows=self._X.shape[0], parts=frozenset([self._digest]))
        if asked["do"] == "describe":
            state.columns, state.named = [str(name) for name in self.columns], self._named
            state.about = [] if self._about is None else [dict(self._about)]
            state.suppressed["columns"] = self.suppressed_["columns"]
            return state
        if asked["do"] != "sum":
            raise InvalidDataError(_REFUSED_QUESTION, name=str(asked["do"]))
        rows = self._rows_for(asked.get("columns"), asked.get("n_columns"))
        for made in asked.get("maps", []):
            kernel, arrays = self._parts_of("map", made)
            self._arrays[int(made["as"])] = np.asarray(rows.map(kernel, *arrays))
        kernel, arrays = self._parts_of("sum", asked)
        for number in asked.get("drop", []):
            self._arrays.pop(number, None)
        arrays, state.suppressed["rows"] = self._without_small_groups(arrays)
        total = np.asarray(rows.sum(kernel, *arrays))
        state.total, state.suppressed["sums"] = self._without_small_sums(
            rows, total, kernel, arrays
        )
        for name in ("rows", "sums"):
            self.suppressed_[name] += state.suppressed[name]
        return state

    def _rows_for(self, columns: list[str] | None, n_columns: int | None) -> RowBlocks:
        """Return the rows with the columns of a question: those that are not here are zero."""
        if columns is None or not self._named:
            n_asked = len(columns) if columns is not None else n_columns
            if n_asked not in (None, self._X.shape[1]):
                raise InvalidDataError(
                    _N_COLUMNS_NOT_OF_STATE, found=self._X.shape[1], needed=n_asked
                )
            return self._rows
        if columns == self.columns.tolist():
            return self._rows
        place = {name: i for i, name in enumerate(columns)}
        new = np.array([place.get(str(name), -1) for name in self.columns], dtype=np.intp)
        if not (new >= 0).any():
            raise InvalidDataError(wording.NO_COLUMN_IN_COMMON, n_columns=len(new))
        entries = sp.coo_array(self._X)
        row, column = entries.coords[0], new[entries.coords[1]]
        kept = column >= 0
        shape = (self._X.shape[0], len(columns))
        return RowBlocks(sp.csr_array((entries.data[kept], (row[kept], column[kept])), shape=shape))

    def _parts_of(self, do: str, asked: dict[str, Any]) -> tuple[Kernel, list[NDArray[Any]]]:
        """Return the kernel and the row arrays of a question, and count it."""
        kernel = asked["kernel"]
        if not callable(kernel):
            raise InvalidDataError(_REFUSED_QUESTION, name=do)
        self.questions_[f"{do} {parts_of(kernel)[0].rpartition('.')[2]}"] += 1
        return kernel, [self._row_array(array) for array in asked["arrays"]]

    def _row_array(self, array: Any) -> NDArray[Any]:
        """Return a row array that is here, or one with the same entry for all rows."""
        if isinstance(array, int):
            kept: NDArray[Any] = self._arrays[array]
            return kept
        entry = np.asarray(array["entry"])
        return np.repeat(entry[None], self._X.shape[0], axis=0)

    def _without_small_groups(self, arrays: list[NDArray[Any]]) -> tuple[list[NDArray[Any]], int]:
        """Take rows of small groups out of all groups; return how many.

        Groups are the combinations of all row arrays of integers.
        """
        groups = [i for i, values in enumerate(arrays) if values.dtype.kind in "iu"]
        if self._min_count == 1 or not groups:
            return arrays, 0
        table = np.stack([arrays[i].astype(np.int64) for i in groups], axis=1)
        _, group, sizes = np.unique(table, axis=0, return_inverse=True, return_counts=True)
        small = sizes[group.ravel()] < self._min_count
        small &= arrays[groups[0]] >= 0
        if not small.any():
            return arrays, 0
        first = arrays[groups[0]].astype(np.int64)
        first[small] = -1
        arrays = list(arrays)
        arrays[groups[0]] = first
        return arrays, int(np.count_nonzero(small))

    def _without_small_sums(
        self, rows: RowBlocks, total: Floats, kernel: Any, arrays: list[NDArray[Any]]
    ) -> tuple[Floats, int]:
        """Suppress parts of a sum over few rows, if the kernel has such parts; count them."""
        derived = isinstance(kernel, OfDerived)
        suppress = getattr(kernel.kernel if derived else kernel, "suppressed", None)
        if self._min_count == 1 or suppress is None:
            return total, 0

        def ask(other: Kernel) -> Floats:
            """Return the sum of another kernel over the same rows, with the same arrays."""
            other = replace(kernel, kernel=other) if derived else other
            return np.asarray(rows.sum(other, *arrays))

        rest: tuple[Floats, int] = suppress(total, self._min_count, ask)
        return rest


def read_question(question: bytes) -> dict[str, Any]:
    """Return a question as a dictionary.

    Parameters
    ----------
    question : bytes
        From :func:`next_round`.

    Returns
    -------
    dict
        Its parts: "do", "round" and what is asked.

    Raises
    ------
    ReadError
        If the bytes are damaged, or no question.
    """
    asked = decoded(question)
    if not isinstance(asked, dict) or type(asked.get("round")) is not int or "do" not in asked:
        raise ReadError("[not_a_question_of_sites] this is not a question of momentree")
    return asked


def _union(state: State, other: State) -> list[str] | None:
    """Return the columns of both states: sorted, if they differ."""
    mine, others = state.columns, other.columns
    if mine is None or others is None or mine == others:
        return others if mine is None else mine
    if not (state.named and other.named):
        raise InvalidDataError(_N_COLUMNS_NOT_OF_STATE, found=len(others), needed=len(mine))
    return sorted({*mine, *others})


def _is_answer(content: Mapping[str, Any]) -> bool:
    """Return whether a dictionary has the content of a state."""
    total, columns, about = (content.get(name) for name in ("sum", "columns", "about"))
    counts = content.get("suppressed")
    kinds: list[tuple[type, Any]] = [
        (str, [content.get("of"), about]),
        (int, [content.get("round"), content.get("rows")]),
        (bool, [content.get("named")]),
        (str, [] if columns is None else columns),
        (str, content.get("parts")),
        (int, counts),
    ]
    if not all(_all(kind, values) for kind, values in kinds) or len(counts or []) != 3:
        return False
    if columns is None:
        if not isinstance(total, np.ndarray) or total.dtype.kind not in "biuf":
            return False
        if np.isnan(total).any():
            return False
    elif total is not None:
        return False
    try:
        facts = json.loads(str(about))
    except (ValueError, RecursionError):
        return False
    return _all(dict, facts) and min(content["rows"], *(counts or [])) >= 0


def _all(kind: type, values: Any) -> bool:
    return isinstance(values, list) and all(type(value) is kind for value in values)
