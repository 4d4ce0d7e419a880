"""Wording of messages about readers: records."""

WORDS: dict[str, str] = {
    # Forms and columns
    "form": "form {form}, {description}{joined}: codes in {columns}",
    "one_column": "column {column!r}",
    "several_columns": "{n_columns:~column}, {first!r} to {last!r}",
    "form_long": "one row per record and code",
    "form_lists": "one row per record, with a list of codes",
    "form_slots": "one row per record, with one code in each column",
    "form_wide": "one row per record, with yes or no for each code",
    "form_joined": ", rows with the same id joined",
    "guessed_id_column": "used column {column!r} as the ids of records",
    "codes_not_outcomes": (
        "kept as codes although {parameter:=pattern} matches them: {columns:quoted list}"
    ),
    "ids_left_out": "left out {n_columns:~column} of ids: {columns:quoted list}",
    "text_left_out": "left out {n_columns:~column} of text: {columns:quoted list}",
    "empty_columns_left_out": "left out {n_columns:~column} without values: {columns:quoted list}",
    "possible_outcomes": (
        "treated {n_columns:~column} as codes that may be outcomes: {columns:quoted list} (name "
        "them in {parameters.outcome_columns}, or leave them out with {parameters.ignore_columns})"
    ),
    "not_column_names": "{parameter:=value}; expected the name of one or more columns",
    "column_of_two_roles": (
        "{path}: column {column!r} cannot contain codes and also be an id or an outcome"
    ),
    "id_as_outcome": (
        "{path}: column {column!r} contains the ids of records or patients, so it cannot be an "
        "outcome or a covariate: leave it out"
    ),
    "no_code_columns": (
        "{path}: it is not clear which columns contain codes; its columns are {columns:quoted "
        "list}{why}. Name them with {parameters.code_columns} (patterns such as 'DX*' are "
        "allowed), and the ids of the records with {parameters.id_column}"
    ),
    "several_may_hold_codes": "; several may contain codes: {columns:quoted list}",
    "prose_among_codes": (
        "; {column!r} is named like a column of codes, but {value!r} contains other text"
    ),
    "several_id_columns": (
        "{path}: several columns may contain the ids of records: {columns:quoted list}; name one "
        "with {parameter}"
    ),
    "no_id_column": (
        "{path}: each row has one code, in column {codes!r}, and it is not clear which rows form a "
        "record: values repeat in {columns:quoted list}. Name the id column with "
        "{parameters.id_column}; if each row is a record, leave these columns out with "
        "{parameters.ignore_columns}"
    ),
    "columns_of_coder_missing": (
        "{path} has none of the columns from which the model reads codes, {expected:quoted list}; "
        "its columns are {columns:quoted list}: name the code columns with {parameter}"
    ),
    "missing_columns": (
        "treated {n_columns:~column} not in this table as missing values, such as {column!r}"
    ),
    # Rows and records
    "no_ids": "records have no ids; they are numbered by row from 1",
    "repeated_ids": (
        "{n_rows:~row} {n_rows:?repeats/repeat} an id of column {column!r}; each row is a separate "
        "record ({parameter:=column} joins rows with the same id)"
    ),
    "records_without_id": "{n_records:~record} {n_records:?has/have} no id in column {column!r}",
    "rows_without_id": "left out {n_rows:~row} with no value in column {column!r}",
    "rows_joined": "joined {n_rows:~row} into {n_records:~record} by {column!r}",
    "empty_key": "{path}: column {column!r} is empty in every row, so there are no records",
    "shared_patients": (
        "{n_records:~record} belong to {n_patients:~patient}, according to column "
        "{column!r}: {parameter:=column} joins the records of each patient"
    ),
    "records_without_codes": "{n_records:,} of {n_all:~record} {n_records:?has/have} no codes",
    "all_codes_dropped": (
        "{n_records:,} of {n_all:~record} {n_records:?has/have} no codes, or none of those kept"
    ),
    "too_few_codes": (
        "{n_records:,} of {n_all:~record} {n_records:?has/have} "
        "{min_codes:?none of the codes/fewer than {min_codes:,} codes}: "
        "excluded from fitting, assigned afterwards"
    ),
    # Cells with codes
    "blanks_removed": "removed blanks around {n_entries:~entry/entries}",
    "upper_case": "changed {n_entries:~entry/entries} to upper case",
    "rare_separator": "used {sign!r} as the separator between codes",
    "possible_separator": (
        "treated cells that contain {sign!r} as single codes; replace it with ';' if it separates "
        "codes"
    ),
    "repeated_entries": "counted {n_entries:~repeated entry/repeated entries} once{when}",
    "after_rollup": ", after the roll-up",
    "dates_left_out": (
        "left out {n_entries:~date} among the codes, the first in {origin}, column {column!r}"
    ),
    "column_of_dates": (
        "{path}, {origin}, column {column!r}, contains {value!r}: {n_dates:,} of "
        "{n_entries:~value} in the column are dates, not codes; name the code columns with "
        "{parameter}, or remove the dates"
    ),
    "dates_among_codes": (
        "{path}, {origin}, column {column!r}, contains {value!r}: {n_dates:,} of "
        "{n_entries:~entry/entries} are dates, not codes; name the code columns with {parameter}, "
        "or remove the dates"
    ),
    "too_long_for_a_code": (
        "{path}, {origin}, column {column!r}, contains {value!r}, {length:~character} without a "
        "separator; a code has at most {longest}: name the code columns with {parameter}, or "
        "separate codes with ';'"
    ),
    # Cells with yes or no
    "empty_is_zero": "treated empty cells in {n_columns:~column} as no",
    "ones_or_nothing": (
        "{n_columns:~column} {n_columns:?contains/contain} only ones and empty cells: "
        "{columns:quoted list}; these empty cells are missing values ({parameter:'zero'} treats "
        "all empty cells as no)"
    ),
    "missing_cells": (
        "{n_missing:~cell} {n_missing:?is/are} empty or NA: missing values, not zeros"
    ),
    "no_zeros": (
        "{path}: {n_columns:,} of {n_code_columns:~column} of codes, such as {column!r}, contain "
        "only ones and empty cells, which are treated as missing values: pass {parameter:'zero'} "
        "if an empty cell means that the record does not have the code, or write 0 there"
    ),
    "cell_not_binary": (
        "{path}, {origin}, column {column!r}, contains {value!r}; expected 0 or 1 (or yes and no, "
        "true and false){others}. Correct the values, name outcomes with "
        "{parameters.outcome_columns} and ids with {parameters.id_column}, or {remedy}"
    ),
    "other_columns": "; other columns with such values are {columns:quoted list}",
    "leave_out_of": "leave the column out of {parameter}",
    "ignore_or_choose": (
        "leave the column out with {parameters.ignore_columns}, or name the code columns with "
        "{parameters.code_columns}"
    ),
    # Systems and mappings of codes
    "not_a_rollup": (
        "{parameter:=value}; expected 'icd9', 'icd10', or a table with the columns code and group"
    ),
    "other_code_system": (
        "{path}: only {share:.0%} of the entries look like {system} (such as {examples}); "
        "{value!r} does not: {remedy}"
    ),
    "pass_other_rollup": "pass {parameter:=value}",
    "pass_no_rollup": "leave {parameter} out, or pass a file that maps codes to groups",
    "codes_not_in_system": (
        "kept {n_codes:~code} ({n_entries:~entry/entries}) as written: not in the format of "
        "{system}"
    ),
    "zeros_restored": (
        "restored the lost leading zeros of {n_entries:~entry/entries} (such as 38: 038)"
    ),
    "not_a_mapping_of_strings": "{parameter} contains values that are not strings",
    "table_not_a_mapping": (
        "{path} is not a mapping of codes: its columns are {columns:quoted list}; expected two, "
        "{expected:quoted and}"
    ),
    "no_code_in_mapping": (
        "{path}: none of {n_entries:~entry/entries}, such as {value!r}, is in the mapping: check "
        "that its codes are written in the same way"
    ),
    "codes_not_in_mapping": (
        "kept {n_codes:~code} ({n_entries:~entry/entries}) as written: not in the mapping"
    ),
    "few_codes_in_mapping": (
        "only {share:.1%} of the entries are in the mapping: check that its codes are written in "
        "the same way"
    ),
    "dots_kept": (
        "kept the dots: {n_codes:~code} ({n_entries:~entry/entries}), such as {value!r}, "
        "{n_codes:?has/have} fewer than three digits before the dot: procedures, or diagnoses that "
        "have lost leading zeros, which {parameter:'icd9'} restores"
    ),
    "dots_removed": "removed the dots: {n_codes:~code} occurred with and without one",
    "codes_as_numbers": (
        "{n_entries:~code} in column {column!r} are numbers, not text, and numbers lose zeros: "
        "038.9 is read as 38.9 and 250.00 as 250"
    ),
    "mostly_numbers": (
        "{path}: {reason}; pass {parameter:'icd9'}, which requires only the digits before the dot, "
        "or format the column as text and enter the codes again"
    ),
    "codes_without_name": "no name for {n_codes:,} of {n_all:~code}, such as {code!r}{hint}",
    "titles_used": "{n_codes:~code} {n_codes:?has its title/have their titles} from {system}{hint}",
    "titles_omitted": " ({parameter:=value} omits titles)",
    "codes_like_procedures": (
        "no titles are shown, because the codes look like procedures, not diagnoses, of ICD-9 "
        "({parameter:'icd9'} shows the titles of diagnoses)"
    ),
    "names_after_rollup": ": names are looked up after the roll-up",
    # The choice of codes
    "no_codes": "{path}: no codes in {n_records:~record}",
    "one_record": (
        "{path}: a single record, but groups require several; if its rows belong to different "
        "records, name their ids with {parameters.id_column}"
    ),
    "same_codes": (
        "{path}: there are no groups to find, because all of {n_records:~record} have the same "
        "{n_codes:~code}"
    ),
    "no_codes_kept": (
        "{path}: none of {n_codes:~code} is kept: {n_rare:,} occur in fewer than {least:,} of "
        "{n_records:~record}, and {n_constant:,} in every record; lower {parameters.min_records}, "
        "set {parameters.drop_constant:=drop_constant}, or roll codes up"
    ),
    "rare_codes_dropped": (
        "dropped {n_codes:,} of {n_all:~code}, found in fewer than {least:~record}"
    ),
    "constant_codes_dropped": "dropped {n_codes:~code} found in every record: {codes:quoted list}",
    "frequent_codes_kept": (
        "kept the {n_kept:,} most frequent of {n_codes:~code}, which make up {share:.1%} of all "
        "entries"
    ),
    # Outcomes
    "binary_outcome": "column {outcome!r}: {one} is 1, {zero} is 0",
    "outcome_differs": (
        "column {outcome!r} differs between the rows of {n_records:~record}; the {rule} value is "
        "used"
    ),
    "outcome_missing": "column {outcome!r} is missing in {n_missing:,} of {n_all:~record}",
    # Tables to join
    "joined": "joined {source} by {column!r}",
    "keys_rewritten": (
        "{n_records:~value} of {column!r} {n_records:?matches/match} only if leading zeros, '.0' "
        "and case are ignored"
    ),
    "keys_without_row": (
        "{n_missing:,} of {n_all:~value} of {column!r} {n_missing:?has/have} no row in {source}, "
        "so the outcomes from there are missing"
    ),
    "joined_without_outcome": (
        "no columns were joined from {source}: name outcomes in it with {parameter}, such as "
        "{columns:quoted or}"
    ),
    "not_one_key_each": (
        "{n_keys:~key} for {n_tables:~table} to join; expected one {parameter} for each, or one "
        "for all"
    ),
    "key_without_table": "{parameter} is the key of a table to join; name the table with "
    "{parameters.join}",
    "which_key": (
        "{path}: it is not clear by which column to join it; columns of both tables: "
        "{columns:quoted list}. Name one with {parameter}, or two as 'left=right'"
    ),
    "no_key_matches": (
        "no value of {left!r}, such as {ours!r}, is in column {right!r} of {path}, such as "
        "{theirs!r}: name another column with {parameter}"
    ),
    "no_such_column_joined": (
        "no table has a column {column!r}, named in {parameter}; their columns are {columns:quoted "
        "list}"
    ),
    # The coder
    "not_a_coder": "{parameter} is {type}; expected the coder of previously read records",
    "coder_has_its_own": "{parameter} cannot be combined with a coder, which has its own setting",
    "unknown_codes": (
        "left out {n_codes:~code} ({n_entries:~entry/entries}) unknown to the model, such as "
        "{code!r}"
    ),
    "not_a_list_of_codes": "record {record} is {type}; expected a list of codes as strings",
    "other_settings": "expected settings of type {expected!r}, got {found!r}",
    "unknown_coder_settings": (
        "unknown settings of the records reader: {unknown:quoted list}; expected {known:quoted "
        "list}"
    ),
    "invalid_coder_settings": (
        "invalid settings of the records reader: expected distinct codes as a list of strings, a "
        "form of {forms:quoted or}, columns as strings, a roll-up of {rollups:quoted or} or None, "
        "mapping and names from string to string, empty of {empty:quoted or}"
    ),
    "rows_not_together": (
        "{path}: rows of the same record are not together; column {column!r} returns to an "
        "earlier id {n_returns:~time}. Sort the table by this column, or leave out {parameter}"
    ),
    "table_not_streamed": (
        "{path} can only be read as a whole; save it as CSV or Parquet, or leave out {parameter}"
    ),
    "too_many_different_cells": (
        "{path} has more than {most:,} different cells, as many as {parameter} allows; write one "
        "row per record and code, which takes little memory, or allow more"
    ),
}
