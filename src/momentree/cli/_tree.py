"""Topics as a tree: grow it, draw it, write its files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from momentree._version import __version__
from momentree.cli import _work

if TYPE_CHECKING:
    from momentree.tree import TopicTree

__all__ = ["run"]


def run(job: _work.Job, parameters: Mapping[str, Any]) -> None:
    """Grow a tree, write the files that were asked for and draw it."""
    corpus, outputs = job.corpus, job.outputs
    tree, took = _work.grow_tree(corpus, job.progress, parameters)
    summary = _work.summarize_model(
        tree,
        corpus,
        job.progress,
        took=took,
        whole="--output" in outputs,
        title=job.title,
        order=job.order,
    )
    with job.progress.stage("writing"), outputs.writing() as write:
        write("--output", lambda path: _work.write_report(path, summary))
        write("--csv", lambda path: _work.write_assignments(path, tree, job))
        write("--json", lambda path: _work.write_json(path, _json_content(tree, summary)))
        write(job.save_option, lambda path: _work.save(path, tree, corpus))
    if not job.quiet:
        _work.show_topics(summary, took)
        _work.list_files(outputs)


def _json_content(tree: TopicTree, summary: dict[str, Any]) -> dict[str, Any]:
    return {
        "format": "momentree.tree",
        "momentree": __version__,
        "title": summary["title"],
        "n_documents": summary["n_documents"],
        "n_words": summary["n_features"],
        "n_leaves": summary["n_leaves"],
        "agreement": summary["agreement"],
        "made": summary["made"],
        "tree": tree.to_dict(),
    }
