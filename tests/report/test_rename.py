"""Names given in the page: shown everywhere, undone, and kept as a file or a copy of the page."""

from __future__ import annotations

import csv

import pytest

from momentree.report import summarize, summarize_records, write_html

from .browsing import (
    Keys,
    downloads,
    emulated,
    find,
    opened,
    press,
    texts,
    topic_name,
    tree_row,
    visible,
)
from .records.cases import flat_case

NAME = 'Ships, "sails" & <b>sea</b> =1+1 שלום'


@pytest.fixture(scope="module")
def pages(make_case, tmp_path_factory):
    case = make_case()
    folder = tmp_path_factory.mktemp("pages")
    summaries = {
        "topics": summarize(case.estimator, case.X, **case.arguments, order=range(120)),
        "records": summarize_records(*flat_case()),
    }
    return {
        kind: (summary, write_html(summary, folder / f"{kind}.html").as_uri())
        for kind, summary in summaries.items()
    }


@pytest.fixture(params=["topics", "records"])
def kind(request):
    return request.param


@pytest.fixture
def opened_page(driver, pages, kind):
    summary, address = pages[kind]
    with opened(driver, address) as page:
        yield page, summary


def leaf_of(summary, number):
    return next(node for node in summary["nodes"] if node["leaf"] == number)


def rename(page, node, name, *, end=Keys.ENTER):
    """Change a name by keyboard."""
    press(page, "#tab-explore", tree_row(node["id"]))
    find(page, "#rename").send_keys(Keys.ENTER)
    box = page.switch_to.active_element
    assert box.get_attribute("id") == "new-name"
    page.execute_script("arguments[0].value = arguments[1]", box, name)
    box.send_keys(end)
    assert page.execute_script("return document.activeElement.id") == "rename"


EVERYWHERE = """
return [...document.querySelectorAll(`[data-named="${arguments[0]}"]`)].map(e => e.textContent);
"""


def everywhere(page, node):
    return set(page.execute_script(EVERYWHERE, node["id"]))


def test_a_new_name_appears_everywhere_and_is_undone(opened_page):
    page, summary = opened_page
    node = leaf_of(summary, 1)
    before = everywhere(page, node)
    assert visible(page, "#names-bar") == [False]
    rename(page, node, f"  {NAME} \n")
    assert topic_name(page) == NAME
    assert everywhere(page, node) == {NAME}
    spoken = find(page, f'[role=treeitem][data-node="{node["id"]}"]').get_attribute("aria-label")
    assert spoken.startswith(f"1 {NAME}, ")
    title = f'.icicle [data-node="{node["id"]}"] title'
    assert find(page, title).get_attribute("textContent").startswith(f"1 {NAME}: ")
    for tab in ("leaves", "table"):
        press(page, f"#tab-{tab}")
        assert NAME in texts(page, f"#{tab}")[0]
    assert visible(page, "#names-bar") == [True]
    rename(page, node, "never", end=Keys.ESCAPE)
    assert topic_name(page) == NAME
    rename(page, node, "")
    assert everywhere(page, node) == before
    rename(page, node, NAME)
    press(page, "#undo-names")
    assert everywhere(page, node) == before
    assert visible(page, "#names-bar") == [False]


def leaves_silently(page):
    """Whether the page lets its reader leave without a question."""
    return page.execute_script(
        "return window.dispatchEvent(new Event('beforeunload', {cancelable: true}))"
    )


def test_names_are_saved_as_a_file_that_can_be_read_back(opened_page, tmp_path):
    page, summary = opened_page
    assert leaves_silently(page)
    rename(page, leaf_of(summary, 3), "Violins")
    rename(page, leaf_of(summary, 1), NAME)
    if summary["nodes"][4]["children"]:
        rename(page, summary["nodes"][4], "Both")
    assert not leaves_silently(page)
    with downloads(page, tmp_path) as saved:
        path = saved("#save-names")
    assert leaves_silently(page)
    assert f"--rename {path.name}" in texts(page, "#names-bar")[0]
    # The mark at the beginning is for spreadsheets, and the long dash: they take 2-3 for a date.
    inner = [["2–3", "Both"]] if summary["nodes"][4]["children"] else []
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows == [["number", "name"], ["1", NAME], *inner, ["3", "Violins"]]


def test_two_nodes_cannot_have_one_name(opened_page):
    page, summary = opened_page
    rename(page, leaf_of(summary, 1), "Same")
    node = leaf_of(summary, 2)
    press(page, tree_row(node["id"]), "#rename")
    find(page, "#new-name").clear()
    find(page, "#new-name").send_keys(" Same ", Keys.ENTER)
    assert "1 has this name already" in texts(page, "#new-name-hint")[0]
    assert find(page, "#new-name").get_attribute("aria-invalid") == "true"
    find(page, "#new-name").send_keys(Keys.ESCAPE)
    assert everywhere(page, node) != {"Same"}


def test_a_saved_page_has_the_names_with_and_without_scripts(driver, pages, kind, tmp_path):
    summary, address = pages[kind]
    node = leaf_of(summary, 2)
    page = driver
    with opened(page, address), downloads(page, tmp_path) as saved:
        old = everywhere(page, node)
        rename(page, node, NAME)
        path = saved("#save-page")
        assert leaves_silently(page)
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>\n<html lang=")
    assert 'class="js"' not in text[:200]
    with opened(page, f"{path.as_uri()}#node={node['id']}"):
        assert topic_name(page) == NAME
        assert everywhere(page, node) == {NAME}
        assert visible(page, "#names-bar") == [False]
        assert leaves_silently(page)
        # Names of both sessions are kept.
        rename(page, leaf_of(summary, 0), "First")
        with downloads(page, tmp_path) as saved:
            lines = saved("#save-names").read_text(encoding="utf-8-sig").splitlines()
        assert lines[1:] == ["0,First", f'2,"{NAME.replace(chr(34), chr(34) * 2)}"']
        # Its names can be given back too.
        rename(page, node, "")
        assert everywhere(page, node) == old
        press(page, "#undo-names")
    page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        with opened(page, path.as_uri()):
            assert NAME in find(page, ".cards").text
    finally:
        page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_names_that_came_with_the_page_are_kept_and_can_be_removed(driver, make_case, tmp_path):
    case = make_case()
    case.estimator.given_names_ = {"1": "Machines", "2-3": "Leisure"}
    list(case.estimator.tree_.leaves())[1].name = "Machines"
    case.estimator.tree_.children[1].name = "Leisure"
    summary = summarize(case.estimator, case.X, **case.arguments)
    address = write_html(summary, tmp_path / "page.html").as_uri()
    (tmp_path / "files").mkdir()
    with opened(driver, address) as page, downloads(page, tmp_path / "files") as saved:
        assert visible(page, "#names-bar") == [False]
        assert leaves_silently(page)
        rename(page, leaf_of(summary, 0), "Stars")
        rows = saved("#save-names").read_text(encoding="utf-8-sig").splitlines()[1:]
        assert rows == ["0,Stars", "1,Machines", "2–3,Leisure"]
        rename(page, leaf_of(summary, 1), "")
        top = [summary["words"]["word"][j] for j in leaf_of(summary, 1)["top"][:3]]
        assert topic_name(page) == ", ".join(top)
        rows = saved("#save-names").read_text(encoding="utf-8-sig").splitlines()[1:]
        assert rows == ["0,Stars", "2–3,Leisure"]


def test_names_print(opened_page):
    page, summary = opened_page
    rename(page, leaf_of(summary, 0), "Printed")
    with emulated(page, media="print"):
        assert "Printed" in texts(page, "body")[0]
        assert visible(page, "#names-bar", "#rename") == [False, False]
