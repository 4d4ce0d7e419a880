"""Summarize a hidden Markov model of sequences as a plain dictionary, and draw its states."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from momentree._types import Floats, Ints
from momentree.estimators.names import CODE_LAMBDA, choose_codes, most_relevant
from momentree.estimators.node import TreeNode
from momentree.messages import Message
from momentree.naming.given import check_names
from momentree.report import estimators, groups, layout, paths, text
from momentree.report.disclosure import Disclosure
from momentree.report.text import whole_percent

if TYPE_CHECKING:
    from momentree.datasets import Sequences
    from momentree.models import StatesFit


_DIGITS = 4
_N_CODES = 12
_MODELS = {
    "independent": "[model_independent] independent steps",
    "states": "[model_states] {n_states:~state}",
    "chain": "[model_chain] Markov chain of the codes",
}


def summarize_sequences(
    estimator: Any,
    sequences: Sequences,
    *,
    min_cell: int = 5,
    include_sequences: bool = False,
    title: str | None = None,
    made_with: Mapping[str, object] | None = None,
    fits: Sequence[StatesFit] | None = None,
    state_names: Mapping[Any, str] | None = None,
) -> dict[str, Any]:
    """Summarize the states of sequences as a dictionary for `render_html`.

    Parameters
    ----------
    estimator : CategoricalHMM
        Model fitted to ``sequences.symbols`` with ``sequences.lengths``.
    sequences : Sequences
        Sequences as returned by `momentree.datasets.read_sequences`.
    min_cell : int, default=5
        Suppress what fewer sequences than this have in common, and what it could be derived from;
        >= 1, and 1 hides nothing.
    include_sequences : bool, default=False
        Whether to show up to 40 single sequences with their ids.
    title : str, optional
        Heading of the page; "States of sequences" by default.
    made_with : mapping of str to object, optional
        Further lines for the section on how the page was made.
    fits : sequence of StatesFit, optional
        Other numbers of states and simpler models, from `momentree.models.compare_states`.
    state_names : mapping of int or str to str, optional
        Names that replace those made of codes, by the number of a state.

    Returns
    -------
    dict
        Ready for JSON. ``kind`` ("sequences-flat"), ``title``, ``n_sequences``, ``n_steps``,
        ``n_features`` (codes), ``n_leaves`` (states), ``min_cell``, ``default_lambda``;
        ``codes``: ``code``, ``name``, ``short`` and ``rate`` (share of all steps) of the codes that
        the other entries refer to, if at least `min_cell` sequences have them;
        ``nodes``: the root, then the states by descending share, with ``id``, ``parent``,
        ``children``, ``depth``, ``leaf`` (number of the state), ``name``, ``name_parts``,
        ``long_name_parts``, ``share`` (of the steps), ``n_samples`` (steps of the most likely
        paths), ``size`` and ``sequences`` (as text; "<5" if few), ``top`` and ``top_rates`` (codes
        by relevance, and their probabilities), ``stay`` (expected steps in the state, None if it
        never ends or is hidden), ``next`` (the most likely other state, None if there is none) and
        ``cell``;
        ``startprob`` (k,) and ``transmat`` (k, k), in the order of states, None where hidden;
        ``areas`` (shares of states by position), ``paths`` (common successions of states),
        ``pairs`` (observed and expected pairs of codes, or None), ``examples`` (single sequences,
        or None), ``certainty`` (mean posterior of the most likely state), ``fits``, ``notes``,
        ``given_names`` and ``made``.

    Raises
    ------
    InvalidDataError
        If the model has another number of codes than the sequences.
    InvalidParameterError
        If `min_cell` is below 1, or a name is invalid.
    NotFittedError
        If the estimator is not fitted.

    Notes
    -----
    Shares and probabilities are those of the model; what is shown of them is decided by the number
    of sequences in the most likely paths. Time: two passes over the sequences. Memory O(n k + k d).
    """
    estimators.check_fitted(estimator, "transmat_")
    disclosure = Disclosure(min_cell)
    symbols, lengths = sequences.symbols, np.asarray(sequences.lengths)
    k, d = len(estimator.emissionprob_), len(sequences.codes)
    emission = np.asarray(estimator.emissionprob_)[:, :d]  # other codes may follow
    estimators.check_of_fit("sequences", (d,), emission.shape[1:])
    startprob, transmat = estimator.startprob_, estimator.transmat_
    path = np.asarray(estimator.predict(symbols[:, None], lengths))
    proba = np.asarray(estimator.predict_proba(symbols[:, None], lengths))
    counts = paths.PathCounts.of(path, symbols, lengths, k, d)
    names = text.names_of_codes(sequences.codes, sequences.names)
    named = np.flatnonzero(~disclosure.is_small(counts.codes))
    base = np.bincount(symbols, minlength=d) / len(symbols)
    known = dict.fromkeys(map(str, range(k)))
    given = check_names(state_names or {}, known, parameter="state_names")
    hidden = paths.hidden_cells(counts.moves, transmat, disclosure)
    states = _States(counts, base, emission, np.where(hidden, np.nan, transmat), disclosure)
    nodes = states.describe(proba.mean(axis=0), names, given)
    model = startprob, transmat, emission
    pairs = paths.compare_pairs(symbols, lengths, *model, named, disclosure)
    starts = paths.hidden_cells(counts.starts[None], startprob[None], disclosure)[0]
    examples = paths.single_sequences(path, sequences) if include_sequences else None
    used = _renumber(nodes, pairs, examples, named)
    notes = disclosure.notes(tuple(sequences.notes), {len(lengths)} - set(range(min_cell)))
    title = title or "States of sequences"
    return {
        **estimators.head(estimator, "sequences-flat", title, notes, made_with, given),
        "n_sequences": len(lengths),
        "n_steps": len(symbols),
        "n_features": d,
        "n_leaves": k,
        "min_cell": min_cell,
        "default_lambda": CODE_LAMBDA,
        "codes": {
            **{key: [texts[j] for j in used] for key, texts in names.items()},
            "rate": np.round(base[used], _DIGITS).tolist(),
        },
        "nodes": nodes,
        "startprob": text.finite_numbers(np.where(starts, np.nan, startprob), _DIGITS),
        "transmat": [text.finite_numbers(row, _DIGITS) for row in states.transmat],
        "areas": paths.shares_by_position(proba, lengths, disclosure),
        "paths": paths.common_paths(path, lengths, disclosure),
        "pairs": pairs,
        "examples": examples,
        "certainty": round(float(proba.max(axis=1).mean()), 3),
        "fits": None if fits is None else [_fit_row(fit, k) for fit in fits],
    }


@dataclass(frozen=True)
class _States:
    """What may be shown of states: `transmat` is NaN where it is hidden."""

    counts: paths.PathCounts
    base: Floats
    emission: Floats
    transmat: Floats
    disclosure: Disclosure

    def describe(
        self, share: Floats, names: Mapping[str, list[str]], given: Mapping[str, str]
    ) -> list[dict[str, Any]]:
        """Describe the root and the states, those with the largest share first."""
        root = groups.level_of(share)
        leaves = np.array([leaf.leaf_id for leaf in root.children])
        counts = np.vstack([self.counts.codes, self.counts.emissions[leaves]])
        enough = counts >= self.disclosure.min_cell
        rates = np.vstack([self.base, self.emission[leaves]])
        chosen = choose_codes(list(rates), [0] * len(rates), names["name"], list(enough))
        nodes = []
        for node, cell in zip(root.nodes(), layout.icicle_cells(root, spread=True), strict=True):
            i, j = node.node_id, node.leaf_id
            nothing = ["All steps" if j is None else f"state {j}"]
            codes = [] if j is None else chosen[i]
            short, full = ([names[key][c] for c in codes] or nothing for key in ("short", "name"))
            top = most_relevant(rates[i], self.base, enough[i])[:_N_CODES]
            nodes.append(
                {
                    **groups.place_of(node, cell),
                    **groups.names_of(short, full, None if j is None else given.get(str(j))),
                    "share": round(float(node.weight), _DIGITS),
                    "top": top.tolist(),
                    "top_rates": np.round(rates[i][top], _DIGITS).tolist(),
                    "residual": False,
                    **self._steps(node),
                }
            )
        return nodes

    def _steps(self, node: TreeNode) -> dict[str, Any]:
        """Return the number of steps and sequences in a state, how long it lasts, and the next."""
        n, j = round(float(node.weight) * int(self.counts.steps.sum())), node.leaf_id
        steps = {"n_samples": n, "size": f"{n:,}", "sequences": None, "stay": None, "next": None}
        if j is None:
            return steps
        n_sequences, row = int(self.counts.sequences[j]), self.transmat[j]
        if 0 < n_sequences < self.disclosure.min_cell:
            steps |= {"n_samples": 0, "size": "few"}
        others = np.where(np.arange(len(row)) == j, 0.0, np.nan_to_num(row))
        leaves = row[j] < 1.0 - 1e-9  # not if it is hidden
        return steps | {
            "sequences": self.disclosure.count(n_sequences),
            "stay": round(1.0 / (1.0 - float(row[j])), 2) if leaves else None,
            "next": int(others.argmax()) if others.max(initial=0.0) > 0 else None,
        }


def _fit_row(fit: StatesFit, k: int) -> dict[str, Any]:
    words = Message(_MODELS[fit.kind], n_states=fit.n_states)
    chosen = fit.kind == "states" and fit.n_states == k
    return {"model": text.for_readers(words), "chosen": chosen, **asdict(fit)}


def _renumber(
    nodes: list[dict[str, Any]],
    pairs: dict[str, Any] | None,
    examples: dict[str, Any] | None,
    named: Ints,
) -> Ints:
    """Renumber codes from 0 in place; return those shown, in order. Others become -1."""
    lists: list[list[int]] = [node["top"] for node in nodes]
    lists += [pair["codes"] for pair in pairs["pairs"]] if pairs is not None else []
    lists += [item["codes"] for item in examples["items"]] if examples is not None else []
    used = np.intersect1d(named, np.array([j for codes in lists for j in codes], dtype=np.intp))
    place = {int(j): at for at, j in enumerate(used)}
    for codes in lists:
        codes[:] = [place.get(j, -1) for j in codes]
    return used


WIDTH, HEIGHT = 1100, 620
_RADIUS_X, _RADIUS_Y = 310.0, 215.0
_LARGEST, _SMALLEST = 52.0, 0.4
"""Radius of the largest circle, and of the smallest possible one as a part of it."""
_OF_GAP = 0.36
"""The largest circle as a part of the shortest distance between neighbors."""
_STEEP = 0.75
"""Names stand above or below a circle if the sine of its direction is at least this."""
_BEND = 0.16
"""How far an arrow bends to its left, in lengths, so that two states have two arrows."""
_THICKEST = 12.0
_FAINT = 0.05
"""Less likely moves have no arrow, except for the most likely one from each state."""
_MAX_STATES = 12
_LINE, _LINE_HEIGHT = 26, 17.0
"""Characters in a line of a name."""


def state_diagram(summary: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return circles and arrows in SVG units; None for one state, or for too many to be read."""
    k = summary["n_leaves"]
    if not 2 <= k <= _MAX_STATES:
        return None
    moves = np.array(
        [[np.nan if p is None else p for p in row] for row in summary["transmat"]], dtype=float
    )
    nodes = {node["leaf"]: node for node in summary["nodes"] if node["leaf"] is not None}
    shares = np.array([nodes[j]["share"] for j in range(k)])
    places = _places(np.nan_to_num(moves) * shares[:, None])
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2) + np.diag(np.full(k, np.inf))
    largest = min(_LARGEST, _OF_GAP * float(gaps.min()))
    radius = largest * (_SMALLEST + (1.0 - _SMALLEST) * np.sqrt(shares / shares.max()))
    arrows = [
        _arrow(a, b, float(moves[a, b]), places, radius)
        for a, b in zip(*np.nonzero(_drawn(moves)), strict=True)
    ]
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "least": whole_percent(_FAINT),
        "states": [
            {
                "node": nodes[j]["id"],
                "leaf": j,
                "hue": nodes[j]["cell"]["hue"],
                "x": round(float(places[j, 0]), 1),
                "y": round(float(places[j, 1]), 1),
                "r": round(float(radius[j]), 1),
                **_name(places[j], float(radius[j]), nodes[j]["name_parts"]),
            }
            for j in range(k)
        ],
        "arrows": sorted(arrows, key=lambda arrow: arrow["width"]),
    }


def _drawn(moves: Floats) -> Any:
    """Return which moves have an arrow."""
    others = np.nan_to_num(moves) * (1.0 - np.eye(len(moves)))
    best = (others == others.max(axis=1, keepdims=True)) & (others >= _FAINT / 10)
    return (others >= _FAINT) | best


def _places(weights: Floats) -> Floats:
    """Place states on an ellipse, so that those with many moves between them are neighbors."""
    k = len(weights)
    between = weights + weights.T
    # One state at the top, or two: nothing is drawn above them but their names.
    angle = 2.0 * np.pi * np.arange(k) / k - np.pi / 2.0 + (0 if k % 2 else np.pi / k)
    spots = np.stack(
        [WIDTH / 2 + _RADIUS_X * np.cos(angle), HEIGHT / 2 + _RADIUS_Y * np.sin(angle)], axis=1
    )
    distance = np.linalg.norm(spots[:, None] - spots[None], axis=2)
    order = np.arange(k)

    def cost(order: Any) -> float:
        return float((between[np.ix_(order, order)] * distance).sum())

    improved = True
    while improved:
        improved = False
        for a in range(k):
            for b in range(a + 1, k):
                swapped = order.copy()
                swapped[[a, b]] = order[[b, a]]
                if cost(swapped) < cost(order) * (1.0 - 1e-9):
                    order, improved = swapped, True
    places = np.empty_like(spots)
    places[order] = spots
    return places


def _arrow(a: int, b: int, p: float, places: Floats, radius: Floats) -> dict[str, Any]:
    """Return the curve, head and label of an arrow between two circles."""
    start, end = places[a], places[b]
    along = end - start
    length = float(np.hypot(*along))
    left = np.array([along[1], -along[0]]) / length
    middle = (start + end) / 2.0 + left * (_BEND * length)
    width = max(1.2, _THICKEST * p)
    head = 6.0 + 1.1 * width
    out = _unit(middle - start)
    into = _unit(end - middle)
    first = start + out * (radius[a] + 3.0)
    tip = end - into * (radius[b] + 4.0)
    neck = tip - into * head
    side = np.array([into[1], -into[0]]) * (head * 0.55)
    label = (
        0.25 * first + 0.5 * middle + 0.25 * neck + left * (9.0 + width / 2.0 + 9.0 * abs(left[0]))
    )
    return {
        "from": int(a),
        "to": int(b),
        "d": f"M{_point(first)}Q{_point(middle)} {_point(neck)}",
        "head": f"{_point(tip)} {_point(neck + side)} {_point(neck - side)}",
        "width": round(width, 1),
        "x": round(float(label[0]), 1),
        "y": round(float(label[1]) + 5.0, 1),
        "text": whole_percent(p),
    }


def _unit(vector: Floats) -> Floats:
    return np.asarray(vector / max(math.hypot(*vector), 1e-9))


def _point(at: Floats) -> str:
    return f"{at[0]:.1f} {at[1]:.1f}"


def _name(place: Floats, radius: float, parts: list[str]) -> dict[str, Any]:
    """Return a name in two lines, outside of the circle of states, where no arrow is."""
    lines = [parts[0], " · ".join(parts[1:])]
    lines = [
        line if len(line) <= _LINE else f"{line[: _LINE - 1].rstrip()}…" for line in lines if line
    ]
    across = float(place[0] - WIDTH / 2) / _RADIUS_X
    down = float(place[1] - HEIGHT / 2) / _RADIUS_Y
    x, y = float(place[0]), float(place[1])
    height = _LINE_HEIGHT * len(lines)
    if abs(down) >= _STEEP:
        y += radius + 18.0 if down > 0 else 9.0 - radius - height
    else:
        x += math.copysign(radius + 9.0, across)
        y += 14.0 - height / 2
    anchor = "middle" if abs(across) < 0.1 else "start" if across > 0 else "end"
    return {"name_x": round(x, 1), "name_y": round(y, 1), "anchor": anchor, "lines": lines}
