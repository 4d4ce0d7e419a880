"""``momentree clusters``: find groups of records, by codes or by measurements."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from momentree import exceptions, metrics, models, readers, report
from momentree.cli import checks, groups, stored, tables
from momentree.cli._run import Fit, Run, Task, Writers, made_with, note_number, perform, why_one
from momentree.cli.by_hand import NO_NAMES, Edit, GivenNames, apply_edits, read_edits, sort_names
from momentree.cli.options import Options, kinds_by_column
from momentree.messages import Message, wording
from momentree.metrics.outcomes import outcome_numbers
from momentree.readers import Measurements, Records
from momentree.readers.sequences.sequences import holds_steps
from momentree.report.disclosure import Disclosure
from momentree.report.outcomes import notes_shown, why_no_classes
from momentree.tree import ClusterTree

_EDITS_NEED_A_TREE = (
    "[edits_need_a_tree] {parameter} applies only to trees; the groups of this table are a list, "
    "because trees need columns of numbers; leave it out, and set the number of groups with "
    "{parameters.n_components}"
)


GROUP_NAMES = "group_names"
ASSIGNMENT = "assignment"
"""Entries that a model file adds to the settings of the reader."""
REPEATS = 5
"""Repeats of the measure of stability."""
NO_VALUES = "no known value"
INCOMPLETE = "missing values"
"""Reasons why a record of measurements has no group."""

_FITTING = ("groups", "flat", "min_samples_leaf", "refine")
"""Options that decide on the model."""
_OPENING = ("encoding", "separator", "sheet", "skip_rows", "header")
_FOR_CODES = (
    *("code_column", "union_by", "rollup", "min_records", "cumulative_frequency", "min_codes"),
    "keep_constant",
)
_FOR_MEASUREMENTS = ("kind", "missing")


@dataclass(frozen=True)
class Table:
    """A table of records, and what the options say about its groups."""

    records: Records | Measurements
    given: GivenNames = NO_NAMES
    edits: tuple[Edit, ...] = ()
    title: str | None = None

    @property
    def measured(self) -> bool:
        """Whether the records consist of measurements."""
        return isinstance(self.records, Measurements)


def read(run: Run, held: ExitStack) -> Table:
    """Read a table of codes or of measurements, whichever it contains."""
    options = run.options
    edits = tuple(read_edits(options))
    names_of_codes, names_of_groups = sort_names(options.names)
    given = GivenNames.read(options.rename, names_of_groups)
    measured = _contains_measurements(options, names_of_codes)
    arguments = options.read_by("measurements" if measured else "records")
    if measured:
        arguments["kinds"] = kinds_by_column(options.kind or ())
    elif names_of_codes is not None:
        arguments["names"] = names_of_codes
    if options.memory is not None:
        checks.check_in_parts(options, measured=measured)
        work = stored.work_folder(options.source, run.outputs.requested)
        held.enter_context(stored.kept(run, work, resume=options.resume))
        arguments |= {
            "folder": work.path,
            "memory": options.memory,
            "resume": options.resume,
            "also": {name: options.by_name[name] for name in _FITTING},
        }
    records = _read_table(options.source, arguments, measured=measured)
    if options.memory is not None and not measured:
        stored.note_fit(run, len(records), options.memory, stored.BYTES_OF_RECORD)
    return Table(records, given, edits, options.title)


def _contains_measurements(options: Options, names_of_codes: str | None) -> bool:
    """Return whether to read a table as measurements: by the options, or else by its columns.

    Options that do not apply to what the table contains are refused.
    """
    source, form = options.source, options.form
    of_codes = options.first_given(*_FOR_CODES)
    if of_codes is None and names_of_codes is not None:
        of_codes = "names"
    of_measurements = options.first_given(*_FOR_MEASUREMENTS)
    if form != "auto":
        measured = bool(form == "measurements")
    elif of_codes is not None:
        measured = False
    else:
        arguments = options.read_by("measurements")
        opening = {name: arguments[name] for name in _OPENING if name in arguments}
        if of_measurements is None and holds_steps(source, **opening):
            raise exceptions.InvalidParameterError(
                "[steps_of_sequences] {path} has a step of a sequence in each row, such as a "
                "click: use momentree sequences {path}; to group its rows as records all the same, "
                "pass {parameters.form:measurements}",
                path=str(source),
            )
        roles = ("id_column", "ignore_columns")
        opening |= {name: arguments[name] for name in roles if name in arguments}
        outcomes = [*(options.outcome or ()), *(options.covariate or ())]
        measured = readers.holds_measurements(source, outcome_columns=outcomes, **opening)
    if measured and of_codes is not None:
        raise exceptions.InvalidParameterError(
            "{parameter} applies only to tables of codes, but {path} was read as measurements; if "
            "it contains codes, add {parameters.form:codes}",
            parameter=of_codes,
            path=str(source),
        )
    if not measured and of_measurements is not None:
        raise exceptions.InvalidParameterError(
            "[applies_to_measurements] {parameter} applies only to tables of measurements, but "
            "{path} contains codes; if it contains measurements, add "
            "{parameters.form:measurements}",
            parameter=of_measurements,
            path=str(source),
        )
    return measured


def _read_table(
    source: Path, arguments: Mapping[str, Any], *, measured: bool
) -> Records | Measurements:
    if measured:
        return readers.read_measurements(source, **arguments)
    try:
        return readers.read_records(source, **arguments)
    except exceptions.ReadError as error:
        if error.code != "no_code_columns":
            raise
        raise exceptions.ReadError(
            "[neither_codes_nor_measurements] {reason}; if its columns contain measurements "
            "instead, pass {parameters.form:measurements}, and no options for codes, such as "
            "{parameters.rollup}",
            reason=error.message,
        ) from error


def _notes(table: Table, options: Options) -> Iterable[Message]:
    """Return notes on reading, and one if a table of measurements may rather be one of codes."""
    yield from notes_shown(table.records, options.min_cell)
    if options.form == "auto" and isinstance(table.records, Measurements):
        kinds = list(table.records.kinds.values())
        if 2 * kinds.count("yes_no") > len(kinds):
            yield Message(
                "[may_be_codes] {n_columns:~column} {n_columns:?contains/contain} yes and no; if "
                "they are codes, and the groups should depend on them alone, pass "
                "{parameters.form:codes} and leave the other columns out with "
                "{parameters.ignore_columns}",
                n_columns=kinds.count("yes_no"),
            )


def proceed(run: Run, table: Table) -> None:
    """Find groups, and write the results."""
    for note in _notes(table, run.options):
        run.note(note)
    perform(TASK, run, table)


def _fit(run: Run, table: Table) -> Fit:
    """Find groups of records, edit and name them, and measure how good they are."""
    options, records = run.options, table.records
    n_groups = options.groups
    if isinstance(records, Measurements):
        n_groups = n_groups if "groups" in options.given else None
        _check_measured(options, records, table.edits)
        X = groups.as_data(records, records.enough, frame=not records.only_numbers)
        find = partial(_find_measured, run, records, X, n_groups)
        n_fitted = int(records.enough.sum())
    else:
        X = records.fitted
        find = partial(_find_by_codes, run, records, X, n_groups)
        n_fitted = X.shape[0]
    _check(records, n_groups, n_fitted, Disclosure(options.min_cell))
    start = time.perf_counter()
    with run.stage("finding groups"):
        found, remarks, took = find()
        note_number(run, found, n_groups, "groups")
        edited = table.given.apply(apply_edits(run, found, X, table.edits, options.min_cell))
    if table.edits:
        took = time.perf_counter() - start
    quality = _quality(run, table, found, edited, X)
    return Fit(edited, took, remarks, {"quality": quality, "n_groups": n_groups, "X": X})


def _check_measured(options: Options, table: Measurements, edits: Sequence[Edit]) -> None:
    """Refuse options of trees for lists, and those of lists for trees."""
    is_tree = table.only_numbers and not options.flat
    if not table.only_numbers and "min_samples_leaf" in options.given:
        raise exceptions.InvalidParameterError(_EDITS_NEED_A_TREE, parameter="min_samples_leaf")
    if edits and not is_tree:
        raise exceptions.InvalidParameterError(_EDITS_NEED_A_TREE, parameter=edits[0].option)
    if options.fits is not None and is_tree:
        raise exceptions.InvalidParameterError(
            "{parameters.fits} compares mixtures of measurements; add {parameters.flat}, because a "
            "tree of measurements has no BIC"
        )


def _check(
    records: Records | Measurements, n_groups: int | None, n_fitted: int, disclosure: Disclosure
) -> None:
    """Refuse too few records, and outcomes that are names, dates or ids, before the fit."""
    if not n_fitted:
        raise exceptions.InvalidDataError(
            "[no_record_with_enough_codes] none of {n_records:~record} has enough codes; lower "
            "{parameters.min_codes} or {parameters.min_records}",
            n_records=len(records),
        )
    if n_fitted < (n_groups or 0):
        raise exceptions.InvalidParameterError(
            "[more_groups_than_records] {parameters.n_components:{value}}, but the number of "
            "records with enough codes is {n_fitted}; request fewer groups",
            value=n_groups,
            n_fitted=disclosure.count(n_fitted),
        )
    for name, values in records.outcomes.items():
        if reason := why_no_classes(values[records.enough]):
            option = "covariate" if name in records.covariates else "outcome"
            raise exceptions.InvalidDataError(
                "[not_an_outcome] {parameter:=value}: {reason}. Leave it out, or combine its "
                "values into categories",
                parameter=option,
                value=name,
                reason=reason,
            )


def _find_measured(
    run: Run, table: Measurements, X: Any, n_groups: int | None
) -> tuple[Any, tuple[Message, ...], float]:
    start = time.perf_counter()
    arguments, flat = _estimator_arguments(run.options), run.options.flat
    found, remarks = groups.find_mixture_or_tree(run, table, X, n_groups, arguments, flat=flat)
    return found, tuple(remarks), time.perf_counter() - start


def _find_by_codes(
    run: Run, records: Records, X: Any, n_groups: int | None
) -> tuple[Any, tuple[Message, ...], float]:
    """Grow a tree by codes, or fit a mixture; BIC chooses the number of groups if it is None."""
    arguments, remarks = _estimator_arguments(run.options), list[Message]()

    def fit() -> Any:
        if not run.options.flat:
            tree = ClusterTree(n_groups or "auto", data="binary", **arguments)
            return tree.fit(X, feature_names=records.codes)
        mixture = models.BernoulliMixture(n_groups or "auto", **arguments)
        mixture.fit(X, feature_names=records.codes)
        if n_groups is None:  # refits of the mixture keep its number of groups
            mixture.set_params(n_components=len(mixture.weights_))
            tried = len(mixture.diagnostics_["bic"])
            remarks.append(Message(wording.N_GROUPS_CHOSEN, most=tried))
        return mixture

    with warnings.catch_warnings():
        # A note already reports if there are fewer groups.
        warnings.simplefilter("ignore", exceptions.ConvergenceWarning)
        found, took = stored.fit_once(records, fit)
    return found, tuple(remarks), took


def _estimator_arguments(options: Options) -> dict[str, Any]:
    arguments = options.fitted_by("refine")
    if not options.flat:
        size, min_cell = options.min_samples_leaf, options.min_cell
        # With at least 5 records in each group, a size shown as "<6" would be known to be 5.
        arguments["min_samples_leaf"] = min_cell if size == min_cell - 1 else size
    return arguments


def _quality(run: Run, table: Table, found: Any, edited: Any, X: Any) -> dict[str, Any]:
    """Measure stability, fits with other numbers of groups, and the prediction of outcomes."""
    options, quality = run.options, dict[str, Any]()
    ignored = Warning if table.measured else exceptions.ConvergenceWarning
    if options.stability:
        with run.stage("measuring stability"), warnings.catch_warnings():
            warnings.simplefilter("ignore", ignored)
            quality["stability"] = metrics.stability_score(clone(found), X)
    if options.fits is not None:
        with run.stage("comparing numbers of groups"), warnings.catch_warnings():
            if table.measured:
                warnings.simplefilter("ignore")
            quality["fits"] = models.compare_fits(
                clone(found),
                X,
                options.fits,
                stability=REPEATS if options.stability else 0,
                progress=lambda k: run.update(f"comparing numbers of groups: fitting {k}"),
            )
    if table.records.outcomes:
        with run.stage("measuring how well groups predict outcomes"):
            quality["predictive_power"] = _predictive_power(table.records, edited.labels_)
    return quality


def _predictive_power(records: Records | Measurements, labels: Any) -> dict[str, Any]:
    """Measure how well groups predict each outcome; empty for an outcome with a rare class."""
    powers: dict[str, Any] = {}
    for name, values in records.outcomes.items():
        known = values[records.enough]
        if name in records.covariates or outcome_numbers(known, len(known)) is not None:
            continue  # the report shows means, and how covariates predict the group
        powers[name] = {}  # a note would disclose that a class is rare
        with suppress(exceptions.InvalidDataError):
            powers[name] = metrics.predictive_accuracy(labels, known)
    return powers


def _summarize(run: Run, table: Table, fit: Fit) -> tuple[dict[str, Any], list[str]]:
    options, records = run.options, table.records
    by_hand = {
        "edited by hand": ", ".join(map(str, table.edits)) or None,
        "named by hand": str(table.given) or None,
    }
    shown: dict[str, Any] = {
        "quality": fit.more["quality"],
        "min_cell": options.min_cell,
        "include_records": options.include_records,
        "title": table.title,
    }
    with run.stage("summarizing"):
        if isinstance(records, Measurements):
            kinds = [f"{n} ({k.replace('_', '/')})" for n, k in records.kinds.items()]
            made = made_with(records.name, fit.took, columns=", ".join(kinds), **by_hand)
            proba = fit.model.predict_proba(fit.more["X"])
            summary = report.summarize_measurements(
                fit.model, records, proba=proba, made_with=made, **shown
            )
        else:
            settings = {
                "form": records.form,
                "records joined by": records.coder.union_by,
                "codes rolled up by": records.coder.rollup,
            }
            made = made_with(records.name, fit.took, **settings, **by_hand)
            summary = report.summarize_records(fit.model, records, made_with=made, **shown)
    remarks = list(fit.remarks)
    n_groups = fit.more["n_groups"]
    unsplit = not options.flat or (table.measured and n_groups is None)
    if summary["n_leaves"] == 1 and unsplit:
        remarks.append(Message(wording.NOT_SPLIT, reason=why_one(fit.model, n_groups)))
    return summary, list(map(run.words, remarks))


def _write(
    run: Run, table: Table, fit: Fit, summary: dict[str, Any], remarks: list[str]
) -> Writers:
    records, escape = table.records, run.options.escape_formulas
    names = tables.long_names(summary)
    config: dict[str, Any] = {**records.coder.to_dict(), GROUP_NAMES: names}
    if not isinstance(records, Measurements):
        # The command assigns records by the published counts, exactly as the page does.
        config[ASSIGNMENT] = {**summary["scoring"], "codes": summary["codes"]["code"]}

    def write_csv(path: Path) -> None:
        if isinstance(records, Measurements):
            rows = _table_of_measured(run, records, fit.model, names)
        else:
            rows = _table_of_codes(records, fit.model, names, config[ASSIGNMENT])
        rows.write(path, escape_formulas=escape)

    return {
        "csv": write_csv,
        "json": lambda path: tables.write_json(
            path, "clusters", tables.groups_content(summary, remarks)
        ),
        "table_one": lambda path: tables.write_frame(report.table_one(summary), path, escape),
        "fits_table": lambda path: tables.write_frame(report.fits_table(summary), path, escape),
        "save": lambda path: fit.model.save(path, vectorizer_config=config),
    }


def _table_of_codes(
    records: Records, estimator: Any, names: Sequence[str], scoring: Mapping[str, Any]
) -> tables.CsvTable:
    """Return the group of every record; those with too few codes for the fit may have none."""
    start = 0

    def part(X: Any) -> tables.CsvTable:
        nonlocal start
        rows = slice(start, start := start + X.shape[0])
        labels, proba = np.array(estimator.predict(X)), np.array(estimator.predict_proba(X))
        enough, reasons = records.enough[rows], [""] * len(labels)
        short = np.flatnonzero(~enough)
        if len(short):
            codes = records.codes.tolist()
            assigned = groups.RecordAssigner.of(scoring, codes, len(names)).assign(X[short])
            labels[short], proba[short] = assigned.labels, assigned.proba
            for i, reason in zip(short.tolist(), assigned.reasons, strict=True):
                reasons[i] = reason
        table = tables.assignments(
            "group", names, labels, proba, every=False, undecided=reasons, id=records.ids[rows]
        )
        n_codes = (X == 1).sum(axis=1).tolist()  # missing values are not codes
        return table.with_columns(n_codes=n_codes, fitted=_yes_no(enough))

    parts = map(part, records.blocks())
    first = next(parts)
    return replace(first, more=chain.from_iterable(table.rows for table in parts))


def _table_of_measured(
    run: Run, table: Measurements, estimator: Any, names: Sequence[str]
) -> tables.CsvTable:
    """Return the group of every record, made as it is written; some may have none."""
    n_unknown = 0

    def part(records: Measurements, fitted: NDArray[np.bool_]) -> tables.CsvTable:
        nonlocal n_unknown
        labels, proba, complete = groups.predicted(estimator, records, len(names))
        n_unknown += sum(
            note.values["n_entries"] for note in records.notes if note.code == "unknown_categories"
        )
        rows = tables.assignments(
            "group",
            names,
            labels,
            proba,
            every=False,
            undecided=reasons_for_none(records, complete),
            id=records.ids,
        )
        return rows.with_columns(fitted=_yes_no(fitted & records.enough))

    def more() -> Iterator[Sequence[object]]:
        for block in blocks:
            yield from part(*block).rows
        if n_unknown and table.sample is not None:
            run.note(wording.UNKNOWN_CATEGORIES, n_entries=n_unknown)

    blocks = table.blocks()
    return replace(part(*next(blocks)), more=more())


def reasons_for_none(table: Measurements, complete: NDArray[np.bool_]) -> list[str]:
    """Return why each record of measurements has no group, or "" if it has one."""
    reasons: list[str] = np.where(
        complete, "", np.where(table.enough, INCOMPLETE, NO_VALUES)
    ).tolist()
    return reasons


def _yes_no(values: Iterable[Any]) -> list[str]:
    return ["yes" if value else "no" for value in values]


TASK = Task(_fit, _summarize, _write)
