"""Mutations that respect the format of a file, so that they get past its checksums."""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from .mutate import mutated

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, -5, 2, 7, 0.5, 1e308, -1e-320, 2**31, 2**63, 2**70, 10**400),
    *(float("nan"), float("inf"), float("-inf"), "", "x", "-1", "nan", "\0", "\ud800", "a" * 3000),
    *(
        "(a+)+$",
        "[",
        "em",
        "log1p",
        "centers",
        "__class__",
        "weights_",
        [],
        {},
        [[]],
        [None],
        {"a": 1},
    ),
)
KEYS = ("array", "words", "items", "mapping", "parameters", "assigner", "kind", "x", "__init__")
CELLS = ("A0", "A-1", "1", "A", "ZZ500000", "XFD1048576", "C20000000", "C1048576", "A1", "B2", "")
SHAPES = ("()", "(0,)", "(1,)", "(-1,)", "(10**9,)", "(2**70,)", "(2**31, 2**31)", "(3, 0)", "'a'")
TYPES = (
    *("<f8", ">f8", "<f4", "<f2", "<f16", "<i8", "<i4", "<i2", "|i1", "|u1", "<u8", "|b1", "<c16"),
    *("<U3", "|S3", "|O", "<M8[s]", "|V8", "<U0", "|S0", "<U999999999", "xyz", "<f8, <f8", ""),
)
BOMB = 5 << 29
"""Size of a decompression bomb: zeros that compress to a few bytes."""


def changed(rng: random.Random, data: bytes, pool: Sequence[bytes] = ()) -> bytes:
    """Mutate a file: its bytes or, if its format is known, its content."""
    inside = rng.random() < 0.75
    if data.startswith(b"PK") and inside:
        return rezipped(rng, data, pool)
    if data.startswith(b"\x1f\x8b") and inside:
        content = changed(rng, gzip.decompress(data), pool)
        return gzip.compress(content, mtime=0) * rng.choice((1, 1, 1, 1, 2))
    if data.startswith(b"\x93NUMPY") and inside:
        return npy(rng, data)
    if data.startswith(b"PAR1") and inside:
        return parquet(rng, data)
    if data[:1] in b"{[" and data[:1] and inside:
        return as_json(rng, data)
    if data.startswith(b"<") and inside:
        return xml(rng, data, pool)
    return mutated(rng, data, pool)


def rezipped(rng: random.Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    """Mutate members of a zip file and compress them again, with correct checksums."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [(name, archive.read(name)) for name in archive.namelist()]
    except (zipfile.BadZipFile, zlib.error, OSError, RuntimeError, NotImplementedError):
        return mutated(rng, data, pool)
    if not members:
        return mutated(rng, data, pool)
    bomb = None
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        i = rng.randrange(len(members))
        name, content = members[i]
        change = rng.random()
        if change < 0.8:
            members[i] = name, changed(rng, content, pool)
        elif change < 0.86 and len(members) > 1:
            del members[i]
        elif change < 0.9:
            members[i] = rng.choice((name + "x", name.upper(), "../" + name, "", "a.npy")), content
        elif change < 0.94:
            members.append((rng.choice((name, "unused.npy", "é.npy", "a/b.npy")), content))
        elif change < 0.98:
            members[i] = name, rng.choice(members)[1]
        else:
            bomb = i
    stored = rng.random() < 0.2
    return _zip([(n, c, i == bomb) for i, (n, c) in enumerate(members)], stored=stored)


def _zip(members: Sequence[tuple[str, bytes, bool]], *, stored: bool) -> bytes:
    """Compress members; bombs continue with zeros, more than the memory should hold."""
    out, directory = io.BytesIO(), b""
    for name, content, is_bomb in members:
        method = 0 if stored and not is_bomb else 8
        packed, crc, size = content, zlib.crc32(content), len(content)
        if is_bomb:
            packed, crc, size = _bomb(content)
        elif method:
            pack = zlib.compressobj(wbits=-15)
            packed = pack.compress(content) + pack.flush()
        encoded = name.encode("utf-8", "replace")
        head = struct.pack(
            "<HHHHHIIIHH", 20, 0x800, method, 0, 33, crc, len(packed), size, len(encoded), 0
        )
        at = out.tell()
        out.write(b"PK\x03\x04" + head + encoded + packed)
        rest = struct.pack("<HHHII", 0, 0, 0, 0, at)
        directory += b"PK\x01\x02" + struct.pack("<H", 20) + head + rest + encoded
    at, n = out.tell(), len(members)
    out.write(directory)
    out.write(b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, n, n, len(directory), at, 0))
    return out.getvalue()


def _bomb(content: bytes) -> tuple[bytes, int, int]:
    """Return the compressed bytes of a content followed by zeros, its checksum and its size.

    The checksum is wrong: it is looked at only when all the bytes have been read.
    """
    block = bytes(1 << 24)
    pack = zlib.compressobj(9, wbits=-15)
    first = pack.compress(content) + pack.flush(zlib.Z_FULL_FLUSH)
    # After a full flush, a compressed block depends on nothing before it and may be repeated.
    zeros = pack.compress(block) + pack.flush(zlib.Z_FULL_FLUSH)
    packed = first + zeros * (BOMB // len(block)) + pack.flush()
    return packed, 0, len(content) + BOMB // len(block) * len(block)


def npy(rng: random.Random, data: bytes) -> bytes:
    """Mutate the header of an array, or its values."""
    if len(data) < 10:  # cut off by an earlier change
        return data
    length = struct.unpack("<H", data[8:10])[0]
    header, values = data[10 : 10 + length], data[10 + length :]
    change = rng.random()
    if change < 0.25:
        header = mutated(rng, header)
    elif change < 0.45:
        at = rng.choice((rb"'shape': \(.*?\)", rb"\d+(?=,|\))"))
        new = rng.choice(SHAPES) if at.startswith(b"'") else rng.choice(("0", "1", "7", "-1"))
        new = f"'shape': {new}" if at.startswith(b"'") else new
        header = re.sub(at, lambda _: new.encode(), header, count=1)
    elif change < 0.6:
        header = re.sub(rb"'descr': '.*?'", f"'descr': '{rng.choice(TYPES)}'".encode(), header)
    elif change < 0.65:
        header = header.replace(b"False", rng.choice((b"True", b"1", b"None", b"False" * 3000)))
    elif change < 0.7:
        return data[:6] + bytes([rng.choice((0, 1, 2, 3, 9)), 0]) + data[8:]
    elif change < 0.75:
        values = mutated(rng, values)
    elif b"f8" in header and len(values) >= 8:
        numbers = list(struct.unpack(f"<{len(values) // 8}d", values[: len(values) // 8 * 8]))
        odd = (float("nan"), float("inf"), float("-inf"), -1.0, 0.0, 5e-324, 1e308, -1e308, 1e16)
        for _ in range(rng.choice((1, 1, 3))):
            numbers[rng.randrange(len(numbers))] = rng.choice(odd)
        values = struct.pack(f"<{len(numbers)}d", *numbers)
    else:
        size = 8 if b"8'" in header else 4
        if len(values) >= size:
            at = rng.randrange(len(values) // size) * size
            number = rng.choice((-1, 0, 1, -(2 ** (8 * size - 1)), 2 ** (8 * size - 1) - 1, 40, -5))
            new = number.to_bytes(size, "little", signed=True)
            values = values[:at] + new + values[at + size :]
    return data[:8] + struct.pack("<H", len(header) % 65536) + header + values


def _places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside: list[Any] = []
    if isinstance(value, dict):
        inside = list(value)
    elif isinstance(value, list):
        inside = list(range(min(len(value), 12)))
    return [at, *(place for key in inside for place in _places(value[key], (*at, key)))]


def json_changed(rng: random.Random, value: Any) -> Any:
    """Mutate one place of a value: replace, rename, repeat, delete or nest it."""
    place = rng.choice(_places(value))
    if not place:
        return (
            rng.choice((value, [value], {"a": value}, *VALUES[:12]))
            if rng.random() < 0.3
            else value
        )
    *way, last = place
    holder = value
    for key in way:
        holder = holder[key]
    change = rng.random()
    if change < 0.6:
        old = holder[last]
        number = isinstance(old, int | float) and not isinstance(old, bool)
        near = (old + 1, old - 1, -old, str(old)) if number else ()
        near += (old * 1e9, float(old)) if number and abs(old) < 1e290 else ()
        holder[last] = rng.choice((*VALUES, *near))
    elif change < 0.75:
        del holder[last]
    elif change < 0.82:
        holder[last] = [holder[last]] * rng.choice((1, 2, 300))
    elif change < 0.88 and isinstance(holder, dict):
        holder[rng.choice((*KEYS, str(last) + "x"))] = holder.pop(last)
    elif change < 0.94:
        other = rng.choice(_places(value)[1:])
        found = value
        for key in other:
            found = found[key]
        holder[last] = json.loads(json.dumps(found))
    else:
        holder[last] = "DEEP"
    return value


def as_json(rng: random.Random, data: bytes) -> bytes:
    """Mutate a value of JSON, or of JSON Lines."""
    try:
        rows = [json.loads(data)]
    except RecursionError:  # it was made deep before
        return mutated(rng, data)
    except ValueError:
        try:
            rows = [json.loads(row) for row in data.splitlines()]
        except (ValueError, RecursionError):
            return mutated(rng, data)
    for _ in range(rng.choice((1, 1, 2, 5)) if rows else 0):
        i = rng.randrange(len(rows))
        rows[i] = json_changed(rng, rows[i])
    depth = rng.choice((3, 100, 20000))
    deep = "[" * depth + "]" * rng.choice((depth, depth, 0))
    # Lone surrogates are escaped, and so survive.
    return "\n".join(json.dumps(row) for row in rows).replace('"DEEP"', deep).encode()


def xml(rng: random.Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    """Mutate the position of a cell, a number of repeats, or bytes."""
    cells = list(re.finditer(rb'(?:\br|ref)="([A-Z]+\d+)"', data))
    repeats = list(re.finditer(rb'-repeated="(\d+)"', data))
    if cells and rng.random() < 0.5:
        found, new = rng.choice(cells), rng.choice(CELLS).encode()
    elif repeats and rng.random() < 0.6:
        found, new = (
            rng.choice(repeats),
            rng.choice((b"0", b"-1", b"16384", b"1048576", b"4000000000")),
        )
    else:
        return mutated(rng, data, pool)
    return data[: found.start(1)] + new + data[found.end(1) :]


def parquet(rng: random.Random, data: bytes) -> bytes:
    """Rewrite a table with columns of other types, names or lengths."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(io.BytesIO(data), use_threads=False)
    n = table.num_rows
    makers: tuple[Callable[[], Any], ...] = (
        lambda: pa.nulls(n),
        lambda: pa.array([b"\xff\x00"] * n, pa.binary()),
        lambda: pa.array([[["a"], None]] * n),
        lambda: pa.array([{"a": 1, "b": None}] * n),
        lambda: pa.array([[("k", 1)]] * n, pa.map_(pa.string(), pa.int64())),
        lambda: pa.array(["a", None] * n, pa.string())[:n].dictionary_encode(),
        lambda: pa.array([2**62] * n, pa.timestamp("ns")),
        lambda: pa.array([-(2**50)] * n, pa.timestamp("s", tz="Europe/Rome")),
        lambda: pa.array([2**50] * n, pa.duration("s")),
        lambda: pa.array([2**31 - 1] * n, pa.date32()),
        lambda: pa.array([1, None] * n)[:n].cast(pa.decimal128(38, 10)),
        lambda: pa.array([float("nan"), float("inf"), None, 1e300] * n)[:n],
        lambda: pa.array([1.5] * n, pa.float16()),
        lambda: pa.array([2**64 - 1] * n, pa.uint64()),
        lambda: pa.array([True, None] * n)[:n],
        lambda: pa.array([1, 2] * n, pa.time32("s"))[:n],
        lambda: pa.array([["a", None, "b"], None, []] * n)[:n],
        lambda: pa.array(["x" * 20000] * n),
        lambda: pa.array(["\x1b[31m\0", "", "\u2028"] * n)[:n],
        lambda: pa.array([b"abcd"] * n, pa.binary(4)),
        lambda: pa.array(["a"] * n, pa.string_view()),
    )
    for _ in range(rng.choice((1, 1, 2))):
        j = rng.randrange(table.num_columns) if table.num_columns else 0
        change = rng.random()
        if change < 0.6 and table.num_columns:
            table = table.set_column(j, table.column_names[j], rng.choice(makers)())
        elif change < 0.7:
            table = table.slice(0, rng.choice((0, 1)))
            n = table.num_rows
        elif change < 0.85:
            names = list(table.column_names)
            if names:
                names[j] = rng.choice(("", names[0], "a\nb", "\x1b[1m", "é", "a" * 3000))
            table = table.rename_columns(names)
        elif change < 0.95 and table.num_columns:
            table = table.remove_column(j)
        else:
            table = table.append_column("many", pa.array(["x"] * n))
    out = io.BytesIO()
    pq.write_table(table, out, compression=rng.choice(("snappy", "zstd", "none", "gzip")))
    return mutated(rng, out.getvalue()) if rng.random() < 0.15 else out.getvalue()
