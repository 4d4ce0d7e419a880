"""The templates of all messages, as they stand where the messages are raised."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import momentree
from momentree.messages import Message

PACKAGE = Path(momentree.__file__).parent
CODE = re.compile(r"\[([a-z0-9_]+)\] ")


def templates() -> dict[str, str]:
    """Return the templates of the package by code."""
    found: dict[str, str] = {}
    for path in PACKAGE.rglob("*.py"):
        for code, template in _templates_in(path):
            assert found.setdefault(code, template) == template, code
    return found


@cache
def _templates_in(path: Path) -> list[tuple[str, str]]:
    strings = (
        node.value
        for node in ast.walk(ast.parse(_source(path)))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return [(code[1], string) for string in strings if (code := CODE.match(string))]


@cache
def _source(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def message(code: str, /, **values: object) -> Message:
    """Return a message of the package by its code."""
    # Most files are not parsed, which takes long.
    paths = [path for path in PACKAGE.rglob("*.py") if f"[{code}] " in _source(path)]
    (template,) = {text for path in paths for other, text in _templates_in(path) if other == code}
    return Message(template, **values)
