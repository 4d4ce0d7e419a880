"""Edits of a tree that are refused."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from momentree import ClusterTree
from momentree.exceptions import InvalidDataError, InvalidParameterError

from ..raising import raises
from ..tree.cluster_data import of_kind

X, _ = of_kind("binary")


@pytest.fixture(scope="module")
def fitted():
    return ClusterTree(3).fit(X)


@pytest.mark.parametrize("group", [-1, 3, 0.0, True, "0", None, [0]])
def test_a_group_that_does_not_exist(fitted, group):
    with raises(InvalidParameterError, "no_such_group", parameter="group", last=2):
        fitted.split_group(X, group)


@pytest.mark.parametrize("n_groups", [1, 0, 2.0, True, None])
def test_a_number_of_parts_that_is_too_small_or_no_number(fitted, n_groups):
    with raises(InvalidParameterError, "not_a_number", parameter="n_groups"):
        fitted.split_group(X, 0, n_groups)


@pytest.mark.parametrize(
    "groups", [[], [1], [1, 1], [0, 3], [0, -1], 2, None, ["a", "b"], [0, 1.0], [0, 1, 7]]
)
def test_groups_that_do_not_exist_or_are_too_few(fitted, groups):
    with raises(InvalidParameterError, "no_such_groups", parameter="groups", last=2):
        fitted.merge_groups(X, groups)


@pytest.mark.parametrize(("method", "what"), [("split_group", 0), ("merge_groups", [0, 1])])
def test_other_data_than_those_of_fit(fitted, method, what):
    edit = getattr(fitted, method)
    with raises(InvalidDataError, "other_number_of_rows", n_rows=239, fitted=240):
        edit(X[1:], what)
    with pytest.raises(InvalidDataError):
        edit(X[:, 1:], what)
    with pytest.raises(InvalidDataError):
        edit(X * 2, what)
    gap = X.copy()
    gap[0, 0] = np.nan
    with raises(InvalidDataError, "missing_not_in_fit"):
        edit(gap, what)
    with pytest.raises(InvalidDataError):
        edit(X, what, sample_weight=[1.0])
    with pytest.raises(NotFittedError):
        getattr(type(fitted)(), method)(X, what)


@pytest.mark.filterwarnings("ignore::momentree.exceptions.ConvergenceWarning")
def test_a_group_that_cannot_be_split():
    tree = ClusterTree(3, min_samples_leaf=60).fit(X)
    group = int(np.bincount(tree.labels_).argmin())
    with raises(InvalidDataError, "cannot_split", group=group) as info:
        tree.split_group(X, group)
    assert info.value.message.values["reason"].code == "too_few_to_split"
    two = np.repeat([[1.0, 1, 0, 0], [0, 0, 1, 1]], 20, axis=0)
    with raises(InvalidDataError, "cannot_split") as info:
        ClusterTree(2).fit(two).split_group(two, 0)
    assert info.value.message.values["reason"].code == "rank_too_low"
