"""The summary of states: their codes and moves, the course, the fit, and what is hidden."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from momentree import CategoricalHMM
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.report import summarize_sequences
from momentree.report.sequences import state_diagram

from ...raising import raises
from .cases import PAGES, clicks, draw


@pytest.fixture(scope="module")
def summary():
    sequences, model, fits = clicks()
    return summarize_sequences(model, sequences, fits=fits, min_cell=1)


def states_of(summary):
    """The nodes of states by their number."""
    return {node["leaf"]: node for node in summary["nodes"] if node["leaf"] is not None}


def test_states_have_their_codes(summary):
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    names = [set(states_of(summary)[j]["name_parts"]) for j in range(3)]
    assert sorted(map(sorted, names)) == [["buy", "cart"], ["help", "mail"], ["home", "search"]]
    assert sum(node["share"] for node in states_of(summary).values()) == pytest.approx(1, abs=1e-3)


def test_stays_and_next_states_are_those_of_the_transitions(summary):
    _, model, _ = clicks()
    for j, node in states_of(summary).items():
        assert node["stay"] == pytest.approx(1 / (1 - model.transmat_[j, j]), rel=0.01)
        assert node["next"] == np.argmax(np.where(np.arange(3) == j, 0, model.transmat_[j]))
    np.testing.assert_allclose(summary["transmat"], model.transmat_, atol=1e-4)
    np.testing.assert_allclose(summary["startprob"], model.startprob_, atol=1e-4)


def test_course_is_the_mean_posterior_by_position(summary):
    sequences, model, _ = clicks()
    proba = model.predict_proba(sequences.symbols, sequences.lengths)
    starts = np.cumsum(sequences.lengths) - sequences.lengths
    there = sequences.lengths > 4
    expected = proba[starts[there] + 4].mean(axis=0)
    areas = summary["areas"]
    column = [row[4] / 1000 for row in areas["proportions"]]
    np.testing.assert_allclose(column, expected, atol=1e-3)
    assert (areas["names"][4], areas["reached"][4]) == ("Step 5", there.sum())


def test_paths_are_counted_without_repeats(summary):
    sequences, model, _ = clicks()
    path = model.predict(sequences.symbols, sequences.lengths)
    found = {}
    for part in np.split(path, np.cumsum(sequences.lengths)[:-1]):
        runs = tuple(part[np.flatnonzero(np.diff(part, prepend=-1))].tolist())
        key = runs if len(runs) <= 5 else (*runs[:5], "more")
        found[key] = found.get(key, 0) + 1
    paths = summary["paths"]
    for item in paths["items"]:
        key = (*item["states"], *(["more"] if item["more"] else []))
        assert item["n"] == found[key]
    assert sum(item["n"] for item in paths["items"]) + paths["others"] == len(sequences)


def test_pairs_of_codes_fit_a_model_of_the_right_kind(summary):
    sequences, model, _ = clicks()
    pairs = summary["pairs"]
    assert pairs["misfit"] < 0.5 * pairs["misfit_of_chance"]
    first = pairs["pairs"][0]
    before = sequences.sequence_of[:-1] == sequences.sequence_of[1:]
    a, b = sequences.symbols[:-1][before], sequences.symbols[1:][before]
    one, two = (PAGES.index(summary["codes"]["code"][j]) for j in first["codes"])
    share = ((a == one) & (b == two)).mean()
    assert first["observed"] == pytest.approx(share, abs=1e-3)
    # Exactly: the sum over positions of the probability of a pair, by powers of the transitions.
    state, expected, n = model.startprob_, 0.0, 0
    E = model.emissionprob_
    for t in range(1, sequences.lengths.max()):
        reached = (sequences.lengths > t).sum()
        expected += reached * (state * E[:, one]) @ model.transmat_ @ E[:, two]
        n += reached
        state = state @ model.transmat_
    assert first["expected"] == pytest.approx(expected / n, abs=1e-5)


def test_fits_name_the_chosen_number(summary):
    chosen = [row["model"] for row in summary["fits"] if row["chosen"]]
    assert chosen == ["3 states"]
    assert [row["kind"] for row in summary["fits"]][:: len(summary["fits"]) - 1] == [
        "independent",
        "chain",
    ]


def test_names_given_by_hand_replace_those_of_codes():
    sequences, model, _ = clicks()
    named = summarize_sequences(model, sequences, state_names={1: "Second"})
    assert states_of(named)[1]["name"] == "Second"
    with raises(InvalidParameterError, "no_number_to_name"):
        summarize_sequences(model, sequences, state_names={7: "Seventh"})


def test_the_model_must_know_the_codes():
    sequences, _, _ = clicks()
    small = CategoricalHMM(2)
    small.startprob_, small.transmat_ = np.full(2, 0.5), np.full((2, 2), 0.5)
    small.emissionprob_ = np.full((2, 2), 0.5)
    with raises(InvalidDataError, "not_of_fit"):
        summarize_sequences(small, sequences)


class TestHidden:
    """What fewer than `min_cell` sequences have in common is not in the summary."""

    def test_moves_of_few_sequences(self):
        sequences, model, _ = clicks()
        path = model.predict(sequences.symbols, sequences.lengths)
        summary = summarize_sequences(model, sequences, min_cell=40)
        rows = summary["transmat"]
        small = [
            (a, b)
            for a in range(3)
            for b in range(3)
            if 0 < self.n_moves(sequences, path, a, b) < 40
        ]
        assert small
        assert all(rows[a][b] is None for a, b in small)
        # No hidden value can be derived from the sum of its row.
        assert all(sum(p is None for p in row) != 1 for row in rows)

    @staticmethod
    def n_moves(sequences, path, a, b):
        of = sequences.sequence_of
        there = (path[:-1] == a) & (path[1:] == b) & (of[:-1] == of[1:])
        return len(np.unique(of[1:][there]))

    def test_codes_of_few_sequences(self):
        sequences, model, _ = clicks()
        symbols = sequences.symbols.copy()
        codes = np.array([*PAGES, "secret"], dtype=object)
        symbols[:4] = 6  # many steps, but of one sequence or two
        rare = replace(
            sequences, symbols=symbols, codes=codes, coder=replace(sequences.coder, codes=[*codes])
        )
        model = CategoricalHMM(3).fit(rare.symbols, rare.lengths)
        text = json.dumps(summarize_sequences(model, rare))
        assert "secret" not in text
        assert "secret" in json.dumps(summarize_sequences(model, rare, min_cell=1))

    def test_paths_of_few_sequences(self):
        sequences, model, _ = clicks()
        paths = summarize_sequences(model, sequences, min_cell=20)["paths"]
        assert all(item["n"] >= 20 for item in paths["items"])
        assert paths["others"] == 0 or paths["others"] >= 20

    def test_single_sequences_only_on_request(self):
        sequences, model, _ = clicks()
        assert "user 0" not in json.dumps(summarize_sequences(model, sequences))
        shown = summarize_sequences(model, sequences, include_sequences=True)["examples"]
        path = model.predict(sequences.symbols, sequences.lengths)
        assert shown["items"][0]["id"] == "user 0"
        assert shown["items"][0]["states"] == path[: sequences.lengths[0]].tolist()

    def test_positions_that_few_sequences_reach(self):
        sequences, model, _ = clicks()
        reached = summarize_sequences(model, sequences, min_cell=5)["areas"]["reached"]
        assert min(reached) >= 50
        assert len(reached) < sequences.lengths.max()


class TestDiagram:
    """Circles and arrows."""

    def test_arrows_are_moves_that_are_likely_enough(self, summary):
        drawn = state_diagram(summary)
        arrows = {(arrow["from"], arrow["to"]) for arrow in drawn["arrows"]}
        for a, row in enumerate(summary["transmat"]):
            for b, p in enumerate(row):
                if a != b and p >= 0.05:
                    assert (a, b) in arrows
        assert all(a != b for a, b in arrows)
        assert {state["leaf"] for state in drawn["states"]} == {0, 1, 2}

    def test_every_circle_and_name_is_inside(self):
        sequences, rng = draw(60, seed=1), np.random.default_rng(0)
        model = CategoricalHMM(12)
        model.startprob_ = np.full(12, 1 / 12)
        model.transmat_ = rng.dirichlet(np.ones(12), 12)
        model.emissionprob_ = rng.dirichlet(np.ones(6), 12)
        drawn = state_diagram(summarize_sequences(model, sequences, min_cell=1))
        for state in drawn["states"]:
            assert state["r"] < state["x"] < drawn["width"] - state["r"]
            assert 12 < state["name_y"] < drawn["height"] - 20
            assert state["r"] < state["y"] < drawn["height"] - state["r"]

    def test_too_many_states_have_none(self, summary):
        assert state_diagram({**summary, "n_leaves": 13}) is None
