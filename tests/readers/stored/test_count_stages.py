"""Files of counts on disk equal those in memory, whatever the blocks."""

from __future__ import annotations

import numpy as np
import pytest

from momentree import SingleTopicModel
from momentree.datasets import read_corpus, store_counts
from momentree.exceptions import EmptyCorpusError, InvalidParameterError, ReadError
from momentree.readers.counts import files, formats, lines
from tests.raising import raises
from tests.readers.counts.count_files import BAG, save_bag, save_mtx, save_svmlight, write

WORDS = ["the", "and", *(f"word{i}" for i in range(27)), "word3"]


@pytest.fixture(scope="module")
def counts():
    X = np.random.default_rng(0).poisson(0.3, (120, 30))
    X[5] = X[50:60] = X[-3:] = 0  # without words, also at the end
    X[20:30] = X[20]  # copies
    return X


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(lines, "LINES_AT_ONCE", 40)
    monkeypatch.setattr(files, "LINES_AT_ONCE", 40)
    monkeypatch.setattr(formats, "BYTES_AT_ONCE", 500)


def save_folder(path, X):
    batches = (X[start : start + 50] for start in range(0, len(X), 50))
    ids = [f"r{i}" for i in range(len(X))]
    store_counts(batches, path, feature_names=WORDS, ids=ids)


def save_comments(path, X):
    save_svmlight(path, X)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([b"# a comment\n" * 200, *lines, b"\n" * 600, b"# 0:1\n"]))


@pytest.mark.parametrize(
    ("name", "save", "beside"),
    [
        ("docword.a.txt", save_bag, {"vocab.a.txt": WORDS}),
        ("docword.txt", save_bag, {"vocab.txt": WORDS, "ids.txt": [*map(str, range(120)), "", ""]}),
        ("docword.txt", save_bag, {"vocab.txt": WORDS, "labels.txt": ["too", "few"]}),
        ("a.mtx", save_mtx, {"vocab.txt": WORDS}),
        ("a.svm", save_svmlight, {}),
        ("a.svm", save_svmlight, {"vocab.txt": WORDS, "labels.txt": [*map(str, range(120))]}),
        ("a.svm", save_comments, {"vocab.txt": [*WORDS, "unused"]}),
        ("folder", save_folder, {}),
    ],
)
def test_a_file_of_counts_is_that_in_memory(tmp_path, counts, name, save, beside):
    save(tmp_path / name, counts)
    for companion, rows in beside.items():
        (tmp_path / companion).write_text("\n".join(rows), encoding="utf-8")
    whole = read_corpus(tmp_path / name, min_df=3)
    stored = read_corpus(tmp_path / name, folder=tmp_path / "work", min_df=3)
    assert stored.vocabulary.tolist() == whole.vocabulary.tolist()
    assert (stored.X != whole.X).nnz == 0
    assert list(stored.ids) == whole.ids
    assert (stored.labels and list(stored.labels)) == whole.labels
    assert (stored.name, stored.texts) == (whole.name, whole.texts)
    assert sorted(map(str, stored.notes)) == sorted(map(str, whole.notes))
    np.testing.assert_array_equal(stored.weights, whole.weights)
    again = read_corpus(tmp_path / name, folder=tmp_path / "work", min_df=3, resume=True)
    assert list(again.ids) == whole.ids


def test_models_accept_it(tmp_path, counts):
    save_bag(tmp_path / "docword.txt", counts)
    corpus = read_corpus(tmp_path / "docword.txt", folder=tmp_path / "work", vocabulary=WORDS)
    one = SingleTopicModel(2, start="tree").fit(corpus)
    whole = read_corpus(tmp_path / "docword.txt", vocabulary=WORDS)
    other = SingleTopicModel(2, start="tree").fit(whole)
    np.testing.assert_allclose(one.components_, other.components_, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "content", "kind", "code"),
    [
        ("docword.txt", BAG[:-6], ReadError, "counts_line"),
        ("docword.txt", b"3\n4\n2\n3 1 1\n1 1 1\n", ReadError, "documents_not_in_order"),
        ("docword.txt", b"9999999\n4\n1\n3 1 1\n", ReadError, "too_many_documents"),
        ("docword.txt", BAG.replace(b"\n4\n", b"\n5\n", 1), ReadError, "wrong_number_of_words"),
        ("docword.txt", b"3\n4\n0\n", EmptyCorpusError, "empty_matrix"),
        ("a.svm", b"1 1:2 3:1\n1 2:nan\n", ReadError, "counts_line"),
        ("a.svm", b"1 1:2 3:1\n1 5:1\n", ReadError, "wrong_number_of_words"),
        ("a.npz", b"PK", InvalidParameterError, "counts_not_streamed"),
    ],
)
def test_a_faulty_file_is_refused_and_leaves_nothing(tmp_path, name, content, kind, code):
    with raises(kind, code):
        read_corpus(write(tmp_path, name, content), folder=tmp_path / "work")
    assert not list((tmp_path / "work").glob("[0-9]-*"))
    assert not list((tmp_path / "work").glob(".*"))


def test_options_for_texts_are_refused(tmp_path):
    path = write(tmp_path, "docword.txt", BAG)
    for given in ({"text_column": "a"}, {"ngram_range": (1, 2)}, {"skip_rows": 1}):
        with raises(InvalidParameterError, "only_for_texts"):
            read_corpus(path, folder=tmp_path / "work", **given)
