"""Fixtures for all tests."""

from __future__ import annotations

import gc
import os
import random
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# Test processes run side by side: threads of BLAS in each would only wait for one another. Set
# before NumPy is loaded, and inherited by the processes that tests start.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

# A shell lets processes in the background ignore this signal, which tests send.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests do not depend on the clock, so examples have no time limit of their own. They are the same
# on every run, unless --hypothesis-profile asks for random ones.
settings.register_profile("random", deadline=None)
settings.register_profile("same", deadline=None, derandomize=True, max_examples=15)
settings.load_profile("same")

REPOSITORY = Path(__file__).resolve().parents[1]

# Modules and tests stay until the end: to look for garbage among them takes a fifth of collection.
gc.disable()


def pytest_addoption(parser):
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run tests in a random order")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Look for examples in docstrings of the package, not of tests."""
    found = yield
    return [collector for collector in found if isinstance(collector, pytest.Module)]


def pytest_collection_modifyitems(config, items):
    """Shuffle the files and the tests of each, in the same way in all workers."""
    seed = config.getoption("shuffle")
    if seed is not None:
        random.Random(seed).shuffle(items)
        place = {file: i for i, file in enumerate(dict.fromkeys(item.path for item in items))}
        items.sort(key=lambda item: place[item.path])


def pytest_collection_finish():
    """Collect garbage again, but only of what tests leave."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real corpora beside the repository; the test is skipped where it is absent."""
    folder = REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the corpora are not on this machine (no ../shared/data beside the repository)")
    return folder


@pytest.fixture(scope="session")
def docstrings():
    """The built-in corpus, which takes seconds to collect."""
    from momentree.datasets import load_docstrings

    return load_docstrings()
