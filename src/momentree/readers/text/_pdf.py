"""Read the text layer of PDF files in a separate process that serves one file after another."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from momentree.core.limits import check_memory, memory_limit
from momentree.exceptions import ReadError
from momentree.readers.text import _pdf_process

_FAULTS = {"encrypted": "encrypted_pdf", "no text": "pdf_without_text"}


class PdfReader:
    """A process that extracts the text of PDF files; it starts with the first one."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def read(self, path: Path) -> str:
        """Return the text of all pages.

        Raises
        ------
        ReadError
            If the file cannot be opened, is damaged, needs a password or has no text layer, or
            takes too much memory or time.
        """
        try:
            with path.open("rb") as file:
                start = file.read(1024)
            request = json.dumps([str(path.resolve()), memory_limit(path)]).encode()
        except OSError as error:
            reason = error.strerror or str(error)
            raise ReadError("unreadable_path", path=str(path), error=reason) from error
        if b"%PDF" not in start:
            raise ReadError("wrong_content", path=str(path), format="PDF")
        line = self._ask(request)
        if not line:
            self.close()
            raise ReadError("damaged_file", path=str(path), format="PDF")
        answer = json.loads(line)
        if "text" in answer:
            return str(answer["text"])
        if answer["fault"] == "large":
            check_memory(path, answer["length"])
        raise ReadError(_FAULTS.get(answer["fault"], "damaged_file"), path=str(path), format="PDF")

    def _ask(self, request: bytes) -> bytes:
        """Return the answer of the process; nothing if it ended."""
        if self._process is None:
            self._process = _start()
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None  # noqa: S101 - it is a pipe
        assert stdout is not None  # noqa: S101
        try:
            stdin.write(request + b"\n")
            stdin.flush()
        except BrokenPipeError:
            return b""
        line = stdout.readline()
        return line if line.endswith(b"\n") else b""

    def close(self) -> None:
        """End the process; the next file starts another one."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
        process.wait()


def _start() -> subprocess.Popen[bytes]:
    spec = find_spec("pypdfium2")
    assert spec is not None  # noqa: S101 - it is a dependency
    assert spec.origin is not None  # noqa: S101 - and not a namespace package
    folder = str(Path(spec.origin).parents[1])
    return subprocess.Popen(  # noqa: S603 - runs this Python with a file of this package
        [sys.executable, "-I", "-S", _pdf_process.__file__, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
