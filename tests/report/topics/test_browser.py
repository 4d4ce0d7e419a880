"""The page in a real browser, used by mouse, by keyboard and on a phone."""

import base64

import numpy as np
import pytest

import momentree as mt
from momentree.report import summarize, write_html

from ..browsing import (
    CONTRAST,
    ActionChains,
    By,
    Keys,
    active_node,
    attributes,
    emulated,
    find,
    find_all,
    opened,
    overflows,
    press,
    row_of,
    scheme,
    search_for,
    set_slider,
    texts,
    topic_name,
    tree_row,
    visible,
    wait,
    wait_for_results,
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
    with opened(driver, address) as page:
        yield page


def show_words(page):
    return texts(page, "#words .word")


def expected_words(summary, node, lam=None):
    if lam is None:
        return [summary["words"]["word"][j] for j in summary["nodes"][node]["top"]]
    entry, base = summary["nodes"][node], np.array(summary["words"]["p"])
    index, p = np.array(entry["words"]["index"]), np.array(entry["words"]["p"])
    value = np.round(np.log(p) - (1 - lam) * np.log(base[index]), 9)
    order = np.lexsort((base[index], -p, -value))[: summary["n_words"]]
    return [summary["words"]["word"][j] for j in index[order]]


def test_it_opens_on_the_whole_with_roles_and_names_for_a_reader(page, summary):
    assert page.title == "Case · topic tree"
    assert topic_name(page) == "All documents"
    assert len(find_all(page, "#tree [role=treeitem]")) == 7
    assert len(find_all(page, ".icicle .cell")) == 7
    assert len(find_all(page, ".splits button")) == 2
    assert "120" in texts(page, ".numbers")[0]
    assert show_words(page) == expected_words(summary, 0)
    item = find(page, '[role=treeitem][data-node="3"]')
    values = {name: item.get_attribute(f"aria-{name}") for name in ("level", "setsize", "posinset")}
    assert values == {"level": "3", "setsize": "2", "posinset": "2"}
    assert item.get_attribute("aria-expanded") is None
    assert item.find_element(By.XPATH, "../..").get_attribute("role") == "group"
    owned = find(page, '[role=treeitem][data-node="1"]').get_attribute("aria-owns")
    parts = [summary["nodes"][j]["name"] for j in (2, 3)]
    assert texts(page, f"#{owned} > li > .row .name") == parts
    for selector in ("main", "header", "[role=search]", "h1", "nav, .trail"):
        assert find_all(page, selector)
    named = page.execute_script(
        "return [...document.querySelectorAll('button, input, a[href]')]"
        ".filter(e => !(e.textContent.trim() || e.labels?.length)).length"
    )
    assert named == 0


def test_a_click_on_a_node_shows_its_words_and_the_tree_folds(page, summary):
    for node in (5, 2):
        row_of(page, node).click()
        assert topic_name(page) == summary["nodes"][node]["name"]
        assert show_words(page) == expected_words(summary, node)
        chosen = attributes(page, '[role=treeitem][aria-selected="true"]', "data-node")
        assert chosen == [str(node)]
        assert attributes(page, ".cell.chosen", "data-node") == [str(node)]
    items = summary["documents"]["items"]
    documents = [items[at]["id"] for at in summary["nodes"][2]["documents"]]
    assert texts(page, ".document header b")[: len(documents)] == documents
    labels = [summary["labels"][code] for code, _ in summary["nodes"][2]["labels"]]
    assert texts(page, ".label-list [dir]") == labels
    find(page, '.icicle .cell[data-node="6"] rect').click()
    assert topic_name(page) == summary["nodes"][6]["name"]
    assert page.current_url.endswith("#node=6")
    press(page, "#fold")
    assert visible(page, *map(tree_row, (1, 2, 4))) == [True, False, True]
    press(page, "#unfold")
    assert visible(page, tree_row(2)) == [True]


def test_the_slider_reorders_the_words(page, summary):
    press(page, tree_row(2))
    orders = []
    for lam in (0.0, 0.35, 0.7, 1.0):
        set_slider(page, lam)
        orders.append(show_words(page))
        assert orders[-1] == expected_words(summary, 2, lam)
        assert texts(page, "#lambda-value") == [f"λ = {lam:.2f}"]
    assert orders[0] != orders[-1]
    # The setting holds for the next node.
    press(page, tree_row(3))
    assert show_words(page) == expected_words(summary, 3, 1.0)
    # It moves by keyboard too.
    find(page, "#lambda").send_keys(Keys.HOME)
    assert texts(page, "#lambda-value") == ["λ = 0.00"]
    assert show_words(page) == expected_words(summary, 3, 0.0)
    press(page, "#best-first")
    assert show_words(page) == expected_words(summary, 3)
    assert visible(page, "#best-first") == [False]


def test_the_tree_and_the_tabs_work_by_keyboard(page, summary):
    def keys(*typed):
        ActionChains(page, duration=0).send_keys(*typed).perform()
        return active_node(page)

    def drawn(node):
        return visible(page, tree_row(node)) == [True]

    page.execute_script("document.querySelector('#tree [tabindex=\"0\"]').focus()")
    assert active_node(page) == "0"
    assert keys(Keys.ARROW_DOWN) == "1"
    assert topic_name(page) == summary["nodes"][1]["name"]
    assert keys(Keys.ARROW_RIGHT) == "2"
    assert keys(Keys.ARROW_DOWN) == "3"
    assert keys(Keys.ARROW_DOWN) == "4"
    assert keys(Keys.ARROW_LEFT) == "4"  # folds
    assert not drawn(5)
    assert keys(Keys.ARROW_DOWN) == "4"  # nothing below is in sight
    assert keys(Keys.ARROW_RIGHT) == "4"  # unfolds
    assert drawn(5)
    assert keys(Keys.END) == "6"
    assert keys(Keys.ARROW_LEFT) == "4"
    assert keys(Keys.HOME) == "0"
    assert keys(Keys.SPACE) == "0"
    assert not drawn(1)
    assert keys(Keys.ENTER) == "0"
    assert topic_name(page) == "All documents"
    keys("*")
    assert keys("v") == "6"  # the first letters of the name
    assert len(find_all(page, '#tree [tabindex="0"]')) == 1
    find(page, "#tab-explore").send_keys(Keys.ARROW_RIGHT)
    assert visible(page, "#document-map", "#explore") == [True, False]
    keys(Keys.ARROW_RIGHT)
    assert visible(page, "#leaves") == [True]
    assert len(find_all(page, ".card")) == 4
    keys(Keys.END)
    assert visible(page, "#table") == [True]


def test_search_finds_documents_by_name_and_topics_by_words(page, summary):
    search_for(page, "doc-00091")
    press(page, "#results button")
    assert topic_name(page) == next(node["name"] for node in summary["nodes"] if node["leaf"] == 3)
    assert texts(page, ".document.found b") == ["doc-00091"]
    assert visible(page, "#results") == [False]

    word = expected_words(summary, 5)[0]
    box = find(page, "#query")
    box.clear()
    box.send_keys(word.upper())
    wait_for_results(page, word)
    titles = texts(page, "#results h2")
    assert titles[0] == "Topics and groups"
    assert titles[1].startswith("Documents (")
    (scope,) = texts(page, "#results .note")
    assert scope == (
        "Searched the names, labels and at least the first 320 characters of all 120 documents."
    )
    marks = page.execute_script(
        "return [...document.querySelectorAll('#results mark')].map(e => e.textContent)"
    )
    assert set(marks) == {word}
    box.send_keys(Keys.ARROW_DOWN)
    page.switch_to.active_element.send_keys(Keys.ENTER)
    assert topic_name(page) == summary["nodes"][5]["name"]

    box = search_for(page, "no such thing")
    assert "No document found" in texts(page, "#results")[0]
    box.send_keys(Keys.ESCAPE)
    assert visible(page, "#results") == [False]


def test_the_table_sorts_by_every_column(page, summary):
    press(page, "#tab-table")
    keys = attributes(page, "thead th", "data-key")
    figures = ["separation", "gain", "coherence", "npmi", "umass"]
    assert keys == ["id", "depth", "n_samples", "share", *figures, "label"]
    assert visible(page, *(f'th[data-key="{key}"]' for key in figures)) == [1, 0, 1, 0, 0]
    press(page, "#exact")

    def order(by=None):
        if by is not None:
            press(page, f'thead th[data-key="{by}"] button')
        return [int(node) for node in attributes(page, "tbody tr", "data-node")]

    def direction(by):
        return attributes(page, f'thead th[data-key="{by}"]', "aria-sort")

    assert order() == list(range(7))
    nodes = summary["nodes"]
    assert order("n_samples") == sorted(range(7), key=lambda i: (-nodes[i]["n_samples"], i))
    assert direction("n_samples") == ["descending"]
    assert order("n_samples") == sorted(range(7), key=lambda i: (nodes[i]["n_samples"], i))
    assert direction("n_samples") == ["ascending"]
    assert order("gain") == [0, 1, 4, 2, 3, 5, 6]  # leaves have no gain and come last
    by_npmi = sorted(range(7), key=lambda i: (-nodes[i]["coherence"]["npmi"], i))
    assert order("npmi") == by_npmi
    press(page, "#leaves-only")
    leaves = [i for i in by_npmi if nodes[i]["leaf"] is not None]
    rows = [f'tbody tr[data-node="{i}"]' for i in range(7)]
    assert visible(page, *rows) == [i in leaves for i in range(7)]
    press(page, f"{rows[leaves[0]]} a")
    assert visible(page, "#explore") == [True]
    assert topic_name(page) == nodes[leaves[0]]["name"]


def test_an_address_opens_a_node(driver, address, summary):
    for node, name in ((3, summary["nodes"][3]["name"]), (99, "All documents")):
        driver.get("about:blank")
        with opened(driver, f"{address}#node-{node}"):
            assert topic_name(driver) == name


def test_nothing_overflows_sideways(page):
    for width in (360, 768, 1400):
        with width_of(page, width):
            for tab in ("leaves", "table", "document-map", "explore"):
                press(page, f"#tab-{tab}")
                assert not overflows(page), (tab, width)
            # No word of the icicle leaves its block, once its words are fitted to its width.
            wait(page).until(
                lambda page: page.execute_script(
                    "return [...document.querySelectorAll('.cell')].every(cell => {"
                    " const text = cell.querySelector('text');"
                    " return !text || !text.textContent || text.getComputedTextLength() + 8"
                    "   <= cell.querySelector('rect').getBoundingClientRect().width; })"
                )
            )


def test_text_has_enough_contrast(page):
    page.execute_script("document.getElementById('made').open = true")
    for name in ("light", "dark"):
        with emulated(page, **scheme(name)):
            for look in (("#tab-explore", tree_row(0)), (tree_row(2),), ("#tab-leaves",)):
                press(page, *look)
                assert page.execute_script(CONTRAST) == [], (name, look)
            for tab in ("table", "document-map"):
                press(page, f"#tab-{tab}")
                assert page.execute_script(CONTRAST) == [], (name, tab)


def test_print_shows_all_leaves_with_their_words(page, summary):
    with emulated(page, media="print"):
        text = " ".join(texts(page, "body")[0].split())
        for node in summary["nodes"]:
            if node["leaf"] is not None:
                assert ", ".join(summary["words"]["word"][j] for j in node["top"]) in text
        assert visible(page, "#query", "#explore") == [False, False]
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
    with opened(driver, write_html(summary, tmp_path / "attack.html").as_uri()) as page:
        press(page, tree_row(2))
        search_for(page, "onerror")
        assert page.title == f"Topics of {n} documents · topic tree"
        assert find_all(page, "img") == []
        assert topic_name(page) == attack


def test_one_leaf_and_rich_scripts_render(driver, make_case, tmp_path):
    case = make_case(12, groups=0)
    labels = ["שלום", "😀 🎉", 'a "quoted" <b>', "x" * 120] * 3
    summary = summarize(case.estimator, case.X, texts=[""] * 12, labels=labels)
    with opened(driver, write_html(summary, tmp_path / "one.html").as_uri()) as page:
        assert topic_name(page) == case.estimator.tree_.name
        assert sorted(texts(page, ".label-list [dir]")) == sorted(set(labels))
        assert "(no text)" in texts(page, "#topic")[0]
        assert not overflows(page)


def test_a_fitted_topic_tree_makes_the_page(driver, case, tmp_path):
    tree = mt.TopicTree(max_leaf_nodes=4).fit(case.X, feature_names=case.estimator.vocabulary_)
    path = tmp_path / "tree.html"
    tree.to_html(path, case.X, ids=case.ids, texts=case.texts, labels=case.labels, title="Grown")
    with opened(driver, path.as_uri()) as page:
        for leaf in tree.leaves_:
            press(page, tree_row(leaf.node_id))
            assert topic_name(page) == leaf.name
            assert f"{leaf.n_samples:,}" in texts(page, ".numbers")[0]
            # The four topics have a name each, with which all their own words begin.
            assert len({word[:4] for word in show_words(page)[:5]}) == 1
            assert texts(page, ".reason")[0].startswith("Not split further: ")


def test_the_page_reads_with_scripts_switched_off(driver, address, summary):
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        with opened(driver, address) as page:
            text = find(page, "body").text
            assert not find(page, "#query").is_displayed()
            for node in summary["nodes"]:
                assert node["name"] in text
                assert summary["words"]["word"][node["top"][0]] in text
            assert find(page, "table").is_displayed()
            assert find(page, ".cards").is_displayed()
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
