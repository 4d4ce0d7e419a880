"""Groups of records: fit them, edit them, measure them, write their files and show them."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rich.text import Text

from momentree.cli import _work
from momentree.cli._edits import Edit, apply_edits
from momentree.cli._group_files import FEW_CODES, GROUP_NAMES, group_table, json_content, names_in
from momentree.cli._groups import draw_groups, draw_outcomes, draw_quality, tell_codes
from momentree.cli._progress import seconds
from momentree.cli._reasons import in_plain_words
from momentree.cli._screen import one_line
from momentree.cli._terminal import print_text, stdout_console
from momentree.exceptions import ConvergenceWarning, InvalidDataError, InvalidParameterError

if TYPE_CHECKING:
    from momentree.cli._output import Outputs
    from momentree.cli._progress import Progress
    from momentree.datasets import Records

__all__ = ["Job", "run"]

_MOST_TRIED = 20
_MOST_CLASSES = 10
"""An outcome of more different numbers is a measurement."""
_MORE_TRIED = 3
"""So many numbers of groups in a row must be worse than the best before no more are tried."""


@dataclass(frozen=True)
class Job:
    """What is asked of records, and where the answer goes.

    Parameters
    ----------
    records : Records
        The records.
    groups : int
        How many groups; 0 lets the data choose.
    flat : bool
        A mixture instead of a tree.
    min_samples_leaf : int
        Fewest records in a group of a tree.
    refine : bool
        Whether to refine by EM.
    edits : sequence of Edit
        By hand, after the fit.
    stability : bool
        Whether to measure it.
    include_records, min_cell, title
        Of the report.
    escape_formulas : bool
        Whether the table of records is safe to open in a spreadsheet.
    outputs : Outputs
        The files.
    progress : Progress
        Tells what is done.
    quiet : bool
        Print nothing.
    """

    records: Records
    groups: int
    flat: bool
    min_samples_leaf: int
    refine: bool
    edits: Sequence[Edit]
    stability: bool
    include_records: bool
    escape_formulas: bool
    min_cell: int
    title: str | None
    outputs: Outputs
    progress: Progress
    quiet: bool

    @property
    def fitted_rows(self) -> Any:
        """The records that have enough codes to learn from."""
        return self.records.X[self.records.enough.nonzero()[0]]


def run(job: Job) -> None:
    """Group records, write the files that were asked for and show the groups."""
    records: Any = job.records
    outputs = job.outputs
    X = job.fitted_rows
    _check_number(job, X.shape[0])
    _check_outcomes(job)
    start = time.perf_counter()
    with job.progress.stage("finding groups"):
        fitted, remarks = _fit(job, X)
        _note_fewer(job, fitted)
        edited = apply_edits(
            fitted, X, job.edits, lambda message: _work.tell(message, quiet=job.quiet)
        )
    took = time.perf_counter() - start
    quality = _quality(job, fitted, edited, X)
    with job.progress.stage("summarizing"):
        from momentree.report import summarize_records

        summary = summarize_records(
            edited,
            records,
            min_cell=job.min_cell,
            include_records=job.include_records,
            title=job.title,
            made_with=_made_with(job, took),
            quality=quality,
        )
    names = names_in(summary)
    with job.progress.stage("writing"), outputs.writing() as write:
        write("--output", lambda path: _work.write_report(path, summary))
        write(
            "--csv",
            lambda path: group_table(edited, records, names, job.escape_formulas).write(path),
        )
        write("--json", lambda path: _work.write_json(path, json_content(summary, remarks)))
        config = {**records.coder.to_dict(), GROUP_NAMES: names, FEW_CODES: summary["few_codes"]}
        write("--save", lambda path: edited.save(path, vectorizer_config=config))
    if not job.quiet:
        if summary["n_leaves"] == 1 and not job.flat:
            remarks = [*remarks, f"Not split: {_why(edited) or 'one group was asked for'}"]
        _show(summary, took, remarks)
        _work.list_files(outputs)


def _check_number(job: Job, n: int) -> None:
    """Refuse to make groups of too few records."""
    of = f"of {len(job.records):,} records"
    if n == 0:
        message = f"none {of} has enough codes to learn from; lower --min-codes or --min-records."
        raise InvalidDataError(message)
    if n < job.groups:
        message = (
            f"--groups {job.groups}, but only {n:,} {of} have enough codes to learn from; ask for "
            f"fewer groups."
        )
        raise InvalidParameterError(message)


def _check_outcomes(job: Job) -> None:
    """Refuse names, dates and ids as outcomes, before anything is fitted."""
    from momentree.report.records import why_no_classes

    for name, values in job.records.outcomes.items():
        if reason := why_no_classes(values[job.records.enough]):
            message = f"--outcome {name}: {reason}. Leave it out, or join values to classes."
            raise InvalidDataError(message)


def _fit(job: Job, X: Any) -> tuple[Any, list[str]]:
    """Fit a tree or a flat model; return it with what is to be said of its number of groups."""
    refine: Literal["em"] | None = "em" if job.refine else None
    names = job.records.codes
    if not job.flat:
        from momentree.tree import ClusterTree

        tree = ClusterTree(
            job.groups or None,
            min_samples_leaf=job.min_samples_leaf,
            refine=refine,
            data="binary",
        )
        return tree.fit(X, feature_names=names), []
    from momentree.models import BernoulliMixture

    def fit(k: int) -> Any:
        with warnings.catch_warnings():
            # That there are fewer groups is told by their number.
            warnings.simplefilter("ignore", ConvergenceWarning)
            return BernoulliMixture(k, refine=refine).fit(X, feature_names=names)

    if job.groups:
        return fit(job.groups), []
    return _fewest_bits(job, fit, X)


def _fewest_bits(job: Job, fit: Any, X: Any) -> tuple[Any, list[str]]:
    """Fit one, two, three, ... groups until the information criterion gets no better."""
    most = min(_MOST_TRIED, X.shape[0])
    best, best_bic, k_best = None, float("inf"), 0
    for k in range(1, most + 1):
        job.progress.tell(f"finding groups: trying {k}")
        model = fit(k)
        bic = float(model.bic(X))
        if bic < best_bic:
            best, best_bic, k_best = model, bic, k
        elif k >= k_best + _MORE_TRIED:
            break
    return best, [f"Chosen by the information criterion (BIC), lowest among 1 to {k} groups."]


def _note_fewer(job: Job, fitted: Any) -> None:
    """Tell that there are fewer groups than were asked for, and why."""
    found = len(fitted.leaves_) if hasattr(fitted, "leaves_") else len(fitted.weights_)
    if found < job.groups:
        groups = "group" if found == 1 else "groups"
        reason = _why(fitted)
        _work.tell(
            f"{found} {groups} instead of {job.groups}{reason and ': ' + reason}", quiet=job.quiet
        )


def _why(fitted: Any) -> str:
    """Say why a tree stopped to grow, by its largest leaf that says it."""
    leaves = sorted(getattr(fitted, "leaves_", ()), key=lambda leaf: -leaf.weight)
    # That it has as many leaves as were asked for was true before EM emptied one.
    reasons = [leaf.reason for leaf in leaves if "max_leaf_nodes" not in leaf.reason]
    return in_plain_words(next(filter(None, reasons), ""))


def _quality(job: Job, fitted: Any, edited: Any, X: Any) -> dict[str, Any]:
    """Measure what was asked for: stability of the fit, and what groups tell of outcomes."""
    quality: dict[str, Any] = {}
    if job.stability:
        with job.progress.stage("measuring stability"):
            from momentree.metrics import stability_score

            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                quality["stability"] = stability_score(fitted, X)
    if not job.records.outcomes:
        return quality
    with job.progress.stage("measuring what groups tell of outcomes"):
        powers, coarse = _powers(job, edited.labels_)
    return {**quality, "predictive_power": powers, **coarse}


def _powers(job: Job, labels: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """Measure what groups tell of each outcome: exactly, and coarsely where counts are hidden.

    Accuracies are ratios of counts, so that a hidden count could be found from exact ones.
    """
    from momentree.metrics import predictive_accuracy
    from momentree.report.records import count_outcomes

    records = job.records
    values = {name: known[records.enough] for name, known in records.outcomes.items()}
    k = int(labels.max()) + 1
    exact, coarse = {}, {}
    for name, known in values.items():
        if _is_measured(known):
            _work.tell(
                f"outcome {name!r} holds numbers: the rates of its quarters are told, and how well "
                f"groups tell them is not measured",
                quiet=job.quiet,
            )
            continue
        try:
            power = predictive_accuracy(labels, known)
        except InvalidDataError:
            # The error counts the records of each class.
            _work.tell(
                f"how well groups tell outcome {name!r} is not measured: that takes two classes "
                f"or more, of a few records each",
                quiet=job.quiet,
            )
            continue
        counts = [[0]]
        for counted in count_outcomes(
            {name: known}, labels, k, job.min_cell, records.outcome_names
        ):
            counts.append(counted["missing"])
            for one in counted["classes"]:
                counts += [one["counts"], [one["total"]]]
        # The measure knows the classes that are joined in what is shown.
        rarest = min(Counter(v for v in known.tolist() if v == v and v != "").values())
        if min(map(min, counts)) >= 0 and rarest >= job.min_cell:
            exact[name] = power
        elif power.auc is not None:
            told = f"AUC about {power.auc:.1f} (0.5 tells nothing, 1 everything)"
            coarse[f"{name}: guessed from the group alone"] = told
    return exact, coarse


def _is_measured(values: Any) -> bool:
    """Tell numbers, such as days of stay, from classes."""
    return bool(values.dtype.kind == "f" and len(set(values[values == values])) > _MOST_CLASSES)


def _made_with(job: Job, took: float) -> dict[str, object]:
    coder = job.records.coder
    notes: dict[str, object] = {"input": job.records.name, "form": job.records.form}
    if coder.union_by is not None:
        notes["records joined by"] = coder.union_by
    if coder.rollup is not None:
        notes["codes rolled up by"] = coder.rollup
    if job.edits:
        notes["edited by hand"] = ", ".join(edit.text for edit in job.edits)
    notes["time to fit"] = seconds(took)
    return notes


def _show(summary: Mapping[str, Any], took: float, remarks: Sequence[str]) -> None:
    """Print the drawing of groups, their codes, outcomes and quality."""
    console = stdout_console()
    n = summary["n_leaves"]
    text = Text()
    text.append(one_line(summary["title"]), style="bold")
    text.append(
        f": {summary['n_records']:,} records, {summary['n_features']:,} codes, "
        f"{n} {'group' if n == 1 else 'groups'}, {seconds(took)}\n\n"
    )
    text.append_text(draw_groups(summary, console))
    text.append("\n").append_text(tell_codes(summary, console))
    outcomes = draw_outcomes(summary, console)
    if outcomes:
        text.append("\n").append_text(outcomes)
    lines = [*draw_quality(summary), *remarks]
    if lines:
        text.append("\n")
    for line in lines:
        text.append_text(_work.wrapped(Text(line), console)).append("\n")
    print_text(console, text)
