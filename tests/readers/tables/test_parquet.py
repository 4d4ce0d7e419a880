"""Parquet files that are damaged, or that expand to exhaust memory."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from momentree.datasets import read_documents, read_records, stream_documents
from momentree.exceptions import ReadError
from tests.raising import raises

TOO_LARGE = "file_too_large"


def parquet(path, columns):
    """Write columns, without pandas' or Arrow's own notes on them."""
    pq.write_table(pa.table(columns), path, store_schema=False)
    return path


@pytest.mark.parametrize("read", [read_records, read_documents])
def test_repeated_values_that_exhaust_memory(tmp_path, read):
    often = pa.DictionaryArray.from_arrays(np.zeros(2_000, np.int32), ["x" * 100_000])
    with raises(ReadError, TOO_LARGE):
        read(parquet(tmp_path / "text.parquet", {"text": often}))
    many = pa.DictionaryArray.from_arrays(np.zeros(600_000, np.int8), ["x"])
    with raises(ReadError, TOO_LARGE):
        read(parquet(tmp_path / "rows.parquet", {"text": many}))


@pytest.mark.parametrize(
    ("n", "text"),
    [(2_000, "x" * 100_000), pytest.param(40_000_000, "x", marks=pytest.mark.long)],
)
def test_lists_of_repeated_values_that_exhaust_memory(tmp_path, n, text):
    values = pa.DictionaryArray.from_arrays(np.zeros(n, np.int8), [text])
    lists = pa.ListArray.from_arrays(pa.array([0, n // 2, n], pa.int32()), values)
    with raises(ReadError, TOO_LARGE):
        read_records(parquet(tmp_path / "lists.parquet", {"codes": lists}))


@pytest.mark.parametrize("read", [read_records, read_documents])
def test_parquet_with_damaged_strings(tmp_path, read):
    damaged = pa.array([b"A1", b"B\xff", b"C3"]).view(pa.string())
    with raises(ReadError, "unreadable_parquet"):
        read(parquet(tmp_path / "a.parquet", {"id": ["a", "b", "c"], "text": damaged}))


def test_repeated_values_that_exhaust_the_disk(tmp_path):
    texts = ["sea " * 250] * 80_000  # 80 MB, in parts of 20 MB
    path = parquet(tmp_path / "text.parquet", {"text": pa.array(texts)})
    with raises(ReadError, TOO_LARGE):
        for _ in stream_documents(path):
            pass


def test_two_columns_without_a_name(tmp_path):
    table = pa.Table.from_arrays([pa.array(["A1", "B1"] * 20)] * 3, names=["id", "", ""])
    pq.write_table(table, tmp_path / "t.parquet")
    with raises(ReadError, "duplicate_columns"):
        read_records(tmp_path / "t.parquet")


@pytest.mark.parametrize("kind", [pa.list_(pa.string()), pa.large_list(pa.large_string())])
def test_codes_in_lists_are_joined(tmp_path, kind):
    """Arrow joins lists of texts, Python those with a missing one; both give the same records."""
    codes = [["a", "b"], [], None, ["c", "a"], ["\u00e9"], ["a", "a"]] * 4
    path, found = tmp_path / "records.parquet", []
    for more in ([], [["a", None]]):
        pq.write_table(pa.table({"codes": pa.array([*codes, *more], kind)}), path)
        found.append(read_records(path, code_columns=["codes"]).X[: len(codes)].toarray())
    assert found[0].sum() == 4 * 6
    np.testing.assert_array_equal(*found)
