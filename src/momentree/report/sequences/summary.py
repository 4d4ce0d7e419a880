"""Summarize a hidden Markov model of sequences as a plain dictionary, the content of its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from momentree._types import Floats, Ints
from momentree.estimators.names import CODE_LAMBDA
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.naming.given import check_names
from momentree.report._estimators import check_fitted
from momentree.report._provenance import provenance
from momentree.report.disclosure import Disclosure
from momentree.report.records._short_titles import short_titles
from momentree.report.sequences._counts import PathCounts, hidden_cells, shown
from momentree.report.sequences._course import (
    common_paths,
    shares_by_position,
    single_sequences,
)
from momentree.report.sequences._pairs import compare_pairs
from momentree.report.sequences._states import describe_states
from momentree.report.text import clean_text, for_readers

if TYPE_CHECKING:
    from momentree.datasets import Sequences
    from momentree.models import StatesFit

_DIGITS = 4
_MODELS = {
    "independent": "model_independent",
    "states": "model_states",
    "chain": "model_chain",
}


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
    shorts = short_titles(vocabulary, names)
    nodes = describe_states(
        share,
        counts,
        emission,
        base,
        np.where(hidden_moves, np.nan, estimator.transmat_),
        names,
        shorts,
        given,
        disclosure,
    )
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
    examples = (
        single_sequences(path, symbols, lengths, sequences.ids) if include_sequences else None
    )
    used = _renumber(nodes, pairs, examples, named)
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
            "code": [vocabulary[j] for j in used],
            "name": [names[j] for j in used],
            "short": [shorts[j] for j in used],
            "rate": np.round(base[used], _DIGITS).tolist(),
        },
        "nodes": nodes,
        "startprob": shown(estimator.startprob_, starts, _DIGITS),
        "transmat": shown(estimator.transmat_, hidden_moves, _DIGITS),
        "areas": shares_by_position(proba, lengths, disclosure),
        "paths": common_paths(path, lengths, disclosure),
        "pairs": pairs,
        "examples": examples,
        "certainty": round(float(proba.max(axis=1).mean()), 3),
        "fits": None if fits is None else [_fit_row(fit, k) for fit in fits],
        "notes": [for_readers(note) for note in notes],
        "given_names": given,
        "made": provenance(estimator, made_with),
    }


def _fit_row(fit: StatesFit, k: int) -> dict[str, Any]:
    words = Message(_MODELS[fit.kind], n_states=fit.n_states)
    chosen = fit.kind == "states" and fit.n_states == k
    return {"model": for_readers(words), "chosen": chosen, **asdict(fit)}


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
