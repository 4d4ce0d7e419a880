"""Choose the codes that become columns: group codes, then select groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import add
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._types import Ints
from momentree.exceptions import EmptyCorpusError, InvalidDataError
from momentree.messages import Message
from momentree.readers.records import cells, objects
from momentree.readers.records.icd import EXAMPLES, SYSTEMS, looks_like, lookup, lost_zeros
from momentree.readers.tables import grid, roles

LARGE = 1_000
"""Codes must occur in five records if there are this many or more, else in two."""


@dataclass(frozen=True)
class CodeCounts:
    """How often codes occur in n records: the numbers by which codes are chosen."""

    n: int
    ones: Ints  # records with each code
    unknown: Ints  # records in which it is unknown
    repeated: Ints  # entries after the first of a record
    n_empty: int  # records without any entry

    @classmethod
    def of(cls, X: sp.csr_array[Any], repeated: Ints) -> CodeCounts:
        """Count the codes of records."""
        n, d = X.shape
        ones = np.bincount(X.indices[X.data == 1], minlength=d)
        unknown = np.bincount(X.indices[np.isnan(X.data)], minlength=d)
        return cls(n, ones, unknown, repeated, int((np.diff(X.indptr) == 0).sum()))

    def __add__(self, other: CodeCounts) -> CodeCounts:
        return CodeCounts(*map(add, vars(self).values(), vars(other).values()))


def group_codes(
    table: grid.Table, codes: Sequence[str], counts: Ints, rules: objects.RecordCoder, *, wide: bool
) -> tuple[objects.RecordCoder, list[str], list[Message]]:
    """Return the rules, completed from the codes; the group of each code; and notes.

    `counts` are the entries with each code.
    """
    notes = []
    if rules.rollup == "mapping":
        notes = _check_mapping(table, codes, counts, rules)
    elif rules.rollup is not None:
        notes = _check_system(table, codes, counts, rules.rollup)
    elif not wide:
        undotted, notes = _check_dots(codes, counts)
        rules = replace(rules, undotted=undotted)
    if rules.rollup not in SYSTEMS and not wide:
        notes += _check_numbers(table, codes, counts, rules)
    groups = list(codes) if wide and rules.rollup is None else rules.group(codes)
    return rules, groups, notes


def _check_system(
    table: grid.Table, codes: Sequence[str], counts: Ints, system: str
) -> list[Message]:
    total = int(counts.sum())
    share = {s: counts[looks_like(codes, s)].sum() / max(total, 1) for s in SYSTEMS}
    known = looks_like(codes, system)
    if total and share[system] < 0.5:
        other = next(s for s in SYSTEMS if s != system)
        raise InvalidDataError(
            "[other_code_system] {path}: only {share:.0%} of the entries look like {system} (such "
            "as {examples}); {value!r} does not: pass {parameters.rollup:{other}} for codes of "
            "that system, otherwise leave it out, or pass a file that maps codes to groups",
            path=str(table.path),
            share=float(share[system]),
            system=system,
            examples=EXAMPLES[system],
            value=grid.excerpt(codes[int(np.argmin(known))]),
            other=other,
        )
    notes = []
    if not known.all():
        notes.append(
            Message(
                "kept {n_codes:~code} ({n_entries:~entry/entries}) as written: not in the format "
                "of {system}",
                n_codes=int((~known).sum()),
                n_entries=int(counts[~known].sum()),
                system=system,
            )
        )
    if system == "icd9":
        short = sum(int(n) for code, n in zip(codes, counts, strict=True) if lost_zeros(code))
        if short:
            notes.append(
                Message(
                    "[zeros_restored] restored the lost leading zeros of "
                    "{n_entries:~entry/entries} (such as 38: 038)",
                    n_entries=short,
                )
            )
    return notes


def _check_mapping(
    table: grid.Table, codes: Sequence[str], counts: Ints, rules: objects.RecordCoder
) -> list[Message]:
    known = np.array([group is not None for group in lookup(rules.mapping, codes)], dtype=bool)
    lost, total = int(counts[~known].sum()), int(counts.sum())
    if total and lost == total:
        raise InvalidDataError(
            "[no_code_in_mapping] {path}: none of {n_entries:~entry/entries}, such as {value!r}, "
            "is in the mapping: check that its codes are written in the same way",
            path=str(table.path),
            n_entries=total,
            value=grid.excerpt(codes[int(np.argmin(known))]),
        )
    notes = []
    if not known.all():
        notes.append(
            Message(
                "[codes_not_in_mapping] kept {n_codes:~code} ({n_entries:~entry/entries}) as "
                "written: not in the mapping",
                n_codes=int((~known).sum()),
                n_entries=lost,
            )
        )
    if 2 * lost > total:
        notes.append(
            Message(
                "[few_codes_in_mapping] only {share:.1%} of the entries are in the mapping: check "
                "that its codes are written in the same way",
                share=1 - lost / total,
            )
        )
    return notes


def _check_dots(codes: Sequence[str], counts: Ints) -> tuple[bool, list[Message]]:
    """Return whether dots in codes have no meaning and can be removed, and notes."""
    icd = max(counts[looks_like(codes, system)].sum() for system in SYSTEMS)
    if 10 * icd < 9 * counts.sum():
        return False, []
    dotted = [code for code in codes if "." in code]
    n_twins = len({code.replace(".", "") for code in dotted} & set(codes))
    short = {
        code: int(n)
        for code, n in zip(codes, counts, strict=True)
        if "." in code and lost_zeros(code)
    }
    if short:
        # 38.9 is 038.9, but without its dot it would be 389; 3891 may also be 038.91.
        first = min(short, key=lambda code: (-short[code], code))
        return False, [
            Message(
                "[dots_kept] kept the dots: {n_codes:~code} ({n_entries:~entry/entries}), such as "
                "{value!r}, {n_codes:?has/have} fewer than three digits before the dot: "
                "procedures, or diagnoses that have lost leading zeros, which {parameter:'icd9'} "
                "restores",
                n_codes=len(short),
                n_entries=sum(short.values()),
                n_entries_first=short[first],
                value=grid.excerpt(first),
                parameter="rollup",
            )
        ]
    return n_twins > 0, [
        Message(
            "[dots_removed] removed the dots: {n_codes:~code} occurred with and without one",
            n_codes=n_twins,
        )
    ] if n_twins else []


def _check_numbers(
    table: grid.Table, codes: Sequence[str], counts: Ints, rules: objects.RecordCoder
) -> list[Message]:
    """Report codes stored as numbers, which have lost zeros at both ends."""
    numeric = {name: n for name in rules.code_columns if (n := table.fractional.get(name, 0))}
    icd9 = counts[looks_like(codes, "icd9")].sum()
    if not numeric or 2 * icd9 <= counts.sum():
        return []
    n_entries = sum(numeric.values())
    note = Message(
        "[codes_as_numbers] {n_entries:~code} in column {column!r} are numbers, not text, and "
        "numbers lose zeros: 038.9 is read as 38.9 and 250.00 as 250",
        n_entries=n_entries,
        column=grid.excerpt(next(iter(numeric))),
    )
    if rules.rollup is None and 2 * n_entries > counts.sum():
        raise InvalidDataError(
            "[mostly_numbers] {path}: {reason}; pass {parameters.rollup:'icd9'}, which requires "
            "only the digits before the dot, or format the column as text and enter the codes "
            "again",
            path=str(table.path),
            reason=note,
        )
    return [note]


def choose_codes(
    counts: CodeCounts, codes: Sequence[str], limits: Mapping[str, Any], where: str, *, wide: bool
) -> tuple[Ints, list[Message]]:
    """Choose the columns: not too rare, not in every record, the most frequent ones."""
    n, ones, names = counts.n, counts.ones, np.array(codes, dtype=object)
    least = limits["min_records"] or (5 if n >= LARGE else 2)
    # Codes that occur only in rows without an id are not in any record.
    seen = np.full(len(codes), wide) | (ones > 0)
    rare = seen & (ones < least)
    # A record with no codes does not contradict a constant code, unless it has a zero.
    observed = n - (0 if wide else counts.n_empty) - counts.unknown
    constant = seen & ~rare & (ones == observed) & limits["drop_constant"]
    n_seen, n_rare, n_constant = int(seen.sum()), int(rare.sum()), int(constant.sum())
    keep = np.flatnonzero(seen & ~rare & ~constant)
    if not len(keep):
        raise _none_kept(where, n, n_seen, n_rare, n_constant, least)
    notes = []
    if n_rare:
        notes.append(
            Message(
                "[rare_codes_dropped] dropped {n_codes:,} of {n_all:~code}, found in fewer than "
                "{least:~record}",
                n_codes=n_rare,
                n_all=n_seen,
                least=least,
            )
        )
    if n_constant:
        notes.append(
            Message(
                "[constant_codes_dropped] dropped {n_codes:~code} found in every record: "
                "{codes:quoted list}",
                n_codes=n_constant,
                codes=grid.excerpts(names[constant]),
            )
        )
    if limits["cumulative_frequency"] is not None:
        keep, more = _most_frequent(keep, ones, names, limits["cumulative_frequency"])
        notes += more
    return np.sort(keep), notes


def _most_frequent(
    keep: Ints, ones: Ints, names: NDArray[Any], cumulative_frequency: float
) -> tuple[Ints, list[Message]]:
    """Return the most frequent codes, which make up a share of all entries, and a note."""
    # Ties are broken by name, so that the order of rows has no effect.
    order = keep[np.lexsort((names[keep], -ones[keep]))]
    share = np.cumsum(ones[order]) / ones[keep].sum()
    n_kept = int(np.searchsorted(share, cumulative_frequency - 1e-12)) + 1
    note = Message(
        "[frequent_codes_kept] kept the {n_kept:,} most frequent of {n_codes:~code}, which make up "
        "{share:.1%} of all entries",
        n_kept=n_kept,
        n_codes=len(keep),
        share=float(share[min(n_kept, len(keep)) - 1]),
    )
    return order[:n_kept], [note] if n_kept < len(keep) else []


def _none_kept(
    where: str, n: int, n_seen: int, n_rare: int, n_constant: int, least: int
) -> EmptyCorpusError:
    """Return the error that none of the codes seen in n records is kept."""
    if not n_seen:
        return EmptyCorpusError(
            "[no_codes] {path}: no codes in {n_records:~record}", path=where, n_records=n
        )
    if n == 1:
        return EmptyCorpusError(
            "[one_record] {path}: a single record, but groups require several; if its rows belong "
            "to different records, name their ids with {parameters.id_column}",
            path=where,
        )
    if not n_rare:
        return EmptyCorpusError(
            "[same_codes] {path}: there are no groups to find, because all of {n_records:~record} "
            "have the same {n_codes:~code}",
            path=where,
            n_records=n,
            n_codes=n_constant,
        )
    return EmptyCorpusError(
        "[no_codes_kept] {path}: none of {n_codes:~code} is kept: {n_rare:,} occur in fewer than "
        "{least:,} of {n_records:~record}, and {n_constant:,} in every record; lower "
        "{parameters.min_records}, set {parameters.drop_constant:=drop_constant}, or roll codes up",
        path=where,
        n_codes=n_seen,
        n_rare=n_rare,
        least=least,
        n_records=n,
        n_constant=n_constant,
        drop_constant=False,
    )


def possible_outcomes(entries: cells.Entries, named: set[str]) -> list[Message]:
    """Report code columns named like outcomes, unless the caller chose them."""
    columns = [name for name in entries.codes if name not in named and roles.fits("outcome", name)]
    note = Message(
        "[possible_outcomes] treated {n_columns:~column} as codes that may be outcomes: "
        "{columns:quoted list} (name them in {parameters.outcome_columns}, or leave them out with "
        "{parameters.ignore_columns})",
        **grid.listed(columns),
    )
    return [note] if columns else []


def note_repeats(
    n_repeated: int, coder: objects.RecordCoder, union_by: str | None
) -> list[Message]:
    """Return a note on repeated entries; admissions that are joined share codes as expected."""
    if not n_repeated or union_by is not None:
        return []
    rolled_up = Message("[after_rollup] , after the roll-up") if coder.rollup is not None else ""
    return [
        Message(
            "[repeated_entries] counted {n_entries:~repeated entry/repeated entries} once{when}",
            n_entries=n_repeated,
            when=rolled_up,
        )
    ]
