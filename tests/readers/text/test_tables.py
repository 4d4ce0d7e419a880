"""Tables of text: round trips, guesses, and faults with their place."""

from __future__ import annotations

import csv
import errno
import gzip
import os
import random
import warnings

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from momentree.datasets import read_documents
from momentree.exceptions import EmptyCorpusError, InvalidParameterError, ReadError
from momentree.messages import Message
from tests.raising import raises

ROWS = [
    ("a1", "The sea, the sea", "prose"),
    ("a2", 'She said "no"; he\nleft', "prose"),
    ("a3", "è già l'aria | 日本語\t!", "verse"),
]


def as_csv(separator=",", rows=ROWS, header=("key", "text", "kind"), end="\n") -> str:
    """Write a table as the standard library does."""

    def quote(value):
        special = {separator, '"', "\n", "\r"} & set(value)
        return '"' + value.replace('"', '""') + '"' if special else value

    return "".join(separator.join(map(quote, row)) + end for row in (header, *rows))


CUT = gzip.compress(b"text\n" + random.Random(0).randbytes(9999), mtime=0)[:5000]


def at(line, **values):
    return {"origin": Message("[at_line]", line=line), **values}


def save(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


CHOOSE = {"parameter": "text_column"}
FORMS = ("csv", "jsonl", "parquet")


def save_frame(folder, form, frame):
    path = folder / f"t.{form}"
    if form == "csv":
        frame.to_csv(path, index=False, quoting=csv.QUOTE_ALL, lineterminator="\n")
    elif form == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_parquet(path)
    return path


def check(documents):
    ids, texts, labels = map(list, zip(*ROWS, strict=True))
    assert documents.texts == texts
    assert documents.ids == ids
    assert documents.labels == labels
    assert list(documents.notes) == []


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_csv(tmp_path, separator, end):
    path = save(tmp_path, "t.csv", as_csv(separator, end=end))
    check(read_documents(path, label_column="kind", id_column="key"))


@pytest.mark.parametrize("name", ["t.csv.gz", "T.TSV.GZ", "named-plain.csv"])
def test_compressed(tmp_path, name):
    """Compressed files are recognized by their content."""
    path = save(tmp_path, name, gzip.compress(as_csv("\t").encode()))
    check(read_documents(path, label_column="kind", id_column="key"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings(tmp_path, encoding):
    path = save(tmp_path, "t.csv", as_csv().encode(encoding))
    check(read_documents(path, label_column="kind", id_column="key", encoding=encoding))


def test_byte_order_mark_needs_no_option(tmp_path):
    path = save(tmp_path, "t.csv", as_csv(header=("id", "text", "n")).encode("utf-8-sig"))
    assert read_documents(path).texts == [row[1] for row in ROWS]
    assert read_documents(path).ids == [row[0] for row in ROWS]


@pytest.mark.parametrize("options", [{}, {"row_group_size": 2}, {"compression": "gzip"}])
def test_parquet(tmp_path, options):
    frame = pd.DataFrame(ROWS, columns=["key", "text", "kind"]).astype({"kind": "category"})
    frame["number"] = 3.5
    frame.to_parquet(tmp_path / "t.parquet", engine="pyarrow", **options)
    path = tmp_path / "t.parquet"
    check(read_documents(path, label_column="kind", id_column="key"))


def test_parquet_missing_values(tmp_path):
    frame = pd.DataFrame({"n": [1, 2, 3], "words": ["a long text", None, "b"], "y": [1, None, 2]})
    frame.to_parquet(tmp_path / "t.pq")
    documents = read_documents(tmp_path / "t.pq", label_column="y", id_column="n")
    assert documents.texts == ["a long text", "", "b"]
    assert documents.labels == ["1", "", "2"]
    assert documents.ids == ["1", "2", "3"]
    assert documents.notes == [
        Message("[chose_text_column]", column="words", columns=["n", "y"], source="t.pq", **CHOOSE),
        Message("[rows_without_text]", n_rows=1, n_all=3, source="t.pq"),
        Message("[rows_without_label]", n_rows=1, n_all=3, source="t.pq"),
    ]


def test_text_and_id_columns_are_guessed(tmp_path):
    path = save(tmp_path, "t.csv", "id,title,Body\n7,a very long title indeed,short\n")
    documents = read_documents(path)
    assert (documents.texts, documents.ids, documents.labels) == (["short"], ["7"], None)
    path = save(tmp_path, "u.csv", "n,x,y\n1,of two,the longest column\n")
    documents = read_documents(path)
    assert documents.texts == ["the longest column"]
    assert documents.notes == [
        Message("[chose_text_column]", column="y", columns=["x"], source="u.csv", **CHOOSE)
    ]


def test_words_that_look_like_missing_values_are_words(tmp_path):
    path = save(tmp_path, "t.csv", "text,kind\nNA,null\nNaN,None\n,\n")
    documents = read_documents(path, label_column="kind")
    assert documents.texts == ["NA", "NaN", ""]
    assert documents.labels == ["null", "None", ""]
    assert len(documents.notes) == 2


@pytest.mark.parametrize("n_columns", [3, 1_200])
def test_ids_and_labels_stay_as_they_are_in_the_file(tmp_path, n_columns):
    """Other tables are joined by them. Tables of many columns are read in another way."""
    cells = [
        "007",
        "1.0",
        " 1.50",
        "1e5 ",
        "0x1F",
        "+3",
        "-0",
        "NA",
        "TRUE",
        "a; b",
        "e\u0301",
        "x  y",
    ]
    cells += ["12345678901234567890.0", "\u00a01", "2020-01-01", "1_000", "\ttab", "b\r\nc", "'q'"]
    empty = [""] * (n_columns - 3)
    with (tmp_path / "t.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["key", "text", "kind", *map(str, range(n_columns - 3))])
        writer.writerows([cell, "words", cell, *empty] for cell in cells)
    documents = read_documents(tmp_path / "t.csv", label_column="kind", id_column="key")
    assert documents.ids == documents.labels == cells


def test_short_rows_and_blank_lines(tmp_path):
    path = save(tmp_path, "t.csv", "\n\ntext,kind\nfirst\n\nsecond,x\n")
    documents = read_documents(path, label_column="kind")
    assert (documents.texts, documents.labels) == (["first", "second"], ["", "x"])


def test_one_column_may_hold_commas(tmp_path):
    path = save(tmp_path, "t.csv", "text\nyes, we can\nno\n")
    assert read_documents(path).texts == ["yes, we can", "no"]


def test_long_lines_and_many_rows(tmp_path):
    """Longer than the limits of the csv module, and than one chunk."""
    long = "word " * 100_000
    rows = [("0", long.strip(), "k")] + [(str(i), f"text {i}", "k") for i in range(1, 20_050)]
    path = save(tmp_path, "t.csv", as_csv(rows=rows))
    documents = read_documents(path, id_column="key")
    assert len(documents) == 20_050
    assert documents.texts[0] == long.strip()
    assert documents.ids[-1] == "20049"


@pytest.mark.parametrize("separator", ["\\t", "tab", "\t"])
def test_ways_to_write_a_tab(tmp_path, separator):
    path = save(tmp_path, "t.csv", as_csv("\t"))
    check(read_documents(path, label_column="kind", id_column="key", separator=separator))


@pytest.mark.parametrize(
    ("name", "content", "code", "values"),
    [
        ("empty.csv", "", "empty_file", {}),
        ("blank.csv", " \n\n", "empty_file", {}),
        ("quoted-blank.csv", '" "\n', "empty_file", {}),
        ("binary.csv", bytes(range(256)) * 20, "binary_file", {}),
        ("cut.csv.gz", CUT, "damaged_gzip", {}),
        ("broken.csv.gz", b"\x1f\x8b" + b"?" * 100, "damaged_gzip", {}),
        ("fields.csv", "text,n\na,1\nb,c,2\n", "too_many_fields", at(3, found=3, expected=2)),
        ("multi.csv", 'n,text\n1,"a\nb"\n2,c\n3,d,e\n', "too_many_fields", at(5)),
        ("all-long.csv", "text,n\na,1,x\nb,2,y\n", "too_many_fields", at(2)),
        ("open-header.csv", 'n,"text\n1,a\n', "unclosed_quote", at(1)),
        ("quote.csv", 'n,text\n1,a\n2,"b\n3,c\n', "unclosed_quote", at(3)),
    ],
)
def test_malformed(tmp_path, name, content, code, values):
    path = save(tmp_path, name, content)
    with raises(ReadError, code, path=str(path), **values) as caught:
        read_documents(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "guess"),
    [
        ("text\ncaffè\n".encode("latin-1"), "cp1252"),
        (b"text\ncaff\xe8 \x81\n", "latin-1"),
        ("text\n“so”\n".encode("cp1252"), "cp1252"),
        ("text\nso\n".encode("utf-16"), "utf-16"),
    ],
)
def test_an_encoding_that_is_given_is_obeyed(tmp_path, content, guess):
    path = save(tmp_path, "t.csv", content)
    with raises(ReadError, "wrong_encoding", encoding="utf-8", parameter="encoding"):
        read_documents(path, encoding="utf-8")
    assert read_documents(path, encoding=guess).texts == read_documents(path).texts


def test_utf_16_without_its_mark_is_not_read_as_utf_16(tmp_path):
    path = save(tmp_path, "wide.csv", "text\nso\n".encode("utf-16-le"))
    with raises(ReadError, "wrong_encoding", encoding="utf-16"):
        read_documents(path, encoding="utf-16")


def test_a_small_file_of_very_many_rows_is_refused(tmp_path):
    path = save(tmp_path, "rows.csv.gz", gzip.compress(b"text,n\nso,1\n" + b",\n" * 600_000))
    with raises(ReadError, "file_too_large"):
        read_documents(path)


@pytest.mark.parametrize("form", FORMS)
def test_missing_column(tmp_path, form):
    columns = ["key", "text", "kind"]
    path = save_frame(tmp_path, form, pd.DataFrame(ROWS, columns=columns))
    for option in ("text_column", "label_column", "id_column"):
        with raises(ReadError, "no_such_column", column="sort", parameter=option, columns=columns):
            read_documents(path, **{option: "sort"})


def test_wrong_separator(tmp_path):
    path = save(tmp_path, "t.csv", as_csv())
    with raises(ReadError, "wrong_separator", value=";", found=","):
        read_documents(path, separator=";")


def test_invalid_options(tmp_path):
    path = save(tmp_path, "t.csv", as_csv())
    for separator in ("", "ab", '"', "\n", "\udcff", 3):
        with raises(InvalidParameterError, "bad_separator"):
            read_documents(path, separator=separator)
    for encoding in ("utf-99", "hex", "", None):
        with raises(InvalidParameterError, "unknown_encoding"):
            read_documents(path, encoding=encoding)


@pytest.mark.parametrize("form", FORMS)
def test_no_rows(tmp_path, form):
    with raises(EmptyCorpusError, "no_rows"):
        read_documents(save_frame(tmp_path, form, pd.DataFrame({"text": pd.Series([], dtype=str)})))


def test_damaged_parquet(tmp_path):
    whole = save_frame(tmp_path, "parquet", pd.DataFrame({"text": ["words"] * 1000})).read_bytes()
    for content in (whole[:-20], b"PAR1 not really", b"PAR1" + bytes(50) + b"PAR1"):
        with raises(ReadError, "unreadable_parquet"):
            read_documents(save(tmp_path, "t.parquet", content))


def test_parquet_without_text(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"n": [1, 2], "x": [0.5, 1.5]}).to_parquet(path)
    with raises(ReadError, "no_text_column", columns=["n", "x"]):
        read_documents(path)
    with raises(ReadError, "not_text", column="n", kind="int64"):
        read_documents(path, text_column="n")


def test_paths_that_are_not_tables(tmp_path):
    for path in (3, None, ["a.csv"]):
        with raises(InvalidParameterError, "not_a_path"):
            read_documents(path)
    for name in ("none.csv", "none"):
        with raises(ReadError, "no_such_file"):
            read_documents(tmp_path / name)
    for name in ("image.png", "data", "old.doc"):
        with raises(ReadError, "unknown_document_suffix"):
            read_documents(save(tmp_path, name, "text"))


def test_a_file_that_vanishes_while_it_is_read(tmp_path, monkeypatch):
    path = save(tmp_path, "t.csv", as_csv())

    def vanish(*args, **kwargs):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))

    monkeypatch.setattr("pathlib.Path.open", vanish)
    with raises(ReadError, "unreadable_path"):
        read_documents(path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all files")
def test_no_permission(tmp_path):
    path = save(tmp_path, "t.csv", as_csv())
    path.chmod(0)
    with raises(ReadError, "unreadable_path"):
        read_documents(path)


@pytest.mark.parametrize(
    ("content", "column", "texts"),
    [
        ("a;b\n1;2,5\n3;4,5\n", "b", ["2,5", "4,5"]),
        ("a,b\n1;2,5\n3;4,5\n", "a", ["1;2", "3;4"]),
        ('a\tb\n"1,2"\t3\n', "a", ["1,2"]),
        ("one column\nwith words, and; more\n", "one column", ["with words, and; more"]),
        ("a;b\n" + "1;x,y\n" * 15_000 + '2;"a,b"\n', "b", [*["x,y"] * 15_000, "a,b"]),
    ],
    ids=["semicolon", "comma", "tab", "none", "longer than the sample"],
)
def test_the_separator_is_found(tmp_path, content, column, texts):
    assert read_documents(save(tmp_path, "t.csv", content), text_column=column).texts == texts


# Text without carriage returns, which the rules of CSV do not distinguish from line endings, and
# without NUL, which no text file contains.
TEXTS = st.text(
    st.characters(exclude_characters="\0\r\x1f", exclude_categories=("Cs",)), max_size=30
)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rows=st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=6))
@pytest.mark.parametrize("form", FORMS)
def test_any_text_survives(tmp_path, form, rows):
    frame = pd.DataFrame(rows, columns=["key", "text", "kind"], dtype="object")
    path = save_frame(tmp_path, form, frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        documents = read_documents(path, label_column="kind", id_column="key")
    keys, texts, kinds = map(list, zip(*rows, strict=True))
    assert documents.texts == texts
    assert documents.labels == kinds
    assert documents.ids == [key or str(i) for i, key in enumerate(keys, start=1)]
