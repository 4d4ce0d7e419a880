"""Checks of numbers, choices, flags and arrays, through functions that have such parameters."""

from __future__ import annotations

import numpy as np
import pytest

from momentree import SingleTopicModel, TopicTree
from momentree.decomposition import svtd, tensor_power_method
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.messages import Message
from momentree.metrics import group_profiles, relevance, stability_score
from momentree.moments import SingleTopicMoments
from tests.raising import raises

COUNTS = [[3, 0, 1], [0, 2, 1]] * 20
MOMENTS = SingleTopicMoments.from_parameters([0.6, 0.4], [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])


def feature(value):
    """The slice that SVTD uses: a whole number from 0 to 2, or None."""
    return svtd(MOMENTS, 2, feature=value).diagnostics["feature"]


def weighted(lam):
    """The relevance of two words: log p for the weight 1, log p / q for 0."""
    return relevance([[0.2, 0.8]], [0.5, 0.5], lam=lam)[0].tolist()


@pytest.mark.parametrize("value", [0, 2, np.int32(1)])
def test_whole_numbers_are_accepted(value):
    assert feature(value) == value


@pytest.mark.parametrize("value", [-1, 3, 2.0, True, "2", np.nan, np.array([2])])
def test_other_values_are_not_whole_numbers(value):
    expected = Message("[whole_number]", ends=[Message("[from_to]", low=0, high=2)])
    with raises(
        InvalidParameterError,
        "not_a_number",
        parameter="feature",
        expected=Message("[or_none]", expected=expected),
    ):
        feature(value)


@pytest.mark.parametrize("value", [0, 0.5, 1, np.float32(0.25), np.float64(0.99)])
def test_numbers_are_accepted(value):
    p, q = np.array([0.2, 0.8]), 0.5
    np.testing.assert_allclose(weighted(value), np.log(p) - (1 - value) * np.log(q))


@pytest.mark.parametrize("value", [-0.1, 1.1, np.inf, np.nan, True, "0.5", None, 1j])
def test_other_values_are_not_numbers(value):
    expected = Message("[number]", ends=[Message("[from_to]", low=0, high=1)])
    with raises(InvalidParameterError, "not_a_number", parameter="lam", expected=expected):
        weighted(value)


@pytest.mark.parametrize(
    ("parameters", "ends"),
    [
        ({"smoothing": 0}, [Message("[above]", end=0)]),
        ({"tol": -1}, [Message("[at_least]", end=0)]),
    ],
)
def test_open_ranges_are_described_by_their_end(parameters, ends):
    expected = Message("[number]", ends=ends)
    with raises(InvalidParameterError, "not_a_number", expected=expected):
        TopicTree(2, **parameters).fit(COUNTS)


def test_messages_contain_plain_numbers():
    ends = [Message("[above]", end=0), Message("[below]", end=1)]
    with raises(
        InvalidParameterError, "not_a_number", value=2.0, expected=Message("[number]", ends=ends)
    ) as caught:
        stability_score(TopicTree(2), COUNTS, overlap=np.float64(2))
    assert type(caught.value.message.values["value"]) is float


def test_optional_parameters_may_be_none():
    assert feature(None) in range(3)
    assert TopicTree(max_leaf_nodes=2, max_depth=None, refine=None).fit(COUNTS).n_leaves_ == 2


@pytest.mark.parametrize("value", [True, False, 0, 1, np.True_])
def test_flags_are_accepted(value):
    assert TopicTree(2, exact=value).fit(COUNTS).n_leaves_ == 2


def test_other_numbers_are_not_flags():
    with raises(InvalidParameterError, "not_a_flag", parameter="exact", value=2):
        TopicTree(2, exact=2).fit(COUNTS)


@pytest.mark.parametrize("value", ["x", ["em"], np.array(["em", "x"]), 1, True])
def test_other_values_are_not_choices(value):
    with raises(InvalidParameterError, "not_a_choice", parameter="refine", choices=["em", None]):
        TopicTree(2, refine=value).fit(COUNTS)


def test_no_random_state_means_seed_zero():
    found = [tensor_power_method(MOMENTS, 2, random_state=seed).centers for seed in (None, 0)]
    np.testing.assert_array_equal(*found)
    with raises(InvalidParameterError, "not_a_random_state"):
        tensor_power_method(MOMENTS, 2, random_state="seed")


@pytest.mark.parametrize("values", ["a", [[1], [1, 2]], [1j]])
def test_other_arrays_are_refused(values):
    with raises(InvalidDataError, "not_numbers", parameter="components"):
        relevance(values, [0.5, 0.5])


def test_wrong_shapes_are_described():
    with raises(
        InvalidDataError,
        "wrong_shape",
        parameter="components",
        found="(2,)",
        expected="(n_components, n_features)",
    ):
        relevance([0.5, 0.5], [0.5, 0.5])


@pytest.mark.parametrize(
    ("weights", "code"),
    [
        ([1, 2], "wrong_shape"),
        ([1, -1, 1], "bad_sample_weight"),
        ([1, np.nan, 1], "bad_sample_weight"),
        ([1, 1e31, 1], "bad_sample_weight"),
        ([0, 0, 0], "no_sample_weight"),
        ([0, 1e-31, 0], "tiny_sample_weights"),
    ],
)
def test_bad_sample_weights_are_refused(weights, code):
    with raises(InvalidDataError, code):
        group_profiles(np.eye(3), [0, 1, 1], sample_weight=weights)


@pytest.mark.parametrize("model", [TopicTree("Auto"), SingleTopicModel("Auto")], ids=type)
def test_a_misspelled_auto_names_the_right_one(model):
    with raises(InvalidParameterError, "not_a_number", value="Auto") as caught:
        model.fit(np.eye(4))
    assert "'auto'" in str(caught.value)
