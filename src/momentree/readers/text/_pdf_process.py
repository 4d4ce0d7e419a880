"""Program that extracts the text of PDF files: a path per line in, a JSON result per line out.

It runs apart, with limits on memory and time where the system supports them, because a damaged or
hostile file may exhaust both. It imports only the standard library and the extractor.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from typing import Any

MEMORY = 3 << 29
SECONDS = 60
"""Processor time for one file."""
_PASSWORD = 4  # FPDF_ERR_PASSWORD


def _limit_memory() -> None:
    with suppress(ImportError, ValueError, OSError):  # not on Windows
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, hard))


def _limit_time() -> None:
    with suppress(ImportError, ValueError, OSError):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        until = int(used.ru_utime + used.ru_stime) + SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (until, hard))


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


def _main(folder: str) -> None:
    sys.path.insert(0, folder)
    _limit_memory()
    import pypdfium2

    for line in sys.stdin.buffer:
        _limit_time()
        path, most = json.loads(line)
        try:
            answer = _text(pypdfium2, path, most)
        except Exception as error:
            answer = {"fault": "damaged", "details": str(error)}
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    _main(sys.argv[1])
