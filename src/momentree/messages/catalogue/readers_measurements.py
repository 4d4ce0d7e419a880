"""Wording of messages about readers: measurements."""

WORDS: dict[str, str] = {
    # Columns
    "form_measurements": "read as measurements, one row per record: {parts:list}",
    "n_numbers": "{n_columns:~column} of numbers",
    "n_yes_no": "{n_columns:~column} of yes and no",
    "n_categories": "{n_columns:~column} of categories",
    "n_counts": "{n_columns:~column} of counts",
    "columns_of_ids": "left out {n_columns:~column} of ids or row numbers: {columns:quoted list}",
    "columns_of_dates": "left out {n_columns:~column} of dates: {columns:quoted list}",
    "columns_of_texts": (
        "left out {n_columns:~column} of text with too many different values for categories: "
        "{columns:quoted list}"
    ),
    "columns_without_values": (
        "left out {n_columns:~column} without values: {columns:quoted list}"
    ),
    "columns_mostly_missing": (
        "left out {n_columns:~column} in which more than four fifths of the values are missing: "
        "{columns:quoted list}"
    ),
    "constant_columns": (
        "left out {n_columns:~column} with the same value in all records: {columns:quoted list}"
    ),
    "numbers_as_categories": (
        "treated {n_columns:~column} of few whole numbers as categories: {columns:quoted list} "
        "(for numbers, pass {parameters.kinds})"
    ),
    "numbers_as_counts": (
        "treated {n_columns:~column} of small whole numbers as counts: "
        "{columns:quoted list} (for numbers, pass {parameters.kinds})"
    ),
    "columns_may_be_outcomes": (
        "used {n_columns:~column} to form groups that may be outcomes: {columns:quoted list} "
        "(name them in {parameters.outcome_columns}, or leave them out with "
        "{parameters.ignore_columns})"
    ),
    "columns_are_outcomes": (
        "described {n_columns:~column} as {n_columns:?an outcome/outcomes}, because of "
        "{n_columns:?its name/their names}: {columns:quoted list} (to form groups by "
        "{n_columns:?it/them}, pass {parameters.kinds})"
    ),
    "rows_of_same_id": (
        "{n_rows:~row} {n_rows:?repeats/repeat} an id of column {column!r}; each row is a separate "
        "record"
    ),
    "no_measurements": (
        "{path}: no column has measurements that differ between records; its columns are "
        "{columns:quoted list}. If a column was read wrongly, name its kind in {parameters.kinds}; "
        "if the table contains codes, name their columns in {parameters.code_columns}"
    ),
    "columns_of_model_missing": (
        "{path} has none of the columns of the model, {expected:quoted list}; its columns are "
        "{columns:quoted list}: rename its columns, or see {parameters.skip_rows}"
    ),
    "invalid_measurement_settings": (
        "the settings of the columns are damaged; expected kinds by column, each of {kinds:or}, "
        "and the values of each category"
    ),
    # Rows and cells
    "no_known_value": "{path}: every value is missing, so there are no records",
    "records_without_values": (
        "{n_records:,} of {n_all:~record} {n_records:?has/have} no known value: not in any group"
    ),
    "missing_measurements": (
        "{n_missing:~value} {n_missing:?is/are} missing, in {n_columns:~column}; most in "
        "{column!r}: {n_missing_first:,}"
    ),
    "cells_not_numbers": (
        "treated {n_missing:~cell} of column {column!r} as missing, because "
        "{n_missing:?it is not a number/they are not numbers}: the first, {value!r}, is in {origin}"
    ),
    "unknown_categories": (
        "treated {n_entries:~value} as missing, because the model does not know "
        "{n_entries:?this category/these categories}"
    ),
    "units_removed": "removed units from {n_columns:~column}: {columns:quoted list}",
    "limits_as_numbers": (
        "read {n_entries:~limit} such as <0.5 as the number, 0.5, in {columns:quoted list}"
    ),
    "guessed_separators": (
        "guessed whether a comma or dot before three digits, as in 1,234, separates thousands, in "
        "{columns:quoted list}: check the means of these columns"
    ),
    "may_mean_missing": (
        "column {column!r} contains {value} {n_entries:~time}, far from its other values; if it "
        "stands for a missing value, pass {parameter:=value}"
    ),
    "far_values": (
        "values far beyond all others are in {columns:quoted list}: more than 1,000 times the "
        "width of the middle half away from it. If they are errors, correct them, or name them in "
        "{parameters.missing}"
    ),
    "several_units": (
        "{path}: column {column!r} contains numbers in several units, {units:quoted list}; convert "
        "them to one unit, or leave the column out with {parameters.ignore_columns}"
    ),
    "kind_of_other_column": (
        "column {column!r} contains ids or outcomes, so {parameter} cannot give it a kind"
    ),
    "not_of_kind": (
        "{path}, {origin}, column {column!r}, contains {value!r}, which is not of the kind "
        "{kind!r} that {parameter} gives to the column"
    ),
    "sample_of_records": (
        "the table has {n_all:~record}, more than {parameter} allows: groups and all numbers are "
        "those of a random sample of {n_rows:,}; all records are assigned to these groups"
    ),
}
