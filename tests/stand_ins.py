"""Made-up files with the names that the pages use; the same on every run."""

from __future__ import annotations

import functools
import gzip
from collections.abc import Callable, Iterable
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris

from momentree import datasets
from momentree.datasets import Documents, make_hmm, make_hospital_visits, make_patient_records

PHASES = ["home", "search", "item", "cart", "pay", "help", "news", "login"]


@functools.cache
def small_corpus() -> Documents:
    """Return a sixteenth of the built-in corpus."""
    corpus = datasets.load_docstrings()
    parts = (part[::16] for part in (corpus.texts, corpus.ids, corpus.labels))
    return Documents(*parts, name=corpus.name)


def with_small_corpus():
    """Let the pages load a sixteenth of the built-in corpus."""
    small = small_corpus()
    return mock.patch.object(datasets, "load_docstrings", return_value=small)


def _texts(part: slice = slice(None)) -> pd.DataFrame:
    corpus = datasets.load_docstrings()
    columns = {"id": corpus.ids[part], "text": corpus.texts[part], "section": corpus.labels[part]}
    return pd.DataFrame(columns)


def _news(path: Path) -> None:
    _texts().to_csv(path, index=False)


def _today(path: Path) -> None:
    _texts(slice(5)).to_csv(path, index=False)


def _json_lines(path: Path) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write(_texts().to_json(orient="records", lines=True))


def _news_parquet(path: Path) -> None:
    _texts().to_parquet(path)


def _folder(part: slice) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.mkdir()
        for number, text in enumerate(_texts(part)["text"]):
            (path / f"{number:03}.txt").write_text(text, encoding="utf-8")

    return write


def _parts(path: Path) -> None:
    path.mkdir()
    for number in range(2):
        _texts(slice(number, None, 2)).to_parquet(path / f"2024-{number + 1}.parquet")


def _vectors(rows: slice) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        group = pd.factorize(pd.Series(_texts()["section"]).str.split(".").str[0])[0]
        rng = np.random.default_rng(0)
        centers = rng.normal(size=(group.max() + 1, 20))
        vectors = centers[group] + 0.5 * rng.normal(size=(len(group), 20))
        np.save(path, vectors[rows].astype(np.float32))

    return write


def _clicks(path: Path) -> None:
    clicks = make_hmm(200, 12, 3, n_symbols=len(PHASES), random_state=0)
    times = pd.date_range("2024-03-01 09:00", periods=12, freq="min").strftime("%Y-%m-%d %H:%M")
    users = [f"u{i:03}" for i in np.repeat(np.arange(200), clicks.lengths)]
    pages = np.array(PHASES)[clicks.X.ravel()]
    table = {"user": users, "time": np.tile(times, 200), "page": pages}
    pd.DataFrame(table).to_csv(path, index=False)


def _patients(path: Path) -> None:
    rng = np.random.default_rng(0)
    drawn = rng.normal([60, 12, 2], [9, 1, 0.3], (200, 3))
    drawn[::2] += [15, -3, 1]
    lines = ["id,age,hb,creatinine,smoker,ward,died"]
    for i, (age, hb, creatinine) in enumerate(drawn):
        smoker, ward = ["yes", "no"][i % 2], ["renal", "cardiac"][i % 2]
        died = "yes" if rng.random() < [0.3, 0.1][i % 2] else "no"
        lines.append(f"p{i},{age:.0f},{hb:.1f} g/dl,{creatinine:.2f},{smoker},{ward},{died}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _labs(path: Path) -> None:
    rng = np.random.default_rng(0)
    group = rng.integers(3, size=600)
    numbers = rng.normal(size=(600, 4)) + 4 * np.eye(3, 4)[group]
    pd.DataFrame(numbers.round(3), columns=["hb", "creatinine", "sodium", "crp"]).to_parquet(path)


def _records(n: int = 600, seed: int = 0) -> pd.DataFrame:
    """Return diagnoses of ICD-9, one row per code, as in MIMIC."""
    sample = make_patient_records(n, 30, 4, 6, random_state=seed)
    rows, columns = sample.X.nonzero()
    categories = [f"{250 + 7 * j}" for j in range(30)]
    codes = [f"{categories[j]}{(i * 3 + j) % 10}" for i, j in zip(rows, columns, strict=True)]
    return pd.DataFrame({"HADM_ID": 100_000 + rows, "ICD9_CODE": codes})


def _diagnoses(path: Path) -> None:
    _records().to_csv(path, index_label="ROW_ID")


def _admissions(path: Path) -> None:
    ids = sorted(set(_records()["HADM_ID"]))
    died = (np.random.default_rng(0).random(len(ids)) < 0.2).astype(int)
    table = {"SUBJECT_ID": range(len(ids)), "HADM_ID": ids, "HOSPITAL_EXPIRE_FLAG": died}
    pd.DataFrame(table).to_csv(path, index=False)


def _titles(path: Path) -> None:
    codes = sorted(set(_records()["ICD9_CODE"].str[:3]))
    table = {"ICD9_CODE": codes, "LONG_TITLE": [f"Disease of type {code}" for code in codes]}
    pd.DataFrame(table).to_csv(path, index=False)


def _long_codes(path: Path) -> None:
    _records().rename(columns={"HADM_ID": "visit_id", "ICD9_CODE": "icd"}).to_parquet(path)


def _hospital(number: int) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        make_hospital_visits(400, random_state=number).table.to_csv(path, index=False)

    return write


def _iris(path: Path) -> None:
    iris = load_iris(as_frame=True)
    named = iris.target_names[iris.target]
    iris.data.assign(**{"class": named}).to_csv(path, index=False)


def _tokenizer(path: Path) -> None:
    path.with_suffix(".py").write_text(
        "def lcut(text):\n    return text.split()\n", encoding="utf-8"
    )


def _new_records(path: Path) -> None:
    lines = ["visit_id,DX1,DX2,DX3", "a,V3000,V290,7746", "b,4019,2724,", "c,5990,,"]
    lines += ["d,4280,5849,9995"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


STAND_INS: dict[str, Callable[[Path], None]] = {
    "letters": _folder(slice(0, None, 2)),
    "january": _folder(slice(0, None, 2)),
    "february": _folder(slice(1, None, 2)),
    "news": _parts,
    "news.csv": _news,
    "today.csv": _today,
    "news.jsonl.gz": _json_lines,
    "news.parquet": _news_parquet,
    "vectors.npy": _vectors(slice(None)),
    "today.npy": _vectors(slice(5)),
    "clicks.csv": _clicks,
    "patients.csv": _patients,
    "labs.parquet": _labs,
    "codes.parquet": _long_codes,
    "DIAGNOSES_ICD.csv": _diagnoses,
    "ADMISSIONS.csv": _admissions,
    "D_ICD_DIAGNOSES.csv": _titles,
    "north.csv": _hospital(1),
    "south.csv": _hospital(2),
    "west.csv": _hospital(3),
    "iris.csv": _iris,
    "new.csv": _new_records,
    "jieba": _tokenizer,
}


def write_stand_ins(names: Iterable[str], folder: Path) -> None:
    """Write those of the files that have a stand-in."""
    for name in names:
        if name in STAND_INS and not (folder / name).exists():
            STAND_INS[name](folder / name)


# Files of data outside the project, with their places among these.
OUTSIDE = {"discharges.csv": "vermont_icd9/vermont_dx.csv.gz"}


def write_outside(names: Iterable[str], folder: Path, data: Path) -> None:
    """Write those of the files that are made from data outside the project."""
    for name in {*names} & {*OUTSIDE}:
        (folder / name).write_bytes(gzip.decompress((data / OUTSIDE[name]).read_bytes()))
