"""A folder of files in many formats becomes a report with one command."""

from __future__ import annotations

import csv
import html

import pytest

from momentree.datasets import read_documents
from tests.cli.conftest import invoke
from tests.readers.text import office_files as made

N = 70
WRITERS = {
    "utf8.txt": lambda text: text.encode(),
    "cp1252.txt": lambda text: text.encode("cp1252", "replace"),
    "utf16.txt": lambda text: text.encode("utf-16"),
    "html": lambda text: f"<h1>News</h1><p>{html.escape(text)}</p>".encode(),
    "docx": lambda text: made.docx(*text.split("  ")),
    "eml": lambda text: made.mail(text[:30].replace("\n", " "), text),
    "pdf": lambda text: made.pdf(text.encode("latin-1", "replace").decode("latin-1")),
}


@pytest.fixture(scope="module")
def news(shared_data, tmp_path_factory):
    """A folder of news in many formats, one in a damaged file, and the texts by their names."""
    folder = tmp_path_factory.mktemp("news")
    documents = read_documents(shared_data / "bbc_news" / "docs.jsonl.gz", label_column="label")
    step = len(documents) // N
    texts = {}
    for i in range(N):
        end, write = list(WRITERS.items())[i % len(WRITERS)]
        text, label = documents.texts[i * step], documents.labels[i * step]
        name = f"{label}/{i:03d}.{end}"
        (folder / label).mkdir(exist_ok=True)
        content = write(text)
        if i == N - 1:
            name, content = "broken.pdf", made.pdf(text)[:700]
        (folder / name).write_bytes(content)
        texts[name] = text
    return folder, texts


def test_a_mixed_folder_becomes_a_report(news, tmp_path):
    folder, texts = news
    report, table = tmp_path / "r.html", tmp_path / "t.csv"
    result = invoke("topics", folder, "-k", 5, "--output", report, "--csv", table)
    assert result.exit_code == 3, result.stderr
    assert f"left out 1 of {N} files" in result.stderr
    assert "cannot read broken.pdf" in result.stderr
    assert "Traceback" not in result.stderr
    with table.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert sorted(row["id"] for row in rows) == sorted(set(texts) - {"broken.pdf"})
    assert {row["label"] for row in rows} == {
        name.partition("/")[0] for name in texts if "/" in name
    }
    assert report.stat().st_size > 10_000
    # The five classes are those of the newspaper: far from chance, 0.
    (agreement,) = [line for line in result.stdout.splitlines() if "NMI" in line]
    assert float(agreement.split("NMI ")[1].split(",")[0]) > 0.4


def test_the_words_of_each_file_are_read(news):
    folder, texts = news
    documents = read_documents(folder)
    assert len(documents) == N - 1
    for name, text in zip(documents.ids, documents.texts, strict=True):
        wanted = set(texts[name].encode("ascii", "ignore").decode().split())
        assert len(wanted - set(text.split())) <= 0.05 * len(wanted), name
