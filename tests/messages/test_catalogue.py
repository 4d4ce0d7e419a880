"""Every code that the package uses has words, and the words name only values that are there."""

from __future__ import annotations

import ast
from pathlib import Path
from string import Formatter

import pytest

from momentree import exceptions
from momentree.messages import CATALOGUE, PYTHON, Audience, Message, catalogue, in_words

PACKAGE = Path(catalogue.__file__).parents[2]
SOURCES = [
    path
    for path in PACKAGE.rglob("*.py")
    if "catalogue" not in path.parts and path.name != "message.py"
]
CLASSES = {"Message", *exceptions.__all__}


def fields(template: str) -> set[str]:
    """The values that a template names, those in format specifications included."""
    found: set[str] = set()
    for _, name, spec, _ in Formatter().parse(template):
        if name is not None:
            value = {spec[1:]} if spec and spec[0] == "=" else fields(spec or "")
            found |= {name.split(".")[0]} | value
    return found - {"parameters", "samples"}


def messages() -> list[tuple[str, str, set[str], bool]]:
    """(place, code, names of values, whether there may be more) of each message that is made."""
    out = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and node.args):
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            first = node.args[0]
            if name in CLASSES and isinstance(first, ast.Constant) and isinstance(first.value, str):
                values = {keyword.arg for keyword in node.keywords}
                place = f"{path.relative_to(PACKAGE)}:{node.lineno}"
                out.append((place, first.value, values - {None}, None in values))
    return out


def test_every_message_has_its_words_and_they_name_its_values():
    wrong = [
        f"{place}: {code}"
        for place, code, values, more in messages()
        if code not in CATALOGUE or not (more or fields(CATALOGUE[code]) <= values)
    ]
    assert wrong == []


def test_no_words_without_a_message_and_no_code_twice():
    source = "".join(path.read_text(encoding="utf-8") for path in SOURCES)
    assert [code for code in CATALOGUE if f'"{code}"' not in source] == []
    rooms = [
        getattr(catalogue, path.stem).WORDS
        for path in Path(catalogue.__file__).parent.glob("[!_]*.py")
    ]
    assert sum(map(len, rooms)) == len(CATALOGUE)


def test_words_differ_by_audience():
    message = Message("not_a_choice", parameter="max_df", value=2, choices=["a", "b", "c"])
    assert str(message) == "max_df=2; expected 'a', 'b' or 'c'"
    options = Audience(lambda name, text, _: f"--{name.replace('_', '-')} {text or ''}".strip())
    assert in_words(message, options) == "--max-df 2; expected 'a', 'b' or 'c'"
    assert in_words(message, Audience(str, {"not_a_choice": "no"})) == "no"


@pytest.mark.parametrize(
    ("template", "values", "words"),
    [
        ("{n:~row}", {"n": 1}, "1 row"),
        ("{n:~entry/entries}", {"n": 1200}, "1,200 entries"),
        ("{n} {n:?is/are}", {"n": 2}, "2 are"),
        ("{x:and}", {"x": ["a", "b", "c"]}, "a, b and c"),
        (
            "{x:quoted list}",
            {"x": [str(i) for i in range(10)]},
            "'0', '1', '2', '3', '4', '5', '6', '7' and 2 more",
        ),
        ("{parameters.min_df:2}", {}, "min_df=2"),
        ("{parameters.min_df}", {}, "min_df"),
        (
            "{x}",
            {"x": Message("too_few_samples", found=1, needed=2)},
            "1 sample; at least 2 are required",
        ),
        ("{x!r}", {"x": "{brace}"}, "'{brace}'"),
    ],
)
def test_templates(template, values, words):
    assert (
        in_words(
            Message("code", **values),
            Audience(PYTHON.parameter, {"code": template}),
        )
        == words
    )
