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


@cache
def templates() -> dict[str, str]:
    """Return the templates of the package by code."""
    found: dict[str, str] = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                code = CODE.match(node.value)
                if code is not None:
                    assert found.setdefault(code[1], node.value) == node.value, code[1]
    return found


def message(code: str, /, **values: object) -> Message:
    """Return a message of the package by its code."""
    return Message(templates()[code], **values)
