"""The benchmarks run, on tiny input: what they measure is not tested here."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
import scipy.sparse as sp

from momentree.datasets import make_single_topic

from .conftest import REPOSITORY

FOLDER = REPOSITORY / "benchmarks"
QUESTIONS = sorted(path.stem for path in FOLDER.glob("[!_]*.py"))


@pytest.fixture
def benchmark(monkeypatch):
    """Import a benchmark by name, as if its folder were that of the running script."""
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module


@pytest.fixture
def tiny():
    """Sixty documents of three topics."""
    return make_single_topic(60, 40, 3, length=50, random_state=0)


@pytest.fixture
def corpus(benchmark, tiny):
    """The same as a labelled corpus."""
    return benchmark("_common").Labelled("tiny", tiny.X, tiny.labels, 2)


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_file_asks_a_question_and_explains_itself(benchmark, name, monkeypatch, capsys):
    module = benchmark(name)
    assert "?" in module.__doc__.splitlines()[0]
    monkeypatch.setattr("sys.argv", [name, "--help"])
    with pytest.raises(SystemExit) as stop:
        module.main()
    assert stop.value.code == 0
    assert module.__doc__.split()[0] in capsys.readouterr().out


def test_missing_corpus_is_skipped_with_a_reason(benchmark, monkeypatch, tmp_path, capsys):
    common = benchmark("_common")
    monkeypatch.setattr(common, "DATA", tmp_path)
    assert common.load_all(["BBC", "NIPS"]) == []
    out = capsys.readouterr().out
    assert "BBC: skipped, bbc_news/docs.jsonl.gz is not in" in out
    assert "NIPS: skipped, nips_1987_1999/X.npz is not in" in out


def test_every_corpus_loads_with_its_classes(benchmark, shared_data):
    common = benchmark("_common")
    corpus = common.load("Divina Commedia")
    assert corpus.X.shape[0] == 100
    assert corpus.n_classes == 3


def test_subsample_drops_words_that_are_gone(corpus):
    part = corpus.subsample(0.5, seed=1)
    assert part.X.shape[0] == len(part.target) == 30
    assert (part.X.sum(axis=0) > 0).all()
    assert set(np.unique(part.target)) == set(range(part.n_classes))


def test_interleaved_counts_every_round_but_the_first(benchmark):
    calls = []
    times = benchmark("_common").interleaved(
        {"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, repeats=2
    )
    assert "".join(calls) == "ababab"
    assert {name: len(t) for name, t in times.items()} == {"a": 2, "b": 2}


def test_mean_and_standard_error(benchmark):
    mean_se = benchmark("_common").mean_se
    assert mean_se([1.0, 2.0, 3.0]) == "2 +- 0.58"
    assert mean_se([1.5]) == "1.5"


def test_table_is_markdown(benchmark):
    text = benchmark("_common").table(("name", "n"), [("one", 1), ("two", 22)])
    assert text.splitlines() == [
        "| name | n  |",
        "|------|----|",
        "| one  | 1  |",
        "| two  | 22 |",
    ]


def test_speed(benchmark, tiny):
    rows = benchmark("speed_tree").measure(tiny.X, tiny.labels, repeats=1)
    assert [row[0] for row in rows][:2] == ["one product X @ v", "without refinement"]


@pytest.mark.parametrize("mode", ["tracemalloc", "resident"])
def test_memory(benchmark, tiny, tmp_path, mode):
    module = benchmark("memory_tree")
    for part in module.PARTS:
        np.save(tmp_path / f"{part}.npy", getattr(tiny.X, part))
    found = module.child(str(tmp_path), *tiny.X.shape, {}, mode)
    assert found["matrix"] == sum(getattr(tiny.X, part).nbytes for part in module.PARTS)
    if mode == "tracemalloc":
        assert found["peak"] > found["matrix"]


def test_memory_in_a_fresh_process(benchmark, tiny):
    size, traced, _ = benchmark("memory_tree").measure(tiny.X, "int32", {})
    assert size > 0
    assert traced > 1


def test_against_lda(benchmark, tiny):
    rows = benchmark("against_lda").measure(tiny.X, tiny.labels, leaves=3, repeats=1)
    assert len(rows) == 3


def test_table51(benchmark):
    rows = benchmark("hierarchical_table51").measure(n_seeds=2)
    assert float(rows[0][1].split()[0]) > 0.97


def test_moment_estimators(benchmark):
    module = benchmark("moment_estimators")
    found = module.measure((50, 200), n_seeds=2, d=6, k=2)
    assert found.shape == (2, 2, 4)
    assert (found > 0).all()
    # Errors that fall as c / sqrt(n) have the slope -1/2.
    exact = np.full((2, 4), 3.0) / np.sqrt([10, 1000])[:, None, None]
    np.testing.assert_allclose(module.slopes((10, 1000), exact), -0.5)
    assert [row[0] for row in module.rows((50, 200), found)] == ["50", "200", "slope"]


@pytest.mark.parametrize("model", ["topics", "poisson"])
def test_decompositions(benchmark, model):
    module = benchmark("decompositions")
    scores = module.measure(model, (300,), n_seeds=2, d=12, k=2)
    for what, more in (("error", 0), ("ari", 1), ("seconds", 0)):
        table = module.rows(scores, what, (300,))
        assert len(table) == len(module.METHODS) + more
    truth = np.eye(2, 3)
    assert module.frobenius(truth[::-1], truth) == 0
    assert module.frobenius(truth[:1], truth) == 1


def test_random_starts(benchmark, corpus):
    rows = benchmark("random_starts").compare(corpus, "log1p", 3)
    assert [row[2] for row in rows] == ["best of 3 random", "tree", "tfidf", "moments"]
    # The same three topics from every start: the gain in the fifth column is small.
    assert all(abs(float(row[4].split(" ")[0])) < 5 for row in rows[1:])


def test_speed_of_flat_topics(benchmark):
    rows = benchmark("speed_flat").growth(200, 60, [2, 4])
    assert [(row[0], row[3]) for row in rows] == [("2", "2"), ("4", "4")]


def test_shuffle(benchmark, tiny):
    assert benchmark("shuffle").differing(tiny.X, 3, 2, seeds=2) == [0, 0, 0]


def test_accuracy_measures_every_method(benchmark, corpus):
    module = benchmark("accuracy_labels")
    scores = module.measure([corpus], list(module.METHODS), n_subsamples=2)
    assert scores[module.DEFAULT]["tiny"].nmi > 0.9
    for what in ("nmi", "ari", "seconds"):
        assert len(module.whole_table(scores, what).splitlines()) == len(module.METHODS) + 2
    lines = module.subsample_table(scores).splitlines()
    assert len(lines) == len(module.METHODS) + 2 - len(module.SLOW)


def test_random_mixture_finds_unlike_topics(benchmark, tiny):
    labels = benchmark("_peers").random_mixture(sp.csr_array(tiny.X), 3)
    pairs = set(zip(labels.tolist(), tiny.labels.tolist(), strict=True))
    assert len(pairs) == 3


def test_choices_name_only_what_is_measured():
    """Every method in the table of the docs is one that the benchmark has."""
    source = (FOLDER / "accuracy_labels.py").read_text(encoding="utf-8")
    page = REPOSITORY / "docs" / "choices.md"
    rows = [line for line in page.read_text(encoding="utf-8").splitlines() if line[:7] == "| tree,"]
    assert rows
    assert [name for row in rows if (name := row.split("|")[1].strip()) not in source] == []
