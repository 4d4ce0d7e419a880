"""Summarize a hidden Markov model of sequences as a plain dictionary, the content of its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from momentree._types import Floats, Ints
from momentree.estimators.names import CODE_LAMBDA, choose_codes, most_relevant
from momentree.estimators.node import TreeNode
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.naming.given import check_names
from momentree.report import estimators, groups, layout, text
from momentree.report.disclosure import Disclosure
from momentree.report.sequences import paths

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
    emission = _emission_of(estimator, d)
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
        "startprob": paths.shown(startprob, starts, _DIGITS),
        "transmat": paths.shown(transmat, hidden, _DIGITS),
        "areas": paths.shares_by_position(proba, lengths, disclosure),
        "paths": paths.common_paths(path, lengths, disclosure),
        "pairs": pairs,
        "examples": examples,
        "certainty": round(float(proba.max(axis=1).mean()), 3),
        "fits": None if fits is None else [_fit_row(fit, k) for fit in fits],
    }


def _emission_of(estimator: Any, n_codes: int) -> Floats:
    """Return the probabilities of the codes of the sequences, (k, d), in each state."""
    emission = np.asarray(estimator.emissionprob_)
    if emission.shape[1] < n_codes:
        raise InvalidDataError(
            "[sequences_not_of_fit] the sequences have {n_codes:~code}, but the model was fitted "
            "to {fitted}; pass the sequences of the fit, or read others with their coder",
            n_codes=n_codes,
            fitted=emission.shape[1],
        )
    return emission[:, :n_codes]


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
