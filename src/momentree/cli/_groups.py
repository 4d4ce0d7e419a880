"""Drawing groups of records in the terminal, from the summary that the report is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from momentree.cli._terminal import (
    BAR_WIDTH,
    DEEP,
    MIN_WIDTH_BARS,
    Style,
    bar_of,
    cut,
    style_of,
    walk,
)

__all__ = ["draw_groups", "draw_outcomes", "draw_quality", "tell_codes"]

_MIN_WIDTH_INTERVALS = 80
_MIN_NAME_WIDTH = 16
_CODES = 6
"""Codes told of each group."""
_CODE_LENGTH = 40
_CLASS_LENGTH = 30
_HIDDEN = "*"


def draw_groups(summary: Mapping[str, Any], console: Console) -> Text:
    """Lay groups out: one line per node with its name, size, share and interval of the share.

    Parameters
    ----------
    summary : mapping
        What `momentree.report.summarize_records` returns.
    console : Console
        Gives the width, and by its encoding the set of characters.

    Returns
    -------
    Text
        Lines no wider than the console, with colours where the console has them.
    """
    style = style_of(console)
    nodes: Sequence[Mapping[str, Any]] = summary["nodes"]
    flat = summary["kind"] == "records-flat"
    if flat:
        nodes = [{**node, "parent": None, "depth": 0} for node in _groups(summary)]
    unit = max(node["share"] for node in nodes) if flat else 1.0
    if max(node["depth"] for node in nodes) > DEEP:
        style = style.narrow()
    width = console.width
    number_width = len(str(summary["n_leaves"] - 1)) if flat else 0
    size_width = max(len("records"), *(len(node["size"]) for node in nodes))
    intervals = [_interval(node["share_interval"], style) for node in nodes]
    interval_width = max(len("95 % interval"), *map(len, intervals))
    with_intervals = width >= _MIN_WIDTH_INTERVALS
    with_bars = width >= MIN_WIDTH_BARS
    right = 2 + size_width + 2 + len("100.0%")
    right += (2 + interval_width) if with_intervals else 0
    right += (2 + BAR_WIDTH) if with_bars else 0
    left = max(_MIN_NAME_WIDTH, width - right)

    text = Text()
    header = " " * left + "  " + "records".rjust(size_width) + "  " + "share".rjust(6)
    header += ("  " + "95 % interval".rjust(interval_width)) if with_intervals else ""
    text.append(header + "\n", style="dim")
    for (node, guide, colour), interval in zip(walk(nodes, style), intervals, strict=True):
        line = Text()
        line.append(guide, style="dim")
        room = left - cell_len(guide)
        is_leaf = node["leaf"] is not None
        if is_leaf:
            number = f"{node['leaf']:>{number_width}} "
            line.append(number, style=f"bold {colour}")
            room -= len(number)
        name = _name(node["name"], room, style)
        line.append(name, style="" if is_leaf else "dim" if node["parent"] is not None else "bold")
        line.append(" " * max(0, left - line.cell_len))
        line.append("  " + node["size"].rjust(size_width))
        line.append("  " + _percent(node["share"]).rjust(6))
        if with_intervals:
            line.append("  " + interval.rjust(interval_width), style="dim")
        if with_bars:
            bar = bar_of(node["share"] / unit, style)
            line.append("  ")
            line.append(bar.ljust(BAR_WIDTH), style=colour if is_leaf else "dim")
        line.rstrip()
        text.append_text(line)
        text.append("\n")
    return text


def tell_codes(summary: Mapping[str, Any], console: Console) -> Text:
    """Return for each group its most relevant codes, with how common they are.

    Parameters
    ----------
    summary : mapping
        What `momentree.report.summarize_records` returns.
    console : Console
        Gives the width and the set of characters.

    Returns
    -------
    Text
        A paragraph for each group.
    """
    from momentree.report.numbers import fixed, whole_percent

    style = style_of(console)
    codes = summary["codes"]
    text = Text()
    text.append("Most relevant codes: share of the group with the code (share of all records)\n")
    if any(codes["about"]):
        sign = _plain("≈", style)
        text.append(f"{sign} estimated, as numbers below {summary['min_cell']} are hidden\n")
    text.append("\n")
    indent = len(str(summary["n_leaves"] - 1)) + 2
    for node in _groups(summary):
        told = []
        top = zip(node["top"], node["top_rates"], node["top_about"], strict=True)
        for j, rate, about in list(top)[:_CODES]:
            code, name = codes["code"][j], codes["name"][j]
            title = code if name == code else f"{code} {name}"
            here = ("≈" if about else "") + whole_percent(rate)
            base = ("≈" if codes["about"][j] else "") + whole_percent(codes["rate"][j])
            rates = f"{here} ({base})".replace(" %", "%")
            told.append(f"{cut(_plain(title, style), _CODE_LENGTH)} {_plain(rates, style)}")
        if node["residual"]:
            held = fixed(node["codes_per_record"], 1)
            whole = fixed(summary["nodes"][0]["codes_per_record"], 1)
            told.insert(
                0, f"Few codes, {held} a record ({whole} in all), none in half of them: a rest"
            )
        lines = _wrapped(told or ["(no common codes)"], console.width - indent, style)
        for i, line in enumerate(lines):
            head = str(node["leaf"]).ljust(indent) if i == 0 else " " * indent
            text.append(head, style="bold").append(line + "\n")
    return text


def draw_outcomes(summary: Mapping[str, Any], console: Console) -> Text:
    """Return the rates of outcomes as tables with a column for each group.

    Parameters
    ----------
    summary : mapping
        What `momentree.report.summarize_records` returns.
    console : Console
        Gives the width and the set of characters.

    Returns
    -------
    Text
        As many tables below each other as the width asks for; nothing without outcomes.
    """
    style = style_of(console)
    rows = [("group", [str(j) for j in range(summary["n_leaves"])], "all")]
    # Of yes and no the summary has the rate of all, about where it must be.
    about = iter(summary["nodes"][0]["outcome_rates"])
    for outcome in summary["outcomes"]:
        name = outcome["name"]
        if outcome["binary"]:
            cells, _ = _rates(summary, outcome, outcome["classes"][0])
            rows.append((name, cells, _plain(next(about).replace(" ", ""), style)))
            continue
        rows.append((name, [""] * summary["n_leaves"], ""))
        for one in outcome["classes"]:
            cells, whole = _rates(summary, outcome, one)
            rows.append((f"  {one['name']}", cells, _plain(whole, style)))
    text = Text()
    if len(rows) == 1:
        return text
    text.append("Outcomes: share of the records of each group in which they are known\n")
    names = [cut(_plain(name, style), _CLASS_LENGTH) for name, _, _ in rows]
    first = max(map(cell_len, names))
    wide = 2 + max(len(cell) for _, cells, whole in rows for cell in (*cells, whole))
    block = max(1, (console.width - first) // wide - 1)
    for start in range(0, summary["n_leaves"], block):
        text.append("\n")
        for i, (name, (_, cells, whole)) in enumerate(zip(names, rows, strict=True)):
            line = name + " " * (first - cell_len(name))
            line += "".join(cell.rjust(wide) for cell in (*cells[start : start + block], whole))
            text.append(line.rstrip() + "\n", style="dim" if i == 0 else "")
    if any(_HIDDEN in (*cells, whole) for _, cells, whole in rows):
        text.append(f"\n{_HIDDEN} hidden, as it would tell a number below {summary['min_cell']}\n")
    return text


def draw_quality(summary: Mapping[str, Any]) -> list[str]:
    """Return a line for each measure of quality."""
    quality = summary["quality"]
    lines = []
    if stability := quality["stability"]:
        lines.append(
            f"Stability over {stability['n']} repeats: {stability['mean']:.2f} on average, "
            f"{stability['low']:.2f} to {stability['high']:.2f} (1: the same groups each time)"
        )
    for power in quality["predictive_power"]:
        auc = ""
        if power["auc"] is not None:
            auc = f"; AUC {power['auc']:.2f} (0.5 tells nothing, 1 everything)"
        lines.append(
            f"{power['name']}: guessed from the group alone, {100 * power['accuracy']:.1f}% of "
            f"records are right; guessing the most frequent answer for all, "
            f"{100 * power['baseline']:.1f}%{auc}"
        )
    lines += [f"{name}: {value}" for name, value in quality["other"]]
    return lines


def _groups(summary: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [node for node in summary["nodes"] if node["leaf"] is not None]


def _interval(interval: Sequence[float] | None, style: Style) -> str:
    if interval is None:
        return ""
    low, high = map(_percent, interval)
    return f"{low.removesuffix('%')}{'-' if style.dot == '-' else '–'}{high}"


def _percent(share: float) -> str:
    from momentree.report.numbers import percent

    return percent(share).replace(" ", "")


def _name(name: str, room: int, style: Style) -> str:
    """Return as much of the name of a group as fits."""
    # In the page no line ends before a dot: a blank that does not break stands there.
    parts = name.replace("\N{NO-BREAK SPACE}", " ").split(" · ")
    text = cut(f" {style.dot} ".join(_plain(part, style) for part in parts), room)
    # What is left after a cut may end in a dot, or in a name that was cut before.
    return text[:-3].rstrip(f" .…{style.dot}") + "..." if text.endswith("...") else text


def _wrapped(items: Sequence[str], width: int, style: Style) -> list[str]:
    """Join items to lines that part between items only."""
    lines = [""]
    for item in items:
        longer = f"{lines[-1]} {style.dot} {item}" if lines[-1] else item
        if lines[-1] and cell_len(longer) > width:
            lines.append(item)
        else:
            lines[-1] = longer
    return lines


def _plain(text: str, style: Style) -> str:
    # Signs of the summary, which may be all that keeps a line from ASCII.
    return text.replace("…", "...").replace("≈", "~") if style.dot == "-" else text


def _rates(
    summary: Mapping[str, Any], outcome: Mapping[str, Any], one: Mapping[str, Any]
) -> tuple[list[str], str]:
    """Return the rates of a class in each group and in all of them, as text."""
    import numpy as np

    from momentree.report.records import class_rate

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
    rate, guessed = class_rate(
        outcome,
        outcome["classes"].index(one),
        range(summary["n_leaves"]),
        np.array(about, dtype=np.float64),
        summary["min_cell"],
    )
    if one["total"] == -1:
        return cells, small
    return cells, ("≈" if guessed else "") + _percent(rate) if np.isfinite(rate) else ""
