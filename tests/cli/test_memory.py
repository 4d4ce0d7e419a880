"""The command in bounded memory: same results, continued after any interruption."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

from momentree import ClusterTree, TopicTree, report
from momentree.backends import sources
from momentree.cli import stored as bounded
from momentree.exceptions import MomentreeError
from momentree.readers.measurements import sample as measurements
from momentree.readers.stored import corpus as stages
from momentree.readers.stored import counts
from momentree.readers.tables import grid as tables

from .conftest import clean_environment, invoke, make_documents, words

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("memory") / "documents.jsonl"
    documents = make_documents(200)
    documents[3]["body"] = " ".join(row["body"] for row in documents[4:150])  # is cut
    path.write_text("".join(json.dumps(row) + "\n" for row in documents), encoding="utf-8")
    return path


def arguments(source, folder, *more):
    return [
        *("topics", source, "--id-column", "key", "--label-column", "theme", "-k", "4"),
        *("--csv", folder / "t.csv", "--json", folder / "t.json", "--save", folder / "t.mt", *more),
    ]


def rows_of(folder):
    with (folder / "t.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("flat", [False, True])
def test_results_are_those_in_memory(tmp_path, source, flat, monkeypatch):
    monkeypatch.setattr(stages, "BATCH_BYTES", 3_000)
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    how = ["--flat", "-k", "4"] if flat else []

    def run(folder, *more):
        given = arguments(source, folder, *how, *more)
        if flat:
            del given[given.index("-k") : given.index("-k") + 2]
        done = invoke(*given)
        assert done.exit_code == 0, done.stderr
        return json.loads((folder / "t.json").read_text(encoding="utf-8"))

    stored, whole = run(one, "--memory", "1GB"), run(other)
    for row, expected in zip(rows_of(one), rows_of(other), strict=True):
        assert row == expected
    for content in (stored, whole):
        content["made"]["notes"] = content["made"]["versions"] = None
    assert stored == whole
    assert sorted(os.listdir(one)) == ["t.csv", "t.json", "t.mt"]  # nothing is left behind


def test_a_report_of_a_sample_has_the_numbers_of_all(tmp_path, source, monkeypatch):
    monkeypatch.setattr(bounded, "SHOWN", 50)
    given = arguments(source, tmp_path, "--memory", "1GB", "--passages", "none")
    done = invoke(*given, "-o", tmp_path / "t.html")
    assert done.exit_code == 0, done.stderr
    assert "200 documents" in done.stdout
    content = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    assert content["n_documents"] == 200
    assert words("report_of_sample", n_rows=50, n_all=200) in (tmp_path / "t.html").read_text(
        encoding="utf-8"
    )


def test_a_search_beyond_memory_is_left_out(tmp_path, source, monkeypatch):
    monkeypatch.setattr(bounded, "BYTES_OF_SEARCH", 10**9)
    done = invoke(*arguments(source, tmp_path, "--memory", "1GB"))
    assert done.exit_code == 0, done.stderr
    assert "a search in all documents would exceed --memory" in done.stderr


# Is killed in the fit, when it has read all documents ten times.
KILLED = """
import os, signal
from momentree.backends import answers, sources
from momentree.cli import main

def kill(self):
    os.kill(os.getpid(), signal.SIGKILL)

sources.SORTED_NNZ = 0
answers.np.save = lambda file, answer, save=answers.np.save: (
    kill(file) if "000010-" in file.name else save(file, answer)
)
main()
"""


@pytest.mark.long
@posix
def test_a_killed_run_is_continued(tmp_path, source, monkeypatch):
    given = list(map(str, arguments(source, tmp_path, "--memory", "1GB", "--search", "none")))
    work = tmp_path / "t.work"
    command = [sys.executable, "-c", KILLED, *given]
    killed = subprocess.run(command, env=clean_environment(), capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert not (tmp_path / "t.csv").exists()

    again = invoke(*given)
    assert again.exit_code == 2
    assert f"the folder {work} has unfinished work" in again.stderr
    assert "continue with --resume" in again.stderr

    changed = invoke(*given, "--resume", "--refine", "none")
    assert changed.exit_code == 2
    assert "--refine was 'em'" in changed.stderr

    monkeypatch.setattr(sources, "SORTED_NNZ", 0)
    done = invoke(*given, "--resume", "--verbose")
    assert done.exit_code == 0, done.stderr
    assert "continuing after 9 passes of an earlier run" in done.stderr
    continued = {name: (tmp_path / name).read_bytes() for name in ("t.csv", "t.mt")}
    assert not work.exists()
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]
    assert invoke(*given).exit_code == 0
    assert continued == {name: (tmp_path / name).read_bytes() for name in continued}


@pytest.mark.parametrize(
    ("place", "name", "done"),
    [(stages.Stages, "choose", (stages.Stages, "read")), (report, "summarize", (TopicTree, "fit"))],
)
def test_an_interrupted_run_says_how_to_continue(tmp_path, source, monkeypatch, place, name, done):
    given = arguments(source, tmp_path, "--memory", "1GB")

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(place, name, interrupted)
        stopped = invoke(*given)
    assert stopped.exit_code == 130
    assert f"kept in {tmp_path / 't.work'}; add --resume to continue" in stopped.stderr
    monkeypatch.setattr(*done, interrupted)  # is not repeated
    assert invoke(*given, "--resume").exit_code == 0


def test_a_damaged_folder_is_left_to_the_user(tmp_path, source, monkeypatch):
    given = arguments(source, tmp_path, "--memory", "1GB")
    work = tmp_path / "t.work"

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(report, "summarize", interrupted)
        assert invoke(*given).exit_code == 130
    for name in ("run.json", "1-texts/labels.npy", "3-counts/indices.npy", "5-fit/model.mt"):
        content = (work / name).read_bytes()
        (work / name).write_bytes(content[:-1])
        done = invoke(*given, "--resume")
        assert done.exit_code == 2
        named = name if name.startswith(("run", "1", "5")) else "3-counts"
        assert done.stderr.endswith(f"{words('work_damaged', path=work, name=named)}\n")
        (work / name).write_bytes(content)
    assert invoke(*given, "--resume").exit_code == 0


def test_an_error_in_the_input_keeps_nothing(tmp_path, source):
    done = invoke(*arguments(source, tmp_path, "--memory", "1GB", "--min-df", "1000"))
    assert done.exit_code == 2
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--resume"], "--resume has no effect without --memory; add --memory"),
        (["--memory", "1GB", "--phrases"], "--phrases cannot be used with --memory"),
        (["--memory", "1GB", "-k", "auto"], "--memory does not allow --groups auto"),
        (["--memory", "10MB"], "10MB is too little; expected at least --memory 600MB"),
        (["--memory", "much"], "--memory much is not an amount of memory"),
    ],
)
def test_options_that_do_not_fit_are_refused(tmp_path, source, more, said):
    done = invoke(*arguments(source, tmp_path, *more))
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert said in done.stderr
    assert os.listdir(tmp_path) == []


@pytest.fixture
def codes(tmp_path):
    """A table of codes of 300 records."""
    rng = np.random.default_rng(0)
    lines = ["visit_id,icd"]
    for i in range(300):
        likely = 4 * (i % 3) + rng.choice(4, size=rng.integers(1, 4), replace=False)
        lines += [f"v{i},D{j}" for j in [*likely, *rng.choice(12, size=i % 2)]]
    path = tmp_path / "codes.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "how", [[], pytest.param(["--flat", "--min-codes", "3"], marks=pytest.mark.long)]
)
def test_groups_are_those_in_memory(tmp_path, codes, how, monkeypatch):
    monkeypatch.setattr(counts, "BLOCK_VALUES", 100)
    found = []
    for more in ([], ["--memory", "1GB"]):
        outputs = ["--csv", tmp_path / "g.csv", "--save", tmp_path / "g.mt"]
        done = invoke("clusters", codes, *how, *outputs, *more)
        assert done.exit_code == 0, done.stderr
        found.append([(tmp_path / name).read_bytes() for name in ("g.csv", "g.mt")])
        assert len(os.listdir(tmp_path)) == 3
    assert found[0] == found[1]


def test_groups_are_found_after_an_interruption(tmp_path, codes, monkeypatch):
    given = ["clusters", codes, "-k", 3, "--csv", tmp_path / "g.csv", "--memory", "1GB"]

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(report, "summarize_records", interrupted)
        stopped = invoke(*given)
    assert stopped.exit_code == 130
    assert "add --resume to continue" in stopped.stderr
    monkeypatch.setattr(ClusterTree, "fit", interrupted)  # is not repeated
    assert invoke(*given, "--resume").exit_code == 0
    assert sorted(os.listdir(tmp_path)) == ["codes.csv", "g.csv"]


def test_finished_steps_are_kept_if_temporary_files_have_no_room(tmp_path, codes, monkeypatch):
    given = ["clusters", codes, "-k", 3, "--csv", tmp_path / "g.csv", "--memory", "1GB"]

    def full(*_, **__):
        raise MomentreeError("[no_scratch]", path="/tmp", needed=1.0, reason="full")

    with monkeypatch.context() as patch:
        patch.setattr(ClusterTree, "fit", full)
        stopped = invoke(*given)
    assert stopped.exit_code == 2
    assert "add --resume to continue" in stopped.stderr
    assert invoke(*given, "--resume").exit_code == 0


def test_a_folder_is_not_read_with_its_unfinished_work(tmp_path, monkeypatch):
    for i in range(30):
        (tmp_path / f"{i}.txt").write_text(f"sea boat sail {i % 3}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    done = invoke("topics", ".", "--memory", "1GB", "--csv", "t.csv")
    assert done.exit_code == 2
    assert "t.work would be inside the input" in done.stderr
    assert len(os.listdir(tmp_path)) == 30


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--outcome", "icd"], "--outcome cannot be used with --memory"),
        (["--stability"], "--stability cannot be used with --memory"),
    ],
)
def test_options_that_need_all_records_are_refused(codes, more, said):
    done = invoke("clusters", codes, "--memory", "1GB", *more)
    assert done.exit_code == 2
    assert said in done.stderr


@pytest.fixture(params=["numbers", pytest.param("mixed", marks=pytest.mark.long)])
def measured(request, tmp_path):
    """A table of measurements of 240 records."""
    rng = np.random.default_rng(0)
    lines = ["id,hb,age,ward,died"] if request.param == "mixed" else ["id,hb,age,died"]
    for i in range(240):
        hb, age = rng.normal([9, 14, 13][i % 3], 0.6), rng.normal([70, 45, 25][i % 3], 4)
        ward = f"{['renal', 'icu', 'none'][rng.integers(3)]}," if request.param == "mixed" else ""
        lines.append(f"p{i},{hb:.2f},{age:.1f},{ward}{['yes', 'no'][i % 2]}")
    path = tmp_path / "patients.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_groups_of_measurements_that_fit_are_those_in_memory(tmp_path, measured):
    found = []
    for more in ([], ["--memory", "1GB"]):
        names = ("g.csv", "g.json", "g.mt", "one.csv")
        outputs = ["--csv", "--json", "--save", "--table-one"]
        files = [
            part
            for pair in zip(outputs, map(tmp_path.joinpath, names), strict=True)
            for part in pair
        ]
        done = invoke("clusters", measured, "-k", 3, "--outcome", "died", *files, *more)
        assert done.exit_code == 0, done.stderr
        found.append([(tmp_path / name).read_bytes() for name in names])
        content = json.loads(found[-1].pop(1))
        del content["made"]
        found[-1].append(content)
        assert len(os.listdir(tmp_path)) == 5
    assert found[0] == found[1]


def test_measurements_beyond_memory_are_assigned_by_groups_of_a_sample(
    tmp_path, measured, monkeypatch
):
    monkeypatch.setattr(measurements, "BYTES_PER_CELL", 5 * 10**5)
    lines = measured.read_text(encoding="utf-8").splitlines()
    lines[1] = ",".join(["p0", "", *lines[1].split(",")[2:]])
    lines[2] = ",".join(["p1", *["" for _ in lines[2].split(",")[2:]], "no"])
    measured.write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.setattr(tables, "PART_ROWS", 20)
    given = ["--outcome", "died", "--csv", tmp_path / "g.csv", "--memory", "1GB"]
    done = invoke("clusters", measured, "-k", 3, *given)
    assert done.exit_code == 0, done.stderr
    assert "the table has 240 records, more than --memory allows" in done.stderr
    with (tmp_path / "g.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == [f"p{i}" for i in range(240)]
    assert 20 <= sum(row["fitted"] == "yes" for row in rows) <= 120
    assert (rows[1]["group"], rows[1]["reason"]) == ("", "no known value")
    groups = [Counter(row["group"] for row in rows[i::3]).most_common(1)[0] for i in range(3)]
    assert len({group for group, _ in groups}) == 3  # those of the table
    assert min(times for _, times in groups) > 0.9 * 80


def test_a_sample_of_measurements_is_read_once(tmp_path, measured, monkeypatch):
    given = ["clusters", measured, "-k", 3, "--csv", tmp_path / "g.csv", "--memory", "1GB"]

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(report, "summarize_measurements", interrupted)
        stopped = invoke(*given)
    assert stopped.exit_code == 130
    assert "add --resume to continue" in stopped.stderr
    changed = invoke(*given, "--resume", "--missing", "9")
    assert changed.exit_code == 2
    assert "--missing was []" in changed.stderr
    monkeypatch.setattr(measurements, "write_table", interrupted)
    done = invoke(*given, "--resume")
    assert done.exit_code == 0, done.stderr
    assert sorted(os.listdir(tmp_path)) == ["g.csv", "patients.csv"]


def test_other_tables_of_measurements_are_not_joined_in_bounded_memory(measured):
    done = invoke("clusters", measured, "--join", measured, "--memory", "1GB")
    assert done.exit_code == 2
    assert "--join cannot be used with --memory" in done.stderr
