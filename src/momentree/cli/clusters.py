"""``momentree clusters``: find groups of records, by codes or by measurements."""

import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from momentree import exceptions, metrics, models, readers, report
from momentree.cli import by_hand, groups, stored, tables
from momentree.cli._run import Fit, Run, Task, made_with, note_number, perform, why_one
from momentree.cli.options import Options, kinds_by_column
from momentree.cli.output import Writers
from momentree.messages import Message, wording
from momentree.metrics.outcomes import outcome_numbers
from momentree.readers import Measurements, Records
from momentree.readers.sequences.sequences import holds_steps
from momentree.report.disclosure import Disclosure
from momentree.report.outcomes import notes_shown, why_no_classes
from momentree.tree import ClusterTree

_NEEDS_A_TREE = (
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
    *("code_column", "union_by", "rollup", "code_names", "min_records", "cumulative_frequency"),
    *("min_codes", "drop_constant"),
)
_FOR_MEASUREMENTS = ("kind", "missing")
_OF_ALL_RECORDS = "outcome covariate fits stability edit include_records"
"""Options that need all records with codes in memory."""


@dataclass(frozen=True)
class Table:
    """A table of records, and what the options say about its groups."""

    records: Records | Measurements
    names: by_hand.Names = field(default_factory=dict)
    edits: tuple[by_hand.Edit, ...] = ()
    title: str | None = None

    @property
    def measured(self) -> bool:
        """Whether the records consist of measurements."""
        return isinstance(self.records, Measurements)


def read(run: Run, held: ExitStack) -> Table:
    """Read a table of codes or of measurements, whichever it contains."""
    options = run.options
    edits = tuple(map(by_hand.Edit.parse, options.edit or ()))
    names = by_hand.read_names(options.rename)
    measured = _contains_measurements(options)
    arguments = options.read_by("measurements" if measured else "records")
    if measured:
        arguments["kinds"] = kinds_by_column(options.kind or ())
    if options.memory is not None:
        if not measured:
            options.exclude(_OF_ALL_RECORDS, beside="memory")
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
    return Table(records, names, edits, options.title)


def _contains_measurements(options: Options) -> bool:
    """Return whether to read a table as measurements: by the options, or else by its columns.

    Options that do not apply to what the table contains are refused.
    """
    of_codes, of_measurements = (
        next((name for name in names if options.is_set(name)), None)
        for names in (_FOR_CODES, _FOR_MEASUREMENTS)
    )
    if options.form != "auto":
        measured = bool(options.form == "measurements")
    elif of_codes is not None:
        measured = False
    else:
        measured = _looks_measured(options, of_measurements is None)
    other = of_codes if measured else of_measurements
    if other is not None:
        raise exceptions.InvalidParameterError(
            "[applies_to_other_form] {parameter} applies only to tables of {kind}, but {path} was "
            "read as {form}; if it contains {kind}, add {parameters.form:=kind}",
            parameter=other,
            path=str(options.source),
            kind="codes" if measured else "measurements",
            form="measurements" if measured else "codes",
        )
    return measured


def _looks_measured(options: Options, check_steps: bool) -> bool:
    """Return whether a table contains measurements; steps of sequences are refused."""
    arguments = options.read_by("measurements")
    names = (*_OPENING, "id_column", "ignore_columns")
    opening = {name: arguments[name] for name in names if name in arguments}
    named = {name: opening.pop(name) for name in names[-2:] if name in opening}
    if check_steps and holds_steps(options.source, **opening):
        raise exceptions.InvalidParameterError(
            "[steps_of_sequences] {path} has a step of a sequence in each row, such as a click: "
            "use momentree sequences {path}; to group its rows as records all the same, pass "
            "{parameters.form:measurements}",
            path=str(options.source),
        )
    outcomes = [*(options.outcome or ()), *(options.covariate or ())]
    return readers.holds_measurements(options.source, outcome_columns=outcomes, **named, **opening)


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
    n_groups = None if options.groups == "auto" else options.groups
    if isinstance(records, Measurements):
        _check_measured(options, records)
        X = groups.as_data(records, records.enough, frame=not records.only_numbers)
    else:
        X = records.fitted
    _check(records, n_groups, Disclosure(options.min_cell))
    with run.stage("finding groups"):
        found, took = stored.fit_once(records, partial(_find, run, records, X, n_groups))
        note_number(run, found, n_groups, "groups")
        start = time.perf_counter()
        edited = by_hand.apply_edits(run, found, X, table.edits, options.min_cell)
        edited = by_hand.rename(edited, table.names)
        took += time.perf_counter() - start
    quality = _quality(run, table, found, edited, X)
    return Fit(edited, took, {"quality": quality, "n_groups": n_groups, "X": X})


def _check_measured(options: Options, table: Measurements) -> None:
    """Refuse options of trees for lists, and those of lists for trees."""
    for name in filter(options.is_set, ("min_samples_leaf", "edit")):
        if not table.only_numbers:
            raise exceptions.InvalidParameterError(_NEEDS_A_TREE, parameter=name)
    if options.fits is not None and table.only_numbers and not options.flat:
        raise exceptions.InvalidParameterError(
            "{parameters.fits} compares mixtures of measurements; add {parameters.flat}, because a "
            "tree of measurements has no BIC"
        )


def _check(records: Records | Measurements, n_groups: int | None, disclosure: Disclosure) -> None:
    """Refuse too few records, and outcomes that are names, dates or ids, before the fit."""
    n_fitted = int(np.sum(records.enough))
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


def _find(run: Run, records: Records | Measurements, X: Any, n_groups: int | None) -> Any:
    """Grow a tree, or fit a mixture; a criterion chooses the number of groups if it is None.

    Of measurements, BIC chooses it. BIC charges codes, most of which are rare, more than they can
    gain, so AIC3 chooses it for them, and at most 8 groups.
    """
    options, flat = run.options, run.options.flat
    size, min_cell = options.min_samples_leaf, options.min_cell
    # With at least 5 records in each group, a size shown as "<6" would be known to be 5.
    arguments = {"min_samples_leaf": min_cell if size == min_cell - 1 else size}
    arguments |= options.chosen("refine")
    if isinstance(records, Measurements):
        return groups.find_mixture_or_tree(run, records, X, n_groups, arguments, flat=flat)
    with warnings.catch_warnings():
        # A note already reports if there are fewer groups.
        warnings.simplefilter("ignore", exceptions.ConvergenceWarning)
        kept: Any = {"feature_names": records.codes}
        tree = ClusterTree(n_groups or "aic3", data="binary", **arguments)
        if n_groups is None:
            tree.set_params(refine="em").fit(X, **kept)
            n_groups = tree.n_leaves_
            tree.set_params(max_leaf_nodes=n_groups)  # of refits, such as those of samples
            if not flat and options.refine is not None:
                return tree
        if flat:
            return models.BernoulliMixture(n_groups, **options.chosen("refine")).fit(X, **kept)
        return tree.set_params(refine=options.refine).fit(X, **kept)


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
    edits = {
        "edited by hand": ", ".join(edit.value for edit in table.edits) or None,
        "named by hand": ", ".join(table.names) or None,
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
            made = made_with(records.name, fit.took, columns=", ".join(kinds), **edits)
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
            made = made_with(records.name, fit.took, **settings, **edits)
            summary = report.summarize_records(fit.model, records, made_with=made, **shown)
    n_groups, remarks = fit.more["n_groups"], list[Message]()
    if n_groups is None and not options.edit:
        criterion = "BIC" if table.measured else "AIC3"
        remarks.append(Message(wording.N_GROUPS_CHOSEN, criterion=criterion))
    if summary["n_leaves"] == 1 and (n_groups is None or not options.flat):
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
