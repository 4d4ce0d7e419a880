"""Folders of text files: which files are texts, their ids and labels, and their faults."""

from __future__ import annotations

import gzip
import os

import numpy as np
import pytest

from momentree.datasets import Corpus, Documents, read_documents
from momentree.exceptions import InvalidDataError, InvalidParameterError, ReadError
from momentree.messages import Message
from tests.raising import raises


@pytest.fixture
def fill(tmp_path):
    """Write files below a folder and return it."""

    def write(files):
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path

    return write


def test_flat_folder(fill):
    folder = fill({"b.txt": "second\r\n", "a.txt": "\ufefffirst", "c.TXT": "", "d.md": "fourth"})
    documents = read_documents(folder)
    assert documents.ids == ["a.txt", "b.txt", "c.TXT", "d.md"]
    assert documents.texts == ["first", "second\n", "", "fourth"]
    assert documents.labels is None
    assert documents.name == folder.name
    assert documents.notes == [Message("files_empty", n_rows=1, n_all=4, source=folder.name)]


def test_sub_folders_are_labels(fill):
    folder = fill(
        {
            "sea/1": "boat",
            "sea/deep/2.txt": "fish",
            "land/3.txt.gz": gzip.compress(b"house"),
            "4.txt": "sky",
        }
    )
    documents = read_documents(folder)
    assert documents.ids == ["4.txt", "land/3.txt.gz", "sea/1", "sea/deep/2.txt"]
    assert documents.texts == ["sky", "house", "boat", "fish"]
    assert documents.labels == ["", "land", "sea", "sea"]


def test_other_files_are_left_out_with_a_note(fill):
    folder = fill(
        {
            "a.txt": "text",
            "sci.space.60772": "a newsgroup post",
            "README": "words",
            "core": b"\x7fELF\0\0",
            "photo.png": b"\x89PNG\0",
            "paper.pdf": "%PDF",
            "b.pdf": "%PDF",
            ".hidden.txt": "no",
            ".git/x.txt": "no",
        }
    )
    documents = read_documents(folder)
    assert documents.ids == ["README", "a.txt", "sci.space.60772"]
    left_out = ["2 .pdf", "1 .png", "1 binary"]
    assert documents.notes == [
        Message("files_left_out", source=folder.name, n_all=3, n_files=4, left_out=left_out)
    ]


def test_links_to_folders_are_not_followed(fill):
    folder = fill({"in/a.txt": "text"})
    try:
        os.symlink(folder, folder / "in" / "loop", target_is_directory=True)
    except OSError:
        pytest.skip("no links on this system")
    assert read_documents(folder).ids == ["in/a.txt"]


@pytest.mark.parametrize("files", [{}, {"a.pdf": "%PDF"}, {".a.txt": "hidden"}, {"sub/b.png": "x"}])
def test_no_text_file(fill, files):
    with raises(ReadError, "no_text_file"):
        read_documents(fill(files))


@pytest.mark.parametrize(
    "content", [b"caff\xe8\n", b"text\0text", gzip.compress(b"text" * 500, mtime=0)[:20]]
)
def test_a_bad_file_is_named(fill, content):
    folder = fill({"a.txt": "text", "sub/bad.txt": content})
    with pytest.raises(ReadError) as caught:
        read_documents(folder)
    assert caught.value.message.values["path"] == str(folder / "sub" / "bad.txt")


def test_encoding_of_a_folder(fill):
    folder = fill({"a.txt": "caffè".encode("latin-1")})
    assert read_documents(folder, encoding="latin-1").texts == ["caffè"]


@pytest.mark.parametrize("option", ["text_column", "label_column", "id_column"])
def test_a_folder_has_no_columns(fill, option):
    with raises(InvalidParameterError, "column_of_folder", parameter=option, value="kind"):
        read_documents(fill({"a.txt": "text"}), **{option: "kind"})


def test_a_file_that_vanishes(fill, monkeypatch):
    folder = fill({"a.txt": "text"})
    monkeypatch.setattr(os, "walk", lambda *_, **__: [(str(folder), [], ["a.txt", "gone.txt"])])
    with pytest.raises(ReadError):
        read_documents(folder)


def test_documents_for_scikit_learn():
    documents = Documents(["a", "b", "c"], ["1", "2", "3"], ["y", "x", "y"], "letters")
    assert documents.data is documents.texts
    assert documents.target_names == ["x", "y"]
    np.testing.assert_array_equal(documents.target, [1, 0, 1])
    assert len(documents) == 3
    assert repr(documents) == "Documents('letters', 3 texts, 2 labels)"
    plain = Documents(["a"], ["1"])
    assert (plain.target, plain.target_names) == (None, None)


@pytest.mark.parametrize(
    ("ids", "labels", "name"), [(["1"], None, "ids"), (["1", "2"], ["x"], "labels")]
)
def test_documents_of_unequal_lengths(ids, labels, name):
    with raises(InvalidDataError, "wrong_length", name=name, n_entries=1, needed=2):
        Documents(["a", "b"], ids, labels)


def test_corpus_of_unequal_lengths():
    import scipy.sparse as sp

    X = sp.csr_array(np.ones((2, 3)))
    words = np.array(["a", "b", "c"])
    assert len(Corpus(X, words, ["1", "2"])) == 2
    assert repr(Corpus(X, words, ["1", "2"])) == "Corpus('corpus', 2 documents, 3 words)"
    with raises(InvalidDataError, "wrong_length", name="vocabulary", n_entries=2, needed=3):
        Corpus(X, words[:2], ["1", "2"])
    with raises(InvalidDataError, "wrong_length", name="texts", n_entries=1, needed=2):
        Corpus(X, words, ["1", "2"], texts=["a"])
