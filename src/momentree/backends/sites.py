"""Rows at several sites, which share sums over them and never the rows."""

from __future__ import annotations

import hashlib
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from contextvars import Context
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._fit import warn_caller
from momentree._types import Floats
from momentree._validation import check_feature_names, check_integer, check_missing
from momentree.backends.base import Kernel, RowArray, Rows, count_pass
from momentree.backends.questions import decoded, encoded, parts_of
from momentree.backends.rows import RowBlocks
from momentree.exceptions import InvalidDataError, MomentreeError, MomentreeWarning

Transport = Callable[[bytes], bytes]
"""Brings a question to a site and returns its answer: a function call, a file, an HTTP request."""


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
        Columns that are not zero in fewer rows than this are treated as zero, and rows of smaller
        groups are left out of the sums over groups. 1 suppresses nothing.

    Attributes
    ----------
    suppressed_ : dict
        "columns": number of columns treated as zero; "rows": number of times that a row was left
        out of a sum, over all answers.
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
    >>> Site(np.eye(5, 3), min_count=2).suppressed_  # each column is in one row
    {'columns': 3, 'rows': 0}
    """

    def __init__(
        self, X: Any, *, columns: Sequence[str] | NDArray[Any] | None = None, min_count: int = 5
    ) -> None:
        check_integer("min_count", min_count, at_least=1)
        names = getattr(X, "columns", None) if columns is None else columns
        X, missing = check_missing(X)
        if missing is not None:
            row, column = (int(part[0]) for part in missing.nonzero())
            raise InvalidDataError("missing_in_moments", row=row, column=column)
        n, d = X.shape
        if n < min_count:
            raise InvalidDataError("too_few_rows_to_release", min_count=min_count)
        self._named = names is not None
        names = np.arange(d).astype(str) if names is None else names
        self._columns = check_feature_names([str(name) for name in names], d)
        self._min_count = min_count
        occurrences = np.bincount(X.indices, minlength=d)
        rare = (occurrences > 0) & (occurrences < min_count)
        if rare.any():
            X = X @ sp.diags_array(~rare, dtype=X.dtype).tocsr()
            X.eliminate_zeros()
        X = sp.csr_array(X)
        self._rows = RowBlocks(X)
        found = hashlib.sha256()
        for part in (X.data, X.indices, X.indptr):
            found.update(np.ascontiguousarray(part).tobytes())
        self._digest = found.hexdigest()
        self._arrays: dict[int, Any] = {}
        self.suppressed_ = {"columns": int(np.count_nonzero(rare)), "rows": 0}
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
            From :class:`Sites`.

        Returns
        -------
        bytes
            The sums, or the reason why the question is refused.
        """
        try:
            # In a context of its own: nothing of the caller's is known at another place.
            found = Context().run(self._answered, decoded(question))
        except MomentreeError as error:
            found = {"refused": str(error)}
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            found = {"refused": f"{type(error).__name__}: {error}"}
        answer = encoded(found)
        self.bytes_sent_ += len(answer)
        return answer

    def _answered(self, asked: dict[str, Any]) -> dict[str, Any]:
        for one in asked.get("before", []):
            kernel, arrays = self._parts_of("map", one)
            self._arrays[int(one["as"])] = np.asarray(self._rows.map(kernel, *arrays))
        for number in asked.get("drop", []):
            self._arrays.pop(number, None)
        do = asked["do"]
        if do == "describe":
            return {
                "digest": self._digest,
                "shape": list(self._rows.shape),
                "columns": [str(name) for name in self._columns],
                "named": self._named,
                "suppressed": self.suppressed_["columns"],
            }
        if do != "sum":
            raise InvalidDataError("refused_question", name=str(do))
        kernel, arrays = self._parts_of(do, asked)
        arrays, left_out = self._without_small_groups(arrays)
        self.suppressed_["rows"] += left_out
        return {"sum": np.asarray(self._rows.sum(kernel, *arrays)), "left_out": left_out}

    def _parts_of(self, do: str, asked: dict[str, Any]) -> tuple[Kernel, list[NDArray[Any]]]:
        """Return the kernel and the row arrays of a question, and count it."""
        kernel = asked["kernel"]
        if not callable(kernel):
            raise InvalidDataError("refused_question", name=do)
        self.questions_[f"{do} {parts_of(kernel)[0].rpartition('.')[2]}"] += 1
        return kernel, [self._row_array(one) for one in asked["arrays"]]

    def _row_array(self, one: Any) -> NDArray[Any]:
        """Return a row array that is here, or one with the same entry for all rows."""
        if isinstance(one, int):
            found: NDArray[Any] = self._arrays[one]
            return found
        entry = np.asarray(one["entry"])
        return np.repeat(entry[None], self._rows.shape[0], axis=0)

    def _without_small_groups(self, arrays: list[NDArray[Any]]) -> tuple[list[NDArray[Any]], int]:
        """Take rows of small groups out of all groups; return how many.

        Groups are the combinations of all row arrays of integers.
        """
        groups = [i for i, values in enumerate(arrays) if values.dtype.kind in "iu"]
        if self._min_count == 1 or not groups:
            return arrays, 0
        table = np.stack([arrays[i].astype(np.int64) for i in groups], axis=1)
        _, of, sizes = np.unique(table, axis=0, return_inverse=True, return_counts=True)
        small = sizes[of.ravel()] < self._min_count
        small &= arrays[groups[0]] >= 0
        if not small.any():
            return arrays, 0
        first = arrays[groups[0]].astype(np.int64)
        first[small] = -1
        arrays = list(arrays)
        arrays[groups[0]] = first
        return arrays, int(np.count_nonzero(small))


class SiteArray:
    """A row array that stays at the sites."""

    def __init__(self, number: int, shape: tuple[int, ...]) -> None:
        self.number, self.shape = number, shape

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        """Refuse: entries belong to single rows, which stay at the sites."""
        raise InvalidDataError("rows_stay", n_rows=self.shape[0])


class Sites(Rows):
    """Rows at several sites, for any algorithm that needs only sums.

    Give it to ``fit`` of a tree or a mixture in place of a table. Each question goes to all sites,
    and their answers are added in the order of the sites; rows and what belongs to single rows
    never leave a site.

    Parameters
    ----------
    sites : sequence of callables
        One for each site: maps the bytes of a question to the bytes of its answer. A :class:`Site`
        in the same process is one.

    Attributes
    ----------
    shape : tuple of int
        Number of rows at all sites, and of columns.
    columns : ndarray of str
        Names of the columns, the same at all sites.
    rounds_ : int
        Number of sums so far; questions about single rows, without an answer, go with the next.
    bytes_sent_ : list of int
        Bytes that each site has sent.
    bytes_received_ : list of int
        Bytes that each site has received.
    suppressed_ : dict
        "columns" and "rows": what the sites have suppressed so far. The result is that of the
        pooled rows only if both are 0.

    Raises
    ------
    InvalidDataError
        If there is no site, the columns of two sites differ, two sites have the same rows, or a
        site refuses or gives an answer that is damaged or no answer.

    Warns
    -----
    MomentreeWarning
        At the first suppression.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.backends import Site, Sites
    >>> from momentree.backends.products import transposed_product
    >>> X = np.random.default_rng(0).integers(0, 3, size=(90, 4))
    >>> sites = Sites([Site(part) for part in np.split(X, 3)])
    >>> sites.shape, sites.sum(transposed_product, np.ones(90)).tolist() == X.sum(axis=0).tolist()
    ((90, 4), True)
    """

    gives_rows = False

    def __init__(self, sites: Sequence[Transport]) -> None:
        if not sites:
            raise InvalidDataError("no_sites")
        for i, site in enumerate(sites):
            if not callable(site):
                raise InvalidDataError("not_a_site", site=i + 1, type=type(site).__name__)
        self._sites = list(sites)
        self.rounds_ = 0
        self.bytes_sent_ = [0] * len(self._sites)
        self.bytes_received_ = [0] * len(self._sites)
        self.suppressed_ = {"columns": 0, "rows": 0}
        self._numbers, self._dropped, self._before = 0, list[int](), list[tuple[Any, Any]]()
        found = self._asked({"do": "describe"}, _is_description)
        columns, known = found[0]["columns"], list[str]()
        for i, one in enumerate(found):
            if one["columns"] != columns:
                raise InvalidDataError("sites_with_other_columns", first=1, site=i + 1)
            if one["digest"] in known:
                first = known.index(one["digest"]) + 1
                raise InvalidDataError("same_site_twice", first=first, site=i + 1)
            known.append(one["digest"])
        self.columns = np.array(columns, dtype=object)
        self.feature_names = self.columns if all(one["named"] for one in found) else None
        self.shape = (sum(one["shape"][0] for one in found), len(columns))
        self._note_suppressed("columns", sum(one["suppressed"] for one in found))

    def sum(self, kernel: Kernel, *arrays: RowArray) -> Floats:
        """Return the sum of a kernel over the rows of all sites; see :meth:`Rows.sum`."""
        asked = {"do": "sum", "kernel": kernel, "arrays": [self._named(a) for a in arrays]}
        before = [question for question, _ in self._before]
        answers = self._asked({**asked, "before": before}, _is_sum)
        self._before = []
        self.rounds_ += 1
        count_pass(self.shape[0])
        total: Floats = answers[0]["sum"]
        for i, answer in enumerate(answers[1:], start=2):
            if answer["sum"].shape != total.shape:
                raise InvalidDataError("bad_answer", site=i)
            total = total + answer["sum"]
        self._note_suppressed("rows", sum(answer["left_out"] for answer in answers))
        return np.asarray(total)

    def map(self, kernel: Kernel, *arrays: RowArray) -> SiteArray:
        """Return the values of a kernel, which stay at the sites; see :meth:`Rows.map`.

        The question goes to the sites with the next sum, as it has no answer.
        """
        self._numbers += 1
        number = self._numbers
        named = [self._named(a) for a in arrays]
        question = {"kernel": kernel, "arrays": named, "as": number}
        encoded(question)  # refuses here what no site would answer
        # With its arrays, which sites keep until they have answered.
        self._before.append((question, arrays))
        count_pass(self.shape[0])
        found = SiteArray(number, (self.shape[0],))
        weakref.finalize(found, self._dropped.append, number)
        return found

    def _named(self, values: RowArray) -> Any:
        """Return what refers to a row array at the sites: its number, or one entry for all rows."""
        if isinstance(values, SiteArray):
            return values.number
        array = np.asarray(values)
        if len(array) != self.shape[0] or (len(array) and (array != array[0]).any()):
            raise InvalidDataError("row_arrays_stay")
        return {"entry": array[0]}

    def _asked(
        self, question: dict[str, Any], expected: Callable[[dict[str, Any]], bool]
    ) -> list[dict[str, Any]]:
        dropped = list(self._dropped)
        content = encoded({**question, "drop": dropped})
        answers = []
        for i, site in enumerate(self._sites):
            answer = site(content)
            try:
                found = decoded(answer)
            except (MomentreeError, TypeError) as error:
                raise InvalidDataError("bad_answer", site=i + 1) from error
            self.bytes_received_[i] += len(content)
            self.bytes_sent_[i] += len(answer)
            if isinstance(found, dict) and isinstance(found.get("refused"), str):
                raise InvalidDataError("site_refuses", site=i + 1, reason=found["refused"])
            if not isinstance(found, dict) or not expected(found):
                raise InvalidDataError("bad_answer", site=i + 1)
            answers.append(found)
        del self._dropped[: len(dropped)]
        return answers

    def _note_suppressed(self, what: str, found: int) -> None:
        if found and not any(self.suppressed_.values()):
            warn_caller(MomentreeWarning("sites_suppress"))
        self.suppressed_[what] += found


def _is_description(found: dict[str, Any]) -> bool:
    shape, columns = found.get("shape"), found.get("columns")
    return (
        isinstance(columns, list)
        and all(isinstance(name, str) for name in columns)
        and isinstance(shape, list)
        and len(shape) == 2
        and _is_number(shape[0])
        and shape[1] == len(columns)
        and isinstance(found.get("named"), bool)
        and isinstance(found.get("digest"), str)
        and _is_number(found.get("suppressed"))
    )


def _is_sum(found: dict[str, Any]) -> bool:
    total = found.get("sum")
    if not isinstance(total, np.ndarray) or total.dtype.kind not in "biuf":
        return False
    return not np.isnan(total).any() and _is_number(found.get("left_out"))


def _is_number(found: Any) -> bool:
    return type(found) is int and found >= 0
