"""Draw what distinguishes groups and states: codes, features, outcomes, moves and fits."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from momentree.cli._nodes import Column, Node, cut, draw_nodes, listed
from momentree.messages import Message
from momentree.report.disclosure import SMALL, Disclosure
from momentree.report.text import NO_VALUE, fixed, percent, share_text, whole_percent

_NO_COMMON_CODES = "[no_common_codes] (no common codes)"
_ESTIMATED_RATES = "[estimated_rates] ≈ estimated, because counts below {min_cell} are suppressed"


_NAME, _CLASS = 40, 30
"""Maximum lengths of names of codes and features, and of classes."""
_N_ITEMS = 6
"""Codes or features of a group."""
_HIDDEN = "*"

Row = tuple[str, Sequence[str], str]
"""A name, what it is in each group, and what it is in all records."""


def tight_percent(share: float) -> str:
    """Return a percentage with one decimal and no space."""
    return percent(share).replace(" ", "")


def _tight_whole(share: float, *, estimated: bool = False) -> str:
    return ("≈" if estimated else "") + whole_percent(share).replace(" ", "")


def _table(*titles: str, justify: Any = "right") -> Table:
    table = Table(box=None, padding=(0, 0, 0, 2), pad_edge=False, header_style="dim")
    for title in titles:
        table.add_column(title, justify=justify, no_wrap=True)
    return table


def _line(template: str, **values: Any) -> Text:
    """Return a message as a line."""
    return Text(str(Message(template, **values)))


def _draw_items(
    summary: Mapping[str, Any],
    console: Console,
    items_of: Callable[[Node], Iterable[str]],
    nothing: str,
) -> Table:
    """Return a table with items for each group, in lines that break only between items."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold")
    width = console.width - len(str(summary["n_leaves"] - 1)) - 2
    for node in summary["nodes"]:
        if node["leaf"] is not None:
            lines = _filled(list(items_of(node)) or [nothing], width)
            table.add_row(str(node["leaf"]), Text("\n".join(lines), no_wrap=True))
    return table


def _filled(items: Sequence[str], width: int) -> list[str]:
    lines = [""]
    for item in items:
        longer = f"{lines[-1]} · {item}" if lines[-1] else item
        if lines[-1] and cell_len(longer) > width:
            lines.append(item)
        else:
            lines[-1] = longer
    return lines


def draw_codes(summary: Mapping[str, Any], console: Console) -> list[RenderableType]:
    """Return the most relevant codes of each group, with their frequencies."""
    codes = summary["codes"]
    lines = [Text("Most relevant codes: share of the group with the code (share of all records)")]
    if any(codes["estimated"]):
        lines.append(_line(_ESTIMATED_RATES, min_cell=summary["min_cell"]))

    def items_of(node: Node) -> Iterable[str]:
        if node["residual"]:
            own, overall = (fixed(n["codes_per_record"], 1) for n in (node, summary["nodes"][0]))
            yield str(
                Message(
                    "[residual_group] Residual group: {n_codes} codes per record ({n_overall} "
                    "overall), no code in half of them",
                    n_codes=own,
                    n_overall=overall,
                )
            )
        top = list(zip(node["top"], node["top_rates"], node["top_estimated"], strict=True))
        for j, rate, estimated in top[:_N_ITEMS]:
            code = codes["code"][j]
            name = codes["short"][j].removesuffix(f" ({code})")  # shown with the code
            title = cut(code if name == code else f"{code} {name}", _NAME)
            overall = _tight_whole(codes["rate"][j], estimated=codes["estimated"][j])
            yield f"{title} {_tight_whole(rate, estimated=estimated)} ({overall})"

    table = _draw_items(summary, console, items_of, str(Message(_NO_COMMON_CODES)))
    return [*lines, "", table]


def draw_features(summary: Mapping[str, Any], console: Console) -> list[RenderableType]:
    """Return the features that set each group apart, with means or shares."""
    leaves = [node for node in summary["nodes"] if node["leaf"] is not None]
    if len(leaves) < 2:
        return [_line("[one_group_of_features] There is only one group, so nothing sets it apart.")]
    lines = [
        _line(
            "[what_sets_apart] What sets each group apart: mean or share of its records (of all "
            "other records)"
        )
    ]
    if any(entry["estimated"] for node in leaves for entry in node["differences"][:_N_ITEMS]):
        lines.append(_line(_ESTIMATED_RATES, min_cell=summary["min_cell"]))

    def items_of(node: Node) -> Iterable[str]:
        return (_described(summary["features"], e) for e in node["differences"][:_N_ITEMS])

    table = _draw_items(summary, console, items_of, "(no differences can be shown)")
    return [*lines, "", table]


def _described(features: list[dict[str, Any]], entry: Mapping[str, Any]) -> str:
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


def draw_outcomes(summary: Mapping[str, Any], console: Console) -> list[RenderableType]:
    """Return the rates of outcomes as tables, each with as many groups as fit."""
    rows = [(cut(n, _CLASS), cells, whole) for n, cells, whole in _rows_of_outcomes(summary)]
    if not rows:
        return []
    k = summary["n_leaves"]
    first = max(cell_len(name) for name in ("group", *(name for name, _, _ in rows)))
    widest = 2 + max(len(cell) for _, cells, whole in rows for cell in (*cells, whole, "all"))
    block = max(1, (console.width - first) // widest - 1)
    covariates = any(outcome["covariate"] for outcome in summary["outcomes"])
    what, value = ("Outcomes and covariates", "value") if covariates else ("Outcomes", "outcome")
    numeric = any(outcome["numbers"] is not None for outcome in summary["outcomes"])
    kind = "rates and means" if numeric else "rates"
    title = f"{what}: {kind} in each group, among records with a known {value}"
    parts: list[RenderableType] = ["", Text(title)]
    for start in range(0, k, block):
        end = min(start + block, k)
        table = _table()
        table.add_column("group", width=first, no_wrap=True)
        for number in (*map(str, range(start, end)), "all"):
            table.add_column(number, justify="right", no_wrap=True, width=widest - 2)
        for name, cells, whole in rows:
            table.add_row(*map(Text, (name, *cells[start:end], whole)))
        parts += ["", table]
    if any(_HIDDEN in (*cells, whole) for _, cells, whole in rows):
        reason = _line(
            "[suppressed_rates] {mark} suppressed, because a count below {min_cell} could be "
            "derived from it",
            mark=_HIDDEN,
            min_cell=summary["min_cell"],
        )
        parts += ["", reason]
    return parts


def _rows_of_outcomes(summary: Mapping[str, Any]) -> list[Row]:
    rows: list[Row] = []
    # The summary has the overall rates of binary outcomes.
    overall = iter(summary["nodes"][0]["outcome_rates"])
    for outcome in summary["outcomes"]:
        name, classes = outcome["name"], outcome["classes"]
        if outcome["numbers"] is not None:
            rows += _numeric_rows(outcome)
        elif outcome["binary"]:
            rates, _ = _rates(summary, outcome, classes[0])
            rows.append((name, rates, next(overall).replace(" ", "")))
        else:
            rows.append((name, [""] * summary["n_leaves"], ""))
            rows += [(f"  {c['name']}", *_rates(summary, outcome, c)) for c in classes]
    return rows


def _numeric_rows(outcome: Mapping[str, Any]) -> list[Row]:
    """Return the means, standard deviations and medians of a numeric outcome, as text."""
    numbers = outcome["numbers"]

    def text(entry: Mapping[str, Any] | None, key: str) -> str:
        return "" if entry is None else f"{entry[key]:,.{entry['digits']}f}"

    return [
        (
            f"{outcome['name']}, {title}",
            [
                _HIDDEN if hidden else text(entry, key)
                for entry, hidden in zip(numbers["groups"], numbers["hidden"], strict=True)
            ],
            text(numbers["all"], key),
        )
        for title, key in (("mean", "mean"), ("SD", "sd"), ("median", "median"))
    ]


def _rates(
    summary: Mapping[str, Any], outcome: Mapping[str, Any], entry: Mapping[str, Any]
) -> tuple[list[str], str]:
    """Return the rates of a class in each group and overall, as text."""
    sizes, estimates = summary["groups"]["sizes"], summary["groups"]["estimated"]
    disclosure = Disclosure(summary["min_cell"])
    cells = []
    for count, missing, size, n in zip(
        entry["counts"], outcome["missing"], sizes, estimates, strict=True
    ):
        if count == SMALL:
            cells.append(disclosure.symbol)
        elif count < 0 or missing < 0 or size < 0:
            cells.append(_HIDDEN)
        else:
            cells.append(tight_percent(count / (n - missing)) if n > missing else "")
    if entry["total"] == SMALL:
        return cells, disclosure.symbol
    rate, estimated = disclosure.class_rate(
        outcome,
        outcome["classes"].index(entry),
        range(summary["n_leaves"]),
        np.array(estimates, dtype=np.float64),
    )
    return cells, ("≈" if estimated else "") + tight_percent(rate) if np.isfinite(rate) else ""


def draw_fits(summary: Mapping[str, Any]) -> list[RenderableType]:
    """Return the table of fits with different numbers of groups."""
    fits = summary["fits"]
    if not fits:
        return []
    shown = [
        j
        for j, name in enumerate(fits["columns"])
        if name not in ("Log-likelihood", "Parameters")
        and {row[j] for row in fits["rows"]} != {"–"}
    ]
    table = _table(*(fits["columns"][j].lower() for j in shown))
    for row in fits["rows"]:
        table.add_row(*(Text(row[j]) for j in shown))
    compared = [
        _line(
            "[fits_compared] Fits with other numbers of groups: lowest AIC at {aic}, BIC "
            "at {bic}, adjusted BIC at {adjusted_bic}",
            **fits["lowest"],
        )
    ]
    if fits["open"]:
        compared.append(
            _line(
                "[fits_open] BIC is lowest at {most}, the largest number compared: a "
                "larger number may be better",
                most=fits["lowest"]["bic"],
            )
        )
    return ["", *compared, "", table]


def describe_quality(summary: Mapping[str, Any]) -> list[str]:
    """Return a line for each measure of quality."""
    quality, certainty = summary["quality"], summary["certainty"]
    lines = []
    diagonal = [row[j] for j, row in enumerate(certainty["mean_posterior"]) if row is not None]
    if summary["n_leaves"] > 1 and diagonal:
        low, high = min(diagonal), max(diagonal)
        lines.append(
            Message(
                "[certainty] Certainty of assignment by the model: mean probability {low:.0%} to "
                "{high:.0%} per group; relative entropy {entropy:.2f} (1 = certain)",
                entropy=certainty["entropy"],
                low=low,
                high=high,
            )
        )
    if residuals := quality["residuals"]:
        pair = residuals["pairs"][0]
        first, second = (repr(cut(name, _NAME)) for name in pair["items"])
        values = {"residual": pair["residual"], "limit": residuals["limit"]}
        lines.append(
            Message(
                "[residual_dependence] Residual dependence within groups: largest {residual:,.12g} "
                "between {first} and {second} (1 or less expected; above {limit} is more than "
                "chance among all pairs)",
                first=first,
                second=second,
                **values,
            )
        )
    if stability := quality["stability"]:
        lines.append(
            Message(
                "[stability_of_groups] Stability over {n} samples: {mean:.2f} on average, "
                "{low:.2f} to {high:.2f} (1 = the same groups each time)",
                **stability,
            )
        )
    for power in quality["predictive_power"]:
        auc = (
            ""
            if power["auc"] is None
            else Message("[and_auc] ; AUC {auc:.2f} (0.5 = chance, 1 = perfect)", auc=power["auc"])
        )
        lines.append(
            Message(
                "[outcome_predicted] {name}: the group alone predicts {accuracy:.1%} of records "
                "correctly, the most frequent class {baseline:.1%}{auc}",
                **{**power, "auc": auc},
            )
        )
    return [*map(str, lines), *(f"{name}: {value}" for name, value in quality["other"])]


def draw_states(summary: Mapping[str, Any], console: Console) -> list[RenderableType]:
    """Return the states with their codes and moves."""
    nodes, codes = listed(summary), summary["codes"]
    before = [
        Column("steps", [node["size"] for node in nodes]),
        Column("share", [_tight_whole(node["share"]) for node in nodes]),
    ]
    after = [
        Column("stay", ["–" if n["stay"] is None else f"{n['stay']:,.1f}" for n in nodes]),
        Column("next", ["–" if n["next"] is None else str(n["next"]) for n in nodes]),
    ]

    def items_of(node: Node) -> Iterable[str]:
        for j, rate in list(zip(node["top"], node["top_rates"], strict=True))[:_N_ITEMS]:
            overall = _tight_whole(codes["rate"][j])
            yield f"{cut(codes['short'][j], _NAME)} {_tight_whole(rate)} ({overall})"

    words = [[" · ".join(node["name_parts"])] for node in nodes]
    return [
        draw_nodes(summary, words, before, after, console),
        "",
        _line(
            "[stay_explained] stay: steps in a row on average; next: the most likely other state"
        ),
        "",
        _line(
            "[codes_of_states] Most distinctive codes: probability in the state (share of "
            "all steps)"
        ),
        "",
        _draw_items(summary, console, items_of, str(Message(_NO_COMMON_CODES))),
        *_moves(summary, console),
        *_models(summary),
    ]


def _moves(summary: Mapping[str, Any], console: Console) -> list[RenderableType]:
    k = summary["n_leaves"]
    rows = [("first step", summary["startprob"])]
    rows += [(str(j), row) for j, row in enumerate(summary["transmat"])]
    texts = [
        [title, *(_HIDDEN if p is None else _tight_whole(p) for p in row)] for title, row in rows
    ]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    if sum(widths) + 2 * k > console.width:  # the report has the table too
        return []
    table = _table("from", *map(str, range(k)))
    for cells in texts:
        table.add_row(*cells)
    parts: list[RenderableType] = [
        "",
        _line("[moves_of_states] Moves: probability of the state of the next step, by state"),
        "",
        table,
    ]
    if any(p is None for _, row in rows for p in row):
        hidden = _line(
            "[hidden_moves] {mark} hides moves made in fewer than {min_cell} sequences, and what "
            "they could be derived from",
            mark=_HIDDEN,
            min_cell=summary["min_cell"],
        )
        parts += ["", hidden]
    return parts


def _models(summary: Mapping[str, Any]) -> list[RenderableType]:
    parts: list[RenderableType] = []
    if summary["pairs"]:
        keys = ("n_codes", "misfit", "misfit_of_chance")
        pairs = _line(
            "[pairs_of_codes] Pairs of consecutive codes, among the {n_codes} most common: the "
            "model puts {misfit:.0%} of them in the wrong place, chance {misfit_of_chance:.0%}",
            **{key: summary["pairs"][key] for key in keys},
        )
        parts += ["", pairs]
    if not summary["fits"]:
        return parts
    table = _table("model", justify="left")
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
    return [
        *parts,
        "",
        _line("[models_of_sequences] Other models: the lower BIC, the better"),
        "",
        table,
    ]
