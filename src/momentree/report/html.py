"""A summary as one HTML file that opens with no network."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from momentree._files import atomic_write
from momentree.report.chart import stacked_areas
from momentree.report.numbers import fixed, percent, whole_percent

__all__ = ["render_html", "write_html"]

_TOPIC_STYLES = ("base.css", "views.css", "node.css", "shares.css", "print.css")
_RECORD_STYLES = ("base.css", "views.css", "node.css", "shares.css", "records.css", "print.css")
_TOPIC_SCRIPTS = (
    "core.js",
    "topics.js",
    "tree.js",
    "map.js",
    "node.js",
    "shares.js",
    "search.js",
    "views.js",
    "address.js",
    "start.js",
)
_RECORD_SCRIPTS = (
    "core.js",
    "records_numbers.js",
    "tree.js",
    "map.js",
    "records.js",
    "records_heat.js",
    "records_codes.js",
    "records_assign.js",
    "views.js",
    "address.js",
    "records_start.js",
)
# Set before the page is painted: what only works with scripts is hidden without them.
_FIRST_SCRIPT = 'document.documentElement.classList.add("js");'
# Height of the icicle, pixels: of all rows together, and the limits of one row.
_ICICLE_HEIGHT = 230
_ROW_LIMITS = (7, 44)
# Without scripts the names in the icicle fit a page of this width, pixels.
_PLAIN_WIDTH = 760
_LETTER_WIDTH = 7.5
# A larger matrix of topics is neither read nor small: the strongest pairs stay.
_MOST_IN_MATRIX = 40


def render_html(summary: Mapping[str, Any]) -> str:
    """Render a summary as one self-contained HTML page.

    Parameters
    ----------
    summary : mapping
        What `summarize` or `summarize_records` returns.

    Returns
    -------
    str
        A whole HTML document: styles, scripts and data are inside, nothing is loaded, and a
        content security policy forbids that anything is. The same summary gives the same
        string.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.report import render_html, summarize
    >>> from momentree.tree.node import TreeNode
    >>> class Fitted:
    ...     tree_ = TreeNode(np.array([0.5, 0.5]), 1.0, leaf_id=0, _samples=np.arange(3))
    ...     labels_ = np.zeros(3, dtype=int)
    ...     vocabulary_ = np.array(["sea", "wind"])
    ...     def get_params(self, deep=True):
    ...         return {}
    >>> render_html(summarize(Fitted(), title="Logbook"))[:15]
    '<!DOCTYPE html>'
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("momentree.report", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["integer"] = lambda value: f"{value:,}"
    environment.filters["percent"] = percent
    environment.filters["whole_percent"] = whole_percent
    environment.filters["fixed"] = fixed
    environment.filters["amount"] = _amount
    environment.filters["fitted"] = _fitted
    records = str(summary["kind"]).startswith("records")
    scripts = _RECORD_SCRIPTS if records else _TOPIC_SCRIPTS
    styles = _RECORD_STYLES if records else _TOPIC_STYLES
    script = "(() => {\n'use strict';\n" + "".join(map(_read, scripts)) + "})();"
    topics = [node for node in summary["nodes"] if node["leaf"] is not None]
    special = {} if records else _of_topics(summary)
    rows = max(node["cell"]["bottom"] for node in summary["nodes"])
    low, high = _ROW_LIMITS
    return environment.get_template("records.html.j2" if records else "report.html.j2").render(
        summary=summary,
        nodes=summary["nodes"],
        row_height=max(low, min(high, _ICICLE_HEIGHT // rows)),
        rows=rows,
        topics=sorted(topics, key=lambda node: int(node["leaf"])),
        by_share=topics,
        flat=str(summary["kind"]).endswith("flat"),
        style=Markup("".join(map(_read, styles))),  # noqa: S704  own files
        first_script=Markup(_FIRST_SCRIPT),  # noqa: S704  a constant
        script=Markup(script),  # noqa: S704  own files
        script_hashes=" ".join(map(_hash_source, (_FIRST_SCRIPT, script))),
        data=Markup(_script_json(summary)),  # noqa: S704  escaped by _script_json
        **special,
    )


def write_html(summary: Mapping[str, Any], path: str | os.PathLike[str]) -> Path:
    """Write the page of `render_html` to a file, whole or not at all.

    Parameters
    ----------
    summary : mapping
        What `summarize` or `summarize_records` returns.
    path : str or path-like
        File to write; one that exists is replaced.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    OSError
        When the folder is missing or cannot be written, or the disk is full. Nothing is
        left behind then, and a file that was there is as it was.
    """
    target = Path(path)
    page = render_html(summary).encode("utf-8")
    with atomic_write(target) as stream:
        stream.write(page)
    return target


def _of_topics(summary: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "chart": stacked_areas(summary["areas"]) if summary["areas"] else [],
        "mixes": "alpha0" in summary["made"]["parameters"],
        "most_in_matrix": _MOST_IN_MATRIX,
    }


def _read(name: str) -> str:
    folder = resources.files("momentree.report") / "templates"
    return (folder / name).read_text(encoding="utf-8")


def _hash_source(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _script_json(value: Mapping[str, Any]) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # Inside a script element only "<" can end or restart it; "&" and ">" are escaped for
    # readers that treat it as markup, and U+2028/9 end a line in old script readers.
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _fitted(name: str, share: float, separator: str) -> str:
    """Return as many words of a name as its block holds; with scripts it is measured anew."""
    words = name.split(separator)
    while words and _LETTER_WIDTH * len(separator.join(words)) > share * _PLAIN_WIDTH - 16:
        words.pop()
    return separator.join(words)


def _amount(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.2f}"
