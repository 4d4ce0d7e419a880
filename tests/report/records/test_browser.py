"""The page of records in a real browser: its numbers, its charts, and the record it assigns."""

from __future__ import annotations

import re
from collections import namedtuple
from types import SimpleNamespace

import numpy as np
import pytest

from momentree.datasets import RecordCoder
from momentree.metrics import group_profiles
from momentree.metrics.intervals import wilson_interval
from momentree.report import summarize_records, write_html
from momentree.report.numbers import percent, whole_percent
from momentree.report.records import class_rate

from ..browsing import (
    CONTRAST,
    By,
    Keys,
    WebDriverWait,
    attributes,
    emulated,
    find,
    find_all,
    overflows,
    requested,
    row_of,
    scheme,
    set_slider,
    texts,
    width_of,
)
from .cases import evaluated, flat_case, named, rule_probabilities, tree_case
from .test_html import attacked

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
    return WebDriverWait(page, 10).until(lambda page: find_all(page, selector))


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
        summary = summarize_records(model, records, **options)
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
    """Open a page by name; what its console says fails the test."""
    driver.get("about:blank")
    driver.get_log("browser")
    driver.get_log("performance")

    def browse(name):
        driver.get(cases[name].address)
        return driver, cases[name]

    yield browse
    assert [entry["message"] for entry in driver.get_log("browser")] == []


def shown(page, within):
    """Return title and value of each row of codes that is shown, by code."""
    rows = f"{within} [data-code]"
    codes = map(int, attributes(page, rows, "data-code"))
    titles, values = attributes(page, rows, "title"), texts(page, f"{rows} .value")
    return {j: Row(*row) for j, *row in zip(codes, titles, values, strict=True)}


def plain(name):
    """Return a name as a browser returns it: with plain blanks."""
    return " ".join(name.split())


def leaf_node(case, leaf):
    return next(node for node in case.summary["nodes"] if node["leaf"] == leaf)


def type_codes(page, text):
    find(page, "#tab-assign").click()
    query = find(page, "#code-query")
    # As pasted: letter by letter it takes a second.
    page.execute_script("arguments[0].value = arguments[1]", query, text)
    query.send_keys(Keys.ENTER)


def assigned(page):
    leaves, p = (attributes(page, "#probabilities li", f"data-{name}") for name in ("leaf", "p"))
    (answer,) = attributes(page, "#answer", "data-leaf")
    return int(answer), {int(leaf): float(value) for leaf, value in zip(leaves, p, strict=True)}


@pytest.mark.parametrize("name", ["flat", "tree"])
def test_it_opens_on_all_records_and_every_group_has_its_name(browse, name):
    page, case = browse(name)
    assert page.title == "Ward · groups of records"
    assert find(page, "#topic-name").text == "All records"
    for node in case.summary["nodes"]:
        row_of(page, node["id"]).click()
        number = "" if node["leaf"] is None else f"{node['leaf']} "
        assert find(page, "#topic-name").text == number + plain(node["name"])
        assert node["size"] in find(page, ".numbers").text
        assert page.current_url.endswith(f"#node-{node['id']}")
    find(page, "#tab-leaves").click()
    assert len(find_all(page, ".card")) == 4


@pytest.mark.parametrize("name", ["flat-exact", "tree-exact"])
def test_frequencies_and_intervals_are_those_of_the_profiles(browse, name):
    page, case = browse(name)
    for leaf in range(4):
        row_of(page, leaf_node(case, leaf)["id"]).click()
        rows = shown(page, "#common")
        assert list(rows) == case.summary["common"][:20]
        for j, row in rows.items():
            ones, n = case.profiles.counts[leaf, j], case.profiles.observed[leaf, j]
            low, high = wilson_interval(np.array(ones / n), np.array(n), 0.95)
            # A share near zero is shown as "< 0.1".
            numbers = re.findall(r"[\d.]+", row.title.replace("< 0.1", "0.05"))
            values = [float(number) for number in numbers[:5]]
            wanted = [ones, n, 100 * ones / n, 100 * low, 100 * high]
            assert values == pytest.approx(wanted, abs=0.051)


def test_relative_risks_are_those_of_the_profiles(browse):
    page, case = browse("flat-exact")
    ratio, limits = case.profiles.relative_risk, case.profiles.relative_risk_intervals
    for leaf in range(4):
        row_of(page, leaf_node(case, leaf)["id"]).click()
        rows = shown(page, "#risks")
        clear = np.flatnonzero((limits[leaf, :, 0] > 1) | (limits[leaf, :, 1] < 1))
        assert set(rows) <= set(clear)
        assert len(rows) >= 6
        for j, row in rows.items():
            value, low, high = re.fullmatch(r"×([\d.]+) ([\d.]+) to ([\d.]+)", row.value).groups()
            assert float(value) == pytest.approx(ratio[leaf, j], rel=0.05, abs=0.006)
            assert float(low) == pytest.approx(limits[leaf, j, 0], rel=0.05, abs=0.006)
            assert float(high) == pytest.approx(limits[leaf, j, 1], rel=0.05, abs=0.006)


def test_the_slider_orders_codes_by_relevance(browse):
    page, case = browse("flat-exact")
    row_of(page, leaf_node(case, 2)["id"]).click()
    p, base = case.profiles.frequencies[2], case.profiles.overall
    for lam in (0.0, 0.35, 1.0):
        set_slider(page, lam)
        more = np.flatnonzero((p >= base) & (p > 0))
        value = np.round(np.log(p[more]) - (1 - lam) * np.log(base[more]), 9)
        order = more[np.lexsort((base[more], -p[more], -value))][:20]
        assert list(shown(page, "#words")) == order.tolist()


def test_inner_nodes_are_sums_of_their_groups(browse):
    page, case = browse("tree-exact")
    node = case.summary["nodes"][1]
    row_of(page, node["id"]).click()
    for j, row in shown(page, "#common").items():
        ones = int(case.profiles.counts[node["leaves"], j].sum())
        n = node["n_samples"]
        assert row.title.startswith(f"{ones} of {n} records")


def test_hidden_counts_are_hidden_in_every_chart(browse):
    page, case = browse("flat")
    counts = np.array(case.summary["groups"]["counts"])
    row_of(page, leaf_node(case, 1)["id"]).click()
    rows = shown(page, "#common")
    hidden = [j for j in rows if counts[1, j] == -1]
    assert hidden
    for j, row in rows.items():
        assert row.value.startswith("<5") == (j in hidden)
    assert not set(hidden) & set(shown(page, "#risks"))
    assert not set(hidden) & set(shown(page, "#words"))
    find(page, "#tab-codes").click()
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


@pytest.mark.parametrize("name", ["flat", "tree", "flat-exact", "tree-exact"])
def test_a_record_gets_the_probabilities_of_the_estimator(browse, name):
    page, case = browse(name)
    exact = case.summary["min_cell"] == 1
    for codes in records_to_assign(case):
        find(page, "#tab-assign").click()
        if find(page, "#clear-codes").is_displayed():
            find(page, "#clear-codes").click()
        type_codes(page, ", ".join(case.records.codes[codes]))
        leaf, found = assigned(page)
        x = np.zeros((1, len(case.records.codes)))
        x[0, codes] = 1.0
        entered = x[:, named(case.summary, case.records)]
        wanted = evaluated(case.summary["scoring"], entered)[0]
        assert [found[j] for j in range(4)] == pytest.approx(wanted, abs=1e-9)
        if exact:
            assert [found[j] for j in range(4)] == pytest.approx(
                case.model.predict_proba(x)[0], abs=1e-6
            )
        if name.startswith("flat"):
            assert leaf == wanted.argmax()
        else:
            assert leaf == followed(case.summary["scoring"], entered)
        assert len(find_all(page, "#reasons li")) == len(codes)


def followed(scoring, x):
    """Return the leaf of the largest side at every split, literally."""
    if scoring["kind"] == "nested":
        part = scoring["parts"][followed(scoring["base"], x)]
        return part if isinstance(part, int) else part["leaves"][followed(part["scoring"], x)]
    if scoring["kind"] == "mixture":
        return scoring["group"][
            int(np.argmax(x @ np.transpose(scoring["coef"]) + scoring["intercept"]))
        ]
    at = 0
    while at >= 0:
        node = scoring["nodes"][at]
        t = (np.transpose(x @ np.transpose(node["coef"])) + np.array(node["intercept"])[:, None])[
            :, 0
        ]
        at = node["children"][int(np.argmax(t if node["kind"] == "linear" else t**2))]
    return -1 - at


def test_evidence_is_the_change_of_the_odds(browse):
    page, case = browse("tree-exact")
    codes = [0, 3, 9]
    type_codes(page, " ".join(case.records.codes[codes]))
    leaf, _ = assigned(page)

    def odds(kept):
        x = np.zeros((1, len(case.records.codes)))
        x[0, kept] = 1.0
        p = rule_probabilities(case.summary["scoring"], x)[0, leaf]
        return p / (1 - p)

    for j, row in shown(page, "#reasons").items():
        wanted = odds(codes) / odds([other for other in codes if other != j])
        text = row.value.removeprefix("odds ×")
        assert float(text.replace(",", "")) == pytest.approx(wanted, rel=0.06, abs=0.006)


def test_codes_are_typed_as_people_type_them(browse):
    page, case = browse("flat")
    chips = lambda: texts(page, "#chosen-codes b")  # noqa: E731
    type_codes(page, " 100.25;1070")
    assert chips() == ["100", "107"]
    type_codes(page, "100, nonsense")
    assert "“nonsense”" in find(page, "#assign-message").text
    assert "1 code already entered" in find(page, "#assign-message").text
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
    find(page, "#chosen-codes button").click()
    assert chips() == ["107"]
    query.send_keys("kidney disease of kind 3, not elsewhere", Keys.ENTER)
    assert len(chips()) == 2
    find(page, "#clear-codes").click()
    assert chips() == []
    assert find(page, "#assigned").text == ""


@pytest.mark.parametrize("rollup", [None, "icd9"])
def test_codes_keep_the_dots_that_their_columns_have(driver, tmp_path, rollup):
    model, records = flat_case()
    codes = ["389", "38.9", "8.5", "2504"] if rollup is None else ["389", "038", "008", "250"]
    records.codes[:4] = codes
    records.names = {}
    records.coder = RecordCoder(records.codes.tolist(), rollup=rollup, undotted=rollup is None)
    summary = summarize_records(model, records)
    driver.get(write_html(summary, tmp_path / "page.html").as_uri())
    for typed in ("389", "38.9 ", "8.5", "250.4", "38.9;389", "7.5"):
        find(driver, "#tab-assign").click()
        if find(driver, "#clear-codes").is_displayed():
            find(driver, "#clear-codes").click()
        type_codes(driver, typed)
        found = texts(driver, "#chosen-codes b")
        columns = records.coder.columns_of(typed.split(";"))
        wanted = [records.codes[j] for j in columns if j >= 0]
        # The page also takes a detail for the code above it, and part of a code for the first hit.
        if wanted or typed == "7.5":
            assert found == wanted, typed


def options_of(case):
    """Return the codes of childbirth, the most common first."""
    rates, names = case.summary["codes"]["rate"], case.summary["codes"]["name"]
    found = [j for j, name in enumerate(names) if name.startswith("childbirth")]
    return [case.summary["codes"]["code"][j] for j in sorted(found, key=lambda j: -rates[j])]


def test_codes_are_sorted_and_found(browse):
    page, case = browse("flat-exact")
    find(page, "#tab-codes").click()
    when_drawn(page, "#code-table tbody th")
    names = lambda: texts(page, "#code-table tbody th")  # noqa: E731
    all_names = case.summary["codes"]["name"]
    assert names() == [all_names[j] for j in case.summary["common"]]
    find(page, '#code-table [data-key="2"]').click()
    order = np.argsort(-case.profiles.frequencies[2], kind="stable")
    assert names() == [all_names[j] for j in order]
    find(page, '#code-table [data-key="name"]').click()
    assert names() == sorted(all_names)
    find(page, "#code-filter").send_keys("RARE 24")
    assert names() == ["rare condition 24"]


@pytest.mark.parametrize("name", ["flat", "records"])
def test_the_heat_map_is_read_by_keyboard_and_painted(browse, name):
    page, case = browse(name)
    find(page, "#tab-heat").click()
    canvas = find(page, "#heat-canvas")
    first = next(node for node in case.summary["nodes"] if node["leaf"] is not None)
    canvas.send_keys(Keys.ARROW_RIGHT)
    text = find(page, "#heat-reading").text
    assert text.startswith(f"{first['leaf']} {plain(first['name'])}")
    assert case.summary["codes"]["name"][case.summary["heat"]["codes"][0]] in text
    assert ("patient-" in text) == (name == "records")
    canvas.send_keys(Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    assert find(page, "#heat-reading").text != text
    colors = page.execute_script(
        "const c = arguments[0], p = c.getContext('2d');"
        "const d = p.getImageData(0, 0, c.width, c.height).data, seen = new Set();"
        "for (let i = 0; i < d.length; i += 404) seen.add(d.slice(i, i + 3).join());"
        "return seen.size",
        canvas,
    )
    assert colors >= 6


@pytest.mark.parametrize("name", ["flat", "tree-exact"])
def test_outcomes_by_group(browse, name):
    page, case = browse(name)
    find(page, "#tab-table").click()
    found = case.summary["outcomes"]
    sizes, cell = (
        np.array(case.summary["groups"]["estimated"], dtype=float),
        case.summary["min_cell"],
    )
    rows = find_all(page, "#outcome-table tbody tr:not(.of)")
    wanted = [(entry, at) for entry in found for at in range(len(entry["classes"]))]
    assert len(rows) == len(wanted)
    for row, (entry, at) in zip(rows, wanted, strict=True):
        one = entry["classes"][at]
        assert row.find_element(By.TAG_NAME, "th").text == (
            entry["name"] if entry["binary"] else one["name"]
        )
        cells = row.find_elements(By.TAG_NAME, "td")
        for td, leaves in zip(cells, [[0, 1, 2, 3], [0], [1], [2], [3]], strict=True):
            if len(leaves) == 1 and one["counts"][leaves[0]] == -1:
                assert td.text == f"<{cell}"
                continue
            rate, guessed = class_rate(entry, at, leaves, sizes, cell)
            text, range_ = td.text.split("\n")
            assert text == "≈ " * guessed + percent(rate)
            known = sizes[leaves].sum() - np.maximum(np.array(entry["missing"])[leaves], 0).sum()
            limits = wilson_interval(np.array([rate]), known, 0.95)[0]
            text = " – ".join(whole_percent(limit).removesuffix(" %") for limit in limits[:1])
            assert range_ == f"{text} – {whole_percent(limits[1])}"


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
    driver.get(write_html(summary, tmp_path / "page.html").as_uri())
    find(driver, "#tab-table").click()
    cells = when_drawn(driver, "#outcome-table tbody td")
    assert [cell.text for cell in cells[2:4]] == ["hidden", "<5"]
    assert cells[2].get_attribute("title").startswith("hidden: ")
    sizes = np.array(summary["groups"]["estimated"])
    rate, guessed = class_rate(summary["outcomes"][0], 0, range(4), sizes, 5)
    assert guessed
    assert cells[0].text.splitlines()[0] == f"≈ {percent(rate)}"


def test_few_codes_are_noted(browse):
    page, case = browse("flat")
    few = case.summary["few_codes"]
    held = np.sort((case.X == 1).sum(axis=1))
    assert few == held[(len(held) - 1) // 4]
    find(page, "#tab-assign").click()
    for i in range(few):
        hints = find_all(page, "#assigned .few")
        assert [f" {few} codes" in hint.text for hint in hints] == [True] * (i > 0)
        find(page, "#code-query").send_keys(case.records.codes[i], Keys.ENTER)
    assert not find_all(page, "#assigned .few")


def test_the_table_sorts_by_every_column(browse):
    page, case = browse("tree")
    find(page, "#tab-table").click()
    keys = attributes(page, "#table > .scroll thead th", "data-key")
    assert {"share_low", "recurrence", "outcome-0"} < set(keys)
    find_all(page, "#table > .scroll thead button")[keys.index("recurrence")].click()
    order = [int(node) for node in attributes(page, "#table > .scroll tbody tr", "data-node")]
    leaf_of = {node["id"]: node["leaf"] for node in case.summary["nodes"]}
    assert [leaf_of[i] for i in order][:4] == [0, 1, 2, 3]


@pytest.mark.parametrize("name", ["light", "dark"])
def test_text_has_enough_contrast(browse, name):
    page, _ = browse("tree")
    with emulated(page, **scheme(name)):
        page.execute_script("document.getElementById('made').open = true")
        for node in (0, 1, 2):
            row_of(page, node).click()
            assert page.execute_script(CONTRAST) == []
        type_codes(page, "100")
        for tab in ("assign", "heat", "leaves", "table"):
            find(page, f"#tab-{tab}").click()
            assert page.execute_script(CONTRAST) == []


@pytest.mark.parametrize("width", [400, 1000])
def test_nothing_overflows_sideways(browse, width):
    page, _ = browse("tree")
    with width_of(page, width):
        row_of(page, 2).click()
        type_codes(page, "100")
        for tab in ("explore", "leaves", "heat", "codes", "assign", "table"):
            page.execute_script(f"document.getElementById('tab-{tab}').click()")
            assert not overflows(page), tab


def test_no_request_leaves_the_page(browse):
    page, case = browse("flat")
    type_codes(page, "100")
    assert requested(page) == {case.address}


@pytest.mark.parametrize("kind", CASES)
def test_hostile_text_does_nothing(driver, kind, tmp_path):
    summary = attacked(kind)
    driver.get(write_html(summary, tmp_path / "report.html").as_uri())
    driver.get_log("browser")
    for node in summary["nodes"]:
        row_of(driver, node["id"]).click()
    type_codes(driver, summary["codes"]["code"][0])
    for tab in ("codes", "heat", "assign", "table"):
        find(driver, f"#tab-{tab}").click()
    assert driver.title.startswith("</script>")
    assert find_all(driver, "main img, main svg[onload]") == []
    assert [e["message"] for e in driver.get_log("browser")] == []
