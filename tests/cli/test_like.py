"""``momentree topics --like``: numbers and names of an old model, and what changed since."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from .conftest import N_DOCUMENTS, make_documents, read_json, words, write_csv


def without(theme, path, seed):
    return write_csv(path, [row for row in make_documents(200, seed) if row["theme"] != theme])


@pytest.fixture(scope="module")
def months(tmp_path_factory):
    """January without music, February without the kitchen."""
    folder = tmp_path_factory.mktemp("months")
    return without("music", folder / "jan.csv", 1), without("kitchen", folder / "feb.csv", 2)


@pytest.mark.parametrize("memory", [(), pytest.param(("--memory", "1GB"), marks=pytest.mark.long)])
def test_flat_topics_keep_numbers_and_names(run, tmp_path, months, memory):
    old, new = tmp_path / "jan.mt", tmp_path / "feb"
    january = ("-k", 3, "--rename", "1=Old name", "--save", old)
    assert run("topics", months[0], "--flat", *january).exit_code == 0
    files = ("--csv", f"{new}.csv", "--json", f"{new}.json", "-o", f"{new}.html")
    label = ("--label-column", "theme")
    done = run("topics", months[1], "--flat", "--like", old, *files, *label, *memory)
    assert done.exit_code == 0, done.output
    assert "Compared with jan.mt: 2 stayed, 0 moved, 1 appeared, 1 vanished." in done.stdout
    changes = read_json(tmp_path / "feb.json")["changes"]
    assert changes["like"] == "jan.mt"
    status = {(group["old"], group["new"]): group["status"] for group in changes["groups"]}
    assert sorted(status.values()) == ["appeared", "stayed", "stayed", "vanished"]
    assert all(old == new for old, new in status if status[old, new] == "stayed")
    page = (tmp_path / "feb.html").read_text(encoding="utf-8")
    assert "Compared with jan.mt" in page
    with (tmp_path / "feb.csv").open(encoding="utf-8", newline="") as file:
        topics = {(row["topic"], row["name"], row["label"]) for row in csv.DictReader(file)}
    assert len(topics) == 3
    assert ("1", "Old name") in {topic[:2] for topic in topics}


def test_leaves_keep_names_and_say_their_old_numbers(run, tmp_path, months, model):
    options = ("--like", model, "--rename", "0=Mine", "--json", tmp_path / "a.json")
    done = run("topics", months[1], *options)
    assert done.exit_code == 0, done.output
    content = read_json(tmp_path / "a.json")
    assert content["n_leaves"] == 4  # as there
    groups = content["changes"]["groups"]
    assert {group["status"] for group in groups} >= {"stayed", "vanished"}
    pairs = [
        f"{group['new']} was {group['old']}"
        for group in groups
        if None not in (group["new"], group["old"]) and group["new"] != group["old"]
    ]
    said = words("leaves_renumbered", path=model.name, pairs=pairs)
    assert pairs
    assert said in " ".join(done.stdout.split())
    assert "0 Mine" in done.stdout


def test_embeddings(run, tmp_path, lasting_table, documents):
    themes = sorted({row["theme"] for row in documents})
    place = np.array([themes.index(row["theme"]) for row in documents])
    np.save(tmp_path / "v.npy", np.eye(8)[place] + 0.01 * np.arange(N_DOCUMENTS)[:, None] / 160)
    given = ("--embeddings", tmp_path / "v.npy")
    first = run("topics", lasting_table, *given, "-k", 4, "--save", tmp_path / "a.mt")
    assert first.exit_code == 0, first.output
    again = run("topics", lasting_table, *given, "--like", tmp_path / "a.mt")
    assert again.exit_code == 0, again.output
    assert "4 stayed, 0 moved, 0 appeared, 0 vanished" in again.stdout


def test_a_model_of_another_kind_is_refused(refuses, lasting_table, model):
    assert refuses("topics", lasting_table, "--like", model, "--flat").code == "like_other_kind"


def test_a_flat_model_names_its_options(run, refuses, tmp_path, lasting_table):
    lda = ("--flat", "--model", "lda", "-k", 4, "--save", tmp_path / "a.mt")
    assert run("topics", lasting_table, *lda).exit_code == 0
    line = refuses("topics", lasting_table, "--flat", "--like", tmp_path / "a.mt")
    assert "LatentDirichletAllocation, and the new model is a SingleTopicModel" in line
    assert "--flat, --model and --embeddings" in line
    again = run("topics", lasting_table, *lda[:3], "--like", tmp_path / "a.mt")
    assert again.exit_code == 0, again.output
    assert "4 stayed" in again.stdout
