"""Pack the documents of a page: as columns, compressed, in letters."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any


def pack(items: Sequence[Mapping[str, Any]]) -> str:
    """Return dictionaries with equal keys as base64 of a zlib stream of JSON, by key.

    A browser reads it with ``DecompressionStream("deflate")``. Short texts shrink to about 60%.
    """
    columns = {key: [item[key] for item in items] for key in (items[0] if items else ())}
    text = json.dumps(columns, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("utf-8"), 9)).decode("ascii")
