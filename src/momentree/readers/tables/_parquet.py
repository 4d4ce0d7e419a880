"""Parquet files, whose few bytes may say one thing a billion times."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from momentree._limits import BYTES_PER_ROW, check_memory
from momentree.exceptions import MomentreeError, ReadError

__all__ = ["check_content", "open_parquet"]


@contextmanager
def open_parquet(path: Path) -> Iterator[Any]:
    """Open a Parquet file, with all strings as dictionaries.

    Parameters
    ----------
    path : Path
        The file.

    Yields
    ------
    pyarrow.parquet.ParquetFile
        Closed at the end. What is read from it goes through :func:`check_content`.

    Raises
    ------
    ReadError
        If it cannot be read, also inside the ``with`` block, or claims more than a file of its
        size may hold.
    """
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    try:
        with path.open("rb") as raw:
            with pq.ParquetFile(raw) as file:
                # A repeated string takes no memory, so that it can be counted first.
                columns = [file.schema.column(j) for j in range(len(file.schema))]
                texts = [one.path for one in columns if one.physical_type == "BYTE_ARRAY"]
                check_memory(path, _claimed(file))
            raw.seek(0)
            with pq.ParquetFile(raw, read_dictionary=texts) as file:
                yield file
    except MomentreeError:
        raise
    except (pa.ArrowException, MemoryError, OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        msg = f"cannot read {path} as Parquet: {reason}"
        raise ReadError(msg) from error


def _claimed(file: Any) -> int:
    """Return the bytes that a file says it takes."""
    metadata = file.metadata
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    n = metadata.num_rows * (BYTES_PER_ROW + len(file.schema))
    for j in range(len(file.schema)):
        if file.schema.column(j).max_repetition_level:  # a list holds more cells than rows
            # The description of a damaged column ends the process, unless it is read first.
            file.scan_contents([j])
            n += sum(group.column(j).num_values for group in groups)
    return int(max(n, sum(group.total_byte_size for group in groups)))


def check_content(path: Path, content: Any, known: int = 0) -> int:
    """Check what was read from a Parquet file, inside the block of :func:`open_parquet`.

    Parameters
    ----------
    path : Path
        The file.
    content : pyarrow.Table or RecordBatch
        Some of its rows.
    known : int, default=0
        Bytes that rows before these take.

    Returns
    -------
    int
        Bytes that all of these take, with repeated strings written out.

    Raises
    ------
    ReadError
        If they are more than a file of this size may take.
    pyarrow.ArrowException
        If an array is damaged, or a string is not in UTF-8.
    """
    content.validate(full=True)
    known += sum(map(_written_out, content.columns))
    check_memory(path, known)
    return known


def _written_out(array: Any) -> int:
    """Count the bytes of an array in which no string stands for others."""
    import pyarrow.compute as pc  # type: ignore[import-untyped]
    import pyarrow.types as pt  # type: ignore[import-untyped]

    if hasattr(array, "chunks"):
        return sum(map(_written_out, array.chunks))
    if pt.is_dictionary(array.type) and not pt.is_primitive(array.type.value_type):
        lengths = pc.binary_length(array.dictionary)
        return pc.sum(pc.take(lengths, array.indices)).as_py() or 0
    if pt.is_list(array.type) or pt.is_large_list(array.type):
        return _written_out(array.flatten())
    if pt.is_struct(array.type):
        return sum(map(_written_out, array.flatten()))
    return int(array.nbytes)
