"""Draw a summary in the terminal: a tree or list of nodes, tables and remarks."""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.text import Text

import momentree.cli.drawing_details as details
from momentree.cli._nodes import EIGHTHS, Column, Node, cut, draw_nodes, listed
from momentree.cli.screen import CONTROL, one_line, seconds
from momentree.messages import Message, wording

_INTERVALS_FROM, _LABELS_FROM = 80, 90
"""Minimum width of the terminal for these columns."""
# For encodings other than Unicode.
_ASCII = str.maketrans({"█": "#", "·": "-", "–": "-", "≈": "~", **dict.fromkeys(EIGHTHS, " ")})


def show_summary(summary: Mapping[str, Any], took: float, remarks: Iterable[str]) -> None:
    """Draw a summary on standard output."""
    is_terminal = sys.stdout.isatty()
    console = Console(
        highlight=False,
        markup=False,
        emoji=False,
        width=None if is_terminal or os.environ.get("COLUMNS") else 100,
        no_color=True if os.environ.get("NO_COLOR") else None,
        force_terminal=None if is_terminal else False,
    )
    console.width = min(console.width, 120)
    text = draw(summary, console, took, remarks)
    text.plain = text.plain.translate({**dict.fromkeys(CONTROL, "\ufffd"), ord("\n"): "\n"})
    with console.capture() as capture:
        console.print(text, no_wrap=True, overflow="ignore", crop=False, end="")
    # Not through the console, which handles closed pipes differently.
    sys.stdout.write(capture.get())


def draw(
    summary: Mapping[str, Any], console: Console, took: float = 0.0, remarks: Iterable[str] = ()
) -> Text:
    """Return the drawing of a summary as lines no wider than the console."""
    kind = summary["kind"].partition("-")[0]
    parts: list[RenderableType] = [_heading(summary, kind, took), ""]
    lines: list[str]
    if kind == "sequences":
        parts += details.draw_states(summary, console)
        lines = list(remarks)
    elif kind in ("records", "measurements"):
        parts += _draw_groups(summary, console)
        lines = [*details.describe_quality(summary), *remarks]
    else:
        parts.append(_draw_topics(summary, console))
        lines = [*_counted(summary), *_agreement(summary), *remarks]
    if lines:
        parts += ["", *(Text(line) for line in lines)]
    return _laid_out(Group(*parts), console)


def _laid_out(renderable: RenderableType, console: Console) -> Text:
    """Return what a console would print, without trailing blanks."""
    drawn = []
    for line in console.render_lines(renderable, pad=False):
        text = Text.assemble(*((segment.text, segment.style or "") for segment in line))
        if console.options.ascii_only:
            text.plain = text.plain.translate(_ASCII)
        text.rstrip()
        drawn.append(text)
    return Text("\n").join([*drawn, Text()])


def _heading(summary: Mapping[str, Any], kind: str, took: float) -> Text:
    of = {"records": "n_records", "measurements": "n_records", "sequences": "n_sequences"}
    n, leaves = summary[of.get(kind, "n_documents")], summary["n_leaves"]
    if left_out := summary.get("n_left_out"):
        if isinstance(left_out, str):
            n = Message(
                "[records_fitted_but_few] {n_records:~record} fitted, fewer than {least:,} left "
                "out",
                n_records=n,
                least=summary["min_cell"],
            )
        else:
            n = Message(
                "[records_fitted] {n_records:,} of {n_all:~record} fitted",
                n_records=n,
                n_all=n + left_out,
            )
    if "passages_of" in summary:
        n = Message(
            "[passages_of_documents] {n_entries:~passage} of {n_rows:~document}",
            n_entries=n,
            n_rows=summary["passages_of"],
        )
    codes = {
        "tree": "[tree_found] {n:~document}, {n_features:~word}, {n_leaves:~leaf/leaves}",
        "flat": "[flat_found] {n:~document}, {n_features:~word}, {n_leaves:~topic}",
        "measurements": (
            "[groups_of_features_found] {n:~record}, {n_features:~feature}, {n_leaves:~group}"
        ),
        "sequences": "[states_found] {n:~sequence}, {n_features:~code}, {n_leaves:~state}",
    }
    code = codes.get(kind, "[groups_found] {n:~record}, {n_features:~code}, {n_leaves:~group}")
    found = Message(code, n=n, n_features=summary["n_features"], n_leaves=leaves)
    title, words = one_line(summary["title"]), str(found)
    count, _, others = words.partition(", ")
    # A title such as "Topics of 2,225 documents" has the number, or one of "9 passages of 2".
    passages, _, documents = count.partition(" of ")
    if title.endswith((f" {count}", f" {passages}")):
        words = others
    elif documents and title.endswith(f" {documents}"):
        words = f"{passages}, {others}"
    return Text.assemble((title, "bold"), f": {words}, {seconds(took)}")


def _draw_topics(summary: Mapping[str, Any], console: Console) -> RenderableType:
    nodes = listed(summary)
    vocabulary: Sequence[str] = summary["words"]["word"]
    words = [
        [node["name"]]
        if node["leaf"] is None
        else [node["name"], *(vocabulary[i] for i in node["also"])]
        for node in nodes
    ]
    rows = "passages" if "passages_of" in summary else "docs"
    before = [
        Column(rows, [f"{node['n_samples']:,}" for node in nodes]),
        Column("share", [details.tight_percent(node["share"]) for node in nodes]),
    ]
    after = []
    if summary["labels"] and console.width >= _LABELS_FROM:
        width = 30 if console.width < 110 else 44
        labels = [_labels(node, summary["labels"], width) for node in nodes]
        after = [Column("labels", labels, "left", ["dim"] * len(nodes))]
    return draw_nodes(summary, words, before, after, console)


def _labels(node: Node, labels: Sequence[str], width: int) -> str:
    """Return the most common labels of a node with their percentages, as many as fit."""
    line = ""
    for index, count in node["labels"]:
        share = round(100 * count / max(1, node["n_samples"]))
        if line and share < 5:
            break
        part = f"{cut(labels[index], width - len(f' {share}%'))} {share}%"
        longer = f"{line} · {part}" if line else part
        if line and cell_len(longer) > width:
            break
        line = longer
    return line


def _counted(summary: Mapping[str, Any]) -> list[str]:
    """Return what numbers and shares do not count, and how copies count."""
    lines = [summary["copies"]] if summary["copies"] else []
    if left_out := summary["n_in_no_topic"]:
        code = wording.ALL_PASSAGES if "passages_of" in summary else wording.ALL_DOCUMENTS
        every = Message(code, n_all=summary["n_documents"])
        lines.insert(
            0,
            str(
                Message(
                    "[in_no_topic] {n_rows:,} of {every} {n_rows:?contains/contain} none of the "
                    "words and {n_rows:?is/are} in no topic and no share",
                    n_rows=left_out,
                    every=every,
                )
            ),
        )
    return lines


def _agreement(summary: Mapping[str, Any]) -> list[str]:
    agreement = summary["agreement"]
    if agreement is None:
        return [summary["no_agreement"]] if summary["no_agreement"] else []
    code = (
        (
            "[agreement_of_topics] Agreement of topics and labels: NMI {nmi:.3f}, ARI {ari:.3f} "
            "({n_labeled:,} with a label)"
        )
        if summary["kind"] == "flat"
        else (
            "[agreement_of_leaves] Agreement of leaves and labels: NMI {nmi:.3f}, ARI {ari:.3f} "
            "({n_labeled:,} with a label)"
        )
    )
    values = {name: value for name, value in agreement.items() if name != "purity"}
    return [str(Message(code, **values))]


def _draw_groups(summary: Mapping[str, Any], console: Console) -> list[RenderableType]:
    nodes = listed(summary)
    words = [[" · ".join(node["name_parts"])] for node in nodes]
    before = [
        Column("records", [node["size"] for node in nodes]),
        Column("share", [details.tight_percent(node["share"]) for node in nodes]),
    ]
    if console.width >= _INTERVALS_FROM:
        intervals = [_interval(node["share_interval"]) for node in nodes]
        before.append(Column("95% interval", intervals, styles=["dim"] * len(nodes)))
    tree = draw_nodes(summary, words, before, [], console)
    return [
        tree,
        "",
        *(details.draw_features if "features" in summary else details.draw_codes)(summary, console),
        *details.draw_outcomes(summary, console),
        *details.draw_fits(summary),
    ]


def _interval(interval: Sequence[float] | None) -> str:
    if interval is None:
        return ""
    low, high = map(details.tight_percent, interval)
    return f"{low.removesuffix('%')}–{high}"
