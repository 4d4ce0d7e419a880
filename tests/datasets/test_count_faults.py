"""Faulty files of counts: each is refused with its place and what to do."""

from __future__ import annotations

import gzip
import io
import zipfile

import numpy as np
import pytest

from momentree import _limits
from momentree.datasets import read_counts
from momentree.exceptions import EmptyCorpusError, InvalidDataError, MomentreeError, ReadError

from .count_files import BAG, BANNER, COUNTS, FORMS, WORDS, save_npz, write


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"\n", "line 1: expected the number of documents, got ''"),
        (b"3\nfour\n4\n", "line 2: expected the number of words, got 'four'"),
        (b"3\n4\n-4\n", "line 3: expected the number of lines of counts, got '-4'"),
        (b"1 1 2\n1 4 1\n", "line 1: expected the number of documents, got '1 1 2'"),
        (b"9" * 5000, "line 1: expected the number of documents"),
        (b"3\n4\n2\n1 1 2\n", "line 3: 2 lines of counts should follow, but 1 do; .* cut short"),
        (b"3\n4\n1\n1 1 2\n1 2 2\n", "but 2 do; the file is not what its first lines say"),
        (b"1000000000\n4\n1\n1 1 2\n", "a matrix of 1,000,000,000 documents would take 64 GB"),
        (b"3\n4\n2\n", "line 3: 2 lines of counts should follow, but 0 do"),
        (BAG.replace(b"1 4 1", b"1 4"), "line 5: expected 'document word count' .*, got '1 4'"),
        (BAG.replace(b"1 1 2", b"1 1"), "line 4: expected 'document word count' .*, got '1 1'"),
        (BAG.replace(b"1 4 1", b"1 4 1 1"), "line 5: expected .*, got '1 4 1 1'"),
        (BAG.replace(b"1 1 2", b"1 1 2 2"), "line 4: expected .*, got '1 1 2 2'"),
        (BAG.replace(b"1 4 1", b"1 4 x"), "line 5: expected .*, got '1 4 x'"),
        (BAG.replace(b"1 4 1", b"1 4 1.5"), "line 5: expected .*, got '1 4 1.5'"),
        (BAG.replace(b"1 4 1", b"1 4 1e400"), "line 5: expected .*, got '1 4 1e400'"),
        (BAG.replace(b"1 4 1", b"1 4 nan"), "line 5: expected .*, got '1 4 nan'"),
        (BAG.replace(b"1 4 1", b"1 4 \xff"), r"line 5: expected .*, got '1 4 \\\\xff'"),
        (BAG.replace(b"1 4 1", b"1,4,1"), "line 5: expected .*, got '1,4,1'"),
        (BAG.replace(b"1 4 1", b"0 4 1"), "line 5: document 0 is not from 1 to 3"),
        (BAG.replace(b"1 4 1", b"4 4 1"), "line 5: document 4 is not from 1 to 3"),
        (BAG.replace(b"1 4 1", b"\n1 5 1"), "line 6: word 5 is not from 1 to 4"),
        (BAG.replace(b"1 4 1", b"1 4 -1"), "line 5: the count -1 is negative, not finite or too"),
        (BAG.replace(b"1 4 1", b"1 4 " + b"9" * 30), "line 5: the count 9+ is negative"),
        (BAG.replace(b"1 4 1", b"1 4 " + b"9" * 9000), r"line 5: expected .*9\.\.\.'"),
        (gzip.compress(BAG, mtime=0)[:-12], "the compressed file is damaged or cut short"),
        (gzip.compress(BAG, mtime=0)[:20] + b"????", "the compressed file is damaged or cut short"),
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


REAL = BANNER.replace("integer", "real")
ARRAY = BANNER.replace("coordinate", "array")


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        ("", ReadError, "x.mtx: the file is empty"),
        ("1 2 3\n", ReadError, "line 1: expected '%%MatrixMarket matrix' .*, got '1 2 3'"),
        (BANNER, ReadError, "line 2: expected the numbers of rows, columns and lines, got ''"),
        (BANNER + "% a\n2 4\n", ReadError, "line 3: expected the numbers .*, got '2 4'"),
        (BANNER + "2 4 2\n1 1 4\n2 9 5\n", ReadError, "line 4: word 9 is not from 1 to 4"),
        (BANNER + "2 4 2\n0 1 4\n2 9 5\n", ReadError, "line 3: document 0 is not from 1 to 2"),
        (BANNER + "2 4 3\n1 1 4\n2 3 5\n", ReadError, "line 2: 3 lines of counts .* but 2 do"),
        (BANNER + "2 4 1\n1 1 x\n", ReadError, "line 3: expected 'document word count'"),
        (BANNER + "2 4 1\n1 1 7T", ReadError, "line 3: expected .*, got '1 1 7T'"),
        (BANNER + "2 4 1\n1 1 4.5\n", ReadError, "line 3: expected .*, got '1 1 4.5'"),
        (BANNER + "2 4 1\n1 1 -3\n", ReadError, "line 3: the count -3 is negative"),
        (REAL + "2 4 1\n2 1 nan\n", ReadError, "line 3: the count nan is negative, not finite"),
        (REAL + "2 4 1\n2 1 inf\n", ReadError, "line 3: the count inf is negative, not finite"),
        (REAL + "2 4 1\n2 1 NA\n", ReadError, "line 3: expected .*, got '2 1 NA'"),
        (REAL.replace("real", "complex") + "2 4 1\n", InvalidDataError, "values are complex"),
        (REAL.replace("general", "hermitian") + "2 2 0\n", ReadError, "no form of counts"),
        (REAL.replace("general", "symmetric") + "2 4 0\n", ReadError, "cannot be symmetric"),
        (BANNER + "0 4 0\n", EmptyCorpusError, "0 documents and 4 words"),
        (
            BANNER + f"{10**17} 4 1\n1 1 1\n",
            ReadError,
            "a matrix of 100,000,000,000,000,000 doc",
        ),
        (ARRAY + "1000000000 1000000000\n1\n", ReadError, "lines of counts .* but 1 do"),
        (ARRAY + "1 2\n1\n2 2\n", ReadError, "line 4: expected 'count' as numbers, got '2 2'"),
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
        (b"", "X.npz: the file is empty"),
        (b"not a zip file", "holds no sparse matrix"),
        (npz(**CSR)[:200], "holds no sparse matrix"),
        (npz(counts=np.eye(3)), "holds no sparse matrix .* scipy.sparse.save_npz"),
        (packed("data.npy"), "holds no sparse matrix"),
        (npz(**{**CSR, "indices": [0, 4]}), "has an index outside 0 to 3"),
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


def test_ends_of_rows_that_end_early_are_refused(tmp_path):
    """SciPy's own check looks at no index where the last end is zero."""
    ends = np.arange(7) * 40
    ends[-1] = 0
    arrays = {"shape": (6, 15), "indptr": ends, "indices": np.arange(8), "data": np.ones(8)}
    path = write(tmp_path, "X.npz", npz(**{**CSR, **arrays}), [f"w{i}" for i in range(15)])
    with pytest.raises(ReadError, match="index arrays are damaged"):
        read_counts(path)


def with_header(header: str) -> bytes:
    """An .npz whose array of values has another header."""
    whole = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(npz(**CSR))) as old, zipfile.ZipFile(whole, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "data.npy":
                head = header.ljust(117) + "\n"
                content = content[:8] + len(head).to_bytes(2, "little") + head.encode() + b"\1" * 16
            new.writestr(name, content)
    return whole.getvalue()


HEADER = "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }"


@pytest.mark.parametrize(
    "header",
    [
        HEADER.replace("(2,)", "(2"),
        HEADER.replace("(2,)", "((((2,)"),
        HEADER.replace("(2,)", f"({10**30},)"),
        HEADER.replace("(2,)", f"(0, {10**30})"),
        HEADER.replace("(2,)", "(1000000000,)"),
        HEADER.replace("(2,)", "(-1,)"),
        HEADER.replace("<i8", "<q99"),
        HEADER.replace("<i8", "<f3"),
        "",
        "\x00\x01",
    ],
)
def test_damaged_headers_of_arrays_are_refused(tmp_path, header):
    path = write(tmp_path, "X.npz", with_header(header))
    with pytest.raises(ReadError, match="holds no sparse matrix"):
        read_counts(path)
    assert read_counts(write(tmp_path, "X.npz", with_header(HEADER))).X.nnz == 2


def inflating(n_bytes: int, method: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("format.npy", bytes(n_bytes))
    return file.getvalue()


def test_what_unfolds_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(_limits, "FLOOR", 1 << 16)
    zeros = bytes(1 << 20)
    for name, content in {
        "X.npz": inflating(1 << 20, zipfile.ZIP_DEFLATED),
        "docword.x.txt": gzip.compress(
            b"3\n4\n1\n1 1" + zeros.replace(b"\0", b" ") + b"1\n", mtime=0
        ),
        "x.svm.gz": gzip.compress(b"1 1:1\n" * (1 << 18), mtime=0),
    }.items():
        with pytest.raises(ReadError, match=r"of memory or more, and a file of .* may take"):
            read_counts(write(tmp_path, name, content))
    with pytest.raises(ReadError, match="compressed in another way"):
        read_counts(write(tmp_path, "X.npz", inflating(100, zipfile.ZIP_BZIP2)))


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
        (b"a\nb\n\xe8\nd\n", "is not utf-8 .byte 4, line 3, is 0xe8.*Try encoding='cp1252'"),
        (b"", "vocab.txt has 0 words, but"),
        (b"\n\n", "has 0 words, but the counts have 4 columns"),
        (gzip.compress(b"a\nb\nc\nd", mtime=0)[:-9], "the compressed file is damaged or cut short"),
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
    with pytest.raises(ReadError, match=r"cannot read .*words.txt: there is no such file"):
        read_counts(tmp_path / name, vocabulary=tmp_path / "words.txt")


@pytest.mark.parametrize("name", [*FORMS, "x.txt", "x.csv"])
def test_a_missing_file(tmp_path, name):
    with pytest.raises(ReadError, match="there is no such file"):
        read_counts(tmp_path / name)


def test_a_file_of_something_else(tmp_path):
    with pytest.raises(ReadError, match=r"x.txt holds no counts that can be read"):
        read_counts(write(tmp_path, "x.txt", "plain words\n"))


@pytest.mark.parametrize("name", FORMS)
def test_random_damage_is_refused_or_harmless(tmp_path, name):
    """Whatever happens to the bytes of a file, the answer is counts or an error of the library."""
    FORMS[name](tmp_path / name, COUNTS)
    whole = (tmp_path / name).read_bytes()
    rng = np.random.default_rng(0)
    inserts = [b"-1", b"nan", b"1e400", b"9" * 12, b"\0", b"\xff", b"\n", b" ", b":", b"#", b"7T"]
    for _ in range(150):
        cut, end = np.sort(rng.integers(0, len(whole), 2))
        damaged = [
            whole[:cut],
            whole[:cut] + inserts[rng.integers(len(inserts))] + whole[cut:],
            whole[:cut] + whole[cut + rng.integers(1, 8) :],
            whole[:cut] + bytes(rng.integers(0, 256, 2, dtype=np.uint8)) + whole[cut + 2 :],
            whole[:end] + whole[cut:],
        ][rng.integers(5)]
        (tmp_path / name).write_bytes(damaged)
        try:
            corpus = read_counts(tmp_path / name, vocabulary=WORDS)
        except MomentreeError:
            continue
        assert corpus.X.shape[1] == len(corpus.vocabulary)
        assert (corpus.X.data > 0).all()
