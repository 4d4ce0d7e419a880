"""The page as text: escaped, self-contained, the same every time, whole or not at all."""

import errno
import html
import os
import re

import numpy as np
import pytest

from momentree.report import render_html, summarize, write_html

from ..pages import ALLOWED_SCRIPTS, ATTACKS, read, read_data


def page_of(case, **options):
    return render_html(summarize(case.estimator, case.X, **{**case.arguments, **options}))


def attacked(case):
    """Put every attack into every place that takes text."""
    n = len(case.ids)
    turn = [ATTACKS[i % len(ATTACKS)] for i in range(n)]
    case.estimator.vocabulary_ = case.estimator.vocabulary_.astype(object)
    case.estimator.vocabulary_[: len(ATTACKS)] = ATTACKS
    for node, attack in zip(case.estimator.tree_.nodes(), ATTACKS, strict=False):
        node.name = node.reason = attack
    case.estimator.params = {ATTACKS[2]: ATTACKS[0]}
    return page_of(
        case,
        ids=turn,
        texts=turn,
        labels=turn,
        title=ATTACKS[0],
        made_with={ATTACKS[0]: ATTACKS[0]},
    )


def test_hostile_text_stays_text(case):
    page = attacked(case)
    reader = read(page)
    page.encode("utf-8")
    assert len(reader.scripts) == ALLOWED_SCRIPTS
    assert not any(tag == "img" for tag, _ in reader.tags)
    handlers = [name for _, attributes in reader.tags for name in attributes if name[:2] == "on"]
    assert handlers == []
    assert "\u2028" not in "".join(reader.scripts)
    assert "\x00" not in page
    assert "49" not in html.unescape(page).split("<title>")[1].split("</title>")[0]
    data = read_data(page)
    assert data["title"] == ATTACKS[0]
    items = {item["row"]: item for item in data["documents"]["items"]}
    assert items[5]["id"].startswith("line separator")


def test_data_survives_the_way_into_the_page(case):
    summary = summarize(case.estimator, case.X, **case.arguments)
    assert read_data(render_html(summary)) == summary


def test_nothing_is_loaded_and_a_policy_forbids_it(case):
    page = page_of(case)
    reader = read(page)
    for tag, attributes in reader.tags:
        for name in ("src", "href", "action", "data", "srcset", "poster"):
            target = attributes.get(name)
            assert target is None or target.startswith("#") or target == "data:,", (tag, target)
    assert not re.search(r"url\(|@import|@font-face", page)
    policy = next(a["content"] for t, a in reader.tags if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'")
    assert "unsafe-inline" not in policy.split("script-src")[1].split(";")[0]


def test_the_page_reads_without_scripts(case):
    summary = summarize(case.estimator, case.X, **case.arguments)
    reader = read(render_html(summary))
    text = " ".join(" ".join(reader.text).split())
    for node in list(case.estimator.tree_.nodes())[1:]:
        assert node.name in text
        word = case.estimator.vocabulary_[int(np.argmax(node.center))]
        assert word in text
    ids = {a["id"] for _, a in reader.tags if "id" in a}
    links = {a["href"][1:] for t, a in reader.tags if t == "a" and a["href"].startswith("#")}
    assert links <= ids
    assert "made" in ids
    for name, value in summary["made"]["parameters"].items():
        assert name in text
        assert " ".join(str(value).split()) in text


def test_ids_are_unique_and_references_resolve(case):
    reader = read(page_of(case))
    ids = [a["id"] for _, a in reader.tags if "id" in a]
    assert len(ids) == len(set(ids))
    named = ("aria-controls", "aria-labelledby", "aria-describedby", "for")
    for _, attributes in reader.tags:
        for name in named:
            if name in attributes:
                assert attributes[name] in ids


def test_the_same_input_gives_the_same_page(case, make_case):
    assert page_of(case) == page_of(make_case())


def test_a_sample_is_announced(case):
    assert "of 120 documents" in " ".join(read(page_of(case, documents=20)).text)
    assert "includes all 120 documents" in " ".join(read(page_of(case)).text)


def test_a_chain_of_many_splits_renders(make_case):
    case = make_case()
    node = case.estimator.tree_
    deep = node.children[1].children[1]
    leaf_id = deep.leaf_id
    for extra in range(60):
        low = type(node)(deep.center, deep.weight, depth=deep.depth + 1, parent=deep)
        top = type(node)(deep.center, 0.0, depth=deep.depth + 1, parent=deep)
        low._samples, deep._samples = deep._samples, deep._samples[:0]
        deep.leaf_id, deep.children = None, [low, top]
        deep = low
        assert extra < 60
    for i, each in enumerate(node.nodes()):
        each.node_id = i
    leaves = list(node.leaves())
    for i, leaf in enumerate(leaves):
        leaf.leaf_id = i
    assert deep.leaf_id == leaf_id
    page = page_of(case)
    assert page.count('role="row"') == 0
    assert page.count("<tr data-node") == 7 + 120


def test_a_file_is_written_whole_or_not_at_all(case, tmp_path, monkeypatch):
    summary = summarize(case.estimator)
    target = tmp_path / "report.html"
    target.write_text("before")

    def full(*_):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError) as caught:
        write_html(summary, target)
    assert caught.value.errno == errno.ENOSPC
    assert target.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    monkeypatch.undo()
    assert write_html(summary, target) == target
    assert target.read_bytes() == render_html(summary).encode()
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_a_missing_folder_is_an_os_error(case, tmp_path):
    with pytest.raises(FileNotFoundError):
        write_html(summarize(case.estimator), tmp_path / "no" / "report.html")


@pytest.mark.skipif(os.name != "posix", reason="POSIX file modes")
def test_a_report_can_be_read_by_others(case, tmp_path):
    mask = os.umask(0o022)
    try:
        path = write_html(summarize(case.estimator), tmp_path / "report.html")
    finally:
        os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o644
