"""What every test may ask for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Threads of BLAS wait by spinning, on the cores that other tests need. NumPy reads the variable
# when it is imported, here and in the processes that tests start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real corpora beside the repository; the test is skipped where it is absent."""
    folder = REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the corpora are not on this machine (no ../shared/data beside the repository)")
    return folder
