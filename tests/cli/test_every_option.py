"""Each option on each kind of input works, or is refused in one line that says why.

Options that work are given together, in as few runs as they allow, and in the long tests alone.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
import typer

from momentree.cli import app

from .conftest import code_of, invoke

N = 40
COLUMNS = {"id_column": "id", "title": "Mine", "escape_formulas": True}
TABLES = {"encoding": "utf-8", "separator": ",", "sheet": "one", "skip_rows": 0, "header": True}
FILES = {"output": "r.html", "csv": "r.csv", "json": "r.json", "save": "r.mt"}
COMMON = {**COLUMNS, **TABLES, **FILES, "quiet": True, "verbose": True, "rename": "0=First"}
GROUPS = {"table_one": "one.csv", "fits_table": "fits.csv", "fits": "2-2", "stability": True}
CODES = {"code_names": "icd10", "rollup": "icd10", "min_cell": 1}
LARGE = {"memory": "800MB", "resume": True, "refine": "none"}

# A value of each option of each command; one that begins with @ is a file of the inputs.
VALUES = {
    "topics": {
        **COMMON,
        **LARGE,
        "groups": 2, "max_depth": 1, "min_samples_leaf": 2, "flat": True,
        "model": "lda", "search": "none", "log_scaling": "none", "text_column": "body",
        "label_column": "label", "order": "nr",
        "language": "none", "stop_words": "boat,sail", "min_df": 1, "max_df": "1.0",
        "max_features": 9, "phrases": True, "ngrams": 2, "token_pattern": "[a-z]+",
        "tokenizer": "shlex:split", "lowercase": True, "raw": True, "passages": "none",
        "unique": True, "documents": 5, "scheduler": "tcp://127.0.0.1:1",
        "embeddings": "@vectors.npy", "vocabulary": "@vocab.txt", "like": "@old.mt",
    },
    "clusters": {
        **COMMON,
        **LARGE,
        **CODES,
        **GROUPS,
        "groups": 2, "flat": True, "min_samples_leaf": 2, "form": "auto", "code_column": "*10",
        "union_by": "patient", "outcome": "class", "covariate": "class", "ignore": "patient",
        "join": "@ages.csv", "on": "id", "empty": "zero", "min_records": 1, "min_codes": 1,
        "cumulative_frequency": 1, "drop_constant": True, "kind": "x=number", "missing": 999,
        "edit": "merge 0 1", "include_records": True,
    },
    "sequences": {
        **COMMON,
        **CODES,
        "groups": 2, "time_column": "time", "time_format": "%Y", "code_column": "page",
        "id_column": "user", "min_sequences": 1, "include_sequences": True,
        "sequence_csv": "s.csv",
    },
}  # fmt: skip
# What else an option is documented to need.
NEEDS = {
    "model": ("flat",),
    "fits": ("flat",),
    "fits_table": ("flat", "fits"),
    "order": ("output",),
    "documents": ("output",),
    "include_records": ("output",),
    "include_sequences": ("output",),
    "resume": ("memory",),
    "join": ("on",),
    "on": ("join",),
}
# Options that exclude some of the others, in one line for each run of a quick test.
APART = {
    "topics": [
        "flat model quiet ngrams rename",
        "memory resume refine verbose",
        "embeddings",
        "tokenizer log_scaling like",
        "phrases max_depth passages",
    ],
    "clusters": [
        "flat fits fits_table covariate",
        "memory resume refine quiet",
        "edit verbose rename",
        "union_by stability",
        "join on",
    ],
    "sequences": ["quiet"],
}
# The kinds of input of each command.
KINDS = {
    "topics": {"folder": "letters", "table": "texts.csv", "counts": "docword.txt"},
    "clusters": {"wide": "wide.csv", "long": "long.csv", "numbers": "n.csv", "mixed": "m.csv"},
    "sequences": {"steps": "steps.csv"},
}
# Kinds that differ from the others of the command in how they are read, and in nothing else.
ONLY_READ = ("folder", "counts", "long")
OF_READING = ("Reading", "Counting", "Codes")
# What does not apply to a kind of input, and the message that says so.
NO_SHEETS = {"sheet": "spreadsheets_only"}
NOT_ON_WORKERS = {"scheduler": "only_parquet_on_workers"}
FOR_CODES = ("union_by", "rollup", "code_names", "min_records", "cumulative_frequency", "min_codes")
NO_CODES = {
    **NO_SHEETS,
    "code_column": "no_such_column",
    **dict.fromkeys((*FOR_CODES, "drop_constant"), "neither_codes_nor_measurements"),
}
NO_MEASUREMENTS = {**NO_SHEETS, **dict.fromkeys(("kind", "missing"), "applies_to_other_form")}
NO_TREE = dict.fromkeys(("min_samples_leaf", "edit"), "edits_need_a_tree")
OF_TEXTS = ("id_column", "separator", "sheet", "header", "text_column", "label_column")
OF_WORDS = ("lowercase", "phrases", "ngrams", "tokenizer", "raw")
REFUSED = {
    ("topics", "folder"): {
        **NOT_ON_WORKERS,
        **dict.fromkeys(("id_column", "text_column", "label_column"), "not_for_text_files"),
        **dict.fromkeys(("separator", "sheet", "header"), "not_for_text_files"),
        "order": "no_columns_to_order_by",
        "vocabulary": "only_for_counts",
    },
    ("topics", "table"): {**NOT_ON_WORKERS, **NO_SHEETS, "vocabulary": "only_for_counts"},
    ("topics", "counts"): {
        **NOT_ON_WORKERS,
        **dict.fromkeys((*OF_TEXTS, *OF_WORDS), "only_for_texts"),
        "order": "no_columns_to_order_by",
    },
    ("clusters", "wide"): NO_MEASUREMENTS,
    ("clusters", "long"): NO_MEASUREMENTS,
    ("clusters", "numbers"): NO_CODES,
    ("clusters", "mixed"): {**NO_CODES, **NO_TREE},
    ("sequences", "steps"): NO_SHEETS,
}


def write(path, names, rows):
    path.write_text("\n".join(",".join(map(str, row)) for row in [names, *rows]) + "\n")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """One small input of each kind, in two groups, and the files that options name."""
    folder = tmp_path_factory.mktemp("inputs")
    rng = np.random.default_rng(0)
    side = np.arange(N) % 2
    words = ["boat", "sail", "wind", "wave", "mast", "oven", "bread", "flour", "sugar", "spoon"]
    texts = [rng.choice(words[5 * g : 5 * g + 5], 12).tolist() for g in side]
    (folder / "letters").mkdir()
    for i, text in enumerate(texts):
        (folder / "letters" / f"{i:02}.txt").write_text(" ".join(text))
    rows = [(i, " ".join(text), i, g) for i, (text, g) in enumerate(zip(texts, side, strict=True))]
    write(folder / "texts.csv", ["id", "body", "nr", "label"], rows)
    counts = [(i + 1, j + 1, t.count(w)) for i, t in enumerate(texts) for j, w in enumerate(words)]
    entries = [f"{i} {j} {n}" for i, j, n in counts if n]
    lines = [N, len(words), len(entries), *entries]
    (folder / "docword.txt").write_text("\n".join(map(str, lines)) + "\n")
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")

    key = ["id", "patient", "class"]
    keys = [(f"r{i}", f"p{i // 2}", "ab"[i // 2 % 2]) for i in range(N)]
    codes = [rng.choice(list(("ABCD", "EFGH")[g]), 3, replace=False) for g in side]
    yes = [(*k, *(int(c in had) for c in "ABCDEFGH")) for k, had in zip(keys, codes, strict=True)]
    write(folder / "wide.csv", [*key, *(f"{c}10" for c in "ABCDEFGH")], yes)
    long = [(*k, f"{c}10") for k, had in zip(keys, codes, strict=True) for c in had]
    write(folder / "long.csv", [*key, "dx10"], long)
    x = rng.normal(size=(N, 3)) + 20
    x += 9 * side[:, None]
    x[:, 1] += 9 * (np.arange(N) // 2 % 2)
    numbers = [(*k, *row) for k, row in zip(keys, x.round(2).tolist(), strict=True)]
    write(folder / "n.csv", [*key, "x", "y", "z"], numbers)
    mixed = [(*row, ("east", "west")[g]) for row, g in zip(numbers, side, strict=True)]
    write(folder / "m.csv", [*key, "x", "y", "z", "site"], mixed)
    write(folder / "ages.csv", ["id", "age"], [(k[0], 30 + i) for i, k in enumerate(keys)])
    pages = ("A10", "B20", "C30")
    steps = [(f"u{i}", 2000 + t, pages[(i + t * (i % 2)) % 3]) for i in range(20) for t in range(6)]
    write(folder / "steps.csv", ["user", "time", "page"], steps)

    np.save(folder / "vectors.npy", rng.normal(size=(N, 4)) + 5 * side[:, None])
    write(folder / "names.csv", ["number", "name"], [(0, "First"), (1, "Second")])
    old = invoke("topics", folder / "texts.csv", "-k", 2, "--save", folder / "old.mt")
    assert old.exit_code == 0, old.stderr
    return folder


@functools.cache
def declared(command):
    """The options that a command declares, by name."""
    parameters = typer.main.get_command(app).commands[command].params
    return {p.name: p for p in parameters if p.param_type_name == "option" and p.name != "help"}


@pytest.mark.parametrize("command", KINDS)
def test_every_option_has_a_value(command):
    assert set(declared(command)) == set(VALUES[command])


def line_of(command, *names):
    """The arguments that give options, what they need, and a small number of groups."""
    line = []
    for name in dict.fromkeys(part for one in names for part in (*NEEDS.get(one, ()), one)):
        value = VALUES[command][name]
        option = declared(command)[name]
        flag = (option.secondary_opts if value is False else option.opts)[0]
        line += (flag,) if isinstance(value, bool) else (flag, value)
    return line if "groups" in names else [*line, "-k", 2]


def case(command, kind, name):
    """An option that is refused; one that works has a run of its own in the long tests only."""
    marks = () if name in REFUSED[command, kind] else pytest.mark.long
    return pytest.param(command, kind, name, marks=marks)


CASES = [
    (command, kind, name)
    for command, kinds in KINDS.items()
    for name, option in declared(command).items()
    for kind in kinds
    if kind not in ONLY_READ or option.rich_help_panel.startswith(OF_READING)
]


def together(command, kind):
    """The options that work on this kind of input, in one list for each run."""
    tried = [name for c, k, name in CASES if (c, k) == (command, kind)]
    works = [name for name in tried if name not in REFUSED[command, kind]]
    runs = [run.split() for run in APART[command]]
    last = sorted({*works}.difference(*runs))
    return [[name for name in run if name in works] for run in (*runs, last)]


TOGETHER = [
    (command, kind, names)
    for command, kinds in KINDS.items()
    for kind in kinds
    for names in together(command, kind)
    if names
]


def test_what_is_refused_is_tried():
    refused = {(*of, name) for of, names in REFUSED.items() for name in names}
    assert refused <= set(CASES)


@pytest.mark.parametrize(("command", "kind", "name"), [case(*one) for one in CASES])
def test_an_option_works_or_is_refused_in_one_line(
    inputs, tmp_path, monkeypatch, command, kind, name
):
    monkeypatch.chdir(tmp_path)
    line = line_of(command, name) + ([] if name == "csv" else ["--csv", "r.csv"])
    check(inputs, tmp_path, command, kind, line, REFUSED[command, kind].get(name))


@pytest.mark.parametrize(("command", "kind", "names"), TOGETHER)
def test_options_work_together(inputs, tmp_path, monkeypatch, command, kind, names):
    monkeypatch.chdir(tmp_path)
    line = line_of(command, *names) + ([] if "csv" in names else ["--csv", "r.csv"])
    check(inputs, tmp_path, command, kind, line, None)


def check(inputs, tmp_path, command, kind, line, code):
    """Run with these options; check the status, the files and what is said."""
    line = [str(inputs / part[1:]) if str(part).startswith("@") else part for part in line]
    found = invoke(command, inputs / KINDS[command][kind], *line)
    status = 0 if code is None else 2
    assert (found.exit_code, code_of(found.exception)) == (status, code), found.stderr
    written = {*line} & {*FILES.values(), "one.csv", "fits.csv", "s.csv"}
    assert {path.name for path in tmp_path.iterdir()} == (written if code is None else set())
    assert found.stderr.count("error: ") == (code is not None)
    if code is not None:
        assert found.stderr.splitlines()[-1].startswith("momentree: error: ")
        assert "Traceback" not in found.stderr
