"""Drawing topics in the terminal from the summary that the report is made of."""

from __future__ import annotations

import itertools
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from momentree.cli._screen import CONTROL

__all__ = [
    "BAR_WIDTH",
    "DEEP",
    "MIN_WIDTH_BARS",
    "Style",
    "bar_of",
    "cut",
    "draw_topics",
    "print_text",
    "stdout_console",
    "style_of",
    "walk",
]

_MAX_WIDTH = 120
_PIPE_WIDTH = 100
BAR_WIDTH = 10
_MIN_LABEL_PERCENT = 5  # rarer labels are left to the report
# Below these widths first the labels go, then the bars.
_MIN_WIDTH_LABELS = 90
MIN_WIDTH_BARS = 60
_MIN_WORDS_WIDTH = 16
_WIDE = 110
_LABELS_WIDTH, _LABELS_WIDTH_WIDE = 30, 44
DEEP = 4
# Each branch at this depth has a colour of its own.
_COLOUR_DEPTH = 2
_BRANCH_COLOURS = ("cyan", "magenta", "yellow", "green", "blue", "red")
_BREAK = re.compile("[\t-\r\x85\u2028\u2029]")


@dataclass(frozen=True)
class Style:
    """The characters that the output's encoding allows."""

    tee: str
    corner: str
    pipe: str
    bar: str
    parts: str
    dot: str

    def narrow(self) -> Style:
        """Indent by two columns a level instead of three, to leave room for words."""
        return replace(self, tee=self.tee[::2], corner=self.corner[::2], pipe=self.pipe[::2])


_UNICODE = Style("├─ ", "└─ ", "│  ", "█", "▏▎▍▌▋▊▉", "·")
_ASCII = Style("|- ", "`- ", "|  ", "#", "", "-")


def style_of(console: Console) -> Style:
    """Return the characters that a console can show."""
    return _UNICODE if (console.encoding or "").lower().startswith("utf") else _ASCII


def stdout_console() -> Console:
    """Return a console on stdout: colours on a terminal only, at most 120 columns."""
    is_terminal = sys.stdout.isatty()
    console = Console(
        highlight=False,
        markup=False,
        emoji=False,
        width=None if is_terminal or os.environ.get("COLUMNS") else _PIPE_WIDTH,
        no_color=True if os.environ.get("NO_COLOR") else None,
        force_terminal=None if is_terminal else False,
    )
    console.width = min(console.width, _MAX_WIDTH)
    return console


def print_text(console: Console, text: Text) -> None:
    """Print lines that are already laid out, without wrapping them again."""
    text = text.copy()
    text.plain = CONTROL.sub(lambda match: "\n" if match[0] == "\n" else "\ufffd", text.plain)
    with console.capture() as capture:
        console.print(text, no_wrap=True, overflow="ignore", crop=False, end="")
    # Not through the console: it answers a closed pipe in its own way.
    sys.stdout.write(capture.get())


def draw_topics(summary: Mapping[str, Any], console: Console) -> Text:
    """Lay topics out: one line per node with its words, size, share and most common labels.

    A tree is drawn with its branches, a flat list as the table of its topics.

    Parameters
    ----------
    summary : mapping
        What `momentree.report.summarize` returns.
    console : Console
        Gives the width, and by its encoding the set of characters.

    Returns
    -------
    Text
        Lines no wider than the console, with colours where the console has them.
    """
    style = style_of(console)
    nodes: Sequence[Mapping[str, Any]] = summary["nodes"]
    flat = summary["kind"] == "flat"
    if flat:
        leaves = [node for node in nodes if node["leaf"] is not None]
        nodes = [{**node, "parent": None, "depth": 0} for node in leaves]
    # Shares of many topics are all small: the largest fills its bar.
    unit = max(node["share"] for node in nodes) if flat else 1.0
    number_width = len(str(summary["n_leaves"] - 1)) if flat else 0
    words: Sequence[str] = summary["words"]["word"]
    if max(node["depth"] for node in nodes) > DEEP:
        style = style.narrow()
    width = console.width
    labels_width = _LABELS_WIDTH if width < _WIDE else _LABELS_WIDTH_WIDE
    labels: Sequence[str] | None = summary["labels"] if width >= _MIN_WIDTH_LABELS else None
    size_width = max(len(_count(summary["n_documents"])), len("docs"))
    right = 2 + size_width + 2 + len("100.0%")
    bars = width >= MIN_WIDTH_BARS
    right += (2 + BAR_WIDTH) if bars else 0
    right += (2 + labels_width) if labels else 0
    left = max(_MIN_WORDS_WIDTH, width - right)

    text = Text()
    header = " " * left + "  " + "docs".rjust(size_width) + "  " + "share".rjust(6)
    header += (" " * (2 + BAR_WIDTH) + "  labels") if labels else ""
    text.append(header.rstrip() + "\n", style="dim")
    for node, guide, colour in walk(nodes, style):
        line = Text()
        line.append(guide, style="dim")
        is_leaf = node["leaf"] is not None
        room = left - cell_len(guide)
        if is_leaf:
            number = f"{node['leaf']:>{number_width}} "
            line.append(number, style=f"bold {colour}")
            room -= len(number)
            name = _fit([words[i] for i in node["top"]], room) or cut(node["name"], room)
        else:
            name = cut(node["name"], room)
        line.append(name, style="" if is_leaf else "dim" if node["parent"] is not None else "bold")
        line.append(" " * max(0, left - line.cell_len))
        line.append("  " + _count(node["n_samples"]).rjust(size_width))
        line.append("  " + f"{100 * node['share']:.1f}%".rjust(6))
        if bars:
            bar = bar_of(node["share"] / unit, style)
            line.append("  ")
            line.append(bar.ljust(BAR_WIDTH), style=colour if is_leaf else "dim")
        if labels:
            line.append("  " + _label_summary(node, labels, labels_width, style), style="dim")
        line.rstrip()
        text.append_text(line)
        text.append("\n")
    return text


def walk(
    nodes: Sequence[Mapping[str, Any]], style: Style
) -> list[tuple[Mapping[str, Any], str, str]]:
    """Return (node, guide before it, colour of its branch) in pre-order, which nodes are in."""
    by_id = {node["id"]: node for node in nodes}
    below: dict[int, str] = {}  # what stands before the children of a node
    colours: dict[int, str] = {}
    palette = itertools.cycle(_BRANCH_COLOURS)
    lines = []
    for node in nodes:
        own, parent = node["id"], node["parent"]
        if parent is None:
            below[own], guide = "", ""
        else:
            last = by_id[parent]["children"][-1] == own
            guide = below[parent] + (style.corner if last else style.tee)
            below[own] = below[parent] + (" " * len(style.pipe) if last else style.pipe)
        if parent in colours:
            colours[own] = colours[parent]
        elif node["depth"] == _COLOUR_DEPTH or node["leaf"] is not None:
            colours[own] = next(palette)
        lines.append((node, guide, colours.get(own, "")))
    return lines


def _count(number: int) -> str:
    return f"{number:,}"


def cut(text: str, width: int) -> str:
    """Shorten a text to a width in cells, at a space where there is one; on one line."""
    text = _BREAK.sub(" ", text)
    if cell_len(text) <= width:
        return text
    while text and cell_len(text) > max(0, width - 3):
        text = text[:-1]
    head = text.rsplit(" ", 1)[0] if " " in text else text
    return head.rstrip(" ,") + "..."


def _fit(words: Sequence[str], width: int) -> str:
    """Join as many whole words as fit; the first is shortened when even it does not."""
    line = ""
    for word in (_BREAK.sub(" ", word) for word in words):
        longer = f"{line}, {word}" if line else word
        if cell_len(longer) > width:
            break
        line = longer
    return line or (cut(words[0], width) if words else "")


def bar_of(share: float, style: Style) -> str:
    """Return the bar of a share in [0, 1], at most `BAR_WIDTH` columns wide."""
    eighths = round(share * BAR_WIDTH * (len(style.parts) + 1))
    whole, rest = divmod(eighths, len(style.parts) + 1)
    return style.bar * whole + (style.parts[rest - 1] if rest else "")


def _label_summary(node: Mapping[str, Any], labels: Sequence[str], width: int, style: Style) -> str:
    """Name the most common labels with their shares, as many as fit."""
    line = ""
    for index, count in node["labels"]:
        share = round(100 * count / max(1, node["n_samples"]))
        if line and share < _MIN_LABEL_PERCENT:
            break
        part = f"{labels[index]} {share}%"
        longer = f"{line} {style.dot} {part}" if line else part
        if cell_len(longer) > width:
            break
        line = longer
    if line or not node["labels"]:
        return line
    index, count = node["labels"][0]
    share = f" {round(100 * count / max(1, node['n_samples']))}%"
    return cut(labels[index], width - len(share)) + share
