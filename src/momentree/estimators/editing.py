"""Edit the groups of a fitted estimator: split one, or merge several (T Remark 4.4.1).

An edited estimator first assigns a sample to a group of the fit, and then to a part of that
group, so that an edit moves no samples of other groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from momentree._types import Floats, Ints
from momentree._validation import check_integer, check_sample_weight, check_values
from momentree.assignment.rules import Assigner, NestedAssigner
from momentree.backends import group_totals, single_threaded_blas
from momentree.core.progress import console_logging
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.messages import wording

Data = TypeVar("Data")
E = TypeVar("E")


@dataclass(frozen=True)
class Groups:
    """An assigner of samples to groups, and the group of each sample of the fit."""

    assigner: Assigner
    labels: Ints

    def split(self, group: int, parts: Groups) -> Groups:
        """Replace one group by its parts; the numbers of later groups increase."""
        labels = self.labels + (parts.assigner.n_groups - 1) * (self.labels > group)
        labels[self.labels == group] = group + parts.labels
        return Groups(NestedAssigner.of(self.assigner, group, parts.assigner), labels)

    def renumbered(self, to: Ints) -> Groups:
        """Renumber group i as `to[i]`; groups with the same number are merged."""
        return Groups(self.assigner.renumbered(to), to[self.labels])

    def reordered(self, order: Ints) -> Groups:
        """Reorder the groups, given the old number of each."""
        to = np.empty_like(order)
        to[order] = np.arange(len(order))
        return self.renumbered(to)


@dataclass(frozen=True)
class RefitData(Generic[Data]):
    """The data of a fit, passed again for an edit, in canonical order; `at` are its rows in X."""

    data: Data
    weight: Floats
    at: Ints
    groups: Groups

    def sizes(self, n_groups: int) -> Floats:
        """Return the total sample weight of each group, shape (n_groups,)."""
        return group_totals(self.groups.labels, self.weight, n_groups)


def split_group(
    self: E, X: Any, group: int, n_groups: int = 2, *, sample_weight: ArrayLike | None = None
) -> E:
    """Split one group and leave all others unchanged (T Remark 4.4.1).

    Fits the samples of this group alone, with the parameters of this estimator.

    Parameters
    ----------
    X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
        The samples of ``fit``, in the same order.
    group : int
        Number of the group (leaf).
    n_groups : int >= 2, default=2
        Number of parts; fewer if the data do not support as many.
    sample_weight : array-like of shape (n_samples,), default=None
        The weights passed to ``fit``.

    Returns
    -------
    estimator
        A new fitted estimator; this one is unchanged. The new leaves replace the old one, and the
        numbers of later leaves increase.

    Raises
    ------
    InvalidDataError
        If the group cannot be split (the message says why) or X differs from the data of
        ``fit``.
    InvalidParameterError
        If there is no such group, or `n_groups` is less than 2.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree import ClusterTree
    >>> X = np.repeat(np.kron(np.eye(3), np.ones(3)), [40, 30, 20], axis=0)
    >>> model = ClusterTree(2).fit(X)
    >>> np.bincount(model.labels_)
    array([50, 40])
    >>> model = model.split_group(X, 0)
    >>> np.bincount(model.labels_)
    array([30, 20, 40])
    >>> np.bincount(model.merge_groups(X, [0, 1]).labels_)
    array([50, 40])
    """
    check_is_fitted(self, "labels_")
    model: Any = self
    group = _check_group(group, model._groups_assigner.n_groups)
    check_integer("n_groups", n_groups, at_least=2)
    refit = _refit_data(model, X, sample_weight)
    with console_logging(model._log, bool(model.verbose)), single_threaded_blas():
        out = model._split(refit, group, int(n_groups))
    out.set_params(max_leaf_nodes=out.n_leaves_)
    return out  # type: ignore[no-any-return]


def merge_groups(
    self: E, X: Any, groups: Sequence[int], *, sample_weight: ArrayLike | None = None
) -> E:
    """Merge several groups into one and leave all others unchanged.

    Parameters
    ----------
    X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
        The samples of ``fit``, in the same order.
    groups : sequence of int
        Numbers of at least two groups.
    sample_weight : array-like of shape (n_samples,), default=None
        The weights passed to ``fit``.

    Returns
    -------
    estimator
        A new fitted estimator with renumbered groups; this one is unchanged. The merged leaf
        replaces the largest of them, and an only child replaces its parent.

    Raises
    ------
    InvalidDataError
        If X differs from the data of ``fit``.
    InvalidParameterError
        If `groups` does not contain at least two different groups.
    """
    check_is_fitted(self, "labels_")
    model: Any = self
    some = _check_groups(groups, model._groups_assigner.n_groups)
    refit = _refit_data(model, X, sample_weight)
    with single_threaded_blas():
        out = model._merge(refit, some)
    out.set_params(max_leaf_nodes=out.n_leaves_)
    return out  # type: ignore[no-any-return]


def _refit_data(model: Any, X: Any, sample_weight: ArrayLike | None) -> RefitData[Any]:
    X, missing, _ = check_values(model, X, None, reset=False)
    n, fitted = X.shape[0], len(model.labels_)
    if n != fitted:
        raise InvalidDataError(
            "[other_number_of_rows] X has {n_rows:~row}, but the estimator was fitted to "
            "{fitted:,}; pass the data used in fit, in the same order",
            n_rows=n,
            fitted=fitted,
        )
    weight = check_sample_weight(sample_weight, n)
    if missing is not None and not model._fitted_with_missing:
        raise InvalidDataError(
            "[missing_not_in_fit] X has missing values, but the data used in fit had none; pass "
            "the data used in fit"
        )
    data, at = model._prepared(X, missing, weight)
    return RefitData(data, weight[at], at, Groups(model._groups_assigner, model.labels_[at]))


def with_labels(model: Any, labels: Ints, at: Ints) -> Any:
    """Return a copy with new labels, which are given in canonical order."""
    out = model._copy()
    out.labels_ = np.empty_like(labels)
    out.labels_[at] = labels
    return out


def merge_numbers(groups: Sequence[int], sizes: Floats) -> tuple[int, Ints]:
    """Return the largest of `groups`, which the others join, and the new number of every group."""
    place = max(groups, key=lambda group: (sizes[group], -group))
    old = np.arange(len(sizes))
    old[list(groups)] = place
    return place, np.unique(old, return_inverse=True)[1].astype(np.intp)


def _is_group(group: object, n_groups: int) -> bool:
    whole = isinstance(group, Integral) and not isinstance(group, bool)
    return whole and 0 <= int(group) < n_groups  # type: ignore[call-overload]


def _check_group(group: Any, n_groups: int) -> int:
    if not _is_group(group, n_groups):
        raise InvalidParameterError(
            wording.NO_SUCH_GROUP, parameter="group", value=group, last=n_groups - 1
        )
    return int(group)


def _check_groups(groups: Any, n_groups: int) -> list[int]:
    """Return the checked group numbers in ascending order."""
    try:
        given = list(groups)
    except TypeError:
        given = []
    found = sorted({int(group) for group in given if _is_group(group, n_groups)})
    if len(found) < 2 or not all(_is_group(group, n_groups) for group in given):
        raise InvalidParameterError(
            "[no_such_groups] {parameters.groups:=value}; expected the numbers of at least two "
            "different groups, from 0 to {last}",
            value=groups,
            last=n_groups - 1,
        )
    return found
