"""Read text with a separator between columns: find the separator, read cells, locate faults.

pandas reads the cells because it is fast; the csv module finds faults because it counts lines.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import TextIO

import pandas as pd

from momentree.exceptions import InvalidParameterError, ReadError
from momentree.messages import Message, wording
from momentree.readers.tables import files, grid, schema

_UNCLOSED_QUOTE = (
    "[unclosed_quote] {path}, {origin}, opens a double quote that is never closed; close it, or "
    'write "" for a quote inside a field'
)


SEPARATORS = (",", ";", "\t", "|")
_NAMED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
_NO_SEPARATOR = "\x1f"  # the ASCII unit separator: a table of one column
_SAMPLE_CHARACTERS = 1 << 16
_MANY_COLUMNS = 1_000
"""With more columns the csv module is faster: pandas takes 0.1 ms per column and block."""
_MAX_FIELD = (1 << 31) - 1
_Cells = tuple[int, list[list[str]]]
_END = "\udfff"
"""Marker after the last line, which an unclosed quote would include; never in decoded text."""


def open_separated(
    path: Path, encoding: files.Encoding, opening: grid.Opening, *, check_titles: bool
) -> grid.Source:
    """Open a text table and read its first rows."""
    asked, skip = _check_separator(opening.separator), opening.skip_rows
    with _open(path, encoding, skip) as file:
        sample = file.read(_SAMPLE_CHARACTERS)
    guess = find_separator(sample, cut=len(sample) == _SAMPLE_CHARACTERS)
    separator = asked or guess
    if not _rows(sample, separator):
        if skip:
            raise ReadError(
                "[no_rows_below] cannot read {path}: nothing follows its first {n_skipped:~line}",
                path=str(path),
                n_skipped=skip,
            )
        raise ReadError(wording.EMPTY_FILE, path=str(path))
    if guess not in (_NO_SEPARATOR, separator) and len(_rows(sample, separator)[0][1]) == 1:
        raise ReadError(
            "[wrong_separator] {path} has one column with {parameters.separator:=value}, but "
            "several with {found!r}: pass {parameters.separator:=found}, or leave it out",
            path=str(path),
            value=asked,
            found=guess,
        )
    if check_titles:
        _check_titles(path, sample, asked, guess, skip)
    table = _Separated(path, encoding, separator, skip)
    first = [row for _, row in islice(table.rows(), schema.HEADER_SAMPLE)]
    above, notes = schema.find_header(path, first, opening.header)
    table = replace(table, above=above)
    head = replace(table.head(), notes=notes)
    about = None if files.is_compressed(path) else path.stat().st_size / head.row_size
    return grid.Source(head, table.batches, about)


@dataclass(frozen=True)
class _Separated:
    """A text file with columns."""

    path: Path
    encoding: files.Encoding
    separator: str
    skip: int
    above: int = 1  # rows with the names of the columns

    def rows(self) -> Iterator[tuple[Message, list[str]]]:
        """Yield each row with the number of its first line, counted from the start of the file."""
        with _open(self.path, self.encoding, self.skip) as file:
            for line, row in _numbered(file, self.separator):
                yield Message(wording.AT_LINE, line=line + self.skip), row

    def head(self) -> grid.Table:
        first = list(islice(self.rows(), grid.SAMPLE_ROWS + 1))
        if not first:  # the file has changed since it was opened
            raise ReadError(wording.EMPTY_FILE, path=str(self.path))
        origin, last = first[-1]
        if last[-1].endswith(_END):
            raise ReadError(_UNCLOSED_QUOTE, path=str(self.path), origin=origin)
        above = self.above
        names = first[0][1] if above else [""] * len(first[0][1])
        header = grid.check_names(self.path, names)
        cells = zip_longest(*(row[: len(header)] for _, row in first), fillvalue="")
        columns = {name: list(column[above:]) for name, column in zip(header, cells, strict=True)}
        n_rows = len(first) - above
        return grid.Table(self.path, columns, n_rows, lambda row: first[row + above][0])

    def batches(self, names: Sequence[str]) -> Iterator[grid.Table]:
        """Yield some columns of all rows; rows may be short, but not long."""
        head = self.head()
        place = {name: j for j, name in enumerate(head.names)}
        read = self._by_csv if len(place) > _MANY_COLUMNS else self._by_pandas
        above, kept = 0, [place[name] for name in names]
        for n, columns in read(kept, len(place), grid.rows_of_part(head.row_size)):
            cells = dict(zip(names, columns, strict=True))
            yield grid.Table(self.path, cells, n, partial(self._origin, above))
            above += n

    def _origin(self, above: int, row: int) -> Message:
        """Find the line of a row: fields may contain newlines, and blank lines are skipped."""
        return next(islice(self.rows(), above + row + self.above, None))[0]

    def _by_pandas(self, kept: Sequence[int], width: int, size: int) -> Iterator[_Cells]:
        above = self.above
        try:
            with _open(self.path, self.encoding, self.skip) as file:
                # All cells are strings, and none is missing: codes keep zeros, and NA is text.
                for frame in pd.read_csv(
                    file, sep=self.separator, dtype=object, na_filter=False, index_col=False,
                    header=None, chunksize=size, engine="c",
                ):  # fmt: skip
                    rows = frame.iloc[above:]
                    above = 0
                    if rows[width - 1].isna().any():
                        rows = rows.fillna("")
                    yield len(rows), [rows[j].tolist() for j in kept]
        except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
            raise self._fault(str(error)) from error

    def _by_csv(self, kept: Sequence[int], width: int, size: int) -> Iterator[_Cells]:
        rows = (row for _, row in islice(self.rows(), self.above, None))
        while block := list(islice(rows, size)):
            if max(map(len, block)) > width or block[-1][-1].endswith(_END):
                raise self._fault("")
            for row in block:
                row += [""] * (width - len(row))
            yield len(block), [[row[j] for row in block] for j in kept]

    def _fault(self, details: str) -> ReadError:
        """Return the error for the first row that cannot be read."""
        expected = 0
        for origin, row in self.rows():
            expected = expected or len(row)
            if row[-1].endswith(_END):
                return ReadError(_UNCLOSED_QUOTE, path=str(self.path), origin=origin)
            if len(row) > expected:
                return ReadError(
                    "[too_many_fields] {path}, {origin}, has {found:~field} where the first line "
                    "has {expected:,}: put fields that contain {separator!r} in double quotes, or "
                    "pass another {parameters.separator}",
                    path=str(self.path),
                    origin=origin,
                    found=len(row),
                    expected=expected,
                    separator=self.separator,
                )
        return ReadError(
            "[unreadable_table] cannot read {path} as a table: {details}",
            path=str(self.path),
            details=details.strip(),
        )


@contextmanager
def _open(path: Path, encoding: files.Encoding, skip: int) -> Iterator[TextIO]:
    with files.open_text(path, encoding, newline="") as file:
        for _ in range(skip):
            file.readline()
        yield file


def _check_separator(separator: str | None) -> str | None:
    if separator is None:
        return None
    sign = _NAMED.get(separator, separator) if isinstance(separator, str) else ""
    # On the command line, an undecodable byte becomes a surrogate, which pandas cannot encode.
    if len(sign) != 1 or sign in '"\r\n\0' or "\ud800" <= sign <= "\udfff":
        raise InvalidParameterError(
            "[bad_separator] {parameters.separator:=value} is not one character such as ',', ';', "
            "'|' or a tab; leave it out to have it detected",
            value=separator,
        )
    return sign


def find_separator(sample: str, *, cut: bool) -> str:
    """Return the separator that occurs in the first line, and as often in most other lines.

    The last row of a `cut` sample is ignored.
    """
    best, best_score = _NO_SEPARATOR, (0.0, 1)
    for separator in SEPARATORS:
        lengths = [len(row) for _, row in _rows(sample, separator, cut=cut)]
        if lengths and lengths[0] > 1:
            score = (lengths.count(lengths[0]) / len(lengths), lengths[0])
            if score > best_score:
                best, best_score = separator, score
    return best


def _rows(sample: str, separator: str, *, cut: bool = False) -> list[tuple[int, list[str]]]:
    """Return the rows of a sample, each with the number of its line."""
    rows = list(_numbered(io.StringIO(sample, newline=""), separator))
    if rows:
        rows[-1][1][-1] = rows[-1][1][-1].removesuffix(_END)
    return rows[:-1] if cut and len(rows) > 1 else rows


def _numbered(lines: Iterable[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the first line (from 1) and the fields of each row; skip blank lines.

    If a double quote is never closed, the last field ends with `_END`.
    """
    # The limit is global to the process; the default is smaller than long documents.
    csv.field_size_limit(_MAX_FIELD)
    reader = csv.reader(chain(lines, [_END]), delimiter=separator)
    start = 1
    for row in reader:
        if row == [_END]:
            return
        if len(row) > 1 or (row and not row[0].isspace()):
            yield start, row
        start = reader.line_num + 1


def _check_titles(path: Path, sample: str, asked: str | None, guess: str, skip: int) -> None:
    """Reject a first line that is a title or other text above the names of columns."""
    blank = _rows(sample, asked or guess)[0][0] - 1
    skip += blank
    lines = list(islice(io.StringIO(sample, newline=""), blank, blank + 2 * schema.HEADER_ROWS))
    rows = _rows("".join(lines), asked or guess)[: schema.HEADER_ROWS]
    if len(rows[0][1]) > 1:
        schema.check_header(path, [row for _, row in rows], [skip + line - 1 for line, _ in rows])
        return
    # There is no separator in the first line: it is a title, or the table has one column.
    for start in range(1, min(schema.HEADER_ROWS, len(lines) - 2)):
        below = "".join(lines[start:])
        table = _rows(below, asked or find_separator(below, cut=True))[: schema.HEADER_ROWS]
        if len(table) < 3:
            continue
        line, header = table[0]
        regular = sum(len(row) == len(header) for _, row in table) >= 0.9 * len(table)
        # Lists of codes in one column differ in length, and each code has a digit.
        words = all(header) and any(not any(map(str.isdigit, cell)) for cell in header)
        if len(header) > 1 and regular and words:
            schema.check_header(path, [rows[0][1], header], [skip, skip + start + line - 1])
            return
