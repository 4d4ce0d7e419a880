"""Write tables as CSV, with formulas escaped on request, and summaries as JSON."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from momentree._version import __version__
from momentree.cli.screen import printable
from momentree.metrics.words import word_probabilities

if TYPE_CHECKING:
    import pandas as pd

    from momentree._types import Floats


# Start of a spreadsheet formula, also after characters that a spreadsheet skips.
_FORMULA = re.compile("[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
# Smaller probabilities are rounding errors.
_LEAST = 1e-6


@dataclass(frozen=True)
class CsvTable:
    """A table to write as CSV, optionally with formulas escaped."""

    header: Sequence[str]
    rows: Sequence[Sequence[object]]
    more: Iterable[Sequence[object]] = ()  # further rows, made as they are written

    def with_columns(self, **columns: Sequence[object]) -> CsvTable:
        """Return the table with further columns, which have a value for each of `rows`."""
        rows = [
            (*row, *more)
            for row, more in zip(self.rows, zip(*columns.values(), strict=True), strict=True)
        ]
        return replace(self, header=[*self.header, *columns], rows=rows)

    def write(self, path: Path, *, escape_formulas: bool) -> None:
        """Write the table to a file, in UTF-8."""
        # An id may be a file name with bytes that are not text.
        with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            self._write_to(file, escape_formulas)

    def print(self, *, escape_formulas: bool) -> None:
        """Print the table; on a terminal, control characters are escaped."""
        self._write_to(sys.stdout, escape_formulas)

    def _write_to(self, file: TextIO, escape_formulas: bool) -> None:
        rows: Iterable[Sequence[object]] = chain(self.rows, self.more)
        if escape_formulas:
            rows = map(_escape, rows)
        if file.isatty():
            rows = ([printable(cell) for cell in row] for row in rows)
        # The csv module quotes carriage returns only if lines end in one.
        writer: Any = csv.writer(_Lines(file), lineterminator="\r\n")
        writer.writerow(self.header)
        writer.writerows(rows)


@dataclass(frozen=True)
class _Lines:
    """Writes CSV rows that end in CR LF with LF alone."""

    file: TextIO

    def write(self, row: str) -> int:
        return self.file.write(row.removesuffix("\r\n") + "\n")


def _escape(row: Sequence[object]) -> list[object]:
    return [f"'{cell}" if isinstance(cell, str) and _is_formula(cell) else cell for cell in row]


def _is_formula(text: str) -> bool:
    return bool(_FORMULA.match(text)) and not _NUMBER.fullmatch(text)


def write_frame(table: pd.DataFrame, path: Path, escape_formulas: bool) -> None:
    """Write a data frame of text as CSV, Excel or LaTeX."""
    from momentree.report import write_table

    if path.suffix.lower() == ".csv":
        rows = CsvTable(list(table.columns), table.to_numpy().tolist())
        rows.write(path, escape_formulas=escape_formulas)
    else:
        write_table(table, path)


def write_json(path: Path, kind: str, content: Mapping[str, Any]) -> None:
    """Write plain values as JSON, in UTF-8, after their format and the version."""
    content = {"format": f"momentree.{kind}", "momentree": __version__, **content}
    text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def decimals(value: float) -> str:
    """Format a probability or proportion with six significant digits."""
    return f"{value:.6g}" if value >= _LEAST else "0"


def assignments(
    kind: str,
    names: Sequence[str],
    places: Iterable[int],
    proba: Floats,
    *,
    every: bool,
    assigned: Iterable[bool] | None = None,
    undecided: Sequence[str] | None = None,
    **known: Sequence[object],
) -> CsvTable:
    """Return a table with the `known` columns and assignments to leaves, topics or groups.

    Each assignment has a name and a probability; `every` adds one column per leaf, topic or group.
    These cells are empty in rows that are not `assigned`.
    With `undecided`, the last column of these is the reason why a place is -1: its cells are empty.
    """
    explained = undecided is not None
    header = [*known, kind, "name", "probability", *(["reason"] if explained else [])]
    header += [f"{kind}_{j}" for j in range(len(names))] if every else []
    rows = [
        (
            *left,
            *((int(j), names[j], decimals(row[j])) if j >= 0 else ("", "", "")),
            *((reason if j < 0 else "",) if explained else ()),
            *(map(decimals, row) if every else ()),
        )
        for left, j, row, reason in zip(
            zip(*known.values(), strict=True),
            places,
            proba,
            [""] * len(proba) if undecided is None else undecided,
            strict=True,
        )
    ]
    if assigned is not None:
        n_known = len(known)
        empty = [""] * (len(header) - n_known)
        rows = [
            row if yes else (*row[:n_known], *empty)
            for row, yes in zip(rows, assigned, strict=True)
        ]
    return CsvTable(header, rows)


Summary = Mapping[str, Any]
N_CODES, N_WORDS = 20, 20
"""Codes of a group, and words of a topic."""


def picked(source: Summary, *names: str, **renamed: str) -> dict[str, Any]:
    """Return entries of a summary, some by another name: ``n_codes="n_features"``."""
    return {name: source[name] for name in names} | {
        name: source[old] for name, old in renamed.items()
    }


def leaves_of(summary: Summary) -> list[Summary]:
    """Return the leaves, topics, groups or states of a summary."""
    return [node for node in summary["nodes"] if node["leaf"] is not None]


def long_name(node: Summary) -> str:
    """Return the name of a group or state."""
    return " · ".join(node["long_name_parts"])


def long_names(summary: Summary) -> list[str]:
    """Return the names of groups or states, by their numbers."""
    names = {node["leaf"]: long_name(node) for node in leaves_of(summary)}
    return [names[j] for j in range(len(names))]


def tree_content(summary: Summary, model: Any) -> dict[str, Any]:
    """Return a tree of topics, nested."""
    return {
        **picked(summary, "title"),
        **_numbers_of_documents(summary),
        **picked(summary, "n_leaves", "agreement", "made", n_words="n_features"),
        "tree": model.to_dict(),
    }


def topics_content(summary: Summary, model: Any) -> dict[str, Any]:
    """Return flat topics with their words."""
    words = _top_words(model)
    content = {
        **picked(summary, "title", "about"),
        **_numbers_of_documents(summary),
        **picked(summary, "agreement", "made", "diagnostics", n_words="n_features"),
        "n_topics": summary["n_leaves"],
        "topics": [
            {
                **picked(node, "name", topic="leaf", n_documents="n_samples"),
                "share": _rounded(node["share"]),
                "weight": _rounded(model.weights_[node["leaf"]]),
                "words": words[node["leaf"]],
            }
            for node in leaves_of(summary)
        ],
    }
    if (alpha := getattr(model, "alpha_", None)) is not None:
        content["alpha"] = [_rounded(value) for value in alpha]  # by topic number
        content["alpha0"] = _rounded(alpha.sum())
    return content


def groups_content(summary: Summary, remarks: Sequence[str]) -> dict[str, Any]:
    """Return groups of records, by their codes or by their measurements."""
    measured = "features" in summary
    size = "n_features" if measured else "n_codes"
    return {
        "kind": "flat" if summary["kind"].endswith("flat") else "tree",
        **picked(summary, "title", "n_records", "n_left_out", **{size: "n_features"}),
        **picked(summary, "min_cell", "notes", "made", "quality", n_groups="n_leaves"),
        "remarks": list(remarks),
        **({"features": [_feature(one) for one in summary["features"]]} if measured else {}),
        "nodes": [
            {
                **picked(node, "id", "parent", "children", "size", "share", "share_interval"),
                "group": node["leaf"],
                "name": long_name(node),
                "n_records": node["n_samples"] if node["exact"] else None,
                **(_differences(summary, node) if measured else _codes_of_group(summary, node)),
            }
            for node in summary["nodes"]
        ],
        "outcomes": [
            {
                **picked(outcome, "name", "numbers"),
                "missing": known_counts(outcome["missing"]),
                "classes": [
                    {
                        "name": entry["name"],
                        "n_records": known_counts(entry["counts"]),
                        "n_all": known_counts([entry["total"]])[0],
                    }
                    for entry in outcome["classes"]
                ],
            }
            for outcome in summary["outcomes"]
        ],
        **picked(summary, "certainty", "corrected", "table_one"),
        "fits": summary["fits"] and summary["fits"]["numbers"],
    }


def states_content(summary: Summary, remarks: Sequence[str]) -> dict[str, Any]:
    """Return the states of sequences, their codes and moves."""
    return {
        **picked(summary, "title", "n_sequences", "n_steps", "min_cell", "notes", "made"),
        **picked(summary, "startprob", "transmat", n_codes="n_features", n_states="n_leaves"),
        "remarks": list(remarks),
        "states": [
            {
                **picked(node, "share", "sequences", "stay", "next", state="leaf"),
                "name": long_name(node),
                "codes": _codes(summary, node, "probability", "share_of_all"),
            }
            for node in leaves_of(summary)
        ],
        **picked(summary, "areas", "paths", "certainty", "fits"),
    }


def known_counts(counts: Sequence[int]) -> list[int | None]:
    """Return counts by group, with None for suppressed ones."""
    return [count if count >= 0 else None for count in counts]


def _codes_of_group(summary: Summary, node: Summary) -> dict[str, Any]:
    codes = _codes(summary, node, "rate", "rate_of_all")[:N_CODES]
    return {"residual": node["residual"], "codes": codes}


def _codes(summary: Summary, node: Summary, here: str, of_all: str) -> list[dict[str, Any]]:
    codes = summary["codes"]
    return [
        {"code": codes["code"][j], "name": codes["name"][j], here: rate, of_all: codes["rate"][j]}
        for j, rate in zip(node["top"], node["top_rates"], strict=True)
    ]


def _feature(feature: Summary) -> dict[str, Any]:
    return {
        **picked(feature, "name", "kind", "unit", "separation", "numbers"),
        "missing": known_counts(feature["missing"]),
        "classes": [
            {"name": entry["name"], "n_records": known_counts(entry["counts"])}
            for entry in feature["classes"]
        ],
    }


def _differences(summary: Summary, node: Summary) -> dict[str, Any]:
    keys = ("here", "here_low", "here_high", "rest", "all", "d", "low", "high", "estimated")
    differences = []
    for entry in node["differences"]:
        feature = summary["features"][entry["feature"]]
        value = None if entry["class"] is None else feature["classes"][entry["class"]]["name"]
        value = feature["words"][1] if feature["binary"] else value
        differences.append({"feature": feature["name"], "value": value, **picked(entry, *keys)})
    return {"differences": differences}


def _numbers_of_documents(summary: Summary) -> dict[str, int]:
    """Return the numbers of documents, of passages if a document was cut, and of those left out."""
    n, left_out = summary["n_documents"], {"n_in_no_topic": summary["n_in_no_topic"]}
    if "passages_of" not in summary:
        return {"n_documents": n, **left_out}
    return {"n_documents": summary["passages_of"], "n_passages": n, **left_out}


def _top_words(model: Any) -> list[list[dict[str, Any]]]:
    """Return the most relevant words of each topic with their probabilities."""
    column = {str(word): j for j, word in enumerate(model.vocabulary_)}
    P = word_probabilities(model.components_)
    return [
        [{"word": word, "probability": _rounded(row[column[word]])} for word in words]
        for words, row in zip(model.top_words(N_WORDS), P, strict=True)
    ]


def _rounded(value: float) -> float:
    return float(decimals(value))
