"""Every reader refuses special files, loops of links and empty paths in the same way."""

from __future__ import annotations

import os
import socket

import pytest

from momentree.datasets import (
    TextVectorizer,
    read_corpus,
    read_counts,
    read_documents,
    read_records,
    vectorize,
)
from momentree.exceptions import InvalidParameterError, ReadError
from momentree.models import load
from momentree.readers.tables.files import open_bytes
from tests.raising import raises

TEXTS = ["the sea and the boat", "the boat", "a sea"]


@pytest.fixture
def bag(tmp_path):
    path = tmp_path / "docword.x.txt"
    path.write_text("2\n2\n2\n1 1 1\n2 2 1\n", encoding="utf-8")
    return path


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("id,codes\na,250;401\nb,250\nc,401\n", encoding="utf-8")
    return path


READERS = {
    "documents": lambda path, bag, table: read_documents(path),
    "counts": lambda path, bag, table: read_counts(path),
    "corpus": lambda path, bag, table: read_corpus(path),
    "records": lambda path, bag, table: read_records(path),
    "vocabulary": lambda path, bag, table: read_counts(bag, vocabulary=path),
    "stop words": lambda path, bag, table: vectorize(TEXTS, stop_words=path),
    "words": lambda path, bag, table: TextVectorizer(stop_words=path),
    "rollup": lambda path, bag, table: read_records(table, rollup=path),
    "names": lambda path, bag, table: read_records(table, names=path),
    "model": lambda path, bag, table: load(path),
}


def special(kind, path):
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.symlink_to(path.with_name("other"))
        path.with_name("other").symlink_to(path)
    return path


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes and devices as files")
@pytest.mark.parametrize("kind", ["pipe", "socket", "device", "loop"])
@pytest.mark.parametrize("reader", READERS)
def test_special_files_are_refused(tmp_path, monkeypatch, bag, table, reader, kind):
    monkeypatch.chdir(tmp_path)  # the name of a socket has at most a hundred characters
    path = special(kind, tmp_path.relative_to(tmp_path) / "x.csv")
    code = "unreadable_path" if kind == "loop" else "not_a_regular_file"
    with raises(ReadError, code, path="x.csv"):
        READERS[reader](path, bag, table)


@pytest.mark.parametrize("reader", sorted(set(READERS) - {"stop words", "words"}))
def test_an_empty_path_is_not_the_current_folder(tmp_path, monkeypatch, bag, table, reader):
    (tmp_path / "a.txt").write_text("text", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with raises(InvalidParameterError, "empty_path"):
        READERS[reader]("", bag, table)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes and devices as files")
def test_special_files_in_a_folder_are_left_out(tmp_path):
    (tmp_path / "a.txt").write_text("text", encoding="utf-8")
    os.mkfifo(tmp_path / "b.txt")
    documents = read_documents(tmp_path)
    assert documents.texts == ["text"]
    assert documents.notes[0].values["left_out"] == ["1 special"]


def test_a_zero_byte_in_a_path_is_refused():
    with raises(ReadError, "unreadable_path"):
        read_documents("a\0b.csv")


def test_a_folder_where_a_file_is_expected(tmp_path):
    with raises(ReadError, "unreadable_path"), open_bytes(tmp_path):
        pass
