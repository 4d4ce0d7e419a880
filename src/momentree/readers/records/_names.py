"""What names of columns and single values of a table of records tell of what they hold."""

from __future__ import annotations

import re

__all__ = [
    "MARKS",
    "MISSING",
    "ONES",
    "ZEROS",
    "hints_at_codes",
    "hints_at_outcome",
    "is_id",
    "is_number_of_row",
    "is_of_patient",
    "may_be_id",
]

MARKS = frozenset({"x", "+", "✓", "✔"})
ONES = frozenset({"1", "1.0", "true", "t", "yes", "y"}) | MARKS
ZEROS = frozenset({"0", "0.0", "false", "f", "no", "n", "-"})
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", ".", "<na>"})


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_CODES = re.compile(r"(^|[^a-z])(icd|dx|diag|codes?($|[^a-z])|cpt|atc|snomed)")
_SYSTEMS = re.compile(r"(^|[^a-z])(icd|dx|diag|cpt|atc|snomed)")
# A payment group, and what tells how many, of what kind or where in the list codes are.
_ABOUT_CODES = _set("drg n no nr num number count type version system seq sequence")
_PLACES = _set(
    "post postal zip area region country state ward unit department hospital site provider"
)
_PATIENTS = _set("patient pat person subject member beneficiary")
_PATIENT_NUMBERS = _set("mrn nhc patientid patientnr patientennummer patientennr")
_STAYS = _set("record case visit encounter admission hadm stay episode fall aufenthalt")
_NUMBERS = _set("id no nr nbr num number nummer key identifier")
_WHOSE = _PATIENTS | _STAYS
_ALONE = (
    _set("record patient person subject case visit encounter admission")
    | _PATIENT_NUMBERS
    | _set("fallnummer fallnr fallid aufenthaltsnummer aufenthaltsnr caseid visitid")
)
# Words for a stay which may also head its length, or whether somebody fell.
_DOUBTFUL = _set("stay fall aufenthalt episode")
_ID = re.compile(r"id|.*[_ .-]id")
_ID_CAMEL = re.compile(r".*[a-z](Id|ID)")
# The first column of a table that R or pandas wrote has no name: it numbers the rows.
_ROW = re.compile(r"column 1|unnamed: 0|index|(row|seq|line)[_ .-]?(id|no|nr|num|number)?\.?")
_OUTCOMES = _set(
    "died death dead deceased decease mortality survived survival alive expired expire outcome icu "
    "readmitted readmission readmit sex gender female male woman man emergency elective"
)


def _words(name: str) -> list[str]:
    """Split a name at signs, digits and capitals, in lower case."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[^\W\d_]?[^\WA-Z\d_]+", name)]


def is_id(name: str) -> bool:
    """Tell whether a name is that of ids, of rows or of records."""
    words = _words(name)
    return bool(
        _ID.fullmatch(name.lower())
        or _ID_CAMEL.fullmatch(name)
        or is_number_of_row(name)
        or (len(words) == 1 and words[0] in _ALONE)
        or (1 < len(words) <= 3 and words[-1] in _NUMBERS and {*words} & _WHOSE)
    )


def may_be_id(name: str) -> bool:
    """Tell whether a name is one of ids or of something else, which its values must show."""
    words = _words(name)
    return len(words) == 1 and words[0] in _DOUBTFUL


def is_number_of_row(name: str) -> bool:
    """Tell whether a name is that of numbers of rows."""
    return _ROW.fullmatch(name.lower()) is not None


def is_of_patient(name: str) -> bool:
    """Tell whether a name is that of ids of patients, who may have several records."""
    words = _words(name)
    if len(words) == 1:
        return words[0] in _PATIENTS | _PATIENT_NUMBERS
    if not 1 < len(words) <= 3 or words[-1] not in _NUMBERS | _PATIENT_NUMBERS:
        return False
    return not (_PATIENTS | _PATIENT_NUMBERS).isdisjoint(words)


def hints_at_codes(name: str) -> bool:
    """Tell whether a name is that of codes."""
    words = {*_words(name)}
    if not _CODES.search(name.lower()) or words & _ABOUT_CODES:
        return False
    return bool(_SYSTEMS.search(name.lower())) or not words & _PLACES


def hints_at_outcome(name: str) -> bool:
    """Tell whether a name is that of an outcome or a trait, in few words."""
    words = _words(name)
    return len(words) <= 3 and not _OUTCOMES.isdisjoint(words)
