"""Checks of numbers, choices, flags and arrays, and how their messages are composed."""

from __future__ import annotations

import numpy as np
import pytest

from momentree._validation import (
    as_floats,
    check_choice,
    check_flag,
    check_integer,
    check_number,
    check_sample_weight,
    check_shape,
    generator,
)
from momentree.exceptions import InvalidDataError, InvalidParameterError
from tests.raising import raises


@pytest.mark.parametrize("value", [1, 7, np.int32(3)])
def test_whole_numbers_pass(value):
    check_integer("n", value, at_least=1, at_most=7)


@pytest.mark.parametrize("value", [0, 8, 2.0, True, "2", None, np.nan, np.array([2])])
def test_other_values_are_not_whole_numbers(value):
    with raises(InvalidParameterError, "not_a_number", parameter="n"):
        check_integer("n", value, at_least=1, at_most=7)


@pytest.mark.parametrize("value", [0, 0.5, np.float32(0.25), np.float64(0.99)])
def test_numbers_pass(value):
    check_number("x", value, at_least=0, below=1)


@pytest.mark.parametrize("value", [-0.1, 1, np.inf, np.nan, True, "0.5", None, 1j])
def test_other_values_are_not_numbers(value):
    with raises(InvalidParameterError, "not_a_number", parameter="x"):
        check_number("x", value, at_least=0, below=1)


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (lambda: check_number("x", "a"), "x='a'; expected a finite number"),
        (lambda: check_number("x", 0, above=0), "x=0; expected a number above 0"),
        (
            lambda: check_number("x", np.float64(2), above=0, at_most=1),
            "x=2.0; expected a number above 0 and of at most 1",
        ),
        (
            lambda: check_number("x", 2, at_least=0, at_most=1),
            "x=2; expected a number from 0 to 1",
        ),
        (
            lambda: check_integer("n", 0, at_least=1, optional=True),
            "n=0; expected a whole number of at least 1, or None",
        ),
        (lambda: check_flag("b", 2), "b=2; expected True or False"),
        (lambda: check_choice("c", "z", ("a", None)), "c='z'; expected 'a' or None"),
        (
            lambda: check_shape("m", np.ones(3), ("k", 2)),
            "m has shape (3,); expected (k, 2)",
        ),
    ],
)
def test_words(check, words):
    with pytest.raises((InvalidParameterError, InvalidDataError)) as info:
        check()
    assert str(info.value) == words


def test_optional_parameters_may_be_none():
    check_integer("n", None, at_least=1, optional=True)
    check_number("x", None, above=0, optional=True)
    check_choice("c", None, ("a", None))


@pytest.mark.parametrize("value", [True, False, 0, 1, np.True_])
def test_flags_pass(value):
    check_flag("b", value)


@pytest.mark.parametrize("value", [["a"], np.array(["a", "b"]), 1, True])
def test_other_types_are_not_choices(value):
    with raises(InvalidParameterError, "not_a_choice", parameter="c"):
        check_choice("c", value, ("a", "b"))


def test_no_random_state_means_seed_zero():
    assert generator(None).random_sample() == np.random.RandomState(0).random_sample()
    with raises(InvalidParameterError, "not_a_random_state"):
        generator("seed")


@pytest.mark.parametrize("values", ["a", [[1], [1, 2]], [1j]])
def test_other_arrays_are_refused(values):
    with raises(InvalidDataError, "not_numbers", parameter="W"):
        as_floats("W", values)


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
        check_sample_weight(weights, 3)
