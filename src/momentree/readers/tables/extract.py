"""Program that extracts the content of spreadsheets and PDF files, apart from the main process.

The compiled readers crash on some damaged files, and a damaged or hostile file may exhaust memory
and time. They therefore run in a separate process, with limits where the system supports them, and
this program imports only the standard library and one reader, whose folder it is given.

With "sheet", it reads a spreadsheet from standard input and prints the rows of a sheet as JSON: the
first line describes the sheet or the error; every other line contains the number of a row and its
cells. Empty rows are left out, since the reader allocates memory for every cell between the first
and the last one. With "pdf", it reads a path per line and prints a JSON result per line.
"""

import io
import json
import sys
from contextlib import suppress
from datetime import date, datetime, time
from typing import Any

BYTES_OF_A_CELL = 8
"""Bytes that an empty cell takes in a table."""

_BASE = 1 << 28
"""Bytes that the process uses before it reads anything."""
_TIMES = 4
"""Bytes that the process uses for each byte of a table."""
_MEMORY = 3 << 29
"""Bytes for a PDF file."""
_SECONDS = 60
"""Processor time for one PDF file."""
_PASSWORD = 4  # FPDF_ERR_PASSWORD


def _limit_memory(limit: int) -> None:
    with suppress(ImportError, ValueError, OSError):  # not on Windows
        import resource

        known = [limit, *resource.getrlimit(resource.RLIMIT_AS)]
        smallest = min(limit for limit in known if limit != resource.RLIM_INFINITY)
        resource.setrlimit(resource.RLIMIT_AS, (smallest, known[2]))


def _limit_time() -> None:
    with suppress(ImportError, ValueError, OSError):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        until = int(used.ru_utime + used.ru_stime) + _SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (until, hard))


def _plain(cell: object) -> object:
    if isinstance(cell, date | datetime | time):
        return cell.isoformat()
    return cell if isinstance(cell, str | bool | int | float) else str(cell)


def _write(value: object) -> None:
    sys.stdout.buffer.write(json.dumps(value).encode() + b"\n")


def _print_sheet(wanted: str | None, limit: int) -> None:
    # Only this process has the path to the package.
    from python_calamine import CalamineWorkbook

    book: Any = CalamineWorkbook.from_filelike(io.BytesIO(sys.stdin.buffer.read()))
    names = book.sheet_names
    name = wanted if wanted is not None else next(iter(names), None)
    if name not in names:
        _write({"names": names, "name": None})
        return
    sheet = book.get_sheet_by_name(name)
    takes = sheet.height * sheet.width * BYTES_OF_A_CELL
    _write({"names": names, "name": name, "end": sheet.end, "takes": takes})
    if takes > limit:
        return
    first = sheet.start[0] if sheet.start else 0
    for number, row in enumerate(sheet.to_python(), start=first):
        if any(cell != "" for cell in row):
            _write([number, [_plain(cell) for cell in row]])


def _text(library: Any, path: str, most: int) -> dict[str, Any]:
    """Return the text of a file, or a word for what is wrong with it."""
    try:
        document = library.PdfDocument(path)
    except library.PdfiumError as error:
        code = getattr(error, "err_code", None)
        locked = code == _PASSWORD or "password" in str(error).lower()
        return {"fault": "encrypted" if locked else "damaged"}
    pages, length = [], 0
    for i in range(len(document)):
        try:
            page = document[i]
            layer = page.get_textpage()
            text = layer.get_text_bounded()
            layer.close()
            page.close()
        except library.PdfiumError:  # one damaged page
            continue
        pages.append(text)
        length += len(text)
        if length > most:
            return {"fault": "large", "length": length}
    document.close()
    if not any(map(str.strip, pages)):
        return {"fault": "no text" if pages else "damaged"}
    # The mark of a hyphen at the end of a line, and line ends of Windows.
    text = "\n\f".join(pages).replace("\r\n", "\n").replace("\r", "\n")
    return {"text": text.replace("\x02\n", "").replace("\x02", "").replace("\ufffe", "")}


def _read_sheet(wanted: str, limit: str) -> None:
    _limit_memory(_BASE + _TIMES * int(limit))
    try:
        _print_sheet(json.loads(wanted), int(limit))
    except BaseException as error:  # a panic in the reader is not an Exception
        _write({"error": " ".join(str(error).split()) or type(error).__name__})


def _read_pdfs() -> None:
    _limit_memory(_MEMORY)
    import pypdfium2

    for line in sys.stdin.buffer:
        _limit_time()
        path, most = json.loads(line)
        try:
            answer = _text(pypdfium2, path, most)
        except Exception as error:
            answer = {"fault": "damaged", "details": str(error)}
        _write(answer)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    kind, folder, *options = sys.argv[1:]
    sys.path.insert(0, folder)
    if kind == "sheet":
        _read_sheet(*options)
    else:
        _read_pdfs()
