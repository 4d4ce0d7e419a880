"""The built-in corpus."""

from __future__ import annotations

import hashlib
import importlib
import subprocess
import sys
from collections import Counter

import pytest

from momentree.datasets import load_docstrings


def test_size_and_labels(docstrings):
    assert 2000 < len(docstrings) < 4000
    counts = Counter(docstrings.labels)
    for label in ("numpy", "numpy.linalg", "scipy.stats", "scipy.special", "sklearn.metrics"):
        assert counts[label] > 20
    assert {label.split(".")[0] for label in counts} == {"numpy", "scipy", "sklearn"}


def test_each_object_and_text_once(docstrings):
    assert len(set(docstrings.ids)) == len(docstrings)
    assert len(set(docstrings.texts)) == len(docstrings)


def test_ids_name_the_objects(docstrings):
    import scipy.linalg
    import scipy.stats

    for name, thing in (
        ("scipy.linalg.svd", scipy.linalg.svd),
        ("scipy.stats.norm", scipy.stats.norm),
    ):
        first = thing.__doc__.strip().splitlines()[0]
        assert docstrings.texts[docstrings.ids.index(name)].startswith(first)
    assert all(
        i.startswith(label) for i, label in zip(docstrings.ids, docstrings.labels, strict=True)
    )


def test_universal_functions_are_included(docstrings):
    """Compiled objects have docstrings as well."""
    assert {"numpy.sin", "scipy.special.gamma"} <= set(docstrings.ids)


def test_no_text_is_too_short(docstrings):
    assert min(len(text.split()) for text in docstrings.texts) >= 20


@pytest.mark.long
def test_same_in_every_process_and_without_a_warning(docstrings):
    """A fresh process with another hash seed, all warnings as errors, gives the same texts."""
    code = (
        "import hashlib\n"
        "from sklearn.experimental import enable_halving_search_cv\n"
        "from momentree.datasets import load_docstrings\n"
        "d = load_docstrings()\n"
        "print(hashlib.sha256(repr((d.texts, d.ids, d.labels)).encode()).hexdigest())\n"
    )
    here = hashlib.sha256(repr((docstrings.texts, docstrings.ids, docstrings.labels)).encode())
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.strip() == here.hexdigest()


def test_modules_that_are_not_installed_are_ignored(monkeypatch):
    installed = {"numpy.linalg", "numpy.fft"}
    load = importlib.import_module

    def import_module(name):
        if name not in installed:
            raise ImportError
        return load(name)

    monkeypatch.setattr(importlib, "import_module", import_module)
    assert set(load_docstrings().labels) == installed
