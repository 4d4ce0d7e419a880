"""Draw nodes: a tree or list of their names, next to a table of columns, both by rich."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, cycle, takewhile
from typing import Any, Literal

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

_MIN_NAME = 16
_BAR = 10
_BARS_FROM = 60
"""Minimum width of the terminal for bars."""
_COLORS = ("cyan", "magenta", "yellow", "green", "blue", "red")
EIGHTHS = "▏▎▍▌▋▊▉"
"""Last character of a bar, by its width."""

_BREAK = re.compile("[\t-\r\x85\u2028\u2029]")

Node = Mapping[str, Any]


@dataclass(frozen=True)
class Column:
    """A column next to the names of nodes."""

    header: str
    cells: Sequence[str]
    justify: Literal["left", "right"] = "right"
    styles: Sequence[str] = ()


@dataclass(frozen=True)
class _Name:
    """The number, the name and more words of a node: as many as fit next to the tree."""

    number: str
    words: Sequence[str]
    color: str
    style: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        room = options.max_width - len(self.number)
        number = (self.number, f"bold {self.color}")
        yield Text.assemble(number, (_fit(self.words, room), self.style), no_wrap=True)


def listed(summary: Mapping[str, Any]) -> Sequence[Node]:
    """Return the nodes to draw: all nodes of a tree, only the leaves of a flat model."""
    nodes: Sequence[Node] = summary["nodes"]
    return nodes if _is_tree(summary) else [node for node in nodes if node["leaf"] is not None]


def _is_tree(summary: Mapping[str, Any]) -> bool:
    return str(summary["kind"]).endswith("tree")


def draw_nodes(
    summary: Mapping[str, Any],
    words: Sequence[Sequence[str]],
    before: Sequence[Column],
    after: Sequence[Column],
    console: Console,
) -> RenderableType:
    """Return the nodes of a summary as lines with names, columns and bars."""
    nodes = listed(summary)
    colors = _colors(nodes)
    # Proportions of many topics are small, so the longest bar of a list fills its column.
    unit = 1.0 if _is_tree(summary) else max(node["share"] for node in nodes)
    bars = Column(
        "",
        [f"{_bar(node['share'] / unit):{_BAR}}" for node in nodes],
        "left",
        ["dim" if node["leaf"] is None else colors[node["id"]] for node in nodes],
    )
    columns = [*before, *([bars] if console.width >= _BARS_FROM else []), *after]
    table = Table(box=None, padding=(0, 0, 0, 2), header_style="dim")
    for column in columns:
        table.add_column(column.header, justify=column.justify, no_wrap=True)
    for i in range(len(nodes)):
        table.add_row(*(Text(c.cells[i], c.styles[i] if c.styles else "") for c in columns))
    digits = 0 if _is_tree(summary) else len(str(summary["n_leaves"] - 1))
    names = {}
    for node, parts in zip(nodes, words, strict=True):
        number = "" if node["leaf"] is None else f"{node['leaf']:>{digits}} "
        style = "" if number else "bold" if node["parent"] is None else "dim"
        names[node["id"]] = _Name(number, parts, colors.get(node["id"], ""), style)
    width = console.measure(table).maximum
    grid = Table.grid()
    grid.add_column(width=max(_MIN_NAME, console.width - width))
    grid.add_column(width=width)
    # A blank line next to the header of the table.
    grid.add_row(Group(" ", _branches(summary, names)), table)
    return grid


def _colors(nodes: Sequence[Node]) -> dict[int, str]:
    """Return colors by node: one per branch at one depth, or per leaf above it."""
    depth = 2 if sum(node["depth"] == 1 for node in nodes) == 2 else 1
    colors: dict[int, str] = {}
    palette = cycle(_COLORS)
    for node in nodes:
        if node["parent"] in colors:
            colors[node["id"]] = colors[node["parent"]]
        elif node["leaf"] is not None or node["depth"] == depth:
            colors[node["id"]] = next(palette)
    return colors


def _branches(summary: Mapping[str, Any], names: Mapping[int, _Name]) -> Tree:
    """Return names as a tree; a list has a hidden root."""
    root, *others = listed(summary)
    tree = Tree(names[root["id"]], guide_style="dim")
    places: dict[int, Tree] = {}
    if not _is_tree(summary):
        tree, others = Tree("", hide_root=True), [root, *others]
    deep = max(node["depth"] for node in (root, *others)) > 4  # indent deep trees less
    tree.ASCII_GUIDES = ("  ", "| ", "|-", "`-") if deep else ("   ", "|  ", "|- ", "`- ")
    guides = ("  ", "│ ", "├ ", "└ ") if deep else ("   ", "│  ", "├─ ", "└─ ")
    tree.TREE_GUIDES = [guides] * 3
    for node in others:
        places[node["id"]] = places.get(node["parent"], tree).add(names[node["id"]])
    return tree


def _bar(share: float) -> str:
    whole, part = divmod(round(share * _BAR * 8), 8)
    return "█" * whole + (EIGHTHS[part - 1] if part else "")


def _fit(words: Sequence[str], width: int) -> str:
    """Return a name and as many whole words as fit; shorten the name if even it does not fit."""
    line, *further = (_BREAK.sub(" ", word) for word in words)
    if cell_len(line) > width:
        terms = line.split(", ")
        while len(terms) > 1 and cell_len(", ".join(terms)) > width:
            terms.pop()
        return cut(", ".join(terms), width)
    for i, word in enumerate(further):
        longer = f"{line}{', ' if i else ' · '}{word}"
        if cell_len(longer) > width:
            break
        line = longer
    return line


def cut(text: str, width: int) -> str:
    """Shorten a text to one line of a width in cells, at a space if possible."""
    text = _BREAK.sub(" ", text).replace("…", "...")
    if cell_len(text) <= width:
        return text
    ends = accumulate(map(cell_len, text))
    text = text[: len(list(takewhile((width - 3).__ge__, ends)))]
    head = text.rsplit(" ", 1)[0] if " " in text else text
    return head.rstrip(" ,.·") + "..."
