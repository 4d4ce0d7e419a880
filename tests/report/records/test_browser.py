"""The page of records in a real browser: its numbers, its charts, and the record it assigns."""

from __future__ import annotations

import re
from collections import namedtuple
from contextlib import ExitStack
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from momentree.datasets import RecordCoder
from momentree.metrics import group_profiles
from momentree.metrics.intervals import wilson_interval
from momentree.report import summarize_records, write_html
from momentree.report.disclosure import Disclosure
from momentree.report.text import percent, whole_percent

from ...incomplete import group_of, probabilities
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
    set_slider,
    texts,
    tree_row,
    wait,
    width_of,
)
from .cases import flat_case, named, tree_case
from .test_html import ATTACKS, attacked

Row = namedtuple("Row", ["title", "value"])
CASES = {"flat": flat_case, "tree": tree_case}
PAGES = {
    "flat": {},
    "tree": {"quality": {"stability": [0.9], "recurrence": [0.9, 0.8, 0.7, 0.6]}},
    "flat-exact": {"min_cell": 1},
    "tree-exact": {"min_cell": 1},
    "records": {"include_records": True},
}


def when_drawn(page, selector):
    """Find what is drawn when it is first looked at, which a busy machine takes a while for."""
    return wait(page).until(lambda page: find_all(page, selector))


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    """Every page with what it was made of."""
    folder = tmp_path_factory.mktemp("records")
    made = {}
    for name, options in PAGES.items():
        model, records = CASES["tree" if name.startswith("tree") else "flat"]()
        if name == "tree-exact":
            # One split by odds instead of squares, as refined splits have.
            half = np.linspace(1.0, -1.0, len(records.codes))
            model.rules[2] = {
                "kind": "linear",
                "coef": np.stack([half, -half]),
                "intercept": np.array([0.1, -0.1]),
                "children": [-3, -4],
            }
        summary = summarize_records(model, records, title="Ward", **options)
        address = write_html(summary, folder / f"{name}.html").as_uri()
        X = records.X[np.flatnonzero(records.enough)]
        made[name] = SimpleNamespace(
            model=model,
            records=records,
            summary=summary,
            address=address,
            X=X,
            profiles=group_profiles(X, model.labels_, n_groups=4),
        )
    return made


@pytest.fixture
def browse(driver, cases):
    """Open a page by name, once a test; its console and its requests are checked."""
    with ExitStack() as stack:
        yield lambda name: (stack.enter_context(opened(driver, cases[name].address)), cases[name])


SHOWN = """
return [...document.querySelectorAll(`${arguments[0]} [data-code]`)].map(e =>
  [Number(e.dataset.code), e.title, e.querySelector(".value").innerText.trim()]);
"""


def shown(page, within):
    """Return title and value of each row of codes that is shown, by code."""
    return {j: Row(title, value) for j, title, value in page.execute_script(SHOWN, within)}


def plain(name):
    """Return a name as a browser returns it: with plain blanks."""
    return " ".join(name.split())


def leaf_node(case, leaf):
    return next(node for node in case.summary["nodes"] if node["leaf"] == leaf)


ENTER = """
const query = document.getElementById("code-query"), clear = document.getElementById("clear-codes");
if (arguments[1] && clear.checkVisibility()) clear.click();
query.value = arguments[0];
query.dispatchEvent(
  new KeyboardEvent("keydown", {key: "Enter", bubbles: true, cancelable: true}));
"""


def type_codes(page, text, *, clear=False):
    """Paste codes and enter them, in place of others or beside them; typing takes a second."""
    press(page, "#tab-assign")
    page.execute_script(ENTER, text, clear)


def assigned(page):
    leaves, p = (attributes(page, "#probabilities li", f"data-{name}") for name in ("leaf", "p"))
    (answer,) = attributes(page, "#answer", "data-leaf")
    return int(answer), {int(leaf): float(value) for leaf, value in zip(leaves, p, strict=True)}


@pytest.mark.parametrize("name", ["flat-exact", "tree-exact"])
def test_every_node_shows_its_name_and_the_numbers_of_the_profiles(browse, name):
    page, case = browse(name)
    assert page.title == "Ward · groups of records"
    assert texts(page, "#topic-name") == ["All records"]
    for node in case.summary["nodes"]:
        press(page, tree_row(node["id"]))
        number = "" if node["leaf"] is None else f"{node['leaf']} "
        heading, numbers = texts(page, "#topic-name, .numbers")
        assert heading == number + plain(node["name"])
        assert node["size"] in numbers
        assert page.current_url.endswith(f"#node={node['id']}" if node["id"] else ".html")
        check_frequencies(page, case, node)
        if node["leaf"] is not None:
            check_risks(page, case, node["leaf"])
    press(page, "#tab-leaves")
    assert len(find_all(page, ".card")) == 4


def check_frequencies(page, case, node):
    """The common codes of a group or, for an inner node, of the sum of its groups."""
    rows = shown(page, "#common")
    assert list(rows) == case.summary["common"][:20]
    for j, row in rows.items():
        ones = case.profiles.counts[node["leaves"], j].sum()
        n = case.profiles.observed[node["leaves"], j].sum()
        if node["leaf"] is None:
            assert row.title.startswith(f"{ones:.0f} of {n:.0f} records")
            continue
        low, high = wilson_interval(np.array(ones / n), np.array(n), 0.95)
        # A share near zero is shown as "< 0.1".
        numbers = re.findall(r"[\d.]+", row.title.replace("< 0.1", "0.05"))
        values = [float(number) for number in numbers[:5]]
        wanted = [ones, n, 100 * ones / n, 100 * low, 100 * high]
        assert values == pytest.approx(wanted, abs=0.051)


def check_risks(page, case, leaf):
    ratio, limits = case.profiles.relative_risk[leaf], case.profiles.relative_risk_intervals[leaf]
    rows = shown(page, "#risks")
    assert set(rows) <= set(np.flatnonzero((limits[:, 0] > 1) | (limits[:, 1] < 1)))
    assert len(rows) >= 6
    for j, row in rows.items():
        values = re.fullmatch(r"×([\d.]+) ([\d.]+) to ([\d.]+)", row.value).groups()
        wanted = [ratio[j], *limits[j]]
        assert [float(v) for v in values] == pytest.approx(wanted, rel=0.05, abs=0.006)


def test_codes_are_ordered_by_relevance_sorted_and_found(browse):
    page, case = browse("flat-exact")
    press(page, tree_row(leaf_node(case, 2)["id"]))
    p, base = case.profiles.frequencies[2], case.profiles.overall
    for lam in (0.0, 0.35, 1.0):
        set_slider(page, lam)
        more = np.flatnonzero((p >= base) & (p > 0))
        value = np.round(np.log(p[more]) - (1 - lam) * np.log(base[more]), 9)
        order = more[np.lexsort((base[more], -p[more], -value))][:20]
        assert list(shown(page, "#words")) == order.tolist()
    press(page, "#tab-codes")
    when_drawn(page, "#code-table tbody th")
    names = lambda: texts(page, "#code-table tbody th")  # noqa: E731
    all_names = case.summary["codes"]["name"]
    assert names() == [all_names[j] for j in case.summary["common"]]
    press(page, '#code-table [data-key="2"]')
    order = np.argsort(-case.profiles.frequencies[2], kind="stable")
    assert names() == [all_names[j] for j in order]
    press(page, '#code-table [data-key="name"]')
    assert names() == sorted(all_names)
    find(page, "#code-filter").send_keys("RARE 24")
    assert names() == ["rare condition 24"]


def test_hidden_counts_are_hidden_in_every_chart(browse):
    page, case = browse("flat")
    counts = np.array(case.summary["groups"]["counts"])
    press(page, tree_row(leaf_node(case, 1)["id"]))
    rows = shown(page, "#common")
    hidden = [j for j in rows if counts[1, j] == -1]
    assert hidden
    for j, row in rows.items():
        assert row.value.startswith("<5") == (j in hidden)
    assert not set(hidden) & set(shown(page, "#risks"))
    assert not set(hidden) & set(shown(page, "#words"))
    press(page, "#tab-codes")
    page.execute_script("document.getElementById('code-filter').scrollIntoView()")
    when_drawn(page, "#code-table tbody tr")
    columns = [node["leaf"] for node in case.summary["nodes"] if node["leaf"] is not None]
    cells = texts(page, f"#code-table tbody td:nth-of-type({3 + columns.index(1)})")
    codes = texts(page, "#code-table tbody td.label")
    place = dict(zip(codes, cells, strict=True))
    for j in hidden:
        assert place[case.summary["codes"]["code"][j]] == "<5"


def records_to_assign(case):
    rng = np.random.default_rng(3)
    kept = named(case.summary, case.records)
    yield kept[[-1, -2]].tolist()
    yield sorted(rng.choice(kept, 8, replace=False).tolist())
    yield sorted({*np.flatnonzero(case.X[[7]].toarray()[0]).tolist()} & {*kept.tolist()})


@pytest.mark.parametrize("name", ["flat", "tree-exact"])
def test_a_record_gets_the_probabilities_of_the_published_counts(browse, name):
    page, case = browse(name)
    scoring = case.summary["scoring"]
    for codes in records_to_assign(case):
        type_codes(page, ", ".join(case.records.codes[codes]), clear=True)
        leaf, found = assigned(page)
        x = np.zeros(len(case.records.codes))
        x[codes] = 1.0
        entered = x[named(case.summary, case.records)]
        wanted = probabilities(scoring, [entered])[0]
        assert [found[j] for j in range(4)] == pytest.approx(wanted, abs=1e-9)
        assert leaf == group_of(scoring, entered)
        assert len(find_all(page, "#reasons li")) == len(codes)
    if name == "tree-exact":
        check_evidence(page, case)


def check_evidence(page, case):
    """Evidence is the change of the odds of the leading group, those for it first."""
    codes = [0, 3, 9]
    type_codes(page, " ".join(case.records.codes[codes]), clear=True)
    assigned_to, found = assigned(page)
    leaf = max(found, key=found.get)
    assert assigned_to in (leaf, -1)

    def odds(kept):
        x = np.zeros(len(case.records.codes))
        x[kept] = 1.0
        p = probabilities(case.summary["scoring"], [x])[0, leaf]
        return p / (1 - p)

    rows = shown(page, "#reasons")
    assert sorted(rows) == codes
    for j, row in rows.items():
        wanted = odds(codes) / odds([other for other in codes if other != j])
        text = row.value.removeprefix("odds ×")
        assert float(text.replace(",", "")) == pytest.approx(wanted, rel=0.06, abs=0.006)
    ratios = [float(row.value.removeprefix("odds ×").replace(",", "")) for row in rows.values()]
    assert [ratio >= 1 for ratio in ratios] == sorted((r >= 1 for r in ratios), reverse=True)
    titles = texts(page, "#reasons h4")
    assert titles[0] == "Codes in favor"


def test_a_record_that_fits_no_group_is_not_assigned(driver, tmp_path):
    """Too few codes, codes of different groups, and codes too rare to decide: each says so."""
    model, records = flat_case()
    X = records.X.toarray()
    labels = np.full(len(X), -1)
    labels[records.enough] = model.labels_
    here = [np.flatnonzero(labels == j) for j in range(4)]
    X[:, :4] = 0
    for rows in here:
        X[rows[:30], 0] = 1  # in as many records of each group
    X[here[0], 1] = X[here[1][:20], 2] = 1  # in one group only
    X[here[3][:3], 3] = 1  # in three records
    records.X = sp.csr_array(X)
    summary = summarize_records(model, records, min_cell=1)
    reasons = []
    with opened(driver, write_html(summary, tmp_path / "page.html").as_uri()) as page:
        for codes in ([0], [1, 2], [3], [1]):
            type_codes(page, " ".join(records.codes[codes]), clear=True)
            reasons.append(attributes(page, "#answer", "data-why")[0])
            assert (assigned(page)[0] == -1) == bool(reasons[-1])
            assert (texts(page, "#answer") == ["Too few codes to say"]) == (
                reasons[-1] in ("probability", "rare")
            )
            if codes == [1, 2]:
                (note,) = texts(page, "#assigned .assigned-group .note")
                assert any(records.codes[j] in note for j in codes)
    assert reasons == ["probability", "different", "rare", ""]


def test_codes_are_typed_as_people_type_them(browse):
    page, case = browse("flat")
    chips = lambda: texts(page, "#chosen-codes b")  # noqa: E731
    type_codes(page, " 100.25;1070")
    assert chips() == ["100", "107"]
    type_codes(page, "100, nonsense")
    (message,) = texts(page, "#assign-message")
    assert "“nonsense”" in message
    assert "1 code already entered" in message
    query = find(page, "#code-query")
    query.send_keys("childbirth kind")
    options = find_all(page, "#code-options li")
    assert len(options) == 6
    assert query.get_attribute("aria-expanded") == "true"
    query.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)
    second = options_of(case)[1]
    assert chips() == ["100", "107", second]
    query.send_keys(Keys.BACKSPACE)
    assert chips() == ["100", "107"]
    press(page, "#chosen-codes button")
    assert chips() == ["107"]
    query.send_keys("kidney disease of kind 3, not elsewhere", Keys.ENTER)
    assert len(chips()) == 2
    press(page, "#clear-codes")
    assert chips() == []
    assert texts(page, "#assigned") == [""]


@pytest.mark.parametrize("rollup", [None, "icd9"])
def test_codes_keep_the_dots_that_their_columns_have(driver, tmp_path, rollup):
    model, records = flat_case()
    codes = ["389", "38.9", "8.5", "2504"] if rollup is None else ["389", "038", "008", "250"]
    records.codes[:4] = codes
    records.names = {}
    records.coder = RecordCoder(records.codes.tolist(), rollup=rollup, undotted=rollup is None)
    summary = summarize_records(model, records)
    with opened(driver, write_html(summary, tmp_path / "page.html").as_uri()) as page:
        for typed in ("389", "38.9 ", "8.5", "250.4", "38.9;389", "7.5"):
            type_codes(page, typed, clear=True)
            found = texts(page, "#chosen-codes b")
            columns = records.coder.columns_of(typed.split(";"))
            wanted = [records.codes[j] for j in columns if j >= 0]
            # The page also takes a detail for the code above it, and part of a code for the
            # first hit.
            if wanted or typed == "7.5":
                assert found == wanted, typed


def options_of(case):
    """Return the codes of childbirth, the most common first."""
    rates, names = case.summary["codes"]["rate"], case.summary["codes"]["name"]
    found = [j for j, name in enumerate(names) if name.startswith("childbirth")]
    return [case.summary["codes"]["code"][j] for j in sorted(found, key=lambda j: -rates[j])]


@pytest.mark.parametrize("name", ["flat", "records"])
def test_the_heat_map_is_read_by_keyboard_and_painted(browse, name):
    page, case = browse(name)
    press(page, "#tab-heat")
    canvas = find(page, "#heat-canvas")
    first = next(node for node in case.summary["nodes"] if node["leaf"] is not None)
    canvas.send_keys(Keys.ARROW_RIGHT)
    (text,) = texts(page, "#heat-reading")
    assert text.startswith(f"{first['leaf']} {plain(first['name'])}")
    assert case.summary["codes"]["name"][case.summary["heat"]["codes"][0]] in text
    assert ("patient-" in text) == (name == "records")
    canvas.send_keys(Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    assert texts(page, "#heat-reading") != [text]
    colors = page.execute_script(
        "const c = arguments[0], p = c.getContext('2d');"
        "const d = p.getImageData(0, 0, c.width, c.height).data, seen = new Set();"
        "for (let i = 0; i < d.length; i += 404) seen.add(d.slice(i, i + 3).join());"
        "return seen.size",
        canvas,
    )
    assert colors >= 6


def test_the_table_sorts_by_every_column_and_shows_outcomes_by_group(browse):
    page, case = browse("tree")
    press(page, "#tab-table")
    keys = attributes(page, "#table > .scroll thead th", "data-key")
    assert {"share_low", "recurrence", "outcome-0"} < set(keys)
    press(page, '#table > .scroll thead [data-key="recurrence"] button')
    order = [int(node) for node in attributes(page, "#table > .scroll tbody tr", "data-node")]
    leaf_of = {node["id"]: node["leaf"] for node in case.summary["nodes"]}
    assert [leaf_of[i] for i in order][:4] == [0, 1, 2, 3]
    check_outcomes(page, case)


def check_outcomes(page, case):
    found, cell = case.summary["outcomes"], case.summary["min_cell"]
    sizes = np.array(case.summary["groups"]["estimated"], dtype=float)
    rows = "#outcome-table tbody tr:not(.of)"
    heads, cells = texts(page, f"{rows} th"), texts(page, f"{rows} td")
    wanted = [(entry, at) for entry in found for at in range(len(entry["classes"]))]
    assert len(heads) == len(wanted)
    kinds = set()
    for head, row, (entry, at) in zip(heads, batched(cells, 5), wanted, strict=True):
        one = entry["classes"][at]
        assert head == (entry["name"] if entry["binary"] else one["name"])
        for text, leaves in zip(row, [[0, 1, 2, 3], [0], [1], [2], [3]], strict=True):
            if len(leaves) == 1 and one["counts"][leaves[0]] == -1:
                assert text == f"<{cell}"
                kinds.add("small")
                continue
            rate, guessed = Disclosure(cell).class_rate(entry, at, leaves, sizes)
            shown_rate, shown_range = text.split("\n")
            assert shown_rate == "≈ " * guessed + percent(rate)
            known = sizes[leaves].sum() - np.maximum(np.array(entry["missing"])[leaves], 0).sum()
            low, high = map(whole_percent, wilson_interval(np.array([rate]), known, 0.95)[0])
            assert shown_range == f"{low.removesuffix('%')} – {high}"
            kinds.add("estimated" if guessed else "exact")
    assert kinds == {"small", "estimated", "exact"}


def batched(values, size):
    return [values[i : i + size] for i in range(0, len(values), size)]


def test_a_rate_that_discloses_how_few_lack_an_outcome_is_hidden(driver, tmp_path):
    model, records = flat_case()
    died = np.ones(len(records.enough))
    rows = np.flatnonzero(records.enough)
    died[rows[model.labels_ == 0][:100]] = 0
    died[rows[model.labels_ == 1][:2]] = 0
    died[rows[model.labels_ == 2][2:]] = 0
    died[rows[model.labels_ == 3][:8]] = np.nan
    records.outcomes = {"died": died}
    summary = summarize_records(model, records)
    assert [one < 0 for one in summary["outcomes"][0]["classes"][0]["counts"]] == [0, 1, 1, 0]
    with opened(driver, write_html(summary, tmp_path / "page.html").as_uri()) as page:
        press(page, "#tab-table")
        when_drawn(page, "#outcome-table tbody td")
        cells = texts(page, "#outcome-table tbody td")
        assert cells[2:4] == ["hidden", "<5"]
        assert attributes(page, "#outcome-table tbody td", "title")[2].startswith("hidden: ")
    sizes = np.array(summary["groups"]["estimated"])
    rate, guessed = Disclosure(5).class_rate(summary["outcomes"][0], 0, range(4), sizes)
    assert guessed
    assert cells[0].splitlines()[0] == f"≈ {percent(rate)}"


def test_text_has_enough_contrast_and_nothing_overflows_sideways(browse):
    page, _ = browse("tree")
    page.execute_script("document.getElementById('made').open = true")
    type_codes(page, "100")
    looks = [("#tab-explore", tree_row(node)) for node in (1, 2)]
    looks += [(f"#tab-{tab}",) for tab in ("assign", "heat", "leaves", "table")]
    for name in ("light", "dark"):
        with emulated(page, **scheme(name)):
            for look in looks:
                press(page, *look)
                assert page.execute_script(CONTRAST) == [], (look, name)
    for width in (400, 1000):
        with width_of(page, width):
            for tab in ("explore", "leaves", "heat", "codes", "assign", "table"):
                page.execute_script(f"document.getElementById('tab-{tab}').click()")
                assert not overflows(page), (tab, width)


@pytest.mark.parametrize("kind", CASES)
def test_hostile_text_does_nothing(driver, kind, tmp_path):
    summary = attacked(kind)
    with opened(driver, write_html(summary, tmp_path / "report.html").as_uri()) as page:
        press(page, *(tree_row(node["id"]) for node in summary["nodes"]))
        type_codes(page, summary["codes"]["code"][0])
        press(page, *(f"#tab-{tab}" for tab in ("codes", "heat", "assign", "table")))
        assert page.title == f"{ATTACKS[0]} · groups of records"
        assert find_all(page, "main img, main svg[onload]") == []
