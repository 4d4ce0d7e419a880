"""The benchmark of LDA against a Gibbs sampler, on tiny input, with and without the sampler."""

import importlib
import sys
import warnings

import numpy as np
import pytest

from momentree.datasets import make_lda

from .conftest import REPOSITORY


@pytest.fixture
def module(monkeypatch):
    monkeypatch.syspath_prepend(REPOSITORY / "benchmarks")
    monkeypatch.delitem(sys.modules, "against_gibbs", raising=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tomotopy warns as it is imported
        return importlib.import_module("against_gibbs")


def test_error_is_that_of_the_best_matching(module):
    topics = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
    assert module.recovery_error(topics[::-1], topics) == 0.0
    assert module.recovery_error(topics, np.array([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]])) == 0.5


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::momentree.exceptions.ConvergenceWarning")
def test_it_runs_without_the_sampler(module, monkeypatch):
    monkeypatch.setattr(module, "tomotopy", None)
    draw = module.samples(200, 50, 3)["power-law topics"]
    rows = module.recovery(draw, 3, 2, 5)
    assert [row[0] for row in rows] == list(module.methods(5))
    assert all(len(row) == 5 for row in rows)
    names = [row[0] for row in module.real_text(draw(0).X, 3, 1, 5)]
    assert names == ["moments and EM", "moments"]


@pytest.mark.filterwarnings("ignore::momentree.exceptions.ConvergenceWarning")
def test_it_runs_with_the_sampler(module):
    if module.tomotopy is None:
        pytest.skip("tomotopy is not installed")
    sample = make_lda(200, 50, 3, random_state=0)
    alpha, topics, seconds = module.gibbs(sample.X, 3, iterations=20, seed=0, workers=1)
    assert alpha.shape == (3,)
    np.testing.assert_allclose(topics.sum(axis=1), 1.0, rtol=1e-4)
    assert seconds > 0
    assert all(np.isfinite(module.text_scores((alpha, topics, seconds), sample.X, sample.X)))
