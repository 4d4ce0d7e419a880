"""What changed between two models: which groups stayed, moved, appeared and vanished."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_is_fitted

from momentree._types import Floats, Ints
from momentree.core.ties import largest_first
from momentree.exceptions import InvalidDataError
from momentree.messages import Message

if TYPE_CHECKING:
    import pandas as pd

Status = Literal["stayed", "moved", "appeared", "vanished"]

STAYED = 0.2
"""A group has stayed if it moved by less than this fraction of the distance between groups."""
SAME = 0.5
"""Groups that are farther apart than this fraction are different ones."""
ABSENT = 0.1
"""A group has vanished if its weight in new samples is below this fraction of the old one,"""
EXPECTED = 5.0
"""and if at least so many samples would have been expected."""
N_WORDS = 5
_CODES: dict[str, str] = {
    "stayed": (
        "[group_stayed] {number} {name}: stayed ({old_weight:.1%} before, {new_weight:.1%} now)."
    ),
    "moved": (
        "[group_moved] {number} {name}: moved ({old_weight:.1%} before, {new_weight:.1%} now); "
        "more frequent: {rose:list}; less frequent: {fell:list}."
    ),
    "appeared": "[group_appeared] {number} {name}: appeared ({new_weight:.1%}).",
    "vanished": (
        "[group_vanished] {number} {name}: vanished ({old_weight:.1%} before, {new_weight:.1%} "
        "now)."
    ),
}
MIN_CHANGE = 1e-3
"""Smaller changes of a probability are not listed,"""
MIN_SHIFT = 0.1
"""nor are smaller changes of a number, in the unit of its column."""


@dataclass(frozen=True)
class GroupChange:
    """What happened to one topic, component or leaf.

    Attributes
    ----------
    old, new : int or None
        Its number in the old and in the new model; None if it does not exist there.
    name : str
        Its name in the new model, or in the old one if it vanished.
    status : {"stayed", "moved", "appeared", "vanished"}
        What happened.
    old_weight, new_weight : float
        Fraction of the samples; 0 where it does not exist. After ``partial_fit``, `new_weight` is
        the fraction of the samples of the last batch.
    distance : float
        Between the old and the new profile. For counts, codes and words: half the sum of absolute
        differences of the probabilities, from 0 to 1. For numbers and tables of several kinds of
        columns: Euclidean, with columns in units of their standard deviation within the old groups,
        and rates in units of theirs in all samples; all columns of directions have the same unit.
        NaN if there is only one profile.
    rose, fell : tuple of str
        Words, codes or columns that gained and lost most, at most five each.
    """

    old: int | None
    new: int | None
    name: str
    status: Status
    old_weight: float
    new_weight: float
    distance: float
    rose: tuple[str, ...] = ()
    fell: tuple[str, ...] = ()

    @property
    def message(self) -> Message:
        """What happened, as a message."""
        number = self.old if self.new is None else self.new
        kept = ("name", "old_weight", "new_weight", "distance")
        facts = {name: getattr(self, name) for name in kept}
        rose, fell = list(self.rose), list(self.fell)
        return Message(_CODES[self.status], number=number, rose=rose, fell=fell, **facts)


@dataclass(frozen=True)
class ModelChanges:
    """The differences between two models, or before and after ``partial_fit``.

    ``str`` gives a summary in sentences.

    Attributes
    ----------
    groups : tuple of GroupChange
        One for each group of either model: those of the new model by number, then vanished ones.
    separation : float
        The median distance between different groups. A group that moved by less than 0.2 times this
        has "stayed"; from 0.5 times on, it is not the same group.
    """

    groups: tuple[GroupChange, ...]
    separation: float

    def __iter__(self) -> Iterator[GroupChange]:
        """Iterate over the groups."""
        return iter(self.groups)

    def __len__(self) -> int:
        """Return the number of groups."""
        return len(self.groups)

    def __str__(self) -> str:
        """Return the summary, one sentence per line."""
        return "\n".join(str(message) for message in self.messages)

    @property
    def messages(self) -> list[Message]:
        """The summary: how many groups stayed, and one message for each other one."""
        found: dict[str, int] = dict.fromkeys(("stayed", "moved", "appeared", "vanished"), 0)
        for group in self.groups:
            found[group.status] += 1
        rest = [group.message for group in self.groups if group.status != "stayed"]
        return [
            Message(
                "[groups_changed] {stayed} stayed, {moved} moved, {appeared} appeared, {vanished} "
                "vanished.",
                **found,
            ),
            *rest,
        ]

    def of(self, status: Status) -> list[GroupChange]:
        """Return the groups with one status.

        Parameters
        ----------
        status : {"stayed", "moved", "appeared", "vanished"}
            The status.

        Returns
        -------
        list of GroupChange
            The groups, by number.
        """
        return [group for group in self.groups if group.status == status]

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas data frame with one row per group."""
        import pandas as pd

        rows = [
            {**vars(group), "rose": ", ".join(group.rose), "fell": ", ".join(group.fell)}
            for group in self.groups
        ]
        table = pd.DataFrame(rows, columns=list(GroupChange.__dataclass_fields__))
        return table.astype({"old": "Int64", "new": "Int64"})


def compare_models(old: Any, new: Any) -> ModelChanges:
    """Return which groups of a model stayed, moved, appeared and vanished in another one.

    Topics, components or leaves are matched so that the sum of the distances between their profiles
    is least; columns are matched by name.

    Parameters
    ----------
    old, new : fitted estimators
        Two flat models or trees, for example of the documents of two months. Their columns may
        differ; a word that one of them does not know has probability zero there, and numbers that
        one of them does not know are left out.

    Returns
    -------
    ModelChanges
        A row for each group.

    Raises
    ------
    InvalidDataError
        If the models have no column in common, or no groups with profiles.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree import SingleTopicModel, compare_models
    >>> def documents(*topics):
    ...     return np.repeat(np.kron(np.eye(4), np.ones(3))[list(topics)], 30, axis=0)
    >>> words = [f"word{i}" for i in range(12)]
    >>> old = SingleTopicModel(3).fit(documents(0, 0, 1, 2), feature_names=words)
    >>> new = SingleTopicModel(3).fit(documents(0, 1, 1, 3), feature_names=words)
    >>> changes = compare_models(old, new)
    >>> [(group.old, group.new, group.status) for group in changes if group.status != "stayed"]
    [(None, 2, 'appeared'), (2, None, 'vanished')]
    """
    before, after = Groups.of(old), Groups.of(new)
    words = _common(before, after)
    A, B = before.on(words), after.on(words)
    return _compare(before, after, A, B, words)


@dataclass(frozen=True)
class Groups:
    """The groups of a fitted model."""

    profiles: Floats  # (k, d)
    weights: Floats
    names: Sequence[str]
    columns: Sequence[str]
    distributions: bool  # whether profiles are non-negative, and their scale is of no interest
    within: Floats | None = None  # of each column of numbers, its unit: the deviation in groups

    @classmethod
    def of(cls, model: Any) -> Groups:
        """Return the groups of a flat model or a tree."""
        check_is_fitted(model)
        leaves = getattr(model, "leaves_", None)
        if leaves is not None:
            profiles = np.stack([leaf.center for leaf in leaves])
            weights = np.array([leaf.weight for leaf in leaves])
        elif hasattr(model, "_profiles") and hasattr(model, "weights_"):
            profiles, weights = np.asarray(model._profiles), np.asarray(model.weights_)
        else:
            raise InvalidDataError(
                "{type} has no groups with profiles; compare flat models of counts or "
                "measurements, or trees",
                type=type(model).__name__,
            )
        columns = [str(name) for name in getattr(model, "_profile_names", model.vocabulary_)]
        within = getattr(model, "_within", None)
        distributions = within is None and bool((profiles >= 0).all())
        return cls(profiles, weights, model.names_, columns, distributions, within)

    def on(self, words: Sequence[str]) -> Floats:
        """Return the profiles over other columns, zero for unknown ones."""
        at = {word: i for i, word in enumerate(words)}
        here = [i for i, word in enumerate(self.columns) if word in at]
        out = np.zeros((len(self.profiles), len(words)))
        np.add.at(out.T, [at[self.columns[i]] for i in here], self.profiles.T[here])
        return out


def changes_of_batch(
    before: Groups | None,
    after: Groups,
    to: Ints,
    batch_weights: Floats,
    n_batch: float,
) -> ModelChanges:
    """Return the changes by a batch, whose groups are known: old group j is now `to[j]`.

    Parameters
    ----------
    before, after : Groups
        Before and after the batch; None before the first one.
    to : ndarray of intp of shape (k_before,)
        Number of the group that each old one became.
    batch_weights : ndarray of shape (k_after,)
        Fraction of the samples of the batch in each group.
    n_batch : float
        Weight of the batch.

    Returns
    -------
    ModelChanges
        A row for each group.
    """
    if before is None:
        rows = [_appeared(after, j, after.weights) for j in range(len(after.names))]
        return ModelChanges(tuple(rows), 1.0)
    pairs = {j: j for j, into in enumerate(to.tolist()) if into == j}  # numbers are kept
    changed = _compare(
        before, after, before.profiles, after.profiles, after.columns, pairs, batch_weights
    )
    rows = []
    for group in changed:
        absent = group.new_weight < ABSENT * group.old_weight
        if group.old is not None and absent and group.old_weight * n_batch >= EXPECTED:
            group = replace(group, status="vanished", rose=(), fell=())
        rows.append(group)
    return ModelChanges(tuple(rows), changed.separation)


def _compare(
    before: Groups,
    after: Groups,
    A: Floats,
    B: Floats,
    words: Sequence[str],
    pairs: dict[int, int] | None = None,
    new_weights: Floats | None = None,
) -> ModelChanges:
    """Return the changes, given profiles over common columns, and the old number of new groups."""
    weights = after.weights if new_weights is None else new_weights
    if before.distributions and after.distributions:
        A, B = (P / np.maximum(P.sum(axis=1, keepdims=True), 1e-300) for P in (A, B))
        distances = 0.5 * cdist(A, B, "cityblock")
        within = 0.5 * cdist(A, A, "cityblock")
    else:
        unit = _units(before, A, words)
        A, B = A / unit, B / unit
        distances, within = cdist(A, B), cdist(A, A)
    between = within[np.triu_indices(len(A), 1)]
    separation = float(np.median(between)) if len(between) else 1.0
    given = pairs is not None
    if pairs is None:
        first, second = linear_sum_assignment(distances)
        pairs = dict(zip(second.tolist(), first.tolist(), strict=True))
    rows: list[GroupChange] = []
    matched: set[int] = set()
    for j, name in enumerate(after.names):
        i = pairs.get(j, -1)
        distance = float(distances[i, j]) if i >= 0 else float("nan")
        if i < 0 or (not given and distance > SAME * separation):
            rows.append(_appeared(after, j, weights))
            continue
        matched.add(i)
        status: Status = "stayed" if distance <= STAYED * separation else "moved"
        rose, fell = _words(A[i], B[j], words, before.distributions)
        old_weight, new_weight = float(before.weights[i]), float(weights[j])
        rows.append(GroupChange(i, j, name, status, old_weight, new_weight, distance, rose, fell))
    for i, name in enumerate(before.names):
        if i not in matched:
            weight = float(before.weights[i])
            rows.append(GroupChange(i, None, name, "vanished", weight, 0.0, float("nan")))
    return ModelChanges(tuple(rows), separation)


def _appeared(after: Groups, j: int, weights: Floats) -> GroupChange:
    return GroupChange(None, j, after.names[j], "appeared", 0.0, float(weights[j]), float("nan"))


def _units(before: Groups, A: Floats, words: Sequence[str]) -> Floats:
    """Return a unit for each column: its deviation within groups, or else between them.

    Where groups do not differ, the deviation between them is noise, and so large in this unit that
    it would hide all other columns.
    """
    if before.within is None:  # a model of counts and one of numbers
        unit = np.sqrt(before.weights @ (A - before.weights @ A) ** 2)
    else:
        known = dict(zip(before.columns, before.within.tolist(), strict=True))
        unit = np.array([known[word] for word in words])
    return np.where(unit > 0, unit, 1.0)


def _words(
    a: Floats, b: Floats, words: Sequence[str], distributions: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns that rose most and fell most."""
    change = b - a
    least = MIN_CHANGE if distributions else MIN_SHIFT
    order = largest_first(np.abs(change))
    rose = [str(words[w]) for w in order if change[w] > least]
    fell = [str(words[w]) for w in order if change[w] < -least]
    return tuple(rose[:N_WORDS]), tuple(fell[:N_WORDS])


def _common(before: Groups, after: Groups) -> list[str]:
    """Return the columns of comparisons: of either model for distributions, else of both."""
    one, other = before.columns, after.columns
    if list(one) == list(other):
        return list(one)
    shared = set(one) & set(other)
    if not shared:
        raise InvalidDataError(
            "[no_common_columns] the models have no column in common; compare models of the same "
            "words, codes or columns"
        )
    if before.distributions and after.distributions:
        return [*one, *(word for word in other if word not in shared)]
    return [word for word in one if word in shared]
