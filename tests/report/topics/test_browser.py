"""The page in a real browser, used as a person would: by mouse, by keyboard, on a phone."""

import base64

import numpy as np
import pytest

import momentree as mt
from momentree.report import summarize, write_html

from ..browsing import (
    CONTRAST,
    By,
    Keys,
    attributes,
    emulated,
    find,
    find_all,
    overflows,
    requested,
    row_of,
    scheme,
    search_for,
    set_slider,
    texts,
    topic_name,
    width_of,
)


@pytest.fixture(scope="module")
def case(make_case):
    return make_case()


@pytest.fixture(scope="module")
def summary(case):
    return summarize(case.estimator, case.X, **case.arguments, made_with={"input": "here"})


@pytest.fixture(scope="module")
def address(summary, tmp_path_factory):
    return write_html(summary, tmp_path_factory.mktemp("page") / "report.html").as_uri()


@pytest.fixture
def page(driver, address):
    driver.get("about:blank")
    driver.get_log("browser")
    driver.get_log("performance")
    driver.get(address)
    yield driver
    assert [entry["message"] for entry in driver.get_log("browser")] == []


def shown_words(page):
    return texts(page, "#words .word")


def expected_words(summary, node, lam):
    entry, base = summary["nodes"][node], np.array(summary["words"]["p"])
    index, p = np.array(entry["words"]["index"]), np.array(entry["words"]["p"])
    value = np.round(np.log(p) - (1 - lam) * np.log(base[index]), 9)
    order = np.lexsort((base[index], -p, -value))[: summary["n_words"]]
    return [summary["words"]["word"][j] for j in index[order]]


def test_it_opens_on_the_whole(page, summary):
    assert page.title == "Case · topic tree"
    assert topic_name(page) == "All documents"
    assert len(find_all(page, "#tree [role=treeitem]")) == 7
    assert len(find_all(page, ".icicle .cell")) == 7
    assert len(find_all(page, ".splits button")) == 2
    assert "120" in find(page, ".numbers").text
    assert shown_words(page) == expected_words(summary, 0, 0.7)


def test_a_click_on_a_node_shows_its_words(page, summary):
    for node in (5, 2):
        row_of(page, node).click()
        assert topic_name(page) == summary["nodes"][node]["name"]
        assert shown_words(page) == expected_words(summary, node, 0.7)
        chosen = find_all(page, '[role=treeitem][aria-selected="true"]')
        assert [item.get_attribute("data-node") for item in chosen] == [str(node)]
        assert find(page, ".cell.chosen").get_attribute("data-node") == str(node)
    documents = [item.text for item in find_all(page, ".document header b")]
    items = summary["documents"]["items"]
    assert documents == [items[at]["id"] for at in summary["nodes"][2]["documents"]]
    labels = [item.text for item in find_all(page, ".label-list [dir]")]
    assert labels == [summary["labels"][code] for code, _ in summary["nodes"][2]["labels"]]


def test_a_click_on_the_icicle_chooses_the_node(page, summary):
    find(page, '.icicle .cell[data-node="6"] rect').click()
    assert topic_name(page) == summary["nodes"][6]["name"]
    assert page.current_url.endswith("#node-6")


def test_the_slider_reorders_the_words(page, summary):
    row_of(page, 2).click()
    orders = []
    for lam in (0.0, 0.35, 0.7, 1.0):
        set_slider(page, lam)
        orders.append(shown_words(page))
        assert orders[-1] == expected_words(summary, 2, lam)
        assert find(page, "#lambda-value").text == f"λ = {lam:.2f}"
    assert orders[0] != orders[-1]
    # The setting holds for the next node.
    row_of(page, 3).click()
    assert shown_words(page) == expected_words(summary, 3, 1.0)


def test_the_slider_moves_by_keyboard(page):
    row_of(page, 2).click()
    before = shown_words(page)
    find(page, "#lambda").send_keys(Keys.HOME)
    assert find(page, "#lambda-value").text == "λ = 0.00"
    assert shown_words(page) != before


def test_the_tree_works_by_keyboard(page, summary):
    def press(*keys):
        page.switch_to.active_element.send_keys(*keys)
        return page.switch_to.active_element.get_attribute("data-node")

    page.execute_script("document.querySelector('#tree [tabindex=\"0\"]').focus()")
    assert page.switch_to.active_element.get_attribute("data-node") == "0"
    assert press(Keys.ARROW_DOWN) == "1"
    assert topic_name(page) == summary["nodes"][1]["name"]
    assert press(Keys.ARROW_RIGHT) == "2"
    assert press(Keys.ARROW_DOWN) == "3"
    assert press(Keys.ARROW_DOWN) == "4"
    assert press(Keys.ARROW_LEFT) == "4"  # folds
    assert row_of(page, 5).is_displayed() is False
    assert press(Keys.ARROW_DOWN) == "4"  # nothing below is in sight
    assert press(Keys.ARROW_RIGHT) == "4"  # unfolds
    assert row_of(page, 5).is_displayed() is True
    assert press(Keys.END) == "6"
    assert press(Keys.ARROW_LEFT) == "4"
    assert press(Keys.HOME) == "0"
    assert press(Keys.SPACE) == "0"
    assert row_of(page, 1).is_displayed() is False
    assert press(Keys.ENTER) == "0"
    assert topic_name(page) == "All documents"
    press("*")
    assert press("v") == "6"  # the first letters of the name
    assert len(find_all(page, '#tree [tabindex="0"]')) == 1


def test_tree_roles_are_complete(page):
    item = find(page, '[role=treeitem][data-node="3"]')
    values = {name: item.get_attribute(f"aria-{name}") for name in ("level", "setsize", "posinset")}
    assert values == {"level": "3", "setsize": "2", "posinset": "2"}
    assert item.get_attribute("aria-expanded") is None
    assert item.find_element(By.XPATH, "..").get_attribute("role") == "group"
    for selector in ("main", "header", "[role=search]", "h1", "nav, .trail"):
        assert find_all(page, selector)
    named = page.execute_script(
        "return [...document.querySelectorAll('button, input, a[href]')]"
        ".filter(e => !(e.textContent.trim() || e.labels?.length)).length"
    )
    assert named == 0


def test_fold_all_and_unfold_all(page):
    find(page, "#fold").click()
    assert [row_of(page, node).is_displayed() for node in (1, 2, 4)] == [True, False, True]
    find(page, "#unfold").click()
    assert row_of(page, 2).is_displayed()


def test_search_finds_a_document_by_its_name(page, summary):
    search_for(page, "doc-00091")
    find(page, "#results button").click()
    assert topic_name(page) == next(node["name"] for node in summary["nodes"] if node["leaf"] == 3)
    assert find(page, ".document.found b").text == "doc-00091"
    assert not find(page, "#results").is_displayed()


def test_search_finds_topics_by_their_words(page, summary):
    word = expected_words(summary, 5, 0.7)[0]
    box = search_for(page, word.upper())
    titles = [title.text for title in find_all(page, "#results h2")]
    assert titles[0] == "Topics and groups"
    assert titles[1].startswith("Documents (")
    assert titles[1].endswith(", in at least the first 320 characters of each)")
    assert {mark.get_attribute("textContent") for mark in find_all(page, "#results mark")} == {word}
    box.send_keys(Keys.ARROW_DOWN)
    page.switch_to.active_element.send_keys(Keys.ENTER)
    assert topic_name(page) == summary["nodes"][5]["name"]


def test_search_says_when_nothing_is_found_and_closes_by_escape(page):
    box = search_for(page, "no such thing")
    assert "No document found" in find(page, "#results").text
    box.send_keys(Keys.ESCAPE)
    assert not find(page, "#results").is_displayed()


def test_the_table_sorts_by_every_column(page, summary):
    find(page, "#tab-table").click()
    keys = [head.get_attribute("data-key") for head in find_all(page, "thead th")]
    assert keys == ["id", "depth", "n_samples", "share", "gain", "npmi", "umass", "label"]

    def order():
        return [int(node) for node in attributes(page, "tbody tr", "data-node")]

    assert order() == list(range(7))
    nodes = summary["nodes"]
    head = find(page, 'thead th[data-key="n_samples"]')
    head.find_element(By.TAG_NAME, "button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert order() == sorted(range(7), key=lambda i: (-nodes[i]["n_samples"], i))
    head.find_element(By.TAG_NAME, "button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert order() == sorted(range(7), key=lambda i: (nodes[i]["n_samples"], i))
    find(page, 'thead th[data-key="gain"] button').click()
    assert order() == [0, 1, 4, 2, 3, 5, 6]  # leaves have no gain and come last
    find(page, 'thead th[data-key="npmi"] button').click()
    assert order() == sorted(range(7), key=lambda i: (-nodes[i]["coherence"]["npmi"], i))
    find(page, "#leaves-only").click()
    visible = [row for row in find_all(page, "tbody tr") if row.is_displayed()]
    assert len(visible) == 4
    visible[0].find_element(By.TAG_NAME, "a").click()
    assert find(page, "#explore").is_displayed()


def test_tabs_work_by_keyboard(page):
    find(page, "#tab-explore").send_keys(Keys.ARROW_RIGHT)
    assert find(page, "#leaves").is_displayed()
    assert not find(page, "#explore").is_displayed()
    assert len(find_all(page, ".card")) == 4
    page.switch_to.active_element.send_keys(Keys.END)
    assert find(page, "#table").is_displayed()


def test_an_address_opens_a_node(driver, address, summary):
    driver.get("about:blank")
    driver.get(f"{address}#node-3")
    assert topic_name(driver) == summary["nodes"][3]["name"]
    driver.get(f"{address}#node-99")
    driver.refresh()
    assert topic_name(driver) == "All documents"


def test_no_request_leaves_the_page(page, address):
    for node in (1, 2, 3):
        row_of(page, node).click()
    find(page, "#tab-table").click()
    assert requested(page) == {address}


@pytest.mark.parametrize("width", [360, 768, 1400])
def test_nothing_overflows_sideways(page, width):
    with width_of(page, width):
        for tab in ("tab-leaves", "tab-table", "tab-explore"):
            find(page, f"#{tab}").click()
            assert not overflows(page), tab
        # No word of the icicle leaves its block.
        assert page.execute_script(
            "return [...document.querySelectorAll('.cell')].every(cell => {"
            " const text = cell.querySelector('text');"
            " return !text || !text.textContent || text.getComputedTextLength() + 8"
            "   <= cell.querySelector('rect').getBoundingClientRect().width; })"
        )


@pytest.mark.parametrize("name", ["light", "dark"])
def test_text_has_enough_contrast(page, name):
    with emulated(page, **scheme(name)):
        page.execute_script("document.getElementById('made').open = true")
        for node in (0, 2):
            row_of(page, node).click()
            assert page.execute_script(CONTRAST) == []
        for tab in ("tab-leaves", "tab-table"):
            find(page, f"#{tab}").click()
            assert page.execute_script(CONTRAST) == []


def test_print_shows_all_leaves_with_their_words(page, summary):
    with emulated(page, media="print"):
        text = find(page, "body").text
        for node in summary["nodes"]:
            if node["leaf"] is not None:
                words = [summary["words"]["word"][j] for j in node["top"]]
                assert ", ".join(words) in " ".join(text.split())
        assert not find(page, "#query").is_displayed()
        assert not find(page, "#explore").is_displayed()
    pdf = page.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"]
    assert base64.b64decode(pdf).startswith(b"%PDF")


def test_hostile_text_does_nothing(driver, make_case, tmp_path):
    case = make_case()
    attack = "</script><img src=x onerror=\"document.title='owned'\"><svg onload=alert(1)>"
    n = len(case.ids)
    case.estimator.vocabulary_ = case.estimator.vocabulary_.astype(object)
    case.estimator.vocabulary_[:240:7] = attack
    for node in case.estimator.tree_.nodes():
        node.name = attack
    summary = summarize(
        case.estimator, case.X, ids=[attack] * n, texts=[attack] * n, labels=[attack] * n
    )
    driver.get_log("browser")
    driver.get(write_html(summary, tmp_path / "attack.html").as_uri())
    row_of(driver, 2).click()
    search_for(driver, "onerror")
    assert driver.title == "Topic tree · topic tree"
    assert find_all(driver, "img") == []
    assert topic_name(driver) == attack
    assert driver.get_log("browser") == []


def test_one_leaf_and_rich_scripts_render(driver, make_case, tmp_path):
    case = make_case(12, groups=0)
    labels = ["שלום", "😀 🎉", 'a "quoted" <b>', "x" * 120] * 3
    summary = summarize(case.estimator, case.X, texts=[""] * 12, labels=labels)
    driver.get_log("browser")
    driver.get(write_html(summary, tmp_path / "one.html").as_uri())
    assert topic_name(driver) == case.estimator.tree_.name
    assert sorted(item.text for item in find_all(driver, ".label-list [dir]")) == sorted(
        set(labels)
    )
    assert "(no text)" in find(driver, "#topic").text
    assert driver.execute_script("return document.documentElement.scrollWidth") <= 1400
    assert driver.get_log("browser") == []


def test_a_fitted_topic_tree_makes_the_page(driver, case, tmp_path):
    tree = mt.TopicTree(max_leaf_nodes=4).fit(case.X, feature_names=case.estimator.vocabulary_)
    path = tmp_path / "tree.html"
    tree.to_html(path, case.X, ids=case.ids, texts=case.texts, labels=case.labels, title="Grown")
    driver.get_log("browser")
    driver.get(path.as_uri())
    for leaf in tree.leaves_:
        row_of(driver, leaf.node_id).click()
        assert topic_name(driver) == leaf.name
        assert f"{leaf.n_samples:,}" in find(driver, ".numbers").text
        # The four topics have a name each, with which all their own words begin.
        assert len({word[:4] for word in shown_words(driver)[:5]}) == 1
        assert find(driver, ".reason").text.startswith("Not split further: ")
    assert driver.get_log("browser") == []


def test_the_page_reads_with_scripts_switched_off(driver, address, summary):
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        driver.get("about:blank")
        driver.get(address)
        text = find(driver, "body").text
        assert not find(driver, "#query").is_displayed()
        for node in summary["nodes"]:
            assert node["name"] in text
            assert summary["words"]["word"][node["top"][0]] in text
        assert find(driver, "table").is_displayed()
        assert find(driver, ".cards").is_displayed()
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
