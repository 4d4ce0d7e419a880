"""JSON Lines: round trips, repairs, and faults with their place."""

from __future__ import annotations

import gzip
import json

import pytest

from momentree.datasets import read_documents
from momentree.exceptions import EmptyCorpusError, ReadError
from momentree.messages import Message
from tests.raising import raises

RECORDS = [
    {"text": "The sea\nthe sea", "kind": "prose", "id": 7},
    {"text": "è già l'aria 日本語 😀", "kind": ["verse", "song"], "id": "b"},
    {"text": "", "kind": None, "extra": {"deep": [1]}},
]


def save(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("name", ["r.jsonl", "r.ndjson", "R.JSON", "r.jsonl.gz"])
def test_json_lines(tmp_path, name, ascii_only, end):
    content = end.join(json.dumps(r, ensure_ascii=ascii_only) for r in RECORDS).encode()
    path = save(tmp_path, name, gzip.compress(content) if name.endswith("gz") else content)
    documents = read_documents(path, label_column="kind")
    assert documents.texts == [record["text"] for record in RECORDS]
    assert documents.ids == ["7", "b", "3"]
    assert documents.labels == ["prose", "verse, song", ""]
    assert documents.name == name
    assert len(documents.notes) == 2  # no text, no label


@pytest.mark.parametrize("indent", [None, 1])
def test_a_list_of_objects(tmp_path, indent):
    path = save(tmp_path, "r.json", json.dumps(RECORDS, indent=indent))
    assert read_documents(path).texts == [record["text"] for record in RECORDS]


def test_byte_order_mark_and_half_characters(tmp_path):
    path = save(tmp_path, "r.jsonl", b'\xef\xbb\xbf{"text": "half \\ud83d"}\n{"text": "\\u00e8"}\n')
    documents = read_documents(path)
    assert documents.texts == ["half ?", "è"]
    "".join(documents.texts).encode()


def test_numbers_and_missing_fields_are_read(tmp_path):
    path = save(tmp_path, "r.jsonl", '{"text": "a", "n": 1.5}\n{"text": 12}\n{"n": 3}\n')
    documents = read_documents(path, label_column="n")
    assert documents.texts == ["a", "12", ""]
    assert documents.labels == ["1.5", "", "3"]


def test_a_field_that_first_occurs_late(tmp_path):
    lines = ['{"text": "a"}'] * 1500
    path = save(tmp_path, "r.jsonl", "\n".join([*lines, '{"text": "a", "kind": "x"}']))
    assert set(read_documents(path, label_column="kind").labels) == {"", "x"}
    with raises(ReadError, "no_such_column", column="sort"):
        read_documents(path, label_column="sort")


def at(line, **values):
    return {"origin": Message("[at_line]", line=line), **values}


@pytest.mark.parametrize(
    ("content", "code", "values"),
    [
        (b'{"text": "a b"}\n{"text": \n', "not_json", at(2)),
        (b'\n\n{"text": "a"}\nwords\n', "not_json", at(4)),
        (b'{"text": "a"}\n["b"]\n', "not_an_object", at(2, found="list")),
        (b'"a"\n', "not_an_object", at(1, found="string")),
        (b"3\n", "not_an_object", at(1, found="number")),
        (b'[{"text": "a"}, 3]', "not_an_object", {"origin": Message("[at_item]", item=2)}),
        (b'[{"text": "a"},', "not_json", {}),
        (b'{"text": {"a": 1}}\n', "no_text_column", {"columns": ["text.a"]}),
        (b'{"text": [1, 2]}\n', "no_text_column", {"columns": ["text"]}),
        (b'{"n": 1}\n', "no_text_column", {"columns": ["n"]}),
        (b"{}\n", "no_columns", {}),
        (b"[" * 100_000, "not_json", {}),
        (b'{"text": ' + b"9" * 5000 + b"}\n", "not_json", at(1)),
        (b"\x00\x01\x02", "binary_file", {}),
        (gzip.compress(b'{"text": "some words"}\n' * 500, mtime=0)[:40], "damaged_gzip", {}),
    ],
)
def test_malformed(tmp_path, content, code, values):
    path = save(tmp_path, "r.jsonl", content)
    with raises(ReadError, code, path=str(path), **values) as caught:
        read_documents(path)
    assert len(str(caught.value)) < 1000


def test_a_wrong_byte(tmp_path):
    for start in (b'{"text": "', b'{"text": "a"}\n' * 80_000):
        path = save(tmp_path, "r.jsonl", start + b"\xff" + b'"}\n')
        with raises(ReadError, "wrong_encoding", encoding="utf-8"):
            read_documents(path, encoding="utf-8")


def test_nothing_in_it(tmp_path):
    with raises(ReadError, "empty_file"):
        read_documents(save(tmp_path, "r.jsonl", b""))
    with raises(EmptyCorpusError, "no_rows"):
        read_documents(save(tmp_path, "r.json", b"[]"))


def test_real_corpora(shared_data):
    documents = read_documents(shared_data / "bbc_news" / "docs.jsonl.gz", label_column="label")
    assert len(documents) == 2225
    assert len(documents.target_names) == 5
    assert list(documents.notes) == []
