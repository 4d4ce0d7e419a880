"""Topics as a flat list: fit a model, show it, write its files."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from momentree._version import __version__
from momentree.cli import _work
from momentree.cli._choices import Model
from momentree.exceptions import ConvergenceWarning

if TYPE_CHECKING:
    from momentree.models._base import FlatModel

__all__ = ["run"]


_JSON_WORDS = 20


def run(job: _work.Job, model: Model, n_components: int, parameters: Mapping[str, Any]) -> None:
    """Fit a flat model, write the files that were asked for and show it.

    Parameters
    ----------
    job : Job
        Documents and outputs.
    model : {"single-topic", "lda"}
        What to fit.
    n_components : int
        Number of topics; 0 lets the data choose.
    parameters : mapping
        Further parameters of the estimator.
    """
    corpus, outputs = job.corpus, job.outputs
    start = time.perf_counter()
    choice = None
    if not n_components:
        choice = _choose(job, model)
        n_components = choice["n_components"]
    fitted = _fit(job, model, n_components, parameters)
    took = time.perf_counter() - start
    with job.progress.stage("inferring shares of topics"):
        shares = fitted.transform(corpus.X)
    summary = _work.summarize_model(
        fitted,
        corpus,
        job.progress,
        took=took,
        whole="--output" in outputs,
        title=job.title,
        order=job.order,
        shares=shares,
    )
    if choice is not None:
        summary["diagnostics"]["words"].insert(0, _chosen(choice))
    with job.progress.stage("writing"), outputs.writing() as write:
        write("--output", lambda path: _work.write_report(path, summary))
        write("--csv", lambda path: _work.write_assignments(path, fitted, job, shares))
        content = _json_content(fitted, summary, choice)
        write("--json", lambda path: _work.write_json(path, content))
        write(job.save_option, lambda path: _work.save(path, fitted, corpus))
    if not job.quiet:
        remarks = [_chosen(choice)] if choice is not None else []
        remarks += [f"Note: {sentence}" for sentence in summary["diagnostics"]["warnings"]]
        _work.show_topics(summary, took, remarks)
        _work.list_files(outputs)


def _choose(job: _work.Job, model: Model) -> dict[str, Any]:
    """Let the data choose the number of topics."""
    with job.progress.stage("choosing the number of topics"):
        from momentree.models import choose_n_components

        choice = choose_n_components(
            job.corpus.X,
            model=model,
            progress=lambda done, total: job.progress.tell(
                f"choosing the number of topics: {done} of {total} numbers tried"
            ),
        )
        low, high = choice.interval
        return {
            "n_components": int(choice.n_components),
            "interval": [int(low), int(high)],
            "reason": " ".join(map(str, choice.reasons)),
        }


def _chosen(choice: Mapping[str, Any]) -> str:
    # The reason begins with the number and its interval.
    return f"Chosen by the data: {choice['reason']}"


def _fit(
    job: _work.Job, model: Model, n_components: int, parameters: Mapping[str, Any]
) -> FlatModel:
    with job.progress.stage("fitting topics"):
        from momentree.models import LatentDirichletAllocation, SingleTopicModel

        kind: Any = LatentDirichletAllocation if model == "lda" else SingleTopicModel
        with warnings.catch_warnings():
            # That there are fewer topics is told with the advice.
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted: FlatModel = kind(n_components, **parameters).fit(
                job.corpus.X, feature_names=job.corpus.vocabulary
            )
        return fitted


def _json_content(
    model: FlatModel, summary: Mapping[str, Any], choice: Mapping[str, Any] | None
) -> dict[str, Any]:
    words = _top_words(model)
    content = {
        "format": "momentree.topics",
        "momentree": __version__,
        "title": summary["title"],
        "about": summary["about"],
        "n_documents": summary["n_documents"],
        "n_words": summary["n_features"],
        "n_topics": summary["n_leaves"],
        "choice": choice,
        "agreement": summary["agreement"],
        "made": summary["made"],
        "diagnostics": summary["diagnostics"],
        "topics": [
            {
                "topic": node["leaf"],
                "name": node["name"],
                "share": _rounded(node["share"]),
                "weight": _rounded(model.weights_[node["leaf"]]),
                "n_documents": node["n_samples"],
                "words": words[node["leaf"]],
            }
            for node in summary["nodes"]
            if node["leaf"] is not None
        ],
    }
    alpha = getattr(model, "alpha_", None)
    if alpha is not None:
        # By number of topic, whatever their order is.
        content["alpha"] = [_rounded(value) for value in alpha]
        content["alpha0"] = _rounded(alpha.sum())
    return content


def _rounded(value: float) -> float:
    return float(_work.decimals(value))


def _top_words(model: FlatModel) -> list[list[dict[str, Any]]]:
    """Return for each topic its most relevant words with their probabilities."""
    column = {str(word): j for j, word in enumerate(model.vocabulary_)}
    sums = model.components_.sum(axis=1)
    return [
        [{"word": word, "probability": _rounded(row[column[word]] / total)} for word in words]
        for words, row, total in zip(
            model.top_words(_JSON_WORDS), model.components_, sums, strict=True
        )
    ]
