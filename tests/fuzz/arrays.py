"""Changes of matrices, weights, names and parameters, drawn from a seed."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

VALUES = (
    *(float("nan"), float("inf"), float("-inf"), -1.0, -0.0, 0.5, 1.0, 2.0, 5e-324, 1e-310, 1e-30),
    *(1e16, 1e30, 1.1e30, 1e31, 1e38, 1e100, 1.7e308, 2.0**31, 2.0**53, 2.0**63, 2.0**64),
)
SHAPES: tuple[Callable[[np.ndarray], Any], ...] = (
    lambda X: X[:0],
    lambda X: X[:, :0],
    lambda X: X[:1],
    lambda X: X[:2],
    lambda X: X[:, :1],
    lambda X: X[:, :2],
    lambda X: X[:, :-1],
    lambda X: np.hstack([X, X[:, :1]]),
    lambda X: np.tile(X, (1, 40)),
    lambda X: np.tile(X, (8, 1)),
    lambda X: X[[0] * len(X)],
    lambda X: X[::-1],
    lambda X: X[0],
    lambda X: X[None],
    lambda X: X.T,
    lambda X: X[0, 0],
    lambda X: np.zeros((0, 0)),
    lambda X: np.zeros_like(X),
    lambda X: np.ones_like(X),
    lambda X: np.full_like(X, 7e29),
    lambda X: X * 1e-300,
    lambda X: X * 5e-324,
    lambda X: X * 1e28,
    lambda X: X * 1e300,
    lambda X: -X,
    lambda X: X + 0.5,
    lambda X: np.where(X > 0, np.nan, X),
    lambda X: np.full_like(X, np.nan),
)
TYPES = (
    *("f2", "f4", ">f8", "g", "c8", "c16", "i1", "i2", ">i4", "i8", "u1", "u2", "u8", "?", "O"),
    *("U8", "S8", "M8[s]", "m8[s]", "f8,i4", "V8"),
)
FORMATS = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")


def odd_matrix(rng: random.Random, X: np.ndarray) -> Any:
    """Return a matrix like X with other values, shape, type, layout or container."""
    X = np.array(X, dtype=np.float64)
    if rng.random() < 0.45:
        X = np.asarray(_values(rng, X))
    if rng.random() < 0.35:
        X = np.asarray(rng.choice(SHAPES)(X)) if X.ndim == 2 and X.size else X
    change = rng.random()
    with np.errstate(all="ignore"):
        if change < 0.3 or X.ndim != 2:
            return _dense(rng, X)
        if change < 0.75:
            return _sparse(rng, X)
    return _contained(rng, X)


def _values(rng: random.Random, X: np.ndarray) -> Any:
    if not X.size:
        return X
    for _ in range(rng.choice((1, 1, 2, 5))):
        i, j = rng.randrange(X.shape[0]), rng.randrange(X.shape[1])
        at: Any = rng.choice(((i, j), (i, j), (i, slice(None)), (slice(None), j)))
        X[at] = rng.choice(VALUES)
    return X


def _dense(rng: random.Random, X: np.ndarray) -> Any:
    change = rng.random()
    if change < 0.5 or X.ndim == 0:
        try:
            return X.astype(rng.choice(TYPES))
        except (ValueError, TypeError, OverflowError):
            return X.astype(object)
    layouts: tuple[Callable[[], Any], ...] = (
        lambda: np.asfortranarray(X),
        lambda: np.repeat(X, 2, axis=0)[::2],
        lambda: X[..., ::-1],
        lambda: np.broadcast_to(X[:1], X.shape) if X.ndim else X,
        lambda: _read_only(X),
        lambda: np.ma.masked_array(X, X > 1),
        lambda: X.tolist(),
        lambda: tuple(map(tuple, X.tolist())) if X.ndim == 2 else X.tolist(),
        lambda: np.require(X, requirements="W")[...],
        lambda: np.frombuffer(b"\0" + X.tobytes(), offset=1).reshape(X.shape),
    )
    return rng.choice(layouts)()


def _read_only(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X.flags.writeable = False
    return X


def _sparse(rng: random.Random, X: np.ndarray) -> Any:
    kind = rng.choice(FORMATS)
    made: Any = sp.coo_array(X) if rng.random() < 0.7 else sp.coo_matrix(X)
    made = made.asformat(kind)
    if kind in ("lil", "dok", "dia"):
        return made
    arrays = ["row", "col"] if kind == "coo" else ["indptr", "indices"]
    name = rng.choice(arrays)
    change = rng.random()
    if change < 0.2:
        return made
    if change < 0.4 and kind != "coo":
        setattr(made, name, getattr(made, name).astype(rng.choice(("i8", "u4", "i2", "f8", ">i4"))))
    elif change < 0.5:
        try:
            made.data = made.data.astype(rng.choice(TYPES))
        except (ValueError, TypeError, OverflowError):
            made.data = made.data.astype(object)
    elif change < 0.55:
        made.data[...] = 0
    elif change < 0.6 and kind == "csr":
        made = type(made)(
            (np.tile(made.data, 2), np.tile(made.indices, 2), made.indptr * 2), made.shape
        )
    elif change < 0.65:
        made.data = made.data[:-1]
    elif change < 0.7 and kind != "coo":
        setattr(made, name, getattr(made, name)[:-1])
    elif change < 0.75:
        made._shape = (made.shape[0], rng.choice((1, made.shape[1] - 1, 30_000)))
    else:
        at = _writable(made, name)
        if len(at):
            i = rng.choice((0, len(at) - 1, rng.randrange(len(at))))
            at[i] = rng.choice((-1, -5, 0, 1, 40, 10**3, 2**30, 2**31 - 1, -(2**31)))
    return made


def _writable(made: Any, name: str) -> Any:
    if made.format == "coo":
        return made.coords[name == "col"]
    return getattr(made, name)


def described(value: Any) -> str:
    """Describe an argument; sparse ones by their arrays, as damaged ones cannot be printed."""
    if sp.issparse(value):
        parts = {k: v for k, v in vars(value).items() if isinstance(v, np.ndarray | tuple)}
        return f"{type(value).__name__} {parts}"
    if isinstance(value, dict):
        return "\n".join(f"{key} = {described(part)}" for key, part in value.items())
    return repr(value)


class _Own:
    """An object that claims to be an array."""

    def __init__(self, X: np.ndarray) -> None:
        self.X = X

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.X, dtype=dtype)


def _contained(rng: random.Random, X: np.ndarray) -> Any:
    names = [f"w{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    first = names[0] if names else "w0"
    makers: tuple[Callable[[], Any], ...] = (
        lambda: frame,
        lambda: frame.rename(columns={first: "other"}),
        lambda: frame.rename(columns={first: "w1"}),
        lambda: frame.rename(columns={first: 0}),
        lambda: frame[names[::-1]],
        lambda: frame.set_index(frame.index * 2),
        lambda: frame.astype({first: "category"}) if names else frame,
        lambda: frame.astype({first: "string"}) if names else frame,
        lambda: frame.astype("Float64"),
        lambda: frame.mask(frame > 1).astype("Float64"),
        lambda: frame.astype(object),
        lambda: frame.assign(**{first: pd.NaT}),
        lambda: frame.assign(**{first: pd.Timestamp("2020-01-01")}),
        lambda: frame.assign(**{first: 1j}),
        lambda: frame.assign(**{first: "text"}),
        lambda: frame.assign(**{first: None}),
        lambda: pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(np.nan_to_num(X)), columns=names),
        lambda: pd.Series(X[:, 0]) if names else frame,
        lambda: _Own(X),
        lambda: memoryview(np.ascontiguousarray(X)),
        lambda: {"X": X},
        lambda: None,
        lambda: "text",
        lambda: 3,
        lambda: iter(X),
        lambda: [[1, 2], [3]],
        lambda: [X, X],
    )
    try:
        return rng.choice(makers)()
    except (ValueError, TypeError, OverflowError):
        return frame


def odd_vector(rng: random.Random, n: int) -> Any:
    """Return an argument with one number per sample, such as weights or labels."""
    w = np.linspace(0.5, 1.5, n)
    makers: tuple[Callable[[], Any], ...] = (
        lambda: w,
        lambda: w.tolist(),
        lambda: np.zeros(n),
        lambda: np.where(np.arange(n) < n - 1, 0.0, w),
        lambda: w[:-1],
        lambda: np.append(w, 1.0),
        lambda: w[:, None],
        lambda: 1.0,
        lambda: 0,
        lambda: np.nan,
        lambda: "one",
        dict,
        list,
        lambda: w.astype("f2"),
        lambda: w.astype("g"),
        lambda: w + 0j,
        lambda: w > 1,
        lambda: w.astype(object),
        lambda: np.array(["a"] * n),
        lambda: np.array([None] * n),
        lambda: pd.Series(w, index=np.arange(n)[::-1]),
        lambda: sp.csr_array(w[:, None]),
        lambda: np.full(n, rng.choice(VALUES)),
        lambda: np.where(np.arange(n) == 3, rng.choice(VALUES), w),
        lambda: w * rng.choice((1e-320, 1e-200, 1e200, 1e307)),
        lambda: np.arange(n).astype("M8[s]"),
    )
    return rng.choice(makers)()


def odd_names(rng: random.Random, d: int) -> Any:
    """Return an argument for names of columns."""
    names = [f"w{j}" for j in range(d)]
    odd: tuple[Any, ...] = (
        names,
        names[:-1],
        [*names, "x"],
        ["w"] * d,
        [""] * d,
        [None] * d,
        list(range(d)),
        "abc",
        np.array(names)[:, None],
        pd.Index(names),
        ["\x1b[31m<script>" + name for name in names],
        ["\ud800"] * d,
        dict.fromkeys(names),
        iter(names),
        7,
        [[name] for name in names],
    )
    return rng.choice(odd)


PARAMETERS: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 1, 2, 3, 7, 100, 10**6, 2**70, 0.0, 0.5, 1.0, 2.5, -1.5, 1e-300),
    *(1e300, float("nan"), float("inf"), "em", "auto", "x", "", b"em", [], [3], {}, 3 + 0j, object),
    *(np.int64(3), np.float32(3), np.array(3), np.array([3]), np.bool_(True), np.str_("em")),
    *(np.nan, np.datetime64("2020"), "depth", "search", "leaves", "tree", "clusters", "moments"),
    *("als", "svtd", "jennrich", "tensor_power_method", "svd_method", "random_projections"),
    *("eigendecomposition", "log1p", "uniform", "three_words", "aic3", "bic", "binary", "counts"),
    *("real", "non_negative", "directions", "single-topic", "groups", lambda *a, **k: None),
)
