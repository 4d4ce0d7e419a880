"""Mutations of bytes and of texts, drawn from a seed."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

NUMBERS = [
    *(
        b"0",
        b"-1",
        b"1",
        b"2",
        b"7",
        b"0.5",
        b"1e5",
        b"1e400",
        b"-0",
        b"+3",
        b"007",
        b"1_0",
        b"0x10",
    ),
    *(str(2**e + c).encode() for e in (7, 8, 15, 16, 31, 32, 53, 63, 64, 70) for c in (-1, 0)),
    *(b"1000000", b"1000000000", b"1" + b"0" * 400, b"nan", b"inf", b"-inf", b"\xd9\xa3", b""),
]
TOKENS = [
    *(b"\0", b"\xff", b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\xed\xa0\x80"),
    *(b"\r", b"\n", b"\r\n", b"\t", b",", b";", b'"', b"'", b"|", b"\x1b[31m", b"\x1f", b"\x85"),
    *(
        b"=1+1",
        b"@x",
        b"%%MatrixMarket",
        b"#",
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b"\\ud800",
        b"<",
        b"&",
    ),
    *(b"PK\x03\x04", b"\x1f\x8b", b"PAR1", b"NaN", b"null", b"true", b"\x93NUMPY", b"a" * 5000),
    b'"' + b"\n" * 50,
]
_NUMBER = re.compile(rb"-?\d+(\.\d+)?")
INTERESTING_BYTES = (0, 1, 0x7F, 0x80, 0xFE, 0xFF, 0x20, 0x0A, 0x22, 0x2C, 0x30, 0x39)
LARGEST = 1 << 18

Mutator = Callable[[random.Random, bytes, Sequence[bytes]], bytes]


def _span(rng: random.Random, data: bytes) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    length = min(len(data) - start, int(rng.expovariate(1 / rng.choice((2, 20, 200)))) + 1)
    return start, start + length


def flip(rng: random.Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    """Flip bits."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8, 40)) if data else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def overwrite(rng: random.Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    """Overwrite bytes with boundary values, little-endian integers or a token."""
    start, _ = _span(rng, data)
    number = rng.choice((0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**64 - 1, 10**9))
    new = rng.choice(
        [
            bytes([rng.choice(INTERESTING_BYTES)]),
            number.to_bytes(8, "little")[: rng.choice((2, 4, 8))],
            rng.choice(TOKENS),
        ]
    )
    return data[:start] + new + data[start + len(new) :]


def insert(rng: random.Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    """Insert a token, or random bytes."""
    start, _ = _span(rng, data)
    new = rng.choice(TOKENS) if rng.random() < 0.8 else rng.randbytes(rng.randrange(1, 20))
    return data[:start] + new + data[start:]


def delete(rng: random.Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    """Delete a part."""
    start, end = _span(rng, data)
    return data[:start] + data[end:]


def truncate(rng: random.Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    """Keep the beginning, or the end."""
    at = rng.randrange(len(data) + 1)
    return data[:at] if rng.random() < 0.8 else data[at:]


def repeat(rng: random.Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    """Repeat a part, a few times or many."""
    start, end = _span(rng, data)
    times = rng.choice((2, 2, 3, 50, 1000))
    return data[:start] + (data[start:end] * times)[:LARGEST] + data[end:]


def splice(rng: random.Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    """Continue with a part of another input."""
    other = rng.choice(pool) if pool else data
    start, end = _span(rng, data)
    a, b = sorted((rng.randrange(len(other) + 1), rng.randrange(len(other) + 1)))
    return data[:start] + other[a:b] + data[end if rng.random() < 0.5 else len(data) :]


def renumber(rng: random.Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    """Replace a number, often one of the first, where headers are."""
    found = list(_NUMBER.finditer(data[:20000]))
    if not found:
        return flip(rng, data, pool)
    at = rng.choice(found[:6] if rng.random() < 0.5 else found)
    return data[: at.start()] + rng.choice(NUMBERS) + data[at.end() :]


def lines(rng: random.Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    """Delete, repeat, swap or empty lines, or join one with the next."""
    rows = data.splitlines(keepends=True)
    if not rows:
        return insert(rng, data, pool)
    i, j = rng.randrange(len(rows)), rng.randrange(len(rows))
    change = rng.randrange(5)
    if change == 0:
        del rows[i]
    elif change == 1:
        rows[i:i] = [rows[j]] * rng.choice((1, 2, 200))
    elif change == 2:
        rows[i], rows[j] = rows[j], rows[i]
    elif change == 3:
        rows[i] = b"\n"
    else:
        rows[i] = rows[i].rstrip(b"\r\n")
    return b"".join(rows)


def recode(rng: random.Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    """Write a text in another encoding, or with other line endings."""
    text = data.decode("utf-8", "replace")
    if rng.random() < 0.4:
        return text.replace("\n", rng.choice(("\r", "\r\n", "\n\n", "\0\n", "\u2028"))).encode()
    return text.encode(rng.choice(("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "utf-7")))


MUTATORS: tuple[Mutator, ...] = (
    flip,
    flip,
    overwrite,
    insert,
    delete,
    truncate,
    repeat,
    splice,
    renumber,
    renumber,
    lines,
    recode,
)


def mutated(rng: random.Random, data: bytes, pool: Sequence[bytes] = ()) -> bytes:
    """Apply one to four mutations."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        data = rng.choice(MUTATORS)(rng, data, pool)
    return data
