"""Messages: codes with values, and their wording for a given audience."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from string import Formatter
from typing import Any

from momentree.messages.catalogue import CATALOGUE

LISTED = 8
"""Maximum number of entries of a list that are written out."""
ALL_LISTED = 40
"""The same if the reader must find one of them, such as a column."""


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
        Templates by code, which replace those in the catalogue.
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
    """A reason, note, warning or error, as a code with values.

    Programs use `code` and `values`; ``str`` returns the wording for Python, and :func:`in_words`
    the wording for another audience.

    Parameters
    ----------
    code : str
        What happened; the catalogue contains a template for each code.
    **values
        Values for the template: numbers, strings, lists of these, or other messages. The value
        ``parameter`` is the name of a Python parameter. Counts of samples must be named
        ``n_records``, ``n_rows`` or ``n_entries``, so that disclosure control finds them.

    Examples
    --------
    >>> reason = Message("too_few_samples", found=7, needed=10)
    >>> reason.code, reason.values["needed"]
    ('too_few_samples', 10)
    >>> print(reason)
    7 samples; at least 10 are required
    """

    __slots__ = ("code", "values")

    code: str
    values: Mapping[str, Any]

    def __init__(self, code: str, /, **values: Any) -> None:
        self.code = code
        self.values = values

    def __str__(self) -> str:
        return in_words(self)

    def __repr__(self) -> str:
        values = "".join(f", {name}={value!r}" for name, value in self.values.items())
        return f"Message({self.code!r}{values})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message):
            return NotImplemented
        return self.code == other.code and self.values == other.values

    def __hash__(self) -> int:
        return hash(self.code)


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

    Examples
    --------
    >>> print(in_words(Message("not_a_choice", parameter="growth", value=1, choices=["a", "b"])))
    growth=1; expected 'a' or 'b'
    """
    template = audience.words.get(message.code, CATALOGUE.get(message.code))
    if template is None:  # codes without a template are returned unchanged
        return message.code
    return _Words(audience).vformat(template, (), message.values)


class _Words(Formatter):
    def __init__(self, audience: Audience) -> None:
        self.audience = audience

    def get_value(self, key: int | str, args: Any, kwargs: Any) -> Any:
        if key == "parameters":
            return _Parameters(self.audience, kwargs)
        if key == "samples":
            return f"{self.audience.sample}s"
        value = super().get_value(key, args, kwargs)
        return _Parameter(self.audience, kwargs, value) if key == "parameter" else value

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, Message):
            return in_words(value, self.audience)
        if format_spec[:1] in ("~", "?"):
            one, _, many = format_spec[1:].partition("/")
            one = self.audience.sample if one == "sample" else one
            word = one if value == 1 else many or f"{one}s"
            return word if format_spec[0] == "?" else f"{value:,} {word}"
        if isinstance(value, list | tuple):
            return self._joined(value, *reversed(format_spec.split(" ")))
        return str(super().format_field(value, format_spec))

    def _joined(self, values: list[Any] | tuple[Any, ...], how: str, quoted: str = "") -> str:
        words = [repr(v) if quoted else self.format_field(v, "") for v in values]
        if how == "sentences":
            ended = [word if word.endswith(".") else f"{word}." for word in words[:-1]]
            return " ".join([*ended, *words[-1:]])
        most = ALL_LISTED if how == "all" else LISTED
        if len(words) > most:
            return f"{', '.join(words[:most])} and {len(words) - most:,} more"
        if how in ("list", "all") or len(words) < 2:
            return ", ".join(words)
        return f"{', '.join(words[:-1])} {how} {words[-1]}"


@dataclass(frozen=True)
class _Parameter:
    audience: Audience
    values: Mapping[str, Any]
    name: str

    def __format__(self, spec: str) -> str:
        if spec[:1] == "=":
            value = self.values[spec[1:]]
            return self.audience.parameter(self.name, repr(value), value)
        return self.audience.parameter(self.name, spec or None, spec)


@dataclass(frozen=True)
class _Parameters:
    audience: Audience
    values: Mapping[str, Any]

    def __getattr__(self, name: str) -> _Parameter:
        return _Parameter(self.audience, self.values, name)
