"""Tables as CSV and charts as SVG and PNG, as files that other programs read."""

from __future__ import annotations

import csv
import struct
import xml.etree.ElementTree as ET

import pytest

from momentree.report import summarize, summarize_records, write_html

from .browsing import downloads, emulated, find, opened, press, scheme, wait
from .records.cases import flat_case


@pytest.fixture(scope="module")
def pages(make_case, tmp_path_factory):
    case = make_case()
    case.estimator.tree_.children[0].children[0].name = '=HYPERLINK("x"), \n@sum'
    folder = tmp_path_factory.mktemp("pages")
    summaries = {
        "topics": summarize(case.estimator, case.X, **case.arguments, order=range(120)),
        "records": summarize_records(*flat_case()),
    }
    return {
        kind: (summary, write_html(summary, folder / f"{kind}.html").as_uri())
        for kind, summary in summaries.items()
    }


def rows_of(path):
    text = path.read_bytes().decode("utf-8-sig")
    assert text.endswith("\r\n")
    return list(csv.reader(text.splitlines(keepends=True)))


def test_a_table_is_saved_as_it_is_shown(driver, pages, tmp_path):
    summary, address = pages["topics"]
    nodes = summary["nodes"]
    with opened(driver, f"{address}#view=table") as page, downloads(page, tmp_path) as saved:
        whole = rows_of(saved('[data-export="table"] button'))
        assert whole[0] == [
            *("Number", "Name", "Depth", "Documents", "Share (%)"),
            *("Separation", "Words together", "Main label"),
        ]
        assert len(whole) == 8
        for row, node in zip(whole[1:], nodes, strict=True):
            assert row[0] == ("" if node["leaf"] is None else str(node["leaf"]))
            assert row[2:5] == [
                str(node["depth"]),
                str(node["n_samples"]),
                f"{100 * node['share']:.1f}",
            ]
        # A name that a spreadsheet would take for a formula stays text.
        assert whole[3][1] == """'=HYPERLINK("x"), @sum"""
        press(page, "#leaves-only", "#exact", 'thead th[data-key="npmi"] button')
        leaves = rows_of(saved('[data-export="table"] button'))
        assert "NPMI" in leaves[0]
        npmi = [float(row[leaves[0].index("NPMI")]) for row in leaves[1:]]
        assert npmi == sorted(npmi, reverse=True)
        assert len(npmi) == 4


def test_tables_of_records_are_saved_with_suppressed_counts(driver, pages, tmp_path):
    summary, address = pages["records"]
    with opened(driver, f"{address}#view=codes") as page, downloads(page, tmp_path) as saved:
        wait(page).until(lambda page: page.find_elements("css selector", "#code-table tbody tr"))
        codes = rows_of(saved('[data-export="codes"] button'))
        assert len(codes) == 1 + len(summary["codes"]["code"])
        assert codes[0][:3] == ["Code", "Name", "All records (%)"]
        assert any("<5" in row for row in codes)
        press(page, "#tab-table")
        outcomes = rows_of(saved('[data-export="outcomes"] button'))
        assert outcomes[0][:2] == ["Outcome", "All"]
        assert [name.split()[0] for name in outcomes[0][2:]] == [
            str(node["leaf"]) for node in summary["nodes"] if node["leaf"] is not None
        ]


NAMESPACE = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    ("kind", "view", "chart"),
    [
        ("topics", "explore", "icicle"),
        ("topics", "proportions", "proportions"),
        ("topics", "document-map", "document-map"),
        ("records", "heat", "heat"),
    ],
)
def test_charts_are_saved_alone_and_light(driver, pages, tmp_path, kind, view, chart):
    summary, address = pages[kind]
    driver.get("about:blank")
    with (
        emulated(driver, **scheme("dark")),
        opened(driver, f"{address}#view={view}") as page,
        downloads(page, tmp_path) as saved,
    ):
        find(page, f'[data-export="{chart}"]')
        path = saved(f'[data-export="{chart}"] button')
        root = ET.fromstring(path.read_text(encoding="utf-8"))
        width, height = (float(root.get(name)) for name in ("width", "height"))
        assert root[0].get("fill") == "#ffffff"
        drawn = list(root.iter())
        for element in drawn:
            assert not {"class", "style"} & set(element.attrib)
            for name in ("fill", "stroke"):
                assert "oklch" not in element.get(name, "")
                assert "var(" not in element.get(name, "")
        # Every leaf is named in the chart or its legend, by its whole name.
        said = {" ".join("".join(e.itertext()).split()) for e in root.iter(f"{NAMESPACE}text")}
        for node in summary["nodes"]:
            if node["leaf"] is not None:
                name = f"{node['leaf']} {' '.join(node['name'].split())}"
                assert any(name.startswith(text.rstrip("…")) and len(text) > 8 for text in said)
        picture = saved(f'[data-export="{chart}"] button:last-child').read_bytes()
        assert picture.startswith(b"\x89PNG")
        assert struct.unpack(">II", picture[16:24]) == (int(2 * width), int(2 * height))
