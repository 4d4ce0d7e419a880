"""Kernels, the questions about rows, and the choice of what computes their products.

A kernel is a function of a block of rows and of the entries of row arrays for these rows. Its
keyword-only arguments are its parameters, which `functools.partial` binds.
"""

import importlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, Literal, TypeVar, get_args

from momentree.backends.block import Block
from momentree.exceptions import InvalidParameterError

K = TypeVar("K", bound=Callable[..., Any])

KERNELS: dict[str, Callable[..., Any]] = {}
"""All that a question to another site may contain, by module (below the package) and name."""


def kernel(question: K) -> K:
    """Register a kernel, a part of one, or a function of values, so that other sites answer it.

    Parameters
    ----------
    question : function or frozen dataclass
        Its module shows the formula. Sites receive its name and its parameters, never code.

    Returns
    -------
    function or frozen dataclass
        The same object.
    """
    KERNELS[name_of(question)] = question
    return question


def name_of(question: Callable[..., Any]) -> str:
    """Return the name of a kernel, by which it is registered.

    Parameters
    ----------
    question : function or class
        A kernel.

    Returns
    -------
    str
        Its module, below the package, and its name.
    """
    return f"{question.__module__.removeprefix('momentree.')}.{question.__qualname__}"


# --- compiled products, which are optional --------------------------------------------------------

_BAD_KERNELS = "[bad_kernels] {name} is {value!r}; set it to 'auto', 'numba' or 'scipy'"

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
    if kernels not in get_args(Kernels):
        raise InvalidParameterError(_BAD_KERNELS, name="kernels", value=kernels)
    before = _choice.set(kernels)
    try:
        yield
    finally:
        _choice.reset(before)


def block_type(nnz: int) -> type[Block]:
    """Return what computes the products of a table of `nnz` stored values."""
    kernels = _choice.get() or os.environ.get("MOMENTREE_KERNELS") or "auto"
    if kernels not in get_args(Kernels):
        raise InvalidParameterError(_BAD_KERNELS, name="MOMENTREE_KERNELS", value=kernels)
    if kernels == "scipy" or (kernels == "auto" and nnz < COMPILED_NNZ):
        return Block
    compiled, error = _load()
    if compiled is None and kernels == "numba":
        raise InvalidParameterError(
            '[numba_not_loaded] Numba cannot be loaded ({error}); install it with "pip install '
            "'momentree[fast]'\", or choose the kernels 'auto' or 'scipy', which give the same "
            "results",
            error=error,
        )
    return compiled or Block


@cache
def _load() -> tuple[type[Block] | None, str]:
    """Return the compiled products, or the reason why they cannot be loaded."""
    try:
        return importlib.import_module("momentree.backends.compiled").CompiledBlock, ""
    except Exception as error:
        return None, str(error)
