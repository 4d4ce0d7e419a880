"""Worker processes of Dask reuse the memory of arrays."""

import os
import platform
import subprocess
import sys

import pytest

pytest.importorskip("dask")

FAULTS = """
import resource
import numpy as np
from momentree.backends.dask_tasks import reuse_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        np.ones(500_000)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

print(faults(), reuse_memory() or faults())
"""


@pytest.mark.long
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a setting of glibc")
def test_arrays_use_the_memory_of_freed_ones_despite_the_setting_of_dask():
    environment = {name: v for name, v in os.environ.items() if not name.startswith("MALLOC_")}
    found = subprocess.run(
        [sys.executable, "-c", FAULTS],
        env=environment | {"MALLOC_TRIM_THRESHOLD_": "65536"},
        capture_output=True,
        text=True,
        check=True,
    )
    before, after = map(int, found.stdout.split())
    pages = 50 * 500_000 * 8 // os.sysconf("SC_PAGE_SIZE")
    assert before > 0.9 * pages
    assert after < 0.1 * pages
