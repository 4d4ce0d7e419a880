"""Measurements read in bounded memory: those read in memory, or those of a sample of the rows."""

from __future__ import annotations

import numpy as np
import pytest

from momentree.datasets import read_measurements
from momentree.exceptions import InvalidParameterError, ReadError
from momentree.messages import Message
from momentree.readers.measurements import sample as stored
from momentree.readers.tables import grid as tables
from momentree.readers.tables.grid import Source
from tests.raising import raises

N = 500


@pytest.fixture
def source(tmp_path):
    """Numbers with decimal commas and units, categories, yes or no, gaps, and an outcome."""
    rng = np.random.default_rng(0)
    lines = ["id;hb;sodium;ward;smoker;tick;sign;died"]
    for i in range(N):
        hb = "NA" if i % 17 == 0 else f"{rng.normal(13, 2):.1f} g/dl".replace(".", ",")
        # Only the rows of a few parts show that a comma is one of decimals.
        sodium = f"{rng.normal(1.4, 0.1):.3f}".replace(".", ",")
        ward = rng.choice(["renal", "cardiac", "icu", ""])
        # The last parts contain only some of the answers.
        first = i < 300
        smoker = ["yes", "no" if first else "", ""][i % 3]
        tick, sign = ["x" if first else "", ""][i % 2], ["+" if first else "-", "-"][i % 2]
        died = ["yes", "no"][i % 3 > 0]
        lines.append(f"p{i};{hb};{sodium};{ward};{smoker};{tick};{sign};{died}")
    path = tmp_path / "patients.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def fitting(monkeypatch, n_rows, n_columns):
    """Set the memory of a cell so that so many rows fit."""
    cells = n_rows * (n_columns + stored.CELLS_PER_ROW)
    room = 10**9 - stored.BYTES_OF_PROCESS
    monkeypatch.setattr(stored, "BYTES_PER_CELL", room // cells)


def same(columns, expected, rows=slice(None)):
    assert list(columns) == list(expected)
    for name, values in columns.items():
        np.testing.assert_array_equal(values, expected[name][rows])


def test_a_table_that_fits_is_read_as_in_memory(tmp_path, source, monkeypatch):
    monkeypatch.setattr(tables, "PART_ROWS", 7)
    how = {"outcome_columns": "died", "missing": "icu", "ignore_columns": ["died", "id", "tick"]}
    how["id_column"] = "id"
    whole, sample = (
        read_measurements(source, **how),
        read_measurements(source, folder=tmp_path / "work", **how),
    )
    same(sample.columns, whole.columns)
    same(sample.outcomes, whole.outcomes)
    for name in ("coder", "ids", "units", "words", "outcome_names", "left_out", "name", "notes"):
        assert getattr(sample, name) == getattr(whole, name), name
    np.testing.assert_array_equal(sample.enough, whole.enough)
    assert (sample.sample.n_all, len(sample)) == (N, N)


def test_of_more_rows_a_sample_is_read_and_all_in_blocks(tmp_path, source, monkeypatch):
    whole = read_measurements(source)
    assert [whole.kinds[name] for name in ("smoker", "tick", "sign")] == 3 * ["yes_no"]
    fitting(monkeypatch, 100, 8)
    samples = []
    for n_rows in (7, 20_000):
        monkeypatch.setattr(tables, "PART_ROWS", n_rows)
        samples.append(read_measurements(source, folder=tmp_path / f"{n_rows}"))
    sample = samples[0]
    np.testing.assert_array_equal(sample.sample.rows, samples[1].sample.rows)
    assert 25 <= len(sample) <= 100
    assert sample.sample.n_all == N
    assert sample.notes[-1].code == "sample_of_records"
    same(sample.columns, whole.columns, sample.sample.rows)
    assert sample.ids == [whole.ids[row] for row in sample.sample.rows]

    monkeypatch.setattr(tables, "PART_ROWS", 7)
    blocks = list(sample.blocks())
    assert max(len(block) for block, _ in blocks) == 7
    assert [one for block, _ in blocks for one in block.ids] == whole.ids
    for name, values in whole.columns.items():
        np.testing.assert_array_equal(
            np.concatenate([block.columns[name] for block, _ in blocks]), values
        )
    np.testing.assert_array_equal(
        np.flatnonzero(np.concatenate([i for _, i in blocks])), sample.sample.rows
    )


def test_rows_of_a_sample_are_spread_over_the_table(tmp_path, monkeypatch):
    path = tmp_path / "visits.csv"
    path.write_text("a,b\n" + "".join(f"{i % 4}.5,{i / 7:.3f}\n" for i in range(4_000)))
    fitting(monkeypatch, 800, 2)
    rows = read_measurements(path, folder=tmp_path / "work").sample.rows
    # Independent draws: five standard deviations, for each of four visits and each quarter.
    most = 5 * np.sqrt(len(rows) * 3 / 16)
    for part in (rows % 4, rows // 1_000):
        np.testing.assert_allclose(np.bincount(part), len(rows) / 4, atol=most)


def test_rows_without_ids_keep_their_numbers(tmp_path, monkeypatch):
    path = tmp_path / "numbers.csv"
    path.write_text("a,b\n" + "".join(f"{i * 0.37:.2f},{i % 7}.1\n" for i in range(300)))
    fitting(monkeypatch, 100, 2)
    sample = read_measurements(path, folder=tmp_path / "work")
    assert sample.ids == [str(row + 1) for row in sample.sample.rows]
    assert [i for block, _ in sample.blocks() for i in block.ids] == [*map(str, range(1, 301))]


def test_an_error_names_the_line_in_the_table(tmp_path, source, monkeypatch):
    lines = source.read_text(encoding="utf-8").splitlines()
    fitting(monkeypatch, 100, 8)
    row = int(read_measurements(source, folder=tmp_path / "work").sample.rows[-1])
    lines[row + 1] = "p;clotted;1,4;renal;yes;x;+;no"
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with raises(ReadError, "not_of_kind", origin=Message("[at_line]", line=row + 2)):
        read_measurements(source, folder=tmp_path / "other", kinds={"hb": "number"})


def test_a_drawn_sample_is_kept(tmp_path, source, monkeypatch):
    first = read_measurements(source, folder=tmp_path / "work")
    with raises(InvalidParameterError, "unfinished_work"):
        read_measurements(source, folder=tmp_path / "work")
    with raises(InvalidParameterError, "resume_changed"):
        read_measurements(source, folder=tmp_path / "work", resume=True, missing="icu")
    monkeypatch.setattr(Source, "origin", None)  # and the table is not read again
    monkeypatch.setattr(tables, "is_part", None)
    again = read_measurements(source, folder=tmp_path / "work", resume=True)
    same(again.columns, first.columns)
    (tmp_path / "work" / stored.SAMPLE / "rows.npy").write_bytes(b"")
    with raises(ReadError, "work_damaged"):
        read_measurements(source, folder=tmp_path / "work", resume=True)


def test_spreadsheets_are_refused(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("openpyxl")
    path = tmp_path / "table.xlsx"
    pd.DataFrame({"a": [0.5, 1.5], "b": [1.0, 2.5]}).to_excel(path, index=False)
    with raises(InvalidParameterError, "table_not_streamed"):
        read_measurements(path, folder=tmp_path / "work")


def test_a_coder_reads_new_records_on_disk_too(tmp_path, source):
    coder = read_measurements(source, outcome_columns="died").coder
    whole = read_measurements(source, coder=coder)
    stored = read_measurements(source, folder=tmp_path / "work", coder=coder)
    same(stored.columns, whole.columns)
    assert stored.coder == coder
    assert stored.ids == whole.ids


@pytest.mark.parametrize("bad", [{"empty": "none"}, {"kinds": {"hb": "text"}}])
def test_bad_options_are_refused_before_a_folder_is_made(tmp_path, source, bad):
    with pytest.raises(InvalidParameterError, match=next(iter(bad))):
        read_measurements(source, folder=tmp_path / "work", **bad)
    assert not (tmp_path / "work").exists()
