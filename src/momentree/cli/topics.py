"""``momentree topics``: find topics in documents, as a tree or a flat list."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import momentree.cli._options as options
from momentree.cli._run import Run, check_needed
from momentree.cli._topic_options import check_on_cluster, check_together, read_model
from momentree.core.choices import AutoLogScaling, Growth, Search, Weighting
from momentree.messages import Message

EXAMPLES = """
[bold]Examples[/bold]

A folder of text files, eight topics, a report:\n
  momentree topics letters/ --output letters.html

A table with known labels to compare with the topics, and words to leave out:\n
  momentree topics news.csv --label-column section --stop-words said,mr

As many topics as the data support, and a model for new documents:\n
  momentree topics news.jsonl.gz --leaves auto --save news.mt

Every leaf split down to depth 3, by moments alone:\n
  momentree topics counts.npz --growth depth --depth 3 --no-refine

Groups of similar embeddings, named by the words of the documents:\n
  momentree topics news.csv --embeddings vectors.npy -o news.html

Twelve topics that documents mix, charted over the years:\n
  momentree topics speeches.csv --flat --model lda --components 12 --order year -o speeches.html

Millions of documents, in one gigabyte of memory; after an interruption, add --resume:\n
  momentree topics news.parquet --memory 1GB --csv topics.csv -o news.html

The topics of the next month, with the numbers and names of the month before:\n
  momentree topics february/ --like january.mt --save february.mt

A name of your own for leaf 3:\n
  momentree topics letters/ --rename 3="Climate" -o letters.html
"""

_FITTING = (
    *("n_topics", "depth", "growth", "min_samples_leaf", "flat", "model", "alpha0"),
    *("refine", "search", "log_scaling", "weighting"),
)
"""Options that decide on the model."""

word_option = options.in_panel("Counting words")
topic_option = options.in_panel("Topics")
tree_option = options.in_panel("Growing the tree")
flat_option = options.in_panel("Flat topics")


def topics(
    context: typer.Context,
    source: Annotated[
        Path,
        typer.Argument(
            metavar="INPUT",
            parser=options.input_path,
            help="A folder of documents (text, HTML, e-mail, PDF, Word, ...); a table (CSV, Excel, "
            "OpenDocument, JSON, Parquet); a mailbox; one long text; or word counts: UCI "
            "bag-of-words, SciPy .npz, Matrix Market, SVMlight.",
        ),
    ],
    n_topics: Annotated[
        int | None,
        topic_option(
            "--leaves",
            "--components",
            "-k",
            metavar="N|auto",
            parser=options.count_or_auto,
            help="Number of leaves of the tree or, with --flat, of topics. auto chooses it by "
            "cross-validation.",
        ),
    ] = 8,
    flat: Annotated[
        bool, topic_option("--flat", help="Find a flat list of topics instead of a tree.")
    ] = False,
    depth: Annotated[
        int | None,
        tree_option(metavar="N", parser=options.count, help="Maximum depth of the tree."),
    ] = None,
    growth: Annotated[
        Growth,
        tree_option(
            **options.choice_of(Growth),
            help="best_first splits the leaf that gains most; depth splits every leaf down to "
            "--depth.",
        ),
    ] = "best_first",
    min_samples_leaf: Annotated[
        int,
        tree_option(
            metavar="N", parser=options.count, help="Minimum number of documents in a leaf."
        ),
    ] = 5,
    model: Annotated[
        list[str] | None,
        flat_option(
            metavar="NAME|FILE.mt",
            help="single-topic: one topic per document; lda: documents mix topics. A file name "
            "works like --save. May be given once for each.",
            show_default="single-topic",
        ),
    ] = None,
    alpha0: Annotated[
        float | None,
        flat_option(
            metavar="A|auto",
            parser=options.positive_or_auto,
            help="Initial total concentration of lda, which EM refines: the smaller, the fewer "
            "topics a document mixes.",
            show_default="auto",
        ),
    ] = None,
    refine: options.Refine = True,
    search: Annotated[
        Search,
        options.fitting_option(
            **options.choice_of(Search),
            help="starts improves the topics by splits, merges and moves of documents, from two "
            "starts; none keeps those of the first splits, in a third of the time.",
        ),
    ] = "starts",
    log_scaling: Annotated[
        Literal[AutoLogScaling, "none"],
        options.fitting_option(
            **options.choice_of(Literal[AutoLogScaling, "none"]),
            help="Scale each count x to log2(1 + x), so that repeated words have less weight; auto "
            "does so if words repeat more often than independent words.",
        ),
    ] = "auto",
    weighting: Annotated[
        Weighting,
        options.fitting_option(
            **options.choice_of(Weighting),
            help="Weight of documents in the moments. three_words requires --log-scaling none.",
        ),
    ] = "length",
    embeddings: options.Embeddings = None,
    id_column: options.IdColumn = None,
    encoding: options.Encoding = "auto",
    separator: options.Separator = None,
    sheet: options.Sheet = None,
    skip_rows: options.SkipRows = 0,
    header: options.Header = None,
    text_column: options.TextColumn = None,
    label_column: Annotated[
        str | None,
        options.text_option(
            metavar="NAME", help="Column with known labels, to compare with the topics."
        ),
    ] = None,
    order: Annotated[
        str,
        options.text_option(
            metavar="NAME|input",
            help="Column of numbers or dates that orders the documents in the chart of topic "
            "proportions.",
        ),
    ] = "input",
    vocabulary: options.Vocabulary = None,
    language: Annotated[
        str,
        word_option(
            metavar="CODE|auto",
            help="Drop the stop words of this language, or of several: en,fr. auto finds the "
            "languages of the texts; none keeps all words.",
        ),
    ] = "auto",
    stop_words: Annotated[
        list[str] | None,
        word_option(
            metavar="FILE|WORDS",
            help="Additional stop words: a file with one per line, or words separated by commas, "
            "said,mr. Repeatable.",
        ),
    ] = None,
    min_df: Annotated[
        float | None,
        word_option(
            metavar="N|FRACTION",
            parser=options.count_or_fraction,
            help="Drop words in fewer than this number or fraction (0.01) of documents.",
            show_default="5, or 2 below 1,000 documents",
        ),
    ] = None,
    max_df: Annotated[
        float | None,
        word_option(
            metavar="N|FRACTION",
            parser=options.count_or_fraction,
            help="Drop words in more than this number or fraction of documents.",
            show_default="0.5",
        ),
    ] = None,
    max_features: Annotated[
        int | None,
        word_option(
            metavar="N",
            parser=options.count,
            help="Keep only the N most frequent words.",
            show_default="20000",
        ),
    ] = None,
    token_pattern: Annotated[
        str | None, word_option(metavar="REGEX", help="Regular expression that matches a word.")
    ] = None,
    keep_case: Annotated[
        bool, word_option("--keep-case", help="Do not convert words to lower case.")
    ] = False,
    phrases: Annotated[
        bool,
        word_option(
            "--phrases",
            help="Count phrases of two or three words, such as climate change, besides their "
            "words.",
        ),
    ] = False,
    ngrams: Annotated[
        int,
        word_option(
            metavar="N",
            parser=options.ngrams,
            help="Count sequences of up to N neighboring words, besides the words.",
        ),
    ] = 1,
    tokenizer: options.Tokenizer = None,
    raw: options.Raw = False,
    passages: options.Passages = "auto",
    unique: Annotated[
        bool | None,
        word_option(
            "--unique/--every-copy",
            help="Count equal and nearly equal texts as one document.",
            show_default="if one text has so many copies that they could form a topic",
        ),
    ] = None,
    memory: options.Memory = None,
    resume: options.Resume = False,
    scheduler: options.Scheduler = None,
    like: Annotated[
        Path | None,
        options.output_option(
            metavar="FILE.mt",
            parser=options.input_path,
            help="Give the topics the numbers and names that they have in this saved model, and "
            "print what moved, appeared and vanished.",
        ),
    ] = None,
    rename: options.Rename = None,
    names: Annotated[
        Path | None,
        options.output_option(
            metavar="FILE",
            parser=options.input_path,
            help="Names of leaves or topics: a table with columns number and name, such as the "
            "report saves.",
        ),
    ] = None,
    output: options.Output = None,
    title: options.Title = None,
    documents: Annotated[
        Any,
        options.output_option(
            metavar="N|all",
            parser=options.whole_number_or_all,
            help="Number of documents that the report lists, spread evenly over the topics.",
            show_default="as many as 4 MB hold",
        ),
    ] = None,
    csv: Annotated[
        Path | None,
        options.output_option(
            metavar="FILE.csv", help="Table with the leaf or topic of each document."
        ),
    ] = None,
    escape_formulas: options.EscapeFormulas = False,
    json: Annotated[
        Path | None, options.output_option(metavar="FILE.json", help="The tree, or the topics.")
    ] = None,
    save: Annotated[
        Path | None,
        options.output_option(metavar="FILE.mt", help="The model, for momentree assign."),
    ] = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Find topics in documents, and print a tree or, with --flat, a list.

    All files are written together at the end; after an error, none is written.
    """
    kind, target = read_model(model or (), save)
    lists = [options.words_or_file(value, "stop_words") for value in stop_words or ()]
    check_together(context, flat=flat, model=kind)
    check_needed(context, "escape_formulas", needs="csv", code="applies_to_csv")
    check_needed(context, "resume", needs="memory", code="resume_needs_memory")
    outputs = {"output": output, "csv": csv, "json": json, **target}
    run = Run(
        context,
        inputs=(
            source,
            embeddings,
            vocabulary,
            like,
            names,
            *(words for words in lists if isinstance(words, Path)),
        ),
        outputs=outputs,
        escape_formulas=escape_formulas,
        quiet=quiet,
        verbose=verbose,
    )
    with ExitStack() as held:
        with run.stage(f"reading {source.name or source}"):
            from momentree import readers
            from momentree.cli._like import OldModel
            from momentree.cli._names import GivenNames
            from momentree.cli._tokenizer import load_tokenizer
            from momentree.cli._topics import fit_flat, grow_tree, read_order, title_of
            from momentree.cli.cluster import connected, on_workers
            from momentree.cli.stored import (
                kept,
                note_size,
                search_fits,
                work_folder,
            )
            from momentree.readers.text.words import read_words

            elsewhere = scheduler is not None or readers.is_pattern(source)
            if elsewhere:
                check_on_cluster(context, model=kind)
            given = GivenNames.read(rename or (), names)
            old = None
            if like is not None:
                old = OldModel.read(like, flat=flat, kind=kind, embeddings=embeddings is not None)
                n_topics = n_topics if options.given(context, "n_topics") else old.n_groups
            if growth == "depth" and depth is not None and not options.given(context, "n_topics"):
                n_topics = None
            words_of = None if tokenizer is None else load_tokenizer(tokenizer)
            places: Any = None
            table: dict[str, Any] = {
                "text_column": text_column,
                "encoding": encoding,
                "separator": separator,
                "sheet": sheet,
                "skip_rows": skip_rows,
                "header": header,
            }
            if order != "input":
                places = read_order(source, order, **table)
            reading: dict[str, Any] = {
                **table,
                "label_column": label_column,
                "id_column": id_column,
                "vocabulary": vocabulary,
                "stop_words": [word for part in lists for word in read_words("stop_words", part)],
                "min_df": min_df,
                "max_df": max_df,
                "max_features": max_features,
                "token_pattern": token_pattern,
                "tokenizer": words_of,
            }
            cleaning: dict[str, Any] = {
                "raw": raw,
                "ngram_range": (1, ngrams),
                "passages": None if embeddings else passages,
                "unique": "auto" if unique is None else unique,
            }
            # The readers have their own defaults for options that were not given.
            cleaning |= {name: value for name, value in reading.items() if value is not None}
            cleaning["language"] = None if language.lower() == "none" else language.lower()
            cleaning["lowercase"] = not keep_case
            corpus: readers.Corpus
            if elsewhere:
                files = on_workers(source)
                held.enter_context(connected(scheduler))
                corpus = readers.read_corpus(files, phrases=phrases, **cleaning)
                if not (flat and kind == "lda"):
                    search = "none"
                    run.note(Message("search_left_out_on_cluster"))
            elif memory is None:
                note_size(run, source)
                corpus = readers.read_corpus(source, phrases=phrases, **cleaning)
            else:
                work = work_folder(source, outputs)
                held.enter_context(kept(run, work, resume=resume))
                corpus = readers.store_corpus(
                    source,
                    work.path,
                    memory=memory,
                    resume=resume,
                    also={name: context.params[name] for name in _FITTING} | {"n_topics": n_topics},
                    **cleaning,
                )
                lda = flat and kind == "lda"
                if search != "none" and not lda and not search_fits(corpus, n_topics, memory):
                    search = "none"
                    run.note(Message("search_left_out"))
            vectors: Any = None
            if embeddings is not None:
                vectors = readers.read_embeddings(embeddings, n_rows=len(corpus))
        for message in (*corpus.notes, *(vectors.notes if vectors else ())):
            run.note(message)
        parameters: dict[str, Any] = {"refine": "em" if refine else None}
        scaling = None if log_scaling == "none" else log_scaling
        shown: dict[str, Any] = {"title": title or title_of(source), "order": places}
        shown |= {"documents": documents, "like": old}
        if flat:
            # Flat models and trees have different defaults.
            if options.given(context, "weighting"):
                parameters["weighting"] = weighting
            if kind == "lda":
                parameters["alpha0"] = alpha0
            else:
                parameters["search"] = search
                if options.given(context, "log_scaling"):
                    parameters["log_scaling"] = scaling
            result = fit_flat(
                run, corpus, kind or "single-topic", n_topics, parameters, given, **shown
            )
        else:
            parameters |= {
                "max_leaf_nodes": "auto" if n_topics is None and depth is None else n_topics,
                "max_depth": depth,
                "min_samples_leaf": min_samples_leaf,
                "growth": growth,
            }
            if embeddings is None:
                parameters |= {"search": search, "log_scaling": scaling, "weighting": weighting}
            else:
                shown |= {"embeddings": (embeddings.name, vectors.X)}
            result = grow_tree(run, corpus, parameters, given, **shown)
        run.finish(result)
