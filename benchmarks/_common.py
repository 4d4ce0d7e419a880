"""Load corpora, time tasks in alternation, and format tables for the benchmarks."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import momentree
from momentree.backends import get_num_threads, use_kernels
from momentree.datasets import (
    Corpus,
    TopicSample,
    filter_vocabulary,
    load_docstrings,
    make_single_topic,
    read_counts,
    read_documents,
    read_records,
    vectorize,
)

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SEED = 0


# --- corpora ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Labeled:
    """Counts of a labeled corpus after the default preprocessing of the command.

    Attributes
    ----------
    name : str
        Name in the tables.
    X : csr_array of shape (n, d)
        Counts.
    target : ndarray of int of shape (n,)
        Class of each document, including classes smaller than the smallest allowed leaf.
    min_samples_leaf : int
        Minimum number of documents in a leaf: 5, or 2 if classes are small.
    """

    name: str
    X: Any
    target: NDArray[np.intp]
    min_samples_leaf: int = 5

    @property
    def n_classes(self) -> int:
        """Number of classes, and of requested leaves."""
        return len(np.unique(self.target))

    def subsample(self, share: float, seed: int) -> Labeled:
        """Return a random share of the documents, with the words that occur in them."""
        n = self.X.shape[0]
        rows = np.sort(np.random.default_rng(seed).permutation(n)[: round(share * n)])
        X = self.X[rows]
        X = X[:, np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]))]
        target = np.unique(self.target[rows], return_inverse=True)[1]
        return Labeled(self.name, sp.csr_array(X), target, self.min_samples_leaf)


def _counts(path: str) -> Corpus:
    return filter_vocabulary(read_counts(_file(path)))


def _texts(path: str, language: str = "en") -> Corpus:
    documents = read_documents(_file(path), text_column="text", label_column="label")
    return vectorize(documents, language=language)


def _file(path: str) -> Path:
    if not (DATA / path).exists():
        raise FileNotFoundError(f"{path} is not in ../shared/data next to the repository")
    return DATA / path


CORPORA: dict[str, tuple[Callable[[], Corpus], int]] = {
    "20 Newsgroups": (lambda: _counts("20newsgroups/X.npz"), 5),
    "BBC": (lambda: _texts("bbc_news/docs.jsonl.gz"), 5),
    "R8": (lambda: _texts("reuters_r8/docs.jsonl.gz"), 5),
    "PlanetMath": (lambda: _texts("planetmath/docs.jsonl.gz"), 5),
    "NIPS": (lambda: _counts("nips_1987_1999/X.npz"), 5),
    "State of the Union": (lambda: _texts("sotu_nltk_1945_2005/docs.jsonl.gz"), 2),
    "Divina Commedia": (lambda: _texts("divina_commedia/docs.jsonl.gz", "it"), 5),
    "Docstrings": (lambda: vectorize(load_docstrings()), 5),
    "tr41": (lambda: _counts("tr41/X.npz"), 5),
    "tr45": (lambda: _counts("tr45/X.npz"), 5),
    "re1": (lambda: _counts("re1/X.npz"), 5),
    "M10": (lambda: _texts("m10/docs.jsonl.gz"), 5),
}
"""How to load each corpus, and its `min_samples_leaf`."""


def load(name: str) -> Labeled | None:
    """Load a corpus by its name; if its files are missing, print a note and return None."""
    make, min_samples_leaf = CORPORA[name]
    try:
        corpus = make()
    except FileNotFoundError as error:
        print(f"{name}: skipped, {error}")
        return None
    if corpus.target is None:
        raise ValueError(f"{name} has no labels")
    return Labeled(name, corpus.X, corpus.target, min_samples_leaf)


def load_all(names: Iterable[str] = tuple(CORPORA)) -> list[Labeled]:
    """Load the corpora that are present."""
    return [corpus for corpus in map(load, names) if corpus is not None]


def unrelated_topics(
    n: int = 11_463, d: int = 3_000, length: float = 1_450, seed: int = SEED, k: int = 8
) -> TopicSample:
    """Draw counts of k unrelated topics: power-law words, about `length` words per document."""
    lengths = np.random.default_rng(seed).poisson(length, n)
    return make_single_topic(n, d, k, length=lengths, concentration=0.5, random_state=seed)


def binary_records(
    path: str, n_codes: int | None = None, min_codes: int = 1, **options: Any
) -> tuple[Any, dict[str, NDArray[Any]]] | None:
    """Read records; if the file is missing, print a note and return None.

    Parameters
    ----------
    path : str
        Path of the table within the data folder.
    n_codes : int, default=None
        Number of codes to keep, most frequent first; None keeps all.
    min_codes : int, default=1
        Keep records with at least this many of them.
    **options
        Passed to `read_records`.

    Returns
    -------
    tuple of csr_array of shape (n, d) and dict of ndarray of shape (n,)
        The records, and their outcomes.
    """
    try:
        records = read_records(_file(path), min_records=1, **options)
    except FileNotFoundError as error:
        print(f"{path}: skipped, {error}")
        return None
    X = records.X
    if n_codes is not None:
        often = np.argsort(-np.bincount(X.indices, minlength=X.shape[1]), kind="stable")
        X = X[:, np.sort(often[:n_codes])]
    enough = np.flatnonzero(np.diff(X.indptr) >= min_codes)
    return sp.csr_array(X[enough]), {n: v[enough] for n, v in records.outcomes.items()}


# --- timing -------------------------------------------------------------------------------------


def interleaved(tasks: dict[str, Callable[[], Any]], repeats: int) -> dict[str, NDArray[Any]]:
    """Time tasks in alternation, so that machine noise affects all of them equally.

    Returns
    -------
    dict of ndarray of shape (repeats,)
        Seconds of each task in each round, after one untimed round.
    """
    times = {name: np.empty(repeats) for name in tasks}
    for i in range(-1, repeats):
        for name, task in tasks.items():
            start = time.perf_counter()
            task()
            if i >= 0:
                times[name][i] = time.perf_counter() - start
    return times


def product(X: Any, inner: int = 20) -> Callable[[], None]:
    """Return a task that computes ``X @ v`` in double precision `inner` times, the unit of cost."""
    X = sp.csr_array(X, dtype=np.float64)
    v = np.random.default_rng(SEED).random(X.shape[1])

    def task() -> None:
        for _ in range(inner):
            X @ v

    return task


def compiled() -> AbstractContextManager[None]:
    """Compile kernels for tables of any size, if Numba is installed; for imports on first use."""
    return use_kernels("numba" if find_spec("numba") else "scipy")


def spread(values: Sequence[float] | NDArray[Any], form: str = ".3g") -> str:
    """Format the median of values and, in brackets, their minimum and maximum."""
    low, mid, high = np.min(values), np.median(values), np.max(values)
    return f"{mid:{form}} [{low:{form}}, {high:{form}}]"


def mean_se(values: Sequence[float] | NDArray[Any], form: str = ".3g") -> str:
    """Format the mean of values with its standard error, or a single value alone."""
    if len(values) < 2:
        return f"{np.mean(values):{form}}"
    return f"{np.mean(values):{form}} +- {np.std(values, ddof=1) / np.sqrt(len(values)):.2g}"


# --- output -------------------------------------------------------------------------------------


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table in Markdown, with columns padded so that it reads well as plain text."""
    cells = [[*map(str, header)], *([*map(str, row)] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in cells
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def environment() -> str:
    """Describe the environment: versions, cores, threads, load and seed."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    load_now = f"{os.getloadavg()[0]:.2f}" if hasattr(os, "getloadavg") else "unknown"
    return (
        f"momentree {momentree.__version__}, Python {platform.python_version()}, {packages}; "
        f"{os.cpu_count()} cores, {get_num_threads()} threads, load {load_now}, seed {SEED}"
    )
