"""The number of states by BIC, and simpler models."""

from __future__ import annotations

import numpy as np
import pytest

from momentree.exceptions import InvalidParameterError
from momentree.models import CategoricalHMM, compare_states

from ..raising import raises
from ..report.sequences.cases import clicks


def test_bic_finds_the_states_of_the_data():
    sequences, model, fits = clicks()
    assert model.n_components == 3
    by_kind = {(fit.kind, fit.n_states): fit for fit in fits}
    own = by_kind["states", 3]
    assert own.bic == min(fit.bic for fit in fits)
    assert own.bic == pytest.approx(model.bic(sequences.symbols, sequences.lengths))
    assert own.n_parameters == 2 + 6 + 15


def test_simpler_models_are_fitted_by_counting():
    sequences, _, fits = clicks()
    symbols, ends = sequences.symbols, np.cumsum(sequences.lengths)
    independent = chain = 0.0
    counts = np.bincount(symbols)
    moves, first = np.zeros((6, 6)), np.zeros(6)
    parts = np.split(symbols, ends[:-1])
    for part in parts:
        first[part[0]] += 1
        np.add.at(moves, (part[:-1], part[1:]), 1)
    for part in parts:
        independent += np.log(counts[part] / counts.sum()).sum()
        chain += np.log(first[part[0]] / first.sum())
        chain += np.log(moves[part[:-1], part[1:]] / moves.sum(axis=1)[part[:-1]]).sum()
    assert fits[0].log_likelihood == pytest.approx(independent)
    assert fits[-1].log_likelihood == pytest.approx(chain)
    assert (fits[0].n_parameters, fits[-1].n_parameters) == (5, 35)


def test_candidates_are_checked():
    with raises(InvalidParameterError, "no_candidates_of_states"):
        compare_states(CategoricalHMM(), [0, 1], [2], [])
    with raises(InvalidParameterError, "not_a_number"):
        compare_states(CategoricalHMM(), [0, 1], [2], [1])
