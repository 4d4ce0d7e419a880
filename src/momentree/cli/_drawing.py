"""Drawing a summary in the terminal: its tree or list with columns, its tables and remarks."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from momentree.cli._progress import seconds
from momentree.cli._screen import CONTROL, one_line
from momentree.report.numbers import fixed, percent, whole_percent
from momentree.report.records import class_rate

__all__ = ["draw", "show_summary"]

_MAX_WIDTH = 120
_PIPE_WIDTH = 100
_MIN_NAME = 16
_BAR = 10
_BARS_FROM, _INTERVALS_FROM, _LABELS_FROM = 60, 80, 90
"""Narrower terminals leave out these columns."""
_LABELS, _LABELS_WIDE, _WIDE = 30, 44, 110
_MIN_LABEL_PERCENT = 5
_DEEP = 4
"""Deeper trees are indented less."""
_COLOURS = ("cyan", "magenta", "yellow", "green", "blue", "red")
_COLOUR_DEPTH = 2
"""Each branch at this depth has a colour of its own."""
_CODES = 6
_CODE, _CLASS = 40, 30
_EIGHTHS = "▏▎▍▌▋▊▉"
_HIDDEN = "*"

_BREAK = re.compile("[\t-\r\x85\u2028\u2029]")
# For encodings other than those of Unicode.
_ASCII = str.maketrans({"█": "#", "·": "-", "–": "-", "≈": "~", **dict.fromkeys(_EIGHTHS, " ")})

Node = Mapping[str, Any]


def show_summary(summary: Mapping[str, Any], took: float, remarks: Iterable[str]) -> None:
    """Print the drawing of a summary on standard output.

    Parameters
    ----------
    summary : mapping
        From `momentree.report.summarize` or `momentree.report.summarize_records`.
    took : float
        Seconds to fit.
    remarks : iterable of str
        Lines to print below it.
    """
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
    text = draw(summary, console, took, remarks)
    text.plain = CONTROL.sub(lambda match: "\n" if match[0] == "\n" else "\ufffd", text.plain)
    with console.capture() as capture:
        console.print(text, no_wrap=True, overflow="ignore", crop=False, end="")
    # Not through the console, which handles a closed pipe in its own way.
    sys.stdout.write(capture.get())


def draw(
    summary: Mapping[str, Any], console: Console, took: float = 0.0, remarks: Iterable[str] = ()
) -> Text:
    """Return the drawing of a summary: lines no wider than the console.

    Parameters
    ----------
    summary, took, remarks
        As for `show_summary`.
    console : Console
        Gives the width; an encoding other than those of Unicode gives plain ASCII.
    """
    of_records = summary["kind"].startswith("records")
    parts: list[RenderableType] = [_heading(summary, of_records, took), ""]
    if of_records:
        parts += _draw_groups(summary, console)
        lines = [*_quality(summary), *remarks]
    else:
        parts.append(_draw_topics(summary, console))
        lines = [*_agreement(summary), *remarks]
    if lines:
        parts += ["", *(Text(line) for line in lines)]
    return _laid_out(Group(*parts), console)


def _laid_out(renderable: RenderableType, console: Console) -> Text:
    """Return what a console would print, without blanks at the ends of lines."""
    drawn = []
    for line in console.render_lines(renderable, pad=False):
        text = Text.assemble(*((segment.text, segment.style or "") for segment in line))
        if console.options.ascii_only:
            text.plain = text.plain.translate(_ASCII)
        text.rstrip()
        drawn.append(text)
    return Text("\n").join([*drawn, Text()])


def _heading(summary: Mapping[str, Any], of_records: bool, took: float) -> Text:
    many, of = ("records", "codes") if of_records else ("documents", "words")
    one, several = ("group", "groups") if of_records else ("leaf", "leaves")
    if summary["kind"] == "flat":
        one, several = "topic", "topics"
    n = summary["n_leaves"]
    return Text.assemble(
        (one_line(summary["title"]), "bold"),
        f": {summary[f'n_{many}']:,} {many}, {summary['n_features']:,} {of}, "
        f"{n} {one if n == 1 else several}, {seconds(took)}",
    )


# --- The tree or list ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Column:
    """A column beside the names of nodes."""

    header: str
    cells: Sequence[str]
    left: bool = False
    dim: bool = False


@dataclass(frozen=True)
class _Name:
    """The number and words of a node: as many as fit the room that the tree leaves them."""

    number: str
    words: Sequence[str]
    colour: str
    style: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        room = options.max_width - len(self.number)
        number = (self.number, f"bold {self.colour}")
        yield Text.assemble(number, (_fit(self.words, room), self.style), no_wrap=True)


def _draw_nodes(
    summary: Mapping[str, Any],
    nodes: Sequence[Node],
    words: Sequence[Sequence[str]],
    columns: Sequence[_Column],
    console: Console,
) -> RenderableType:
    """Return the nodes as rich's tree, and beside it rich's table of their columns."""
    flat = nodes[0]["leaf"] is not None and len(nodes) > 1
    names: dict[int, _Name] = {}
    colours: dict[int, str] = {}
    palette = cycle(_COLOURS)
    digits = len(str(summary["n_leaves"] - 1)) if flat else 0
    for node, parts in zip(nodes, words, strict=True):
        own, is_leaf = node["id"], node["leaf"] is not None
        if not flat and node["parent"] in colours:
            colours[own] = colours[node["parent"]]
        elif is_leaf or node["depth"] == _COLOUR_DEPTH:
            colours[own] = next(palette)
        number = f"{node['leaf']:>{digits}} " if is_leaf else ""
        style = "" if is_leaf else "bold" if node["parent"] is None else "dim"
        names[own] = _Name(number, parts, colours.get(own, ""), style)

    table = Table(box=None, padding=(0, 0, 0, 2), header_style="dim")
    shares = [node["share"] for node in nodes]
    bars = [_bar(share / (max(shares) if flat else 1.0)) for share in shares]
    *first, last = columns
    if console.width >= _BARS_FROM:
        bar = _Column("", [f"{one:{_BAR}}" for one in bars], left=True)
        # Labels of topics stand to the right of the bars, the interval of groups to their left.
        columns = [*first, bar, last] if last.left else [*columns, bar]
    for column in columns:
        table.add_column(column.header, justify="left" if column.left else "right", no_wrap=True)
    for i, node in enumerate(nodes):
        bar_style = colours[node["id"]] if node["leaf"] is not None else "dim"
        table.add_row(
            *(
                Text(one.cells[i], "dim" if one.dim else "" if one.header else bar_style)
                for one in columns
            )
        )

    wanted = console.measure(table).maximum
    grid = Table.grid()
    grid.add_column(width=max(_MIN_NAME, console.width - wanted))
    grid.add_column(width=wanted)
    # The table has a header above the first node.
    grid.add_row(Group(" ", _branches(nodes, names, flat)), table)
    return grid


def _branches(nodes: Sequence[Node], names: Mapping[int, _Name], flat: bool) -> Tree:
    """Return nodes in pre-order as a tree; those of a list all hang from a root not shown."""
    tree = Tree("", hide_root=True) if flat else Tree(names[nodes[0]["id"]])
    tree.guide_style = "dim"
    deep = max(node["depth"] for node in nodes) > _DEEP
    tree.ASCII_GUIDES = ("  ", "| ", "|-", "`-") if deep else ("   ", "|  ", "|- ", "`- ")
    guides = ("  ", "│ ", "├ ", "└ ") if deep else ("   ", "│  ", "├─ ", "└─ ")
    tree.TREE_GUIDES = [guides] * 3
    places = {nodes[0]["id"]: tree}
    for node in nodes if flat else nodes[1:]:
        parent = tree if flat else places[node["parent"]]
        places[node["id"]] = parent.add(names[node["id"]], guide_style="dim")
    return tree


def _listed(summary: Mapping[str, Any], kind: str) -> Sequence[Node]:
    """Return the nodes to draw: of a flat summary the leaves alone."""
    nodes: Sequence[Node] = summary["nodes"]
    if summary["kind"] != kind:
        return nodes
    return [{**node, "depth": 0} for node in nodes if node["leaf"] is not None]


def _bar(share: float) -> str:
    whole, part = divmod(round(share * _BAR * 8), 8)
    return "█" * whole + (_EIGHTHS[part - 1] if part else "")


def _fit(words: Sequence[str], width: int) -> str:
    """Join as many whole words as fit; the first is shortened if even it does not."""
    line = ""
    for word in (_BREAK.sub(" ", word) for word in words):
        longer = f"{line}, {word}" if line else word
        if cell_len(longer) > width:
            break
        line = longer
    return line or (_cut(words[0], width) if words else "")


def _cut(text: str, width: int) -> str:
    """Shorten a text to a width in cells, at a space if there is one; on one line."""
    text = _BREAK.sub(" ", text).replace("…", "...")
    if cell_len(text) <= width:
        return text
    while text and cell_len(text) > max(0, width - 3):
        text = text[:-1]
    head = text.rsplit(" ", 1)[0] if " " in text else text
    return head.rstrip(" ,.·") + "..."


# --- Topics --------------------------------------------------------------------------------------


def _draw_topics(summary: Mapping[str, Any], console: Console) -> RenderableType:
    nodes = _listed(summary, "flat")
    vocabulary: Sequence[str] = summary["words"]["word"]
    columns = [
        _Column("docs", [f"{node['n_samples']:,}" for node in nodes]),
        _Column("share", [f"{100 * node['share']:.1f}%" for node in nodes]),
    ]
    if summary["labels"] and console.width >= _LABELS_FROM:
        width = _LABELS if console.width < _WIDE else _LABELS_WIDE
        labels = [_labels(node, summary["labels"], width) for node in nodes]
        columns.append(_Column("labels", labels, left=True, dim=True))
    words = [
        [node["name"]]
        if node["leaf"] is None or not node["top"]
        else [vocabulary[i] for i in node["top"]]
        for node in nodes
    ]
    return _draw_nodes(summary, nodes, words, columns, console)


def _labels(node: Node, labels: Sequence[str], width: int) -> str:
    """Return the most common labels of a node with their percentages, as many as fit."""
    line = ""
    for index, count in node["labels"]:
        share = round(100 * count / max(1, node["n_samples"]))
        if line and share < _MIN_LABEL_PERCENT:
            break
        part = f"{_cut(labels[index], width - len(f' {share}%'))} {share}%"
        longer = f"{line} · {part}" if line else part
        if line and cell_len(longer) > width:
            break
        line = longer
    return line


def _agreement(summary: Mapping[str, Any]) -> list[str]:
    agreement = summary["agreement"]
    if agreement is None:
        return []
    places = "topics" if summary["kind"] == "flat" else "leaves"
    return [
        f"Agreement of {places} and labels: NMI {agreement['nmi']:.3f}, ARI {agreement['ari']:.3f}"
    ]


# --- Groups of records ---------------------------------------------------------------------------


def _draw_groups(summary: Mapping[str, Any], console: Console) -> list[RenderableType]:
    nodes = _listed(summary, "records-flat")
    columns = [
        _Column("records", [node["size"] for node in nodes]),
        _Column("share", [_percent(node["share"]) for node in nodes]),
    ]
    if console.width >= _INTERVALS_FROM:
        intervals = [_interval(node["share_interval"]) for node in nodes]
        columns.append(_Column("95 % interval", intervals, dim=True))
    # In the page, a no-break space stands before each dot.
    words = [[node["name"].replace("\N{NO-BREAK SPACE}", " ")] for node in nodes]
    parts = [_draw_nodes(summary, nodes, words, columns, console), ""]
    return [*parts, *_draw_codes(summary, console), *_draw_outcomes(summary, console)]


def _draw_codes(summary: Mapping[str, Any], console: Console) -> list[RenderableType]:
    """Return the most relevant codes of each group, with their frequencies."""
    codes = summary["codes"]
    lines = ["Most relevant codes: share of the group with the code (share of all records)"]
    if any(codes["about"]):
        lines.append(f"≈ estimated, because counts below {summary['min_cell']} are suppressed")
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold")
    number_width = len(str(summary["n_leaves"] - 1)) + 2
    for node in summary["nodes"]:
        if node["leaf"] is None:
            continue
        items = []
        if node["residual"]:
            held = fixed(node["codes_per_record"], 1)
            overall = fixed(summary["nodes"][0]["codes_per_record"], 1)
            items.append(
                f"Residual group: {held} codes a record ({overall} overall), none in half of them"
            )
        top = zip(node["top"], node["top_rates"], node["top_about"], strict=True)
        for j, rate, about in list(top)[:_CODES]:
            code, name = codes["code"][j], codes["name"][j]
            title = _cut(code if name == code else f"{code} {name}", _CODE)
            here = ("≈" if about else "") + whole_percent(rate)
            base = ("≈" if codes["about"][j] else "") + whole_percent(codes["rate"][j])
            items.append(f"{title} {here} ({base})".replace(" %", "%"))
        wrapped = _wrapped(items or ["(no common codes)"], console.width - number_width)
        table.add_row(str(node["leaf"]), Text("\n".join(wrapped), no_wrap=True))
    return [*map(Text, lines), "", table]


def _wrapped(items: Sequence[str], width: int) -> list[str]:
    """Join items to lines that break between items only."""
    lines = [""]
    for item in items:
        longer = f"{lines[-1]} · {item}" if lines[-1] else item
        if lines[-1] and cell_len(longer) > width:
            lines.append(item)
        else:
            lines[-1] = longer
    return lines


def _draw_outcomes(summary: Mapping[str, Any], console: Console) -> list[RenderableType]:
    """Return the rates of outcomes as tables of as many groups as fit beside each other."""
    k = summary["n_leaves"]
    rows: list[tuple[str, Sequence[str], str]] = []
    # The summary has the overall rates of binary outcomes.
    overall = iter(summary["nodes"][0]["outcome_rates"])
    for outcome in summary["outcomes"]:
        if outcome["binary"]:
            rates, _ = _rates(summary, outcome, outcome["classes"][0])
            rows.append((outcome["name"], rates, next(overall).replace(" ", "")))
            continue
        rows.append((outcome["name"], [""] * k, ""))
        rows += [(f"  {one['name']}", *_rates(summary, outcome, one)) for one in outcome["classes"]]
    if not rows:
        return []
    rows = [(_cut(name, _CLASS), cells, whole) for name, cells, whole in rows]
    first = max(cell_len(name) for name, _, _ in rows)
    widest = 2 + max(len(cell) for _, cells, whole in rows for cell in (*cells, whole, "all"))
    block = max(1, (console.width - first) // widest - 1)
    parts: list[RenderableType] = [
        "",
        Text("Outcomes: share of the records of each group whose outcome is known"),
    ]
    for start in range(0, k, block):
        end = min(start + block, k)
        table = Table(box=None, padding=(0, 0, 0, 2), pad_edge=False, header_style="dim")
        table.add_column("group", width=first, no_wrap=True)
        for title in (*map(str, range(start, end)), "all"):
            table.add_column(title, justify="right", no_wrap=True, width=widest - 2)
        for name, cells, whole in rows:
            table.add_row(*map(Text, (name, *cells[start:end], whole)))
        parts += ["", table]
    if any(_HIDDEN in (*cells, whole) for _, cells, whole in rows):
        reason = f"a count below {summary['min_cell']} could be derived from it"
        parts += ["", Text(f"{_HIDDEN} suppressed, because {reason}")]
    return parts


def _rates(
    summary: Mapping[str, Any], outcome: Mapping[str, Any], one: Mapping[str, Any]
) -> tuple[list[str], str]:
    """Return the rates of a class in each group and overall, as text."""
    sizes, about = summary["groups"]["sizes"], summary["groups"]["about"]
    small = f"<{summary['min_cell']}"
    cells = []
    for count, missing, size, n in zip(
        one["counts"], outcome["missing"], sizes, about, strict=True
    ):
        if count == -1:
            cells.append(small)
        elif count < 0 or missing < 0 or size < 0:
            cells.append(_HIDDEN)
        else:
            cells.append(_percent(count / (n - missing)) if n > missing else "")
    if one["total"] == -1:
        return cells, small
    rate, estimated = class_rate(
        outcome,
        outcome["classes"].index(one),
        range(summary["n_leaves"]),
        np.array(about, dtype=np.float64),
        summary["min_cell"],
    )
    return cells, ("≈" if estimated else "") + _percent(rate) if np.isfinite(rate) else ""


def _quality(summary: Mapping[str, Any]) -> list[str]:
    """Return a line for each measure of quality."""
    quality = summary["quality"]
    lines = []
    if stability := quality["stability"]:
        lines.append(
            f"Stability over {stability['n']} samples: {stability['mean']:.2f} on average, "
            f"{stability['low']:.2f} to {stability['high']:.2f} (1 = the same groups each time)"
        )
    for power in quality["predictive_power"]:
        auc = ""
        if power["auc"] is not None:
            auc = f"; AUC {power['auc']:.2f} (0.5 = chance, 1 = perfect)"
        lines.append(
            f"{power['name']}: predicted correctly from the group alone for "
            f"{100 * power['accuracy']:.1f}% of records, from the most frequent class for "
            f"{100 * power['baseline']:.1f}%{auc}"
        )
    return [*lines, *(f"{name}: {value}" for name, value in quality["other"])]


def _interval(interval: Sequence[float] | None) -> str:
    if interval is None:
        return ""
    low, high = map(_percent, interval)
    return f"{low.removesuffix('%')}–{high}"


def _percent(share: float) -> str:
    return percent(share).replace(" ", "")
