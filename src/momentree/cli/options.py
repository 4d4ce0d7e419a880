"""How an option is declared, how its value is parsed, and where the value goes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from momentree.core.choices import ColumnKind
from momentree.exceptions import InvalidParameterError
from momentree.messages import Message, wording


@dataclass(frozen=True)
class Option:
    """An option of one or several commands.

    Parameters
    ----------
    name : str
        Name of the value; the flag is the same with hyphens. That of a switch that is on by
        default begins with ``--no-``; one without a default has both flags.
    kind : type, Literal or function
        ``bool`` for a switch, ``int``, ``float``, ``str``, ``Path``, the choices, or a parser of
        the text.
    metavar, help : str
        What the help shows. A mapping has the texts of commands, separated by blanks; they are
        then those that have the option.
    default, shown : object, str or None
        The default, or one for each command, and how the help words it.
    short : str
        A second flag of one letter.
    least : int or None
        The smallest number.
    commands : str
        Commands that have the option, separated by blanks, if `help` is one text.
    usual : bool or str
        Whether the short help shows it, or the commands in which it does.
    panel : str or None
        Heading in the help.
    repeatable : bool
        Whether the option may be given several times.
    reads : bool or str
        Whether a reader has a parameter of this name, or the other name that it has.
    only : str
        Kinds of data that the option is for, if the command accepts several.
    parameters : str
        Further parameters in Python that messages name, separated by blanks.
    suffixes : tuple of str
        Endings of the file that the option names for output.
    is_input : bool
        Whether the value names a file that is read.
    required : str
        Commands that need the option.
    needs, excludes : str
        Options of which one must be given too, and options that cannot be given too: in all
        commands, or by command.
    """

    name: str
    kind: Any
    metavar: str | None
    help: str | Mapping[str, str]
    default: Any = None
    shown: str | None = None
    short: str = ""
    least: int | None = None
    commands: str = ""
    usual: bool | str = False
    panel: str | None = None
    repeatable: bool = False
    reads: bool | str = False
    only: str = ""
    parameters: str = ""
    suffixes: tuple[str, ...] = ()
    is_input: bool = False
    required: str = ""
    needs: str | Mapping[str, str] = ""
    excludes: str | Mapping[str, str] = ""

    def of(self, command: str) -> Option | None:
        """Return the option of a command, with one text for its help; None if it has none."""
        texts = self.help if isinstance(self.help, Mapping) else ()
        if command not in " ".join(texts or [self.commands]).split():
            return None
        named: dict[str, Any] = {
            field: next((value for names, value in values.items() if command in names.split()), "")
            for field in ("help", "default", "needs", "excludes")
            if isinstance(values := getattr(self, field), Mapping)
        }
        if named.get("default") == "":
            named["default"] = None
        return replace(self, commands=command, **named)

    @property
    def flag(self) -> str:
        """The flag of the option."""
        return "--" + self.name.replace("_", "-")

    @property
    def parameter(self) -> str:
        """The parameter of a reader that the option sets; "" if it sets none."""
        return self.reads if isinstance(self.reads, str) else self.name if self.reads else ""

    def names(self, parameter: str) -> bool:
        """Whether the option stands for a parameter in Python."""
        return parameter in {self.name, self.parameter, *self.parameters.split()}

    @property
    def is_on(self) -> bool:
        """Whether it is a switch that is on by default, and the only flag turns it off."""
        return self.kind is bool and self.default is True

    def flag_for(self, value: Any) -> str:
        """Return the flag; that of a switch which is off if the value is False."""
        return self.flag.replace("--", "--no-", 1) if value in (False, "False") else self.flag

    def as_parameter(self) -> inspect.Parameter:
        """Return the option as a parameter of a function of typer."""
        metavar, default, settings = self.metavar, self.default, dict[str, Any]()
        annotation: Any = self.kind
        flags = [self.flag, *([self.short] if self.short else [])]
        if get_args(self.kind):
            metavar = f"<{'|'.join(get_args(self.kind))}>"
            settings["parser"], annotation = one_of(*get_args(self.kind), none="none"), Any
        elif self.least is not None and self.kind is int:
            settings["parser"], annotation = word_or_number(least=self.least), Any
        elif self.is_on:
            flags[0], default = self.flag_for(False), False
        elif self.kind is bool and default is None:
            flags[0] += f"/{self.flag_for(False)}"
        elif self.kind is Path and self.is_input:
            settings["parser"] = input_path
        elif not isinstance(self.kind, type):
            settings["parser"], annotation = self.kind, Any
        if self.repeatable:
            annotation = list[annotation]
        if self.shown is not None:
            settings["show_default"] = self.shown
        option = typer.Option(
            *flags,
            metavar=metavar,
            help=str(self.help),
            rich_help_panel=self.panel,
            **settings,
        )
        required = self.commands in self.required.split()
        if not required and default is None:
            annotation = annotation | None
        return inspect.Parameter(
            self.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if required else default,
            annotation=Annotated[annotation, option],
        )


@dataclass(frozen=True)
class Argument:
    """An input file of a command."""

    name: str
    metavar: str
    help: str
    many: bool = False

    def as_parameter(self) -> inspect.Parameter:
        """Return the argument as a parameter of a function of typer."""
        argument = typer.Argument(metavar=self.metavar, parser=input_path, help=self.help)
        annotation: Any = list[Path] if self.many else Path
        return inspect.Parameter(
            self.name, inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[annotation, argument]
        )


class Options:
    """The values of a run, and the names of those that the user set."""

    def __init__(
        self, table: Iterable[Option], values: Mapping[str, Any], given: Iterable[str] = ()
    ) -> None:
        self.table = tuple(table)
        self.by_name = {option.name: option.default for option in self.table} | dict(values)
        self.given = frozenset(given)

    def __getattr__(self, name: str) -> Any:
        """Return the value of an option."""
        try:
            return self.__dict__["by_name"][name]
        except KeyError:
            raise AttributeError(name) from None

    def read_by(self, *kinds: str) -> dict[str, Any]:
        """Return arguments of a reader: options for all data, and those for some kinds of it.

        Options that were not given and have no default are left to the reader.
        """
        return {
            option.parameter: value
            for option in self.table
            if option.reads and (not option.only or set(option.only.split()) & set(kinds))
            if (value := self.by_name[option.name]) is not None or option.name in self.given
        }

    def chosen(self, *names: str) -> dict[str, Any]:
        """Return the values of those of these options that the user set."""
        return {name: self.by_name[name] for name in names if name in self.given}

    def inputs(self) -> list[Path]:
        """Return the files that options name for input; some values may be words instead."""
        values = [self.by_name[option.name] for option in self.table if option.is_input]
        lists = [value if isinstance(value, list) else [value] for value in values]
        named = [value for values in lists for value in values if value is not None]
        return [Path(value) for value in named if isinstance(value, Path) or Path(value).is_file()]

    def check_together(self) -> None:
        """Refuse options without those that they need, or beside those that exclude them."""
        for option in filter(lambda option: self.is_set(option.name), self.table):
            others = [name for name in str(option.needs).split() if name in self.by_name]
            if others and not any(map(self.is_set, others)):
                raise InvalidParameterError(
                    "[option_needs] {parameter} has no effect without {other}; add {other}, or "
                    "leave out {parameter}",
                    parameter=option.name,
                    other=Message("{parameter}", parameter=others[0]),
                )
            self.exclude(str(option.excludes), beside=option.name)

    def exclude(self, names: str, *, beside: str) -> None:
        """Refuse options that cannot be given beside another one."""
        for name in filter(self.is_set, names.split()):
            raise InvalidParameterError(
                "[option_excluded] {parameter} cannot be used with {other}; leave out one of them",
                parameter=name,
                other=Message("{parameter}", parameter=beside),
            )

    def is_set(self, name: str) -> bool:
        """Whether the user set an option to something that changes how the command works."""
        value = self.by_name.get(name)
        default = next((option.default for option in self.table if option.name == name), None)
        return name in self.given and value not in (default, None, "auto", "none")


def input_path(text: str) -> Path:
    """Parse the path of an input; an empty path, such as an unset variable gives, is refused."""
    if not text:
        raise typer.BadParameter(str(Message(wording.EMPTY_PATH)))
    return Path(text)


def not_empty(text: str) -> str:
    """Parse a file or a word; an empty text is refused like an empty path."""
    input_path(text)
    return text


def word_or_number(*words: str, least: int = 1) -> Callable[[str], Any]:
    """Return a parser for whole numbers and some words, of which "none" is None."""

    def integer(text: str) -> Any:
        """Read a whole number, or one of the words."""
        if text in words:
            return None if text == "none" else text
        # Typer also passes defaults, which are numbers.
        if not str(text).isdecimal() or int(text) < least:
            number = Message("a whole number of at least {least}", least=least)
            others = Message("{number}, or {words:quoted or}", number=number, words=words)
            raise _refuse(text, others if words else number)
        return int(text)

    return integer


def one_of(*words: str, none: str | None = None) -> Callable[[str], str | None]:
    """Return a parser for some words, of which "none" means `none`."""

    def word(text: str) -> str | None:
        if text not in words:
            raise _refuse(text, Message("{words:quoted or}", words=words))
        return none if text == "none" else text

    return word


def language(text: str) -> str | None:
    """Parse codes of languages; ``none`` is None."""
    return None if text.lower() == "none" else text.lower()


def count_range(text: str) -> range:
    """Parse two numbers of groups, such as 2-10; the range includes both."""
    low, _, high = (part.strip() for part in text.partition("-"))
    if not (low.isdecimal() and high.isdecimal() and 1 <= int(low) <= int(high)):
        raise _refuse(text, "a smallest and a largest number of groups, such as 2-10")
    return range(int(low), int(high) + 1)


def count_or_fraction(text: str) -> float:
    """Parse a number of documents (an integer) or a fraction of them (with a decimal point)."""
    try:
        number = float(text) if "." in text else int(text)
    except ValueError:
        number = -1
    if not 0 <= number <= (1 if "." in text else inf):
        expected = "a number of documents (5), or a fraction of them with a decimal point (0.05)"
        raise _refuse(text, expected)
    return number


def words_or_file(text: str, parameter: str) -> Path | tuple[str, ...]:
    """Parse words separated by commas, or the path of a file of words."""
    path = input_path(text)
    if path.is_file():
        return path
    words = tuple(word.strip() for word in text.split(",") if word.strip())
    # One name with a folder or a suffix is a file that does not exist.
    if not words or ("," not in text and (path.suffix or len(path.parts) > 1)):
        raise InvalidParameterError(
            "{parameter:=value}: no such file; expected a file with one word per line, or words "
            "separated by commas, such as said,mr",
            parameter=parameter,
            value=text,
        )
    return words


def kinds_by_column(values: Iterable[str]) -> dict[str, str]:
    """Parse kinds of columns: ``age=number``."""
    kinds = {}
    for value in values:
        column, equals, kind = value.rpartition("=")
        if not (equals and column and kind in get_args(ColumnKind)):
            choices = get_args(ColumnKind)
            raise InvalidParameterError(
                "{parameters.kinds:=value}; expected COLUMN=KIND, with one of the kinds "
                "{choices:or}",
                value=value,
                choices=choices,
            )
        kinds[column] = kind
    return kinds


def _refuse(value: str, expected: str | Message) -> typer.BadParameter:
    # Errors of momentree are ValueErrors, for which typer would print only the value.
    template = "[unexpected_value] {value!r}; expected {expected}"
    return typer.BadParameter(str(Message(template, value=value, expected=expected)))
