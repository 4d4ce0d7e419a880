"""Read coded records from a table larger than memory: from cells to counts on disk, in two stages.

The first stage numbers the different cells and writes, for each record, the numbers of its cells.
The second interprets the different cells, by the rules for a table in memory, and writes the codes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from momentree.core.choices import Empty
from momentree.core.limits import memory_bytes
from momentree.exceptions import InvalidParameterError
from momentree.readers.records.layout import find_layout
from momentree.readers.records.names import Mapped
from momentree.readers.records.objects import RecordCoder
from momentree.readers.stored.arrays import open_array
from momentree.readers.stored.counts import StoredCounts
from momentree.readers.stored.objects import StoredRecords
from momentree.readers.stored.record_cells import CELLS, CellStage
from momentree.readers.stored.record_codes import RECORDS, CodeStage
from momentree.readers.stored.work import WorkFolder
from momentree.readers.tables.files import AUTO, check_exists
from momentree.readers.tables.reader import open_table
from momentree.readers.tables.schema import as_names, columns_read


def store_records(
    path: str | PathLike[str],
    folder: str | PathLike[str],
    *,
    memory: int | str = "1GB",
    resume: bool = False,
    id_column: str | None = None,
    code_columns: str | Sequence[str] | None = None,
    union_by: str | None = None,
    ignore_columns: str | Sequence[str] = (),
    empty: Empty = "missing",
    rollup: Mapped | None = None,
    names: Mapped | None = None,
    min_records: int | None = None,
    cumulative_frequency: float | None = None,
    min_codes: int | None = None,
    drop_constant: bool = True,
    encoding: str = AUTO,
    separator: str | None = None,
    skip_rows: int = 0,
    header: bool | None = None,
    also: Mapping[str, Any] | None = None,
) -> StoredRecords:
    r"""Read coded records as :func:`read_records` does, in bounded memory.

    The codes are kept in a folder on disk. The work has two stages: number the different cells of
    the table; interpret them and choose the codes. Each finished stage is kept, and `resume`
    continues after it, with the same result.

    Parameters
    ----------
    path : str or path-like
        A table in CSV, TSV or Parquet, which is read in batches. Rows of the same record must be
        together.
    folder : str or path-like
        The folder to make. It must exist as long as the records are used.
    memory : int or str, default="1GB"
        Memory of the process: bytes, or "800MB", "1.5GB", "2GiB". At least 600 MB.
    resume : bool, default=False
        Whether to continue in a folder that an interrupted run has left.
    id_column, code_columns, union_by, ignore_columns, empty : optional
        Columns and their meaning, as in :func:`read_records`; guessed from the first 1,000 rows.
    rollup, names, min_records, cumulative_frequency, min_codes, drop_constant : optional
        The codes to keep, as in :func:`read_records`.
    encoding, separator, skip_rows, header : optional
        How to read the table, as in :func:`read_records`.
    also : mapping of str to object, default=None
        Options of the work that follows, which must not change either when it is continued.

    Returns
    -------
    StoredRecords
        The records of :func:`read_records` without outcomes, with codes and ids on disk.

    Raises
    ------
    InvalidParameterError
        If the table can only be read as a whole; if the folder contains unfinished work and
        `resume` is False; if the input or an option has changed since; or as in
        :func:`read_records`.
    InvalidDataError
        If rows of the same record are not together, or there are too many different cells for the
        memory; or as in :func:`read_records`.
    ReadError, EmptyCorpusError
        As in :func:`read_records`.
    MomentreeError
        If the folder cannot be written, for instance because the disk is full.

    Notes
    -----
    Memory: the different cells, at most 15% of `memory`, and about 9 bytes per record. Disk: up to
    10 bytes per code of a record, and the ids.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from momentree.datasets import store_records
    >>> with tempfile.TemporaryDirectory() as place:
    ...     file = Path(place) / "codes.csv"
    ...     _ = file.write_text("visit_id,code\na,250\na,401\nb,250\nc,401\nc,428\nd,428\n")
    ...     records = store_records(file, f"{place}/codes")
    ...     records.codes.tolist(), list(records.ids), records.X.toarray().tolist()
    (['250', '401', '428'], ['a', 'b', 'c', 'd'], [[1, 1, 0], [1, 0, 0], [0, 1, 1], [0, 0, 1]])
    """
    source = check_exists(path)
    allowed = memory_bytes(memory)
    opening: dict[str, Any] = {
        "encoding": encoding,
        "separator": separator,
        "skip_rows": skip_rows,
        "header": header,
    }
    choosing: dict[str, Any] = {
        "rollup": rollup,
        "names": names,
        "min_records": min_records,
        "cumulative_frequency": cumulative_frequency,
        "min_codes": min_codes,
        "drop_constant": drop_constant,
    }
    table = open_table(source, **opening)
    if table.parts is None:
        raise InvalidParameterError("table_not_streamed", parameter="memory", path=str(source))
    named = as_names("code_columns", code_columns)
    used = columns_read(table.head, ignore_columns, (id_column, union_by))
    columns = {name: table.head.columns[name] for name in used}
    layout = find_layout(
        replace(table.head, columns=columns),
        id_column=id_column,
        code_columns=named,
        union_by=union_by,
        outcome_columns=(),
    )
    work = WorkFolder(Path(folder))
    columns_of = {"id_column": id_column, "code_columns": named, "union_by": union_by}
    options = {
        **opening,
        **{name: _of_file(value) for name, value in choosing.items()},
        **columns_of,
        "ignore_columns": sorted({*table.head.names}.difference(used)),
        "empty": empty,
        "memory": allowed,
        **(also or {}),
    }
    with work.begun(source, options, resume=resume):
        cells = CellStage(work, table, layout)
        if not work.has(CELLS):
            cells.write(allowed)
        if not work.has(RECORDS):
            CodeStage(cells, opening, named, id_column, union_by, empty).write(**choosing)
        work.remove_stage(CELLS)
        return _open(work, table.head.path.name)


def _of_file(value: Any) -> Any:
    """Return the path of a file that an option names, so that a change of its content is found."""
    named = isinstance(value, str | PathLike) and Path(value).is_file()
    return Path(value) if named else value


def _open(work: WorkFolder, name: str) -> StoredRecords:
    """Open the result."""
    folder, noted = work.path / RECORDS, work.read(RECORDS)
    stored = StoredCounts.open(folder)
    coder = RecordCoder.from_dict(noted["coder"])
    return StoredRecords(
        X=stored.X,
        codes=np.array(coder.codes, dtype=object),
        names=dict(coder.names),
        ids=stored.ids,
        enough=np.asarray(open_array(folder / "enough.npy")),
        coder=coder,
        name=name,
        form=str(noted["form"]),
        notes=tuple(noted["notes"]),
        counts=stored,
        folder=work.path,
    )
