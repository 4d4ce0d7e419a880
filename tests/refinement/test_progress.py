"""EM and passes over rows log how far they are, and how long they will still take."""

from __future__ import annotations

import itertools
import logging
import time

import numpy as np
import scipy.sparse as sp

from momentree.backends import RowBlocks, num_threads
from momentree.objects import TopicParameters
from momentree.refinement import em


def messages(monkeypatch, caplog, seconds):
    """Return what EM logs if the clock advances by so much each time it is read."""
    rng = np.random.default_rng(0)
    rows = RowBlocks(sp.csr_array(rng.poisson(1.0, size=(40, 6)).astype(float)), 60)
    start = TopicParameters(np.full(2, 0.5), rng.dirichlet(np.ones(6), size=2).T)
    clock = itertools.count(0.0, seconds)
    with monkeypatch.context() as patch, caplog.at_level(logging.DEBUG), num_threads(1):
        patch.setattr(time, "monotonic", lambda: next(clock))
        em(rows, start, sample_weight=np.ones(40), max_iter=5, tol=0.0)
    return [(one.name.removeprefix("momentree."), one.getMessage()) for one in caplog.records]


def test_steps_and_passes_are_logged(monkeypatch, caplog):
    found = messages(monkeypatch, caplog, 2.0)
    steps = [text for name, text in found if name == "refinement"]
    assert [text.split(" (")[0] for text in steps] == [
        *(f"step {i} of at most 5" for i in range(1, 5)),
        "",
    ]
    # The first step is not counted: it may include compilation.
    assert "(" not in steps[0]
    left = [int(text.split("(at most ")[1].split(" s")[0]) for text in steps[1:3]]
    assert left[0] > left[1] > 0
    assert ("backends", "") in found
    assert any(text.endswith("left)") for name, text in found if name == "backends")


def test_short_work_logs_nothing(monkeypatch, caplog):
    assert messages(monkeypatch, caplog, 1e-4) == []
