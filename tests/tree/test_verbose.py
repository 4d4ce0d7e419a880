"""Progress: silent by default, on standard error on request, always in the logger."""

import itertools
import logging
import re
import time

import numpy as np
import pytest

from momentree import TopicTree
from momentree.exceptions import InvalidDataError

from ..raising import raises

X = np.random.default_rng(0).poisson(1.0, size=(60, 12))
LOGGER = logging.getLogger("momentree.tree")


def test_a_fit_is_silent_by_default(capfd):
    TopicTree(3).fit(X).predict(X)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("verbose", [True, 1])
def test_progress_goes_to_standard_error(capfd, caplog, verbose):
    with caplog.at_level(logging.INFO, logger="momentree.tree"):
        TopicTree(3, verbose=verbose).fit(X)
    out, err = capfd.readouterr()
    assert out == ""
    assert err.splitlines() == [f"momentree: {message}" for message in caplog.messages]


def test_the_logger_is_left_as_it_was(capfd):
    before = LOGGER.level, list(LOGGER.handlers)
    TopicTree(3, verbose=True).fit(X)
    assert (LOGGER.level, list(LOGGER.handlers)) == before
    with raises(InvalidDataError, "no_sample_weight"):
        TopicTree(3, verbose=True).fit(X, sample_weight=np.zeros(60))
    assert (LOGGER.level, list(LOGGER.handlers)) == before
    capfd.readouterr()
    TopicTree(3).fit(X)
    assert capfd.readouterr().err == ""


def test_the_logger_is_left_as_it_was_after_an_interruption(monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    before = LOGGER.level, list(LOGGER.handlers)
    monkeypatch.setattr("momentree.tree.topic_growth.TreeGrowth", interrupt)
    with pytest.raises(KeyboardInterrupt):
        TopicTree(3, verbose=True).fit(X)
    assert (LOGGER.level, list(LOGGER.handlers)) == before


def test_the_same_messages_go_to_the_logger(caplog):
    with caplog.at_level(logging.INFO, logger="momentree.tree"):
        TopicTree(3).fit(X)
    assert caplog.messages[1:] == [
        "growing the tree: 2 leaves",
        "growing the tree: 3 leaves",
        "searching from tree",
        "searching from tfidf",
        "refining 3 leaves",
    ]
    assert {record.levelno for record in caplog.records} == {logging.INFO}


def test_growth_says_how_long_it_will_take(monkeypatch, caplog):
    rng = np.random.default_rng(0)
    X = rng.poisson(np.kron(np.eye(4), np.full((50, 10), 3.0)) + 0.05)
    clock = itertools.count(0.0, 10.0)
    with monkeypatch.context() as patch, caplog.at_level(logging.INFO, "momentree.tree"):
        patch.setattr(time, "monotonic", lambda: next(clock))
        TopicTree(4, search="none").fit(X)
    grown = [text for text in caplog.messages if text.startswith("growing the tree: ")]
    assert re.fullmatch(r"growing the tree: \d leaves \(about .* left\)", grown[0])
    assert grown[-1] == "growing the tree: 4 leaves"
