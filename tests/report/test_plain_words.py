"""Plain words for readers: of messages, and on the pages until exact figures are asked for."""

import re
from html.parser import HTMLParser

import pytest

from momentree.messages import PYTHON, Audience, in_words
from momentree.messages.plain import PLAIN
from momentree.report import (
    render_html,
    summarize,
    summarize_measurements,
    summarize_records,
    summarize_sequences,
)
from tests.wording import message

from .measurements import cases as measured
from .pages import read
from .records.cases import flat_case, tree_case
from .sequences.cases import clicks

VOID = {"meta", "link", "input", "br", "path", "rect"}


def test_plain_words_take_the_values_of_the_message():
    reason = message("max_depth_reached", limit=7)
    words = in_words(reason, Audience(PYTHON.parameter, PLAIN))
    assert "7" in words
    assert words != str(reason)


class PlainText(HTMLParser):
    """The text of a page without its exact figures, scripts and parameters; with tooltips."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.texts = [], []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in VOID:
            asked = {"exact-figure", "more-exact"} & set((attrs.get("class") or "").split())
            hidden = bool(asked) or tag in ("script", "style")
            self.open.append(hidden or (bool(self.open) and self.open[-1]))
        if self.open and not self.open[-1]:
            self.texts += [attrs[name] for name in ("title", "aria-label") if name in attrs]

    def handle_endtag(self, tag):
        if tag not in VOID:
            self.open.pop()

    def handle_data(self, data):
        if self.open and not self.open[-1]:
            self.texts.append(data)


def plain_text(page):
    reader = PlainText()
    reader.feed(page.split("<h3>Parameters</h3>")[0])
    return " ".join(" ".join(reader.texts).split())


@pytest.fixture(scope="module")
def pages(make_case):
    case, one = make_case(), make_case(12, groups=0)
    one.X, one.ids, one.texts, one.labels = one.X[:1], ["a"], ["b"], ["c"]
    one.estimator.labels_ = one.estimator.labels_[:1]
    one.estimator.tree_._samples = one.estimator.tree_._samples[:1]
    quality = {"stability": [0.9], "recurrence": [0.9, 0.8, 0.7, 0.5]}
    sequences, model, fits = clicks()
    return {
        "tree": render_html(summarize(case.estimator, case.X, **case.arguments)),
        "one": render_html(summarize(one.estimator, one.X, **one.arguments)),
        "flat groups": render_html(summarize_records(*flat_case(), quality=quality)),
        "tree of groups": render_html(summarize_records(*tree_case())),
        "measurements, flat": render_html(summarize_measurements(*measured.flat_case())),
        "measurements, tree": render_html(summarize_measurements(*measured.tree_case())),
        "sequences": render_html(summarize_sequences(model, sequences, fits=fits)),
    }


def test_pages_use_no_terms_of_statistics_unless_asked(pages):
    terms = r"\b(nats|NPMI|UMass|NMI|ARI|kappa|log-likelihood|lambda|Jaccard|Wilson|Katz)\b|[λ]"
    for name, page in pages.items():
        assert re.findall(terms, plain_text(page)) == [], name
    assert "NPMI" in pages["tree"]
    assert "Wilson" in pages["flat groups"]


def test_percentages_and_counts_are_written_one_way(pages):
    for name, page in pages.items():
        text = plain_text(page)
        assert "%" in text
        assert re.findall(r"[\d.]+\s+%", text) == [], name
        assert (
            re.findall(
                r"(?<![\d.,<])1 (?:documents|records|topics|groups|words|codes|sequences|states)\b",
                text,
            )
            == []
        )
    assert "1 document " in plain_text(pages["one"])


def test_scripts_share_no_names(pages):
    """They are joined to one program, in which a second function would replace the first."""
    for page in pages.values():
        program = read(page).scripts[-1]
        names = re.findall(r"^(?:async )?(?:function|const|let|class) (\w+)", program, re.MULTILINE)
        assert len(names) > 50
        assert [name for name in names if names.count(name) > 1] == []
