"""``momentree merge``: merge the answers of sites, ask the next question, or fit a model."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from momentree import backends, exceptions, messages, models, tree
from momentree._files import read_file
from momentree.backends import read_question
from momentree.cli._run import Run
from momentree.cli.moments import described, note_differences, with_columns
from momentree.cli.options import Options
from momentree.cli.screen import show

Save = Callable[[Path], object]
SHOWN = 8
"""Columns that are printed for each component."""


def read(run: Run, _held: ExitStack) -> list[backends.State]:
    """Load the answers of all sites, and merge those of each round, in order."""
    rounds: dict[int, tuple[Path, backends.State]] = {}
    for path in run.options.sources:
        state = _load(path)
        if state.round not in rounds:
            rounds[state.round] = path, state
            continue
        first, total = rounds[state.round]
        if state.parts & total.parts:
            raise exceptions.InvalidDataError(
                "[site_twice] {path} contains rows that another file contains too: give the file "
                "of each site only once",
                path=str(path),
            )
        try:
            rounds[state.round] = first, total.merge(state)
        except exceptions.InvalidDataError as error:
            raise exceptions.InvalidDataError(
                "[files_differ] {path} and {first} cannot be merged: {reason}",
                path=str(path),
                first=str(first),
                reason=error.message,
            ) from error
        if state.columns and len(set(state.columns) ^ set(total.columns or [])):
            n_columns = len(rounds[state.round][1].columns or [])
            run.note(
                messages.Message(
                    "[columns_united] the files have different columns; the merged sums have all "
                    "{n_columns:,}, with zeros where a site has no such column",
                    n_columns=n_columns,
                )
            )
    return [state for _, (_, state) in sorted(rounds.items())]


def _load(path: Path) -> backends.State:
    try:
        return backends.State.load(path)
    except exceptions.ReadError:
        content = read_file(path)
        try:
            read_question(content)
        except exceptions.ReadError:
            pass
        else:
            raise exceptions.ReadError(
                "[question_to_merge] {path} is the question of a round and contains no rows; "
                "answer it at each site with momentree moments --round, and merge the answers",
                path=str(path),
            ) from None
        raise


def proceed(run: Run, states: list[backends.State]) -> None:
    """Write the next question, the model or the merged sums, as requested, and describe them."""
    options = run.options
    saves: dict[str, Save] = {}
    first = states[0]
    name = str(first.about[0]["model"]) if first.about else "bernoulli"
    note_differences(run, [about.get("options", {}) for about in first.about])
    n_columns = len(first.columns or [])
    lines = [described(run, states, n_columns, name)]
    if any(any(state.suppressed.values()) for state in states):
        n_others = sum(sum(s.suppressed.values()) - s.suppressed["columns"] for s in states)
        note = messages.Message(
            "Note: the sites suppressed {n_columns:~column} and {n_others:~other sum} of few rows, "
            "each counted at every site. The result is not exactly that of the pooled rows.",
            n_columns=first.suppressed["columns"],
            n_others=n_others,
        )
        lines.append(run.words(note))
    if run.writes("sums"):
        if len(states) > 1:
            raise exceptions.InvalidParameterError(
                "[sums_of_one_round] {parameters.sums} requires files of one round; leave out "
                "those of the rounds before"
            )
        saves["sums"] = first.save
    if options.groups is not None:
        more_saves, more_lines = _fit_or_ask(run, states, name)
        saves |= more_saves
        lines += more_lines
    with run.stage("writing"):
        run.write_files(saves)
    if not run.quiet:
        show("\n".join(lines) + "\n")
    run.end()


def _fit_or_ask(
    run: Run, states: list[backends.State], name: str
) -> tuple[dict[str, Save], list[str]]:
    """Fit a model to all answers, or find the next question: what to write, and what to print."""
    options = run.options
    model = estimator_for(name, options)
    rows = backends.Rounds(states)
    try:
        with run.stage("fitting"):
            model.fit(rows)
    except backends.NextRound as ends:
        question, number = ends.question, ends.number
        if not run.writes("next"):
            raise exceptions.InvalidParameterError(
                "[fit_too_early] the model requires the answers of round {number}: write its "
                "question with {parameters.next:FILE.mom}, answer it at each site with "
                "momentree moments --round, and merge these answers with all before",
                number=number,
            ) from ends
        note = messages.Message(
            "[next_is_round] Next: round {number}. Each site answers the question with "
            "momentree moments --round; then merge these answers with all before.",
            number=number,
        )
        return {"next": lambda path: path.write_bytes(question)}, [run.words(note)]
    vars(model).pop("feature_names_in_", None)  # the command assigns arrays, not frames
    config = _reader_of(states[0], rows.columns.tolist())
    lines = ["", *_components(model)]
    if not run.writes("save"):
        note = messages.Message(
            "[model_complete] No question is left; write the model with {parameter:FILE.mt}.",
            parameter="save",
        )
        lines += ["", run.words(note)]
    return {"save": lambda path: model.save(path, vectorizer_config=config)}, lines


def estimator_for(model: str, options: Options) -> Any:
    """Return the estimator of a model, for which sums suffice."""
    k, refine = options.groups, options.refine
    if options.flat:
        start = "raw_moments" if model == "bernoulli" else "moments"
        kinds: dict[str, Any] = {
            "single-topic": models.SingleTopicModel,
            "lda": models.LatentDirichletAllocation,
            "poisson": models.PoissonMixture,
            "bernoulli": models.BernoulliMixture,
        }
        refine = None if model == "lda" else refine
        return kinds[model](k, start=start, refine=refine).set_params(**options.chosen("max_iter"))
    if model == "bernoulli":
        return tree.ClusterTree(k, refine=refine)
    if model == "single-topic":
        return tree.TopicTree(k, search="none", refine=refine)
    raise exceptions.InvalidParameterError(
        "[no_tree_of_model] trees are of codes (bernoulli) and of words (single-topic), not of "
        "{model}; add {parameters.flat}",
        model=model,
    )


def _reader_of(description: backends.State, columns: list[str]) -> dict[str, Any] | None:
    """Return the settings that convert new data to the columns, from the first site."""
    known = [about["reader"] for about in description.about if about.get("reader")]
    if not known:
        return None
    found = known[0]
    if "codes" in found:
        names: dict[str, str] = {}
        for reader in reversed(known):
            names |= reader.get("names", {})
        found = {**found, "names": names}
    return with_columns(found, columns)


def _components(model: Any) -> list[str]:
    """Return a line for each component or leaf: its share, and its columns or name."""
    if hasattr(model, "leaves_"):
        total = sum(leaf.weight for leaf in model.leaves_)
        shares = [leaf.weight / total for leaf in model.leaves_]
        texts = [leaf.name for leaf in model.leaves_]
    else:
        shares = model.weights_
        texts = [", ".join(words) for words in model.top_words(SHOWN)]
    return [
        f"{j:>3} {share:>7.1%}  {text}"
        for j, (share, text) in enumerate(zip(shares, texts, strict=True))
    ]
