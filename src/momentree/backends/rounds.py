"""Rows elsewhere that answer questions: asked at once, or in rounds whose answers are kept."""

import weakref
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._fit import warn_caller
from momentree._types import Floats
from momentree.backends.base import Kernel, RowArray, Rows, count_pass
from momentree.backends.questions import decoded, encoded
from momentree.backends.sites import DESCRIBE, State, fingerprint_of
from momentree.exceptions import InvalidDataError, MomentreeError, MomentreeWarning
from momentree.messages import wording

_BAD_ANSWER = (
    "[bad_answer] the answer of site {site} is damaged, or no answer to the question; check what "
    "brings the answers, and that all sites have the same version of momentree"
)
_SITES_SUPPRESS = (
    "[sites_suppress] sites suppress sums over few rows, so that the result is not exactly that of "
    "the pooled rows; `suppressed_` counts them, and {parameters.min_count:1} of each site shares "
    "all sums"
)


Transport = Callable[[bytes], bytes]
"""Brings a question to a site and returns its answer: a function call, a file, an HTTP request."""


@dataclass(frozen=True)
class _Map:
    """Values of a kernel for each row, and how a site computes them."""

    number: int
    kernel: Kernel
    arrays: tuple[Any, ...]
    """Other maps, or entries that all rows have."""

    @property
    def question(self) -> dict[str, Any]:
        """The map as a part of a question."""
        return {"as": self.number, "kernel": self.kernel, "arrays": _named(self.arrays)}


def _named(arrays: Iterable[Any]) -> list[Any]:
    """Return what refers to row arrays in a question: numbers of maps, or entries."""
    return [array.number if isinstance(array, _Map) else array for array in arrays]


def _needed(arrays: Iterable[Any], maps: dict[int, _Map]) -> dict[int, _Map]:
    """Collect the maps from which row arrays are computed."""
    for array in arrays:
        if isinstance(array, _Map) and array.number not in maps:
            maps[array.number] = array
            _needed(array.arrays, maps)
    return maps


class SiteArray:
    """A row array that stays at the sites."""

    def __init__(self, made: _Map, n_rows: int) -> None:
        self.made, self.shape = made, (n_rows,)

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        """Refuse: entries belong to single rows, which stay at the sites."""
        raise InvalidDataError(wording.ROWS_STAY, n_rows=self.shape[0])


class RemoteRows(Rows):
    """Rows that are elsewhere and answer questions; rows and row arrays never leave their place.

    Attributes
    ----------
    shape : tuple of int
        Number of rows, and of columns.
    columns : ndarray of str
        Names of the columns.
    rounds_ : int
        Number of sums so far; questions about single rows, without an answer, go with the next.
    suppressed_ : dict
        Number of "columns", "rows" and other "sums" that were suppressed so far.
    """

    gives_rows = False
    _warns = True

    def _begin(self, description: State) -> None:
        columns = description.columns or []
        self.columns = np.array(columns, dtype=object)
        self.feature_names = self.columns if description.named else None
        self.shape = (description.n_rows, len(columns))
        self.rounds_ = self._n_maps = 0
        self.suppressed_ = dict.fromkeys(description.suppressed, 0)
        self._note_suppressed(description)

    def sum(self, kernel: Kernel, *arrays: RowArray) -> Floats:
        """Return the sum of a kernel over the rows of all sites; see :meth:`Rows.sum`."""
        placed = [self._placed(array) for array in arrays]
        maps = sorted(_needed(placed, {}).values(), key=lambda made: made.number)
        question = {"do": "sum", "kernel": kernel, "arrays": _named(placed)}
        state = self._ask({**question, "round": self.rounds_ + 2}, maps)
        self.rounds_ += 1
        count_pass(self.shape[0])
        self._note_suppressed(state)
        return np.array(state.total)  # a copy, which callers may change

    def map(self, kernel: Kernel, *arrays: RowArray) -> SiteArray:
        """Return the values of a kernel, which stay at the sites; see :meth:`Rows.map`.

        The question goes to the sites with the next sum, as it has no answer.
        """
        self._n_maps += 1
        made = _Map(self._n_maps, kernel, tuple(self._placed(array) for array in arrays))
        count_pass(self.shape[0])
        return SiteArray(made, self.shape[0])

    @abstractmethod
    def _ask(self, question: dict[str, Any], maps: list[_Map]) -> State:
        """Return the answer of all rows, given the maps that it needs."""

    def _placed(self, values: RowArray) -> Any:
        """Return how a row array is made at the sites, or the entry that all rows have."""
        if isinstance(values, SiteArray):
            return values.made
        array = np.asarray(values)
        if len(array) != self.shape[0] or (len(array) and (array != array[0]).any()):
            raise InvalidDataError(
                "[row_arrays_stay] sample weights and other values of single rows cannot be sent "
                "to sites; leave them out"
            )
        return {"entry": array[0]}

    def _note_suppressed(self, state: State) -> None:
        if self._warns and any(state.suppressed.values()) and not any(self.suppressed_.values()):
            warn_caller(MomentreeWarning(_SITES_SUPPRESS))
        for name, number in state.suppressed.items():
            self.suppressed_[name] += number


class Sites(RemoteRows):
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
        "columns", "rows" and "sums": what the sites have suppressed so far. The result is that of
        the pooled rows only if all are 0.

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

    def __init__(self, sites: Sequence[Transport]) -> None:
        if not sites:
            raise InvalidDataError("[no_sites] give at least one site")
        for i, site in enumerate(sites, start=1):
            if not callable(site):
                raise InvalidDataError(
                    "[not_a_site] site {site} is a {type}; give one function for each site, which "
                    "takes the bytes of a question and returns those of the answer, or a Site",
                    site=i,
                    type=type(site).__name__,
                )
        self._sites = list(sites)
        self.bytes_sent_ = [0] * len(self._sites)
        self.bytes_received_ = [0] * len(self._sites)
        self._arrays: weakref.WeakSet[SiteArray] = weakref.WeakSet()
        self._kept: set[int] = set()
        states = self._answers(DESCRIBE)
        known: list[frozenset[str]] = []
        for i, state in enumerate(states, start=1):
            if state.columns != states[0].columns:
                raise InvalidDataError(
                    "[sites_with_other_columns] sites {first} and {site} have different columns; "
                    "give all sites the same columns in the same order",
                    first=1,
                    site=i,
                )
            if state.parts in known:
                first = known.index(state.parts) + 1
                raise InvalidDataError(
                    "[same_site_twice] sites {first} and {site} have exactly the same rows, which "
                    "would count double; leave one of them out",
                    first=first,
                    site=i,
                )
            known.append(state.parts)
        named = all(state.named for state in states)
        self._begin(reduce(State.merge, states))
        self.feature_names = self.columns if named else None

    def map(self, kernel: Kernel, *arrays: RowArray) -> SiteArray:
        """Return the values of a kernel, which stay at the sites; see :meth:`Rows.map`."""
        values = super().map(kernel, *arrays)
        self._arrays.add(values)
        return values

    def _ask(self, question: dict[str, Any], maps: list[_Map]) -> State:
        # Sites keep the row arrays that may be needed again, and drop the others.
        new = [made for made in maps if made.number not in self._kept]
        kept = self._kept | {made.number for made in new}
        alive = {array.made.number for array in self._arrays}
        asked = {"maps": [made.question for made in new], "drop": sorted(kept - alive)}
        states = self._answers(encoded({**question, **asked}))
        self._kept = kept & alive
        return reduce(State.merge, [_without_parts(state) for state in states])

    def _answers(self, content: bytes) -> list[State]:
        """Return the answer of each site."""
        states: list[State] = []
        for i, site in enumerate(self._sites):
            answer = site(content)
            try:
                state = State.from_bytes(answer)
            except (MomentreeError, TypeError) as error:
                raise _refusal(answer, i + 1) from error
            shapes = {None if s.total is None else s.total.shape for s in (state, *states[:1])}
            if state.fingerprint != fingerprint_of(content) or len(shapes) > 1:
                raise InvalidDataError(_BAD_ANSWER, site=i + 1)
            self.bytes_received_[i] += len(content)
            self.bytes_sent_[i] += len(answer)
            states.append(state)
        return states


def _without_parts(state: State) -> State:
    state.parts = frozenset()
    return state


def _refusal(answer: Any, site: int) -> InvalidDataError:
    """Return the error of an answer that is not a state."""
    try:
        content = decoded(answer)
    except (MomentreeError, TypeError):
        content = None
    if isinstance(content, dict) and isinstance(content.get("refused"), str):
        return InvalidDataError(
            "[site_refuses] site {site} refuses: {reason}", site=site, reason=content["refused"]
        )
    return InvalidDataError(_BAD_ANSWER, site=site)


class NextRound(Exception):  # noqa: N818 - no error, but the end of what is known
    """A fit asks a question that has no answer yet.

    Parameters
    ----------
    question : bytes
        The question.
    number : int
        Number of its round.
    """

    def __init__(self, question: bytes, number: int) -> None:
        super().__init__(number)
        self.question, self.number = question, number


class Rounds(RemoteRows):
    """Rows of which the answers to the first questions are known.

    A fit is deterministic: repeated with the answers so far, it asks the same questions again, and
    then the next one, which ends it.

    Parameters
    ----------
    answers : iterable of State or bytes
        The answers of all sites in all rounds so far.

    Raises
    ------
    NextRound
        Here and in sums: the next question.
    InvalidDataError
        If answers are missing, or belong to another fit.
    """

    few_rounds = True
    _warns = False  # a fit is repeated in each round

    def __init__(self, answers: Iterable[State | bytes]) -> None:
        self._states: dict[int, State] = {}
        for answer in answers:
            state = answer if isinstance(answer, State) else State.from_bytes(answer)
            known = self._states.get(state.round)
            self._states[state.round] = state if known is None else known.merge(state)
        description = self._answer(DESCRIBE, 1)
        # How to read new data matters to the model, not to the sites.
        facts = description.about[:1]
        self._about = [{k: v for k, v in fact.items() if k != "reader"} for fact in facts]
        self._begin(description)

    def _ask(self, question: dict[str, Any], maps: list[_Map]) -> State:
        # Sites keep nothing between rounds: a question says how to compute all that it needs.
        named = self.feature_names is not None
        content = encoded(
            {
                **question,
                "maps": [made.question for made in maps],
                "drop": [made.number for made in maps],
                "columns": self.columns.tolist() if named else None,
                "n_columns": self.shape[1],
                "n_rows": self.shape[0],
                "about": self._about,
            }
        )
        return self._answer(content, int(question["round"]))

    def _answer(self, content: bytes, number: int) -> State:
        state = self._states.get(number)
        if state is None:
            if any(later > number for later in self._states):
                raise InvalidDataError(
                    "[round_missing] there is no answer of round {number}, but of later ones; give "
                    "the answers of all rounds",
                    number=number,
                )
            raise NextRound(content, number)
        if state.fingerprint != fingerprint_of(content):
            raise InvalidDataError(
                "[answers_of_another_fit] the answers of round {number} belong to another "
                "question; give the same estimator with the same parameters, and the answers of "
                "all sites in all rounds before",
                number=number,
            )
        before = self._states[1].n_rows
        if state.n_rows != before:
            warn_caller(
                MomentreeWarning(
                    "[other_rows] this round has {n_rows:~row}, and the one before had {before:,}; "
                    "ask the same sites in each round, and let them answer with the same table, "
                    "read in the same way",
                    n_rows=state.n_rows,
                    before=before,
                )
            )
        return state


def next_round(estimator: Any, answers: Iterable[State | bytes] = ()) -> bytes | None:
    """Fit an estimator to rows elsewhere, as far as their answers to its questions are known.

    Each question is one round: send it to all sites, and call this function again with their
    answers and those of all rounds before.

    Parameters
    ----------
    estimator : estimator
        A tree or a mixture that accepts :class:`Sites` in ``fit``.
    answers : iterable of State or bytes
        What :meth:`Site.answer` or :meth:`State.update` gave, in all rounds so far; none in the
        first.

    Returns
    -------
    bytes or None
        The next question; None when the estimator is fitted.

    Raises
    ------
    InvalidDataError
        If answers are missing, or belong to another estimator or another version of momentree.

    Warns
    -----
    MomentreeWarning
        Once the estimator is fitted, if sites have suppressed sums over few rows. If one has
        answered twice, or if the number of rows changes.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree import ClusterTree, Site, next_round
    >>> rng = np.random.default_rng(0)
    >>> rates = np.array([[0.9, 0.8, 0.1, 0.2], [0.1, 0.2, 0.8, 0.9]])
    >>> X = rng.random((300, 4)) < rates[rng.choice(2, size=300)]
    >>> sites = [Site(part, min_count=1) for part in np.split(X, 3)]
    >>> tree, answers = ClusterTree(2), []
    >>> while question := next_round(tree, answers):
    ...     answers += [site.answer(question) for site in sites]
    >>> bool((tree.predict(X) == ClusterTree(2).fit(X).labels_).all())
    True
    """
    try:
        estimator.fit(rows := Rounds(answers))
    except NextRound as ends:
        return ends.question
    if any(rows.suppressed_.values()):
        warn_caller(MomentreeWarning(_SITES_SUPPRESS))
    return None
