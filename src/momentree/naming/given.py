"""Names that people give to topics and groups: checks, and the file that keeps them."""

import re
from collections.abc import Iterable, Mapping
from numbers import Integral
from os import PathLike
from typing import Any

from momentree.exceptions import InvalidParameterError, ReadError
from momentree.messages import wording

_NAMED_TWICE = "[named_twice] {parameter} names {number} twice; leave out one of the names"


MAX_LENGTH = 120
"""Maximum length of a name in characters."""

HEADER = ("number", "name")
"""Columns of a file of names."""

SUFFIXES = (".csv", ".tsv", ".tab")

_KEY = re.compile(r"\s*([0-9]{1,9})(?:\s*[-–]\s*([0-9]{1,9}))?\s*")


def check_names(
    names: Any, known: Mapping[str, Any], *, parameter: str = "names"
) -> dict[str, str]:
    """Check names that are given to nodes.

    Parameters
    ----------
    names : mapping of int or str to str
        Name by number of a leaf, topic or group: 3 or "3"; or by the numbers of the leaves of a
        node: "0-3".
    known : mapping
        Its keys are the numbers that exist, as strings: "3", "0-3".
    parameter : str, default="names"
        Parameter or option with the names.

    Returns
    -------
    dict of str to str
        Names in one line, by number as a string.

    Raises
    ------
    InvalidParameterError
        If a number does not exist; if a name is not a string, empty, too long, or contains control
        characters; if two numbers are equal, or two names.

    Examples
    --------
    >>> from momentree.naming import check_names
    >>> check_names({0: "Trade", "1 - 2": "Sport"}, {"0": 1, "1": 1, "2": 1, "1-2": 1})
    {'0': 'Trade', '1-2': 'Sport'}
    """
    shown: dict[str, Any] = {"parameter": parameter}
    if not isinstance(names, Mapping):
        raise InvalidParameterError(
            "[names_not_a_mapping] {parameter} is a {type}; expected a mapping from numbers to "
            "names, such as {{3: 'Climate'}}",
            **shown,
            type=type(names).__name__,
        )
    last = max((int(key) for key in known if "-" not in key), default=0)
    given: dict[str, str] = {}
    number_of: dict[str, str] = {}
    for number, name in names.items():
        key = _key_of(number)
        if key is None or key not in known:
            raise InvalidParameterError(
                "[no_number_to_name] {parameter} names {number!r}, but the result has the "
                "numbers 0 to {last}, and for inner nodes of a tree those of their first and last "
                "leaf; these names may belong to another result",
                **shown,
                number=str(number)[:40],
                last=last,
            )
        text = _checked(name, shown, key)
        if key in given:
            raise InvalidParameterError(_NAMED_TWICE, **shown, number=key)
        if text in number_of:
            raise InvalidParameterError(
                "[same_name] {parameter} gives {numbers:and} the same name, {name!r}; "
                "give different names",
                **shown,
                name=text,
                numbers=[number_of[text], key],
            )
        given[key], number_of[text] = text, key
    return given


def _key_of(number: object) -> str | None:
    if isinstance(number, Integral) and not isinstance(number, bool):
        return str(int(number)) if number >= 0 else None  # type: ignore[operator]
    found = _KEY.fullmatch(number) if isinstance(number, str) else None
    if found is None:
        return None
    first, last = found.groups()
    return str(int(first)) if last is None else f"{int(first)}-{int(last)}"


def _checked(name: object, shown: Mapping[str, Any], number: str) -> str:
    text = " ".join(name.split()) if isinstance(name, str) else ""
    if not 0 < len(text) <= MAX_LENGTH or not text.isprintable():
        raise InvalidParameterError(
            "[bad_name] {parameter} gives {number} the name {name!r}; expected 1 to "
            "{most} characters that can be shown, or leave it out",
            **shown,
            number=number,
            name=str(name)[:40],
            most=MAX_LENGTH,
        )
    return text


def parse_names(values: Iterable[str], *, parameter: str = "rename") -> dict[str, str]:
    """Read names written as ``3=Climate``, or ``0-3=Sport`` for the node above leaves 0 to 3.

    Parameters
    ----------
    values : iterable of str
        A number, an equals sign and a name.
    parameter : str, default="rename"
        Option with the values.

    Returns
    -------
    dict of str to str
        Names by number; :func:`check_names` checks them.

    Raises
    ------
    InvalidParameterError
        If a value has another form, or a number occurs twice.
    """
    names: dict[str, str] = {}
    for value in values:
        number, equals, name = value.partition("=")
        key = _key_of(number)
        if not equals or key is None or not name.strip():
            raise InvalidParameterError(
                "[not_a_rename] {parameter:{value}}; expected a number and a name, such as "
                "{parameter:3=Climate}, or a table with the columns number and name",
                parameter=parameter,
                value=value,
            )
        if key in names:
            raise InvalidParameterError(_NAMED_TWICE, parameter=parameter, number=key)
        names[key] = name
    return names


def read_names(path: str | PathLike[str]) -> dict[str, str]:
    """Read the names of topics or groups from a table with the columns number and name.

    Parameters
    ----------
    path : str or path-like
        A CSV or TSV file, in UTF-8, such as a report saves after topics were renamed in it.

    Returns
    -------
    dict of str to str
        Names by number; rows without a name are left out.

    Raises
    ------
    ReadError
        If the file cannot be read, or does not have these columns.
    InvalidParameterError
        If a number occurs twice.
    """
    # Imported here, because readers import pandas, which growing a tree does not need.
    from momentree.readers.tables.files import check_exists, suffix
    from momentree.readers.tables.reader import open_table

    found = check_exists(path)
    if suffix(found) not in SUFFIXES:
        raise ReadError(wording.UNKNOWN_SUFFIX, path=str(path), suffixes=", ".join(SUFFIXES))
    opened = open_table(found, suffixes=SUFFIXES, check_titles=False)
    columns = opened.head.names
    if not set(HEADER) <= {column.strip().lower() for column in columns}:
        raise ReadError(
            "[not_a_table_of_names] {path} has the columns {columns:quoted list}; a file of names "
            "has the columns 'number' and 'name'",
            path=str(path),
            columns=list(columns),
        )
    number, name = (_column(columns, wanted) for wanted in HEADER)
    table = opened.read([number, name])
    names: dict[str, str] = {}
    for key, text in zip(table.columns[number], table.columns[name], strict=True):
        if not text.strip():
            continue
        if key in names:
            raise InvalidParameterError(
                "[named_twice_in_file] {path} names {number} twice; leave out one of the names",
                path=str(path),
                number=key,
            )
        names[key] = text
    return names


def _column(columns: Iterable[str], wanted: str) -> str:
    return next(column for column in columns if column.strip().lower() == wanted)
