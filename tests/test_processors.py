"""Labels, numbers of groups and names do not depend on the processor or the number of threads.

Kernels of BLAS for different processors, which are used in turn here, add in different orders.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from typing import Any

import numpy as np
import pytest

from .conftest import REPOSITORY

# EM stops where a step gains little. Where its likelihood is flat, that far from the optimum
# rounding errors show in the seventh digit.
ATOL = 1e-6


@cache
def found(kernel: str, threads: int) -> dict[str, Any]:
    """Fit all models in a process that uses a kernel of BLAS."""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
    asked = {"OPENBLAS_CORETYPE": kernel, **dict.fromkeys(names, str(threads))}
    command = [sys.executable, "-m", "tests.processors"]
    run = subprocess.run(
        command, env=os.environ | asked, cwd=REPOSITORY, capture_output=True, text=True
    )
    if run.returncode < 0:
        pytest.skip(f"this processor cannot run the kernels for {kernel}")
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.long
@pytest.mark.parametrize(("kernel", "threads"), [("Haswell", 2), ("SkylakeX", 1), ("SkylakeX", 2)])
def test_what_is_found_does_not_depend_on_the_processor(kernel, threads):
    expected, actual = found("Prescott", 1), found(kernel, threads)
    if kernel != "Prescott" and actual["kernel"] == expected["kernel"]:
        pytest.skip(f"BLAS has no kernels for {kernel} on this machine")
    assert actual["found"].keys() == expected["found"].keys()
    differ = []
    for name, one in actual["found"].items():
        other = expected["found"][name]
        differ += [(name, key) for key in one["exact"] if one["exact"][key] != other["exact"][key]]
        same = np.shape(one["weights"]) == np.shape(other["weights"])
        if not same or not np.allclose(one["weights"], other["weights"], rtol=0, atol=ATOL):
            differ.append((name, "weights"))
    assert differ == []
