"""Show a tree in a notebook as collapsible HTML without scripts."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

from momentree.tree.naming import nodes_by_number, shown_words
from momentree.tree.node import TreeNode

# Nodes deeper than this are initially collapsed.
_OPEN_DEPTH = 3

_STYLE = (
    ".momentree{font-size:.95em;line-height:1.5;max-width:60em}"
    ".momentree details,.momentree .leaf{margin-left:1.1em}"
    ".momentree>details,.momentree>.leaf{margin-left:0}"
    ".momentree summary{cursor:pointer}"
    ".momentree .leaf{padding-left:1em}"
    ".momentree small{opacity:.72}"
    ".momentree .bar{display:inline-block;width:6em;height:.5em;margin-right:.6em;"
    "border-radius:3px;background:rgba(128,128,128,.22);vertical-align:middle}"
    ".momentree .bar i{display:block;height:100%;min-width:2px;border-radius:3px;"
    "background:#4f9a94}"
)


_SAMPLES = {"binary": "records", None: "documents"}
"""Word for samples by kind of data of a cluster tree; None is for topic trees."""

_MAX_NAME = 36
"""Maximum length of a code name in characters, so that a node fits on one or two lines."""


_UNNAMED = "columns_without_names"


def repr_html(estimator: Any) -> str:
    """Render a fitted tree as a collapsible nested list, without scripts."""
    root = estimator.tree_
    kind = getattr(estimator, "data_", None)
    n_words = 5 if kind == "binary" else 8
    n_leaves = sum(1 for _ in root.leaves())
    head = (
        f"<p><b>{escape(type(estimator).__name__)}</b> "
        f"<small>{root.n_samples:,} {_SAMPLES.get(kind, 'samples')}, {n_leaves} "
        f"{'leaf' if n_leaves == 1 else 'leaves'}</small></p>"
    )

    by_number = nodes_by_number(root)
    given = {id(by_number[number]) for number in getattr(estimator, "given_names_", {})}

    described = getattr(estimator, "_described", False)
    unnamed = kind in ("real", "directions", "embeddings") and not described

    def words(node: TreeNode) -> str:
        if unnamed or id(node) in given:
            return node.name
        order = shown_words(node, root.center, n_words)
        top = [(str(estimator.vocabulary_[j]), node.center[j]) for j in order]
        if kind == "binary":
            return " · ".join(f"{_cut(name)} {100 * rate:.0f}\u00a0%" for name, rate in top)
        return ", ".join(name for name, _ in top)

    body = _render(root, words)
    hints = [str(note) for note in getattr(estimator, "notes_", ()) if note.code == _UNNAMED]
    hint = "".join(f"<p><small>Note: {escape(note)}</small></p>" for note in hints)
    return f'<div class="momentree"><style>{_STYLE}</style>{head}{body}{hint}</div>'


def _render(node: TreeNode, words: Callable[[TreeNode], str]) -> str:
    number = f"<b>{node.leaf_id}:</b> " if node.is_leaf else ""
    line = (
        f'<span class="bar"><i style="width:{100 * node.weight:.1f}%"></i></span>'
        f'{number}<span dir="auto">{escape(words(node))}</span> '
        f"<small>{node.n_samples:,} ({100 * node.weight:.1f}&nbsp;%)</small>"
    )
    if node.is_leaf:
        return f'<div class="leaf">{line}</div>'
    inside = "".join(_render(child, words) for child in node.children)
    is_open = " open" if node.depth < _OPEN_DEPTH else ""
    return f"<details{is_open}><summary>{line}</summary>{inside}</details>"


def _cut(name: str) -> str:
    return name if len(name) <= _MAX_NAME else name[: _MAX_NAME - 1].rstrip(" ,;(") + "…"
