"""Work beyond memory: stages on disk, a cluster, a report on a sample, a table in blocks."""

import copy
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from importlib import metadata
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import typer

from momentree import backends, exceptions, persistence, readers
from momentree.cli._run import Run
from momentree.cli.tables import CsvTable, assignments
from momentree.core.limits import memory_bytes
from momentree.core.pages import counted, picked
from momentree.messages import Message, wording
from momentree.report.topics import default_title, topic_names
from momentree.report.topics.documents import evenly_spread
from momentree.tree.topic_growth import are_many

Elsewhere = readers.StoredCorpus | readers.DistributedCorpus
"""Documents that are not in memory."""
SHOWN = 10_000
"""Documents from which a report is made."""
PASSES, FIT = "4-passes", "5-fit"
_BYTES_PER_BYTE = 6
"""Memory that texts take while their words are counted, by their size in a file."""
BYTES_OF_FIT = 550_000_000
"""Memory of the process during a fit."""
BYTES_OF_RECORD = 120
"""Memory of groups of records for each record."""
BYTES_OF_SEARCH = 24
"""Memory that a search in all documents takes for each of their counts."""
_NO_ROOM = ("cannot_store", "cannot_write", "no_scratch")
_REFUSED = ("resume_changed", "unfinished_work", "not_a_work_folder", "work_in_use", "work_damaged")
"""Errors that leave it to the user whether the folder is removed."""


def work_folder(source: Path, outputs: Sequence[Path]) -> readers.WorkFolder:
    """Return the folder for unfinished work: next to the first output, or in this folder."""
    if outputs:
        return readers.WorkFolder(outputs[0].with_suffix(".work"))
    return readers.WorkFolder(Path(f"{source.resolve().name.split('.')[0] or 'momentree'}.work"))


@contextmanager
def kept(run: Run, work: readers.WorkFolder, *, resume: bool) -> Iterator[None]:
    """Keep finished stages if the block is interrupted, and remove them if it succeeds."""
    work.hold()
    if resume and work.is_new:
        run.note(
            "[nothing_to_resume] there is no unfinished work in {path}; starting from the "
            "beginning",
            path=str(work.path),
        )
    try:
        with work.read_from():
            yield
    except (KeyboardInterrupt, SystemExit):
        _keep(run, work)
        raise
    except exceptions.MomentreeError as error:
        if error.code in _NO_ROOM:
            _keep(run, work)
        elif error.code not in _REFUSED:
            work.remove()
        raise
    except typer.Exit:  # done, with a status
        work.remove()
        raise
    work.remove()


def _keep(run: Run, work: readers.WorkFolder) -> None:
    if not work.remove_if_new():
        run.note(
            "[work_kept] finished steps are kept in {path}; add {parameter:=value} to continue",
            path=str(work.path),
            parameter="resume",
            value=True,
        )


def note_size(run: Run, source: Path) -> None:
    """Print a note if an input may need more than the memory of this machine."""
    with suppress(AttributeError, ValueError, OSError):  # not known on every system
        there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        needed = _BYTES_PER_BYTE * source.stat().st_size
        if source.is_file() and needed > there:
            run.note(
                "the input may take {gigabytes:,.0f} GB of memory, and this machine has "
                "{there:,.0f} GB; {parameters.memory:1GB} works in bounded memory",
                gigabytes=needed / 1e9,
                there=there / 1e9,
                memory="1GB",
            )


def note_fit(run: Run, n_rows: int, memory: str, bytes_per_row: int) -> None:
    """Print a note if the fit and the report may take more memory than allowed."""
    needed = BYTES_OF_FIT + bytes_per_row * n_rows
    if needed > memory_bytes(memory):
        run.note(
            "[fit_exceeds_memory] reading stays within {parameters.memory}, but the fit to "
            "{n_rows:~row} may take {gigabytes:.1f} GB",
            n_rows=n_rows,
            gigabytes=needed / 1e9,
        )


def search_fits(corpus: readers.Corpus, n_topics: int, memory: str) -> bool:
    """Return whether topics are searched in a sample, or in few enough documents for all."""
    if are_many(len(corpus), n_topics):
        return True
    return BYTES_OF_FIT + BYTES_OF_SEARCH * len(corpus.X.data) <= memory_bytes(memory)


def fit_once(corpus: Any, fit: Callable[[], Any]) -> tuple[Any, float]:
    """Return a fitted model and the time it took; that of an earlier run if it was finished."""
    start = time.perf_counter()
    if isinstance(corpus, readers.StoredCorpus):
        folder = corpus.folder
    elif isinstance(corpus, readers.Records) and corpus.stored is not None:
        folder = corpus.stored.folder.parent
    else:
        model = fit()
        return model, time.perf_counter() - start
    work = readers.WorkFolder(folder)
    if not work.has(FIT):
        with backends.answers_kept(work.path / PASSES):
            model = fit()
        took = time.perf_counter() - start
        with work.stage(FIT) as (folder, noted):
            model.save(folder / "model.mt")
            noted["took"] = took
        work.remove_stage(PASSES)
    # Read again also after a fit, so that a continued run gives the same files.
    model = persistence.load(work.path / FIT / "model.mt")
    return model, float(work.read(FIT)["took"])


def shown_of(corpus: readers.Corpus, model: Any) -> tuple[readers.Corpus, Any]:
    """Return the documents that a report is made from, and the model with only their labels."""
    if not isinstance(corpus, Elsewhere):
        return corpus, model
    if len(corpus) <= SHOWN:
        return corpus.take(None), model
    rows = evenly_spread(model.labels_, SHOWN)
    shown = copy.copy(model)
    shown.labels_ = picked(model.labels_, rows)
    note = Message(
        "[report_of_sample] coherence, separation, labels and the documents shown are of a sample "
        "of {n_rows:,} of {n_all:~document}",
        n_rows=len(rows),
        n_all=len(corpus),
    )
    documents = corpus.take(rows)
    return replace(documents, notes=[*documents.notes, note]), shown


def of_all(summary: dict[str, Any], corpus: readers.Corpus, model: Any) -> None:
    """Set the numbers of documents in a summary of shown ones to those of all."""
    n = len(corpus)
    if summary["n_documents"] == n:
        return
    if summary["title"] == default_title(summary["n_documents"]):
        summary["title"] = default_title(n)
    sizes = counted(model.labels_, summary["n_leaves"])
    for entry in summary["nodes"]:
        if entry["leaf"] is not None:
            entry["n_samples"] = int(sizes[entry["leaf"]])
        elif entry["parent"] is None:
            entry["n_samples"] = int(sizes.sum())
        if summary["kind"] == "flat":
            entry["share"] = entry["n_samples"] / int(sizes.sum())
    summary["n_documents"], summary["n_in_no_topic"] = n, n - int(sizes.sum())
    summary["documents"] |= {"total": n, "sampled": True}


def table_of_documents(
    corpus: readers.Corpus, kind: str, model: Any, proba: Any = None
) -> CsvTable:
    """Return a row for each document in the order of the input, made as it is written.

    `proba` is of documents in memory; that of others is computed block by block.
    """
    # A single text has a row for each passage.
    cut = None if corpus.passages is None or len(corpus.passages) == 1 else corpus.passages
    documents = corpus if cut is None else cut
    names = topic_names(model)

    def rows(start: int, proba: Any, places: Any, **counts: Any) -> CsvTable:
        block = slice(start, start + len(proba))
        columns: dict[str, Any] = {"id": documents.ids[block]}
        if documents.labels is not None:
            columns["label"] = documents.labels[block]
        every, assigned = kind == "topic" or cut is not None, places >= 0
        return assignments(
            kind, names, places, proba, every=every, assigned=assigned, **columns, **counts
        )

    def tables() -> Iterator[CsvTable]:
        start = 0
        for proba, _, places in blocks:
            yield rows(start, proba, places)
            start += len(proba)

    def joined(cut: readers.Passages) -> Iterator[CsvTable]:
        """Join the passages of each document; the last one of a block may go on in the next."""
        end, first = 0, 0
        held = [np.empty((0, len(names))), np.empty(0)]
        for *block, _ in blocks:
            end += len(block[0])
            held = [np.concatenate(pair) for pair in zip(held, block, strict=True)]
            document_of, is_last = cut.document_of[end - len(held[1]) : end], end == len(corpus)
            done = len(document_of) if is_last else np.searchsorted(document_of, document_of[-1])
            stop = len(cut) if is_last else int(document_of[-1])
            if stop > first:
                ids = cut.ids[first:stop]
                part = readers.Passages(np.asarray(document_of[:done]) - first, ids)
                lengths = np.bincount(part.document_of, held[1][:done], minlength=len(part))
                proba = part.join(held[0][:done], held[1][:done])
                places = _places(proba, lengths)
                yield rows(first, proba, places, passages=part.counts.tolist())
            held, first = [values[done:] for values in held], stop

    blocks = _assign_blocks(corpus, model, proba)
    made = tables() if cut is None else joined(cut)
    head = next(made)
    return CsvTable(head.header, head.rows, chain.from_iterable(part.rows for part in made))


def _assign_blocks(
    corpus: readers.Corpus, model: Any, proba: Any
) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the probabilities, numbers of words and places, -1 for none, of blocks of rows."""
    if not isinstance(corpus, Elsewhere):
        yield proba, np.asarray(corpus.X.sum(axis=1)).ravel(), model.labels_
        return
    found: Iterable[Any]
    if isinstance(corpus, readers.DistributedCorpus):
        found = corpus.X.results(partial(_proba_and_words, _without_rows(model)))
    else:
        found = map(partial(_proba_and_words, model), corpus.counts.blocks())
    for block in found:
        proba, n_words = block[:, :-1], block[:, -1]
        yield proba, n_words, _places(proba, n_words)


def _places(proba: Any, n_words: Any) -> Any:
    return np.where(n_words > 0, proba.argmax(axis=1), -1)


def _proba_and_words(model: Any, X: Any) -> Any:
    """Return the probabilities of the leaves or topics, and the number of words in each row."""
    return np.column_stack([model.predict_proba(X), np.asarray(X.sum(axis=1)).ravel()])


def _without_rows(model: Any) -> Any:
    """Return a model without what belongs to single rows, to send it."""
    sent = copy.copy(model)
    sent.labels_ = model.labels_[:0]
    return sent


PATIENCE = 20
"""Seconds to wait for the scheduler, and then for a worker."""


@contextmanager
def connected(address: str | None) -> Iterator[None]:
    """Connect to a Dask scheduler for the length of a ``with`` block, and check its workers.

    Parameters
    ----------
    address : str or None
        Address of the scheduler, such as "tcp://10.0.0.1:8786"; None changes nothing.

    Yields
    ------
    None
        The connection is that of all work with Dask in the block.

    Raises
    ------
    ClusterError
        If there is no scheduler at this address, it has no workers, or these do not have this
        version of momentree.
    MissingLibraryError
        If Dask is not installed.
    """
    if address is None:
        yield
        return
    try:
        import dask
        from distributed import Client
    except ImportError as error:
        raise exceptions.MissingLibraryError(wording.DASK_MISSING) from error
    named = {"parameter": "scheduler", "value": address}
    with dask.config.set({"distributed.logging.distributed": "critical"}):
        try:
            client = Client(address, timeout=PATIENCE)
        except (OSError, ValueError, RuntimeError) as error:
            text = " ".join(f"{error}".split()) or type(error).__name__
            raise exceptions.ClusterError(
                "no scheduler of Dask answers at {parameter:{value}} ({error}); check the address, "
                "which the scheduler prints when it starts, and that this machine can reach it",
                error=text,
                **named,
            ) from error
        with client:
            try:
                client.wait_for_workers(1, timeout=PATIENCE)
            except TimeoutError as error:
                raise exceptions.ClusterError(
                    "the scheduler at {parameter:{value}} has no workers after {seconds:~second}; "
                    "start some: dask worker {value}",
                    seconds=PATIENCE,
                    **named,
                ) from error
            here = metadata.version("momentree")
            there = set(client.run(_version).values())
            if there != {here}:
                found = sorted(version or "none" for version in there)
                raise exceptions.ClusterError(
                    "workers must have the same version of momentree as this machine, {here}, but "
                    "have {found:list}; install it on all of them: pip install "
                    "'momentree[dask]=={here}'",
                    here=here,
                    found=found,
                )
            yield


def _version() -> str | None:
    try:
        return metadata.version("momentree")
    except metadata.PackageNotFoundError:
        return None


def on_workers(source: Path) -> str:
    """Return the pattern or URL of the Parquet files that workers read."""
    if readers.is_pattern(source):
        return str(source)
    if source.suffix.lower() not in (".parquet", ".pq"):
        raise exceptions.InvalidParameterError(
            "[only_parquet_on_workers] with {parameters.scheduler}, workers read Parquet files, "
            "and {path} is not one; give a file, a pattern such as 'news/*.parquet' or a URL such "
            "as 's3://news/*.parquet', or leave out {parameters.scheduler}",
            path=str(source),
        )
    return f"file://{source.resolve()}"
