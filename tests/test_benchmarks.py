"""The benchmarks run on tiny inputs; their measurements are not tested."""

from __future__ import annotations

import importlib
import subprocess
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

from momentree import ClusterTree, TopicTree
from momentree.datasets import (
    make_bernoulli_mixture,
    make_hmm,
    make_patient_records,
    make_single_topic,
)

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
    """The same as a labeled corpus."""
    return benchmark("_common").Labeled("tiny", tiny.X, tiny.labels, 2)


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


@pytest.mark.long
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
    models = {"tree": TopicTree(3, refine=None)}
    rows = benchmark("speed_tree").measure(tiny.X, tiny.labels, models, repeats=1)
    assert [row[0] for row in rows] == ["one product X @ v", "tree"]


def test_gaussian_mixtures(benchmark):
    X, y = np.random.default_rng(0).standard_normal((60, 3)), np.repeat([0, 1, 2], 20)
    X[np.arange(60), y] += 9.0
    row = benchmark("gaussian_mixtures").measure(("groups", X, y), "diag", n_init=1)
    assert row[0] == "groups"
    assert float(row[5]) == 1.0


@pytest.mark.long
def test_many_gaussian_groups(benchmark):
    module = benchmark("gaussian_mixtures")
    X = module.spheres(200, 5, 3, 20.0, seed=0)
    assert abs(module.gain_over_starts(X, 3, "spherical", starts=2)) < 1e-3
    assert [row[0] for row in module.many_groups(range(1), n=150, starts=1)][:2] == ["10 x 50"] * 2


@pytest.mark.long
def test_memory(benchmark, tiny, monkeypatch, capsys):
    """Both modes of measurement, in this process instead of a new one each."""
    module = benchmark("memory_tree")

    def run(command, **options):
        monkeypatch.setattr("sys.argv", command[1:])
        module.main()
        return SimpleNamespace(stdout=capsys.readouterr().out)

    monkeypatch.setattr(subprocess, "run", run)
    size, traced, resident = module.measure(tiny.X, "uint8", {})  # the type compiled elsewhere
    assert size * 2**20 == tiny.X.nnz * 5 + tiny.X.indptr.nbytes
    assert traced > 1
    assert resident >= 0


@pytest.mark.long
def test_against_lda(benchmark, tiny):
    rows = benchmark("against_lda").measure(tiny.X, tiny.labels, leaves=3, repeats=1)
    assert len(rows) == 3


def test_hierarchies(benchmark, tiny):
    module = benchmark("hierarchies")
    corpus = module.Leveled("tiny", tiny.X, tiny.labels == 0, tiny.labels)
    for method in module.METHODS.values():
        *scores, seconds = module.measure(corpus.sample(50, 0), method)
        assert all(0 < score <= 1 for score in scores)
        assert seconds > 0


@pytest.mark.long
def test_table51(benchmark):
    module = benchmark("hierarchical_table51")
    rows = module.measure(module.samples_of_equal_weights(1))
    assert float(rows[0][1].split()[0]) > 0.97
    (sample,) = module.samples_of_random_weights(1)
    assert np.bincount(sample.labels, minlength=8).min() >= module.LEAST


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
    assert [row[2] for row in rows] == ["best of 3 random", "tree", "moments"]
    # The same three topics from every start: the gain in the fifth column is small.
    assert all(abs(float(row[4].split(" ")[0])) < 5 for row in rows[1:])


@pytest.mark.long
def test_few_records(benchmark, monkeypatch, tmp_path, capsys):
    module = benchmark("random_starts")
    monkeypatch.setattr(module, "DATA", tmp_path)
    rows = module.few(range(2), 2)
    assert [row[:2] for row in rows] == [
        ["made up", "BernoulliMixture"],
        ["made up", "MixedMixture"],
    ]
    assert all(float(row[3]) > -1 for row in rows)
    assert "skipped" in capsys.readouterr().out


def test_few_real_records(benchmark, shared_data):
    for seed in (0, 1):
        X, k = benchmark("random_starts").few_real(seed)
        assert 80 <= X.shape[0] <= 200
        assert set(X.data) == {1.0}
        assert 3 <= k <= 7


def test_speed_of_flat_topics(benchmark):
    rows = benchmark("speed_flat").growth(200, 60, [2, 4])
    assert [(row[0], row[3]) for row in rows] == [("2", "2"), ("4", "4")]


def test_shuffle(benchmark, tiny):
    assert benchmark("shuffle").differing(tiny.X, 3, 2, seeds=2) == [0, 0, 0]


@pytest.mark.long
def test_accuracy_measures_every_method(benchmark, corpus):
    module = benchmark("accuracy_labels")
    scores = module.measure([corpus], list(module.METHODS), n_subsamples=2)
    assert scores[module.DEFAULT]["tiny"].nmi > 0.9
    for what in ("nmi", "ari", "seconds"):
        assert len(module.whole_table(scores, what).splitlines()) == len(module.METHODS) + 2
    lines = module.subsample_table(scores).splitlines()
    assert len(lines) == len(module.METHODS) + 2 - len(module.SLOW)


@pytest.mark.long
def test_topics_of_short_documents_with_and_without_a_limit(benchmark, monkeypatch, tiny):
    module = benchmark("short_documents")
    monkeypatch.setitem(module.SETS, "tiny", lambda _: (sp.csr_array(tiny.X), tiny.labels))
    [row] = module.rows(["tiny"], 2)
    assert row[2:4] == ("100%", "100%")


def test_random_mixture_finds_unlike_topics(benchmark, tiny):
    labels = benchmark("_peers").random_mixture(sp.csr_array(tiny.X), 3)
    pairs = set(zip(labels.tolist(), tiny.labels.tolist(), strict=True))
    assert len(pairs) == 3


@pytest.mark.parametrize(
    ("page", "sources"),
    [
        ("choices.md", ("accuracy_labels", "records_*")),
        ("benchmarks.md", ("against_lda", "hierarch*", "records_*")),
    ],
)
def test_pages_name_only_what_is_measured(page, sources):
    """Every method in a table of the docs is one that a benchmark has."""
    files = [file for name in sources for file in FOLDER.glob(f"{name}.py")]
    source = "".join(file.read_text(encoding="utf-8") for file in files)
    lines = (REPOSITORY / "docs" / page).read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith(("| tree,", "| mixture,", "| one split,"))]
    assert rows
    names = {row.split("|")[1].strip() for row in rows} - {"tree, 20 leaves"}  # of a number
    assert sorted(name for name in names if name not in source) == []


# --- records ------------------------------------------------------------------------------------


@pytest.fixture
def blocks():
    """Three groups of 40 records, each with most of eight codes of its own."""
    means = np.kron(np.eye(3), np.full(8, 0.8)) + 0.02
    return make_bernoulli_mixture(
        120, 24, 3, weights=np.full(3, 1 / 3), means=means, random_state=0
    )


@pytest.fixture
def patients(benchmark):
    """Made-up patients with an outcome that one group has and another that none has more often."""
    module = benchmark("records_stability")
    sample = make_patient_records(400, 40, 4, 6, random_state=0)
    outcomes = {
        "days": np.where(sample.labels == 0, 9.0, 2.0),
        "coin": np.random.default_rng(0).integers(0, 2, 400).astype(float),
    }
    questions = (module.Question("long", "days", 7), module.Question("coin", "coin"))
    return module.Data("made up", sample.X.astype(float), outcomes, questions)


def test_principal_directions_are_those_of_dense_rows(benchmark):
    scores = benchmark("_peers")._principal_scores
    for shape in ((30, 5), (2, 7), (9, 2), (40, 60)):
        X = (np.random.default_rng(0).random(shape) < 0.4).astype(float)
        centered = X - X.mean(axis=0)
        expected = centered @ np.linalg.svd(centered)[2][0]
        np.testing.assert_allclose(abs(scores(sp.csr_array(X))), abs(expected), atol=1e-9)


def test_principal_direction_divisive_partitioning(benchmark, blocks):
    pddp = benchmark("_peers").PDDP
    # A cut at the mean may part single records from their group.
    assert adjusted_rand_score(blocks.labels, pddp(3).fit(blocks.X).labels_) > 0.95
    assert set(pddp(3).fit(np.ones((20, 4))).labels_) == {0}  # equal rows cannot be split


@pytest.mark.parametrize("name", ["kmeans", "pca_kmeans", "spectral_linear", "random_bernoulli"])
def test_peers_of_records_find_clear_groups(benchmark, blocks, name):
    labels = getattr(benchmark("_peers"), name)(blocks.X, 3)
    assert adjusted_rand_score(blocks.labels, labels) > 0.9


def test_true_parameters_separate_clear_groups(benchmark, blocks):
    labels = benchmark("_peers").true_parameters(blocks.X, blocks.weights, blocks.means)
    assert np.mean(labels == blocks.labels) > 0.98


def test_most_frequent_codes_and_records_with_enough_of_them(benchmark, tmp_path, monkeypatch):
    common = benchmark("_common")
    monkeypatch.setattr(common, "DATA", tmp_path)
    (tmp_path / "visits.csv").write_text("id,codes,died\n1,a;b;c,0\n2,a;b,1\n3,c,0\n4,d;a;c,1\n")
    X, outcomes = common.binary_records("visits.csv", 3, 2, outcome_columns="died")
    assert X.toarray().tolist() == [[1, 1, 1], [1, 1, 0], [1, 0, 1]]
    assert outcomes["died"].tolist() == [0, 1, 1]


def test_missing_records_are_skipped_with_a_reason(benchmark, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(benchmark("_common"), "DATA", tmp_path)
    module = benchmark("records_stability")
    assert [load() for load in module.SOURCES.values()] == [None, None]
    out = capsys.readouterr().out
    assert "diabetes130/encounters.csv.gz: skipped" in out
    assert "vermont_icd9/vermont_dx.csv.gz: skipped" in out


def test_records_to_measure_stability_on(benchmark, shared_data):
    data = benchmark("records_stability").vermont()
    assert data.X.shape[1] == 222
    assert (np.diff(data.X.indptr) >= 3).all()
    assert len(data.outcomes["death"]) == data.X.shape[0] > 850


@pytest.mark.long
def test_stability(benchmark, patients):
    module = benchmark("records_stability")
    names = ["mixture, defaults", "tree, refine=None", "PDDP", "k-means"]
    rows = module.measure(patients, names, k=4, repeats=1, timings=1)
    assert [row[0] for row in rows] == names
    header = module.header(patients)
    assert {len(row) for row in rows} == {len(header)}
    assert header[2].startswith("long, constant 0.")
    # The groups of a good method predict an outcome that depends on them, but not a coin toss.
    long, coin = (float(cell.split("(")[1].rstrip(")")) for cell in rows[0][2:4])
    assert long > 0.8
    assert coin < 0.62


@pytest.mark.long
def test_every_method_groups_patients(benchmark, patients):
    module = benchmark("records_stability")
    for make in module.METHODS.values():
        labels, seconds = module.fitted(make, 4, patients.X[:100])
        assert len(labels) == 100
        assert set(labels) <= {0, 1, 2, 3}
        assert seconds > 0


def test_stability_over_depths(benchmark, patients):
    module = benchmark("records_stability")
    stable, power = module.over_depths(patients, ["tree, refine=None", "PDDP"], [1, 2], 1)
    assert [row[0] for row in stable] == [row[0] for row in power] == ["tree, refine=None", "PDDP"]
    assert all(0.3 <= float(cell) <= 1 for row in power for cell in row[1:])


@pytest.mark.long
def test_synthetic_records(benchmark):
    module = benchmark("records_synthetic")
    scores = module.measure(150, 20, 2, equal=True, scaled_by="feature", n_seeds=2)
    assert set(scores) == {*module.METHODS, "true parameters"}
    assert np.mean(scores[module.OURS][0]) > 0.8
    table = module.rows([scores])
    assert [row[0] for row in table][-2:] == ["true parameters", "defaults minus the best peer"]
    left_out = module.measure(3_001, 4, 1, equal=False, scaled_by="all", n_seeds=1)
    assert set(scores) - set(left_out) == {"spectral, linear kernel"}
    assert "spectral, linear kernel" not in [row[0] for row in module.rows([left_out])]
    both = {row[0]: row[1:] for row in module.rows([scores, left_out])}
    assert both["spectral, linear kernel"][1] == ""


def test_groups_found_again_in_incomplete_records(benchmark):
    module = benchmark("incomplete_records")
    X = make_patient_records(300, 40, 3, 6, random_state=0).X
    case = module.Case("tiny", X, 3)
    for new in (False, True):
        rows = module.measure(case, 0.5, 2, new=new)
        assert [row[2] for row in rows] == list(module.rules_of(ClusterTree(3).fit(X)))
        found = {row[2]: float(row[3].split()[0]) for row in rows}
        assert found["incomplete"] > 0.5
    whole = module.measure(case, 0.0, 2, new=False)[0]  # by the posterior of the model
    assert float(whole[3]) == 1
    P, labels = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]]), np.array([0, 1, 1])
    assert module.calibration_error(P, labels) == pytest.approx((0.1 + 0.8 + 0.3) / 3)


@pytest.mark.long
def test_speed_and_memory_of_records(benchmark, tmp_path):
    module, parts = benchmark("records_speed"), benchmark("memory_tree").PARTS
    sample = make_patient_records(300, 40, 3, 6, random_state=0)
    rows = module.speed(sample, repeats=1)
    assert [row[0] for row in rows] == ["one product X @ v", *module.VARIANTS]
    for part in parts:
        np.save(tmp_path / f"{part}.npy", getattr(sample.X, part))
    found = module.child(str(tmp_path), *sample.X.shape, {"refine": None}, "tracemalloc")
    assert found["matrix"] == sum(getattr(sample.X, part).nbytes for part in parts)
    assert found["peak"] > found["matrix"]


@pytest.mark.long
def test_the_way_to_a_report(benchmark, shared_data, tmp_path):
    module = benchmark("records_speed")
    table = module.VERMONT / "vermont_dx.csv.gz"
    names = module.VERMONT / "icd9cm_hierarchy.csv.gz"
    times = module.parts(table, names, tmp_path)
    assert times["total"] == pytest.approx(sum(times.values()) / 2)
    assert (tmp_path / "report.html").stat().st_size > 100_000


@pytest.mark.long
def test_hidden_markov_models(benchmark):
    module = benchmark("hidden_markov")
    data = make_hmm(60, 12, 2, n_symbols=5, random_state=0)
    rows = module.measure(data, 2, 0, n_starts=1, n_iter=2)
    assert [row[0] for row in rows][:2] == ["ours", "truth"]
    assert {len(row) for row in rows} == {len(module.HEADER)}
    assert float(rows[0][2]) > float(rows[1][2]) - 1


@pytest.mark.long
def test_short_sequences(benchmark, monkeypatch):
    module = benchmark("hidden_markov")
    monkeypatch.setattr(module, "SHORT", ((2, 5, 40, 4),))
    ((*size, gain, _),) = module.short(range(1), n_starts=2)
    assert size == ["2", "5", "40", "4"]
    assert float(gain) > -1


def test_scale_stores_measures_and_projects(benchmark, tmp_path, monkeypatch):
    scale = benchmark("scale")
    monkeypatch.setattr(scale, "compiled", nullcontext)  # kernels of a type of its own
    size = scale.Size(n=40, d=30, length=12, k=2)
    stored = scale.store(size, tmp_path)
    X = sp.csr_array(tuple(np.load(tmp_path / f"{part}.npy") for part in scale.PARTS), (40, 30))
    assert X.nnz == stored
    np.testing.assert_array_equal(X.sum(axis=1), 12)
    fits = [scale.Fit("n", n, "tree", n, 1e-3 * n, 1e6 * n**0.5) for n in (1000, 4000)]
    row = scale.report(fits, "n").splitlines()[-1]
    assert [cell.strip() for cell in row.split("|")[-3:-1]] == ["1.00", "0.50"]
    assert f"{8e6 * 1e-3 / 60:,.1f} min" in scale.projection(fits)
    assert scale.predicted([(1000, 1.0), (2000, 3.0)], 4000) == pytest.approx(3.0 * 2**1.5)
    assert (
        scale.child(str(tmp_path), {"n": 40, "d": 30, "length": 12, "k": 2}, "tree")["seconds"] > 0
    )
