"""Files of counts: every form there and back, and every fault with its line."""

from __future__ import annotations

import gzip
import io
import zipfile

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.datasets import dump_svmlight_file

from momentree.datasets import Corpus, _count_formats, align_columns, holds_counts, read_counts
from momentree.exceptions import EmptyCorpusError, InvalidDataError, MomentreeError, ReadError

WORDS = ["sun", "moon", "perché", "don't"]
COUNTS = np.array([[2, 0, 0, 1], [0, 0, 0, 0], [0, 3, 0, 7]])
BAG = b"3\n4\n4\n1 1 2\n1 4 1\n3 2 3\n3 4 7\n"
BANNER = "%%MatrixMarket matrix coordinate integer general\n"


def bag_of_words(X) -> bytes:
    rows, columns = np.nonzero(X)
    lines = [*X.shape, len(rows)]
    lines += [f"{i + 1} {j + 1} {X[i, j]}" for i, j in zip(rows, columns, strict=True)]
    return "".join(f"{line}\n" for line in lines).encode()


def save_bag(path, X):
    path.write_bytes(bag_of_words(X))


def save_npz(path, X):
    sp.save_npz(path, sp.csr_array(X))


def save_mtx(path, X):
    scipy.io.mmwrite(path, sp.coo_array(X))


def save_svmlight(path, X):
    dump_svmlight_file(X, np.arange(len(X)), str(path), zero_based=False)


FORMS = {
    "docword.text.txt": save_bag,
    "counts.npz": save_npz,
    "counts.mtx": save_mtx,
    "counts.svm": save_svmlight,
}


def write(folder, name, content, words=WORDS):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    if words is not None:
        (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("name", FORMS)
def test_there_and_back(tmp_path, name):
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
    assert list(corpus.skipped) == []


@pytest.mark.parametrize("name", [n for n in FORMS if not n.endswith("npz")])
def test_packed_there_and_back(tmp_path, name):
    FORMS[name](tmp_path / name, COUNTS)
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress((tmp_path / name).read_bytes()))
    corpus = read_counts(packed, vocabulary=WORDS)
    np.testing.assert_array_equal(corpus.X.toarray(), COUNTS)
    # The first bytes tell whether a file is packed, whatever it is called.
    (tmp_path / name).write_bytes(packed.read_bytes())
    corpus = read_counts(tmp_path / name, vocabulary=WORDS)
    np.testing.assert_array_equal(corpus.X.toarray(), COUNTS)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    X=hnp.arrays(np.int64, hnp.array_shapes(min_dims=2, max_dims=2), elements=st.integers(0, 9)),
    name=st.sampled_from(sorted(FORMS)),
)
def test_any_counts_there_and_back(tmp_path, X, name):
    words = [f"w{j}" for j in range(X.shape[1])]
    # SVMlight tells nothing of columns that are all zero, nor whether the first is number 0.
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
    """Columns of one word are added without overflow: 127 + 127 is no int8."""
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
    assert "another column of the same word" in corpus.skipped[0]


def test_counts_may_be_fractions(tmp_path):
    save_npz(tmp_path / "X.npz", COUNTS / 4)
    np.testing.assert_array_equal(
        read_counts(tmp_path / "X.npz", vocabulary=WORDS).X.toarray(), COUNTS / 4
    )


def test_matrix_market_may_be_dense_or_a_pattern(tmp_path):
    scipy.io.mmwrite(tmp_path / "dense.mtx", COUNTS)
    corpus = read_counts(tmp_path / "dense.mtx", vocabulary=WORDS)
    np.testing.assert_array_equal(corpus.X.toarray(), COUNTS)
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
    monkeypatch.setattr(_count_formats, "LINES_AT_ONCE", 3)
    corpus = read_counts(write(tmp_path, "docword.txt", BAG))
    np.testing.assert_array_equal(corpus.X.toarray(), COUNTS)
    path = write(tmp_path, "docword.txt", BAG.replace(b"3 4 7", b"3 5 7"))
    with pytest.raises(ReadError, match="line 7: word 5 is not from 1 to 4"):
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
    with pytest.raises(ReadError, match="has 4 words, but the counts have 5 columns"):
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


def test_labels_and_ids_are_found_beside(tmp_path):
    path = write(tmp_path, "docword.txt", BAG)
    (tmp_path / "labels.txt").write_text("x\n\ny\n")
    (tmp_path / "titles.txt").write_text("One\nTwo\nThree\n")
    corpus = read_counts(path)
    assert corpus.labels == ["x", "", "y"]
    assert corpus.ids == ["One", "Two", "Three"]
    (tmp_path / "ids.txt").write_text("1a\n2b\n3c\n")
    assert read_counts(path).ids == ["1a", "2b", "3c"]
    corpus = read_counts(path, labels=[1, 2, 3], ids=tmp_path / "titles.txt")
    assert corpus.labels == ["1", "2", "3"]
    assert corpus.ids == ["One", "Two", "Three"]


def test_labels_that_do_not_fit_are_left_out_or_refused(tmp_path):
    path = write(tmp_path, "docword.txt", BAG)
    labels = tmp_path / "labels.txt"
    labels.write_text("x\ny\n")
    corpus = read_counts(path)
    assert corpus.labels is None
    assert corpus.skipped == [
        f"{labels} has 2 lines, but docword.txt has 3 documents: it was not used as labels"
    ]
    with pytest.raises(ReadError, match=r"has 2 lines, but docword.txt has 3 documents; give one"):
        read_counts(path, labels=labels)
    with pytest.raises(InvalidDataError, match="2 ids were given for 3 documents"):
        read_counts(path, ids=["a", "b"])
    with pytest.raises(ReadError, match="there is no file"):
        read_counts(path, labels=tmp_path / "none.txt")


def test_words_named_twice_are_added(tmp_path):
    path = write(tmp_path, "docword.txt", BAG, ["a", "b", "c", "a"])
    corpus = read_counts(path)
    assert corpus.vocabulary.tolist() == ["a", "b", "c"]
    assert corpus.X.toarray().tolist() == [[3, 0, 0], [0, 0, 0], [7, 3, 0]]
    assert corpus.skipped == [
        "1 columns were added to another column of the same word (such as 'a')"
    ]


def test_a_folder_with_one_matrix(tmp_path):
    assert not holds_counts(tmp_path)
    with pytest.raises(ReadError, match="found: none; name the file"):
        read_counts(tmp_path)
    save_npz(tmp_path / "X.npz", COUNTS)
    assert not holds_counts(tmp_path)  # no vocabulary: it is not meant as a corpus
    write(tmp_path, "README.txt", "about the matrix")
    assert holds_counts(tmp_path)
    np.testing.assert_array_equal(read_counts(tmp_path).X.toarray(), COUNTS)
    save_mtx(tmp_path / "Y.mtx", COUNTS)
    assert holds_counts(tmp_path)
    with pytest.raises(ReadError, match=r"found: X.npz, Y.mtx; name the file"):
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
        ("x.txt.gz", gzip.compress(BAG), True),
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


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty; check that it was written or fetched whole"),
        (b"\n", "line 1: expected the number of documents, got ''"),
        (b"3\nfour\n4\n", "line 2: expected the number of words, got 'four'"),
        (b"3\n4\n-4\n", "line 3: expected the number of lines of counts, got '-4'"),
        (b"1 1 2\n1 4 1\n", "line 1: expected the number of documents, got '1 1 2'"),
        (b"9" * 5000, "line 1: expected the number of documents"),
        (b"3\n4\n2\n1 1 2\n", "line 3 says that 2 lines of counts follow, but 1 do; .* cut short"),
        (b"3\n4\n1\n1 1 2\n1 2 2\n", "but 2 do; the file is not what its head says"),
        (b"3\n4\n2\n", "line 3 says that 2 lines of counts follow, but 0 do"),
        (BAG.replace(b"1 4 1", b"1 4"), "line 5: expected 'document word count' .*, got '1 4'"),
        (BAG.replace(b"1 1 2", b"1 1"), "line 4: expected 'document word count' .*, got '1 1'"),
        (BAG.replace(b"1 4 1", b"1 4 1 1"), "line 5: expected .*, got '1 4 1 1'"),
        (BAG.replace(b"1 1 2", b"1 1 2 2"), "line 4: expected .*, got '1 1 2 2'"),
        (BAG.replace(b"1 4 1", b"1 4 x"), "line 5: expected .*, got '1 4 x'"),
        (BAG.replace(b"1 4 1", b"1 4 1.5"), "line 5: expected .*, got '1 4 1.5'"),
        (BAG.replace(b"1 4 1", b"1 4 nan"), "line 5: expected .*, got '1 4 nan'"),
        (BAG.replace(b"1 4 1", b"1 4 \xff"), r"line 5: expected .*, got '1 4 \\\\xff'"),
        (BAG.replace(b"1 4 1", b"1,4,1"), "line 5: expected .*, got '1,4,1'"),
        (BAG.replace(b"1 4 1", b"0 4 1"), "line 5: document 0 is not from 1 to 3"),
        (BAG.replace(b"1 4 1", b"4 4 1"), "line 5: document 4 is not from 1 to 3"),
        (BAG.replace(b"1 4 1", b"\n1 5 1"), "line 6: word 5 is not from 1 to 4"),
        (BAG.replace(b"1 4 1", b"1 4 -1"), "line 5: the count -1 is negative or too large"),
        (BAG.replace(b"1 4 1", b"1 4 " + b"9" * 30), "line 5: the count 9+ is negative or too"),
        (BAG.replace(b"1 4 1", b"1 4 " + b"9" * 9000), r"line 5: expected .*9\.\.\.'"),
        (gzip.compress(BAG)[:-12], "the compressed data end early or are damaged"),
        (gzip.compress(BAG)[:20] + b"????", "the compressed data end early or are damaged"),
    ],
)
def test_faults_of_bags_of_words(tmp_path, content, message):
    path = write(tmp_path, "docword.txt", content)
    with pytest.raises(ReadError, match=message) as caught:
        read_counts(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("head", [b"0\n4\n0\n", b"3\n0\n0\n"])
def test_an_empty_bag_of_words(tmp_path, head):
    with pytest.raises(EmptyCorpusError, match="nothing to learn from"):
        read_counts(write(tmp_path, "docword.txt", head))


def test_a_bag_of_empty_documents(tmp_path):
    corpus = read_counts(write(tmp_path, "docword.txt", b"3\n4\n0\n"))
    assert corpus.X.shape == (3, 4)
    assert corpus.X.nnz == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a 1:2\n", "line 1: expected one number as the label, got 'a'"),
        ("1 1:2\n1,2 1:3\n", "line 2: expected one number as the label, got '1,2'"),
        ("1 1:2 7\n", "line 1: expected 'label index:count ...', got '7'"),
        ("1 1:x\n", "line 1: expected 'label index:count ...', got '1:x'"),
        ("1 3:1 2:1\n", "line 1: index 2 comes after 3; indices must ascend"),
        ("1 3:1 3:1\n", "line 1: index 3 comes after 3"),
        ("1 -1:1\n", "line 1: index -1 is negative or too large"),
        (f"1 {10**12}:1\n", "index 1000000000000 is negative or too large"),
        (f"1 {10**30}:1\n", "index 10+ is negative or too large"),
        ("# a\n1 1:2\n\n1 1:-2\n", "line 4: '1:-2' is not a count"),
        ("1 1:nan\n", "line 1: '1:nan' is not a count"),
        ("1 1:inf\n", "line 1: '1:inf' is not a count"),
    ],
)
def test_faults_of_svmlight(tmp_path, content, message):
    path = write(tmp_path, "x.svm", content, words=None)
    with pytest.raises(ReadError, match=message) as caught:
        read_counts(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("content", ["# nothing\n", "\n\n", "1\n2\n"])
@pytest.mark.parametrize("words", [None, WORDS])
def test_empty_svmlight(tmp_path, content, words):
    with pytest.raises(EmptyCorpusError, match="nothing to learn from"):
        read_counts(write(tmp_path, "x.svm", content, words))


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        ("", ReadError, "x.mtx is empty"),
        ("1 2 3\n", ReadError, "Line 1: Not a Matrix Market file"),
        (BANNER + "2 4 2\n1 1 4\n2 9 5\n", ReadError, "Line 4: Column index out of bounds"),
        (BANNER + "2 4 3\n1 1 4\n2 3 5\n", ReadError, "Truncated file"),
        (BANNER + "2 4 1\n1 1 x\n", ReadError, "Line 3: Invalid integer value"),
        (BANNER + "2 4 1\n1 1 -3\n", InvalidDataError, "row 0, column 0 holds -3"),
        (
            BANNER.replace("integer", "real") + "2 4 1\n2 1 nan\n",
            InvalidDataError,
            "x.mtx: Input X contains NaN or infinity: row 1, column 0",
        ),
        (
            BANNER.replace("integer", "complex") + "2 4 1\n2 1 1 1\n",
            InvalidDataError,
            "values of type complex128",
        ),
        (BANNER + "0 4 0\n", EmptyCorpusError, "0 documents and 4 words"),
        (
            "%%MatrixMarket matrix array real general\n1000000000 1000000000\n1\n",
            ReadError,
            "too large for the memory",
        ),
    ],
)
def test_faults_of_matrix_market(tmp_path, content, error, message):
    with pytest.raises(error, match=message):
        read_counts(write(tmp_path, "x.mtx", content))


def npz(**arrays) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


CSR = {"format": b"csr", "shape": (2, 4), "indices": [0, 3], "indptr": [0, 1, 2], "data": [1, 1]}


def packed(name: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, "x")
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "X.npz is empty"),
        (b"not a zip file", "holds no sparse matrix"),
        (npz(**CSR)[:200], "holds no sparse matrix"),
        (npz(counts=np.eye(3)), "holds no sparse matrix .* scipy.sparse.save_npz"),
        (packed("data.npy"), "holds no sparse matrix"),
        (npz(**{**CSR, "indices": [0, 4]}), "holds no sparse matrix"),
        (npz(**{**CSR, "indices": [0, -1]}), "holds no sparse matrix"),
        (npz(**{**CSR, "indptr": [0, 5, 2]}), "holds no sparse matrix"),
        (npz(**{**CSR, "indptr": [0, 1]}), "holds no sparse matrix"),
        (npz(**{**CSR, "format": b"abc"}), "holds no sparse matrix"),
        (npz(**{**CSR, "data": ["a", "b"]}), "holds no sparse|values of type"),
        (npz(**{**CSR, "data": [1j, 2]}), "values of type complex128"),
        (npz(**{**CSR, "data": [1, -2]}), "Negative values in data: row 1, column 3 holds -2"),
        (npz(**{**CSR, "data": [np.inf, 2]}), "NaN or infinity: row 0, column 0 holds inf"),
    ],
)
def test_faults_of_npz(tmp_path, content, message):
    path = write(tmp_path, "X.npz", content)
    with pytest.raises(MomentreeError, match=message) as caught:
        read_counts(path)
    assert str(path) in str(caught.value)


class Trap:
    """Says so when it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("an object was unpickled",))


@pytest.mark.parametrize("field", ["data", "format", "shape"])
def test_nothing_is_unpickled(tmp_path, field):
    trap = np.empty(2, dtype=object)
    trap[:] = Trap()
    path = write(tmp_path, "X.npz", npz(**{**CSR, field: trap}))
    with pytest.raises(ReadError, match="allow_pickle"):
        read_counts(path)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (b"a\nb\nc\n", "has 3 words, but the counts have 4 columns"),
        (b"a\nb\n\nc\nd\n", "line 3: the line is empty"),
        (b"a\nb\n\xe8\nd\n", "line 3: byte 4 is not UTF-8; save the file as UTF-8"),
        (b"", "vocab.txt is empty"),
        (b"\n\n", "has 0 words, but the counts have 4 columns"),
        (gzip.compress(b"a\nb\nc\nd")[:-9], "compressed data end early"),
    ],
)
def test_faults_of_the_vocabulary(tmp_path, words, message):
    path = write(tmp_path, "docword.txt", BAG, words=None)
    (tmp_path / "vocab.txt").write_bytes(words)
    with pytest.raises(ReadError, match=message) as caught:
        read_counts(path)
    assert str(tmp_path / "vocab.txt") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_transposed_matrix_is_noticed(tmp_path):
    save_npz(tmp_path / "X.npz", COUNTS.T)
    with pytest.raises(ReadError, match="transpose it"):
        read_counts(tmp_path / "X.npz", vocabulary=WORDS)


@pytest.mark.parametrize("name", [n for n in FORMS if not n.endswith("svm")])
def test_a_matrix_without_vocabulary_is_refused(tmp_path, name):
    FORMS[name](tmp_path / name, COUNTS)
    with pytest.raises(ReadError, match=r"no file names their words: put vocab.txt"):
        read_counts(tmp_path / name)
    with pytest.raises(ReadError, match=r"there is no file .*words.txt"):
        read_counts(tmp_path / name, vocabulary=tmp_path / "words.txt")


@pytest.mark.parametrize("name", [*FORMS, "x.txt", "x.csv"])
def test_a_missing_file(tmp_path, name):
    with pytest.raises(ReadError, match="there is no file"):
        read_counts(tmp_path / name)


def test_a_file_of_something_else(tmp_path):
    with pytest.raises(ReadError, match=r"x.txt holds no counts that can be read"):
        read_counts(write(tmp_path, "x.txt", "plain words\n"))


def test_a_corpus_on_disk_is_read_whole(shared_data):
    corpus = read_counts(shared_data / "20newsgroups")
    assert corpus.X.shape == (18774, 61188)
    assert corpus.X.nnz == 2435219
    assert len(set(corpus.labels)) == 20


def corpus_of(X, words) -> Corpus:
    return Corpus(X=sp.csr_array(X), vocabulary=np.array(words), ids=["x"] * X.shape[0])


@settings(max_examples=60, deadline=None)
@given(
    X=hnp.arrays(np.int64, (3, 5), elements=st.integers(0, 3)),
    wanted=st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1),
)
def test_aligned_columns_are_those_of_the_words(X, wanted):
    words = list("abcde")
    corpus = corpus_of(X, words)
    if not set(wanted) & set(words):
        with pytest.raises(InvalidDataError, match="none of the 5 words"):
            align_columns(corpus, wanted)
        return
    aligned = align_columns(corpus, wanted)
    expected = [X[:, words.index(w)] if w in words else np.zeros(3) for w in wanted]
    np.testing.assert_array_equal(aligned.X.toarray(), np.transpose(expected))
    assert aligned.X.has_canonical_format
    assert aligned.vocabulary.tolist() == wanted
    assert aligned.ids == corpus.ids
    np.testing.assert_array_equal(corpus.X.toarray(), X)  # the one given stays as it is


def test_a_vocabulary_to_align_to_names_words_once():
    with pytest.raises(InvalidDataError, match="names 'a' twice"):
        align_columns(corpus_of(COUNTS, WORDS), ["a", "a"])
