"""Describe states: their codes, names, stays, and what comes next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from momentree._types import Floats
from momentree.estimators.names import choose_codes, most_relevant
from momentree.estimators.node import TreeNode
from momentree.report.disclosure import Disclosure
from momentree.report.layout import icicle_cells
from momentree.report.sequences._counts import PathCounts

_DIGITS = 4
_N_CODES = 12
_SEPARATOR = "\N{NO-BREAK SPACE}· "


def describe_states(
    share: Floats,
    counts: PathCounts,
    emission: Floats,
    base: Floats,
    transmat: Floats,
    names: list[str],
    shorts: list[str],
    given: Mapping[str, str],
    disclosure: Disclosure,
) -> list[dict[str, Any]]:
    """Describe the root and the states, those with the largest share first."""
    k = len(share)
    order = np.argsort(-np.round(share, 9), kind="stable").tolist()
    root = TreeNode(np.empty(0), 1.0)
    root.children = [
        TreeNode(np.empty(0), share[j], depth=1, node_id=i, leaf_id=j, parent=root)
        for i, j in enumerate(order, start=1)
    ]
    disclosed = np.vstack(
        [counts.codes >= disclosure.min_cell, counts.emissions[order] >= disclosure.min_cell]
    )
    rates = np.vstack([base, emission[order]])
    chosen = choose_codes(list(rates), [0] * (k + 1), names, list(disclosed))
    nodes = []
    for node, cell in zip(root.nodes(), icicle_cells(root, spread=True), strict=True):
        i, j = node.node_id, node.leaf_id
        own = given.get(str(j)) if j is not None else None
        short = [shorts[c] for c in chosen[i]] or [f"state {j}"]
        full = [names[c] for c in chosen[i]] or [f"state {j}"]
        if j is None:
            short = full = ["All steps"]
        top = most_relevant(rates[i], base, disclosed[i])[:_N_CODES]
        n = round(float(node.weight) * int(counts.steps.sum()))
        few = j is not None and bool(disclosure.is_small(counts.sequences[j : j + 1])[0])
        nodes.append(
            {
                "id": i,
                "parent": None if j is None else 0,
                "children": [child.node_id for child in node.children],
                "depth": node.depth,
                "leaf": j,
                "name": own or _SEPARATOR.join(short),
                "name_parts": [own] if own else short,
                "long_name_parts": [own] if own else full,
                "share": round(float(node.weight), _DIGITS),
                "n_samples": n,
                "size": "few" if few else f"{n:,}",
                "sequences": disclosure.count(int(counts.sequences[j])) if j is not None else None,
                "top": top.tolist(),
                "top_rates": np.round(rates[i][top], _DIGITS).tolist(),
                "stay": None if j is None else _stay(float(transmat[j, j])),
                "next": None if j is None else _next(transmat[j], j),
                "residual": False,
                "cell": cell.as_json(),
            }
        )
        if few:
            nodes[-1]["n_samples"] = 0
    return nodes


def _stay(probability: float) -> float | None:
    """Return the expected number of steps until a state is left; None if unknown or never."""
    return round(1.0 / (1.0 - probability), 2) if probability < 1.0 - 1e-9 else None


def _next(row: Floats, state: int) -> int | None:
    others = np.where(np.arange(len(row)) == state, 0.0, np.nan_to_num(row))
    return int(others.argmax()) if others.max(initial=0.0) > 0 else None
