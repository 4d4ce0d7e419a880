"""Draw what distinguishes groups of measurements: the features that set each group apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from momentree.cli._group_tables import fill_lines
from momentree.cli._nodes import cut
from momentree.messages import Message
from momentree.report.numbers import NO_VALUE, share_text

_NAME, _SHOWN = 40, 6


def draw_features(summary: Mapping[str, Any], console: Console) -> list[RenderableType]:
    """Return the features that set each group apart, with means or shares."""
    leaves = [node for node in summary["nodes"] if node["leaf"] is not None]
    if len(leaves) < 2:
        return [Text(str(Message("one_group_of_features")))]
    features = summary["features"]
    lines = [str(Message("what_sets_apart"))]
    if any(entry["estimated"] for node in leaves for entry in node["differences"][:_SHOWN]):
        lines.append(str(Message("estimated_rates", min_cell=summary["min_cell"])))
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold")
    width = len(str(summary["n_leaves"] - 1)) + 2
    for node in leaves:
        items = [described(features, entry) for entry in node["differences"][:_SHOWN]]
        found = fill_lines(items or ["(no differences can be shown)"], console.width - width)
        table.add_row(str(node["leaf"]), Text("\n".join(found), no_wrap=True))
    return [*map(Text, lines), "", table]


def described(features: list[dict[str, Any]], entry: Mapping[str, Any]) -> str:
    """Return a difference as text: "age 71.2 (54.0)"."""
    feature = features[entry["feature"]]
    name = feature["name"]
    if feature["numbers"] is None:
        place = entry["class"]
        value = feature["words"][1] if feature["binary"] else feature["classes"][place]["name"]
        name = f"{name}: {value}"
        here = share_text(entry["here"], estimated=entry["estimated"]).replace(" ", "")
        rest = share_text(entry["rest"], estimated=False).replace(" ", "")
    else:
        here, rest = (_number(feature, entry[key]) for key in ("here", "rest"))
    return f"{cut(name, _NAME)} {here} ({rest})"


def _number(feature: Mapping[str, Any], value: float | None) -> str:
    if value is None:
        return NO_VALUE
    numbers = feature["numbers"]
    known = [entry for entry in (numbers["all"], *numbers["groups"]) if entry is not None]
    return f"{value:,.{known[0]['digits'] if known else 2}f}"
