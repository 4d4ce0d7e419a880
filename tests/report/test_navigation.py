"""The address of a page: views, nodes and exact figures; back, forward, and links."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from momentree.report import summarize, summarize_records, write_html

from .browsing import (
    ActionChains,
    Keys,
    find,
    opened,
    press,
    texts,
    topic_name,
    tree_row,
    visible,
    wait,
)
from .records.cases import flat_case


@pytest.fixture(scope="module")
def addresses(make_case, tmp_path_factory):
    case = make_case()
    folder = tmp_path_factory.mktemp("pages")
    summaries = {
        "topics": summarize(case.estimator, case.X, **case.arguments),
        "records": summarize_records(*flat_case()),
    }
    return {
        kind: (summary, write_html(summary, folder / f"{kind}.html").as_uri())
        for kind, summary in summaries.items()
    }


@pytest.fixture
def tab(driver):
    """A tab with a history of its own: a full one drops the entries of clicks by scripts first."""
    first = driver.current_window_handle
    driver.switch_to.new_window("tab")
    yield driver
    driver.close()
    driver.switch_to.window(first)


@pytest.fixture(params=["topics", "records"])
def browse(tab, addresses, request):
    summary, address = addresses[request.param]
    with ExitStack() as checks:

        def go(hash_=""):
            checks.close()  # of the page before
            page = checks.enter_context(opened(tab, address + hash_))
            wait(page).until(lambda page: state(page)[0])
            return page

        yield go, summary


STATE = """
const tab = document.querySelector('[role="tab"][aria-selected="true"]');
if (!tab) return [null, null, null, null]; // not drawn yet
return [tab.getAttribute("aria-controls"),
  Number(document.querySelector('[role="treeitem"][aria-selected="true"]').dataset.node),
  document.documentElement.classList.contains("exact"), location.hash];
"""


def state(page):
    return page.execute_script(STATE)


def until(page, *expected):
    wait(page).until(lambda page: state(page)[:3] == list(expected))


def test_back_and_forward_return_to_views_and_nodes(browse):
    go, _ = browse
    page = go()
    assert state(page) == ["explore", 0, False, ""]
    press(page, tree_row(2))
    assert state(page) == ["explore", 2, False, "#node=2"]
    press(page, "#tab-table")
    assert state(page) == ["table", 2, False, "#view=table&node=2"]
    press(page, "#exact")
    assert state(page) == ["table", 2, True, "#view=table&node=2&figures=exact"]
    press(page, '#table tbody tr[data-node="1"] a')  # a view and a node at once
    assert state(page) == ["explore", 1, True, "#node=1&figures=exact"]
    for expected in (("table", 2, True), ("table", 2, False), ("explore", 2, False)):
        page.back()
        until(page, *expected)
    page.back()
    until(page, "explore", 0, False)
    page.forward()
    until(page, "explore", 2, False)


def test_links_open_the_view_and_the_node(browse):
    go, summary = browse
    for hash_, expected in {
        "#view=table&node=2": ("table", 2, False),
        "#node-3": ("explore", 3, False),  # links of older pages, and of pages without scripts
        "#node=1&figures=exact": ("explore", 1, True),
        "#view=leaves": ("leaves", 0, False),
        "#view=nonsense&node=999": ("explore", 0, False),
        "#node=-1": ("explore", 0, False),
        "#made": ("explore", 0, False),
        "#%E0%A4%A": ("explore", 0, False),
    }.items():
        page = go(hash_)
        assert state(page)[:3] == list(expected), hash_
        assert topic_name(page).split() == summary["nodes"][expected[1]]["name"].split()
        assert visible(page, f"#{expected[0]}") == [True]


def test_an_address_typed_into_an_open_page_is_followed(browse):
    go, _ = browse
    page = go()
    page.execute_script("location.hash = '#view=leaves&node=2'")
    until(page, "leaves", 2, False)
    page.execute_script("location.hash = '#made'")  # no part of the address of this page
    until(page, "leaves", 2, False)
    page.execute_script("history.go(-2)")
    until(page, "explore", 0, False)


def test_steps_by_arrow_keys_are_one_entry(browse):
    go, _ = browse
    page = go()
    page.execute_script("document.querySelector('#tree [tabindex=\"0\"]').focus()")
    ActionChains(page, duration=0).send_keys(*[Keys.ARROW_DOWN] * 3).perform()
    until(page, "explore", 3, False)
    page.back()
    until(page, "explore", 0, False)


def test_the_link_past_the_header_leads_to_the_selected_node(browse):
    go, _ = browse
    page = go("#view=table&node=2")
    find(page, ".skip").send_keys(Keys.ENTER)
    assert page.execute_script("return document.activeElement.id") == "topic"
    assert state(page)[:2] == ["explore", 2]


def test_a_page_inside_another_page_works_without_an_address(driver, addresses):
    summary, address = addresses["topics"]
    driver.get(address)
    driver.execute_script(
        "const frame = document.createElement('iframe');"
        "frame.srcdoc = '<!DOCTYPE html>' + document.documentElement.outerHTML;"
        "document.body.append(frame)"
    )
    driver.switch_to.frame(driver.find_elements("css selector", "iframe")[-1])
    try:
        wait(driver).until(lambda page: texts(page, "#topic-name"))
        press(driver, tree_row(2))
        assert topic_name(driver) == summary["nodes"][2]["name"]
        assert [e for e in driver.get_log("browser") if "Uncaught" in e["message"]] == []
    finally:
        driver.switch_to.default_content()
