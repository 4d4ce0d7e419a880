"""``momentree topics --flat``: every option does what its help says, and files are right."""

from __future__ import annotations

import csv
import logging
import re

import numpy as np
import pytest

from momentree import LatentDirichletAllocation, SingleTopicModel
from momentree.messages import Message

from .conftest import N_DOCUMENTS, THEMES, read_json, words, write_csv


def read_csv(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def json_of(run, tmp_path, *arguments):
    """Run with a JSON file and return its content."""
    path = tmp_path / "topics-of-options.json"
    result = run("topics", *arguments, "--flat", "--json", path)
    assert result.exit_code == 0, result.output
    return read_json(path)


@pytest.mark.parametrize("model", ["single-topic", "lda"])
def test_the_table_of_topics(run, lasting_table, model):
    options = ["--flat", "-k", 4, "--model", model, "--label-column", "theme"]
    result = run("topics", lasting_table, *options)
    assert result.exit_code == 0, result.output
    assert f"{N_DOCUMENTS} documents: 40 words, 4 topics" in result.stdout
    lines = [line for line in result.stdout.splitlines() if re.match(r"[0-3] \w", line)]
    assert len(lines) == 4
    for line in lines:
        words = re.findall(r"[a-z]{4,}", line)
        assert max(len(set(words) & set(t.split())) for t in THEMES.values()) >= 3
        assert "25.0%" in line or model == "lda"
        assert re.search(r"(\w+) 100%", line)
    assert "Agreement of topics and labels: NMI 1.000, ARI 1.000" in result.stdout


def test_all_outputs(run, table, tmp_path, documents):
    names = {"-o": "r.html", "--csv": "a.csv", "--json": "t.json", "--save": "m.mt"}
    options = [part for option, name in names.items() for part in (option, tmp_path / name)]
    options += ["--label-column", "theme", "--id-column", "key"]
    result = run("topics", table, "--flat", "-k", 4, *options)
    assert result.exit_code == 0, result.output
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([table.name, *names.values()])
    for name in names.values():
        assert name in result.stdout.replace("\n", "")

    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert 'id="tab-proportions"' in page

    rows = read_csv(tmp_path / "a.csv")
    columns = [f"topic_{j}" for j in range(4)]
    assert list(rows[0]) == ["id", "label", "topic", "name", "probability", *columns]
    assert [row["id"] for row in rows] == [d["key"] for d in documents]
    assert [row["label"] for row in rows] == [d["theme"] for d in documents]
    names = {
        str(topic["topic"]): topic["name"] for topic in read_json(tmp_path / "t.json")["topics"]
    }
    for row in rows:
        assert row["name"] == names[row["topic"]]
        values = [float(row[name]) for name in columns]
        assert sum(values) == pytest.approx(1.0, abs=1e-5)
        assert values[int(row["topic"])] == float(row["probability"]) == max(values)

    content = read_json(tmp_path / "t.json")
    assert content["format"] == "momentree.topics"
    assert (content["n_topics"], content["n_documents"]) == (4, N_DOCUMENTS)
    for kind in ("weight", "share"):
        assert sum(topic[kind] for topic in content["topics"]) == pytest.approx(1, abs=1e-5)
    assert sum(topic["n_documents"] for topic in content["topics"]) == N_DOCUMENTS
    assert content["agreement"]["nmi"] == 1
    assert content["made"]["parameters"]["estimator"] == "SingleTopicModel"
    assert content["diagnostics"]["words"]
    assert content["choice"] is None

    model = SingleTopicModel.load(tmp_path / "m.mt")
    column = {word: j for j, word in enumerate(model.vocabulary_)}
    for topic in content["topics"]:
        j = topic["topic"]
        assert topic["weight"] == pytest.approx(model.weights_[j], rel=1e-5)
        assert [word["word"] for word in topic["words"]] == model.top_words(20)[j]
        for word in topic["words"]:
            exact = model.components_[j, column[word["word"]]]
            assert word["probability"] == pytest.approx(exact, rel=1e-5)


@pytest.mark.parametrize("model", ["single-topic", "lda"])
def test_a_saved_model_assigns_as_it_did(run, lasting_table, tmp_path, model):
    first, second, saved = (tmp_path / name for name in ("first.csv", "second.csv", "m.mt"))
    options = ["--flat", "-k", 4, "--model", model, "--id-column", "key"]
    run("topics", lasting_table, *options, "--save", saved, "--csv", first)
    result = run("assign", saved, lasting_table, "--id-column", "key", "--csv", second)
    assert result.exit_code == 0, result.output
    assert "160 documents to 4 topics" in result.stdout
    assert first.read_text() == second.read_text()
    kind = SingleTopicModel if model == "single-topic" else LatentDirichletAllocation
    assert kind.load(saved).n_components == 4


def test_documents_without_known_words_are_not_assigned(run, lasting_table, tmp_path):
    run("topics", lasting_table, "--flat", "-k", 4, "--save", tmp_path / "m.mt")
    path = tmp_path / "t.csv"
    path.write_text("text,n\nxyzzy plugh,1\nboat sail boat harbour,2\n")
    result = run("assign", tmp_path / "m.mt", path)
    assert words("no_known_words", n_records=1, n_all=2) in result.stderr
    rows = [*csv.reader(result.stdout.splitlines()[1:])]
    assert set(rows[0][1:]) == {""}
    assert all(rows[1])


def test_same_input_same_files(run, lasting_table, tmp_path):
    contents = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        files = [tmp_path / name / file for file in ("a.csv", "m.mt")]
        run("topics", lasting_table, "--flat", "-k", 4, "--csv", files[0], "--save", files[1])
        contents.append([file.read_bytes() for file in files])
    assert contents[0] == contents[1]


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ("", {"n_components": 8, "log_scaling": "auto"}),
        ("-k 3 --refine none --log-scaling auto", {"refine": None, "log_scaling": "auto"}),
        ("-k 3 --search none --log-scaling none", {"start": "tree", "log_scaling": None}),
        ("-k 3 --log-scaling log1p", {"n_components": 3, "log_scaling": "log1p"}),
        ("--model lda -k 4", {"alpha0": None}),
        ("--model lda -k 4 --log-scaling none", {"weighting": "length"}),
    ],
)
def test_options_of_flat_models(run, lasting_table, tmp_path, options, parameters):
    content = json_of(run, tmp_path, lasting_table, *options.split())
    assert parameters.items() <= content["made"]["parameters"].items()


@pytest.fixture
def two_sided(tmp_path):
    """Long documents of the sea and short ones of the kitchen: weights are not proportions."""
    rng = np.random.default_rng(0)
    sea, kitchen = (THEMES[name].split() for name in ("sea", "kitchen"))
    rows = []
    for i in range(120):
        some = [rng.choice(sea, 30 if i % 3 else 2), rng.choice(kitchen, 2 if i % 3 else 9)]
        rows.append({"key": str(i), "body": " ".join(np.concatenate(some))})
    return write_csv(tmp_path / "two.csv", rows)


def test_a_share_is_that_of_documents_with_this_main_topic(run, two_sided, tmp_path):
    paths = [tmp_path / name for name in ("r.html", "a.csv", "t.json", "m.mt")]
    options = ["--flat", "--model", "lda", "-k", 3, "--text-column", "body"]
    outputs = dict(zip(("-o", "--csv", "--json", "--save"), paths, strict=True))
    flags = [part for pair in outputs.items() for part in pair]
    result = run("topics", two_sided, *options, *flags)
    assert result.exit_code == 0, result.output
    topics = read_json(paths[2])["topics"]
    rows = read_csv(paths[1])
    model = LatentDirichletAllocation.load(paths[3])
    shares = [np.mean([row["topic"] == str(j) for row in rows]) for j in range(3)]
    assert [t["share"] for t in topics] == sorted((t["share"] for t in topics), reverse=True)
    for topic in topics:
        assert topic["share"] == pytest.approx(shares[topic["topic"]], abs=2e-6)
        assert topic["weight"] == pytest.approx(model.weights_[topic["topic"]], rel=1e-5)
    # Otherwise the lines above could not distinguish them.
    assert max(abs(t["share"] - t["weight"]) for t in topics) > 0.001
    lines = [line for line in result.stdout.splitlines() if re.match(r"[0-2] \w", line)]
    page = paths[0].read_text(encoding="utf-8")
    for topic, line in zip(topics, lines, strict=True):
        assert line.startswith(f"{topic['topic']} ")
        assert f"{100 * topic['share']:.1f}%" in line
        assert page.count(f"{100 * topic['share']:.1f}%") >= 2
    content = read_json(paths[2])
    assert content["alpha"] == pytest.approx(model.alpha_, rel=1e-5)
    assert content["alpha0"] == pytest.approx(model.alpha_.sum(), rel=1e-5)


def test_probabilities_below_a_millionth_are_written_as_zero(run, lasting_table, tmp_path):
    path = tmp_path / "a.csv"
    run("topics", lasting_table, "--flat", "-k", 4, "--csv", path)
    values = [row[f"topic_{j}"] for row in read_csv(path) for j in range(4)]
    assert "0" in values
    assert all(value == "0" or float(value) >= 1e-6 for value in values)
    assert max(len(value) for value in values) <= len("1.23456e-05")


@pytest.mark.parametrize("kind", [[], ["--flat"]])
def test_a_title(run, lasting_table, tmp_path, kind):
    paths = [tmp_path / "r.html", tmp_path / "t.json"]
    outputs = ["-k", 2, "-o", paths[0], "--json", paths[1], "--title", "Ships & <more>"]
    result = run("topics", lasting_table, *kind, *outputs)
    assert result.stdout.startswith("Ships & <more>: 160 documents")
    assert read_json(paths[1])["title"] == "Ships & <more>"
    assert ">Ships &amp; &lt;more&gt;</h1>" in paths[0].read_text(encoding="utf-8")


def test_warnings_about_starting_values_are_left_to_the_report(
    run, lasting_table, tmp_path, monkeypatch
):
    path, fit = tmp_path / "t.json", SingleTopicModel.fit

    def with_warning(self, *args, **options):
        fit(self, *args, **options)
        self.diagnostics_ = {**self.diagnostics_, "warnings": [Message("Mind the gap.")]}
        return self

    monkeypatch.setattr(SingleTopicModel, "fit", with_warning)
    result = run("topics", lasting_table, "--flat", "-k", 2, "--json", path)
    assert "Mind the gap" not in result.stdout
    assert "Mind the gap." in " ".join(read_json(path)["diagnostics"]["words"])
    result = run("topics", lasting_table, "--flat", "-k", 2, "--refine", "none")
    assert "Note: Mind the gap." in result.stdout


def test_four_themes_are_four_topics(run, lasting_table, tmp_path):
    path = tmp_path / "a.json"
    result = run("topics", lasting_table, "--flat", "-k", "auto", "--json", path)
    content = read_json(path)
    low, high = content["choice"]["interval"]
    assert low <= content["n_topics"] == len(THEMES) <= high
    chosen = words("n_topics_chosen", reason=content["choice"]["reason"])
    assert " ".join(chosen.split()) in " ".join(result.stdout.split())


def test_fewer_topics_than_requested_are_noted(run, lasting_table, tmp_path):
    path = tmp_path / "a.json"
    options = ["--log-scaling", "log1p"]
    result = run("topics", lasting_table, "--flat", *options, "--json", path)
    assert result.stderr == ""
    assert read_json(path)["n_topics"] == 4  # the default is 8
    assert "\nNote: " in result.stdout


def test_warnings_are_printed(run, lasting_table):
    options = ["-k", 6, "--refine", "none", "--log-scaling", "none"]
    result = run("topics", lasting_table, "--flat", *options)
    assert result.exit_code == 0, result.output
    assert "Note: " in result.stdout


def test_real_text(run, docstrings, tmp_path):
    rows = list(zip(docstrings.ids, docstrings.texts, strict=True))[::20]
    with (tmp_path / "doc.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("id", "text"), *rows])
    outputs = ["--output", tmp_path / "r.html", "--csv", tmp_path / "a.csv"]
    result = run("topics", tmp_path / "doc.csv", "--flat", "-k", 5, *outputs)
    assert result.exit_code == 0, result.output
    assert [row["id"] for row in read_csv(tmp_path / "a.csv")] == [identity for identity, _ in rows]
    assert (tmp_path / "r.html").stat().st_size < 3_000_000


@pytest.fixture
def dated(tmp_path, documents):
    """The documents with dates that go backwards, one missing, and with years."""
    rows = [
        {**d, "day": f"2020-{1 + i // 28 % 12:02}-{1 + i % 28:02}", "year": str(1990 + i % 7)}
        for i, d in enumerate(documents[::-1])
    ]
    rows[3]["day"] = ""
    return write_csv(tmp_path / "dated.csv", rows[::-1])


@pytest.mark.parametrize("column", ["day", "year"])
def test_a_column_puts_the_documents_in_order(run, dated, tmp_path, column):
    page = tmp_path / "r.html"
    options = ["--flat", "-k", 4, "--id-column", "key", "--text-column", "body"]
    result = run("topics", dated, *options, "--order", column, "-o", page)
    assert result.exit_code == 0, result.output
    text = page.read_text(encoding="utf-8")
    assert f"<bdi>{column}</bdi>" in text
    # Equal years keep the order of the file.
    first, last = ("d159", "d000") if column == "day" else ("d005", "d153")
    names = re.search(r'"names":\[(.*?)\]', text)[1].split(",")
    assert names[0].endswith(f': {first}"')
    assert names[-1].endswith(f': {last}"')


def test_order_in_the_report_of_a_tree(run, dated, tmp_path):
    page = tmp_path / "r.html"
    result = run("topics", dated, "-k", 4, "--order", "year", "-o", page, "--text-column", "body")
    assert result.exit_code == 0, result.output
    assert "<bdi>year</bdi>" in page.read_text(encoding="utf-8")


def test_quiet(run, lasting_table, tmp_path):
    quiet = ["--quiet", "--csv", tmp_path / "a.csv"]
    result = run("topics", lasting_table, "--flat", "-k", 2, *quiet)
    assert (result.exit_code, result.output) == (0, "")
    assert (tmp_path / "a.csv").exists()


def test_verbose(run, lasting_table, caplog):
    with caplog.at_level(logging.INFO, logger="momentree"):
        result = run("topics", lasting_table, "--flat", "--verbose")
    lines = result.stderr.splitlines()
    steps = [line.removeprefix("  ") for line in lines if line.startswith("  ")]
    stages = [line for line in lines if not line.startswith("  ")]
    assert steps == caplog.messages
    # The refinement names its number of components.
    assert 4 in [record.args[0] for record in caplog.records if record.args]
    assert len(stages) > 1
    assert lasting_table.name in stages[0]
    assert all(re.search(r": [\d.]+ s$", stage) for stage in stages)


def test_one_topic(run, lasting_table, tmp_path):
    page = tmp_path / "r.html"
    result = run("topics", lasting_table, "--flat", "-k", 1, "-o", page)
    assert result.exit_code == 0, result.output
    assert ", 1 topic, " in result.stdout
    assert 'id="tab-relations"' not in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--model", "lda"], "option_needs"),
        (["--flat", "--min-samples-leaf", "6"], "option_excluded"),
        (["--flat", "--model", "lda", "--log-scaling", "log1p"], "option_excluded"),
        (["--save", "a.zip"], "cannot_write"),
        (["--order", "year"], "option_needs"),
        (["--documents", "all"], "option_needs"),
        (["--escape-formulas"], "option_needs"),
    ],
)
def test_options_that_do_not_go_together(refuses, tmp_path, monkeypatch, options, code):
    monkeypatch.chdir(tmp_path)
    assert refuses("topics", "not-read.csv", *options).code == code
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "options",
    [
        ["-k", "0"],
        ["-k", "many"],
        ["-k", "3.5"],
    ],
)
def test_bad_values_are_refused_before_the_work(refuses, tmp_path, options):
    line = refuses("topics", tmp_path / "not-read.csv", "--flat", *options)
    number = "a whole number of at least 1, or 'auto'"
    expected = words("unexpected_value", value=options[-1], expected=number)
    assert f"--groups: {expected}" in line
    assert line.endswith("; see momentree topics --help\n")


@pytest.mark.parametrize("column", ["when", "theme"])
def test_a_column_that_gives_no_order(refuses, lasting_table, tmp_path, column):
    page = tmp_path / "r.html"
    assert column in refuses("topics", lasting_table, "--flat", "--order", column, "-o", page)
    assert not page.exists()


def test_a_folder_has_no_columns(refuses, tmp_path):
    for i in range(6):
        (tmp_path / f"{i}.txt").write_text("boat sail wind " * 5)
    line = refuses("topics", tmp_path, "--flat", "--order", "year", "-o", tmp_path / "r.html")
    assert line.code == "no_columns_to_order_by"


def test_more_topics_than_documents(refuses, lasting_table):
    assert "500" in refuses("topics", lasting_table, "--flat", "-k", 500)


def test_a_damaged_model(refuses, run, lasting_table, tmp_path):
    path = tmp_path / "m.mt"
    run("topics", lasting_table, "--flat", "-k", 2, "--save", path)
    path.write_bytes(path.read_bytes()[:-300])
    assert "m.mt" in refuses("assign", path, lasting_table)


def test_no_line_is_wider_than_the_screen(run, lasting_table, monkeypatch):
    monkeypatch.setenv("COLUMNS", "62")
    options = ["--flat", "-k", 6, "--refine", "none", "--log-scaling", "none"]
    lines = run("topics", lasting_table, *options).stdout.splitlines()
    table = [line for line in lines if line[:1].isdigit()]
    assert len(table) == 6
    assert max(map(len, lines[1:])) <= 62
    assert all(line == line.rstrip() for line in lines)
