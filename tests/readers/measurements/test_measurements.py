"""Tables of measurements are recognized, and their columns read as what they contain."""

from __future__ import annotations

import numpy as np
import pytest

from momentree.datasets import (
    MeasurementCoder,
    Measurements,
    holds_measurements,
    read_measurements,
)
from momentree.exceptions import (
    EmptyCorpusError,
    InvalidDataError,
    InvalidParameterError,
    ReadError,
)
from tests.raising import raises

N = 40


def table(columns):
    """Write columns of cells as CSV text."""
    rows = zip(*columns.values(), strict=True)
    return "\n".join([";".join(columns), *(";".join(map(str, row)) for row in rows)]) + "\n"


@pytest.fixture
def read(tmp_path):
    def run(columns, name="t.csv", **options):
        file = tmp_path / name
        file.write_text(columns if isinstance(columns, str) else table(columns), encoding="utf-8")
        return read_measurements(file, **options)

    return run


def cycle(*values, n=N):
    return [values[i % len(values)] for i in range(n)]


AGE = [30 + 7 * i % 41 for i in range(N)]
HB = [f"{9 + i % 13 * 0.5}" for i in range(N)]


def codes_of(found):
    return {note.code for note in found.notes}


def note(found, code):
    return next(one.values for one in found.notes if one.code == code)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["5.1", "4.9", "6.25", "7"], [5.1, 4.9, 6.25, 7.0]),
        (["5,1", "4,9", "6,25", "7"], [5.1, 4.9, 6.25, 7.0]),
        (["1,234", "12,345", "1,234.5", "999"], [1234, 12345, 1234.5, 999]),
        (["1.234,5", "12.345,25", "1.000,0", "7,5"], [1234.5, 12345.25, 1000, 7.5]),
        (["1 234", "12 345", "7", "8.5"], [1234, 12345, 7, 8.5]),
        (["1'234.5", "2", "3", "4"], [1234.5, 2, 3, 4]),
        (["5.1 mg/dl", "4.9mg/dl", "6.2 mg/dL", "7"], [5.1, 4.9, 6.2, 7.0]),
        (["12%", "13 %", "14%", "15.5%"], [12, 13, 14, 15.5]),
        (["€ 12", "€13.5", "14", "15"], [12, 13.5, 14, 15]),
        (["<0.5", "> 10", "3", "4.5"], [0.5, 10, 3, 4.5]),
        (["1e3", "-2.5E-1", "\u22123", "+4"], [1000, -0.25, -3, 4]),
        (["NA", "?", "3", "4.5"], [np.nan, np.nan, 3, 4.5]),
        (["not done", "-", "3", "4.5"], [np.nan, np.nan, 3, 4.5]),
    ],
)
def test_numbers_as_people_write_them(read, cells, expected):
    found = read({"x": cycle(*cells), "age": AGE}, kinds={"x": "number"})
    np.testing.assert_array_equal(found.columns["x"][:4], expected)


def test_a_comma_before_three_digits_follows_the_rest_of_the_table(read):
    german = read({"k": cycle("1,234", "0,5"), "l": cycle("5,130", "6,193", "7,200"), "age": AGE})
    assert german.columns["l"][0] == 5.13
    english = read({"k": cycle("1.234", "0.5"), "l": cycle("5,130", "6,193", "7,200"), "age": AGE})
    assert english.columns["l"][0] == 5130
    plain = read({"l": cycle("5,130", "6193", "7,200"), "age": AGE}, kinds={"l": "number"})
    assert plain.columns["l"][0] == 5.13  # whoever writes 6193 does not write 5,130
    assert note(english, "guessed_separators")["columns"] == ["l"]


def test_kinds_of_columns(read):
    found = read(
        {
            "id": [f"p{i}" for i in range(N)],
            "age": AGE,
            "hb": HB,
            "smoker": cycle("yes", "no", "no"),
            "sex": cycle("f", "m"),
            "nyha": cycle(1, 2, 3, 4),
            "coded": cycle(1, 2),
        }
    )
    assert dict(found.kinds) == {
        "age": "number",
        "hb": "number",
        "smoker": "yes_no",
        "sex": "category",
        "nyha": "category",
        "coded": "category",
    }
    assert found.ids[:2] == ["p0", "p1"]
    assert found.coder.categories == {
        "sex": ["f", "m"],
        "nyha": ["1", "2", "3", "4"],
        "coded": ["1", "2"],
    }
    assert note(found, "numbers_as_categories")["columns"] == ["nyha", "coded"]
    assert note(found, "columns_may_be_outcomes")["columns"] == ["sex"]
    np.testing.assert_array_equal(found.columns["smoker"][:3], [1, 0, 0])
    assert found.frame["sex"].tolist()[:2] == ["f", "m"]
    assert not found.only_numbers


def test_few_whole_numbers_among_numbers_stay_numbers(read):
    found = read({"age": AGE, "hb": HB, "children": cycle(0, 1, 2, 3)})
    assert found.only_numbers
    kinds = read({"age": AGE, "hb": HB, "children": cycle(0, 1, 2, 3)}, kinds={"chil*": "count"})
    assert dict(kinds.kinds)["children"] == "count"


def test_small_counts_beside_other_kinds_are_counts(read):
    """As normal numbers, they would form groups of the values 0, 1 and 2."""
    visits = cycle(0, 0, 0, *range(12))
    table = {"age": AGE, "visits": visits, "sex": cycle("f", "m")}
    found = read(table)
    assert found.kinds["visits"] == "count"
    assert note(found, "numbers_as_counts")["columns"] == ["visits"]
    assert read(table, kinds={"visits": "number"}).kinds["visits"] == "number"
    assert read({"age": AGE, "hb": HB, "visits": visits}).kinds["visits"] == "number"
    from_one = read({**table, "visits": [v + 1 for v in visits]})
    assert from_one.kinds["visits"] == "number"


def test_columns_without_information_are_left_out(read):
    found = read(
        {
            "number": range(1, N + 1),
            "patient_id": cycle("a", "b"),
            "admitted": [f"{1 + i % 28:02}.03.2024" for i in range(N)],
            "as_number": [20240100 + 1 + i % 28 for i in range(N)],
            "same": cycle("5"),
            "empty": cycle(""),
            "rare": ["7.5", *cycle("NA", n=N - 1)],
            "remarks": [f"text of row {i}" for i in range(N)],
            "age": AGE,
        }
    )
    assert list(found.kinds) == ["age"]
    assert found.left_out == {
        "number": "columns_of_ids",
        "patient_id": "columns_of_ids",
        "admitted": "columns_of_dates",
        "as_number": "columns_of_dates",
        "same": "constant_columns",
        "empty": "columns_without_values",
        "rare": "columns_mostly_missing",
        "remarks": "columns_of_texts",
    }
    assert set(found.left_out.values()) <= codes_of(found)
    assert note(found, "rows_of_same_id")["n_rows"] == N - 2


def test_columns_named_like_the_answer_are_outcomes(read):
    columns = {"age": AGE, "hb": HB, "species": cycle("a", "b")}
    found = read(columns)
    assert list(found.kinds) == ["age", "hb"]
    assert found.outcomes["species"].tolist()[:2] == ["a", "b"]
    assert note(found, "columns_are_outcomes")["columns"] == ["species"]
    asked = read(columns, kinds={"species": "category"})
    assert list(asked.kinds) == ["age", "hb", "species"]
    assert not asked.outcomes


def test_outcomes_and_covariates_do_not_form_groups(read):
    found = read(
        {"hb": HB, "age": AGE, "died": cycle("no", "yes")},
        outcome_columns="died",
        covariate_columns="age",
    )
    assert (list(found.kinds), list(found.outcomes)) == (["hb"], ["died", "age"])
    assert found.covariates == ("age",)
    assert found.outcome_names == {"died": ("no", "yes")}


def test_a_column_that_is_ignored_may_have_another_role(read):
    ids = [f"p{i}" for i in range(N)]
    found = read(
        {"nr": ids, "hb": HB, "age": AGE, "died": cycle("no", "yes"), "note": ids},
        id_column="nr",
        outcome_columns="died",
        covariate_columns="age",
        ignore_columns=["died", "a*", "n*"],
    )
    assert (list(found.kinds), list(found.outcomes)) == (["hb"], ["died", "age"])
    assert (found.covariates, found.ids) == (("age",), ids)


def test_codes_of_missing_values_are_noted_and_can_be_named(read):
    columns = {"hb": ["999", "999", *HB[2:]], "age": AGE}
    found = read(columns)
    assert note(found, "may_mean_missing")["value"] == "999"
    cleared = read(columns, missing=["999"])
    assert np.isnan(cleared.columns["hb"][:2]).all()
    assert "may_mean_missing" not in codes_of(cleared)


def test_cells_that_are_not_numbers_are_missing_with_a_note(read):
    found = read({"hb": ["clotted", *HB[1:]], "age": AGE})
    assert np.isnan(found.columns["hb"][0])
    values = note(found, "cells_not_numbers")
    assert (values["value"], values["origin"].values["line"]) == ("clotted", 2)


def test_infinite_numbers_are_not_numbers(read):
    found = read({"hb": ["inf", "1e999", *HB[2:]], "age": AGE})
    assert np.isnan(found.columns["hb"][:2]).all()


def test_values_far_beyond_all_others_are_noted(read):
    found = read({"hb": ["1e12", *HB[1:]], "age": AGE})
    assert note(found, "far_values")["columns"] == ["hb"]
    assert "far_values" not in codes_of(read({"hb": ["120", *HB[1:]], "age": AGE}))


def test_units_are_removed_and_several_refused(read):
    found = read({"hb": [f"{value} g/dl" for value in HB], "age": AGE})
    assert (found.units, note(found, "units_removed")["n_columns"]) == ({"hb": "g/dl"}, 1)
    weights = [f"{60 + i} {'kg' if i % 2 else 'lb'}" for i in range(N)]
    with raises(ReadError, "several_units", column="weight"):
        read({"weight": weights, "age": AGE})


def test_records_without_any_value_are_kept_apart(read):
    found = read({"hb": ["NA", *HB[1:]], "age": ["", *AGE[1:]]})
    assert (found.enough.sum(), len(found), found.n_missing) == (N - 1, N, 0)
    assert note(found, "records_without_values")["n_records"] == 1


def test_new_records_are_read_like_the_first(read):
    columns = {"hb": HB, "sex": cycle("f", "m"), "ward": cycle("4.0", "5", "6"), "age": AGE}
    first = read(columns, kinds={"ward": "category"})
    assert MeasurementCoder.from_dict(first.coder.to_dict()) == first.coder
    new = read(
        {"sex": ["m", "x"], "hb": ["bad", "12,5"], "ward": ["4.0", "7"]},
        name="new.csv",
        coder=first.coder,
    )
    assert list(new.kinds) == list(first.kinds)
    np.testing.assert_array_equal(new.columns["hb"], [np.nan, 12.5])
    assert new.columns["sex"].tolist() == ["m", ""]
    assert np.isnan(new.columns["age"]).all()
    assert {"missing_columns", "unknown_categories", "cells_not_numbers"} <= codes_of(new)
    assert np.isnan(new.to_matrix()[1, 1])
    with raises(ReadError, "columns_of_model_missing"):
        read({"other": [1, 2]}, name="other.csv", coder=first.coder)


def test_refusals(read):
    with raises(EmptyCorpusError, "no_measurements"):
        read({"same": cycle("1"), "empty": cycle("")})
    with raises(EmptyCorpusError, "no_measurements"):
        read({"hb": cycle("NA"), "age": cycle("")})
    with raises(ReadError, "not_of_kind", value="many", kind="count"):
        read({"n": ["many", *cycle(1, 2, n=N - 1)], "age": AGE}, kinds={"n": "count"})
    with raises(ReadError, "not_of_kind", value="2.5", kind="count"):
        read({"n": ["2.5", *cycle("1", "2", n=N - 1)], "age": AGE}, kinds={"n": "count"})
    with raises(ReadError, "not_of_kind", value="perhaps", kind="yes_no"):
        read({"n": ["perhaps", *cycle("y", "n", n=N - 1)], "age": AGE}, kinds={"n": "yes_no"})
    with raises(ReadError, "no_such_column", column="x"):
        read({"age": AGE}, kinds={"x": "number"})
    with raises(InvalidParameterError, "not_a_choice"):
        read({"age": AGE}, kinds={"age": "numeric"})
    with raises(InvalidParameterError, "coder_has_its_own"):
        read({"age": AGE}, kinds={"age": "number"}, coder=MeasurementCoder({"age": "number"}))
    with raises(InvalidParameterError, "not_a_coder"):
        read({"age": AGE}, coder={"age": "number"})


def test_damaged_settings_are_refused():
    good = MeasurementCoder({"age": "number", "sex": "category"}, {"sex": ["f", "m"]}).to_dict()
    for changed in (
        {"kinds": {}},
        {"kinds": {"age": "numbers"}},
        {"kinds": [1]},
        {"categories": {}},
        {"categories": {"sex": "fm"}},
        {"missing": [9]},
        {"empty": "no"},
        {"id_column": 3},
    ):
        with raises(InvalidDataError, "invalid_coder_settings"):
            MeasurementCoder.from_dict({**good, **changed})
    with raises(InvalidDataError, "other_settings"):
        MeasurementCoder.from_dict({**good, "kind": "records"})
    with raises(InvalidDataError, "unknown_coder_settings", unknown=["other"]):
        MeasurementCoder.from_dict({**good, "other": 1})
    with raises(InvalidDataError, "not_columns_of_coder"):
        Measurements({"x": np.zeros(1)}, MeasurementCoder({"y": "number"}), ["a"], np.ones(1, bool))


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"age": AGE, "hb": HB}, True),
        ({"id": range(N), "hb": HB}, True),
        ({"age": AGE, "smoker": cycle("yes", "no")}, True),
        ({"id": range(N), "a": cycle(0, 1), "b": cycle(1, 0, 0)}, False),
        ({"id": range(N), "a": cycle(0, 1), "b": [2, *cycle(1, 0, 0, n=N - 1)]}, False),
        ({"visits": cycle(0, 0, 1, 3, 0, 2, 0, 5), "falls": cycle(0, 1, 0, 4, 2, 0, 0)}, True),
        ({"a": cycle(0, 1, 0, 9), "b": cycle(0, 0, 1, 0, 9, 1)}, False),
        ({"age": AGE, "a": cycle("1", ""), "b": cycle("", "1"), "c": cycle("1", "")}, False),
        ({"age": AGE, "a": cycle("1", "0"), "b": cycle("0", "1"), "c": cycle("1", "0")}, True),
        ({"visit_id": cycle(1, 2, 3), "icd": cycle("250.01", "401.9")}, False),
        ({"id": range(N), "codes": cycle("250.01, 401.9", "428")}, False),
        ({"customer_id": cycle(1, 2, 3), "amount": cycle(3, 4, 5, 6)}, False),
        ({"name": [f"text {i}" for i in range(N)], "other": cycle("a", "b")}, False),
    ],
)
def test_tables_of_measurements_are_recognized(tmp_path, columns, expected):
    file = tmp_path / "t.csv"
    file.write_text(table(columns))
    assert holds_measurements(file) is expected


def test_outcomes_say_nothing_of_the_form(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text(table({"a": cycle(0, 1), "b": cycle(1, 0, 0), "days": AGE, "cost": HB}))
    assert holds_measurements(file)
    assert not holds_measurements(file, outcome_columns=["days"], ignore_columns=["c*"])
