"""Draw the states of sequences: their codes, moves between them, and models to compare with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from momentree.cli._group_tables import fill_lines
from momentree.cli._nodes import Column, cut, draw_nodes, listed
from momentree.messages import Message
from momentree.report.numbers import whole_percent

_CODE = 40
_HIDDEN = "*"


def draw_states(summary: Mapping[str, Any], console: Console) -> list[RenderableType]:
    """Return the states with their codes and moves."""
    nodes = listed(summary)
    before = [
        Column("steps", [node["size"] for node in nodes]),
        Column("share", [whole_percent(node["share"]).replace(" ", "") for node in nodes]),
    ]
    after = [
        Column("stay", ["–" if n["stay"] is None else f"{n['stay']:,.1f}" for n in nodes]),
        Column("next", ["–" if n["next"] is None else str(n["next"]) for n in nodes]),
    ]
    words = [[" · ".join(node["name_parts"])] for node in nodes]
    return [
        draw_nodes(summary, words, before, after, console),
        "",
        Text(str(Message("stay_explained"))),
        "",
        *_codes(summary, console),
        *_moves(summary, console),
        *_fits(summary),
    ]


def _codes(summary: Mapping[str, Any], console: Console) -> list[RenderableType]:
    codes = summary["codes"]
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold")
    width = console.width - len(str(summary["n_leaves"] - 1)) - 2
    for node in listed(summary):
        items = [
            f"{cut(codes['short'][j], _CODE)} {_percent(rate)} ({_percent(codes['rate'][j])})"
            for j, rate in list(zip(node["top"], node["top_rates"], strict=True))[:6]
        ]
        lines = fill_lines(items or [str(Message("no_common_codes"))], width)
        table.add_row(str(node["leaf"]), Text("\n".join(lines), no_wrap=True))
    return [Text(str(Message("codes_of_states"))), "", table]


def _moves(summary: Mapping[str, Any], console: Console) -> list[RenderableType]:
    k = summary["n_leaves"]
    table = Table(box=None, padding=(0, 0, 0, 2), pad_edge=False, header_style="dim")
    for title in ("from", *map(str, range(k))):
        table.add_column(title, justify="right", no_wrap=True)
    rows = [("first step", summary["startprob"])]
    rows += [(str(j), row) for j, row in enumerate(summary["transmat"])]
    texts = [[title, *(_HIDDEN if p is None else _percent(p) for p in row)] for title, row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    if sum(widths) + 2 * k > console.width:  # the report has the table too
        return []
    for cells in texts:
        table.add_row(*cells)
    parts: list[RenderableType] = ["", Text(str(Message("moves_of_states"))), "", table]
    if any(p is None for _, row in rows for p in row):
        hidden = Message("hidden_moves", mark=_HIDDEN, min_cell=summary["min_cell"])
        parts += ["", Text(str(hidden))]
    return parts


def _fits(summary: Mapping[str, Any]) -> list[RenderableType]:
    parts: list[RenderableType] = []
    if summary["pairs"]:
        found = {key: summary["pairs"][key] for key in ("n_codes", "misfit", "misfit_of_chance")}
        parts += ["", Text(str(Message("pairs_of_codes", **found)))]
    if not summary["fits"]:
        return parts
    table = Table(box=None, padding=(0, 0, 0, 2), pad_edge=False, header_style="dim")
    table.add_column("model", no_wrap=True)
    for title in ("parameters", "BIC per step"):
        table.add_column(title, justify="right", no_wrap=True)
    lowest = min(row["bic"] for row in summary["fits"])
    for row in summary["fits"]:
        mark = " (shown)" if row["chosen"] else ""
        table.add_row(
            Text(row["model"] + mark, "bold" if row["chosen"] else ""),
            f"{row['n_parameters']:,}",
            f"{row['bic'] / summary['n_steps']:.4f}{' <' if row['bic'] == lowest else '  '}",
        )
    return [*parts, "", Text(str(Message("models_of_sequences"))), "", table]


def _percent(share: float) -> str:
    return whole_percent(share).replace(" ", "")
