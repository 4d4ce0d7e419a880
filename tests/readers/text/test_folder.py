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
    assert documents.notes == [Message("[files_empty]", n_rows=1, n_all=4, source=folder.name)]


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
            "film.mp4": "ftyp",
            "b.mp4": "ftyp",
            ".hidden.txt": "no",
            ".git/x.txt": "no",
        }
    )
    documents = read_documents(folder)
    assert documents.ids == ["README", "a.txt", "sci.space.60772"]
    left_out = ["2 .mp4", "1 .png", "1 binary"]
    assert documents.notes == [
        Message("[files_left_out]", source=folder.name, n_all=3, n_files=4, left_out=left_out)
    ]


def test_links_to_folders_are_not_followed(fill):
    folder = fill({"in/a.txt": "text"})
    try:
        os.symlink(folder, folder / "in" / "loop", target_is_directory=True)
    except OSError:
        pytest.skip("no links on this system")
    assert read_documents(folder).ids == ["in/a.txt"]


@pytest.mark.parametrize("files", [{}, {"a.mp4": "ftyp"}, {".a.txt": "hidden"}, {"sub/b.png": "x"}])
def test_no_text_file(fill, files):
    with raises(ReadError, "no_text_file"):
        read_documents(fill(files))


BROKEN = {
    "sub/bad.txt": (b"text\0text", "binary_file"),
    "bad.txt.gz": (gzip.compress(b"text" * 500, mtime=0)[:20], "damaged_gzip"),
    "rubbish.txt": (bytes(range(1, 256)) * 9, "binary_file"),
    "bad.pdf": (b"%PDF-1.4 and no more", "damaged_file"),
    "bad.docx": (b"PK\3\4 and no more", "damaged_file"),
    "not.docx": (b"\xd0\xcf\x11\xe0", "damaged_file"),
    "empty.pdf": (b"", "wrong_content"),
    "bad.json": (b'{"text": ', "not_json"),
    "bad.mbox": (b"no messages", "wrong_content"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_cannot_be_read_is_left_out_and_named(fill, name):
    content, code = BROKEN[name]
    folder = fill({"a.txt": "text", name: content})
    documents = read_documents(folder)
    assert documents.ids == ["a.txt"]
    summary, reason = documents.notes
    names = {"source": folder.name, "n_files": 1, "n_all": 2, "names": [name]}
    assert summary == Message("[files_unreadable]", **names)
    assert reason.code == code
    assert reason.values["path"] == name
    (folder / "a.txt").unlink()
    with raises(ReadError, "no_readable_file", n_files=1, path=str(folder)):
        read_documents(folder)


def test_of_many_files_that_cannot_be_read_some_are_explained(fill):
    folder = fill({"z.txt": "text", **{f"{i}.pdf": "%PDF" for i in range(9)}})
    codes = [note.code for note in read_documents(folder).notes]
    assert codes == ["files_unreadable", *["damaged_file"] * 3]


def test_encodings_of_a_folder(fill):
    folder = fill(
        {
            "a.txt": "caffè",
            "b.txt": "caffè e città, perché no".encode("cp1252"),
            "c.html": '<meta charset="iso-8859-2"><p>żółw</p>'.encode("iso-8859-2"),
            "d.txt": "море и солнце, берег и ветер".encode("koi8-r"),
            "e.txt": "sole".encode("utf-16"),
        }
    )
    documents = read_documents(folder)
    assert documents.texts == [
        "caffè",
        "caffè e città, perché no",
        "żółw",
        "море и солнце, берег и ветер",
        "sole",
    ]
    (note,) = documents.notes
    assert note.code == "guessed_encodings"
    assert note.values["read_as"] == ["1 as cp1252", "1 as iso8859-2", "1 as koi8-r"]
    strict = read_documents(folder, encoding="latin-1")
    assert strict.texts[1] == documents.texts[1]
    assert strict.texts[0] != documents.texts[0]


@pytest.mark.parametrize("option", ["text_column", "label_column", "id_column"])
def test_a_folder_has_no_columns(fill, option):
    with raises(InvalidParameterError, "not_for_text_files", parameter=option, value="kind"):
        read_documents(fill({"a.txt": "text"}), **{option: "kind"})


def test_a_file_that_vanishes(fill, monkeypatch):
    folder = fill({"a.txt": "text"})
    monkeypatch.setattr(os, "walk", lambda *_, **__: [(str(folder), [], ["a.txt", "gone.txt"])])
    documents = read_documents(folder)
    assert documents.ids == ["a.txt"]
    assert [note.code for note in documents.notes] == ["files_unreadable", "no_such_file"]


def test_rows_and_messages_in_a_folder(fill):
    mails = "From a@b Mon\nSubject: {}\n\nwords\n\n"
    folder = fill(
        {
            "in/one.json": '{"article": {"body": "a body of words"}, "url": "http://a.b/c"}',
            "in/two.jsonl": '{"body": "first row"}\n{"body": "second row"}\n',
            "out/mail.mbox": mails.format("One") + mails.format("Two"),
            "rows.csv": "text\nsome words\n",
        }
    )
    documents = read_documents(folder)
    assert dict(zip(documents.ids, documents.texts, strict=True)) == {
        "in/one.json": "a body of words",
        "in/two.jsonl:1": "first row",
        "in/two.jsonl:2": "second row",
        "out/mail.mbox:1": "Subject: One\nFrom: \n\nwords\n\n",
        "out/mail.mbox:2": "Subject: Two\nFrom: \n\nwords\n\n",
    }
    assert documents.labels == ["in", "in", "in", "out", "out"]
    codes = [note.code for note in documents.notes]
    assert codes == ["tables_left_out", "chose_text_column"]


def test_tables_are_read_if_there_are_more_of_them(fill):
    tables = {f"{year}.csv": f"id,text\n1,words of {year}\n2,more\n" for year in (2021, 2022)}
    documents = read_documents(fill({**tables, "README.md": "about"}), text_column="text")
    assert documents.ids == ["2021.csv:1", "2021.csv:2", "2022.csv:1", "2022.csv:2", "README.md"]
    assert documents.texts[2] == "words of 2022"
    assert list(documents.notes) == []


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


ONE = '{"text": "momentree"}'
LINES = "id,body\n" + "".join(f"{i},text {i}\n" for i in range(9))


@pytest.mark.parametrize(
    "documents", [{"a.txt": "one", "x.html": "<p>momentree", "y.json": ONE}, {"a.csv": LINES}]
)
def test_what_momentree_wrote_is_no_document(fill, documents):
    folder = fill(documents)
    before = read_documents(folder)
    head = '<!DOCTYPE html>\n<html><head>\n<meta name="generator" content="momentree 0.1">'
    after = read_documents(
        fill(
            {
                "r.html": f"{head}<title>Topics</title></head><body>texts</body></html>",
                "t.csv": "id,leaf,name,probability\na.txt,0,sea,1\n",
                "u.csv": "id,label,passages,topic,name,probability,topic_0\na.txt,,2,0,sea,1,1\n",
                "t.json": '{\n "format": "momentree.tree",\n "tree": {}\n}\n',
            }
        )
    )
    assert after.texts == before.texts
    left_out = ["4 written by momentree"]
    [note] = [note for note in after.notes if note.code == "files_left_out"]
    assert note.values["left_out"] == left_out


def test_lock_files_of_word_processors_are_skipped(fill):
    folder = fill({"a.txt": "one", "~$report 1.docx": b"\x05Anna\0\0", "~lock.txt": "two"})
    documents = read_documents(folder)
    assert documents.ids == ["a.txt", "~lock.txt"]
    assert not documents.notes
