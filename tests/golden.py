"""Run commands and estimators on small inputs and record what a user sees.

``python -m tests.golden`` shows where results differ from those in ``golden_outputs``, and
``--update`` records the new ones. Results are compared by meaning: words and counts must be equal,
other numbers to rounding errors of processors, and groups as partitions.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import re
import tempfile
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score
from typer.testing import CliRunner

import momentree as mt
from momentree import datasets
from momentree.cli import app

from .cli.conftest import make_documents, make_records, write_csv
from .processors import BLOCKS, built_in, found

FOLDER = Path(__file__).parent / "golden_outputs"
RTOL, ATOL = 1e-5, 2e-6
"""EM stops where a step gains little: rounding errors of BLAS show from the sixth digit."""

_TIME = re.compile(r"\b\d+(\.\d+)? (s|kB|MB|GB)\b")
_NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
_CHANGES = {"made", "version", "seconds", "time", "memory"}
"""Keys of what differs from run to run, or from version to version."""

COMMANDS = {
    "topics": "topics documents.csv -k 4 --json o.json --csv o.csv -o o.html --save topics.mt",
    "topics by labels": "topics documents.csv -k auto --label-column theme --json o.json",
    "topics, flat": "topics documents.csv --flat -k 4 --json o.json",
    "topics of files": "topics texts -k 3 --json o.json",
    "topics from disk": "topics documents.csv -k 4 --memory 1GB --json o.json",
    "topics of new documents": "assign topics.mt documents.csv --csv o.csv",
    "codes": "clusters visits.csv --rollup icd9 -k 4 --outcome died --fits 2-4 --stability "
    "--json o.json --csv o.csv -o o.html --save codes.mt",
    "codes of new records": "assign codes.mt visits.csv --csv o.csv",
    "codes, flat": "clusters visits.csv --flat -k 3 --table-one o.csv --json o.json",
    "artificial visits": "clusters stays.csv -k 5 --covariate age --covariate sex --json o.json",
    "yes and no": "clusters survey.csv -k auto --json o.json",
    "numbers": "clusters flowers.csv -k auto --json o.json --csv o.csv",
    "numbers, tree": "clusters flowers.csv -k 3 --outcome species --json o.json -o o.html",
    "mixed columns": "clusters patients.csv -k auto --stability --json o.json --csv o.csv",
    "sequences": "sequences steps.csv --id-column id -k 2 --json o.json --csv o.csv",
    "sums of a site": "moments visits.csv --rollup icd9 --min-cell 1 --sums a.mom",
    "sums of all sites": "merge a.mom --flat -k 4 --next o.mom",
    "numbers are no sequence": "sequences series.csv --id-column id -k 2",
}


def write_inputs(folder: Path) -> None:
    """Write the files that the commands read."""
    write_csv(folder / "documents.csv", make_documents())
    write_csv(folder / "visits.csv", make_records())
    (folder / "texts").mkdir()
    for document in make_documents(60, seed=1):
        (folder / "texts" / f"{document['key']}.txt").write_text(document["body"])
    datasets.make_hospital_visits(300, random_state=0).table.to_csv(
        folder / "stays.csv", index=False
    )
    rng = np.random.default_rng(0)
    kind = np.arange(240) % 3
    survey = rng.random((240, 9)) < np.where(np.arange(9) // 3 == kind[:, None], 0.8, 0.15)
    pd.DataFrame(survey.astype(int), columns=[f"q{j}" for j in range(9)]).to_csv(
        folder / "survey.csv", index_label="id"
    )
    iris = load_iris(as_frame=True)
    flowers = iris.data.assign(species=np.array(iris.target_names)[iris.target])
    flowers.to_csv(folder / "flowers.csv", index_label="id")
    patients = pd.DataFrame(
        {
            "age": (45 + 15 * kind + 6 * rng.normal(size=240)).round(),
            "pressure": (120 + 12 * (kind == 2) + 8 * rng.normal(size=240)).round(1),
            "sex": np.where(rng.random(240) < 0.5, "f", "m"),
            "ward": np.array(["north", "south", "west"])[(kind + (rng.random(240) < 0.2)) % 3],
        }
    )
    patients.loc[::17, "pressure"] = np.nan
    patients.to_csv(folder / "patients.csv", index_label="id")
    state = (np.arange(600) // 7) % 2
    steps = np.where(rng.random(600) < 0.8, np.where(state, "buy", "look"), "search")
    ids = np.arange(600) // 30
    pd.DataFrame({"id": ids, "step": steps}).to_csv(folder / "steps.csv", index=False)
    values = 3.0 * state[:, None] + rng.normal(size=(600, 2))
    series = pd.DataFrame(values.round(3), columns=["x", "y"])
    series.insert(0, "id", ids)
    series.to_csv(folder / "series.csv", index=False)


def run_command(line: str) -> dict[str, Any]:
    """Run a command here; return its status, its screen and the content of its files."""
    for old in Path().glob("o.*"):
        old.unlink()
    result = CliRunner().invoke(app, line.split())
    seen: dict[str, Any] = {
        "status": result.exit_code,
        "screen": [_TIME.sub("#", line.rstrip()) for line in result.output.splitlines()],
        "files": sorted(path.name for path in Path().glob("o.*")),
    }
    if Path("o.json").exists():
        seen["json"] = lasting(json.loads(Path("o.json").read_text(encoding="utf-8")))
    if Path("o.csv").exists():
        rows = list(csv.reader(Path("o.csv").read_text(encoding="utf-8").splitlines()))
        seen["csv"] = [rows[0], len(rows), rows[1 :: max(len(rows) // 5, 1)]]
    return seen


def lasting(content: Any) -> Any:
    """Leave out what differs from run to run, and shorten long lists and numbers."""
    if isinstance(content, dict):
        return {key: lasting(value) for key, value in content.items() if key not in _CHANGES}
    if isinstance(content, list):
        shown = content if len(content) <= 12 else [*content[:10], f"... {len(content)} in all"]
        return [lasting(value) for value in shown]
    return float(f"{content:.9g}") if isinstance(content, float) else content


def more_estimators() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield estimators and variants that `tests.processors` does not fit."""
    topics = datasets.make_single_topic(300, 40, 4, random_state=0).X
    growth = {"depth": {"growth": "depth"}, "unrefined": {"refine": None}}
    for name, options in growth.items():
        yield f"tree, {name}", lambda options=options: mt.TopicTree(4, **options).fit(topics)
    for method in ("svtd", "tensor_power_method", "als", "svd_method", "jennrich"):
        yield (
            f"topics by {method}",
            lambda method=method: mt.SingleTopicModel(4, decomposition=method).fit(topics),
        )
    gaussians = datasets.make_spherical_gaussians(300, 5, 4, random_state=0).X
    for kind in ("full", "tied", "diag"):
        yield (
            f"Gaussians, {kind}",
            lambda kind=kind: mt.GaussianMixture(4, covariance_type=kind).fit(gaussians),
        )
    yield "views", lambda: mt.MultiviewMixture(4).fit(BLOCKS["long blocks"])
    mixed = pd.DataFrame(gaussians, columns=list("abcde")).assign(counts=topics.toarray()[:, 0])
    yield "mixed", lambda: mt.MixedMixture(3).fit(mixed)


def run_estimator(fit: Callable[[], Any]) -> dict[str, Any]:
    """Fit an estimator; return its groups and what describes them."""
    seen = found(fit())
    weights = [float(f"{weight:.9g}") for weight in seen["weights"]]
    return {**seen["exact"], "weights": weights}


def differences(old: Any, new: Any, where: str = "") -> Iterator[str]:
    """Yield where two results differ in meaning."""
    if where.endswith(".labels") and isinstance(old, list) and old and len(old) == len(new):
        if adjusted_rand_score(old, new) < 1.0:
            yield f"{where}: other groups"
    elif isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            yield from differences(old.get(key), new.get(key), f"{where}.{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for at, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from differences(one, other, f"{where}[{at}]")
    elif isinstance(old, str) and isinstance(new, str):
        numbers = zip(_NUMBER.findall(old), _NUMBER.findall(new), strict=False)
        if _NUMBER.sub("#", old) != _NUMBER.sub("#", new) or not all(same(*two) for two in numbers):
            yield f"{where}: {old!r} was, {new!r} is"
    elif not same(old, new):
        yield f"{where}: {str(old)[:200]} was, {str(new)[:200]} is"


def same(old: Any, new: Any) -> bool:
    """Return whether two numbers, or texts of numbers, are equal up to rounding errors."""
    try:
        return math.isclose(float(old), float(new), rel_tol=RTOL, abs_tol=ATOL)
    except (TypeError, ValueError):
        return bool(old == new)


def results(file: str, names: Collection[str] = ()) -> dict[str, Any]:
    """Return the results of the cases of a file, "estimators" or "commands": all, or of names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if file == "estimators":
            fits = [*built_in(), *more_estimators()]
            return {name: run_estimator(fit) for name, fit in fits if not names or name in names}
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            write_inputs(Path(folder))
            lines = COMMANDS.items()
            return {name: run_command(line) for name, line in lines if not names or name in names}


def changes(file: str, names: Collection[str] = (), *, update: bool = False) -> list[str]:
    """Return where the results differ from those recorded, and record the new ones if asked."""
    path, new = FOLDER / f"{file}.json", results(file, names)
    old = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if names:
        old = {name: old[name] for name in names}
    if update:
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(new[name])}" for name in new)
        path.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    return list(differences(old, new, file))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="record the new results")
    update = parser.parse_args().update
    for file in ("estimators", "commands"):
        print("\n".join(changes(file, update=update)))
