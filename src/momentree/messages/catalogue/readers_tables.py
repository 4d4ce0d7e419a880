"""Wording of messages about readers: tables."""

WORDS: dict[str, str] = {
    # Places in a file
    "at_line": "line {line:,}",
    "at_row": "row {row:,}",
    "at_item": "item {item:,}",
    # Files
    "empty_file": "cannot read {path}: the file is empty",
    "damaged_gzip": "cannot read {path}: the compressed file is damaged or truncated ({details})",
    "binary_file": "cannot read {path}: it is a binary file, not text (byte {offset:,} is zero)",
    "unknown_encoding": (
        "{parameter:=value} is not a known encoding; try utf-8, cp1252, latin-1 or utf-16"
    ),
    "wrong_encoding": (
        "cannot read {path}: it is not {encoding} (byte {offset:,}, line {line:,}, is {byte}). "
        "{remedy}"
    ),
    "undecodable": "cannot read {path}: it is not {encoding} ({details})",
    "try_encoding": "Try {parameter:=value}",
    "find_out_encoding": "Pass its true encoding, or {parameter:=value} to have it guessed",
    "binary_content": (
        "cannot read {path}: it looks like a binary file, not text; if it is text, pass its "
        "{parameter}"
    ),
    "guessed_encoding": (
        "{source} is not UTF-8: read as {encoding}. If letters look wrong, pass {parameter}"
    ),
    "damaged_utf8": (
        "{source} is UTF-8 except for some damaged bytes, which are replaced; if letters look "
        "wrong, pass {parameter}"
    ),
    # Formats
    "folder_not_table": "{path} is a folder; expected a file with a table",
    "unknown_suffix": (
        "cannot determine the format of {path} from its suffix; expected one of {suffixes} (text "
        "may be compressed: .gz)"
    ),
    "spreadsheets_only": "{parameter:=value} applies only to spreadsheets; {path} is not one",
    "no_rows_to_skip": (
        "{parameter:{value}} applies only to text and spreadsheets; {path} is neither"
    ),
    "no_header_row": (
        "{parameter:{value}} applies only to text and spreadsheets; {path} always names its columns"
    ),
    # Columns and rows
    "no_header": (
        "the first row of {source} looks like data, not like names of columns: read it as data, "
        "with columns named 'column 1', 'column 2' and so on; {parameter:True} takes it as names"
    ),
    "no_rows": "{path} has no rows below the header{sheets}",
    "no_columns": "{path} has no columns",
    "no_rows_below": "cannot read {path}: nothing follows its first {n_skipped:~line}",
    "no_such_column": (
        "{path} has no column {column!r} for {parameter}; its columns are {columns:quoted all}"
    ),
    "duplicate_columns": (
        "{path} has more than one column named {columns:quoted list}; give each column a unique "
        "name"
    ),
    "title_above_header": (
        "{path}: the first row names {named} of {n_columns} columns, and row {row:,} looks like "
        "the header ({names:quoted list}): pass {parameter:{above}}, or name all columns in the "
        "first row{sheets}"
    ),
    # Text with a separator
    "bad_separator": (
        "{parameter:=value} is not one character such as ',', ';', '|' or a tab; leave it out "
        "to have it detected"
    ),
    "wrong_separator": (
        "{path} has one column with {parameter:=value}, but several with {found!r}: pass "
        "{parameter:=found}, or leave it out"
    ),
    "too_many_fields": (
        "{path}, {origin}, has {found:~field} where the first line has {expected:,}: put fields "
        "that contain {separator!r} in double quotes, or pass another {parameter}"
    ),
    "unclosed_quote": (
        "{path}, {origin}, opens a double quote that is never closed; close it, or write "
        '"" for a quote inside a field'
    ),
    "unreadable_table": "cannot read {path} as a table: {details}",
    # JSON Lines
    "not_json": "{path}, {origin}, is not JSON: {details} at character {character:,} ({excerpt!r})",
    "unusual_json": "{path}, {origin}, cannot be read as JSON: {details}",
    "not_an_object": (
        "{path}, {origin}, is of type {found}; expected one JSON object per line, such as "
        '{{"text": "..."}}'
    ),
    "json_entries": "read the {n_rows:~object} in field {key!r} of {source}",
    # Parquet
    "unreadable_parquet": (
        "cannot read {path} as Parquet; if it is damaged or incomplete, copy or write it again "
        "({details})"
    ),
    # Spreadsheets
    "unreadable_spreadsheet": "cannot read {path} as a spreadsheet: {details}",
    "damaged_spreadsheet": (
        "cannot read {path} as a spreadsheet: it is damaged, or its cells are too far apart; "
        "delete cells far from the table, or save the table as CSV"
    ),
    "no_sheets": "cannot read {path}: it has no sheets",
    "no_such_sheet": "{path} has no sheet {sheet!r}; its sheets are {sheets:quoted list}",
    "empty_sheet": "cannot read {path}: sheet {sheet!r} is empty{sheets}",
    "short_sheet": "cannot read {path}: sheet {sheet!r} has no more than {n_skipped:~row}",
    "sheet_too_large": (
        "cannot read {path}: sheet {sheet!r} extends to row {row:,} and column {column:,} and "
        "would take {megabytes:,.0f} MB of memory, but the limit for a file of {size:~byte} is "
        "{most:,.0f} MB; delete cells far from the table, or save the table as CSV"
    ),
    "first_sheet": "read sheet {sheet!r}, the first of {n_sheets}",
    "other_sheets": "; its sheets are {sheets:quoted list}, and {parameter:=second} reads the "
    "second",
}
