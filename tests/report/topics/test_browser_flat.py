"""The page of a flat model in a browser: the chart of topic proportions, relations, documents."""

import numpy as np
import pytest

from momentree import LatentDirichletAllocation
from momentree.datasets import make_lda
from momentree.report import summarize, write_html

from ..browsing import (
    CONTRAST,
    Keys,
    attributes,
    emulated,
    find,
    find_all,
    opened,
    overflows,
    press,
    scheme,
    search_for,
    texts,
    topic_name,
    tree_row,
    visible,
    width_of,
)

N, K = 150, 5
THEMES = ("sea", "oven", "rose", "drum", "recommendations")


@pytest.fixture(scope="module")
def sample():
    return make_lda(N, 60, K, alpha=0.5, length=80, random_state=0)


@pytest.fixture(scope="module")
def model(sample):
    words = [f"{THEMES[int(j)]}{i}" for i, j in enumerate(sample.components.argmax(axis=0))]
    return LatentDirichletAllocation(K).fit(sample.X, feature_names=words)


@pytest.fixture(scope="module")
def proportions(model, sample):
    return model.transform(sample.X)


@pytest.fixture(scope="module")
def summary(model, sample):
    return summarize(
        model,
        sample.X,
        ids=[f"doc-{i:03}" for i in range(N)],
        texts=[f"the text of document {i}" for i in range(N)],
        labels=["early"] * 90 + ["late"] * 60,
        order=[f"{1900 + i}" for i in range(N)],
        title="Mixed",
    )


@pytest.fixture(scope="module")
def address(summary, tmp_path_factory):
    return write_html(summary, tmp_path_factory.mktemp("flat") / "report.html").as_uri()


@pytest.fixture
def page(driver, address):
    with opened(driver, address) as page:
        yield page


def shown_proportions(page, within):
    names = texts(page, f"{within} .share-list button")
    values = texts(page, f"{within} .share-list .value")
    return [(name, float(v.strip("< %")) / 100) for name, v in zip(names, values, strict=True)]


def topics_of(summary):
    return {node["leaf"]: node for node in summary["nodes"] if node["leaf"] is not None}


def check_proportions(shown, expected, summary):
    assert shown
    known = {f"{j} {node['name']}": expected[j] for j, node in topics_of(summary).items()}
    for name, share in shown:
        assert share == pytest.approx(known[name], abs=6e-3)
    assert [share for _, share in shown] == sorted((s for _, s in shown), reverse=True)
    assert sum(share for _, share in shown) == pytest.approx(1.0, abs=0.05)


def test_it_opens_on_the_whole_with_its_topics(page, summary):
    assert page.title == "Mixed · topics"
    assert f"each document is a mix of {K} topics" in texts(page, ".about")[0]
    assert topic_name(page) == "All documents"
    assert len(find_all(page, ".splits button")) == K
    tabs = texts(page, '[role="tab"]')
    assert tabs == [
        "Explore",
        "Proportions",
        "Relations",
        "Document map",
        "All topics",
        "Table",
    ]
    for node in summary["nodes"][1:]:
        press(page, tree_row(node["id"]))
        assert topic_name(page) == node["name"]
        assert f"{100 * node['share']:.1f}%" in texts(page, ".numbers")[0]
    press(page, "#tab-proportions")
    unnamed = page.execute_script(
        "return [...document.querySelectorAll('button, input, a[href], [role=region], [role=img]')]"
        ".filter(e => !(e.textContent.trim() || e.labels?.length || e.ariaLabel"
        " || e.getAttribute('aria-labelledby'))).map(e => e.outerHTML)"
    )
    assert unnamed == []


def test_columns_of_the_chart_are_read_by_keyboard_and_by_pointing(page, proportions, summary):
    press(page, "#tab-proportions")
    slider = find(page, "#column")
    slider.send_keys(Keys.HOME)
    for row in range(3):
        check_proportions(shown_proportions(page, "#readout"), proportions[row], summary)
        (heading,) = texts(page, "#readout h3")
        assert heading == f"{1900 + row}: doc-{row:03}"
        assert attributes(page, "#column", "aria-valuetext")[0].startswith(heading)
        slider.send_keys(Keys.ARROW_RIGHT)
    slider.send_keys(Keys.END)
    assert texts(page, "#readout h3") == [f"2049: doc-{N - 1}"]
    page.execute_script(
        "const chart = document.getElementById('areas'), box = chart.getBoundingClientRect();"
        "chart.dispatchEvent(new PointerEvent('pointermove', {bubbles: true,"
        " clientX: box.left + box.width * 75.5 / 150, clientY: box.top + 9}));"
    )
    assert texts(page, "#readout h3") == ["1975: doc-075"]
    assert attributes(page, "#cursor", "x") == ["75"]


def test_the_areas_have_the_heights_of_the_proportions_and_open_topics(page, proportions, summary):
    press(page, "#tab-proportions")
    # The topic painted on top at a point is the one whose proportion is there.
    for row in (0, 40, 149):
        edges = np.cumsum(proportions[row])
        large = np.flatnonzero(proportions[row] > 0.05)
        found = page.execute_script(
            "const box = document.getElementById('areas').getBoundingClientRect();"
            "return arguments[1].map(y => document.elementFromPoint("
            " box.left + box.width * (arguments[0] + .5) / 150, box.top + box.height * y"
            ").dataset.node)",
            row,
            (edges - proportions[row] / 2)[large].tolist(),
        )
        assert [int(node) for node in found] == [topics_of(summary)[j]["id"] for j in large]
    find(page, "#areas").click()
    assert visible(page, "#explore") == [True]
    assert topic_name(page) != "All documents"


def test_columns_and_the_search_open_documents_with_their_proportions(page, proportions, summary):
    press(page, "#tab-proportions")
    find(page, "#column").send_keys(Keys.HOME)
    press(page, "#readout .more")
    assert texts(page, ".document.found b") == ["doc-000"]
    check_proportions(shown_proportions(page, ".found"), proportions[0], summary)
    search_for(page, "doc-091")
    press(page, "#results button")
    assert texts(page, ".document.found b") == ["doc-091"]
    check_proportions(shown_proportions(page, ".found"), proportions[91], summary)


def test_words_of_the_chart_relations_and_the_table_are_of_topics(page, summary):
    press(page, "#tab-proportions")
    assert len(find_all(page, "#in-words li")) == K
    assert texts(page, ".runs bdi") == ["early", "late"]
    press(page, "#in-words li:nth-child(3) a")
    assert topic_name(page) == summary["nodes"][3]["name"]
    press(page, "#tab-relations")
    cells = texts(page, ".matrix:last-child tbody td")
    assert len(cells) == K * K
    values = [float(text) for text in cells]
    assert values == [value for row in summary["relations"]["cosine"] for value in row]
    i = summary["relations"]["apart"][0][0]
    press(page, ".pair-lists section:last-child .pairs a")
    assert topic_name(page) == topics_of(summary)[i]["name"]
    press(page, "#tab-table")
    keys = attributes(page, "#table thead th", "data-key")
    assert keys == [
        "id",
        "n_samples",
        "share",
        "coherence",
        "npmi",
        "umass",
        "label",
    ]  # none of a tree
    press(page, '#table th[data-key="share"] button')
    assert len(find_all(page, "#table tbody tr")) == K + 1


LINES = """
return [...document.querySelectorAll(arguments[0])].map(e => {
  const range = document.createRange(); range.selectNodeContents(e);
  return new Set([...range.getClientRects()].map(r => r.top)).size;
});
"""


def test_nothing_overflows_sideways_and_numbers_and_words_stay_in_one_piece(page):
    whole = {
        "#tab-relations": ".pairs b, .matrix td",
        "#tab-explore": ".words-list .word, .words-list .times",
    }
    for width in (360, 768, 1280):
        with width_of(page, width):
            for tab in ("#tab-proportions", *whole):
                page.execute_script("document.querySelector(arguments[0]).click()", tab)
                assert not overflows(page), (tab, width)
                if tab == "#tab-explore":
                    press(page, tree_row(1))
                if tab in whole:
                    lines = page.execute_script(LINES, whole[tab])
                    assert len(lines) > K
                    assert set(lines) <= {0, 1}, (width, tab)


def test_text_has_enough_contrast(page):
    page.execute_script("document.getElementById('made').open = true")
    for name in ("light", "dark"):
        with emulated(page, **scheme(name)):
            for tab in ("explore", "proportions", "relations", "leaves", "table"):
                press(page, f"#tab-{tab}")
                assert page.execute_script(CONTRAST) == [], (name, tab)


def test_print_shows_the_chart_and_the_relations(page):
    with emulated(page, media="print"):
        assert visible(page, "#areas", "#in-words", ".matrix", ".cards") == [True] * 4
        assert visible(page, "#column") == [False]


def test_hostile_text_does_nothing(driver, sample, tmp_path):
    attack = "</script><img src=x onerror=\"document.title='owned'\"><svg onload=alert(1)>"
    model = LatentDirichletAllocation(3).fit(sample.X, feature_names=[attack] * 60)
    hostile = [attack] * N
    summary = summarize(model, sample.X, ids=hostile, texts=hostile, labels=hostile)
    with opened(driver, write_html(summary, tmp_path / "attack.html").as_uri()) as page:
        press(page, "#tab-proportions", "#tab-relations", "#tab-explore")
        search_for(page, "onerror")
        assert page.title == f"Topics of {N} documents · topics"
        assert find_all(page, "img") == []


def test_the_page_reads_with_scripts_switched_off(driver, address, summary):
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        with opened(driver, address) as page:
            for selector in ("#areas", "#in-words", ".matrix", ".cards"):
                assert find(page, selector).is_displayed()
            assert not find(page, "#column").is_displayed()
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
