"""Parquet files of texts, read by the workers of Dask."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from momentree.datasets import read_corpus
from momentree.exceptions import InvalidParameterError, ReadError
from tests.raising import raises

pytest.importorskip("dask")
fsspec = pytest.importorskip("fsspec")
pa = pytest.importorskip("pyarrow")

import pyarrow.parquet as pq  # noqa: E402


@pytest.fixture
def texts(docstrings):
    return list(docstrings.texts[:120])


def write(folder, texts, n_files=3):
    ends = np.linspace(0, len(texts), n_files + 1).astype(int)
    for i, (a, b) in enumerate(pairwise(ends)):
        table = pa.table({"text": texts[a:b], "year": list(range(a, b))})
        with fsspec.open(f"{folder}/part-{i}.parquet", "wb") as file:
            pq.write_table(table, file, row_group_size=30)


@pytest.mark.parametrize("remote", [True, False])
def test_the_same_counts_as_from_a_folder_of_files(texts, tmp_path, remote):
    folder = "memory://corpus" if remote else str(tmp_path)
    write(tmp_path, texts)
    write(folder, texts)
    found = read_corpus(f"{folder}/*.parquet")
    expected = read_corpus(tmp_path, passages=None, unique=False, text_column="text")
    assert found.vocabulary.tolist() == expected.vocabulary.tolist()
    X = sp.vstack(list(found.X.pieces()), format="csr")
    assert (X != expected.X).nnz == 0
    assert found.vectorizer.transform(texts[:5]).toarray().tolist() == X[:5].toarray().tolist()
    assert [found.ids[0], found.ids[-1], len(found.ids)] == ["1", "120", 120]
    assert found.ids[1:3] == ["2", "3"]
    some = found.take(np.array([0, 29, 30, 41, 119]))
    assert some.ids == ["1", "30", "31", "42", "120"]
    assert list(some.texts) == [expected.texts[i] for i in (0, 29, 30, 41, 119)]
    assert (expected.X[[0, 29, 30, 41, 119]] != some.X).nnz == 0
    assert list(found.take(None).texts) == list(expected.texts)
    assert [note.code for note in found.notes if note.code != "long_texts_whole"] == [
        note.code for note in expected.notes if note.code != "copies_counted"
    ]


def test_several_columns_of_text_are_joined(texts, tmp_path):
    table = pa.table({"title": [text[:20] for text in texts], "text": texts, "n": [1] * len(texts)})
    pq.write_table(table, tmp_path / "part-1.parquet", row_group_size=30)
    columns = ["text", "title"]
    found = read_corpus(str(tmp_path / "*.parquet"), text_column=columns)
    expected = read_corpus(tmp_path, passages=None, unique=False, text_column=columns)
    assert list(found.take(None).texts) == list(expected.texts)
    X = sp.vstack(list(found.X.pieces()), format="csr")
    assert (X != expected.X).nnz == 0
    assert "joined_text_columns" in [note.code for note in found.notes]
    assert "joined_text_columns" in [note.code for note in expected.notes]
    with raises(ReadError, "not_text", column="n"):
        read_corpus(str(tmp_path / "*.parquet"), text_column=["text", "n"])


def test_files_that_cannot_be_read(texts, tmp_path):
    with raises(ReadError, "no_files_of_pattern"):
        read_corpus(str(tmp_path / "*.parquet"))
    with raises(ReadError, "no_files_of_pattern"):
        read_corpus("nosuchprotocol://bucket/*.parquet")
    write(tmp_path, texts)
    damaged = tmp_path / "part-1.parquet"
    content = damaged.read_bytes()
    damaged.write_bytes(content[: len(content) // 2])  # no footer
    with raises(ReadError, "unreadable_parquet") as info:
        read_corpus(str(tmp_path / "*.parquet"))
    assert "part-1.parquet" in str(info.value)
    damaged.write_bytes(content[:100] + bytes(400) + content[500:])  # damaged inside
    with raises(ReadError, "unreadable_parquet"):
        read_corpus(str(tmp_path / "*.parquet"))


def test_columns_and_parameters_that_do_not_apply(texts, tmp_path):
    write(tmp_path, texts, 2)
    pattern = str(tmp_path / "*.parquet")
    with raises(ReadError, "not_text", column="year"):
        read_corpus(pattern, text_column="year")
    with raises(ReadError, "no_such_column", column="body", columns=["text", "year"]):
        read_corpus(pattern, text_column="body")
    with raises(InvalidParameterError, "not_on_a_cluster", parameter="phrases"):
        read_corpus(pattern, phrases=True)
    with raises(InvalidParameterError, "only_texts_in_parquet", parameter="label_column"):
        read_corpus(pattern, label_column="year")
    with raises(InvalidParameterError, "only_texts_in_parquet", parameter="unique"):
        read_corpus(pattern, unique=True)
