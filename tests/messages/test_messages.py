"""Every message names only values that it has, and is worded for its readers."""

from __future__ import annotations

import ast
import pickle
from functools import cache
from string import Formatter

import pytest

from momentree import exceptions
from momentree.exceptions import InvalidDataError
from momentree.messages import PYTHON, Audience, Message, in_words
from momentree.messages.plain import PAGE, PLAIN
from tests.wording import CODE, PACKAGE, templates

CLASSES = {"Message", "_line", "note", "words", *exceptions.__all__}


def fields(template: str) -> set[str]:
    """The values that a template names, those in format specifications included."""
    found: set[str] = set()
    for _, name, spec, _ in Formatter().parse(template):
        if name is not None:
            value = {spec[1:]} if spec and spec[0] == "=" else fields(spec or "")
            found |= {name.split(".")[0]} | value
    return found - {"parameters", "samples"}


def constants(tree: ast.Module) -> dict[str, str]:
    """The templates that a file gives a name."""
    return {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    }


@cache
def messages() -> list[tuple[str, str, set[str], bool]]:
    """(place, template, names of values, whether there may be more) of each message made."""
    shared = constants(ast.parse((PACKAGE / "messages" / "wording.py").read_text("utf-8")))
    out = []
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        named = shared | constants(tree)
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and node.args):
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            first = node.args[0]
            template = getattr(first, "value", None)
            if isinstance(first, ast.Name | ast.Attribute):
                template = named.get(getattr(first, "id", getattr(first, "attr", "")))
            if name in CLASSES and isinstance(template, str):
                values = {keyword.arg for keyword in node.keywords}
                place = f"{path.relative_to(PACKAGE)}:{node.lineno}"
                out.append((place, template, values - {None}, None in values))
    return out


def test_every_message_names_only_its_values():
    made = messages()
    assert len(made) > 500
    wrong = [
        f"{place}: {template}"
        for place, template, values, more in made
        if not (more or fields(CODE.sub("", template)) <= values)
    ]
    assert wrong == []


def test_every_message_is_a_sentence_and_not_only_a_code():
    assert [
        m for m in messages() if not CODE.sub("", m[1]).strip(" []") or m[1].isidentifier()
    ] == []


def test_plain_words_are_those_of_messages():
    assert {*PLAIN, *PAGE} <= set(templates())


CHOICE = "[not_a_choice] {parameter:=value}; expected {choices:quoted or}"


def test_words_differ_by_audience():
    message = Message(CHOICE, parameter="max_df", value=2, choices=["a", "b", "c"])
    assert str(message) == "max_df=2; expected 'a', 'b' or 'c'"
    assert repr(message) == str(message)
    options = Audience(lambda name, text, _: f"--{name.replace('_', '-')} {text or ''}".strip())
    assert in_words(message, options) == "--max-df 2; expected 'a', 'b' or 'c'"
    assert in_words(message, Audience(str, {"not_a_choice": "no"})) == "no"


def test_messages_with_the_same_code_and_values_are_equal():
    message = Message("[few] {n:~row}", n=3)
    assert message == Message("[few] only {n:~row}", n=3)
    assert message != Message("[few] {n:~row}", n=4)
    assert message.replace(n=4) == Message("[few] {n:~row}", n=4)
    assert Message("{n:~row}", n=3) != Message("only {n:~row}", n=3)
    assert len({message, Message("[few] {n:~row}", n=3)}) == 1


def test_an_error_is_raised_with_a_template_or_a_message_and_pickled():
    error = InvalidDataError("[few] {n:~row}", n=3)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == "3 rows"
    assert again.message == error.message == InvalidDataError(error.message).message
    assert again.code == "few"


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
        ("{x}", {"x": Message("{n:~sample}", n=1)}, "1 sample"),
        ("{x!r}", {"x": "{brace}"}, "'{brace}'"),
        ("[a code] {x:.2f}", {"x": 1.0}, "[a code] 1.00"),
    ],
)
def test_templates(template, values, words):
    assert in_words(Message(template, **values), Audience(PYTHON.parameter)) == words


@pytest.mark.parametrize(
    "template",
    ["{x.__class__}", "{x[0]}", "{0}", "{x:>1000000}", "{n:{x}}", "{x:1000000d}", "{}"],
)
def test_a_template_of_a_file_can_neither_reach_into_values_nor_fill_the_memory(template):
    with pytest.raises((ValueError, KeyError)):
        str(Message(template, x=9_999_999, n=1))
