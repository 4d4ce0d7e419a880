"""A small labeled corpus as a table, and ways to run the command on it."""

from __future__ import annotations

import functools
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
import typer.testing
from typer.testing import CliRunner

from momentree.cli import app
from momentree.exceptions import MomentreeError
from momentree.messages import Audience, in_words
from tests.wording import message

THEMES = {
    "sea": "boat harbour sail wind wave anchor mast island tide crew",
    "kitchen": "oven bread flour butter sugar recipe spoon onion garlic sauce",
    "garden": "rose soil seed spade lawn hedge tulip worm compost pruning",
    "music": "violin chord melody rhythm concert singer piano drum orchestra tune",
}
N_DOCUMENTS = 160

# Typer would build all commands again for each run, which takes a third of the time.
typer.testing._get_command = functools.cache(typer.testing._get_command)

# Codes of ICD-9 as they are written in records, below those they are rolled up to.
CONDITIONS = {
    "heart": "41401 42731 4280 4019 2724",
    "kidney": "5856 40391 5849 27651 28521",
    "birth": "V270 66401 65971 64891 64511",
    "newborn": "V3000 V290 7746 76519 7706",
}
CODE_NAMES = {
    "414": "Ischemic heart disease",
    "427": "Cardiac dysrhythmias",
    "428": "Heart failure",
    "401": "Essential hypertension",
    "272": "Disorders of lipoid metabolism",
    "585": "Chronic kidney disease",
    "403": "Hypertensive chronic kidney disease",
    "584": "Acute kidney failure",
    "276": "Disorders of fluid, electrolyte and acid-base balance",
    "285": "Other and unspecified anemias",
    "V27": "Outcome of delivery",
    "664": "Trauma to perineum",
    "659": "Other indications for care",
    "648": "Other conditions of the mother",
    "645": "Late pregnancy",
    "V30": "Single liveborn",
    "V29": "Observation of newborns",
    "774": "Other perinatal jaundice",
    "765": "Short gestation",
    "770": "Respiratory conditions of newborn",
}
N_RECORDS = 240
N_SLOTS = 6
# Deaths of each condition: three is a number to be hidden.
DEATHS = {"heart": 18, "kidney": 30, "birth": 0, "newborn": 3}


def invoke(*arguments):
    """Run the command in this process; return the result."""
    return CliRunner().invoke(app, [*map(str, arguments)])


def make_documents(n: int = N_DOCUMENTS, seed: int = 0) -> list[dict[str, str]]:
    """Draw documents of one theme each, with a few words of the others."""
    rng = np.random.default_rng(seed)
    names = list(THEMES)
    everything = " ".join(THEMES.values()).split()
    documents = []
    for i in range(n):
        label = names[i % len(names)]
        words = rng.choice(THEMES[label].split(), 18).tolist() + rng.choice(everything, 3).tolist()
        documents.append({"key": f"d{i:03}", "body": " ".join(words), "theme": label})
    return documents


def write_csv(path: Path, documents: list[dict[str, str]], separator: str = ",", **options) -> Path:
    """Write documents as a table; no field needs quotes."""
    lines = [separator.join(documents[0])] + [separator.join(d.values()) for d in documents]
    path.write_text("\n".join(lines) + "\n", **options)
    return path


def make_records(n: int = N_RECORDS, seed: int = 0) -> list[dict[str, str]]:
    """Draw records of one condition each: most codes of it and at most one other."""
    rng = np.random.default_rng(seed)
    names = list(CONDITIONS)
    everything = " ".join(CONDITIONS.values()).split()
    left = dict(DEATHS)
    records = []
    for i in range(n):
        condition = names[i % len(names)]
        usual = CONDITIONS[condition].split()
        codes = [code for code in usual if rng.random() < 0.7] or usual[:1]
        codes += rng.choice(everything, int(rng.random() < 0.3)).tolist()
        slots = codes + [""] * (N_SLOTS - len(codes))
        died, left[condition] = left[condition] > 0, left[condition] - 1
        records.append(
            {
                "visit_id": f"r{i:03}",
                "condition": condition,
                "died": "yes" if died else "no",
                **{f"DX{j + 1}": code for j, code in enumerate(slots)},
            }
        )
    return records


@pytest.fixture(scope="session")
def records():
    """Records with visit_id, condition, died and six columns of codes."""
    return make_records()


@pytest.fixture(scope="session")
def records_table(tmp_path_factory, records):
    """The records as a CSV file, for tests that only read it."""
    return write_csv(tmp_path_factory.mktemp("records") / "visits.csv", records)


@pytest.fixture(scope="session")
def code_names(tmp_path_factory):
    """Names of the codes as a CSV file."""
    path = tmp_path_factory.mktemp("names") / "names.csv"
    lines = [f'{code},"{name}"' for code, name in CODE_NAMES.items()]
    path.write_text("\n".join(["code,name", *lines]) + "\n")
    return path


@pytest.fixture
def clusters(run, records_table):
    """Group the records by the roll-up into four groups, with more options; return the result."""

    def invoke(*options, table=records_table, groups=4):
        return run("clusters", table, "--rollup", "icd9", "-k", groups, *options)

    return invoke


@pytest.fixture(scope="session")
def documents():
    """Documents with key, body and theme."""
    return make_documents()


@pytest.fixture
def table(tmp_path, documents):
    """The documents as a CSV file."""
    return write_csv(tmp_path / "documents.csv", documents)


@pytest.fixture(scope="session")
def lasting_table(tmp_path_factory, documents):
    """The documents as a CSV file, for tests that only read it."""
    return write_csv(tmp_path_factory.mktemp("corpus") / "documents.csv", documents)


@pytest.fixture
def hostile_table(tmp_path):
    """Documents whose ids, words, labels and names of columns hold control characters."""
    words = {"sea\x1b[2J": "boat harbour sail wind", "kit\u202echen": "oven bread flour butter"}
    lines = ["key\x1b[1m,body,theme"]
    for i in range(40):
        label = list(words)[i % 2]
        lines.append(f"d\x1b[5m{i},{words[label]} w\x1b[31mord,{label}")
    path = tmp_path / "hostile.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def model(tmp_path_factory, lasting_table):
    """A model of the documents, four leaves."""
    path = tmp_path_factory.mktemp("model") / "themes.mt"
    result = invoke("topics", lasting_table, "-k", "4", "--save", path, "--quiet")
    assert result.exit_code == 0, result.output
    return path


@pytest.fixture
def run(monkeypatch):
    """Run the command in this process; return the result."""
    monkeypatch.delenv("COLUMNS", raising=False)  # the terminal of the tests may have any width
    return invoke


class Refusal(str):
    """The line on standard error, with the code of the error."""

    code: str | None


@pytest.fixture
def refuses(run):
    """Run the command; check that it ends with status 2 and one line, and return that line."""

    def invoke(*arguments):
        result = run(*arguments)
        assert result.exit_code == 2, result.output
        assert result.stdout == ""
        assert result.stderr.startswith("momentree: error: ")
        assert result.stderr.count("\n") == 1
        line = Refusal(result.stderr)
        line.code = code_of(result.exception)
        return line

    return invoke


def code_of(error: BaseException | None) -> str | None:
    """Return the code of the error of momentree that another one came from."""
    while error is not None and not isinstance(error, MomentreeError):
        error = error.__context__
    return None if error is None else error.code


def words(code: str, **values) -> str:
    """Return the words of a message, with parameters as options of the same name."""

    def option(name: str, text: str | None, _value: object) -> str:
        flag = "--" + name.replace("_", "-")
        return flag if text is None else f"{flag} {text}"

    return in_words(message(code, **values), Audience(option))


def clean_environment(**changes: str) -> dict[str, str]:
    """Return the environment without what forces or forbids colors, and with changes."""
    drop = {"FORCE_COLOR", "NO_COLOR", "GITHUB_ACTIONS", "PY_COLORS", "COLUMNS", "PYTHONIOENCODING"}
    return {k: v for k, v in os.environ.items() if k not in drop} | changes


COMMAND = [sys.executable, "-c", "from momentree.cli import main; main()"]


def read_json(path: Path):
    """Read a JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))
