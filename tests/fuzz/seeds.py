"""Small valid inputs of every format, from which the mutated ones are made."""

from __future__ import annotations

import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from momentree import SingleTopicModel, Site, next_round
from momentree.datasets import store_counts
from tests.readers.text import office_files

THEMES = (
    ["boat", "harbour", "sail", "wind", "wave", "anchor"],
    ["oven", "bread", "flour", "butter", "sugar", "recipe"],
    ["rose", "soil", "seed", "spade", "lawn", "hedge"],
)
CODES = (
    ["41401", "42731", "4280", "4019"],
    ["5856", "40391", "5849", "27651"],
    ["V270", "66401", "65971", "64891"],
)
CODE_NAMES = sorted({code for codes in CODES for code in codes})
N_DOCUMENTS, N_RECORDS = 24, 36


def documents() -> list[dict[str, str]]:
    """Return documents on one theme each, with one word of another."""
    rng = random.Random(1)
    found = []
    for i in range(N_DOCUMENTS):
        theme = THEMES[i % 3]
        words = [*rng.choices(theme, k=9), rng.choice(THEMES[(i + 1) % 3])]
        found.append(
            {"key": f"d{i:02}", "text": " ".join(words), "theme": theme[0], "year": f"{2000 + i}"}
        )
    return found


def records() -> list[tuple[str, list[str], str]]:
    """Return records: an id, codes of one condition and at times one of another, an outcome."""
    rng = random.Random(2)
    found = []
    for i in range(N_RECORDS):
        codes = rng.sample(CODES[i % 3], 3) + rng.sample(CODES[(i + 1) % 3], int(i % 4 == 0))
        found.append((f"r{i:02}", codes, "yes" if rng.random() < 0.3 else "no"))
    return found


def counts() -> np.ndarray:
    """Return the counts of words of the documents."""
    words = vocabulary()
    return np.array([[d["text"].split().count(w) for w in words] for d in documents()])


def vocabulary() -> list[str]:
    return sorted({word for theme in THEMES for word in theme})


def _table(rows: list[list[str]], separator: str = ",") -> bytes:
    return "".join(separator.join(row) + "\n" for row in rows).encode()


def record_tables() -> dict[str, list[list[str]]]:
    """Return the records in each layout of tables."""
    found = records()
    return {
        "long": [["visit_id", "code"], *([r, c] for r, codes, _ in found for c in codes)],
        "lists": [["visit_id", "codes", "died"], *([r, ";".join(c), o] for r, c, o in found)],
        "slots": [
            ["visit_id", "DX1", "DX2", "DX3", "DX4", "died"],
            *([r, *(codes + [""] * 4)[:4], o] for r, codes, o in found),
        ],
        "wide": [
            ["visit_id", *CODE_NAMES, "died"],
            *([r, *("01"[c in codes] for c in CODE_NAMES), o] for r, codes, o in found),
        ],
    }


def _vectors(n: int) -> np.ndarray:
    """Return embeddings of n documents."""
    return np.eye(6)[np.arange(n) % 6] + 0.1


def _bytes(write: Any, *arguments: Any, **options: Any) -> bytes:
    out = io.BytesIO()
    write(out, *arguments, **options)
    return out.getvalue()


def _xlsx(rows: list[list[str]]) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    return _bytes(book.save)


def _ods(rows: list[list[str]]) -> bytes:
    """Return a minimal OpenDocument spreadsheet."""
    names = ("office", "table", "text")
    spaces = " ".join(f'xmlns:{n}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"' for n in names)
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    empty = '<table:table-cell table:number-columns-repeated="2"/>'
    lines = "".join(
        f'<table:table-row table:number-rows-repeated="1">{"".join(map(cell.format, row))}{empty}'
        "</table:table-row>"
        for row in rows
    )
    content = (
        f"<office:document-content {spaces}><office:body><office:spreadsheet><table:table "
        f'table:name="a">{lines}</table:table></office:spreadsheet></office:body>'
        "</office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    space = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    entry = '<m:file-entry m:full-path="{}" m:media-type="{}"/>'
    entries = entry.format("/", kind) + entry.format("content.xml", "text/xml")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", kind)
        archive.writestr("content.xml", content)
        archive.writestr(
            "META-INF/manifest.xml", f'<m:manifest xmlns:m="{space}">{entries}</m:manifest>'
        )
    return out.getvalue()


def _mailed(text: str) -> bytes:
    """Return a message of a mailbox."""
    return b"From a@b.org Mon Jan  1 00:00:00 2024\n" + office_files.mail("news", text) + b"\n"


_WRITERS: Mapping[str, Callable[[str], bytes]] = {
    "pdf": office_files.pdf,
    "docx": office_files.docx,
    "odt": office_files.odt,
    "rtf": office_files.rtf,
    "eml": lambda text: office_files.mail("news", text, html=True),
    "html": lambda text: f"<meta charset=cp1252><p>{text} &eacute;</p>".encode(),
    "txt": lambda text: f"{text} é".encode("cp1252"),
    "json": lambda text: json.dumps({"a": {"text": text, "n": [{"b": 1}]}}).encode(),
}


def texts() -> dict[str, dict[str, bytes]]:
    """Return the files of each text input of ``topics``, the input itself first."""
    found = documents()
    rows = [list(found[0]), *(list(d.values()) for d in found)]
    lines = "\n".join(json.dumps(d) for d in found).encode()
    return {
        "folder": {f"docs/{d['theme']}/{d['key']}.txt": d["text"].encode() for d in found[:12]},
        "csv": {"docs.csv": _table(rows)},
        "csv.gz": {"docs.csv.gz": gzip.compress(_table(rows), mtime=0)},
        "tsv": {"docs.tsv": _table(rows, "\t")},
        "jsonl": {"docs.jsonl": lines},
        "jsonl.gz": {"docs.jsonl.gz": gzip.compress(lines, mtime=0)},
        "json": {"docs.json": json.dumps(found).encode()},
        "parquet": {"docs.parquet": _bytes(pd.DataFrame(found).to_parquet)},
        "xlsx": {"docs.xlsx": _xlsx(rows)},
        "ods": {"docs.ods": _ods(rows)},
        "no-header": {"docs.csv": _table(rows[1:])},
        "nested": {"docs.json": json.dumps({"n": 1, "hits": [{"a": d} for d in found]}).encode()},
        "mbox": {"docs.mbox": b"".join(_mailed(d["text"]) for d in found)},
        "formats": {
            f"docs/{d['theme']}/{d['key']}.{form}": write(d["text"])
            for d, (form, write) in zip(found, 3 * [*_WRITERS.items()], strict=False)
        },
        "stop-words": {"docs.csv": _table(rows), "stop.txt": b"wind\nsugar\nlawn\n"},
        "embeddings": {"docs.csv": _table(rows), "v.npy": _bytes(np.save, _vectors(len(found)))},
    }


def count_files() -> dict[str, dict[str, bytes]]:
    """Return the files of each input of counts of ``topics``."""
    X = counts()
    words = {"vocab.txt": "\n".join(vocabulary()).encode() + b"\n"}
    cells = [f"{i + 1} {j + 1} {X[i, j]}\n" for i, j in zip(*np.nonzero(X), strict=True)]
    bag = "".join([f"{X.shape[0]}\n{X.shape[1]}\n{len(cells)}\n", *cells]).encode()
    files: dict[str, dict[str, bytes]] = {
        "docword": {"docword.a.txt": bag, **words},
        "docword.gz": {"docword.a.txt.gz": gzip.compress(bag, mtime=0), **words},
        "svmlight": {
            "a.svm": _bytes(lambda out: dump_svmlight_file(X, np.arange(len(X)), out)),
            **words,
        },
    }
    for form in ("csr", "csc", "coo", "bsr", "dia"):
        matrix = sp.coo_array(X.astype(np.float64 if form == "csc" else np.int64)).asformat(form)
        files[f"npz-{form}"] = {"a.npz": _bytes(sp.save_npz, matrix), **words}
    with TemporaryDirectory() as folder:
        stored = Path(folder) / "counts"
        store_counts([X[:9], X[9:]], stored, feature_names=vocabulary())
        files["stored"] = {f"counts/{path.name}": path.read_bytes() for path in stored.iterdir()}
    matrices: dict[str, tuple[Any, dict[str, Any]]] = {
        "mtx-coordinate": (sp.coo_array(X), {}),
        "mtx-pattern": (sp.coo_array(X > 0), {"field": "pattern"}),
    }
    for name, (matrix, options) in matrices.items():
        files[name] = {"a.mtx": _bytes(scipy.io.mmwrite, matrix, **options), **words}
    return files


def state_files() -> dict[str, dict[str, bytes]]:
    """Return the files of two sites in the first round and in all, and the last question."""
    X, answers, last = counts(), [], b""
    model = SingleTopicModel(3, start="moments", refine=None)
    while question := next_round(model, answers):
        about = {"model": "single-topic", "reader": None, "options": {}}
        for part in (X[:12], X[12:]):
            site = Site(part, columns=vocabulary(), min_count=1, about=about)
            answers.append(site.state(question))
        last = question
    files = {f"{i}.mom": state.to_bytes() for i, state in enumerate(answers)}
    first = {name: files[name] for name in ("0.mom", "1.mom")}
    return {"first": first, "all": files, "question": {"question.mom": last}}


_GROUP_NAMES = [["number", "name"], ["0", "One group"], ["1", "Another one"]]


def record_files() -> dict[str, dict[str, bytes]]:
    """Return the files of each input of ``clusters``."""
    tables = record_tables()
    slots = tables["slots"]
    frame = pd.DataFrame(slots[1:], columns=slots[0])
    lists = frame[["visit_id"]].assign(codes=frame[["DX1", "DX2"]].to_numpy().tolist())
    wide = pd.DataFrame(tables["wide"][1:], columns=tables["wide"][0]).drop(columns="died")
    wide[CODE_NAMES] = wide[CODE_NAMES].astype(int)
    groups = _table([["code", "group"], *([code, code[:2]] for code in CODE_NAMES)])
    late = ([row[0], str(i % 2)] for i, row in enumerate(slots[1:]))
    stays = _table([["visit_id", "late"], *late])
    names = _table([["code", "name"], *([code, f"Name of {code}"] for code in CODE_NAMES)])
    return {
        **{form: {"t.csv": _table(rows)} for form, rows in tables.items()},
        "slots.tsv.gz": {"t.tsv.gz": gzip.compress(_table(slots, "\t"), mtime=0)},
        "parquet-slots": {"t.parquet": _bytes(frame.to_parquet)},
        "parquet-lists": {"t.parquet": _bytes(lists.to_parquet)},
        "parquet-wide": {"t.parquet": _bytes(wide.to_parquet)},
        "xlsx": {"t.xlsx": _xlsx(slots)},
        "ods": {"t.ods": _ods(slots)},
        "mapping": {"t.csv": _table(slots), "groups.csv": groups},
        "names": {"t.csv": _table(slots), "names.csv": names},
        "group-names": {"t.csv": _table(slots), "names.csv": _table(_GROUP_NAMES)},
        "join": {"t.csv": _table(slots), "stays.csv": stays},
    }


def measurement_files() -> dict[str, dict[str, bytes]]:
    """Return the files of each table of measurements of ``clusters``."""
    rng = np.random.default_rng(0)
    g = np.arange(60) % 3
    cells: dict[str, Any] = {
        "id": [f"p{i}" for i in range(60)],
        "age": np.round(rng.normal(np.array([70, 45, 25])[g], 4), 1),
        "hb": np.round(rng.normal(np.array([9, 14, 13])[g], 0.6), 2),
    }
    numbers = pd.DataFrame(cells)
    sex, smoker = rng.choice(["f", "m", "x"], 60), np.where(rng.random(60) < g / 2, "yes", "no")
    mixed = numbers.assign(sex=sex, smoker=smoker, visits=rng.poisson(1 + 3 * g))
    mixed.loc[::9, "hb"] = np.nan
    rows = [list(mixed), *mixed.astype(object).where(mixed.notna(), "").to_numpy().tolist()]
    return {
        "numbers": {"t.csv": numbers.to_csv(index=False).encode()},
        "mixed": {"t.csv": mixed.to_csv(index=False, na_rep="NA").encode()},
        "german": {"t.csv": mixed.to_csv(index=False, sep=";", decimal=",").encode()},
        "parquet": {"t.parquet": _bytes(mixed.to_parquet)},
        "xlsx": {"t.xlsx": _xlsx(rows)},
    }


def sequence_files() -> dict[str, dict[str, bytes]]:
    """Return the files of each input of ``sequences``."""
    rng = np.random.default_rng(0)
    rows = [["user", "time", "page"]]
    cells = [["user", "codes"]]
    for i in range(30):
        states = np.repeat(rng.permutation(2), rng.integers(2, 6, 2))
        pages = [("home", "search", "buy", "cart")[2 * j + rng.integers(2)] for j in states]
        rows += [[f"u{i}", f"2024-03-{i % 28 + 1:02} 10:{t:02}", p] for t, p in enumerate(pages)]
        cells.append([f"u{i}", " > ".join(pages)])
    frame = pd.DataFrame(rows[1:], columns=rows[0])
    return {
        "long": {"s.csv": _table(rows)},
        "lists": {"s.csv": _table(cells)},
        "parquet": {"s.parquet": _bytes(frame.astype({"time": "datetime64[ns]"}).to_parquet)},
        "xlsx": {"s.xlsx": _xlsx(rows)},
    }


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files below a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
