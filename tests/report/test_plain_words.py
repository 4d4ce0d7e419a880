"""Plain words for readers replace only existing messages, and use only their values."""

import re
from importlib import resources

import pytest

from momentree.messages import CATALOGUE, PYTHON, Audience, Message, in_words
from momentree.messages.catalogue.report import PLAIN
from momentree.report import render_html, summarize, summarize_records

from .pages import read
from .records.cases import flat_case, tree_case


def test_plain_words_are_those_of_known_codes():
    assert set(PLAIN) <= set(CATALOGUE)


def test_plain_words_take_the_values_of_the_message():
    message = Message("max_depth_reached", limit=7)
    words = in_words(message, Audience(PYTHON.parameter, PLAIN))
    assert "7" in words
    assert words != str(message)
