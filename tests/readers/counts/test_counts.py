"""Files of counts: round trips of every format, with words, labels and ids beside it."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from momentree.datasets import holds_counts, read_counts, store_counts
from momentree.exceptions import InvalidParameterError, ReadError
from momentree.messages import Message
from tests.raising import raises

from .count_files import (
    BAG,
    BANNER,
    COUNTS,
    FORMS,
    WORDS,
    save_mtx,
    save_npz,
    write,
)


@pytest.mark.parametrize("name", FORMS)
def test_round_trip(tmp_path, name):
    FORMS[name](tmp_path / name, COUNTS)
    corpus = read_counts(tmp_path / name, vocabulary=WORDS)
    assert corpus.X.format == "csr"
    assert corpus.X.has_canonical_format
    np.testing.assert_array_equal(corpus.X.toarray(), COUNTS)
    assert corpus.vocabulary.tolist() == WORDS
    assert corpus.ids == ["1", "2", "3"]
    assert corpus.labels == (["0", "1", "2"] if name.endswith("svm") else None)
    assert corpus.name == name
    assert corpus.texts is None
    assert corpus.vectorizer is None
    assert corpus.notes == []


@pytest.mark.parametrize("name", [n for n in FORMS if not n.endswith("npz")])
def test_compressed_round_trip(tmp_path, name):
    FORMS[name](tmp_path / name, COUNTS)
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress((tmp_path / name).read_bytes()))
    corpus = read_counts(packed, vocabulary=WORDS)
    np.testing.assert_array_equal(corpus.X.toarray(), COUNTS)
    # The first bytes show whether a file is compressed, whatever its name.
    (tmp_path / name).write_bytes(packed.read_bytes())
    corpus = read_counts(tmp_path / name, vocabulary=WORDS)
    np.testing.assert_array_equal(corpus.X.toarray(), COUNTS)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    X=hnp.arrays(np.int64, hnp.array_shapes(min_dims=2, max_dims=2), elements=st.integers(0, 9)),
    name=st.sampled_from(sorted(FORMS)),
)
def test_round_trip_of_any_counts(tmp_path, X, name):
    words = [f"w{j}" for j in range(X.shape[1])]
    # SVMlight loses trailing columns of zeros, and whether the first index is 0 or 1.
    X[0, [0, -1]] = 1
    FORMS[name](tmp_path / name, X)
    np.testing.assert_array_equal(read_counts(tmp_path / name, vocabulary=words).X.toarray(), X)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_npz_of_any_sparse_form(tmp_path, form, kind):
    X = getattr(sp, f"{form}_{kind}")(COUNTS)
    sp.save_npz(tmp_path / "X.npz", X)
    corpus = read_counts(tmp_path / "X.npz", vocabulary=WORDS)
    np.testing.assert_array_equal(corpus.X.toarray(), COUNTS)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "uint16", "int64", "uint64", "float32", "f8", "longdouble"]
)
def test_npz_of_any_type_of_number(tmp_path, dtype):
    """Columns of one word are added without overflow: 127 + 127 exceeds int8."""
    X = np.array([[1, 127], [0, 127]]).astype(dtype)
    data = sp.csr_array(X.astype("f8")).astype(dtype)
    np.savez(
        tmp_path / "X.npz",
        format=b"csr",
        shape=X.shape,
        data=data.data,
        indices=data.indices,
        indptr=data.indptr,
    )
    corpus = read_counts(tmp_path / "X.npz", vocabulary=["a", "a"])
    expected = X.astype("f8").sum(axis=1, keepdims=True)
    np.testing.assert_array_equal(corpus.X.toarray(), expected)
    assert corpus.notes == [Message("[words_merged]", n_columns=1, example="a")]


def test_counts_may_be_fractions(tmp_path):
    save_npz(tmp_path / "X.npz", COUNTS / 4)
    np.testing.assert_array_equal(
        read_counts(tmp_path / "X.npz", vocabulary=WORDS).X.toarray(), COUNTS / 4
    )


@pytest.mark.parametrize("X", [COUNTS, COUNTS / 3])
def test_matrix_market_as_scipy_writes_it(tmp_path, X):
    comment = "a comment\nof two lines"
    scipy.io.mmwrite(tmp_path / "x.mtx", sp.coo_array(X), comment=comment, precision=17)
    corpus = read_counts(tmp_path / "x.mtx", vocabulary=WORDS)
    np.testing.assert_allclose(corpus.X.toarray(), X, rtol=1e-15, atol=0)


def test_matrix_market_may_be_a_pattern(tmp_path):
    pattern = BANNER.replace("integer", "pattern") + "2 4 2\n1 1\n2 4\n"
    corpus = read_counts(write(tmp_path, "p.mtx", pattern))
    np.testing.assert_array_equal(corpus.X.toarray(), [[1, 0, 0, 0], [0, 0, 0, 1]])


def test_same_pair_twice_is_added(tmp_path):
    path = write(tmp_path, "docword.txt", b"1\n4\n2\n1 2 3\n1 2 4\n")
    assert read_counts(path).X.toarray().tolist() == [[0, 7, 0, 0]]


def test_stored_zeros_are_dropped(tmp_path):
    path = write(tmp_path, "docword.txt", b"1\n4\n2\n1 2 0\n1 3 4\n")
    assert read_counts(path).X.nnz == 1


@pytest.mark.parametrize(
    "content",
    [
        BAG.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + BAG,
        BAG.rstrip(b"\n"),
        BAG + b"\n\n",
        BAG.replace(b" ", b"\t"),
        BAG.replace(b"\n", b" \n"),
    ],
    ids=["windows", "bom", "no last line end", "blank lines", "tabs", "spaces at the end"],
)
def test_bag_of_words_of_other_editors(tmp_path, content):
    corpus = read_counts(write(tmp_path, "docword.txt", content))
    np.testing.assert_array_equal(corpus.X.toarray(), COUNTS)


def test_long_files_are_read_in_parts(tmp_path, monkeypatch):
    read = pd.read_csv
    monkeypatch.setattr(pd, "read_csv", lambda *args, **kw: read(*args, **kw | {"chunksize": 3}))
    corpus = read_counts(write(tmp_path, "docword.txt", BAG))
    np.testing.assert_array_equal(corpus.X.toarray(), COUNTS)
    path = write(tmp_path, "docword.txt", BAG.replace(b"3 4 7", b"3 5 7"))
    with raises(ReadError, "counts_line", line=7):
        read_counts(path)


def test_svmlight_names_words_by_index(tmp_path):
    path = write(tmp_path, "x.svm", "1 7:2 1000000:1 # id\n-1.5 8:3\n\n2 qid:4 7:1\n", words=None)
    corpus = read_counts(path)
    assert corpus.vocabulary.tolist() == ["7", "8", "1000000"]
    assert corpus.X.toarray().tolist() == [[2, 0, 1], [0, 3, 0], [1, 0, 0]]
    assert corpus.labels == ["1", "-1.5", "2"]


def test_svmlight_counts_from_zero_or_one(tmp_path):
    one = read_counts(write(tmp_path, "x.svm", "1 1:2 3:1\n"))
    assert one.X.toarray().tolist() == [[2, 0, 1, 0]]
    zero = read_counts(write(tmp_path, "x.svm", "1 0:2 3:1\n"))
    assert zero.X.toarray().tolist() == [[2, 0, 0, 1]]
    with raises(ReadError, "wrong_number_of_words", n_words=4, n_columns=5):
        read_counts(write(tmp_path, "x.svm", "1 0:2 4:1\n"))


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ("docword.kos.txt", "vocab.kos.txt"),
        ("docword.kos.txt.gz", "vocab.kos.txt"),
        ("X_3digit.npz", "codes_3digit.txt"),
        ("X.npz", "vocabulary.txt"),
        ("X.npz", "codes.txt.gz"),
        ("a.b.mtx.gz", "vocab.b.txt"),
    ],
)
def test_the_vocabulary_is_found_beside(tmp_path, matrix, words):
    content = "\n".join(WORDS).encode()
    gz = words.endswith(".gz")
    (tmp_path / words).write_bytes(gzip.compress(content) if gz else content)
    (tmp_path / "vocab.other.txt").write_text("not\nthis\n")
    plain = tmp_path / matrix.removesuffix(".gz")
    form = next(name for name in FORMS if name.split(".")[-1] == plain.name.split(".")[-1])
    FORMS[form](plain, COUNTS)
    if matrix.endswith(".gz"):
        (tmp_path / matrix).write_bytes(gzip.compress(plain.read_bytes()))
    assert read_counts(tmp_path / matrix).vocabulary.tolist() == WORDS


def test_the_vocabulary_of_the_name_goes_first(tmp_path):
    save_npz(tmp_path / "X_a.npz", COUNTS)
    (tmp_path / "vocab.txt").write_text("a\nb\nc\nd\n")
    (tmp_path / "codes_a.txt").write_text("e\nf\ng\nh\n")
    assert read_counts(tmp_path / "X_a.npz").vocabulary.tolist() == ["e", "f", "g", "h"]


def test_lines_end_only_at_line_feeds(tmp_path):
    words = ["a\x0bb", "c\u2028d", "e\x85f", "g h"]
    path = write(tmp_path, "docword.txt", BAG, words)
    assert read_counts(path).vocabulary.tolist() == words
    (tmp_path / "vocab.txt").write_bytes(b"\xef\xbb\xbfa\r\nb\r\nc\r\nd\r\n\r\n")
    assert read_counts(path).vocabulary.tolist() == ["a", "b", "c", "d"]


def test_words_in_another_encoding(tmp_path):
    path = write(tmp_path, "docword.txt", BAG, words=None)
    (tmp_path / "vocab.txt").write_bytes("a\ncittà\nc\nd\n".encode("cp1252"))
    assert read_counts(path, encoding="cp1252").vocabulary[1] == "città"
    (tmp_path / "vocab.txt").write_bytes("a\ncittà\nc\nd\n".encode("utf-16"))
    assert read_counts(path, encoding="utf-16").vocabulary[1] == "città"
    with pytest.raises(InvalidParameterError):
        read_counts(path, encoding="utf-99")


def test_labels_and_ids_are_found_beside(tmp_path):
    path = write(tmp_path, "docword.txt", BAG)
    (tmp_path / "labels.txt").write_text("x\n\ny\n")
    (tmp_path / "titles.txt").write_text("One\nTwo\nThree\n")
    corpus = read_counts(path)
    assert corpus.labels == ["x", "", "y"]
    assert corpus.ids == ["One", "Two", "Three"]
    (tmp_path / "ids.txt").write_text("1a\n2b\n3c\n")
    assert read_counts(path).ids == ["1a", "2b", "3c"]


def test_labels_of_the_wrong_length_are_ignored(tmp_path):
    path = write(tmp_path, "docword.txt", BAG)
    labels = tmp_path / "labels.txt"
    labels.write_text("x\ny\n")
    corpus = read_counts(path)
    assert corpus.labels is None
    found = {"path": str(labels), "n_lines": 2, "n_rows": 3}
    assert corpus.notes == [Message("[companion_ignored]", **found)]


def test_words_named_twice_are_added(tmp_path):
    path = write(tmp_path, "docword.txt", BAG, ["a", "b", "c", "a"])
    corpus = read_counts(path)
    assert corpus.vocabulary.tolist() == ["a", "b", "c"]
    assert corpus.X.toarray().tolist() == [[3, 0, 0], [0, 0, 0], [7, 3, 0]]
    assert corpus.notes == [Message("[words_merged]", n_columns=1, example="a")]


def test_a_folder_with_one_matrix(tmp_path):
    assert not holds_counts(tmp_path)
    with raises(ReadError, "no_matrix_in_folder"):
        read_counts(tmp_path)
    save_npz(tmp_path / "X.npz", COUNTS)
    assert not holds_counts(tmp_path)  # without a vocabulary it is not a corpus
    write(tmp_path, "README.txt", "about the matrix")
    assert holds_counts(tmp_path)
    np.testing.assert_array_equal(read_counts(tmp_path).X.toarray(), COUNTS)
    save_mtx(tmp_path / "Y.mtx", COUNTS)
    assert holds_counts(tmp_path)
    with raises(ReadError, "many_matrices_in_folder", names=["X.npz", "Y.mtx"]):
        read_counts(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("x.npz", None, True),
        ("x.MTX", None, True),
        ("x.mtx.gz", None, True),
        ("x.libsvm", None, True),
        ("docword.nips.txt", None, True),
        ("x.csv", b"1:2", False),
        ("x.txt", None, False),
        ("x.txt", BAG, True),
        ("x.txt.gz", gzip.compress(BAG, mtime=0), True),
        ("x", BANNER.encode(), True),
        ("x.dat", b"+1 1:2 7:1.5e1 # a\n", True),
        ("x.dat", b"+1 qid:3 1:2 7:1\r\n", True),
        ("x.txt", b"at 10:30 we met", False),
        ("x.txt", b"10 12:30 and more", False),
        ("x.txt", b"3\n4\n", False),
        ("x.txt", b"", False),
        ("x.txt", b"\x1f\x8bnot packed", False),
        ("x.jsonl", BAG, False),
    ],
)
def test_holds_counts(tmp_path, name, content, expected):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert holds_counts(tmp_path / name) is expected
    assert holds_counts(str(tmp_path / name)) is expected


def test_a_corpus_on_disk_is_read_whole(shared_data):
    corpus = read_counts(shared_data / "20newsgroups")
    assert corpus.X.shape == (18774, 61188)
    assert corpus.X.nnz == 2435219
    assert len(set(corpus.labels)) == 20


def test_counts_that_were_stored_in_a_folder(tmp_path):
    X = np.array([[2, 0, 1], [0, 5, 0]])
    store_counts(X, tmp_path / "pets", feature_names=["cat", "dog", "sun"], ids=["a", "b"])
    assert holds_counts(tmp_path / "pets")
    corpus = read_counts(tmp_path / "pets")
    np.testing.assert_array_equal(corpus.X.toarray(), X)
    assert list(corpus.vocabulary) == ["cat", "dog", "sun"]
    assert (corpus.ids, corpus.labels, corpus.name) == (["a", "b"], None, "pets")
    other = read_counts(tmp_path / "pets", vocabulary=["x", "y", "z"])
    assert list(other.vocabulary) == ["x", "y", "z"]
    store_counts(X, tmp_path / "unnamed")
    with raises(ReadError, "no_vocabulary"):
        read_counts(tmp_path / "unnamed")
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "counts.json").write_text("[]", encoding="utf-8")
    assert not holds_counts(tmp_path / "texts")
