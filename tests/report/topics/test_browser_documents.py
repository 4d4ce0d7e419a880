"""Documents in a browser: page by page, by search, on their map."""

import pytest

from momentree.report import summarize, write_html

from ..browsing import (
    ActionChains,
    Keys,
    attributes,
    find,
    find_all,
    opened,
    press,
    search_for,
    texts,
    topic_name,
    tree_row,
    visible,
    width_of,
)


@pytest.fixture(scope="module")
def case(make_case):
    return make_case()


@pytest.fixture(scope="module")
def summary(case):
    return summarize(case.estimator, case.X, **case.arguments)


@pytest.fixture(scope="module")
def address(summary, tmp_path_factory):
    return write_html(summary, tmp_path_factory.mktemp("page") / "report.html").as_uri()


@pytest.fixture(scope="module")
def sampled(case, tmp_path_factory):
    """A page with 40 of the documents, besides the typical ones."""
    summary = summarize(case.estimator, case.X, **case.arguments, documents=40, n_documents=2)
    path = tmp_path_factory.mktemp("page") / "sampled.html"
    return summary, write_html(summary, path).as_uri()


@pytest.fixture
def page(driver, address):
    with opened(driver, address) as page:
        yield page


def listed(page):
    return texts(page, "#documents .document header b")


def position(page):
    return texts(page, ".pager .position")[0]


def turn(page, name):
    press(page, f'.pager [aria-label="{name} documents"]')


def test_all_documents_of_a_topic_are_paged_through(page, summary):
    items, node = summary["documents"]["items"], summary["nodes"][2]
    press(page, tree_row(2))
    expected = [item["id"] for item in items if item["leaf"] == node["leaf"]]
    assert len(expected) == node["n_samples"] == 30
    found, places = [], []
    for _ in range(3):
        found += listed(page)
        places.append(position(page))
        turn(page, "Next")
    assert found == expected
    assert places == ["1–10 of 30", "11–20 of 30", "21–30 of 30"]
    # At the end, the button keeps the focus and does nothing.
    assert position(page) == "21–30 of 30"
    assert attributes(page, ".pager button", "aria-disabled") == ["false"] * 2 + ["true"] * 2
    turn(page, "First")
    assert listed(page) == expected[:10]
    find(page, '.pager [aria-label="Last documents"]').send_keys(Keys.ENTER)
    assert listed(page) == expected[20:]
    assert texts(page, "#status") == ["Documents 21–30 of 30"]
    # Another topic starts with its first documents.
    press(page, tree_row(3))
    assert position(page) == "1–10 of 30"


def test_every_document_of_an_inner_node_is_listed_once_with_its_topic(page, summary):
    items, node = summary["documents"]["items"], summary["nodes"][1]
    press(page, tree_row(1))
    first = listed(page)
    assert first[: len(node["documents"])] == [items[at]["id"] for at in node["documents"]]
    numbers = {str(item["leaf"]) for item in items if item["id"] in first}
    assert set(texts(page, "#documents .of .number")) == numbers
    found = list(first)
    for _ in range(5):
        turn(page, "Next")
        found += listed(page)
    assert len(found) == 60
    assert set(found) == {item["id"] for item in items if item["leaf"] in (0, 1)}


def test_documents_are_sorted_by_name_or_by_their_place_in_the_input(page, summary):
    press(page, tree_row(2))
    order = find(page, "#order")
    assert texts(page, "#order option") == [
        "most typical first",
        "by name",
        "by label",
        "as in the input",
    ]
    turn(page, "Next")
    order.send_keys("by n")
    node = summary["nodes"][2]
    own = [item for item in summary["documents"]["items"] if item["leaf"] == node["leaf"]]
    assert position(page) == "1–10 of 30"
    assert listed(page) == sorted(item["id"] for item in own)[:10]
    # The order holds for the next topic.
    press(page, tree_row(3))
    assert listed(page) == sorted(listed(page))


def test_a_page_without_counts_lists_documents_in_their_order(driver, case, tmp_path):
    summary = summarize(case.estimator, ids=case.ids)
    with opened(driver, write_html(summary, tmp_path / "bare.html").as_uri()) as page:
        assert not find_all(page, "#tab-document-map")
        assert texts(page, "#order option") == ["by name", "as in the input"]
        assert listed(page) == case.ids[:10]


def test_a_page_with_some_documents_names_what_is_missing(driver, sampled):
    summary, address = sampled
    with opened(driver, address) as page:
        press(page, tree_row(2))
        leaf = summary["nodes"][2]["leaf"]
        own = [item for item in summary["documents"]["items"] if item["leaf"] == leaf]
        assert len(own) < 30
        (note,) = texts(page, "#documents .note")
        assert note.startswith(f"{len(own)} of 30 documents are in this page.")
        assert "--documents all" in note
        search_for(page, "planet")
        shown = summary["documents"]["shown"]
        assert texts(page, "#results .note")[0].endswith(
            f" of {shown} of 120 documents. The others are not in this page."
        )
        assert str(shown) in texts(page, "#document-map .note")[0]


POINT = """
const chart = document.getElementById("points"), box = chart.getBoundingClientRect();
const margin = Math.max(18, box.width / 24), inner = box.width - 2 * margin;
const [x, y] = arguments[0].map((value) => margin + (value / 1000) * inner);
chart.dispatchEvent(new PointerEvent(arguments[1], {
  bubbles: true, pointerType: arguments[2], clientX: box.left + x, clientY: box.top + y,
}));
"""


def test_the_map_shows_and_opens_the_document_at_the_pointer(page, summary):
    press(page, "#tab-document-map")
    items = summary["documents"]["items"]
    places = [item["at"] for item in items]
    alone = [item for item in items if places.count(item["at"]) == 1]
    for item in (alone[0], alone[-1]):
        page.execute_script(POINT, item["at"], "pointermove", "mouse")
        assert texts(page, "#point b") == [item["id"]]
        assert texts(page, "#point .number") == [str(item["leaf"])]
        assert item["text"][:40] in texts(page, "#point")[0]
    page.execute_script(POINT, item["at"], "click", "mouse")
    assert texts(page, ".document.found b") == [item["id"]]
    names = {node["leaf"]: node["name"] for node in summary["nodes"]}
    assert topic_name(page) == names[item["leaf"]]
    # A finger shows a document first, and opens it when it taps again.
    press(page, "#tab-document-map", '#document-map [data-node="0"]')
    page.execute_script(POINT, alone[0]["at"], "click", "touch")
    assert visible(page, "#point", "#explore") == [True, False]
    page.execute_script(POINT, alone[0]["at"], "click", "touch")
    assert texts(page, ".document.found b") == [alone[0]["id"]]


def test_the_map_knows_its_size_before_it_is_drawn(page, summary):
    items = summary["documents"]["items"]
    places = [item["at"] for item in items]
    item = next(item for item in items if places.count(item["at"]) == 1)
    opened_now = 'document.querySelector("#tab-document-map").click();'
    page.execute_script(opened_now + POINT, item["at"], "pointermove", "mouse")
    assert texts(page, "#point b") == [item["id"]]


def test_the_map_works_by_keyboard(page, summary):
    press(page, "#tab-document-map")
    press(page, '#document-map [data-node="2"]')
    assert attributes(page, '#document-map [aria-pressed="true"]', "data-node") == ["2"]
    leaf = summary["nodes"][2]["leaf"]
    own = [item for item in summary["documents"]["items"] if item["leaf"] == leaf]
    find(page, "#points").send_keys(Keys.ARROW_RIGHT)
    assert texts(page, "#point b") == [own[0]["id"]]
    assert texts(page, "#status")[0].startswith(f"{own[0]['id']}. Topic {leaf} ")
    ActionChains(page, duration=0).send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT).perform()
    assert texts(page, "#point b") == [own[2]["id"]]
    ActionChains(page, duration=0).send_keys(Keys.ENTER).perform()
    assert visible(page, "#explore") == [True]
    assert texts(page, ".document.found b") == [own[2]["id"]]


INK = """
const chart = document.getElementById("points");
const context = new OffscreenCanvas(chart.width, chart.height)
  .getContext("2d", {willReadFrequently: true});
context.drawImage(chart, 0, 0);
const {data} = context.getImageData(0, 0, chart.width, chart.height);
const seen = new Set();
for (let i = 0; i < data.length; i += 4) {
  const [r, g, b] = data.subarray(i, i + 3);
  if (data[i + 3] > 150 && Math.max(r, g, b) - Math.min(r, g, b) > 60) {
    seen.add([r, g, b].indexOf(Math.max(r, g, b)) + "" + [r, g, b].indexOf(Math.min(r, g, b)));
  }
}
return [chart.width, seen.size];
"""


def test_the_map_has_the_colors_of_the_chosen_topics_at_any_width(page):
    press(page, "#tab-document-map")
    for width in (360, 1400):
        with width_of(page, width):
            press(page, '#document-map [data-node="0"]')
            size, colors = page.execute_script(INK)
            assert 200 < size < width
            assert colors >= 3
            press(page, '#document-map [data-node="2"]')
            assert page.execute_script(INK)[1] == 1
