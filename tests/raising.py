"""Expect an error or a warning by its class, code and values, whatever its words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

__all__ = ["raises", "warns"]


@contextmanager
def raises(
    kind: type[Exception], code: str, /, **values: Any
) -> Iterator[pytest.ExceptionInfo[Any]]:
    """Expect an exception of momentree with this code and, of its values, at least these."""
    with pytest.raises(kind) as info:
        yield info
    assert info.value.code == code, repr(info.value.message)
    known = dict(info.value.message.values)
    inline = re.search(r"\{parameters\.(\w+)", info.value.message.template)
    if inline is not None:
        known.setdefault("parameter", inline[1])
    assert {name: known.get(name) for name in values} == values


@contextmanager
def warns(kind: type[Warning], code: str, /) -> Iterator[Any]:
    """Expect at least one warning of momentree of this class with this code."""
    with pytest.warns(kind) as found:
        yield found
    assert code in [getattr(warning.message, "code", None) for warning in found]
