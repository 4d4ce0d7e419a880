"""Writers of files of counts for the tests of their readers."""

from __future__ import annotations

import numpy as np
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

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
    scipy.io.mmwrite(path, sp.coo_array(X), symmetry="general")


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
