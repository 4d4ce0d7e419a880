"""Read a file of counts larger than memory: the first stages of a corpus on disk, in one pass."""

import logging
from contextlib import ExitStack
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from momentree.core.progress import Pace
from momentree.messages import Message, wording
from momentree.readers.copies import checksums
from momentree.readers.counts import files
from momentree.readers.stored import arrays, corpus, counts
from momentree.readers.stored.work import WorkFolder
from momentree.readers.text.vectorizer import TextVectorizer

log = logging.getLogger("momentree.readers")


def write_count_stages(
    stream: files.CountStream,
    work: WorkFolder,
    encoding: str,
    vectorizer: TextVectorizer,
    token_pattern: str | None,
) -> None:
    """Write the row names of a file, and its counts with the words that may be kept.

    These are the first two stages of a corpus.
    """
    frequencies = pd.DataFrame(columns=["documents", "occurrences"], dtype=np.float64)
    n_columns = counts.MAX_COLUMNS if stream.words is None else len(stream.words)
    n = 0
    pace = Pace(log, f"reading {stream.name}", stream.n_rows)
    with (
        work.stage(corpus.TEXTS) as (rows_folder, noted_rows),
        work.stage(corpus.WORDS) as (folder, noted),
        counts.CountsWriter(folder, n_columns) as writer,
        arrays.ArrayWriter(folder / "checksums.npy", np.uint64) as sums,
        ExitStack() as stack,
    ):
        row_files: dict[str, arrays.StringsWriter] = {}
        for X, row_names in stream.blocks:
            frequencies = _add(frequencies, X)
            writer.append(X)
            sums.append(checksums(X))
            for what, values in row_names.items():
                if what not in row_files:
                    row_files[what] = stack.enter_context(arrays.StringsWriter(rows_folder / what))
                row_files[what].extend(values)
            n += X.shape[0]
            pace.reached(n, f"{n:,} documents")
        files.check_size(stream.path, n, len(frequencies))
        writer.finish()
        sums.finish()
        listed = frequencies.index.tolist()
        words = stream.words
        named = np.array([str(j) if words is None else words[j] for j in listed], dtype=object)
        df = frequencies["documents"].to_numpy()
        kept, choice = files.candidate_words(named, df, vectorizer, token_pattern)
        notes = [*stream.notes, *choice]
        arrays.write_strings(folder / "words", named[kept].tolist())
        frequencies["numbers"] = frequencies.index.astype(np.int64)
        for name in frequencies:
            arrays.write_array(folder / f"{name}.npy", frequencies[name].to_numpy()[kept])
        noted["error"] = 0
        rows = {}
        for what in ("labels", "ids"):
            if what in row_files:
                row_files[what].finish()
                rows[what] = what
            source = files.find_companion(stream.path, what)
            if source is None:
                continue
            with arrays.StringsWriter(rows_folder / f"given_{what}") as names:
                n_lines = files.read_row_names(source, n, names.extend, notes, encoding)
                names.finish()
            if n_lines == n:
                rows[what] = f"given_{what}"
            else:
                facts = {"path": str(source), "n_lines": n_lines, "n_rows": n}
                notes.append(Message(wording.COMPANION_IGNORED, **facts))
        noted_rows |= {"name": stream.name, "notes": notes, "rows": rows, "is_cut": False}


def _add(frequencies: pd.DataFrame, X: sp.csr_array[Any]) -> pd.DataFrame:
    """Add the number of documents with each column that occurs, and that of occurrences."""
    new = pd.DataFrame({"documents": 1.0, "occurrences": X.data}, index=X.indices)
    return pd.concat([frequencies, new.groupby(level=0).sum()]).groupby(level=0).sum()
