"""Spreadsheets: cells far apart, blank rows, and files that crash their reader."""

from __future__ import annotations

import io
import zipfile
from contextlib import suppress

import pytest

from momentree.datasets import read_records
from momentree.exceptions import InvalidDataError, MomentreeError, ReadError
from momentree.messages import Message
from tests.raising import raises
from tests.readers.records.record_files import ALL, as_sets

openpyxl = pytest.importorskip("openpyxl", reason="openpyxl, which writes them, is not installed")

# By what the sheet says of its size, or by the memory that its reader takes.
FAR = {"sheet_too_large", "damaged_spreadsheet"}
ROWS = [["visit_id", "codes"], ["a", "B1;C2"], ["b", "C2"], ["c", "A3"]]


def book(path, far=None, rows=ROWS):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    if far is not None:
        book.active[far] = "x"
    book.save(path)
    return path


def ods(path, repeated_rows=1, repeated_cells=1):
    """Write an OpenDocument table whose last cell lies behind repeated blank ones."""
    rows = "".join(
        "<table:table-row>"
        + "".join(
            '<table:table-cell office:value-type="string">'
            f"<text:p>{cell}</text:p></table:table-cell>"
            for cell in row
        )
        + "</table:table-row>"
        for row in ROWS
    )
    names = "".join(
        f' xmlns:{one}="urn:oasis:names:tc:opendocument:xmlns:{one}:1.0"'
        for one in ("office", "table", "text")
    )
    content = (
        f"<office:document-content{names}><office:body><office:spreadsheet>"
        f'<table:table table:name="S">{rows}'
        f'<table:table-row table:number-rows-repeated="{repeated_rows}">'
        f'<table:table-cell table:number-columns-repeated="{repeated_cells}"/></table:table-row>'
        '<table:table-row><table:table-cell office:value-type="string"><text:p>d</text:p>'
        '</table:table-cell><table:table-cell office:value-type="string"><text:p>C2</text:p>'
        f'</table:table-cell><table:table-cell table:number-columns-repeated="{repeated_cells}"/>'
        "</table:table-row></table:table>"
        "</office:spreadsheet></office:body></office:document-content>"
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr("content.xml", content)
    return path


@pytest.mark.parametrize("far", ["ZZ500000", "XFD1048576", "XFD100000"])
def test_a_cell_far_away_is_refused(tmp_path, far):
    with pytest.raises(ReadError) as caught:
        read_records(book(tmp_path / "far.xlsx", far), **ALL)
    assert caught.value.code in FAR


def test_a_row_beyond_all_rows_is_refused(tmp_path):
    path = book(tmp_path / "far.xlsx", "C20")
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in content.items():
            archive.writestr(name, data.replace(b'"C20"', b'"C20000000"'))
    with pytest.raises(ReadError) as caught:
        read_records(path, **ALL)
    assert caught.value.code in FAR


def test_the_place_of_a_far_cell_is_reported(tmp_path):
    path = book(tmp_path / "far.xlsx", "AZ123456")
    with raises(ReadError, "sheet_too_large", row=123_456, column=52):
        read_records(path, **ALL)


def test_blank_rows_are_no_records(tmp_path):
    rows = [*ROWS[:2], [], ["", ""], *ROWS[2:]]
    path = book(tmp_path / "a.xlsx", "B100000", rows)
    records = read_records(path, **ALL)
    assert len(records.ids) == 4
    assert as_sets(records)["b"] == {"C2"}
    records = read_records(ods(tmp_path / "a.ods", repeated_rows=1 << 19), **ALL)
    assert as_sets(records) == {"a": {"B1", "C2"}, "b": {"C2"}, "c": {"A3"}, "d": {"C2"}}


def test_lines_of_rows_below_blank_ones(tmp_path):
    rows = [["id", "x", "y"], ["a", 1, 0], [], [], ["b", 0, 7], ["c", 0, 1]]
    path = book(tmp_path / "a.xlsx", rows=rows)
    with raises(InvalidDataError, "cell_not_binary", origin=Message("[at_row]", row=5), column="y"):
        read_records(path, code_columns=["x", "y"], **ALL)


@pytest.mark.parametrize(
    "many",
    [{"repeated_cells": 1 << 30}, pytest.param({"repeated_rows": 1 << 40}, marks=pytest.mark.long)],
)
def test_repeated_cells_without_end(tmp_path, many):
    """Their reader drops what lies beyond the largest sheet there can be."""
    records = read_records(ods(tmp_path / "a.ods", **many), **ALL)
    assert records.ids[:3] == ["a", "b", "c"]


def test_a_sheet_that_inflates_is_refused(tmp_path):
    path = book(tmp_path / "a.xlsx")
    for n_bytes in (1 << 20, 1 << 26):
        with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"xl/{n_bytes}.xml", bytes(n_bytes))
        if n_bytes == 1 << 20:
            read_records(path, **ALL)
    with raises(ReadError, "file_too_large"):
        read_records(path, **ALL)


def test_a_crash_of_the_reader_is_reported_as_an_error(tmp_path):
    """Damage of many kinds ends the compiled reader, some of it with its process."""
    whole = io.BytesIO()
    book(whole)
    content = whole.getvalue()
    path = tmp_path / "a.xlsx"
    for at in range(0, len(content), len(content) // 12):
        path.write_bytes(content[:at] + b"\xff\xff\xff\xff" + content[at + 4 :])
        with suppress(MomentreeError):
            assert len(read_records(path, **ALL))


def test_sheets_are_listed(tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "Empty"
    book.save(tmp_path / "a.xlsx")
    with raises(ReadError, "no_such_sheet", sheet="x", sheets=["Empty"]):
        read_records(tmp_path / "a.xlsx", sheet="x")
    with raises(ReadError, "empty_sheet", sheet="Empty"):
        read_records(tmp_path / "a.xlsx")
