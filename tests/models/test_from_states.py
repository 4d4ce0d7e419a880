"""Models from the sums of several sites are those of the pooled rows."""

from __future__ import annotations

import numpy as np
import pytest

import momentree as mt
from momentree import BernoulliMixture, LatentDirichletAllocation, PoissonMixture, SingleTopicModel
from momentree.exceptions import InvalidDataError
from momentree.models import fitted_from, next_round
from momentree.moments import MomentState
from momentree.refinement import ExpectedState

from ..raising import raises

K, D, N = 3, 15, 300

POOLED = {
    "single-topic": lambda refine: SingleTopicModel(
        K, refine=refine, start="moments", log_scaling=None
    ),
    "poisson": lambda refine: PoissonMixture(K, refine=refine, start="moments"),
    "bernoulli": lambda refine: BernoulliMixture(K, refine=refine, start="raw_moments"),
    "lda": lambda refine: LatentDirichletAllocation(K, refine=refine, alpha0=1.0),
}


def rows_of(model):
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(D, 0.2), K)
    X = rng.multinomial(20, topics[rng.choice(K, size=N, p=[0.5, 0.3, 0.2])]).astype(float)
    return (X > 0) * 1.0 if model == "bernoulli" else X


def fit_at_sites(model, parts, *, em):
    """Go through the rounds of a protocol; no site sees the rows of another."""
    state = MomentState(D, model=model)
    for _ in range(60):
        pooled = sum(state.empty().update(part) for part in parts)
        if isinstance(pooled, ExpectedState):
            if pooled.converged(1e-7 if model == "bernoulli" else 1e-5):
                break
        elif pooled.third and not em:
            break
        state = next_round(pooled, K)
    return fitted_from(pooled)


@pytest.mark.parametrize(
    ("model", "em"),
    [(model, em) for model in POOLED for em in (False, True) if not (em and model == "lda")],
)
def test_three_hospitals_fit_the_model_of_pooled_rows(model, em, tmp_path):
    X = rows_of(model)
    found = fit_at_sites(model, np.split(X, [50, 170]), em=em)
    pooled = POOLED[model]("em" if em else None).fit(X)
    np.testing.assert_allclose(found.weights_, pooled.weights_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.components_, pooled.components_, rtol=0, atol=1e-8)
    np.testing.assert_array_equal(found.predict(X), pooled.labels_)
    assert {group.status for group in found.relabeled(pooled).changes_} == {"stayed"}
    np.testing.assert_allclose(found.score_samples(X), pooled.score_samples(X), rtol=1e-7)
    if em:
        assert (found.n_iter_, found.converged_) == (pooled.n_iter_, True)
    assert found.mean_count_ == pytest.approx(pooled.mean_count_)
    found.save(tmp_path / "model.mt")
    again = mt.load(tmp_path / "model.mt")
    np.testing.assert_array_equal(again.predict(X), pooled.labels_)
    assert again.top_words(3) == found.top_words(3)


def test_em_states_merge_subtract_and_go_into_files():
    X = rows_of("single-topic")
    question = next_round(
        next_round(MomentState(D).update(X), K).update(X),
    )
    whole = question.empty().update(X)
    parts = [question.empty().update(part) for part in np.split(X, 3)]
    pooled = sum(ExpectedState.from_bytes(part.to_bytes()) for part in parts)
    assert pooled.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-12)
    for found, expected in zip(pooled.statistics, whole.statistics, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)
    two = (pooled - parts[2]).statistics[1]
    np.testing.assert_allclose(two, (parts[0] + parts[1]).statistics[1], rtol=1e-8)
    with raises(InvalidDataError, "states_differ"):
        pooled + whole.next_round()
    with raises(InvalidDataError, "states_differ"):
        pooled + MomentState(D).update(X)
    assert whole.release(5).suppressed == (0, 0)
    few = question.empty().update(X[:12]).release(6)
    assert few.suppressed[1] == (few.statistics[1] == 0).sum() > 0


def test_rounds_out_of_order():
    X = rows_of("single-topic")
    first = MomentState(D).update(X)
    with raises(InvalidDataError, "round_without_model"):
        fitted_from(first)
    with raises(InvalidDataError, "how_many_components"):
        next_round(first)
    with raises(InvalidDataError, "empty_state"):
        next_round(next_round(first, K))
    lda = MomentState(D, model="lda").update(X).next_round(K).update(X)
    with raises(InvalidDataError, "no_em_from_states"):
        next_round(lda)
    scaled = MomentState(D, log_scaling="log1p").update(X).next_round(K).update(X)
    with raises(InvalidDataError, "no_model_from_state"):
        fitted_from(scaled)
