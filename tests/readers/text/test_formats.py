"""Files of text of each format: what is read, and what is refused."""

from __future__ import annotations

import gzip

import pandas as pd
import pytest

from momentree.datasets import read_documents
from momentree.exceptions import InvalidParameterError, ReadError
from momentree.messages import Message
from tests.raising import raises
from tests.readers.text import office_files as made

WORDS = "The sea is blue & the café is near"


def read(folder, name, content, **options):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_documents(path, **options)


CONTENTS = {
    "a.txt": WORDS,
    "a.md.gz": gzip.compress(WORDS.encode()),
    "a.HTML": "<title>t</title><p>The sea is blue &amp; the <b>caf&eacute;</b> is near</p>",
    "a.pdf": made.pdf(WORDS),
    "a.docx": made.docx(WORDS),
    "a.odt": made.odt("The sea is blue &amp; the <text:span>café</text:span> is<text:s/>near"),
    "a.rtf": made.rtf(WORDS),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_one_text(tmp_path, name):
    documents = read(tmp_path, name, CONTENTS[name])
    assert [text.strip() for text in documents.texts] == [WORDS]
    assert documents.ids == [name]
    assert documents.labels is None
    assert list(documents.notes) == []


def test_pages_of_a_pdf(tmp_path):
    documents = read(tmp_path, "a.pdf", made.pdf("first page", "", "third page"))
    assert documents.texts[0].split() == ["first", "page", "third", "page"]


def test_a_word_document_is_read_in_order_without_its_head(tmp_path):
    documents = read(tmp_path, "a.docx", made.docx("one\ttab", "two", "in a table"))
    assert [line for line in documents.texts[0].split("\n") if line] == [
        "one\ttab",
        "two",
        "in a table",
    ]


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1"])
@pytest.mark.parametrize("html", [False, True])
def test_mail(tmp_path, html, charset):
    text = "<p>Wir träfen uns <i>gern</i></p>" if html else "Wir träfen uns gern"
    content = made.mail("Grüße aus Köln", text, html=html, charset=charset)
    documents = read(tmp_path, "a.eml", content)
    head = "Subject: Grüße aus Köln\nFrom: a@example.org"
    assert documents.texts[0].strip() == f"{head}\n\nWir träfen uns gern"


def test_mail_in_an_encoding_that_it_does_not_declare(tmp_path):
    content = "Subject: x\n\nWir träfen uns gern in Köln\n".encode("cp1252")
    assert read(tmp_path, "a.eml", content).texts == [
        "Subject: x\nFrom: \n\nWir träfen uns gern in Köln\n"
    ]


def test_a_mailbox_has_many_messages(tmp_path):
    mails = [b"From a@b Mon Jan 1\n" + made.mail(f"s{i}", f"text {i}") + b"\n" for i in range(3)]
    quoted = b"From a@b Mon Jan 1\nSubject: q\n\n>From here\n"
    documents = read(tmp_path, "a.mbox", b"".join([*mails, quoted]))
    assert [text.split() for text in documents.texts] == [
        *(["Subject:", f"s{i}", "From:", "a@example.org", "text", str(i)] for i in range(3)),
        ["Subject:", "q", "From:", "From", "here"],
    ]
    assert documents.ids == ["1", "2", "3", "4"]


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.pdf", made.pdf("words", password="p"), "encrypted_pdf"),
        ("a.pdf", made.pdf(""), "pdf_without_text"),
        ("a.pdf", made.pdf("words")[:-300].replace(b"obj", b"job"), "damaged_file"),
        ("a.pdf", b"words", "wrong_content"),
        ("a.docx", made.zipped(mimetype="x"), "wrong_content"),
        ("a.docx", made.zipped(word__document_xml="<a><b></a>"), "damaged_file"),
        ("a.odt", made.odt("a")[:-40], "damaged_file"),
        ("a.rtf", b"words", "wrong_content"),
        ("a.mbox", b"words", "wrong_content"),
        ("a.txt", b"", "empty_file"),
    ],
)
def test_refused(tmp_path, name, content, code):
    with raises(ReadError, code, path=str(tmp_path / name)) as caught:
        read(tmp_path, name, content)
    assert "\n" not in str(caught.value)


def test_bombs_are_refused(tmp_path):
    with raises(ReadError, "file_too_large"):
        read(tmp_path, "a.docx", made.zipped(word__document_xml="<a>" + " " * 10**8 + "</a>"))
    entities = "".join(f'<!ENTITY e{i + 1} "{f"&e{i};" * 10}">' for i in range(9))
    xml = f'<!DOCTYPE a [<!ENTITY e0 "words">{entities}]><a>&e9;</a>'
    with raises(ReadError, "damaged_file"):
        read(tmp_path, "a.odt", made.zipped(content_xml=xml))
    deep = made.zipped(word__document_xml="<a>" * 50_000 + "</a>" * 50_000)
    with raises(ReadError, "damaged_file"):
        read(tmp_path, "b.docx", deep)


def test_control_characters_in_html(tmp_path):
    documents = read(tmp_path, "a.html", "<p>one\f\3two&#3;three</p>\f<td>\x1ffour</td>")
    assert documents.texts[0].split()[0].startswith("one")
    assert documents.texts[0].split()[-1].endswith("four")


def test_options_for_tables_are_refused(tmp_path):
    for option in ({"text_column": "x"}, {"sheet": "x"}, {"skip_rows": 1}, {"header": False}):
        ((parameter, value),) = option.items()
        with raises(InvalidParameterError, "not_for_text_files", parameter=parameter, value=value):
            read(tmp_path, "a.txt", "words", **option)


def test_spreadsheets(tmp_path):
    path = tmp_path / "a.xlsx"
    frame = pd.DataFrame({"id": [7, 8], "text": ["some words", "more"], "kind": ["x", "y"]})
    with pd.ExcelWriter(path, engine="openpyxl") as writer:
        frame.to_excel(writer, sheet_name="One", index=False, startrow=2)
        writer.sheets["One"]["A1"] = "A title"
        frame[::-1].to_excel(writer, sheet_name="Two", index=False)
    with raises(ReadError, "title_above_header", above=2):
        read_documents(path)
    documents = read_documents(path, skip_rows=2, label_column="kind")
    assert (documents.ids, documents.texts) == (["7", "8"], ["some words", "more"])
    assert documents.labels == ["x", "y"]
    assert documents.notes == [Message("[first_sheet]", sheet="One", n_sheets=2)]
    assert read_documents(path, sheet="Two").ids == ["8", "7"]
