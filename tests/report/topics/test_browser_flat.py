"""The page of a flat model in a browser: the chart of topic proportions, relations, documents."""

import numpy as np
import pytest

from momentree import LatentDirichletAllocation
from momentree.datasets import make_lda
from momentree.report import summarize, write_html

from ..browsing import (
    CONTRAST,
    Keys,
    emulated,
    find,
    find_all,
    overflows,
    requested,
    row_of,
    scheme,
    search_for,
    texts,
    topic_name,
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
    driver.get("about:blank")
    driver.get_log("browser")
    driver.get_log("performance")
    driver.get(address)
    yield driver
    assert [entry["message"] for entry in driver.get_log("browser")] == []


def shown_proportions(page, within):
    names = texts(page, f"{within} .share-list button")
    values = texts(page, f"{within} .share-list .value")
    return [(name, float(v.strip("< %")) / 100) for name, v in zip(names, values, strict=True)]


def topics_of(summary):
    return {node["leaf"]: node for node in summary["nodes"] if node["leaf"] is not None}


def expected_proportions(model, sample, summary, row):
    names = {j: f"{j} {node['name']}" for j, node in topics_of(summary).items()}
    proportions = model.transform(sample.X)[row]
    return [(names[j], proportions[j]) for j in np.argsort(-proportions, kind="stable")]


def check_proportions(shown, expected):
    assert shown
    known = dict(expected)
    for name, share in shown:
        assert share == pytest.approx(known[name], abs=6e-3)
    assert [share for _, share in shown] == sorted((s for _, s in shown), reverse=True)
    assert sum(share for _, share in shown) == pytest.approx(1.0, abs=0.05)


def test_it_opens_on_the_whole_with_its_topics(page, summary):
    assert page.title == "Mixed · topics"
    assert f"each document is a mix of {K} topics" in find(page, ".about").text
    assert topic_name(page) == "All documents"
    assert len(find_all(page, ".splits button")) == K
    tabs = [tab.text for tab in find_all(page, '[role="tab"]')]
    assert tabs == ["Explore", "Proportions", "Relations", "All topics", "Table"]
    for node in summary["nodes"][1:]:
        row_of(page, node["id"]).click()
        assert topic_name(page) == node["name"]
        assert f"{100 * node['share']:.1f} %" in find(page, ".numbers").text


def test_the_slider_reads_every_column_by_keyboard(page, model, sample, summary):
    find(page, "#tab-proportions").click()
    slider = find(page, "#column")
    slider.send_keys(Keys.HOME)
    for row in range(3):
        check_proportions(
            shown_proportions(page, "#readout"), expected_proportions(model, sample, summary, row)
        )
        heading = find(page, "#readout h3").text
        assert heading == f"{1900 + row}: doc-{row:03}"
        assert slider.get_attribute("aria-valuetext").startswith(heading)
        slider.send_keys(Keys.ARROW_RIGHT)
    slider.send_keys(Keys.END)
    assert find(page, "#readout h3").text == f"2049: doc-{N - 1}"


def test_pointing_at_the_chart_reads_its_column(page, summary):
    find(page, "#tab-proportions").click()
    page.execute_script(
        "const chart = document.getElementById('areas'), box = chart.getBoundingClientRect();"
        "chart.dispatchEvent(new PointerEvent('pointermove', {bubbles: true,"
        " clientX: box.left + box.width * 75.5 / 150, clientY: box.top + 9}));"
    )
    assert find(page, "#readout h3").text == "1975: doc-075"
    assert find(page, "#cursor").get_attribute("x") == "75"


def test_the_areas_have_the_heights_of_the_proportions(page, model, sample, summary):
    find(page, "#tab-proportions").click()
    proportions = model.transform(sample.X)
    # The topic painted on top at a point is the one whose proportion is there.
    for row in (0, 40, 149):
        edges = np.cumsum(proportions[row])
        for j in np.flatnonzero(proportions[row] > 0.05):
            middle = edges[j] - proportions[row, j] / 2
            node = page.execute_script(
                "const box = document.getElementById('areas').getBoundingClientRect();"
                "return document.elementFromPoint(box.left + box.width * (arguments[0] + .5) / 150,"
                " box.top + box.height * arguments[1]).dataset.node",
                int(row),
                float(middle),
            )
            assert int(node) == topics_of(summary)[j]["id"]


def test_a_click_on_an_area_opens_its_topic(page):
    find(page, "#tab-proportions").click()
    find(page, "#areas").click()
    assert find(page, "#explore").is_displayed()
    assert topic_name(page) != "All documents"


def test_a_column_opens_its_document_with_its_proportions(page, model, sample, summary):
    find(page, "#tab-proportions").click()
    find(page, "#column").send_keys(Keys.HOME)
    find(page, "#readout .more").click()
    assert find(page, ".document.found b").text == "doc-000"
    check_proportions(
        shown_proportions(page, ".found"), expected_proportions(model, sample, summary, 0)
    )


def test_search_finds_a_document_with_its_proportions(page, model, sample, summary):
    search_for(page, "doc-091")
    find(page, "#results button").click()
    assert find(page, ".document.found b").text == "doc-091"
    check_proportions(
        shown_proportions(page, ".found"), expected_proportions(model, sample, summary, 91)
    )


def test_words_of_the_chart_and_relations_lead_to_topics(page, summary):
    find(page, "#tab-proportions").click()
    assert len(find_all(page, "#in-words li")) == K
    assert [run.text for run in find_all(page, ".runs bdi")] == ["early", "late"]
    find(page, "#in-words li:nth-child(3) a").click()
    assert topic_name(page) == summary["nodes"][3]["name"]
    find(page, "#tab-relations").click()
    cells = texts(page, ".matrix:last-child tbody td")
    assert len(cells) == K * K
    values = [float(text) for text in cells]
    assert values == [value for row in summary["relations"]["cosine"] for value in row]
    i = summary["relations"]["apart"][0][0]
    find(page, ".pair-lists section:last-child .pairs a").click()
    assert topic_name(page) == topics_of(summary)[i]["name"]


def test_numbers_stay_on_one_line_and_words_in_one_piece(page):
    for width in (360, 1280):
        with width_of(page, width):
            for tab, selector in (
                ("tab-relations", ".pairs b, .matrix td"),
                ("tab-explore", ".words-list .word, .words-list .times"),
            ):
                page.execute_script("document.getElementById(arguments[0]).click()", tab)
                row_of(page, 1).click() if tab == "tab-explore" else None
                lines = page.execute_script(
                    "return [...document.querySelectorAll(arguments[0])].map(e => {"
                    " const range = document.createRange(); range.selectNodeContents(e);"
                    " return new Set([...range.getClientRects()].map(r => r.top)).size; })",
                    selector,
                )
                assert len(lines) > K
                assert set(lines) <= {0, 1}, (width, tab)


def test_the_table_has_no_columns_of_a_tree(page):
    find(page, "#tab-table").click()
    keys = [head.get_attribute("data-key") for head in find_all(page, "#table thead th")]
    assert keys == ["id", "n_samples", "share", "npmi", "umass", "label"]
    find(page, '#table th[data-key="share"] button').click()
    assert len(find_all(page, "#table tbody tr")) == K + 1


@pytest.mark.parametrize("width", [360, 768, 1400])
def test_nothing_overflows_sideways(page, width):
    with width_of(page, width):
        for tab in ("tab-proportions", "tab-relations", "tab-explore"):
            page.execute_script("document.getElementById(arguments[0]).click()", tab)
            assert not overflows(page), tab


@pytest.mark.parametrize("name", ["light", "dark"])
def test_text_has_enough_contrast(page, name):
    with emulated(page, **scheme(name)):
        page.execute_script("document.getElementById('made').open = true")
        for tab in ("tab-explore", "tab-proportions", "tab-relations", "tab-leaves", "tab-table"):
            find(page, f"#{tab}").click()
            assert page.execute_script(CONTRAST) == []


def test_everything_has_a_name_for_a_reader(page):
    find(page, "#tab-proportions").click()
    unnamed = page.execute_script(
        "return [...document.querySelectorAll('button, input, a[href], [role=region], [role=img]')]"
        ".filter(e => !(e.textContent.trim() || e.labels?.length || e.ariaLabel"
        " || e.getAttribute('aria-labelledby'))).map(e => e.outerHTML)"
    )
    assert unnamed == []


def test_no_request_leaves_the_page(page, address):
    for tab in ("tab-proportions", "tab-relations"):
        find(page, f"#{tab}").click()
    assert requested(page) == {address}


def test_print_shows_the_chart_and_the_relations(page):
    with emulated(page, media="print"):
        for selector in ("#areas", "#in-words", ".matrix", ".cards"):
            assert find(page, selector).is_displayed()
        assert not find(page, "#column").is_displayed()


def test_hostile_text_does_nothing(driver, sample, tmp_path):
    attack = "</script><img src=x onerror=\"document.title='owned'\"><svg onload=alert(1)>"
    model = LatentDirichletAllocation(3).fit(sample.X, feature_names=[attack] * 60)
    hostile = [attack] * N
    summary = summarize(model, sample.X, ids=hostile, texts=hostile, labels=hostile)
    driver.get_log("browser")
    driver.get(write_html(summary, tmp_path / "attack.html").as_uri())
    for tab in ("tab-proportions", "tab-relations", "tab-explore"):
        find(driver, f"#{tab}").click()
    search_for(driver, "onerror")
    assert driver.title == "Topics · topics"
    assert find_all(driver, "img") == []
    assert driver.get_log("browser") == []


def test_the_page_reads_with_scripts_switched_off(driver, address, summary):
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        driver.get("about:blank")
        driver.get(address)
        for selector in ("#areas", "#in-words", ".matrix", ".cards"):
            assert find(driver, selector).is_displayed()
        assert not find(driver, "#column").is_displayed()
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
