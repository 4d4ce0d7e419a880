"""The kinds of inputs by name, and how one input is run."""

from __future__ import annotations

import importlib
import pkgutil
import random
import shutil
from functools import cache
from pathlib import Path
from typing import Protocol

from .workers import Fault, Run

VALID = 0
"""The seed of the input that is not mutated, which must be accepted."""

_MEMORY = ("--memory", "1GB", "--min-df", "1", "-k", "3")
_TEXT = (
    ("-k", "3", "--min-df", "1"),
    ("-k", "3", "--min-df", "1", "--max-df", "1.0", "--label-column", "theme", "--max-depth", "2"),
    ("-k", "auto", "--id-column", "key", "--text-column", "text", "--no-lowercase"),
    ("--flat", "-k", "3", "--min-df", "1", "--order", "year"),
    ("--flat", "-k", "2", "--min-df", "1", "--model", "lda", "--refine", "none"),
    ("-k", "3", "--encoding", "latin-1", "--separator", ",", "--language", "none"),
    ("-k", "3", "--encoding", "utf-16"),
    ("-k", "3", "--min-df", "1", "--max-df", "1.0", "--passages", "5"),
    ("--flat", "-k", "2", "--min-df", "1", "--raw", "--unique", "--passages", "none"),
    ("-k", "3", "--min-df", "1", "--language", "en,fr", "--no-unique", "--stop-words", "said,mr"),
    (*_MEMORY, "--label-column", "theme", "--passages", "5"),
)
_FOLDER = (
    _TEXT[0],
    ("-k", "3", "--min-df", "1", "--max-df", "1.0", "--raw", "--unique", "--passages", "5"),
    ("--flat", "-k", "2", "--min-df", "1", "--encoding", "cp1252"),
    _MEMORY,
)
_COUNTS = (
    ("-k", "3", "--min-df", "1", "--max-df", "1.0"),
    ("-k", "3", "--min-df", "1", "--max-df", "1.0", "--vocabulary", "@/vocab.txt"),
    ("-k", "3", "--refine", "none", "--log-scaling", "none"),
    ("--flat", "-k", "3", "--min-df", "1", "--max-df", "1.0", "--model", "lda"),
    (*_MEMORY, "--max-df", "1.0"),
)
_RECORDS = (
    ("-k", "3", "--min-records", "1"),
    ("-k", "3", "--id-column", "visit_id", "--min-cell", "1"),
    ("--flat", "-k", "3", "--empty", "zero", "--include-records"),
    ("-k", "3", "--union-by", "visit_id", "--cumulative-frequency", "0.9", "--stability"),
    ("-k", "auto", "--refine", "none", "--no-drop-constant"),
)
_SLOTS = (
    ("-k", "3", "--rollup", "icd9", "--code-column", "DX*", "--outcome", "died"),
    ("-k", "3", "--skip-rows", "1", "--encoding", "latin-1"),
)
_MEASUREMENTS = (
    ("-k", "3"),
    (),
    ("-k", "3", "--outcome", "age", "--min-cell", "1", "--include-records"),
    ("-k", "3", "--flat", "--missing", "999", "--ignore", "hb"),
    ("--form", "measurements", "--kind", "age=count", "--kind", "hb=category", "-k", "2"),
)
_SEQUENCES = (
    ("-k", "2", "--min-sequences", "1", "--min-cell", "1", "--include-sequences"),
    ("-k", "2", "--id-column", "user", "--time-column", "none", "--code-column", "page"),
    ("-k", "auto", "--time-format", "%Y-%m-%d %H:%M", "--skip-rows", "0"),
)


class Kind(Protocol):
    """A kind of inputs."""

    def run(self, rng: random.Random, folder: Path, *, valid: bool) -> str:
        """Make an input, run it in an empty folder and return its outcome."""
        ...


def load() -> None:
    """Import all modules that inputs need, before processes are forked."""
    import matplotlib.figure  # noqa: F401
    import pandas  # noqa: F401
    import pyarrow.compute
    import pyarrow.parquet  # noqa: F401
    import python_calamine  # noqa: F401

    import momentree

    for module in pkgutil.walk_packages(momentree.__path__, "momentree."):
        if module.name != "momentree.__main__":
            importlib.import_module(module.name)


def names() -> list[str]:
    """Return the names of all kinds."""
    return list(_all(Path()))


def build(folder: Path) -> Run:
    """Return a task that makes the slow valid inputs, to run in a process of its own."""

    def run(kind: str, seed: int) -> str:
        from . import models

        models.build(folder / "models")
        return "accepted"

    return run


def runner(folder: Path) -> Run:
    """Return a function that runs one input, by its kind and seed, in the current folder."""

    def run(kind: str, seed: int) -> str:
        place = Path("input").absolute()
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        rng = random.Random(f"{kind}:{seed}")
        ended = _all(folder)[kind].run(rng, place, valid=seed == VALID)
        if seed == VALID and ended != "accepted":
            raise Fault("a valid input is refused")
        return ended

    return run


@cache
def _all(folder: Path) -> dict[str, Kind]:
    from . import estimators, models, seeds
    from .command import Files

    found: dict[str, Kind] = {}
    for name in models.NAMES:
        found[f"model-{name}"] = models.ModelFile(name, folder / "models")
    for name in estimators.cases():
        found[f"arrays-{name}"] = estimators.Estimator(name)
    for form, files in seeds.texts().items():
        options = _FOLDER if form in ("folder", "formats", "mbox") else _TEXT
        if form in ("xlsx", "ods"):
            options = (*_TEXT[:2], ("-k", "3", "--skip-rows", "1", "--no-header"))
        if form == "stop-words":
            options = ((*_TEXT[0], "--stop-words", "@/stop.txt"),)
        if form == "embeddings":
            options = ((*_TEXT[0], "--embeddings", "@/v.npy"),)
        found[f"text-{form}"] = Files("topics", files, options)
    for form, files in seeds.count_files().items():
        found[f"counts-{form}"] = Files("topics", files, _COUNTS)
    for form, files in seeds.record_files().items():
        options = (*_RECORDS, *_SLOTS) if "slots" in form else _RECORDS
        if form == "mapping":
            options = ((*_RECORDS[0], "--rollup", "@/groups.csv"),)
        elif form == "names":
            options = ((*_RECORDS[0], "--code-names", "@/names.csv"),)
        elif form == "group-names":
            options = ((*_RECORDS[0], "--rename", "@/names.csv"),)
        elif form == "join":
            joined = ("--join", "@/stays.csv", "--on", "visit_id", "--outcome", "late")
            options = ((*_RECORDS[0], *joined),)
        found[f"records-{form}"] = Files("clusters", files, options)
    for form, files in seeds.measurement_files().items():
        found[f"measurements-{form}"] = Files("clusters", files, _MEASUREMENTS)
    for form, files in seeds.sequence_files().items():
        options = _SEQUENCES[:1] if form == "lists" else _SEQUENCES
        found[f"sequences-{form}"] = Files("sequences", files, options)
    found["memory-texts"] = Files("topics", seeds.texts()["jsonl.gz"], _TEXT[-1:])
    found["memory-counts"] = Files("topics", seeds.count_files()["docword"], _COUNTS[-1:])
    found |= _sites()
    return found


def _sites() -> dict[str, Kind]:
    """Return the kinds of inputs of ``moments`` and ``merge``."""
    from . import seeds
    from .command import Files

    states, sums = seeds.state_files(), {"always": ("--sums",), "sometimes": ()}
    texts = {**seeds.texts()["csv"], "vocab.txt": "\n".join(seeds.vocabulary()).encode()}
    options = ("--model", "single-topic", "--text-column", "text", "--min-cell", "1")
    words, codes = ("--vocabulary", "@/vocab.txt"), (("--min-cell", "1"), ("--model", "poisson"))
    asked = {**texts, **states["question"]}
    merged = ("--flat", "-k", "3", "--refine", "none")
    later = tuple(f"@/{name}" for name in states["all"] if name not in states["first"])
    return {
        "moments-codes": Files("moments", seeds.record_files()["lists"], codes, **sums),
        "moments-words": Files("moments", texts, ((*options, *words),), **sums),
        "moments-round": Files(
            "moments", asked, ((*options[2:], "--round", "@/question.mom"),), **sums
        ),
        "merge-first": Files(
            "merge", states["first"], (merged,), "1.mom", ("--next",), ("--sums",)
        ),
        "merge-last": Files("merge", states["all"], ((*merged, *later),), "1.mom", ("--save",), ()),
    }
