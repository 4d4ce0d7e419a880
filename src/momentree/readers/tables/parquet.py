"""Read Parquet files with a memory limit: a few bytes can repeat a value a billion times."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pyarrow.types as pt  # type: ignore[import-untyped]

from momentree._types import Floats
from momentree.core.limits import BYTES_PER_ROW, check_memory
from momentree.exceptions import MomentreeError, ReadError
from momentree.messages import wording
from momentree.readers.tables import grid


def open_parquet(path: Path, *, between: str) -> grid.Source:
    """Open a Parquet file and read its first rows; `between` separates the entries of lists."""
    with _opened(path) as file:
        schema, n_rows = file.schema_arrow, file.metadata.num_rows
    names = grid.check_names(path, schema.names)
    if len(set(schema.names)) < len(names):  # Arrow finds columns by their names
        raise ReadError(wording.DUPLICATE_COLUMNS, path=str(path), columns=[""])
    stored = dict(zip(names, schema.names, strict=True))
    kinds = {
        name: str(kind)
        for name, kind in zip(names, schema.types, strict=True)
        if not _is_text(kind)
    }

    def batches(wanted: Sequence[str], rows: int | None = None) -> Generator[grid.Table]:
        with _opened(path) as file:
            columns = {name: stored[name] for name in wanted}
            above = n_bytes = 0
            for batch in _batches(file, rows, list(columns.values())):
                batch.validate(full=True)
                # Of all batches: stored one by one, they would fill the disk.
                n_bytes += sum(map(_unfold, batch.columns))
                check_memory(path, n_bytes)
                arrays = {name: batch.column(columns[name]) for name in columns}
                cells = {name: _strings(array, between) for name, array in arrays.items()}
                floats = {name: _floats(array) for name, array in arrays.items()}
                fractional = {n: len(x) for n, x in floats.items() if (x % 1 != 0).any()}
                origin = partial(grid.numbered_rows, above)
                yield grid.Table(path, cells, batch.num_rows, origin, kinds, fractional)
                above += batch.num_rows

    empty = grid.Table(path, {name: [] for name in names}, 0, partial(grid.numbered_rows, 0), kinds)
    with closing(batches(names, grid.SAMPLE_ROWS)) as first:
        head = next(first, empty)
    return grid.Source(head, batches, n_rows)


def _batches(file: Any, n_rows: int | None, columns: list[str]) -> Iterator[Any]:
    """Yield the rows in batches, a few row groups at a time.

    Arrow keeps what it has read of all its row groups until the last batch of them.
    """
    groups = _row_groups(file)
    n_all = max(1, file.metadata.num_rows)
    n_rows = n_rows or grid.rows_of_part(sum(group.total_byte_size for group in groups) / n_all)
    some: list[int] = []
    for i in range(len(groups)):
        some.append(i)
        if i == len(groups) - 1 or sum(groups[j].num_rows for j in some) >= n_rows:
            yield from file.iter_batches(n_rows, row_groups=some, columns=columns)
            some = []


def _row_groups(file: Any) -> list[Any]:
    return [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]


def _strings(array: Any, between: str) -> list[str]:
    if pt.is_list(array.type) and _is_text(array.type.value_type) and not array.values.null_count:
        array = pc.binary_join(pc.cast(array, pa.list_(pa.string())), between)
    if pt.is_nested(array.type):
        return [grid.as_written(value, between) for value in array.to_pylist()]
    texts = pc.cast(array, pa.string())
    if pt.is_floating(array.type) or pt.is_decimal(array.type):
        texts = pc.replace_substring_regex(texts, r"\.0+$|^nan$", "")
    return [text or "" for text in texts.to_pylist()]


def _floats(array: Any) -> Floats:
    """Return the finite numbers of an array whose type allows fractions."""
    if not (pt.is_floating(array.type) or pt.is_decimal(array.type)):
        return np.empty(0)
    values = array.to_pandas().to_numpy(dtype=np.float64, na_value=np.nan)
    return np.asarray(values[np.isfinite(values)])


def _is_text(kind: Any) -> bool:
    if pt.is_dictionary(kind):
        kind = kind.value_type
    return bool(pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind))


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open a Parquet file with strings as dictionaries, so that repeated ones take no memory."""
    try:
        with path.open("rb") as raw:
            with pq.ParquetFile(raw) as file:
                columns = [file.schema.column(j) for j in range(len(file.schema))]
                texts = [c.path for c in columns if c.physical_type == "BYTE_ARRAY"]
                check_memory(path, _claim(file))
            raw.seek(0)
            with pq.ParquetFile(raw, read_dictionary=texts) as file:
                yield file
    except MomentreeError:
        raise
    except (pa.ArrowException, MemoryError, OSError, ValueError) as error:
        details = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise ReadError(wording.UNREADABLE_PARQUET, path=str(path), details=details) from error


def _claim(file: Any) -> int:
    """Return the number of bytes that a file claims to take in memory."""
    groups = _row_groups(file)
    n = file.metadata.num_rows * (BYTES_PER_ROW + len(file.schema))
    for j in range(len(file.schema)):
        if file.schema.column(j).max_repetition_level:  # lists contain more cells than rows
            # Arrow crashes on the metadata of a damaged column unless the column is read first.
            file.scan_contents([j])
            n += sum(group.column(j).num_values for group in groups)
    return int(max(n, sum(group.total_byte_size for group in groups)))


def _unfold(array: Any) -> int:
    """Return the size in bytes of an array with its repeated strings written out."""
    if pt.is_dictionary(array.type) and not pt.is_primitive(array.type.value_type):
        lengths = pc.binary_length(array.dictionary)
        return pc.sum(pc.take(lengths, array.indices)).as_py() or 0
    if pt.is_list(array.type) or pt.is_large_list(array.type):
        return _unfold(array.flatten())
    if pt.is_struct(array.type):
        return sum(map(_unfold, array.flatten()))
    return int(array.nbytes)
