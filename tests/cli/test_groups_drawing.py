"""Groups in the terminal: all that is shown fits, and nothing hidden is shown."""

from __future__ import annotations

import io
import re
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from rich.cells import cell_len
from rich.console import Console

from momentree.cli._groups import draw_groups, draw_outcomes, draw_quality, tell_codes
from momentree.report import summarize_records
from momentree.report.numbers import percent, whole_percent
from momentree.tree import ClusterTree

NAMES = ["Heart failure", "Malattia à", "信号" * 8, "a" * 60, "[red]not markup[/red]", "x · y, z"]
N = 400


def console(width: int, encoding: str = "utf-8") -> Console:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    return Console(file=stream, width=width)


@pytest.fixture(scope="module", params=[1, 4, 12])
def summary(request):
    """A tree of so many groups of made-up records, with outcomes of each kind."""
    rng = np.random.default_rng(0)
    k = request.param
    theme = rng.integers(k, size=N)
    X = rng.random((N, 3 * k)) < np.where(np.arange(3 * k) // 3 == theme[:, None], 0.8, 0.05)
    codes = np.array([f"C{j:02}" for j in range(3 * k)], dtype=object)
    tree = ClusterTree(k).fit(X.astype(float), feature_names=codes)
    records = SimpleNamespace(
        X=sp.csr_array(X.astype(float)),
        codes=codes,
        names={code: NAMES[j % len(NAMES)] for j, code in enumerate(codes)},
        ids=[f"secret{i}" for i in range(N)],
        enough=np.ones(N, dtype=bool),
        outcomes={
            "died in hospital, or within thirty days": (rng.random(N) < 0.05).astype(float),
            "ward": rng.choice(["east", "west", "a ward with a very long name in it"], N),
        },
        outcome_names={},
        name="made.csv",
        notes=[],
    )
    return summarize_records(tree, records)


@pytest.mark.parametrize("width", [40, 59, 60, 79, 80, 100, 120])
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_no_line_is_wider_than_the_terminal(summary, width, encoding):
    screen = console(width, encoding)
    groups = draw_groups(summary, screen).plain
    assert len(groups.splitlines()) == len(summary["nodes"]) + 1
    depth = max(node["depth"] for node in summary["nodes"])
    if width >= 40 + 3 * depth:
        assert max(map(cell_len, groups.splitlines())) <= width
    if width >= 60:
        for text in (tell_codes(summary, screen), draw_outcomes(summary, screen)):
            first, *lines = text.plain.splitlines()
            assert max(map(cell_len, lines)) <= width
            assert cell_len(first) < 80


def test_sizes_shares_and_intervals_are_shown(summary):
    lines = draw_groups(summary, console(100)).plain.splitlines()[1:]
    for node, line in zip(summary["nodes"], lines, strict=True):
        assert f" {node['size']} " in line
        assert f" {percent(node['share'])}".replace(" %", "%") in line
        if node["share_interval"]:
            low, high = (percent(limit).removesuffix(" %") for limit in node["share_interval"])
            assert f"{low}–{high}%" in line
        if node["leaf"] is not None:
            assert re.search(rf"(^|[ ─]){node['leaf']} ", line)


def test_every_group_is_told_by_its_codes(summary):
    told = tell_codes(summary, console(100)).plain.split("\n\n", 1)[1]
    for node in (node for node in summary["nodes"] if node["leaf"] is not None):
        paragraph = re.search(rf"(?:^|\n){node['leaf']} +(.*(?:\n  .*)*)", told)[1]
        top = list(zip(node["top"], node["top_rates"], node["top_about"], strict=True))
        for j, rate, about in top[:3]:
            assert summary["codes"]["code"][j] in paragraph
            here = "≈" * about + whole_percent(rate)
            base = "≈" * summary["codes"]["about"][j] + whole_percent(summary["codes"]["rate"][j])
            assert f" {here} ({base})".replace(" %", "%") in paragraph
    assert ("[red]not markup" in told) == (len(summary["codes"]["code"]) > 4)


def test_rates_of_outcomes(summary):
    text = draw_outcomes(summary, console(100)).plain
    died, ward = summary["outcomes"]
    n = summary["n_leaves"]
    rows = [line.split() for line in text.splitlines() if line.startswith("died in")]
    shown = [cell for row in rows for cell in row if re.search(r"%|<|\*", cell)]
    cells = [cell for cell in shown if cell != shown[-1]] or shown
    assert len(shown) == n + len(rows)  # the last column of each block is that of all
    counts = died["classes"][0]["counts"]
    assert ("<5" in cells) == (-1 in counts)
    for count, size in zip(counts, summary["groups"]["sizes"], strict=True):
        if count >= 0:
            assert percent(count / size).replace(" ", "") in shown
    for one in ward["classes"]:
        assert f"  {one['name'][:20]}" in text
    assert len(re.findall("^group", text, re.MULTILINE)) == len(rows)


def test_records_are_not_shown(summary):
    screen = console(100)
    for draw in (draw_groups, tell_codes, draw_outcomes):
        assert "secret" not in draw(summary, screen).plain


def test_ascii_where_the_encoding_is_not_unicode(summary):
    screen = console(100, "latin-1")
    for draw in (draw_groups, tell_codes, draw_outcomes):
        characters = set(draw(summary, screen).plain) - set("".join(NAMES))
        assert all(ord(character) < 128 for character in characters)


def test_without_outcomes_and_measures_nothing_is_told(summary):
    bare = {**summary, "outcomes": []}
    assert not draw_outcomes(bare, console(100))
    assert draw_quality(bare) == []
