"""``momentree clusters``: every option does what its help says."""

from __future__ import annotations

import csv
import re
from collections import Counter

import numpy as np
import pytest

from momentree.datasets import make_bernoulli_mixture

from .conftest import (
    CODE_NAMES,
    CONDITIONS,
    N_RECORDS,
    make_records,
    read_json,
    words,
    write_csv,
)


def read_csv(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def groups_in(path):
    return [node for node in read_json(path)["nodes"] if node["group"] is not None]


def found(clusters, tmp_path, *options, **keywords):
    """Run with a JSON file; return its content."""
    path = tmp_path / "groups-of-options.json"
    result = clusters(*options, "--json", path, **keywords)
    assert result.exit_code == 0, result.output
    return read_json(path)


def conditions_of(path, records):
    """Return the conditions of the records of each group in a table of assignments."""
    condition = {record["visit_id"]: record["condition"] for record in records}
    groups: dict[str, set[str]] = {}
    for row in read_csv(path):
        groups.setdefault(row["group"], set()).add(condition[row["id"]])
    return groups


@pytest.mark.parametrize("flat", [False, True])
def test_draws_the_groups(clusters, code_names, flat):
    result = clusters("--code-names", code_names, *(["--flat"] if flat else []))
    assert result.exit_code == 0, result.output
    assert f"{N_RECORDS} records, 20 codes, 4 groups" in result.stdout
    drawn = re.findall(r"^\W*[0-3] \w.* 60 +25.0%", result.stdout, re.MULTILINE)
    assert len(drawn) == 4
    assert ("─ 0" in result.stdout) != flat
    # The codes of each group have names, and are of one condition.
    codes = result.stdout.split("Most relevant codes")[1]
    paragraphs = re.split(r"\n(?=\d  )", codes)[1:]
    assert len(paragraphs) == 4
    for paragraph in paragraphs:
        found = set(re.findall(r"[V\d]\d\d(?= )", paragraph))
        assert max(len(found & {c[:3] for c in t.split()}) for t in CONDITIONS.values()) >= 4
        assert any(name in paragraph for name in CODE_NAMES.values())


def test_what_was_read_is_noted(clusters):
    result = clusters()
    assert result.stderr
    assert all(line.startswith("momentree: note: ") for line in result.stderr.splitlines())
    quiet = clusters("--quiet")
    assert (quiet.exit_code, quiet.output) == (0, "")


@pytest.mark.parametrize("flat", [False, True])
def test_all_outputs(clusters, records, records_table, code_names, tmp_path, flat):
    names = {"--output": "r.html", "--csv": "a.csv", "--json": "g.json", "--save": "m.mt"}
    options = [part for option, name in names.items() for part in (option, tmp_path / name)]
    options += ["--flat"] if flat else []
    result = clusters("--code-names", code_names, "--outcome", "died", *options)
    assert result.exit_code == 0, result.output
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(names.values())
    for name in names.values():
        assert name in result.stdout.replace("\n", "")

    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "Chronic kidney disease" in page
    assert "r007" not in page

    rows = read_csv(tmp_path / "a.csv")
    assert list(rows[0]) == ["id", "group", "name", "probability", "reason", "n_codes", "fitted"]
    assert [row["id"] for row in rows] == [r["visit_id"] for r in records]
    assert {row["fitted"] for row in rows} == {"yes"}
    assert all(0.25 < float(row["probability"]) <= 1 for row in rows)
    n_codes = [len({v[:3] for k, v in r.items() if k.startswith("DX") and v}) for r in records]
    assert [int(row["n_codes"]) for row in rows] == n_codes
    sorted_out = conditions_of(tmp_path / "a.csv", records)
    assert sorted(map(sorted, sorted_out.values())) == [[c] for c in sorted(CONDITIONS)]

    content = read_json(tmp_path / "g.json")
    assert content["kind"] == ("flat" if flat else "tree")
    assert (content["n_records"], content["n_codes"], content["n_groups"]) == (N_RECORDS, 20, 4)
    name_of = {node["group"]: node["name"] for node in groups_in(tmp_path / "g.json")}
    assert all(row["name"] == name_of[int(row["group"])] for row in rows)
    codes = [code["code"] for node in groups_in(tmp_path / "g.json") for code in node["codes"][:5]]
    assert sorted(codes) == sorted(CODE_NAMES)


def test_same_input_same_files(clusters, tmp_path):
    contents = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        clusters("--csv", folder / "a.csv", "--save", folder / "m.mt", groups=3)
        contents.append([(folder / file).read_bytes() for file in ("a.csv", "m.mt")])
    assert contents[0] == contents[1]


@pytest.mark.parametrize("groups", [pytest.param(1, marks=pytest.mark.long), 3])
@pytest.mark.parametrize("flat", [[], ["--flat"]])
def test_number_of_groups(clusters, tmp_path, groups, flat):
    assert found(clusters, tmp_path, *flat, groups=groups)["n_groups"] == groups


def test_the_data_choose_the_size_of_a_tree(clusters, tmp_path):
    content = found(clusters, tmp_path, groups="auto")
    assert content["made"]["parameters"]["max_leaf_nodes"] == 4
    assert content["n_groups"] == 4


def test_the_data_choose_how_many_flat_groups(clusters, tmp_path):
    assert found(clusters, tmp_path, "--flat", groups="auto")["n_groups"] == 4


def test_a_choice_is_explained(clusters):
    shown = clusters("--flat", groups="auto").stdout
    assert "AIC3 chose the number of groups; --groups 5 sets another." in shown


@pytest.mark.parametrize(
    "n_true",
    [1, pytest.param(2, marks=pytest.mark.long), 3, pytest.param(5, marks=pytest.mark.long)],
)
def test_the_default_finds_the_groups_of_made_records(run, tmp_path, n_true):
    rng = np.random.default_rng(0)
    X = rng.random((600, 30)) < rng.uniform(0.1, 0.6, 30)  # one group
    if n_true > 1:
        X = make_bernoulli_mixture(600, 30, n_true, random_state=1).X.toarray()
    lines = ["id," + ",".join(f"c{j}" for j in range(30))]
    rows = X.astype(int).tolist()
    lines += [f"r{i}," + ",".join(map(str, row)) for i, row in enumerate(rows)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n")
    result = run("clusters", path, "--min-records", 1, "--csv", tmp_path / "g.csv")
    assert result.exit_code == 0, result.output
    labels = [row["group"] for row in read_csv(tmp_path / "g.csv")]
    sizes = np.unique(labels, return_counts=True)[1]
    assert abs(len(sizes) - n_true) <= (n_true == 5)
    assert f"{len(sizes)} group" in result.stdout  # none is empty


def test_a_single_group_is_explained(clusters):
    reason = words("one_group_requested")
    assert words("not_split", reason=reason) in clusters(groups=1).stdout


def test_fewer_groups_than_requested_are_noted(clusters, tmp_path):
    few = write_csv(tmp_path / "t.csv", make_records(16))
    result = clusters(table=few, groups=8)
    assert result.exit_code == 0, result.output
    found = [n for n in (1, 2, 3) if words("fewer_groups", found=n, requested=8) in result.stderr]
    assert len(found) == 1
    assert "max_leaf_nodes" not in result.stderr


def test_min_samples_leaf(clusters):
    shown = clusters("--min-samples-leaf", 70, groups=4).stdout
    assert "1 group," in shown
    assert "70" in shown


@pytest.mark.parametrize("flat", [[], ["--flat"]])
@pytest.mark.parametrize(("option", "value"), [("em", "em"), ("none", None)])
def test_refine(clusters, tmp_path, flat, option, value):
    content = found(clusters, tmp_path, *flat, "--refine", option)
    assert content["made"]["parameters"]["refine"] == value


def test_outcomes_with_small_counts_suppressed(clusters, tmp_path):
    path = tmp_path / "g.json"
    result = clusters("--outcome", "died", "--json", path)
    content = read_json(path)
    row = next(line for line in result.stdout.splitlines() if line.startswith("died "))
    # 18, 30, none and three of sixty each; the three could be derived from the exact overall rate.
    assert sorted(row.split()[1:-1]) == ["0.0%", "30.0%", "50.0%", "<5"]
    assert row.split()[-1] == "≈21.0%"
    counts = content["outcomes"][0]["classes"][0]["n_records"]
    assert sorted(map(str, counts)) == ["0", "18", "30", "None"]
    assert content["outcomes"][0]["classes"][0]["n_all"] is None
    # Nor do accuracies, which are ratios of the same numbers.
    assert content["quality"]["predictive_power"] == []
    assert "AUC about 0.8" in result.stdout


def test_min_cell(clusters, tmp_path):
    path = tmp_path / "g.json"
    shown = clusters("--outcome", "died", "--min-cell", 1, "--json", path).stdout
    content = read_json(path)
    one = content["outcomes"][0]["classes"][0]
    assert (sorted(one["n_records"]), one["n_all"]) == ([0, 3, 18, 30], 51)
    power = content["quality"]["predictive_power"][0]
    assert power["baseline"] == pytest.approx(1 - 51 / N_RECORDS, abs=1e-4)
    assert "5.0%" in shown
    assert "<" not in shown
    assert len(re.findall(r"78\.8%.*78\.8%; AUC 0\.", " ".join(shown.split()))) == 1


def test_several_outcomes_and_patterns(clusters):
    shown = clusters("--outcome", "d*", "--outcome", "condition").stdout
    assert "condition\n" in shown
    for name in CONDITIONS:
        row = next(line for line in shown.splitlines() if line.strip().startswith(f"{name} "))
        assert row.split().count("100.0%") == 1
        assert row.split()[-1] == "25.0%"
    assert re.search(r"^condition: .*100\.0%", shown, re.MULTILINE)


def test_an_outcome_of_numbers(run, records, tmp_path):
    path = write_csv(
        tmp_path / "t.csv", [{**r, "days": str(i % 40)} for i, r in enumerate(records)]
    )
    result = run("clusters", path, "-k", 4, "--outcome", "days", "--code-column", "DX*")
    assert result.exit_code == 0, result.output
    assert re.search(r"^days, mean .* 19\.5$", result.stdout, re.MULTILINE)
    assert re.search(r"^days, SD .* 11\.6$", result.stdout, re.MULTILINE)
    assert re.search(r"^days, median .* 19\.5$", result.stdout, re.MULTILINE)


def test_stability(clusters, tmp_path):
    path = tmp_path / "g.json"
    result = clusters("--stability", "--json", path)
    assert result.exit_code == 0, result.output
    quality = read_json(path)["quality"]["stability"]
    assert quality["n"] == 5
    assert 0.9 < quality["low"] <= quality["mean"] <= quality["high"] <= 1
    assert re.search(r"^Stability .*\b5\b", result.stdout, re.MULTILINE)


def test_title(clusters):
    assert clusters("--title", "All of May").stdout.startswith("All of May: ")


def test_verbose(clusters):
    shown = clusters("--verbose").stderr
    for step in ("reading visits.csv: ", "finding groups: ", "writing: "):
        assert step in shown


def test_options_of_codes(clusters, records, tmp_path):
    changed = [dict(r) for r in records]
    for r in changed:
        r["DX9"] = "99999"
    for r in changed[:3]:
        r["DX8"] = "12345"
    table = write_csv(tmp_path / "t.csv", [{"DX8": "", **r} for r in changed])

    def count(*options):
        return found(clusters, tmp_path, *options, table=table, groups=1)["n_codes"]

    plain = count()
    assert plain == 21  # 999 is in every record, 123 in three
    assert count("--no-drop-constant") == 22
    assert count("--min-records", 4) == 20
    assert count("--cumulative-frequency", 0.5) < 15
    left = found(clusters, tmp_path, "--min-codes", 5, table=table)
    assert 0 < left["n_left_out"] < N_RECORDS
    assert left["n_left_out"] + left["n_records"] == N_RECORDS


def test_records_with_few_codes_are_assigned(clusters, tmp_path, records):
    result = clusters("--min-codes", 4, "--csv", tmp_path / "a.csv")
    assert result.exit_code == 0, result.output
    rows = read_csv(tmp_path / "a.csv")
    assert len(rows) == N_RECORDS
    assert all((int(row["n_codes"]) >= 4) == (row["fitted"] == "yes") for row in rows)
    assert {row["fitted"] for row in rows} == {"yes", "no"}
    condition = {record["visit_id"]: record["condition"] for record in records}
    pairs = Counter((row["group"], condition[row["id"]]) for row in rows)
    # A record with one code of another condition goes there.
    assert sum(n for _, n in pairs.most_common(4)) >= 0.97 * N_RECORDS


def test_rollup_by_a_file(run, records_table, tmp_path):
    path = tmp_path / "map.csv"
    pairs = [f"{code},{name}" for name, codes in CONDITIONS.items() for code in codes.split()]
    path.write_text("\n".join(["code,group", *pairs]) + "\n")
    result = run("clusters", records_table, "--rollup", path, "-k", 4, "--code-column", "DX*")
    assert result.exit_code == 0, result.output
    assert "4 codes, 4 groups" in result.stdout


def as_long(records):
    rows = ["patient,visit,icd"]
    for i, record in enumerate(records):
        codes = [v for k, v in record.items() if k.startswith("DX") and v]
        rows += [f"p{i // 8},{record['visit_id']},{code}" for code in codes]
    return "\n".join(rows) + "\n"


def test_forms_of_tables(run, records, tmp_path):
    codes = [[v for k, v in r.items() if k.startswith("DX") and v] for r in records]
    lists = ["visit_id;codes"]
    lists += [f"{r['visit_id']};{' '.join(c)}" for r, c in zip(records, codes, strict=True)]
    every = sorted({code for row in codes for code in row})
    wide = [",".join(["visit_id", *every])]
    wide += [
        ",".join([r["visit_id"], *("1" if code in c else "0" for code in every)])
        for r, c in zip(records, codes, strict=True)
    ]
    tables = {
        "long": (as_long(records), ["--id-column", "visit", "--code-column", "icd"]),
        "lists": ("\n".join(lists), ["--separator", ";"]),
        "wide": ("\n".join(wide), []),
    }
    shown = set()
    for form, (text, options) in tables.items():
        path = tmp_path / f"{form}.csv"
        path.write_text(text, encoding="utf-16")
        options = [*options, "--encoding", "utf-16", "--rollup", "icd9", "-k", 4, "--title", "all"]
        result = run("clusters", path, *options)
        assert result.exit_code == 0, result.output
        assert form in result.stderr
        shown.add(re.sub(r"\d\.\d s", "", result.stdout))
    assert len(shown) == 1


def test_union_by(run, records, tmp_path):
    path = tmp_path / "long.csv"
    path.write_text(as_long(records))
    result = run("clusters", path, "--union-by", "patient", "-k", 2, "--code-column", "icd")
    assert result.exit_code == 0, result.output
    assert "30 records" in result.stdout


def test_sheet(run, records, tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("openpyxl")
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"note": ["nothing"]}).to_excel(book, sheet_name="about", index=False)
        pd.DataFrame(records).to_excel(book, sheet_name="visits", index=False)
    result = run("clusters", path, "--sheet", "visits", "-k", 4, "--rollup", "icd9")
    assert result.exit_code == 0, result.output
    assert f"{N_RECORDS} records" in result.stdout


def test_include_records(clusters, tmp_path):
    page = tmp_path / "r.html"
    assert clusters("--include-records", "-o", page).exit_code == 0
    assert "r007" in page.read_text(encoding="utf-8")


def discharges(folder):
    """The arguments that read and name the codes of discharges of a state."""
    arguments = ["clusters", folder / "vermont_dx.csv.gz", "--id-column", "visit_id"]
    arguments += ["--code-column", "DX*", "--rollup", "icd9", "--outcome", "death"]
    return [*arguments, "--code-names", folder / "icd9cm_hierarchy.csv.gz"]


@pytest.mark.long
def test_the_default_number_of_groups_of_real_discharges(run, shared_data):
    assert "5 groups" in run(*discharges(shared_data / "vermont_icd9")).stdout


def test_discharges_of_a_state(run, shared_data, tmp_path):
    arguments = discharges(shared_data / "vermont_icd9")
    result = run(*arguments, "-o", tmp_path / "r.html", "-k", 8)
    assert result.exit_code == 0, result.output
    assert "8 groups" in result.stdout
    for name in ("Septicemia", "Chronic kidney disease", "Outcome of delivery", "Single liveborn"):
        assert name in result.stdout


def test_files_hold_whole_names(run, records_table, tmp_path):
    long = "a condition with a name that is so long that a heading must cut it before it ends"
    codes = {value for record in make_records() for key, value in record.items() if "DX" in key}
    names = tmp_path / "names.csv"
    rows = [{"code": code, "name": f"{code} {long}"} for code in sorted(filter(None, codes))]
    write_csv(names, rows)
    files = [tmp_path / "a.csv", tmp_path / "a.json"]
    options = ["--code-names", names, "-k", 3, "--csv", files[0], "--json", files[1]]
    result = run("clusters", records_table, *options)
    assert result.exit_code == 0, result.output
    groups = groups_in(files[1])
    assert {row["name"] for row in read_csv(files[0])} == {node["name"] for node in groups}
    for node in groups:
        assert set(node["name"].split(" · ")) <= {one["name"] for one in node["codes"]}
        assert node["name"].endswith(long)


@pytest.mark.parametrize("alike", [False, True])
def test_reasons_need_no_mathematics(run, tmp_path, alike):
    """What is said of groups that are not split, by chance or as all records are alike."""
    rng = np.random.default_rng(0)
    X = np.tile([1, 0], (60, 1)) if alike else rng.random((300, 12)) < 0.4
    lines = ["visit_id," + ",".join(f"c{j}" for j in range(X.shape[1]))]
    lines += [f"r{i}," + ",".join(map(str, row.astype(int))) for i, row in enumerate(X)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n")
    result = run("clusters", path, "-k", "auto", "--no-drop-constant")
    assert result.exit_code == 0, result.output
    assert words("not_split", reason="") in result.stdout
    assert not re.search("nats|eigenvalue|M2|component|penalty", result.stdout)


def test_files_of_mimic_as_they_come(run, shared_data, tmp_path):
    folder = shared_data / "mimic3_demo"
    page = tmp_path / "mimic.html"
    result = run(
        "clusters",
        folder / "DIAGNOSES_ICD.csv",
        *("--join", folder / "ADMISSIONS.csv", "--on", "HADM_ID"),
        *("--outcome", "HOSPITAL_EXPIRE_FLAG", "--rollup", "icd9"),
        *("--code-names", folder / "D_ICD_DIAGNOSES.csv", "-k", 8, "--output", page),
    )
    assert result.exit_code == 0, result.output
    assert "129 records" in result.stdout
    assert "038 Septicemia" in result.stdout
    assert "HOSPITAL_EXPIRE_FLAG" in result.stdout
    assert "Septicemia" in page.read_text(encoding="utf-8")


def test_messages_speak_of_records(run, refuses, tmp_path):
    table = tmp_path / "one.csv"
    table.write_text("id,dx\na,A01\na,A02\nb,A01\n", encoding="utf-8")
    result = run("clusters", table, "--min-records", 1, "--no-drop-constant", "-k", 3)
    assert "sample" not in result.output + result.stderr


def test_residual_dependence_is_shown_with_the_number_of_groups(run, tmp_path):
    rng = np.random.default_rng(0)
    kinds = rng.integers(2, size=600)
    X = (rng.random((600, 6)) < np.where(kinds == 1, 0.8, 0.2)[:, None]).astype(int)
    X[:, 5] = np.where(rng.random(600) < 0.5, X[:, 0], X[:, 5])
    rows = [{"id": str(i), **{f"q{j}": str(v) for j, v in enumerate(r)}} for i, r in enumerate(X)]
    table = write_csv(tmp_path / "items.csv", rows)
    path = tmp_path / "found.json"
    result = run("clusters", table, "--flat", "-k", 2, "--json", path)
    assert result.exit_code == 0, result.output
    residuals = read_json(path)["quality"]["residuals"]
    first = residuals["pairs"][0]
    assert set(first["items"]) == {"q0", "q5"}
    names = {"first": repr(first["items"][0]), "second": repr(first["items"][1])}
    line = words(
        "residual_dependence", residual=first["residual"], limit=residuals["limit"], **names
    )
    assert line in " ".join(result.stdout.split())
