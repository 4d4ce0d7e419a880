"""Messages: sentences with values, and their wording for a given audience."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from string import Formatter
from typing import Any

MAX_LISTED = 8
"""Maximum number of entries of a list that are written out."""
MAX_ALL = 40
"""The same if the reader must find one of them, such as a column."""

_CODE = re.compile(r"\[([a-z0-9_]+)\] ?")
# Only these formats are applied to values: a template may come from the file of a model.
_FORMAT = re.compile(r"\+?,?(\.\d{1,3})?[a-z%]?")


@dataclass(frozen=True)
class Audience:
    """How to word messages for a group of readers.

    Attributes
    ----------
    parameter : callable
        ``parameter(name, text, value)`` returns a Python parameter as the audience writes it.
        `text` is its value as Python writes it, or None if the message gives only the name;
        `value` is the value itself, or `text` if that is part of the template.
    words : mapping of str to str
        Templates by code, which replace those of the messages.
    sample : str
        What a sample is called, such as "document".
    """

    parameter: Callable[[str, str | None, Any], str]
    words: Mapping[str, str] = field(default_factory=dict)
    sample: str = "sample"


def _in_python(name: str, text: str | None, _value: Any) -> str:
    return name if text is None else f"{name}={text}"


PYTHON = Audience(_in_python)
"""Parameters as keyword arguments."""


class Message:
    """A reason, note, warning or error: a sentence with values.

    ``str`` and ``repr`` return the sentence for Python, and :func:`in_words` that for another
    audience. Programs use `code` and `values`.

    Parameters
    ----------
    template : str
        The sentence, with the values in braces (see :func:`in_words`), after its code in
        brackets if programs, tests or disclosure control refer to it.
    **values
        Values for the template: numbers, strings, lists of these, or other messages. The value
        ``parameter`` is the name of a Python parameter. Counts of samples must be named
        ``n_records``, ``n_rows`` or ``n_entries``, so that disclosure control finds them.

    Attributes
    ----------
    code : str
        What happened, for programs; messages with the same code and values are equal. "" if the
        template has none.

    Examples
    --------
    >>> reason = Message("[too_few] {found:~sample}; at least {needed} are required",
    ...                  found=7, needed=10)
    >>> reason
    7 samples; at least 10 are required
    >>> reason.code, reason.values["needed"]
    ('too_few', 10)
    """

    __slots__ = ("code", "template", "values")

    code: str
    template: str
    values: Mapping[str, Any]

    def __init__(self, template: str, /, **values: Any) -> None:
        code = _CODE.match(template)
        self.code = code[1] if code else ""
        self.template = template
        self.values = values

    def replace(self, **values: Any) -> Message:
        """Return the same message with other or more values.

        Parameters
        ----------
        **values
            The values to set.

        Returns
        -------
        Message
            A new message.
        """
        return Message(self.template, **{**self.values, **values})

    def __str__(self) -> str:
        return in_words(self)

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message):
            return NotImplemented
        return self._key == other._key and self.values == other.values

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> str:
        return self.code or self.template


def in_words(message: Message, audience: Audience = PYTHON) -> str:
    """Return the text of a message.

    Templates have the syntax of ``str.format``, with these additions:

    - ``{parameter}`` and ``{parameters.NAME}`` are parameters as the audience writes them, with
      optional text after a colon, ``{parameters.max_df:1.0}``, or a value of the message,
      ``{parameter:=value}``;
    - ``{n:~row}`` and ``{n:~entry/entries}`` are a number with its noun, ``{n:?is/are}`` only the
      word;
    - ``{n:~sample}`` and ``{samples}`` have the word of the audience for samples;
    - ``{names:list}``, ``{names:and}`` and ``{names:or}`` join a list; ``{names:quoted list}`` etc.
      also quote its entries; ``{names:all}`` lists many; ``{facts:sentences}`` puts one sentence
      after another.

    Parameters
    ----------
    message : Message
        What happened.
    audience : Audience, default=PYTHON
        Readers of the message.

    Returns
    -------
    str
        The text, in one line.

    Raises
    ------
    ValueError
        If a template, such as one from a damaged file, does not have this syntax; it can then
        neither reach attributes of values nor fill the memory.
    KeyError
        If a value is missing.

    Examples
    --------
    >>> print(in_words(Message("{parameter:=value}; expected {choices:quoted or}",
    ...                        parameter="growth", value=1, choices=["a", "b"])))
    growth=1; expected 'a' or 'b'
    """
    template = audience.words.get(message.code) if message.code else None
    if template is None:
        template = _CODE.sub("", message.template, count=1) if message.code else message.template
    return _Words(audience).vformat(template, (), message.values)


class _Words(Formatter):
    def __init__(self, audience: Audience) -> None:
        self.audience = audience

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> tuple[Any, str]:
        del args  # the fields have names
        name, _, attribute = field_name.partition(".")
        if name == "parameters":
            return _Parameter(self.audience, kwargs, attribute), name
        if not field_name.isidentifier():
            raise ValueError(field_name)
        if name == "samples":
            return f"{self.audience.sample}s", name
        value = kwargs[name]
        return _Parameter(self.audience, kwargs, value) if name == "parameter" else value, name

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, Message):
            return in_words(value, self.audience)
        if isinstance(value, _Parameter):
            return value.in_words(format_spec)
        if format_spec[:1] in ("~", "?"):
            one, _, many = format_spec[1:].partition("/")
            one = self.audience.sample if one == "sample" else one
            word = one if value == 1 else many or f"{one}s"
            return word if format_spec[0] == "?" else f"{value:,} {word}"
        if isinstance(value, list | tuple):
            return self._join(value, *reversed(format_spec.split(" ")))
        if not _FORMAT.fullmatch(format_spec):
            raise ValueError(format_spec)
        return str(super().format_field(value, format_spec))

    def _join(self, values: list[Any] | tuple[Any, ...], how: str, quoted: str = "") -> str:
        words = [repr(v) if quoted else self.format_field(v, "") for v in values]
        if how == "sentences":
            ended = [word if word.endswith(".") else f"{word}." for word in words[:-1]]
            return " ".join([*ended, *words[-1:]])
        n_shown = MAX_ALL if how == "all" else MAX_LISTED
        if len(words) > n_shown:
            return f"{', '.join(words[:n_shown])} and {len(words) - n_shown:,} more"
        if how in ("list", "all") or len(words) < 2:
            return ", ".join(words)
        return f"{', '.join(words[:-1])} {how} {words[-1]}"


@dataclass(frozen=True)
class _Parameter:
    audience: Audience
    values: Mapping[str, Any]
    name: str

    def in_words(self, spec: str) -> str:
        if spec[:1] == "=":
            value = self.values[spec[1:]]
            return self.audience.parameter(self.name, repr(value), value)
        return self.audience.parameter(self.name, spec or None, spec)
