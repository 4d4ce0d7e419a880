"""Render a summary as one HTML file that works offline."""

import base64
import hashlib
import json
import os
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from momentree._files import atomic_write
from momentree.report.sequences import state_diagram
from momentree.report.text import fixed, pack, percent, whole_percent
from momentree.report.topics.chart import stacked_areas

_STYLES = {
    "topics": "base views node proportions documents print",
    "records": "base views node proportions records print",
    "measurements": "base views node proportions records measurements print",
    "sequences": "base views node proportions records sequences print",
}
_SCRIPTS = {
    "topics": "core topics tree map topics_node topics_documents topics_map proportions "
    "topics_search views rename export address topics_start",
    "records": "core groups records_numbers tree map groups_outcomes records_node records_heat "
    "records_codes records_rule records_assign views rename export address records_start",
    "measurements": "core groups tree map groups_outcomes measurements_node views rename export "
    "address measurements_start",
    "sequences": "core sequences tree map proportions views rename export address sequences_start",
}
# Parts of a summary that the page shows without scripts.
_NOT_IN_SCRIPT = (
    "table_one",
    "fits",
    "certainty",
    "corrected",
    "profile",
    "paths",
    "pairs",
    "examples",
)
# Runs before the page is painted; parts that need scripts are hidden without scripts.
_FIRST_SCRIPT = 'document.documentElement.classList.add("js");'
# Without scripts, names in the icicle fit a page of this width in pixels.
_PLAIN_WIDTH = 760
_LETTER_WIDTH = 7.5


def render_html(summary: Mapping[str, Any]) -> str:
    """Render a summary as one self-contained HTML page.

    Parameters
    ----------
    summary : mapping
        From `summarize`, `summarize_records`, `summarize_measurements` or `summarize_sequences`.

    Returns
    -------
    str
        A complete HTML document. Styles, scripts and data are inline, and a content security
        policy forbids loading anything. Equal summaries give equal strings.

    Examples
    --------
    >>> from momentree import TopicTree
    >>> from momentree.report import render_html, summarize
    >>> tree = TopicTree(2).fit([[9, 1, 0], [0, 2, 8]] * 9)
    >>> render_html(summarize(tree, title="Logbook"))[:15]
    '<!DOCTYPE html>'
    """
    kind = summary["kind"].partition("-")[0]
    kind = kind if kind in _STYLES else "topics"
    styles = "".join(_read(f"{name}.css") for name in _STYLES[kind].split())
    scripts = "".join(_read(f"{name}.js") for name in _SCRIPTS[kind].split())
    script = f"(() => {{\n'use strict';\n{scripts}}})();"
    leaves = [node for node in summary["nodes"] if node["leaf"] is not None]
    rows = max(node["cell"]["bottom"] for node in summary["nodes"])
    template = _environment().get_template(f"{kind}.html.j2")
    return template.render(
        summary=summary,
        nodes=summary["nodes"],
        row_height=max(7, min(44, 230 // rows)),  # pixels
        rows=rows,
        topics=sorted(leaves, key=lambda node: int(node["leaf"])),
        by_share=leaves,
        flat="flat" in summary["kind"],
        style=Markup(styles),  # noqa: S704  own files
        first_script=Markup(_FIRST_SCRIPT),  # noqa: S704  a constant
        script=Markup(script),  # noqa: S704  own files
        script_hashes=" ".join(map(_hash_source, (_FIRST_SCRIPT, script))),
        data=Markup(_script_json(_pack(summary))),  # noqa: S704  escaped by _script_json
        chart=stacked_areas(summary["areas"]) if summary.get("areas") else [],
        mixes="alpha0" in summary["made"]["parameters"],
        diagram=state_diagram(summary) if kind == "sequences" else None,
        most_in_matrix=40,  # larger tables are hard to read; lists of pairs remain
    )


def write_html(summary: Mapping[str, Any], path: str | os.PathLike[str]) -> Path:
    """Write the page of `render_html` to a file; on an error, no partial file remains.

    Parameters
    ----------
    summary : mapping
        From `summarize`, `summarize_records`, `summarize_measurements` or `summarize_sequences`.
    path : str or path-like
        File to write; an existing file is replaced.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    OSError
        If the folder is missing or not writable, or the disk is full. An existing file is then
        unchanged.
    """
    page = render_html(summary).encode("utf-8")
    with atomic_write(Path(path)) as stream:
        stream.write(page)
    return Path(path)


@cache  # with the compiled templates, which take longer to compile than to render
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("momentree.report", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "amount": _amount,
        "count": _count,
        "fitted": _fitted,
        "fixed": fixed,
        "integer": lambda value: f"{value:,}",
        "numbered": _numbered,
        "percent": percent,
        "size": _size,
        "whole_percent": whole_percent,
    }
    return environment


def _read(name: str) -> str:
    folder = resources.files("momentree.report") / "templates"
    return (folder / name).read_text(encoding="utf-8")


def _hash_source(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _pack(summary: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what scripts need of a summary, its documents packed: this halves the page."""
    needed = {key: value for key, value in summary.items() if key not in _NOT_IN_SCRIPT}
    if "documents" not in needed:
        return needed
    documents = {**needed["documents"], "items": pack(needed["documents"]["items"])}
    return {**needed, "documents": documents}


def _script_json(value: Mapping[str, Any]) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # Only "<" can end or restart a script element; escape "&" and ">" for parsers that treat it
    # as markup, and U+2028/9, which end a line in old versions of JavaScript.
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _fitted(name: str, share: float, separator: str) -> str:
    """Return as many words of a name as should fit its block, before a script measures exactly."""
    words = name.split(separator)
    while words and _LETTER_WIDTH * len(separator.join(words)) > share * _PLAIN_WIDTH - 16:
        words.pop()
    return separator.join(words)


def _numbered(node: Mapping[str, Any]) -> str:
    """Return the name of a node, after its number if it is a leaf."""
    return str(node["name"] if node["leaf"] is None else f"{node['leaf']} {node['name']}")


def _size(node: Mapping[str, Any]) -> str:
    """Return the number of documents or records of a node, which may be suppressed, as "<5"."""
    return str(node.get("size", f"{node['n_samples']:,}"))


def _count(size: int | str, noun: str) -> str:
    """Return a number, or one written as by `_size`, with its noun."""
    text = size if isinstance(size, str) else f"{size:,}"
    return f"{text} {noun}{'' if text == '1' else 's'}"


def _amount(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.2f}"
