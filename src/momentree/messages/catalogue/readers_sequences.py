"""Wording of messages about readers: sequences."""

WORDS: dict[str, str] = {
    # Columns
    "guessed_sequence_columns": "used the columns {columns:and}",
    "sequence_column_of_two_roles": (
        "{path}: column {column!r} cannot be two of id, time and code; name a different column for "
        "each with {parameters.id_column}, {parameters.time_column} and {parameters.code_column}"
    ),
    "several_sequence_ids": (
        "{path}: several columns may say which rows form a sequence: {columns:quoted list}; name "
        "one with {parameter}"
    ),
    "no_sequence_ids": (
        "{path}: each row has one code, and it is not clear which rows form a sequence; its "
        "columns are {columns:quoted list}. Name the column with the id of the sequence, such as "
        "that of the patient or user, with {parameter}; if each row is a record of its own, use "
        "momentree clusters"
    ),
    "several_time_columns": (
        "{path}: several columns may contain the times: {columns:quoted list}; name one with "
        "{parameter}, or use the order of the rows: {parameter:=value}"
    ),
    "several_sequence_codes": (
        "{path}: several columns may contain the codes: {columns:quoted list}; name one with "
        "{parameter}, or use momentree clusters if each row is a record of its own"
    ),
    "no_sequence_codes": (
        "{path}: no column is left that could contain codes; its columns are {columns:quoted "
        "list}. Name it with {parameter}"
    ),
    # Times
    "guessed_time_format": "read the times of column {column!r} in the format {format}",
    "day_or_month_first": (
        "{path}: the dates of column {column!r}, such as {value!r}, can be read in two ways; "
        "choose {parameter:{first}} or {parameter:{second}}"
    ),
    "cell_not_a_time": (
        "{path}, {origin}, column {column!r}, contains {value!r}, which is not a time{format} like "
        "the others ({n_rows:~such row}). Correct it, empty the cell to leave the row out, or name "
        "the format of all times with {parameter}"
    ),
    "in_format": " of the format {format}",
    "not_a_time_format": (
        "{parameter:=value} is not a format of times; expected one such as %d/%m/%Y or "
        "%Y-%m-%d %H:%M"
    ),
    # Rows
    "sequences_without_ids": "sequences have no ids; they are numbered by row from 1",
    "ordered_by_rows": (
        "no column of times: the steps of each sequence are in the order of the rows "
        "({parameters.time_column} names a column of times)"
    ),
    "equal_times": (
        "{n_rows:~row} {n_rows:?has/have} the same time as the row before in the sequence; such "
        "rows keep their order"
    ),
    "repeated_steps": (
        "{n_rows:~row} {n_rows:?repeats/repeat} the id, time and code of another row and "
        "{n_rows:?counts as a step/count as steps} too; remove them if they are copies"
    ),
    "several_codes_in_cells": (
        "split cells at {signs:quoted and}: codes of one cell are steps in the order of the cell"
    ),
    "split_at_blanks": "split cells at blanks: each word is a step",
    "short_sequences": (
        "{n_records:,} of {n_all:~sequence} {n_records:?has/have} fewer than three steps; they say "
        "little about how steps follow each other"
    ),
    "no_steps": (
        "{path} has no row with an id, a time and a known code among {n_rows:~row}; check the "
        "columns that were chosen"
    ),
    # Codes
    "rare_codes_merged": (
        "merged {n_codes:,} of {n_all_codes:~code}, found in fewer than {least} sequences each, "
        "into {other!r}: {share:.1%} of the steps ({parameter:1} keeps all)"
    ),
    "unknown_codes_in_sequences": (
        "left out {n_entries:~step} with {n_codes:~code} unknown to the model, such as {code!r}; "
        "the steps around them became neighbors"
    ),
    # Values
    "invalid_sequence_settings": (
        "the settings of sequences are invalid: columns, format and other code must be strings or "
        "None, and the other code one of the codes"
    ),
    "invalid_sequences": (
        "lengths must be at least 1, and symbols whole numbers from 0 to below {n_codes}, the "
        "number of codes"
    ),
    "not_a_sequence_coder": "{parameter} is of type {type}; expected a SequenceCoder",
}
