"""Pages have no violation of axe, the checker of accessibility, in any view, light and dark."""

from __future__ import annotations

from importlib import resources

import numpy as np
import pytest

from momentree import BernoulliMixture, LatentDirichletAllocation
from momentree.datasets import make_lda
from momentree.models import compare_fits
from momentree.report import (
    summarize,
    summarize_measurements,
    summarize_records,
    summarize_sequences,
    write_html,
)

from .browsing import CONTRAST, By, emulated, opened, scheme, tree_row, width_of
from .measurements import cases as measured
from .records.cases import flat_case, tree_case
from .sequences.cases import clicks

AXE = """
const [options, done] = arguments;
const quick = {resultTypes: ["violations"], selectors: false, preload: false};
axe.run(document, {...quick, ...options}).then(found => done(
  found.violations.map(v => [v.id, ...v.nodes.map(n => n.html.slice(0, 200))])));
"""
ALL = {"rules": {"target-size": {"enabled": True}}}
# All views at once: a check of each in turn takes six times as long, and finds the same.
OPEN = """
for (const view of document.querySelectorAll(".view")) view.hidden = false;
document.getElementById("made").open = true;
document.getElementById("exact").click();
"""
RENAME = """
document.getElementById("rename").click();
document.getElementById("new-name").value = "Own name";
document.querySelector("form.rename").requestSubmit();
"""


@pytest.fixture(scope="module")
def axe():
    pytest.importorskip("selenium_axe_python", reason="selenium-axe-python is not installed")
    script = resources.files("selenium_axe_python") / "axe-core" / "axe.min.js"
    return script.read_text(encoding="utf-8")


def of_lda():
    sample = make_lda(60, 40, 3, alpha=0.5, length=60, random_state=0)
    words = [f"word{i}" for i in range(40)]
    return summarize(LatentDirichletAllocation(3).fit(sample.X, feature_names=words), sample.X)


def without_outcomes():
    model, records = flat_case()
    records.outcomes = {}
    return summarize_records(model, records, include_records=True, min_cell=1)


def of_clicks():
    sequences, model, fits = clicks()
    return summarize_sequences(model, sequences, fits=fits, include_sequences=True)


FITS = compare_fits(BernoulliMixture(), np.repeat(np.eye(3), 20, axis=0), [2, 3], stability=1)
QUALITY = {"stability": [0.9], "recurrence": [0.9, 0.8, 0.7, np.nan], "fits": FITS}
PAGES = {
    "topics, tree, labels": lambda case: summarize(case.estimator, case.X, **case.arguments),
    "topics, flat": lambda case: of_lda(),
    "records, tree": lambda case: summarize_records(*tree_case(), quality=QUALITY),
    "records, flat": lambda case: without_outcomes(),
    "measurements": lambda case: summarize_measurements(
        *measured.flat_case(), include_records=True, quality={"fits": FITS}
    ),
    "sequences": lambda case: of_clicks(),
}


SHORT = {"records, tree", "topics, flat", "sequences"}


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=() if kind in SHORT else pytest.mark.long) for kind in PAGES],
)
def test_no_view_has_a_violation(driver, axe, make_case, tmp_path, kind):
    summary = PAGES[kind](make_case())
    leaf = next(node["id"] for node in summary["nodes"] if node["leaf"] is not None)
    address = write_html(summary, tmp_path / "page.html").as_uri()
    with opened(driver, address) as page:
        page.execute_script(axe)
        page.execute_script(OPEN)
        page.find_element(By.CSS_SELECTOR, tree_row(leaf)).click()
        page.execute_script(RENAME)
        if summary["kind"].startswith("records"):
            enter_code(page, summary)
        if kind == "measurements":  # axe sees which bar is behind a number, but takes long
            assert page.execute_async_script(AXE, {"runOnly": ["color-contrast"]}) == []
        else:
            assert page.execute_script(CONTRAST) == []
        with width_of(page, 390), emulated(page, **scheme("dark")):
            assert page.execute_async_script(AXE, ALL) == []
        page.execute_script("document.getElementById('undo-names').click()")


def enter_code(page, summary):
    page.execute_script(
        "const query = document.getElementById('code-query'); query.value = arguments[0];"
        "query.dispatchEvent(new KeyboardEvent("
        " 'keydown', {key: 'Enter', bubbles: true, cancelable: true}));",
        summary["codes"]["code"][0],
    )
