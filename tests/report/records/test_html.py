"""The page of records as text: escaped, self-contained, small, and readable without scripts."""

from __future__ import annotations

import html
import json

import numpy as np
import pytest
import scipy.sparse as sp

from momentree.datasets import make_patient_records
from momentree.messages import Message
from momentree.report import render_html, summarize_records, write_html
from tests.wording import message

from ..pages import ALLOWED_SCRIPTS, ATTACKS, read
from .cases import Mixture, Records, flat_case, tree_case

CASES = {"flat": flat_case, "tree": tree_case}


def page_of(kind, **options):
    model, records = CASES[kind]()
    return render_html(summarize_records(model, records, **options))


def disclosed(reader):
    """What the page says that it shows of records and of small counts."""
    return [(a["data-records"], a["data-counts"]) for _, a in reader.tags if "data-records" in a]


def attacked(kind):
    """Put every attack into every place that takes text."""
    model, records = CASES[kind]()
    d = len(records.codes)
    turn = [ATTACKS[i % len(ATTACKS)] for i in range(len(records.ids))]
    records.names = {code: turn[j] for j, code in enumerate(records.codes)}
    records.codes = np.array([f"{turn[j]}{j}" for j in range(d)], dtype=object)
    records.names |= {code: turn[j] for j, code in enumerate(records.codes)}
    records.ids = np.array(turn, dtype=object)
    records.notes = [Message("{text}", text=attack) for attack in ATTACKS]
    records.outcomes = {
        ATTACKS[0]: records.outcomes["died"],
        ATTACKS[2]: np.array(turn, dtype=object),
    }
    return summarize_records(
        model,
        records,
        title=ATTACKS[0],
        include_records=True,
        made_with={ATTACKS[0]: ATTACKS[1]},
        quality={ATTACKS[1]: ATTACKS[2], "predictive_power": {ATTACKS[0]: {"accuracy": 0.5}}},
    )


@pytest.mark.parametrize("kind", CASES)
def test_hostile_text_stays_text(kind):
    page = render_html(attacked(kind))
    reader = read(page)
    page.encode("utf-8")
    assert len(reader.scripts) == ALLOWED_SCRIPTS
    assert not any(tag == "img" for tag, _ in reader.tags)
    assert [n for _, a in reader.tags for n in a if n[:2] == "on"] == []
    assert "\u2028" not in "".join(reader.scripts)
    assert "\x00" not in page
    assert "49" not in html.unescape(page).split("<title>")[1].split("</title>")[0]


@pytest.mark.parametrize("kind", CASES)
def test_the_page_is_self_contained_and_whole(kind):
    page = page_of(kind, quality={"stability": [0.9], "recurrence": [0.8] * 4})
    reader = read(page)
    for tag, attributes in reader.tags:
        for name in ("src", "href", "action", "data", "srcset", "poster"):
            target = attributes.get(name)
            assert target is None or target.startswith("#") or target == "data:,", (tag, target)
    assert "url(" not in page
    policy = next(a["content"] for _, a in reader.tags if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'")
    ids = [a["id"] for _, a in reader.tags if "id" in a]
    assert len(ids) == len(set(ids))
    links = {a["href"][1:] for t, a in reader.tags if t == "a" and a["href"].startswith("#")}
    assert links <= set(ids)
    for _, attributes in reader.tags:
        for name in ("aria-controls", "aria-labelledby", "aria-describedby", "for"):
            assert name not in attributes or attributes[name] in ids


@pytest.mark.parametrize("kind", CASES)
def test_the_page_reads_without_scripts(kind):
    model, records = CASES[kind]()
    summary = summarize_records(model, records, quality={"stability": [0.91]})
    reader = read(render_html(summary))
    text = " ".join(" ".join(reader.text).split())
    for node in summary["nodes"]:
        assert " ".join(node["name"].split()) in text
        assert node["size"] in text
        for j, rate in zip(node["top"][:10], node["top_rates"], strict=False):
            assert summary["codes"]["name"][j] in text
            assert f"{100 * rate:.0f}%" in text
    for note in records.notes:
        assert str(note) in text
    assert "0.91" in text
    assert "<5" in text
    assert disclosed(reader) == [("none", "suppressed")]


def test_a_page_with_records_is_marked():
    reader = read(page_of("flat", include_records=True, min_cell=1))
    assert disclosed(reader) == [("shown", "all")]


def test_a_page_contains_no_record():
    model, records = flat_case()
    page = render_html(summarize_records(model, records))
    assert not any(name in page for name in records.ids)


def test_data_survives_the_way_into_the_page_and_bytes_repeat(tmp_path):
    model, records = tree_case()
    summary = summarize_records(model, records)
    # The other parts are tables, which need no script.
    tables = {"table_one", "certainty", "corrected", "fits"}
    data = {key: value for key, value in summary.items() if key not in tables}
    assert json.loads(read(render_html(summary)).scripts[1]) == data
    first = write_html(summary, tmp_path / "a.html").read_bytes()
    again = summarize_records(*tree_case())
    assert write_html(again, tmp_path / "b.html").read_bytes() == first


def test_many_codes_and_groups_make_a_small_page():
    k = 16
    sample = make_patient_records(8000, 700, k, random_state=0)
    n, d = sample.X.shape
    codes = np.array([f"{j:03d}" for j in range(d)], dtype=object)
    records = Records(
        X=sp.csr_array(sample.X, dtype=float),
        codes=codes,
        names={code: f"a condition with a name of usual length, number {code}" for code in codes},
        ids=np.arange(n).astype(str).astype(object),
        enough=np.ones(n, dtype=bool),
        outcomes={"died": np.arange(n) % 9 == 0},
    )
    counts = np.array([records.X[sample.labels == j].sum(axis=0) for j in range(k)])
    sizes = np.bincount(sample.labels, minlength=k)
    means = (counts + 0.05) / (sizes[:, None] + 0.1)
    model = Mixture(sizes / n, means, sample.labels, codes)
    page = render_html(summarize_records(model, records))
    assert len(page.encode()) < 1_000_000


def test_notes_do_not_tell_readers_how_to_make_another_page():
    model, records = CASES["flat"]()
    records.notes = [
        message("shared_patients", n_records=60, n_patients=40, column="who", parameter="union_by"),
        message(
            "titles_used",
            n_codes=9,
            system="ICD",
            hint=message("titles_omitted", parameter="names", value="none"),
        ),
    ]
    notes = summarize_records(model, records, min_cell=1)["notes"]
    assert "who" in notes[0]
    assert "union_by" not in notes[0]
    assert notes[1] == str(message("titles_used", n_codes=9, system="ICD", hint=""))


def test_the_default_title_does_not_repeat_the_subject():
    model, records = CASES["flat"]()
    page = render_html(summarize_records(model, records))
    assert "<title>Groups of records</title>" in page
