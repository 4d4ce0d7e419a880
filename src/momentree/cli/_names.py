"""Apply names given by hand: ``--names FILE`` and then ``--rename 3=Climate``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from momentree.exceptions import InvalidParameterError


@dataclass(frozen=True)
class GivenNames:
    """Names by number, as given on the command line and in a file."""

    typed: Mapping[str, str] = field(default_factory=dict)
    in_file: Mapping[str, str] = field(default_factory=dict)
    file: Path | None = None

    @classmethod
    def read(cls, rename: Sequence[str], file: Path | None) -> GivenNames:
        """Read the values of ``--rename``, and a file of names if any."""
        from momentree.naming import parse_names, read_names

        return cls(parse_names(rename), {} if file is None else read_names(file), file)

    def apply(self, estimator: Any) -> Any:
        """Return an estimator with these names; those on the command line take precedence."""
        numbers = self.typed.keys() & self.in_file.keys()
        kept = {key: name for key, name in self.in_file.items() if key not in numbers}
        estimator = _renamed(estimator, kept, parameter="names", source=str(self.file))
        return _renamed(estimator, self.typed, parameter="rename", source="")

    def of_states(self, n_states: int) -> dict[str, str]:
        """Return checked names of states, by number; those typed take precedence."""
        from momentree.naming import check_names

        known = {str(j): None for j in range(n_states)}
        kept = {key: name for key, name in self.in_file.items() if key not in self.typed}
        return {
            **check_names(kept, known, parameter="names", source=str(self.file)),
            **check_names(self.typed, known, parameter="rename"),
        }

    def __str__(self) -> str:
        return ", ".join(dict.fromkeys([*self.typed, *self.in_file]))


def _renamed(estimator: Any, names: Mapping[str, str], **shown: str) -> Any:
    if not names:
        return estimator
    try:
        return estimator.rename(names)
    except InvalidParameterError as error:
        # For the user, the names are those of an option.
        named = {**error.message.values, **shown}
        raise InvalidParameterError(error.code, **named) from error


def sort_names(values: Sequence[str]) -> tuple[str | None, Path | None]:
    """Return the value of ``--names`` that names codes, and the file that names groups."""
    from momentree.naming import holds_names

    if "" in values:  # as from an unset variable
        raise InvalidParameterError("empty_path")
    of_groups = [value for value in values if Path(value).is_file() and holds_names(value)]
    of_codes = [value for value in values if value not in of_groups]
    for some, code in ((of_codes, "two_names_of_codes"), (of_groups, "two_names_of_groups")):
        if len(some) > 1:
            raise InvalidParameterError(code, parameter="names", values=some)
    return next(iter(of_codes), None), Path(of_groups[0]) if of_groups else None
