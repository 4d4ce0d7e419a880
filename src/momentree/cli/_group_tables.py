"""Draw what distinguishes groups of records: codes, outcomes and measures of quality."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from momentree.cli._nodes import cut
from momentree.messages import Message
from momentree.report.disclosure import SMALL, Disclosure
from momentree.report.numbers import fixed, percent, whole_percent

_CODE, _CLASS = 40, 30
"""Maximum lengths of names of codes and of classes."""
_HIDDEN = "*"


def draw_codes(summary: Mapping[str, Any], console: Console) -> list[RenderableType]:
    """Return the most relevant codes of each group, with their frequencies."""
    codes = summary["codes"]
    lines = ["Most relevant codes: share of the group with the code (share of all records)"]
    if any(codes["estimated"]):
        lines.append(str(Message("estimated_rates", min_cell=summary["min_cell"])))
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold")
    number_width = len(str(summary["n_leaves"] - 1)) + 2
    for node in summary["nodes"]:
        if node["leaf"] is None:
            continue
        items = []
        if node["residual"]:
            held, overall = (fixed(of["codes_per_record"], 1) for of in (node, summary["nodes"][0]))
            items.append(str(Message("residual_group", n_codes=held, n_overall=overall)))
        top = zip(node["top"], node["top_rates"], node["top_estimated"], strict=True)
        for j, rate, estimated in list(top)[:6]:
            code = codes["code"][j]
            name = codes["short"][j].removesuffix(f" ({code})")  # shown with the code
            title = cut(code if name == code else f"{code} {name}", _CODE)
            here = _approximate(rate, estimated)
            base = _approximate(codes["rate"][j], codes["estimated"][j])
            items.append(f"{title} {here} ({base})")
        wrapped = fill_lines(
            items or [str(Message("no_common_codes"))], console.width - number_width
        )
        table.add_row(str(node["leaf"]), Text("\n".join(wrapped), no_wrap=True))
    return [*map(Text, lines), "", table]


def _approximate(rate: float, estimated: bool) -> str:
    return ("≈" if estimated else "") + whole_percent(rate).replace(" ", "")


def fill_lines(items: Sequence[str], width: int) -> list[str]:
    """Join items into lines that break only between items."""
    lines = [""]
    for item in items:
        longer = f"{lines[-1]} · {item}" if lines[-1] else item
        if lines[-1] and cell_len(longer) > width:
            lines.append(item)
        else:
            lines[-1] = longer
    return lines


def draw_outcomes(summary: Mapping[str, Any], console: Console) -> list[RenderableType]:
    """Return the rates of outcomes as tables, each with as many groups as fit."""
    k = summary["n_leaves"]
    rows: list[tuple[str, Sequence[str], str]] = []
    # The summary has the overall rates of binary outcomes.
    overall = iter(summary["nodes"][0]["outcome_rates"])
    for outcome in summary["outcomes"]:
        if outcome["numbers"] is not None:
            rows += _numeric_rows(outcome)
            continue
        if outcome["binary"]:
            rates, _ = _rates(summary, outcome, outcome["classes"][0])
            rows.append((outcome["name"], rates, next(overall).replace(" ", "")))
            continue
        rows.append((outcome["name"], [""] * k, ""))
        rows += [(f"  {one['name']}", *_rates(summary, outcome, one)) for one in outcome["classes"]]
    if not rows:
        return []
    rows = [(cut(name, _CLASS), cells, whole) for name, cells, whole in rows]
    first = max(cell_len(name) for name in ("group", *(name for name, _, _ in rows)))
    widest = 2 + max(len(cell) for _, cells, whole in rows for cell in (*cells, whole, "all"))
    block = max(1, (console.width - first) // widest - 1)
    covariates = any(outcome["covariate"] for outcome in summary["outcomes"])
    what, value = ("Outcomes and covariates", "value") if covariates else ("Outcomes", "outcome")
    numeric = any(outcome["numbers"] is not None for outcome in summary["outcomes"])
    kind = "rates and means" if numeric else "rates"
    parts: list[RenderableType] = [
        "",
        Text(f"{what}: {kind} in each group, among records with a known {value}"),
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
        reason = Message("suppressed_rates", mark=_HIDDEN, min_cell=summary["min_cell"])
        parts += ["", Text(str(reason))]
    return parts


def _numeric_rows(outcome: Mapping[str, Any]) -> list[tuple[str, Sequence[str], str]]:
    """Return the means, standard deviations and medians of a numeric outcome, as text."""
    found = outcome["numbers"]
    rows: list[tuple[str, Sequence[str], str]] = []
    for title, key in (("mean", "mean"), ("SD", "sd"), ("median", "median")):
        cells = [
            _HIDDEN if hidden else "" if entry is None else f"{entry[key]:,.{entry['digits']}f}"
            for entry, hidden in zip(found["groups"], found["hidden"], strict=True)
        ]
        whole = found["all"]
        overall = "" if whole is None else f"{whole[key]:,.{whole['digits']}f}"
        rows.append((f"{outcome['name']}, {title}", cells, overall))
    return rows


def draw_fits(summary: Mapping[str, Any]) -> list[RenderableType]:
    """Return the table of fits with different numbers of groups."""
    if not summary["fits"]:
        return []
    table = Table(box=None, padding=(0, 0, 0, 2), pad_edge=False, header_style="dim")
    rows = summary["fits"]["rows"]
    shown = [
        at
        for at, name in enumerate(summary["fits"]["columns"])
        if name not in ("Log-likelihood", "Parameters") and {row[at] for row in rows} != {"–"}
    ]
    for at in shown:
        table.add_column(summary["fits"]["columns"][at].lower(), justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(row[at]) for at in shown))
    lowest = summary["fits"]["lowest"]
    compared = [Text(str(Message("fits_compared", **lowest)))]
    if summary["fits"]["open"]:
        compared.append(Text(str(Message("fits_open", most=lowest["bic"]))))
    return ["", *compared, "", table]


def _rates(
    summary: Mapping[str, Any], outcome: Mapping[str, Any], one: Mapping[str, Any]
) -> tuple[list[str], str]:
    """Return the rates of a class in each group and overall, as text."""
    sizes, estimates = summary["groups"]["sizes"], summary["groups"]["estimated"]
    disclosure = Disclosure(summary["min_cell"])
    cells = []
    for count, missing, size, n in zip(
        one["counts"], outcome["missing"], sizes, estimates, strict=True
    ):
        if count == SMALL:
            cells.append(disclosure.symbol)
        elif count < 0 or missing < 0 or size < 0:
            cells.append(_HIDDEN)
        else:
            cells.append(tight_percent(count / (n - missing)) if n > missing else "")
    if one["total"] == SMALL:
        return cells, disclosure.symbol
    rate, estimated = disclosure.class_rate(
        outcome,
        outcome["classes"].index(one),
        range(summary["n_leaves"]),
        np.array(estimates, dtype=np.float64),
    )
    return cells, ("≈" if estimated else "") + tight_percent(rate) if np.isfinite(rate) else ""


def describe_quality(summary: Mapping[str, Any]) -> list[str]:
    """Return a line for each measure of quality."""
    quality = summary["quality"]
    lines = []
    diagonal = [
        row[j] for j, row in enumerate(summary["certainty"]["mean_posterior"]) if row is not None
    ]
    if summary["n_leaves"] > 1 and diagonal:
        entropy = summary["certainty"]["entropy"]
        lines.append(Message("certainty", entropy=entropy, low=min(diagonal), high=max(diagonal)))
    if residuals := quality["residuals"]:
        pair = residuals["pairs"][0]
        first, second = (repr(cut(name, _CODE)) for name in pair["items"])
        values = {"residual": pair["residual"], "limit": residuals["limit"]}
        lines.append(Message("residual_dependence", first=first, second=second, **values))
    if stability := quality["stability"]:
        lines.append(Message("stability_of_groups", **stability))
    for power in quality["predictive_power"]:
        auc = "" if power["auc"] is None else Message("and_auc", auc=power["auc"])
        lines.append(Message("outcome_predicted", **{**power, "auc": auc}))
    return [*map(str, lines), *(f"{name}: {value}" for name, value in quality["other"])]


def tight_percent(share: float) -> str:
    """Return a percentage with one decimal and no space."""
    return percent(share).replace(" ", "")
