"""The chart of topic proportions and the relations of topics, against literal sums."""

import datetime
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from momentree.exceptions import InvalidDataError
from momentree.report.topics import sort_documents
from momentree.report.topics.chart import MAX_COLUMNS, proportions_in_columns, stacked_areas
from momentree.report.topics.summary import relations
from tests.raising import raises
from tests.wording import message


def random_proportions(n, k, seed=0):
    return np.random.default_rng(seed).dirichlet(np.full(k, 0.3), size=n)


def order_of(values):
    return sort_documents(values, len(values)).rows.tolist()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([3, 1, 2], [1, 2, 0]),
        (["10", "9", "-2.5"], [2, 1, 0]),
        (np.array([2.0, np.nan, 1.0]), [2, 0]),
        ([None, "2", "", "1", " "], [3, 1]),
        (["2021-01-02", "2020-12-31", "2021-01-01"], [1, 2, 0]),
        (["2021-01-02T10:00:00Z", "2021-01-02", "2021-01-01"], [2, 1, 0]),
        (["31/12/2020", "01/02/2020"], [1, 0]),
        (["12/31/2020", "12/30/2020"], [1, 0]),
        ([datetime.date(2021, 1, 2), datetime.date(1921, 1, 2)], [1, 0]),
        (pd.Series(pd.to_datetime(["2021-01-02", None, "2020-01-01"])), [2, 0]),
        (np.array(["2021", "2020"], dtype="datetime64[Y]"), [1, 0]),
        ([1, 1, 0, 1], [2, 0, 1, 3]),
    ],
)
def test_numbers_and_dates_sort_documents(values, expected):
    assert order_of(values) == expected


@pytest.mark.parametrize(
    ("values", "code"),
    [
        (["3", "spring"], "not_a_time"),
        (["2020-01-01", "2020-13-45"], "not_a_time"),
        (["3", "inf"], "not_a_time"),
        (["", None], "no_values_to_order_by"),
        (["03/04/2020", "04/03/2020"], "ambiguous_dates"),
    ],
)
def test_what_gives_no_order_is_refused(values, code):
    with raises(InvalidDataError, code):
        sort_documents(values, len(values))


def test_one_value_per_document():
    with raises(InvalidDataError, "not_one_each", parameter="order", found=2, needed=3):
        sort_documents([1, 2], 3)
    for order in (3, sp.csr_array([[1], [2], [3]])):
        with raises(InvalidDataError, "not_a_list", parameter="order"):
            sort_documents(order, 3)


def test_few_documents_have_a_column_each():
    proportions = random_proportions(20, 3)
    found = proportions_in_columns(
        proportions, sort_documents(None, 20), [f"d{i}" for i in range(20)], None
    )
    np.testing.assert_allclose(np.array(found["proportions"]).T / 1000, proportions, atol=5e-4)
    assert found["names"] == [f"d{i}" for i in range(20)]
    assert found["rows"] == list(range(20))
    assert found["ticks"][0] == [0, "d0"]
    assert found["ticks"][-1] == [19, "d19"]
    assert found["note"] == "Each column is one document."


@pytest.mark.parametrize("n", [MAX_COLUMNS + 1, 1234, 3 * MAX_COLUMNS])
def test_many_documents_share_columns(n):
    proportions = random_proportions(n, 4)
    found = proportions_in_columns(proportions, sort_documents(None, n), None, None)
    size = -(-n // MAX_COLUMNS)
    assert found["note"] == str(message("column_of_mean", size=size))
    columns = np.array(found["proportions"])
    assert columns.shape[1] == -(-n // size) <= MAX_COLUMNS
    for at in range(columns.shape[1]):
        rows = proportions[at * size : (at + 1) * size]
        np.testing.assert_allclose(columns[:, at] / 1000, rows.mean(axis=0), atol=5e-4)
    assert found["names"][0] == f"0 to {size - 1}"
    assert found["rows"] is None


def test_documents_of_one_value_share_a_column():
    n = 1000
    years = np.random.default_rng(0).integers(1990, 2020, n)
    proportions = random_proportions(n, 4)
    ordered = sort_documents(pd.Series(years, name="year"), n)
    found = proportions_in_columns(proportions, ordered, [str(i) for i in range(n)], None)
    assert found["axis"] == "year"
    assert found["note"] == str(message("column_of_value", name="year"))
    columns = np.array(found["proportions"])
    assert columns.shape == (4, 30)
    for at, year in enumerate(range(1990, 2020)):
        mean = proportions[years == year].mean(axis=0)
        np.testing.assert_allclose(columns[:, at] / 1000, mean, atol=5e-4)
        assert found["names"][at] == f"{year} ({np.sum(years == year)} documents)"


def test_documents_without_a_value_are_left_out_and_counted():
    proportions = random_proportions(5, 2)
    found = proportions_in_columns(proportions, sort_documents([2, None, 1, "", 3], 5), None, None)
    np.testing.assert_allclose(
        np.array(found["proportions"]).T / 1000, proportions[[2, 0, 4]], atol=5e-4
    )
    assert found["left_out"] == 2
    assert found["names"] == ["1", "2", "3"]
    assert found["rows"] == [2, 0, 4]


def test_runs_of_labels():
    labels = np.array([1, 1, 0, 0, 0, -1])
    found = proportions_in_columns(random_proportions(6, 2), sort_documents(None, 6), None, labels)
    assert found["runs"] == [[1, 0, 2], [0, 2, 3], [-1, 5, 1]]
    mixed = np.arange(60) % 2
    found = proportions_in_columns(random_proportions(60, 2), sort_documents(None, 60), None, mixed)
    assert found["runs"] == []


@given(
    st.integers(1, 5).flatmap(
        lambda k: st.lists(
            st.lists(st.integers(0, 9), min_size=k, max_size=k).filter(any), min_size=1, max_size=9
        )
    )
)
def test_areas_stack_to_the_whole(rows):
    proportions = np.array(rows, dtype=float)
    proportions /= proportions.sum(axis=1, keepdims=True)
    n = len(proportions)
    areas = stacked_areas(proportions_in_columns(proportions, sort_documents(None, n), None, None))
    edges = []
    for area in areas:
        # Read the outline again: the height at each column.
        steps = re.findall(r"V(\d+)(?:H(\d+))?", area.path[len("M0 0") :])
        heights, at = [], 0
        for height, right in steps[:-1]:
            heights += [int(height)] * (int(right) - at)
            at = int(right)
        assert steps[-1] == ("0", "")
        assert len(heights) == n
        edges.append(heights)
    tops = np.vstack([np.zeros(n), edges])
    assert (np.array(edges)[-1] == 1000).all()
    np.testing.assert_allclose(np.diff(tops, axis=0), 1000 * proportions.T, atol=3)
    for j, area in enumerate(areas):
        assert area.peak == pytest.approx(proportions[:, j].max(), abs=2e-3)
        assert proportions[int(area.peak_name), j] == pytest.approx(area.peak, abs=2e-3)


def test_relations_are_cosines_and_correlations():
    P, proportions = random_proportions(4, 30), random_proportions(200, 4, seed=1)
    found = relations(P, proportions)
    correlation = np.corrcoef(proportions.T)
    np.testing.assert_allclose(found["correlation"], correlation, atol=5.1e-3)
    for i in range(4):
        for j in range(4):
            cosine = P[i] @ P[j] / np.sqrt((P[i] @ P[i]) * (P[j] @ P[j]))
            assert found["cosine"][i][j] == pytest.approx(cosine, abs=5.1e-3)
    values = [value for _, _, value in found["alike"]]
    assert values == sorted(values, reverse=True)
    for i, j, value in found["apart"]:
        assert value == pytest.approx(correlation[i, j], abs=1e-3)
        assert value < -0.05


def test_relations_without_proportions_or_with_constant_ones():
    P = np.eye(3)
    assert relations(P, None)["correlation"] is None
    assert relations(P, None)["alike"] == []
    constant = np.tile([0.2, 0.3, 0.5], (7, 1))
    assert relations(P, constant)["correlation"] == np.eye(3).tolist()
