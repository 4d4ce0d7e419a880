"""Faulty files of counts: each is refused with the place of the fault."""

from __future__ import annotations

import gzip
import io
import zipfile

import numpy as np
import pytest

from momentree.datasets import read_counts
from momentree.exceptions import EmptyCorpusError, InvalidDataError, MomentreeError, ReadError
from tests.raising import raises

from .count_files import BAG, BANNER, COUNTS, FORMS, WORDS, save_npz, write


def check_fault(path, line, problem, **values):
    """Check that a file is refused, with the faulty line and the problem there."""
    with raises(ReadError, "counts_line", path=str(path), line=line) as caught:
        read_counts(path)
    assert "\n" not in str(caught.value)
    found = caught.value.message.values["problem"]
    assert found.code == problem
    assert {name: found.values[name] for name in values} == values


@pytest.mark.parametrize(
    ("content", "line", "found"),
    [
        (b"\n", 1, ""),
        (b"3\nfour\n4\n", 2, "four"),
        (b"3\n4\n-4\n", 3, "-4"),
        (b"1 1 2\n1 4 1\n", 1, "1 1 2"),
        (b"9" * 5000, 1, "9" * 57 + "..."),
    ],
)
def test_headers_of_bags_of_words(tmp_path, content, line, found):
    check_fault(write(tmp_path, "docword.txt", content), line, "bag_of_words_header", found=found)


@pytest.mark.parametrize(
    ("content", "found"), [(b"1 1 2\n", 1), (b"1 1 2\n1 2 2\n1 3 1\n", 3), (b"", 0)]
)
def test_lines_that_are_missing_or_too_many(tmp_path, content, found):
    path = write(tmp_path, "docword.txt", b"3\n4\n2\n" + content)
    check_fault(path, 3, "counts_missing", needed=2, n_entries=found)


@pytest.mark.parametrize(
    "wrong",
    [
        *("1 4", "1 4 1 1", "1 4 x", "1 4 1.5", "1 4 1e400", "1 4 nan", "1,4,1"),
        b"1 4 \xff",
        "1 4 " + "9" * 9000,
    ],
)
def test_malformed_lines_of_bags_of_words(tmp_path, wrong):
    line = wrong if isinstance(wrong, bytes) else wrong.encode()
    path = write(tmp_path, "docword.txt", BAG.replace(b"1 4 1", line))
    shown = wrong if len(wrong) < 60 else f"{wrong[:57]}..."
    shown = r"1 4 \xff" if isinstance(wrong, bytes) else shown
    check_fault(path, 5, "counts_expected", found=shown)


def test_a_malformed_first_line(tmp_path):
    for wrong in (b"1 1", b"1 1 2 2"):
        path = write(tmp_path, "docword.txt", BAG.replace(b"1 1 2", wrong))
        check_fault(path, 4, "counts_expected", found=wrong.decode())


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        (b"0 4 1", 5),
        (b"4 4 1", 5),
        (b"\n1 5 1", 6),
        (b"1 4 -1", 5),
        (b"1 4 " + b"9" * 30, 5),
    ],
)
def test_numbers_out_of_range_in_bags_of_words(tmp_path, wrong, line):
    path = write(tmp_path, "docword.txt", BAG.replace(b"1 4 1", wrong))
    shown = wrong.strip().decode()
    check_fault(path, line, "counts_expected", n_rows=3, n_columns=4, found=shown)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        gzip.compress(BAG, mtime=0)[:-12],
        gzip.compress(BAG, mtime=0)[:20] + b"????",
    ],
)
def test_empty_and_damaged_files(tmp_path, content):
    path = write(tmp_path, "docword.txt", content)
    with pytest.raises(ReadError) as caught:
        read_counts(path)
    assert caught.value.message.values["path"] == str(path)


def test_a_header_that_announces_too_many_documents(tmp_path):
    for name, content in {
        "docword.txt": b"1000000000\n4\n1\n1 1 2\n",
        "x.mtx": BANNER + f"{10**17} 4 1\n1 1 1\n",
    }.items():
        with raises(ReadError, "too_many_documents"):
            read_counts(write(tmp_path, name, content))


@pytest.mark.parametrize("head", [b"0\n4\n0\n", b"3\n0\n0\n"])
def test_an_empty_bag_of_words(tmp_path, head):
    with raises(EmptyCorpusError, "empty_matrix"):
        read_counts(write(tmp_path, "docword.txt", head))


def test_a_bag_of_empty_documents(tmp_path):
    corpus = read_counts(write(tmp_path, "docword.txt", b"3\n4\n0\n"))
    assert corpus.X.shape == (3, 4)
    assert corpus.X.nnz == 0


@pytest.mark.parametrize(
    ("content", "line", "found"),
    [
        ("a 1:2\n", 1, "a"),
        ("1 1:2\n1,2 1:3\n", 2, "1,2"),
        ("1 1:2 7\n", 1, "7"),
        ("1 1:x\n", 1, "1:x"),
        ("1 3:1 2:1\n", 1, "2:1"),
        ("1 3:1 3:1\n", 1, "3:1"),
        ("1 -1:1\n", 1, "-1:1"),
        (f"1 {10**12}:1\n", 1, f"{10**12}:1"),
        (f"1 {10**30}:1\n", 1, f"{10**30}:1"),
        ("# a\n1 1:2\n\n1 1:-2\n", 4, "1:-2"),
        ("1 1:nan\n", 1, "1:nan"),
        ("1 1:inf\n", 1, "1:inf"),
    ],
)
def test_faults_of_svmlight(tmp_path, content, line, found):
    path = write(tmp_path, "x.svm", content, words=None)
    check_fault(path, line, "svmlight_line", found=found)


@pytest.mark.parametrize("content", ["# nothing\n", "\n\n", "1\n2\n"])
@pytest.mark.parametrize("words", [None, WORDS])
def test_empty_svmlight(tmp_path, content, words):
    with raises(EmptyCorpusError, "empty_matrix"):
        read_counts(write(tmp_path, "x.svm", content, words))


REAL = BANNER.replace("integer", "real")


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        ("1 2 3\n", 1, "matrix_market_banner"),
        (REAL.replace("general", "hermitian") + "2 2 0\n", 1, "matrix_market_banner"),
        (REAL.replace("general", "symmetric") + "2 2 0\n", 1, "matrix_market_banner"),
        (REAL.replace("real", "complex") + "2 4 1\n", 1, "matrix_market_banner"),
        (BANNER.replace("coordinate", "array") + "2 2\n", 1, "matrix_market_banner"),
        (BANNER, 1, "matrix_market_sizes"),
        (BANNER + "% a\n2 4\n", 3, "matrix_market_sizes"),
        (BANNER + "2 4 2\n1 1 4\n2 9 5\n", 4, "counts_expected"),
        (BANNER + "2 4 2\n0 1 4\n2 9 5\n", 3, "counts_expected"),
        (BANNER + "2 4 3\n1 1 4\n2 3 5\n", 2, "counts_missing"),
        (BANNER + "2 4 1\n1 1 x\n", 3, "counts_expected"),
        (BANNER + "2 4 1\n1 1 7T", 3, "counts_expected"),
        (BANNER + "2 4 1\n1 1 4.5\n", 3, "counts_expected"),
        (BANNER + "2 4 1\n1 1 -3\n", 3, "counts_expected"),
        (REAL + "2 4 1\n2 1 nan\n", 3, "counts_expected"),
        (REAL + "2 4 1\n2 1 inf\n", 3, "counts_expected"),
        (REAL + "2 4 1\n2 1 NA\n", 3, "counts_expected"),
        (REAL + "2 4 1\n2 1 2.5e", 3, "counts_expected"),  # crashes SciPy
    ],
)
def test_faults_of_matrix_market(tmp_path, content, line, problem):
    check_fault(write(tmp_path, "x.mtx", content), line, problem)


def test_matrix_market_without_counts(tmp_path):
    with raises(EmptyCorpusError, "empty_matrix", n_rows=0, n_columns=4):
        read_counts(write(tmp_path, "x.mtx", BANNER + "0 4 0\n"))


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


DAMAGED = {
    "no archive": b"not a zip file",
    "cut short": npz(**CSR)[:200],
    "no sparse matrix": npz(counts=np.eye(3)),
    "no array": packed("data.npy"),
    "index beyond the columns": npz(**{**CSR, "indices": [0, 4]}),
    "negative index": npz(**{**CSR, "indices": [0, -1]}),
    "row ends that go back": npz(**{**CSR, "indptr": [0, 5, 2]}),
    "too few row ends": npz(**{**CSR, "indptr": [0, 1]}),
    "unknown format": npz(**{**CSR, "format": b"abc"}),
    "three dimensions": npz(**{**CSR, "shape": (2, 4, 1)}),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_faults_of_npz(tmp_path, name):
    path = write(tmp_path, "X.npz", DAMAGED[name])
    with raises(ReadError, "npz_damaged", path=str(path)):
        read_counts(path)


def test_npz_of_other_values_than_counts(tmp_path):
    for data, kind in (([1j, 2], "complex128"), (["a", "b"], "<U1")):
        path = write(tmp_path, "X.npz", npz(**{**CSR, "data": data}))
        with raises(InvalidDataError, "counts_not_numeric", path=str(path), type=kind):
            read_counts(path)
    for data, problem in (([1, -2], "negative_count"), ([np.inf, 2], "missing_count")):
        path = write(tmp_path, "X.npz", npz(**{**CSR, "data": data}))
        with raises(InvalidDataError, "bad_counts", path=str(path)) as caught:
            read_counts(path)
        assert caught.value.message.values["problem"].code == problem


def test_ends_of_rows_that_end_early_are_refused(tmp_path):
    """SciPy's own check ignores the indices if the last row pointer is zero."""
    ends = np.arange(7) * 40
    ends[-1] = 0
    arrays = {"shape": (6, 15), "indptr": ends, "indices": np.arange(8), "data": np.ones(8)}
    path = write(tmp_path, "X.npz", npz(**{**CSR, **arrays}), [f"w{i}" for i in range(15)])
    with raises(ReadError, "npz_damaged"):
        read_counts(path)


def with_header(header: str) -> bytes:
    """Return an .npz file whose array of values has another header."""
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
    with raises(ReadError, "npz_damaged"):
        read_counts(path)
    assert read_counts(write(tmp_path, "X.npz", with_header(HEADER))).X.nnz == 2


def inflating(n_bytes: int, method: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("format.npy", bytes(n_bytes))
    return file.getvalue()


def test_small_files_of_much_content_are_refused(tmp_path):
    zeros = bytes(5 << 23)
    for name, content in {
        "X.npz": inflating(5 << 23, zipfile.ZIP_DEFLATED),
        "docword.x.txt": gzip.compress(
            b"3\n4\n1\n1 1" + zeros.replace(b"\0", b" ") + b"1\n", mtime=0
        ),
        "x.svm.gz": gzip.compress((b"1 1:1 #" + bytes(1 << 16) + b"\n") * 640, mtime=0),
    }.items():
        with raises(ReadError, "file_too_large"):
            read_counts(write(tmp_path, name, content))
    with raises(ReadError, "npz_damaged"):
        read_counts(write(tmp_path, "X.npz", inflating(100, zipfile.ZIP_BZIP2)))


class Trap:
    """Fails the test when it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("an object was unpickled",))


@pytest.mark.parametrize("field", ["data", "format", "shape"])
def test_nothing_is_unpickled(tmp_path, field):
    trap = np.empty(2, dtype=object)
    trap[:] = Trap()
    path = write(tmp_path, "X.npz", npz(**{**CSR, field: trap}))
    with raises(ReadError, "npz_damaged") as caught:
        read_counts(path)
    assert caught.value.message.values["problem"].code == "array_of_objects"


@pytest.mark.parametrize("words", [b"a\nb\nc\n", b"", b"\n\n"])
def test_vocabularies_of_the_wrong_length(tmp_path, words):
    path = write(tmp_path, "docword.txt", BAG.replace(b"3\n", b"5\n", 1), words=None)
    (tmp_path / "vocab.txt").write_bytes(words)
    found = {"source": str(tmp_path / "vocab.txt"), "n_words": len(words.split())}
    with raises(ReadError, "wrong_number_of_words", n_columns=4, **found):
        read_counts(path)


@pytest.mark.parametrize(
    "words", [b"a\nb\0\n\xe8\nd\n", gzip.compress(b"a\nb\nc\nd", mtime=0)[:-9], b"a\nb\n\nc\nd\n"]
)
def test_faults_of_the_vocabulary(tmp_path, words):
    path = write(tmp_path, "docword.txt", BAG, words=None)
    (tmp_path / "vocab.txt").write_bytes(words)
    with pytest.raises(ReadError) as caught:
        read_counts(path)
    assert caught.value.message.values["path"] == str(tmp_path / "vocab.txt")
    assert "\n" not in str(caught.value)


def test_a_transposed_matrix_is_noticed(tmp_path):
    save_npz(tmp_path / "X.npz", COUNTS.T)
    with raises(ReadError, "vocabulary_fits_rows"):
        read_counts(tmp_path / "X.npz", vocabulary=WORDS)


@pytest.mark.parametrize("name", [n for n in FORMS if not n.endswith("svm")])
def test_a_matrix_without_vocabulary_is_refused(tmp_path, name):
    FORMS[name](tmp_path / name, COUNTS)
    with raises(ReadError, "no_vocabulary", n_columns=4):
        read_counts(tmp_path / name)
    with pytest.raises(ReadError):
        read_counts(tmp_path / name, vocabulary=tmp_path / "words.txt")


def test_a_missing_file(tmp_path):
    for name in (*FORMS, "x.txt", "x.csv"):
        with pytest.raises(ReadError):
            read_counts(tmp_path / name)


def test_a_file_of_another_kind(tmp_path):
    with raises(ReadError, "no_counts"):
        read_counts(write(tmp_path, "x.txt", "plain words\n"))


@pytest.mark.parametrize("name", FORMS)
def test_random_damage_is_refused_or_harmless(tmp_path, name):
    """Whatever happens to the bytes of a file, reading gives counts or an error of the package."""
    FORMS[name](tmp_path / name, COUNTS)
    whole = (tmp_path / name).read_bytes()
    rng = np.random.default_rng(0)
    inserts = [b"-1", b"nan", b"1e400", b"9" * 12, b"\0", b"\xff", b"\n", b" ", b":", b"#", b"7T"]
    for _ in range(80):
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
