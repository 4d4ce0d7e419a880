"""What all coders share: settings as plain values, and a check of options beside a coder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, ClassVar, Self

from momentree.exceptions import InvalidDataError, InvalidParameterError


class Coder:
    """Reads new records in the same way as those before; its parameters are the fields."""

    kind: ClassVar[str]
    """What it reads."""

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters, and the "kind" of coder, as plain values for JSON."""
        return {"kind": self.kind, **asdict(self)}  # type: ignore[call-overload]

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return a coder from the result of :meth:`to_dict`.

        Parameters
        ----------
        values : mapping
            Parameters, and "kind".

        Returns
        -------
        Coder
            An equal coder of this class.

        Raises
        ------
        InvalidDataError
            If the kind is different, or an entry is unknown or has the wrong type.
        """
        kind = values.get("kind")
        if kind != cls.kind:
            raise InvalidDataError("other_settings", expected=cls.kind, found=str(kind))
        known = [field.name for field in fields(cls)]  # type: ignore[arg-type]
        unknown = sorted(map(str, set(values) - {*known, "kind"}))
        if unknown or known[0] not in values:
            raise InvalidDataError("unknown_coder_settings", unknown=unknown, known=known)
        return cls(**{name: values[name] for name in known if name in values})


def check_coder(coder: object, kind: type[Coder], **options: object) -> None:
    """Refuse something other than a coder of a kind, and options that a coder settles."""
    if coder is None:
        return
    if not isinstance(coder, kind):
        code = "not_a_sequence_coder" if kind.kind == "sequences" else "not_a_coder"
        raise InvalidParameterError(code, parameter="coder", type=type(coder).__name__)
    for name, value in options.items():
        if value is not None and value != [] and value != {}:
            raise InvalidParameterError("coder_has_its_own", parameter=name)


def are_strings(values: object) -> bool:
    """Return whether a value is a list of strings."""
    return isinstance(values, list) and all(isinstance(value, str) for value in values)
