"""Kinds of columns: the rules in their order, and how columns become numbers."""

import datetime

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from momentree.exceptions import InvalidDataError
from momentree.preprocessing import MatrixColumns, MixedColumns, guess_kind
from momentree.preprocessing.column_kinds import values_of

from ..raising import raises

rng = np.random.default_rng(0)
EXAMPLES = {
    "booleans": ([True, False] * 50, "yes_no"),
    "booleans with gaps": ([True, None, False] * 30, "yes_no"),
    "zeros and ones": ([0, 1] * 50, "yes_no"),
    "zeros and ones as text": (["0", "1", ""] * 30, "yes_no"),
    "two numbers": ([1, 2] * 50, "category"),
    "texts": (["a", "b", None] * 30, "category"),
    "most often zero": ([0, 0, 1, 0, 3, 12] * 20, "count"),
    "most often zero, but large": ([0, 0, 0, 100, 200] * 20, "category"),
    "a scale": ([1, 2, 3, 4, 5] * 20, "category"),
    "a short scale of few rows": ([1, 2, 3, 4, 5] * 3, "number"),
    "many whole numbers": (list(range(20, 80)), "number"),
    "measurements": (list(rng.normal(size=90)), "number"),
    "measurements as text": ([f"{x:.3f}" for x in rng.normal(size=90)], "number"),
    "money with many zeros": ([0.0] * 60 + list(rng.gamma(2.0, 1000.0, size=40)), "number"),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_kinds_are_guessed_by_the_first_rule_that_applies(name):
    values, expected = EXAMPLES[name]
    column = pd.Series(values)
    assert guess_kind(values_of(column, "c"), "c") == expected
    if name != "booleans with gaps":
        assert guess_kind(values_of(column.astype("category"), "c"), "c") == expected


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ([f"patient {i}" for i in range(60)], "column_of_identifiers"),
        (pd.to_datetime(["2020-01-01"] * 5), "column_not_numeric"),
        ([datetime.date(2020, 1, 1)] * 5, "column_not_numeric"),
        ([[1], [2], [1]], "cell_not_a_value"),
        ([{"a": 1}] * 4, "cell_not_a_value"),
        ([1.0, np.inf, 2.0], "infinite_in_column"),
    ],
)
def test_columns_that_are_no_kind_are_refused(values, code):
    with raises(InvalidDataError, code, column="c"):
        guess_kind(values_of(pd.Series(values), "c"), "c")


def table():
    return pd.DataFrame(
        {
            "age": [20.0, 40.0, np.nan, 60.0],
            "sex": ["m", "f", "m", None],
            "ill": [True, False, None, True],
            "visits": [0, 3, 0, 1],
            "same": [7, 7, 7, 7],
            "none": [None] * 4,
        }
    )


def test_a_table_becomes_standardized_numbers_and_levels():
    columns, notes = MixedColumns.from_table(table(), None)
    assert columns.kinds == ("number", "category", "yes_no", "count", "", "")
    assert [(note.code, note.values["column"]) for note in notes] == [
        ("column_constant", "same"),
        ("column_empty", "none"),
    ]
    found = columns.encode(table())
    deviation = np.std([20.0, 40.0, 60.0])
    expected = [
        [-20 / deviation, 1, 0, 0, 1],
        [0, 0, 3, 1, 0],
        [0, 0, 0, 0, 1],
        [20 / deviation, 1, 1, 0, 0],
    ]
    np.testing.assert_allclose(found.X.toarray(), expected, atol=1e-12)
    assert found.missing is not None
    np.testing.assert_array_equal(found.missing.toarray()[2], [1, 1, 0])
    normal = -0.5 * np.log(2 * np.pi) - np.log(deviation)
    np.testing.assert_allclose(found.log_base, [normal, normal - np.log(6), 0, normal])
    again = columns.decode(found.X.toarray() * [deviation, 1, 1, 1, 1] + [40, 0, 0, 0, 0])
    assert list(again["sex"][:3]) == ["m", "f", "m"]
    np.testing.assert_allclose(again["age"][[0, 1, 3]], [20, 40, 60])


def test_what_is_new_or_absurd_counts_as_missing():
    columns, _ = MixedColumns.from_table(table(), None)
    new = table()
    new.loc[0, "sex"], new.loc[1, "age"] = "d", 1e12
    found = columns.encode(new)
    assert [note.code for note in found.notes] == ["numbers_too_far", "unseen_levels"]
    assert found.missing is not None
    assert found.missing.toarray()[1, 0] == 1
    np.testing.assert_array_equal(found.X.toarray()[0, 3:], [0, 0])


@pytest.mark.parametrize(
    ("kinds", "code"),
    [
        ({"sex": "number"}, "text_among_numbers"),
        ({"age": "yes_no"}, "column_not_yes_no"),
        ({"agee": "number"}, "kind_of_no_column"),
    ],
)
def test_kinds_that_do_not_fit_are_refused(kinds, code):
    with raises(InvalidDataError, code):
        MixedColumns.from_table(table(), kinds)[0].encode(table())


def test_a_column_of_equal_values_alone_is_refused():
    with raises(InvalidDataError, "no_column_varies"):
        MixedColumns.from_table(table()[["same", "none"]], None)


@pytest.mark.parametrize(
    ("X", "kind"),
    [
        (np.eye(4), "yes_no"),
        (np.diag([3.0, 2, 1, 4]), "count"),
        (np.pad(np.diag([3.0, 2, 1, 4]), [(0, 0), (0, 20)]), "words"),
        (np.diag([3.5, 2, 1, 4]), "number"),
        (np.full((4, 4), 3.0), "number"),
    ],
)
def test_kinds_of_matrices(X, kind):
    found, _ = MatrixColumns.from_matrix(
        sp.csr_array(X), None, np.arange(X.shape[1]), "auto", np.ones(4)
    )
    assert found.kind == kind


def share_of_counts(draw, n=400):
    """Share of 100 samples whose kind is "count"."""
    kinds = [
        guess_kind(np.asarray(draw(np.random.default_rng(i), n), float), "c") for i in range(100)
    ]
    return kinds.count("count") / 100


@pytest.mark.parametrize("mean", [0.5, 1.0, 2.0, 5.0, 9.0])
def test_counts_are_known_by_their_dispersion_wherever_their_mode_is(mean):
    # Tails end in repeated values now and then, which then are taken for a limit.
    assert share_of_counts(lambda rng, n: rng.poisson(mean, n)) >= 0.85
    assert share_of_counts(lambda rng, n: rng.negative_binomial(1, 1 / (1 + mean), n)) >= 0.85


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.normal(50, 15, n).clip(0, 100).round(),
        lambda rng, n: rng.integers(1950, 2020, n),
        lambda rng, n: np.arange(n),
        lambda rng, n: rng.integers(1, 6, n),
        lambda rng, n: rng.choice(5, p=[0.1, 0.25, 0.3, 0.25, 0.1], size=n),
        lambda rng, n: rng.choice(5, p=[0.02, 0.08, 0.2, 0.4, 0.3], size=n) + 1,
        lambda rng, n: rng.normal(8, 2, n).round().clip(0, 10),
        lambda rng, n: rng.integers(1, 13, n),
    ],
    ids=["ages", "years", "ids", "scale", "Likert", "ratings", "0 to 10", "months"],
)
def test_other_whole_numbers_are_no_counts(draw):
    assert share_of_counts(draw) == 0


def test_a_matrix_of_counts_is_known_like_a_column():
    rng = np.random.default_rng(0)
    for X, kind in (
        (rng.poisson(2.5, (300, 3)), "count"),
        (rng.integers(1, 6, (300, 3)), "number"),
    ):
        X = sp.csr_array(X.astype(float))
        found, _ = MatrixColumns.from_matrix(
            X, None, np.arange(3).astype(str), "auto", np.ones(300)
        )
        assert found.kind == kind
