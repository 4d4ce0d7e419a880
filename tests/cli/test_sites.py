"""``momentree moments`` and ``momentree merge``: three hospitals fit a model by files alone."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from momentree import BernoulliMixture, ClusterTree, SingleTopicModel, State, load, readers
from momentree.backends import read_question

from .conftest import THEMES, make_documents, make_records, write_csv

CODES = ("--rollup", "icd9", "--code-column", "DX*")


@pytest.fixture(scope="module")
def hospitals(tmp_path_factory):
    """Tables of three hospitals, which may not share rows, and the pooled table."""
    folder = tmp_path_factory.mktemp("hospitals")
    records = make_records(450)
    for i, name in enumerate("abc"):
        write_csv(folder / f"{name}.csv", records[i::3])
    write_csv(folder / "pooled.csv", records)
    return folder


def answers(run, folder, to, number, *options, question=None):
    """Run the round at each site; return the files."""
    files = [to / f"{name}{number}.mom" for name in "abc"]
    for name, file in zip("abc", files, strict=True):
        asked = () if question is None else ("--round", question)
        result = run("moments", folder / f"{name}.csv", *options, *asked, "--sums", file)
        assert result.exit_code == 0, result.output
    return files


def rounds(run, folder, to, options, *fit, model_name="auto", most=200):
    """Answer all questions at all sites; return the file of the model and the last result."""
    files = answers(run, folder, to, 1, *options, "--model", model_name)
    model = to / "model.mt"
    for number in range(2, most):
        question = to / f"round{number}.mom"
        result = run("merge", *files, *fit, "--next", question, "--save", model)
        assert result.exit_code == 0, result.output
        if model.exists():
            assert not question.exists()
            return model, result
        files += answers(run, folder, to, number, *options, "-q", question=question)
    raise AssertionError(result.output)


@pytest.fixture(scope="module")
def pooled(hospitals):
    return readers.read_records(
        hospitals / "pooled.csv", rollup="icd9", code_columns="DX*", min_records=1
    )


@pytest.mark.parametrize("refine", [None, pytest.param("em", marks=pytest.mark.long)])
def test_three_hospitals_by_files_alone(run, hospitals, pooled, tmp_path, refine):
    options = (*CODES, "--min-cell", 1)
    fit = ("--flat", "-k", 4, "--refine", refine or "none")
    model, result = rounds(run, hospitals, tmp_path, options, *fit)
    assert "450 rows with 20 columns" in result.stdout
    mixture = BernoulliMixture(4, start="raw_moments", refine=refine)
    fitted = mixture.fit(pooled.X, feature_names=pooled.codes)
    found = load(model)
    assert found.vocabulary_.tolist() == pooled.codes.tolist()
    np.testing.assert_allclose(found.weights_, fitted.weights_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.means_, fitted.means_, rtol=0, atol=1e-8)
    assigned = run("assign", model, hospitals / "pooled.csv", "--complete")
    assert assigned.exit_code == 0, assigned.stderr
    rows = list(csv.DictReader(io.StringIO(assigned.stdout)))
    assert [int(row["group"]) for row in rows] == fitted.labels_.tolist()


@pytest.mark.long
def test_a_tree_grown_by_files_is_that_of_all_rows(run, hospitals, pooled, tmp_path):
    options = (*CODES, "--min-cell", 1)
    model, result = rounds(run, hospitals, tmp_path, options, "-k", 3)
    fitted = ClusterTree(3).fit(pooled.X, feature_names=pooled.codes)
    found = load(model)
    assert [leaf.name for leaf in found.leaves_] == [leaf.name for leaf in fitted.leaves_]
    assert [leaf.name for leaf in found.leaves_] == [
        line.split("%  ")[1] for line in result.stdout.splitlines() if "%  " in line
    ]
    for a, b in zip(found.leaves_, fitted.leaves_, strict=True):
        np.testing.assert_allclose(a.center, b.center, rtol=0, atol=1e-9)
        assert a.n_samples == b.n_samples
    np.testing.assert_array_equal(found.predict(pooled.X), fitted.labels_)
    assigned = run("assign", model, hospitals / "pooled.csv", "--complete")
    assert assigned.exit_code == 0, assigned.stderr
    rows = list(csv.DictReader(io.StringIO(assigned.stdout)))
    assert [int(row["group"]) for row in rows] == fitted.labels_.tolist()


def test_documents_with_a_list_of_words(run, tmp_path):
    documents = make_documents(120)
    for i, name in enumerate("abc"):
        write_csv(tmp_path / f"{name}.csv", documents[i::3])
    words = sorted({word for theme in THEMES.values() for word in theme.split()})
    (tmp_path / "words.txt").write_text("\n".join(words) + "\n")
    options = ("--text-column", "body", "--min-cell", 1, "--vocabulary", tmp_path / "words.txt")
    fit = ("--flat", "-k", 4, "--refine", "none")
    model, result = rounds(
        run, tmp_path, tmp_path, options, *fit, model_name="single-topic", most=16
    )
    assert State.load(tmp_path / "a1.mom").columns == words
    corpus = readers.read_corpus(
        write_csv(tmp_path / "all.csv", documents), text_column="body", min_df=1, max_df=1.0
    )
    corpus = readers.align_columns(corpus, words)
    pooled = SingleTopicModel(4, refine=None).fit(corpus.X)
    np.testing.assert_allclose(load(model).components_, pooled.components_, rtol=0, atol=1e-8)
    assert load(model).top_words(3) == [
        line.split("%  ")[1].split(", ")[:3] for line in (result.stdout.splitlines()[2:6])
    ]


def test_rows_that_were_kept_answer_like_the_table(run, hospitals, tmp_path):
    table, kept = hospitals / "a.csv", tmp_path / "a.rows"
    first = run("moments", table, *CODES, "--sums", tmp_path / "1.mom", "--keep", kept)
    assert first.exit_code == 0, first.output
    again = run("moments", kept, "--sums", tmp_path / "again.mom")
    assert again.stdout == first.stdout.replace("1.mom", "again.mom").replace(f", {kept}", "")
    assert (tmp_path / "again.mom").read_bytes() == (tmp_path / "1.mom").read_bytes()
    question = tmp_path / "2.mom"
    assert run("merge", tmp_path / "1.mom", "--flat", "-k", 2, "--next", question).exit_code == 0
    asked = "--round", question, "--sums"
    assert run("moments", table, *CODES, *asked, tmp_path / "of_table.mom").exit_code == 0
    assert run("moments", kept, *asked, tmp_path / "of_rows.mom").exit_code == 0
    answers = [(tmp_path / name).read_bytes() for name in ("of_table.mom", "of_rows.mom")]
    assert answers[0] == answers[1]
    refused = run("moments", kept, "--rollup", "icd9", "--sums", tmp_path / "refused.mom")
    assert refused.exit_code == 2
    assert "leave out --rollup" in refused.stderr


@pytest.mark.parametrize("damage", [b"", b"no zip file", "cut", "a state"])
def test_damaged_rows_are_refused(run, hospitals, tmp_path, damage):
    kept, state = tmp_path / "a.rows", tmp_path / "1.mom"
    run("moments", hospitals / "a.csv", *CODES, "--sums", state, "--keep", kept)
    content = {"cut": kept.read_bytes()[:-40], "a state": state.read_bytes()}.get(damage, damage)
    kept.write_bytes(content)
    result = run("moments", kept, "--sums", tmp_path / "2.mom")
    assert result.exit_code == 2
    assert "a.rows is not a file of momentree moments --keep" in result.stderr
    assert not (tmp_path / "2.mom").exists()


def test_columns_that_only_some_sites_have(run, tmp_path):
    header = "visit_id,codes"
    sites = {"a": ["250;401", "250;414", "250;401"], "b": ["428;401", "428;250", "428;401"]}
    for name, rows in sites.items():
        lines = [f"{name}{i},{codes}" for i, codes in enumerate(rows * 4)]
        (tmp_path / f"{name}.csv").write_text("\n".join([header, *lines]) + "\n")
        run("moments", tmp_path / f"{name}.csv", "--sums", tmp_path / f"{name}.mom")
    pooled = tmp_path / "pooled.mom"
    result = run("merge", tmp_path / "a.mom", tmp_path / "b.mom", "--sums", pooled)
    assert result.exit_code == 0, result.output
    assert "zeros where a site has no such column" in result.stderr
    found = State.load(pooled)
    # 414 is in four records of one site and 250 in four of the other, which suppressed them.
    assert found.columns == ["250", "401", "428"]
    assert (found.n_rows, found.suppressed["columns"]) == (24, 2)
    assert "suppressed 2 columns" in result.stdout


@pytest.fixture(scope="module")
def files(tmp_path_factory, hospitals):
    """Files of the first round, and the question of the next one."""
    from .conftest import invoke

    folder = tmp_path_factory.mktemp("files")
    answers(invoke, hospitals, folder, 1, *CODES)
    first = [folder / f"{name}1.mom" for name in "abc"]
    invoke("merge", *first, "--flat", "-k", 3, "--next", folder / "question.mom")
    return folder


def test_refusals(refuses, hospitals, files, tmp_path):
    a, b, question, out = files / "a1.mom", files / "b1.mom", files / "question.mom", tmp_path / "o"
    table, mom, model = hospitals / "a.csv", out.with_suffix(".mom"), out.with_suffix(".mt")
    (tmp_path / "short.mom").write_bytes(a.read_bytes()[:900])
    (tmp_path / "other.csv").write_text("visit_id,codes\n" + "r,X99;X98\n" * 9)
    (tmp_path / "gaps.csv").write_text("visit_id,x,y\n" + "a,1,\n" * 9 + "b,0,1\n" * 9)
    cases = {
        "site_twice": ("merge", a, b, a, "--sums", mom),
        "fit_too_early": ("merge", a, b, "--flat", "-k", 3, "--save", model),
        "option_needs": ("merge", a, b, "--next", mom),
        "question_to_merge": ("merge", a, question, "--sums", mom),
        "damaged_state": ("merge", a, tmp_path / "short.mom", "--sums", mom),
        "no_such_file": ("merge", a, tmp_path / "none.mom", "--sums", mom),
        "not_a_question": ("moments", table, *CODES, "--round", a, "--sums", mom),
        "option_excluded": (
            *("moments", table, *CODES, "--round", question, "--model", "poisson", "--sums", mom),
        ),
        "no_column_in_common": (
            *("moments", tmp_path / "other.csv", "--round", question, "--sums", mom),
        ),
        "incomplete_for_moments": ("moments", tmp_path / "gaps.csv", "--sums", mom),
        "too_few_rows_to_release": ("moments", table, *CODES, "--min-cell", 500, "--sums", mom),
        "cannot_write": ("moments", table, *CODES, "--sums", out.with_suffix(".csv")),
    }
    for code, arguments in cases.items():
        line = refuses(*arguments, "-q")
        assert line.code == code, line
        assert not mom.exists()
        assert not model.exists()


def test_files_of_other_rounds(refuses, run, hospitals, files, tmp_path):
    """Answers to other questions, and sums of several rounds."""
    first = [files / f"{name}1.mom" for name in "abc"]
    of_all = answers(run, hospitals, tmp_path, 2, *CODES, question=files / "question.mom")
    run("merge", *first[:2], "--flat", "-k", 3, "--next", tmp_path / "question.mom")
    (tmp_path / "two").mkdir()
    of_two = answers(
        run, hospitals, tmp_path / "two", 2, *CODES, question=tmp_path / "question.mom"
    )
    out = "--next", tmp_path / "x.mom"
    cases = {
        "files_differ": (*first, of_all[0], of_two[1], "--flat", "-k", 3, *out),
        "answers_of_another_fit": (*first, *of_two, "--flat", "-k", 3, *out),
        "round_missing": (*of_all, "--flat", "-k", 3, *out),
        "sums_of_one_round": (*first, *of_all, "--sums", tmp_path / "x.mom"),
    }
    for code, arguments in cases.items():
        line = refuses("merge", *arguments)
        assert line.code == code, line


def test_no_name_of_a_suppressed_column_is_sent(run, refuses, tmp_path):
    rare, letters = "zarathustrasson", tmp_path / "letters.csv"
    texts = [f"the wind was blue {rare if i == 7 else 'today'}" for i in range(60)]
    letters.write_text("body\n" + "\n".join(texts) + "\n")
    options = ("moments", letters, "--text-column", "body", "--sums")
    result = run(*options, tmp_path / "letters.mom")
    assert "Suppressed 1 column " in result.stdout
    found = State.load(tmp_path / "letters.mom")
    assert found.columns == found.about[0]["reader"]["vocabulary"]
    assert (rare in found.columns, len(found.columns)) == (False, 2)
    assert rare.encode() not in found.to_bytes()
    run(*options, tmp_path / "all.mom", "--min-cell", 1)
    assert rare in State.load(tmp_path / "all.mom").columns
    codes = tmp_path / "codes.csv"
    codes.write_text("id,codes\n" + "".join(f"{i},A{i:02};B{i:02}\n" for i in range(9)))
    line = refuses("moments", codes, "-q", "--sums", tmp_path / "codes.mom")
    assert line.code == "no_common_column"


def test_nothing_tells_what_is_in_a_suppressed_column(run, tmp_path):
    rows = [["A01", "B02"][: 1 + i % 2] + ["C03"] * (i % 3 == 0) for i in range(60)]
    sites = {"one": [7], "two": [7, 8]}
    for name, at in sites.items():
        lines = [f"{i},{';'.join(row + ['Z99'] * (i in at))}" for i, row in enumerate(rows)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["id,codes", *lines]) + "\n")
    common = [f"{i},A01;Z99" for i in range(60)]
    (tmp_path / "more.csv").write_text("\n".join(["id,codes", *common]) + "\n")
    sums = {name: tmp_path / f"{name}.mom" for name in (*sites, "more")}
    for name, path in sums.items():
        run("moments", tmp_path / f"{name}.csv", "--sums", path)
    assert sums["one"].read_bytes() == sums["two"].read_bytes()
    question = tmp_path / "question.mom"
    run("merge", sums["one"], sums["more"], "--flat", "-k", 2, "--next", question)
    assert "Z99" in read_question(question.read_bytes())["columns"]
    for name in sites:
        result = run("moments", tmp_path / f"{name}.csv", "--round", question, "--sums", sums[name])
        assert "Suppressed 1 column " in result.stdout
    assert sums["one"].read_bytes() == sums["two"].read_bytes()


@pytest.mark.filterwarnings("default::momentree.exceptions.MomentreeWarning")
def test_answers_of_other_rows_or_with_other_options(run, hospitals, files, tmp_path):
    given = [files / f"{name}1.mom" for name in "abc"]
    last = answers(run, hospitals, tmp_path, 2, *CODES, question=files / "question.mom")
    out = "--flat", "-k", 3, "--next", tmp_path / "next.mom"
    assert "warning: this" not in run("merge", *given, *last, *out).stderr
    result = run("merge", *given, *last[:2], *out)
    assert "this round has 300 rows, and the one before had 450" in result.stderr
    other = CODES[2:]
    result = run(
        "moments",
        hospitals / "a.csv",
        *other,
        "--round",
        files / "question.mom",
        "--sums",
        tmp_path / "other.mom",
    )
    assert "not all tables were read with the same --rollup" in result.stderr
    run("moments", hospitals / "a.csv", *other, "--sums", tmp_path / "first.mom")
    first = tmp_path / "first.mom", files / "b1.mom"
    result = run("merge", *first, "--sums", tmp_path / "merged.mom")
    assert "not all tables were read with the same --rollup" in result.stderr


@pytest.mark.filterwarnings("default::momentree.exceptions.MomentreeWarning")
def test_fewer_components_than_requested(run, tmp_path):
    options = ("--text-column", "body", "--min-cell", 1)
    for name, times in zip("abc", (7, 8, 9), strict=True):
        texts = "red green blue\ncat dog mouse\n" * times
        (tmp_path / f"{name}.csv").write_text("body\n" + texts)
    fit = ("--flat", "-k", 20, "--refine", "none")
    _, result = rounds(run, tmp_path, tmp_path, options, *fit, model_name="poisson", most=16)
    assert "2 of 20 components found" in result.stderr
