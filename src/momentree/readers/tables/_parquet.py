"""Read Parquet files with a memory limit: a few bytes can repeat a value a billion times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from momentree._types import Floats
from momentree.core.limits import BYTES_PER_ROW, check_memory
from momentree.exceptions import MomentreeError, ReadError
from momentree.messages import Message
from momentree.readers.tables.table import (
    SAMPLE_ROWS,
    Source,
    Table,
    as_written,
    check_names,
    rows_of_part,
)


def open_parquet(path: Path, *, between: str) -> Source:
    """Open a Parquet file and read its first rows; `between` separates the entries of lists."""
    with _opened(path) as file:
        schema = file.schema_arrow
        names = check_names(path, schema.names)
        if len(set(schema.names)) < len(names):  # Arrow finds columns by their names
            raise ReadError("duplicate_columns", path=str(path), columns=[""])
        stored = dict(zip(names, schema.names, strict=True))
        kinds = {
            name: str(kind)
            for name, kind in zip(names, schema.types, strict=True)
            if not _is_text(kind)
        }
        head = _table(path, file, stored, kinds, between, SAMPLE_ROWS)
        n_rows = file.metadata.num_rows

    def read(wanted: Sequence[str]) -> Table:
        with _opened(path) as file:
            return _table(path, file, {name: stored[name] for name in wanted}, kinds, between)

    def parts(wanted: Sequence[str]) -> Iterator[Table]:
        with _opened(path) as file:
            columns = {name: stored[name] for name in wanted}
            n = n_bytes = 0
            for batch in _batches(file, _rows_of_batch(file), list(columns.values())):
                batch.validate(full=True)
                # Of all batches: stored one by one, they would fill the disk.
                n_bytes += sum(map(_unfolded, batch.columns))
                check_memory(path, n_bytes)
                cells = {name: _strings(batch.column(columns[name]), between) for name in columns}
                yield Table(path, cells, batch.num_rows, partial(_origin, n), kinds=kinds)
                n += batch.num_rows

    return Source(head, read, parts, n_rows)


def _origin(above: int, row: int) -> Message:
    return Message("at_row", row=above + row + 1)


def _batches(file: Any, n_rows: int, columns: list[str]) -> Iterator[Any]:
    """Yield the rows in batches, a few row groups at a time.

    Arrow keeps what it has read of all its row groups until the last batch of them.
    """
    groups: list[int] = []
    n, last = 0, file.metadata.num_row_groups - 1
    for group in range(last + 1):
        groups.append(group)
        n += file.metadata.row_group(group).num_rows
        if n >= n_rows or group == last:
            yield from file.iter_batches(n_rows, row_groups=groups, columns=columns)
            groups, n = [], 0


def _rows_of_batch(file: Any) -> int:
    metadata = file.metadata
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    return rows_of_part(sum(g.total_byte_size for g in groups) / max(1, metadata.num_rows))


def _table(
    path: Path,
    file: Any,
    stored: dict[str, str],
    kinds: dict[str, str],
    between: str,
    most: int | None = None,
) -> Table:
    """Read columns, given by their names here and in the file, from all rows or the first ones."""
    cells: dict[str, list[str]] = {name: [] for name in stored}
    numbers, fractions = dict.fromkeys(stored, 0), set()
    n_rows = n_bytes = 0
    for batch in _batches(file, most or 20_000, list(stored.values())):
        batch.validate(full=True)
        n_bytes += sum(map(_unfolded, batch.columns))
        check_memory(path, n_bytes)
        n_rows += batch.num_rows
        for name in stored:
            array = batch.column(stored[name])
            cells[name].extend(_strings(array, between))
            floats = _floats(array)
            numbers[name] += len(floats)
            if (floats % 1 != 0).any():
                fractions.add(name)
        if most is not None:
            break
    return Table(
        path,
        cells,
        n_rows,
        partial(_origin, 0),
        kinds=kinds,
        fractional={name: numbers[name] for name in cells if name in fractions},
    )


def _strings(array: Any, between: str) -> list[str]:
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.compute as pc  # type: ignore[import-untyped]
    import pyarrow.types as pt  # type: ignore[import-untyped]

    if pt.is_list(array.type) and _is_text(array.type.value_type) and not array.values.null_count:
        array = pc.binary_join(pc.cast(array, pa.list_(pa.string())), between)
    if pt.is_nested(array.type):
        return [as_written(value, between) for value in array.to_pylist()]
    texts = pc.cast(array, pa.string())
    if pt.is_floating(array.type) or pt.is_decimal(array.type):
        texts = pc.replace_substring_regex(texts, r"\.0+$|^nan$", "")
    return [text or "" for text in texts.to_pylist()]


def _floats(array: Any) -> Floats:
    """Return the finite numbers of an array whose type allows fractions."""
    import pyarrow.types as pt

    if not (pt.is_floating(array.type) or pt.is_decimal(array.type)):
        return np.empty(0)
    values = array.to_pandas().to_numpy(dtype=np.float64, na_value=np.nan)
    return np.asarray(values[np.isfinite(values)])


def _is_text(kind: Any) -> bool:
    import pyarrow.types as pt

    if pt.is_dictionary(kind):
        kind = kind.value_type
    return bool(pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind))


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open a Parquet file with strings as dictionaries, so that repeated ones take no memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    try:
        with path.open("rb") as raw:
            with pq.ParquetFile(raw) as file:
                columns = [file.schema.column(j) for j in range(len(file.schema))]
                texts = [one.path for one in columns if one.physical_type == "BYTE_ARRAY"]
                check_memory(path, _claimed(file))
            raw.seek(0)
            with pq.ParquetFile(raw, read_dictionary=texts) as file:
                yield file
    except MomentreeError:
        raise
    except (pa.ArrowException, MemoryError, OSError, ValueError) as error:
        details = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise ReadError("unreadable_parquet", path=str(path), details=details) from error


def _claimed(file: Any) -> int:
    """Return the number of bytes that a file claims to take in memory."""
    metadata = file.metadata
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    n = metadata.num_rows * (BYTES_PER_ROW + len(file.schema))
    for j in range(len(file.schema)):
        if file.schema.column(j).max_repetition_level:  # lists contain more cells than rows
            # Arrow crashes on the metadata of a damaged column unless the column is read first.
            file.scan_contents([j])
            n += sum(group.column(j).num_values for group in groups)
    return int(max(n, sum(group.total_byte_size for group in groups)))


def _unfolded(array: Any) -> int:
    """Return the size in bytes of an array with its repeated strings written out."""
    import pyarrow.compute as pc
    import pyarrow.types as pt

    if pt.is_dictionary(array.type) and not pt.is_primitive(array.type.value_type):
        lengths = pc.binary_length(array.dictionary)
        return pc.sum(pc.take(lengths, array.indices)).as_py() or 0
    if pt.is_list(array.type) or pt.is_large_list(array.type):
        return _unfolded(array.flatten())
    if pt.is_struct(array.type):
        return sum(map(_unfolded, array.flatten()))
    return int(array.nbytes)
