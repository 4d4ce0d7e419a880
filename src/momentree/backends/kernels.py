"""The choice between compiled kernels, which are optional, and SciPy's functions."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from types import ModuleType
from typing import Literal, get_args

import momentree.backends.reference as scipy_products
from momentree.exceptions import InvalidParameterError

Kernels = Literal["auto", "numba", "scipy"]

COMPILED_NNZ = 1 << 20
"""Stored values from which compiled kernels are used: for fewer, a fit takes less time than the
import of Numba."""

_choice: ContextVar[Kernels | None] = ContextVar("momentree_kernels", default=None)


@contextmanager
def use_kernels(kernels: Kernels) -> Iterator[None]:
    """Choose the functions that compute products with rows, within a ``with`` block.

    Parameters
    ----------
    kernels : {"auto", "numba", "scipy"}
        "auto": compiled by Numba for tables of a million stored values or more, if Numba is
        installed; else SciPy's functions. "numba" and "scipy" are always these. Without this
        function, the environment variable ``MOMENTREE_KERNELS`` decides, else "auto".

    Yields
    ------
    None
        The choice applies to tables that are first read in the block.

    Raises
    ------
    InvalidParameterError
        If `kernels` is none of these, or "numba" and Numba cannot be loaded.

    Notes
    -----
    Results agree up to rounding. A function is compiled once for each type of numbers, in a few
    seconds, and kept in the folder ``__pycache__`` of the package, in the user's cache folder or in
    that of the environment variable ``NUMBA_CACHE_DIR``.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from momentree.backends import RowBlocks, use_kernels
    >>> with use_kernels("scipy"):
    ...     RowBlocks(sp.csr_array(np.eye(2))).row_sums
    array([1., 1.])
    """
    _check("kernels", kernels)
    before = _choice.set(kernels)
    try:
        yield
    finally:
        _choice.reset(before)


def chosen(nnz: int) -> Kernels:
    """Return which functions to use for a table of `nnz` stored values: "numba" or "scipy"."""
    kernels = _choice.get()
    if kernels is None:
        kernels = _check("MOMENTREE_KERNELS", os.environ.get("MOMENTREE_KERNELS") or "auto")
    if kernels == "auto":
        return "numba" if nnz >= COMPILED_NNZ and _load()[0] else "scipy"
    if kernels == "numba" and not _load()[0]:
        raise InvalidParameterError("numba_not_loaded", error=_load()[1])
    return kernels


def products(kernels: Kernels) -> ModuleType:
    """Return the module with these functions."""
    return (_load()[0] if kernels == "numba" else None) or scipy_products


def _check(name: str, value: str) -> Kernels:
    for choice in get_args(Kernels):
        if value == choice:
            return choice  # type: ignore[no-any-return]
    raise InvalidParameterError("bad_kernels", name=name, value=value)


@cache
def _load() -> tuple[ModuleType | None, str]:
    """Return the compiled products, or the reason why they cannot be loaded."""
    try:
        return importlib.import_module("momentree.backends.compiled"), ""
    except Exception as error:
        return None, str(error)
