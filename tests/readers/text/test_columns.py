"""Which column is the text: by its words, not by its name or length alone."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from momentree.datasets import read_documents, stream_documents
from momentree.exceptions import InvalidParameterError, ReadError
from momentree.messages import Message
from tests.raising import raises

N = 20
LINKS = [
    f"https://www.example.org/archive/2024/articles/the-long-name-of-{i}.html" for i in range(N)
]
COLUMNS = {
    "link": LINKS,
    "mail": [f"first.last{i}@example.org" for i in range(N)],
    "file": [f"/home/user/documents/archive/letters/letter_{i}.txt" for i in range(N)],
    "uuid": [f"123e4567-e89b-12d3-a456-4266141740{i:02d}" for i in range(N)],
    "hash": ["d41d8cd98f00b204e9800998ecf8427e" * 2] * N,
    "date": [f"Monday, {i + 1} January 2024 10:{i:02d}:00" for i in range(N)],
    "stamp": [f"2024-01-{i + 1:02d}T10:00:00.000Z" for i in range(N)],
    "doi": [f"10.1000/journal.of.long.names.{i}" for i in range(N)],
    "number": [f"{10**30 + i}" for i in range(N)],
    "place": [f"48.85{i:02d}, 2.35{i:02d}" for i in range(N)],
}
SHORT = [f"boats and fish, number {i}" for i in range(N)]


@pytest.mark.parametrize("name", ["text", "content", "x"])
@pytest.mark.parametrize("kind", COLUMNS)
def test_what_has_no_words_is_not_the_text(tmp_path, kind, name):
    path = tmp_path / "t.csv"
    pd.DataFrame({name: COLUMNS[kind], "other": SHORT}).to_csv(path, index=False)
    documents = read_documents(path)
    assert documents.texts == SHORT
    facts = {"column": "other", "source": "t.csv", "columns": [name]}
    assert documents.notes == [Message("[chose_text_column]", **facts, parameter="text_column")]


@pytest.mark.parametrize(
    "texts",
    [
        ["море и солнце, берег и ветер"],
        ["日本語の文字コードを検出する"],
        ["हिन्दी में लिखा हुआ पाठ"],
        ["C++ and C#, at 10 % (see a.org/b)"],
        ["@ann: #topic so good!!! 😀"],
    ],
)
def test_words_of_any_kind(tmp_path, texts):
    path = tmp_path / "t.csv"
    pd.DataFrame({"text": LINKS, "other": texts * N}).to_csv(path, index=False)
    assert read_documents(path).texts == texts * N


def test_a_far_longer_column_beats_a_name(tmp_path):
    path = tmp_path / "t.csv"
    long = [" ".join([text] * 20) for text in SHORT]
    pd.DataFrame({"text": SHORT, "story": long}).to_csv(path, index=False)
    documents = read_documents(path)
    assert documents.texts == long
    assert [note.code for note in documents.notes] == ["chose_text_column"]


def test_other_columns_of_text_are_named_longest_first(tmp_path):
    path = tmp_path / "t.csv"
    longer = [f"{text} and so on" for text in SHORT]
    columns = {"title": SHORT, "link": LINKS, "intro": longer, "body": SHORT}
    pd.DataFrame(columns).to_csv(path, index=False)
    documents = read_documents(path)
    assert documents.texts == SHORT
    (note,) = documents.notes
    assert (note.code, note.values["columns"]) == ("chose_text_column", ["intro", "title"])
    assert len(read_documents(path, text_column="intro").notes) == 0


def test_a_table_without_words_is_refused_unless_its_column_is_named(tmp_path):
    path, table = tmp_path / "t.csv", pd.DataFrame({"a": LINKS, "b": COLUMNS["uuid"]})
    table.to_csv(path, index=False)
    with raises(ReadError, "not_documents", column="a"):
        read_documents(path)
    assert read_documents(path, text_column="a").texts == LINKS
    pd.DataFrame({"text": SHORT}).to_csv(tmp_path / "u.csv", index=False)
    assert "chose_text_column" in [note.code for note in read_documents(tmp_path).notes]


def test_the_right_column_is_seen_in_a_long_list(tmp_path):
    path = tmp_path / "t.csv"
    columns = {f"x{i}": range(N) for i in range(60)}
    pd.DataFrame({**columns, "story": SHORT}).to_csv(path, index=False)
    with raises(ReadError, "no_such_column") as caught:
        read_documents(path, text_column="storey")
    assert "'story'" in str(caught.value)


ARTICLE = {"article": {"title": "A title", "body": "Words of the body"}, "url": LINKS[0]}


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        (ARTICLE, ["Words of the body"]),
        ([ARTICLE] * 2, ["Words of the body"] * 2),
        ({"status": "ok", "articles": [ARTICLE] * 3}, ["Words of the body"] * 3),
        ({"meta": {"n": 2}, "data": {"hits": [ARTICLE] * 2}}, ["Words of the body"] * 2),
        ({"text": ["one word", "two words"], "n": [1, 2]}, ["one word", "two words"]),
        ({"text": {"0": "one", "1": "two"}, "n": {"0": 1, "1": 2}}, ["one", "two"]),
        ({"a": {"text": "one word"}, "b": {"text": "two words"}}, ["one word", "two words"]),
        (["one word", "two words"], ["one word", "two words"]),
        ({"parts": [{"text": "one word"}], "title": "x" * 99}, ["one word"]),
        ({"body": ["one word", "two words"], "title": "x"}, ["one word, two words"]),
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_nested_json(tmp_path, content, texts, indent):
    path = tmp_path / "t.json"
    path.write_text(json.dumps(content, indent=indent))
    assert read_documents(path).texts == texts


def test_fields_are_named_with_dots(tmp_path):
    path = tmp_path / "t.jsonl"
    one = {"a": {"b": {"c": "some words"}}, "list": [{"x": "one"}, {"x": "two"}]}
    path.write_text("".join(json.dumps(one) + "\n" for _ in range(3)))
    assert read_documents(path, text_column="a.b.c").texts == ["some words"] * 3
    assert read_documents(path, text_column="list.x").texts == ["one, two"] * 3


def test_deep_json(tmp_path):
    path = tmp_path / "t.json"
    path.write_text('{"a":' * 900 + '"words"' + "}" * 900)
    with raises(ReadError, "no_text_column"):
        read_documents(path)
    path.write_text('{"a":' * 20 + '"words"' + "}" * 20)
    assert read_documents(path).texts == ["words"]


TWO = pd.DataFrame({"good": ["team", "", "pay", " "], "bad": ["food", "stairs", "", ""]})
JOINED = ["food\n\nteam", "stairs", "pay", ""]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "xlsx"])
def test_several_columns_are_joined_in_their_order(tmp_path, suffix):
    path = tmp_path / f"t.{suffix}"
    if suffix == "csv":
        TWO.to_csv(path, index=False)
    elif suffix == "jsonl":
        rows = [{"answer": row} for row in TWO.to_dict("records")]
        path.write_text("\n".join(map(json.dumps, rows)))
    else:
        getattr(TWO, {"parquet": "to_parquet", "xlsx": "to_excel"}[suffix])(path, index=False)
    columns = [f"answer.{name}" if suffix == "jsonl" else name for name in ("bad", "good")]
    documents = read_documents(path, text_column=[*columns, columns[0]])
    assert documents.texts == JOINED
    joint = documents.notes[0]
    assert (joint.code, joint.values["columns"]) == ("joined_text_columns", columns)
    parts = stream_documents(path, text_column=columns)
    assert [text for part in parts for text in part.texts] == JOINED
    with raises(ReadError, "no_such_column", column="worst"):
        read_documents(path, text_column=[columns[0], "worst"])
    assert read_documents(path, text_column=[]).texts == read_documents(path).texts
    (tmp_path / "letter.txt").write_text("a letter")
    with raises(InvalidParameterError, "not_for_text_files", value="bad, good"):
        read_documents(tmp_path / "letter.txt", text_column=["bad", "good"])
