"""Worker processes of Dask reuse the memory of arrays."""

import os
import platform
import subprocess
import sys

import pytest

FAULTS = """
import resource
import numpy as np
from momentree.backends.allocation import reuse_memory

{call}
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(100):
    np.ones(500_000)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(call, **variables):
    """Return how many pages the system clears for a hundred arrays, one after the other."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MALLOC_")}
    found = subprocess.run(
        [sys.executable, "-c", FAULTS.format(call=call)],
        env=environment | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    return int(found.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a setting of glibc")
def test_arrays_use_the_memory_of_freed_ones_despite_the_setting_of_dask():
    dask = {"MALLOC_TRIM_THRESHOLD_": "65536"}
    pages = 100 * 500_000 * 8 // os.sysconf("SC_PAGE_SIZE")
    assert faults("", **dask) > 0.9 * pages
    assert faults("reuse_memory()", **dask) < 0.1 * pages
    # Who sets both limits keeps them.
    assert faults("reuse_memory()", **dask, MALLOC_MMAP_THRESHOLD_="131072") > 0.9 * pages
