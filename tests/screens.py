"""Run the blocks of a page as a reader would, and renew the output that is written in them.

``python -m tests.screens`` lists the pages whose output differs, ``--update`` rewrites it there;
names of pages, such as ``docs/command.md``, select some.

Each page has a folder of its own with the files of ``stand_ins.py`` that it names. Its blocks run
there, in this process and in the order of the page:

- ``console``: the lines after ``$``, or all lines if none begins with it, are commands. ``\\`` at
  the end continues a line. Only ``momentree`` and ``cat`` run. The output after a ``$`` line is
  that of both streams; a line ``...`` stands for any lines. Times (``0.6 s``) may differ.
- ``python``: in fresh variables; a block whose imports are not installed is left out if it says
  ``# requires``. A comment after ``print(...)`` is what it prints; ``...`` ends it early.

Blocks that name a file of data outside the project run only if that is there.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from unittest import mock

from typer.testing import CliRunner

from momentree.cli import app

from .stand_ins import OUTSIDE, with_small_corpus, write_outside, write_stand_ins

REPOSITORY = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OTHER_PROGRAMS = {"make", "pip", "python"}
_NAME = re.compile(r"[\w.*-]+")
_TIME = re.compile(r"\b\d+(\.\d+)? s\b")


def pages() -> list[Path]:
    """Return the pages that have blocks."""
    every = [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")]
    return sorted(page for page in every if BLOCK.search(page.read_text(encoding="utf-8")))


def is_outside(block: str) -> bool:
    """Whether the block reads data outside the project, or what a block before made of them."""
    return any(re.search(rf"\b{Path(name).stem}\.", block) for name in OUTSIDE)


def commands_of(block: str) -> list[tuple[str, str]]:
    """Split a console block into commands, as they are written, and the output after each."""
    shown = re.split(r"^\$ ", block, flags=re.MULTILINE)
    if len(shown) == 1:
        return [(line, "") for line in re.findall(r"(?:.*\\\n)*.+\n", block)]
    parts = [re.fullmatch(r"((?:.*\\\n)*.*\n)((?:.*\n)*)", part) for part in shown[1:]]
    return [part.groups() for part in parts if part]  # type: ignore[misc]


def run_command(line: str) -> str:
    """Run a command in this process; return its output, which must not be an error."""
    program, *arguments = shlex.split(line.replace("\\\n", ""), comments=True)
    if program in OTHER_PROGRAMS:
        return ""
    if program == "cat":
        return "".join(Path(name).read_text(encoding="utf-8") for name in arguments)
    assert program == "momentree", f"{line}: not a command that the pages may use"
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, f"{line}\n{result.output}"
    return result.output


def renewed_output(written: str, output: str) -> str:
    """Return the output in the form in which it is written, with its times if they alone differ."""
    if not written.strip():
        return written
    lines = [line.rstrip() for line in output.splitlines()]
    old = written.splitlines()
    if "..." in old:
        first, last = old.index("..."), len(old) - old.index("...") - 1
        lines = [*lines[:first], "...", *lines[len(lines) - last :]]
    end = "\n" * (len(written) - len(written.rstrip("\n")))  # a blank line before the next "$"
    new = "\n".join(lines).rstrip("\n") + end
    return written if _TIME.sub("# s", new) == _TIME.sub("# s", written) else new


def renewed_console(block: str) -> str:
    """Run the commands of a block; return the block with their output."""
    prompt = "$ " if block.startswith("$ ") else ""
    return "".join(
        f"{prompt}{line}{renewed_output(written, run_command(line))}"
        for line, written in commands_of(block)
    )


def missing_packages(code: str) -> list[str]:
    """Return the packages that the code imports and that are not installed."""
    tree = ast.walk(ast.parse(code))
    names: list[str] = []
    for node in tree:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.append(node.module)
    return sorted({name for name in (n.split(".")[0] for n in names) if find_spec(name) is None})


def run_python(code: str, name: str) -> None:
    """Run a block in variables of its own, and compare what it prints with its comments."""
    missing = missing_packages(code)
    assert not missing or "# requires" in code, f"{missing} are not installed, and not asked for"
    if missing:
        return
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, name, "exec"), {"__name__": "page"})
    rest = printed.getvalue()
    for comment in re.findall(r"^\s*print\(.*\)  # (.*)$", code, re.MULTILINE):
        wanted = comment.removesuffix("...").strip()
        assert wanted in rest, f"{wanted!r} is not in what is printed: {rest!r}"
        rest = rest.split(wanted, 1)[1]


def renewed(page: Path, folder: Path, outside: Path | None = None, *, all_blocks: bool) -> str:
    """Run the blocks of a page in a folder; return the page with their output.

    With the folder of the data outside, run the blocks that read them, and with ``all_blocks`` the
    others too.
    """
    text = page.read_text(encoding="utf-8")

    def renew(match: re.Match[str]) -> str:
        kind, block = match.groups()
        if (is_outside(block) and outside is None) or (not is_outside(block) and not all_blocks):
            return match[0]
        write_stand_ins(_NAME.findall(block), folder)
        if outside is not None:
            write_outside(_NAME.findall(block), folder, outside)
        line = text[: match.start()].count("\n") + 1
        try:
            if kind == "console":
                return f"```console\n{renewed_console(block)}```"
            run_python(block, f"{page.name}:{line}")
        except BaseException as error:
            error.add_note(f"in the block at {page.name}:{line}")
            raise
        return match[0]

    with contextlib.chdir(folder), with_small_corpus(), mock.patch.dict(os.environ):
        os.environ.pop("COLUMNS", None)  # the terminal of the tests may have any width
        return BLOCK.sub(renew, text)


def _differing(chosen: list[Path]) -> Iterator[tuple[Path, str]]:
    data = REPOSITORY.parent / "shared" / "data"
    outside = data if data.is_dir() else None
    for page in chosen:
        with tempfile.TemporaryDirectory() as folder:
            text = renewed(page, Path(folder), outside, all_blocks=True)
        if text != page.read_text(encoding="utf-8"):
            yield page, text


def main() -> int:
    """List the pages whose output differs (status 1 if there are any), or rewrite it."""
    parser = argparse.ArgumentParser(prog="python -m tests.screens", description=__doc__)
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--update", action="store_true", help="rewrite the output in the pages")
    options = parser.parse_args()
    changed = False
    for page, text in _differing([page.resolve() for page in options.pages] or pages()):
        print(page.relative_to(REPOSITORY), "rewritten" if options.update else "differs")
        if options.update:
            page.write_text(text, encoding="utf-8")
        changed = True
    return int(changed and not options.update)


if __name__ == "__main__":
    sys.exit(main())
