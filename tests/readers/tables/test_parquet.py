"""Parquet files that are damaged, or that expand to exhaust memory."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from momentree.datasets import read_documents, read_records
from momentree.exceptions import ReadError
from tests.raising import raises

TOO_LARGE = "file_too_large"


def parquet(path, columns):
    """Write columns, without pandas' or Arrow's own notes on them."""
    pq.write_table(pa.table(columns), path, store_schema=False)
    return path


@pytest.mark.parametrize("read", [read_records, read_documents])
def test_repeated_values_that_exhaust_memory(tmp_path, read):
    names = pa.array(["x" * 100_000])
    often = pa.DictionaryArray.from_arrays(pa.array(np.zeros(2_000, np.int32)), names)
    path = parquet(tmp_path / "text.parquet", {"text": often})
    with raises(ReadError, TOO_LARGE):
        read(path)
    lists = pa.ListArray.from_arrays(pa.array([0, 1_000, 2_000], pa.int32()), often)
    with raises(ReadError, TOO_LARGE):
        read_records(parquet(tmp_path / "list.parquet", {"codes": lists}))
    one = pa.DictionaryArray.from_arrays(pa.array(np.zeros(40_000_000, np.int8)), pa.array(["x"]))
    long = pa.ListArray.from_arrays(pa.array([0, 40_000_000], pa.int32()), one)
    with raises(ReadError, TOO_LARGE):
        read_records(parquet(tmp_path / "long.parquet", {"codes": long}))
    few = pa.DictionaryArray.from_arrays(pa.array(np.zeros(600_000, np.int8)), pa.array(["x"]))
    with raises(ReadError, TOO_LARGE):
        read(parquet(tmp_path / "rows.parquet", {"text": few}))


@pytest.mark.parametrize("read", [read_records, read_documents])
def test_parquet_with_damaged_strings(tmp_path, read):
    damaged = pa.array([b"A1", b"B\xff", b"C3"]).view(pa.string())
    with raises(ReadError, "unreadable_parquet"):
        read(parquet(tmp_path / "a.parquet", {"id": ["a", "b", "c"], "text": damaged}))
