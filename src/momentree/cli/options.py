"""How an option is declared, how its value is parsed, and where the value goes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

from momentree.core.choices import MAX_NGRAM, AutoLogScaling, ColumnKind
from momentree.exceptions import InvalidParameterError
from momentree.messages import Message, wording


@dataclass(frozen=True)
class Option:
    """An option of one or several commands.

    Parameters
    ----------
    name : str
        Name of the value; the flag is the same with hyphens unless `flags` says otherwise.
    kind : type, Literal or function
        ``bool`` for a switch, ``str``, ``Path``, the choices, or a parser of the text.
    metavar, help : str
        What the help shows. A mapping has the texts of commands, separated by blanks; they are
        then those that have the option.
    default, shown : object, str or None
        The default, and how the help words it.
    commands : str
        Commands that have the option, separated by blanks, if `help` is one text.
    usual : bool or str
        Whether the short help shows it, or the commands in which it does.
    panel : str or None
        Heading in the help.
    repeatable : bool
        Whether the option may be given several times.
    reads, fits : str
        Parameter of the reader, or of the estimator, that the value is for.
    only : str
        Kinds of data that the option is for, if the command accepts several.
    values : tuple
        What a switch sets this parameter to, if it is on and if it is off.
    parameters : Mapping
        Further parameters in Python that messages name, with the flag of each.
    suffixes : tuple of str
        Endings of the file that the option names for output.
    is_input : bool
        Whether the value names a file that is read.
    required : str
        Commands that need the option.
    """

    name: str
    kind: Any
    metavar: str | None
    help: str | Mapping[str, str]
    default: Any = None
    shown: str | None = None
    flags: tuple[str, ...] = ()
    commands: str = ""
    usual: bool | str = False
    panel: str | None = None
    repeatable: bool = False
    reads: str = ""
    fits: str = ""
    only: str = ""
    values: tuple[Any, Any] = (True, False)
    parameters: Mapping[str, str] = field(default_factory=dict)
    suffixes: tuple[str, ...] = ()
    is_input: bool = False
    required: str = ""

    def of(self, command: str) -> Option | None:
        """Return the option of a command, with one text for its help; None if it has none."""
        texts = self.help if isinstance(self.help, Mapping) else {self.commands: self.help}
        help_ = next((text for names, text in texts.items() if command in names.split()), None)
        return None if help_ is None else replace(self, help=help_, commands=command)

    @property
    def spellings(self) -> tuple[str, ...]:
        """The flags of the option."""
        return self.flags or ("--" + self.name.replace("_", "-"),)

    def flag_for(self, parameter: str) -> str | None:
        """Return the flag that stands for a parameter in Python, or None."""
        if parameter in self.parameters:
            return self.parameters[parameter]
        flags = [flag for spelling in self.spellings for flag in spelling.split("/")]
        same = "--" + parameter.replace("_", "-")
        if same in flags:
            return same
        return flags[0] if parameter in {self.name, self.reads, self.fits} - {""} else None

    def switch_for(self, value: Any) -> str | None:
        """Return the flag that sets a value by itself, or None."""
        if self.kind is not bool:
            return None
        switches = self.spellings[0].split("/")
        known = zip(map(str, self.values), switches, strict=False)
        return dict(known).get(str(value))

    def argument(self, value: Any) -> Any:
        """Return the value as the reader or the estimator takes it."""
        if isinstance(value, bool):
            return self.values[0 if value else 1]
        return value

    def as_parameter(self) -> inspect.Parameter:
        """Return the option as a parameter of a function of typer."""
        metavar, settings = self.metavar, dict[str, Any]()
        annotation: Any = self.kind
        if get_args(self.kind):
            metavar = f"<{'|'.join(get_args(self.kind))}>"
            settings["parser"], annotation = choice_of(self.kind), str
        elif self.kind is Path and self.is_input:
            settings["parser"] = input_path
        elif not isinstance(self.kind, type):
            settings["parser"], annotation = self.kind, Any
        if self.repeatable:
            annotation = list[annotation]
        if self.shown is not None:
            settings["show_default"] = self.shown
        option = typer.Option(
            *self.spellings,
            metavar=metavar,
            help=str(self.help),
            rich_help_panel=self.panel,
            **settings,
        )
        required = self.commands in self.required.split()
        if not required and self.default is None:
            annotation = annotation | None
        return inspect.Parameter(
            self.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if required else self.default,
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
    """The values of a run, those that the user set, and the order in which they were typed."""

    def __init__(
        self,
        table: Iterable[Option],
        values: Mapping[str, Any],
        *,
        given: Iterable[str] = (),
        typed: Iterable[str] = (),
    ) -> None:
        self.table = tuple(table)
        self.by_name = {option.name: option.default for option in self.table} | dict(values)
        self.given = frozenset(given)
        self.typed = tuple(typed)

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
            option.reads: option.argument(value)
            for option in self.table
            if option.reads and (not option.only or set(option.only.split()) & set(kinds))
            if (value := self.by_name[option.name]) is not None or option.name in self.given
        }

    def fitted_by(self, *names: str) -> dict[str, Any]:
        """Return arguments of an estimator for these options, if the user set them."""
        return {
            option.fits: option.argument(self.by_name[option.name])
            for option in self.table
            if option.name in names and option.name in self.given
        }

    def inputs(self) -> list[Path]:
        """Return the files that options name for input; some values may be words instead."""
        values = [self.by_name[option.name] for option in self.table if option.is_input]
        lists = [value if isinstance(value, list) else [value] for value in values]
        named = [value for values in lists for value in values if value is not None]
        return [Path(value) for value in named if isinstance(value, Path) or Path(value).is_file()]

    def first_given(self, *names: str) -> str | None:
        """Return the first of these options that the user set, or None."""
        return next((name for name in names if name in self.given), None)


def input_path(text: str) -> Path:
    """Parse the path of an input; an empty path, such as an unset variable gives, is refused."""
    if not text:
        raise typer.BadParameter(str(Message(wording.EMPTY_PATH)))
    return Path(text)


def choice_of(kind: Any) -> Callable[[str], str]:
    """Return a parser for the choices of a ``Literal``."""
    names = get_args(kind)

    def choice(text: str) -> str:
        if text not in names:
            raise _refused(text, str(Message("{choices:quoted or}", choices=names)))
        return text

    return choice


def _whole(
    lowest: int, expected: str, words: Mapping[str, Any] | None = None, highest: float = inf
) -> Callable[[str], Any]:
    """Return a parser for whole numbers in a range, and for words that stand for other values."""
    known = words or {}

    def integer(text: str) -> Any:
        """Read a whole number, or one of the words."""
        if text in known:
            return known[text]
        # Typer also passes defaults, which are numbers.
        if not str(text).isdecimal() or not lowest <= int(text) <= highest:
            raise _refused(text, expected)
        return int(text)

    return integer


_COUNT = "a whole number of at least 1"
whole_number = _whole(0, "a whole number")
count = _whole(1, _COUNT)
count_or_auto = _whole(1, f"{_COUNT}, or 'auto'", {"auto": None})
states_or_auto = _whole(2, "a whole number of at least 2, or 'auto'", {"auto": None})
whole_number_or_all = _whole(0, "a whole number, or 'all'", {"all": "all"})
words_of_passage = _whole(
    1,
    "'auto', 'none', or a number of words of at least 1",
    {"auto": "auto", "none": None},
)
ngrams = _whole(1, f"a number of words from 1 to {MAX_NGRAM}", highest=MAX_NGRAM)


def log_scaling(text: str) -> str | None:
    """Parse how counts are scaled; ``none`` is None."""
    scaling = choice_of(Literal[AutoLogScaling, "none"])(text)
    return None if scaling == "none" else scaling


def language(text: str) -> str | None:
    """Parse codes of languages; ``none`` is None."""
    return None if text.lower() == "none" else text.lower()


def count_range(text: str) -> range:
    """Parse two numbers of groups, such as 2-10; the range includes both."""
    low, _, high = (part.strip() for part in text.partition("-"))
    if not (low.isdecimal() and high.isdecimal() and 1 <= int(low) <= int(high)):
        raise _refused(text, "a smallest and a largest number of groups, such as 2-10")
    return range(int(low), int(high) + 1)


def positive_or_auto(text: str) -> float | None:
    """Parse a positive number, or ``auto``, which is None."""
    if text == "auto":
        return None
    number = _number(text, float)
    if not 0 < number < inf:
        raise _refused(text, "a number above 0, or 'auto'")
    return number


def count_or_fraction(text: str) -> float:
    """Parse a number of documents (an integer) or a fraction of them (with a decimal point)."""
    is_fraction = "." in text
    number = _number(text, float if is_fraction else int)
    if not 0 <= number <= (1 if is_fraction else inf):
        expected = "a number of documents (5), or a fraction of them with a decimal point (0.05)"
        raise _refused(text, expected)
    return number


def fraction(text: str) -> float:
    """Parse a fraction above 0, of at most 1."""
    number = _number(text, float)
    if not 0 < number <= 1:
        raise _refused(text, "a number above 0 and at most 1")
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


def _number(text: str, kind: type[int] | type[float]) -> float:
    try:
        return kind(text)
    except ValueError:
        return -1


def _refused(value: str, expected: str) -> typer.BadParameter:
    # Errors of momentree are ValueErrors, for which typer would print only the value.
    problem = Message(
        "[unexpected_value] {value!r}; expected {expected}", value=value, expected=expected
    )
    return typer.BadParameter(str(problem))
