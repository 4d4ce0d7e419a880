"""Summarize a hidden Markov model of sequences as a plain dictionary, the content of its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from momentree._types import Floats, Ints
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.naming.given import check_names
from momentree.report._estimators import check_fitted
from momentree.report._provenance import provenance
from momentree.report.disclosure import Disclosure
from momentree.report.layout import icicle_cells
from momentree.report.records._short_titles import short_titles
from momentree.report.sequences._counts import PathCounts, hidden_cells, shown
from momentree.report.sequences._course import (
    common_paths,
    shares_by_position,
    single_sequences,
)
from momentree.report.sequences._pairs import compare_pairs
from momentree.report.text import clean_text, for_readers
from momentree.tree.naming import CODE_LAMBDA, choose_codes, most_relevant
from momentree.tree.node import TreeNode

if TYPE_CHECKING:
    from momentree.datasets import Sequences
    from momentree.models import StatesFit

_DIGITS = 4
_N_CODES = 12
_MODELS = {
    "independent": "model_independent",
    "states": "model_states",
    "chain": "model_chain",
}
_SEPARATOR = "\N{NO-BREAK SPACE}· "


class FittedStates(Protocol):
    """A hidden Markov model with codes: `CategoricalHMM`."""

    startprob_: Floats
    transmat_: Floats
    emissionprob_: Floats

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters."""
        ...

    def predict(self, X: Any, lengths: Any = None) -> Ints:
        """Return the most likely path."""
        ...

    def predict_proba(self, X: Any, lengths: Any = None) -> Floats:
        """Return the posterior of the states."""
        ...


def summarize_sequences(
    estimator: FittedStates,
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
        no or at least `min_cell` sequences have;
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
    check_fitted(estimator, "transmat_")
    disclosure = Disclosure(min_cell)
    symbols, lengths = sequences.symbols, np.asarray(sequences.lengths)
    k, d = estimator.emissionprob_.shape
    if d < len(sequences.codes):
        raise InvalidDataError("sequences_not_of_fit", n_codes=len(sequences.codes), fitted=d)
    d = len(sequences.codes)
    emission = np.asarray(estimator.emissionprob_)[:, :d]
    X = symbols[:, None]
    path = np.asarray(estimator.predict(X, lengths))
    proba = np.asarray(estimator.predict_proba(X, lengths))
    counts = PathCounts.of(path, symbols, lengths, k, d)
    share = proba.mean(axis=0)
    known = {str(code): clean_text(name) for code, name in sequences.names.items()}
    vocabulary = [clean_text(code) for code in sequences.codes]
    names = [known.get(code) or code for code in vocabulary]
    named = np.flatnonzero(~disclosure.is_small(counts.codes))
    base = np.bincount(symbols, minlength=d) / len(symbols)
    given = check_names(
        state_names or {}, {str(j): None for j in range(k)}, parameter="state_names"
    )
    hidden_moves = hidden_cells(counts.moves, estimator.transmat_, disclosure)
    nodes = _describe(
        share,
        counts,
        emission,
        base,
        np.where(hidden_moves, np.nan, estimator.transmat_),
        names,
        short_titles(vocabulary, names),
        given,
        disclosure,
    )
    for node in nodes:
        kept = np.isin(node["top"], named)
        node["top_rates"] = np.asarray(node["top_rates"])[kept].tolist()
        node["top"] = np.searchsorted(named, np.asarray(node["top"])[kept]).tolist()
    starts = hidden_cells(counts.starts[None], estimator.startprob_[None], disclosure)[0]
    pairs = compare_pairs(
        symbols,
        lengths,
        estimator.startprob_,
        estimator.transmat_,
        emission,
        named,
        disclosure,
    )
    for pair in () if pairs is None else pairs["pairs"]:
        pair["first"], pair["second"] = np.searchsorted(
            named, [pair["first"], pair["second"]]
        ).tolist()
    shorts = short_titles(vocabulary, names)
    notes = disclosure.notes(tuple(sequences.notes), {len(lengths)} - set(range(min_cell)))
    return {
        "kind": "sequences-flat",
        "title": clean_text(title or "States of sequences"),
        "n_sequences": len(lengths),
        "n_steps": len(symbols),
        "n_features": d,
        "n_leaves": k,
        "min_cell": min_cell,
        "default_lambda": CODE_LAMBDA,
        "codes": {
            "code": [vocabulary[j] for j in named],
            "name": [names[j] for j in named],
            "short": [shorts[j] for j in named],
            "rate": np.round(base[named], _DIGITS).tolist(),
        },
        "nodes": nodes,
        "startprob": shown(estimator.startprob_, starts, _DIGITS),
        "transmat": shown(estimator.transmat_, hidden_moves, _DIGITS),
        "areas": shares_by_position(proba, lengths, disclosure),
        "paths": common_paths(path, lengths, disclosure),
        "pairs": pairs,
        "examples": _examples(path, symbols, lengths, sequences.ids, named)
        if include_sequences
        else None,
        "certainty": round(float(proba.max(axis=1).mean()), 3),
        "fits": None if fits is None else [_fit_row(fit, k) for fit in fits],
        "notes": [for_readers(note) for note in notes],
        "given_names": given,
        "made": provenance(estimator, made_with),
    }


def _describe(
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


def _fit_row(fit: StatesFit, k: int) -> dict[str, Any]:
    words = Message(_MODELS[fit.kind], n_states=fit.n_states)
    chosen = fit.kind == "states" and fit.n_states == k
    return {"model": for_readers(words), "chosen": chosen, **asdict(fit)}


def _stay(probability: float) -> float | None:
    """Return the expected number of steps until a state is left; None if unknown or never."""
    return round(1.0 / (1.0 - probability), 2) if probability < 1.0 - 1e-9 else None


def _next(row: Floats, state: int) -> int | None:
    others = np.where(np.arange(len(row)) == state, 0.0, np.nan_to_num(row))
    return int(others.argmax()) if others.max(initial=0.0) > 0 else None


def _examples(
    path: Ints, symbols: Ints, lengths: Ints, ids: list[str], named: Ints
) -> dict[str, Any]:
    found = single_sequences(path, symbols, lengths, ids)
    place = {int(j): at for at, j in enumerate(named)}
    for item in found["items"]:
        item["codes"] = [place.get(code, -1) for code in item["codes"]]
    return found
