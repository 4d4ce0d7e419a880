"""``--embeddings``: groups of vectors with names from the documents, and new documents."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from .conftest import N_DOCUMENTS, THEMES, make_documents, write_csv


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A table of documents, and embeddings around one direction for each theme."""
    folder = tmp_path_factory.mktemp("embeddings")
    documents = make_documents(N_DOCUMENTS, seed=0)
    rng = np.random.default_rng(0)
    place = [list(THEMES).index(document["theme"]) for document in documents]
    E = np.eye(4, 12)[place] + 0.1 * rng.standard_normal((N_DOCUMENTS, 12))
    np.save(folder / "v.npy", E.astype(np.float32))
    np.save(folder / "short.npy", E[:-1])
    np.save(folder / "narrow.npy", E[:, :5])
    return write_csv(folder / "t.csv", documents), folder


def test_a_tree_of_embeddings_and_new_documents(run, files, tmp_path):
    table, folder = files
    model, first, page = (tmp_path / name for name in ("m.mt", "first.csv", "page.html"))
    result = run(
        *("topics", table, "--embeddings", folder / "v.npy", "-k", 4, "--id-column", "key"),
        *("--save", model, "--csv", first, "-o", page, "--label-column", "theme"),
    )
    assert result.exit_code == 0, result.output
    assert "NMI 1.000" in result.stdout
    assert "v.npy: 12 dimensions" in page.read_text(encoding="utf-8")
    with first.open() as file:
        rows = list(csv.DictReader(file))
    for row in rows:  # names are words of the theme
        assert all(word in THEMES[row["label"]] for word in row["name"].split(", "))
    second = tmp_path / "second.csv"
    new = ("--embeddings", folder / "v.npy", "--id-column", "key", "--csv", second)
    result = run("assign", model, table, *new)
    assert result.exit_code == 0, result.output
    with second.open() as file:
        assert [row["leaf"] for row in csv.DictReader(file)] == [row["leaf"] for row in rows]


def test_refusals(run, files, model, tmp_path):
    table, folder = files

    def refused(words, *arguments):
        result = run(*arguments)
        assert result.exit_code == 2
        assert words in result.stderr

    vectors = ("--embeddings", folder / "v.npy")
    refused("159 rows for 160 documents", "topics", table, "--embeddings", folder / "short.npy")
    refused("--flat cannot be used with --embeddings", "topics", table, *vectors, "--flat")
    refused("--log-scaling cannot be", "topics", table, *vectors, "--log-scaling", "log1p")
    refused("--passages cannot be used with", "topics", table, *vectors, "--passages", 50)
    own = tmp_path / "own.mt"
    assert run("topics", table, *vectors, "--save", own).exit_code == 0
    refused("give those of the new documents: --embeddings", "assign", own, table)
    narrow = ("--embeddings", folder / "narrow.npy")
    refused("5 dimensions, but the model was fitted to 12", "assign", own, table, *narrow)
    refused("is not a model of embeddings", "assign", model, table, *vectors)
