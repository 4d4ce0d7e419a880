"""Memory of freed arrays, which worker processes of Dask return to the system by default."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Numbers of the parameters in ``malloc.h``."""
LARGEST = 1 << 25
"""glibc raises the size of blocks that it reuses up to 32 MB, unless Dask sets a limit."""


@cache
def reuse_memory() -> None:
    """Let this process use the memory of freed arrays for new ones, if Dask has disabled this.

    Dask starts workers with ``MALLOC_TRIM_THRESHOLD_``, so that they return memory early. glibc
    then also asks the system for the memory of every array over 128 KB, which is cleared page by
    page when it is written. That took half of the processor time of questions. This function sets
    the limits that glibc reaches by itself in other processes. It does nothing if
    ``MALLOC_MMAP_THRESHOLD_`` is set, too, and with other allocators.
    """
    variables = "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"
    if not sys.platform.startswith("linux") or [name in os.environ for name in variables] != [1, 0]:
        return
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        set_option(_MMAP_THRESHOLD, LARGEST)
        set_option(_TRIM_THRESHOLD, 2 * LARGEST)
