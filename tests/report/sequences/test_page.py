"""The page of states: its tables without scripts, hostile text, and what a reader can do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from momentree.report import render_html, summarize_sequences, write_html

from ..browsing import attributes, opened, press, texts, topic_name, visible
from ..pages import ALLOWED_SCRIPTS, ATTACKS, read
from .cases import clicks

CLICK = """
document.querySelector(arguments[0]).dispatchEvent(
  new MouseEvent("click", {bubbles: true, cancelable: true}));
"""


@pytest.fixture(scope="module")
def summary():
    sequences, model, fits = clicks()
    return summarize_sequences(model, sequences, fits=fits, include_sequences=True)


def test_hostile_text_stays_text():
    sequences, model, _ = clicks()
    codes = np.array([f"{i}{ATTACKS[i]}" for i in range(6)], dtype=object)
    hostile = replace(
        sequences,
        codes=codes,
        ids=[ATTACKS[i % len(ATTACKS)] for i in range(len(sequences))],
        coder=replace(sequences.coder, codes=codes.tolist()),
    )
    page = render_html(
        summarize_sequences(
            model, hostile, title=ATTACKS[0], include_sequences=True, state_names={0: ATTACKS[2]}
        )
    )
    reader = read(page)
    assert len(reader.scripts) == ALLOWED_SCRIPTS
    assert not [tag for tag, _ in reader.tags if tag == "img"]
    assert not [name for _, attrs in reader.tags for name in attrs if name.startswith("on")]


def test_equal_summaries_give_equal_pages(summary):
    sequences, model, fits = clicks()
    again = summarize_sequences(model, sequences, fits=fits, include_sequences=True)
    assert render_html(again) == render_html(summary)


def test_pairs_may_all_differ_from_the_model(summary):
    pairs = {**summary["pairs"], "pairs": [{**summary["pairs"]["pairs"][0], "deviant": True}]}
    assert render_html({**summary, "pairs": pairs}).count("Most different from the model") == 1


def test_a_state_is_read_from_its_circle_to_its_codes(driver, summary, tmp_path):
    by_leaf = {node["leaf"]: node for node in summary["nodes"]}
    address = write_html(summary, tmp_path / "page.html").as_uri()
    with opened(driver, f"{address}#view=moves") as page:
        node = by_leaf[1]["id"]
        page.execute_script(CLICK, f'.diagram .state[data-node="{node}"] a')
        assert topic_name(page) == by_leaf[1]["name"].replace("\u00a0", " ")
        codes = texts(page, "#words .word")
        assert codes == [summary["codes"]["short"][j] for j in by_leaf[1]["top"]]
        first = texts(page, ".state-list button")[0]
        assert first.startswith(str(by_leaf[1]["next"]))
        press(page, "#tab-moves")
        # Arrows of other states are faint.
        ends = zip(
            attributes(page, ".arrow.faint", "data-from"),
            attributes(page, ".arrow.faint", "data-to"),
            strict=True,
        )
        assert all(str(node) not in pair for pair in ends)
        press(page, "#tab-explore", "#rename")
        page.execute_script(
            "document.getElementById('new-name').value = 'Buying';"
            "document.querySelector('form.rename').requestSubmit();"
        )
        press(page, "#tab-moves")
        name = f'.diagram .state[data-node="{node}"] .state-name'
        shown = page.execute_script("return document.querySelector(arguments[0]).textContent", name)
        assert shown == "Buying"
        press(page, "#tab-proportions", "#tab-fit", "#tab-examples", "#tab-table")
        assert visible(page, "#table", "#proportions") == [True, False]
