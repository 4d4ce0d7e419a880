"""The commands: what their help says, and which module does the work."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from inspect import Parameter, Signature
from typing import Any

import typer

from momentree.cli._run import Run
from momentree.cli.option_table import options_of
from momentree.cli.options import Argument, Options


@dataclass(frozen=True)
class CommandSpec:
    """A command: its inputs, its help, and the module that does its work.

    The module of its name in this room does the work, in two functions: ``read(run, held)`` returns
    what was read, with resources that `held` closes at the end, and ``proceed(run, data)`` writes
    the results. `reading` names the first step.
    """

    name: str
    help: str
    examples: str
    arguments: tuple[Argument, ...] = ()
    reading: str = "reading {source}"

    @property
    def epilog(self) -> str:
        """The examples, with the empty line before each command that typer needs."""
        return "[bold]Examples[/bold]\n\n" + self.examples.replace("\n  ", "\n\n  ")

    def as_function(self) -> Callable[..., None]:
        """Return the command as a function for typer, whose parameters are the options."""
        table = options_of(self.name)

        def command(context: typer.Context, **values: Any) -> None:
            sources = [(name, context.get_parameter_source(name)) for name in values]
            given = [name for name, source in sources if source and source.name != "DEFAULT"]
            off = {option.name: not values[option.name] for option in table if option.is_on}
            self.run(context, Options(table, values | off, given))

        command.__name__ = self.name
        parameters = [argument.as_parameter() for argument in self.arguments]
        parameters += [option.as_parameter() for option in table]
        context = Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context)
        command.__signature__ = Signature([context, *parameters])  # type: ignore[attr-defined]
        return command

    def run(self, context: typer.Context, options: Options) -> None:
        """Check the options, then read, and continue with what was read."""
        options.check_together()
        inputs = {argument.name: options.by_name[argument.name] for argument in self.arguments}
        run = Run(context, options, inputs.values())
        shown = {name: getattr(path, "name", "") or path for name, path in inputs.items()}
        with ExitStack() as held:
            with run.stage(self.reading.format_map(shown)):
                module = import_module(f"momentree.cli.{self.name}")
                data = module.read(run, held)
            module.proceed(run, data)


COMMANDS = (
    CommandSpec(
        "demo",
        """Grow a tree of topics from real text, print it and write a report for the browser.

The text is the documentation of NumPy, SciPy and scikit-learn, which are installed with
momentree; the demo works offline. With --records, the report shows groups of made-up hospital
visits instead.""",
        """Topics of text that is installed with momentree:
  momentree demo

Groups of made-up hospital visits, whose table, visits.csv, you can then group yourself:
  momentree demo --records --output visits.html
  momentree clusters visits.csv --rollup icd10 --outcome died""",
        reading="reading what comes with momentree",
    ),
    CommandSpec(
        "topics",
        """Find topics in documents, and print a tree or, with --flat, a list.

All files are written together at the end; after an error, none is written.""",
        """A folder of text files, eight topics, a report:
  momentree topics letters/ --output letters.html

A table with known labels to compare with the topics, and words to leave out:
  momentree topics news.csv --label-column section --stop-words said,mr

As many topics as the data support, and a model for new documents:
  momentree topics news.jsonl.gz -k auto --save news.mt

Groups of similar embeddings, named by the words of the documents:
  momentree topics news.csv --embeddings vectors.npy -o news.html

Twelve topics that documents mix, charted over the years:
  momentree topics speeches.csv --flat --model lda -k 12 --order year -o speeches.html

Millions of documents, in one gigabyte of memory; after an interruption, add --resume:
  momentree topics news.parquet --memory 1GB --csv topics.csv -o news.html

The topics of the next month, with the numbers and names of the month before:
  momentree topics february/ --like january.mt --save february.mt

A name of your own for leaf 3:
  momentree topics letters/ --rename 3="Climate" -o letters.html""",
        arguments=(
            Argument(
                "source",
                "INPUT",
                "A folder of documents (text, HTML, e-mail, PDF, Word, ...); a table (CSV, "
                "Excel, OpenDocument, JSON, Parquet); a mailbox; one long text; or word counts: "
                "UCI bag-of-words, SciPy .npz, Matrix Market, SVMlight.",
            ),
        ),
    ),
    CommandSpec(
        "clusters",
        """Find groups of records by codes or measurements; print a tree or, with --flat, a list.

All files are written together at the end; after an error, none is written.""",
        """A table with one row per record and codes in columns DX1, DX2, ...:
  momentree clusters visits.csv --code-column 'DX*' --rollup icd9 -o visits.html

A table with one row per code, and the readmission rate of each group:
  momentree clusters codes.csv --id-column visit --code-column icd --outcome readmitted

The codes of MIMIC, with outcomes from its table of admissions:
  momentree clusters DIAGNOSES_ICD.csv --join ADMISSIONS.csv --on HADM_ID --outcome '*EXPIRE*'

Admissions joined by patient, five groups, and a model for new patients:
  momentree clusters stays.csv --union-by patient -k 5 --save stays.mt

Table one by group for a paper, and fits with 2 to 10 groups:
  momentree clusters visits.csv --covariate age --covariate sex --table-one one.xlsx --fits 2-10

A table of measurements: lab values, yes or no, categories; the last column is an outcome:
  momentree clusters patients.csv --outcome died -o patients.html

The same groups, with group 3 split and then 2 and 5 merged:
  momentree clusters visits.csv --edit 'split 3' --edit 'merge 2 5' -o visits.html

Groups with names of your own:
  momentree clusters visits.csv --rename 0="Births" --rename 3="Heart failure" -o visits.html""",
        arguments=(
            Argument(
                "source",
                "TABLE",
                "A CSV, TSV, Parquet, Excel or OpenDocument table with one row per record "
                "(codes in one cell, in several columns, or as columns of 0 and 1; or "
                "measurements: numbers, yes or no, categories) or one row per code of a record; "
                "or a folder of counts that store_counts has written.",
            ),
        ),
    ),
    CommandSpec(
        "sequences",
        """Find the states of sequences of codes, such as the visits of patients or the clicks of
users.

A hidden Markov model is fitted: each step is in one of a few states, which differ in their
codes, and the state of a step depends on that of the step before. All files are written
together at the end; after an error, none is written.""",
        """Clicks, in a table with one row per click:
  momentree sequences clicks.csv --id-column user --code-column page -o clicks.html

Diagnoses of patients over time, rolled up, in six states, and a model for new patients:
  momentree sequences visits.csv -k 6 --rollup icd10 --save visits.mt

The most likely state of each step, and the share of each state in each sequence:
  momentree sequences visits.csv --csv steps.csv --sequence-csv patients.csv

States with names of your own:
  momentree sequences clicks.csv -k 3 --rename 0=Browsing --rename 1=Buying -o clicks.html""",
        arguments=(
            Argument(
                "source",
                "TABLE",
                "A CSV, TSV, Parquet, Excel or OpenDocument table with one row per step: the id "
                "of its sequence, its time and its code. Or with one row per sequence, with all "
                "codes in one cell.",
            ),
        ),
    ),
    CommandSpec(
        "assign",
        """Assign new documents, records or sequences by a saved model.

The output is a table with the columns id, leaf (or topic, group or state), name and
probability, and one column for each topic or group. Words and codes are counted as for the
model; unknown ones are ignored. Columns of tables default to those of the model. A record
whose codes do not decide between groups, or whose measurements are missing, has an empty
group. For sequences, the table has one row per step, in order, with its most likely state.
--quiet omits notes, not the table.""",
        """Print the leaf of each new document:
  momentree assign news.mt today.csv

Assign new documents to a model of embeddings:
  momentree assign news.mt today.csv --embeddings today.npy

Write the table to a file:
  momentree assign news.mt today.csv --id-column url --csv today-topics.csv

Assign new records:
  momentree assign stays.mt new-stays.csv --csv new-groups.csv

Find the states of new sequences:
  momentree assign clicks.mt new-clicks.csv --csv new-states.csv""",
        arguments=(
            Argument(
                "model",
                "MODEL",
                "A model file written by --save of momentree topics, clusters or sequences.",
            ),
            Argument(
                "source",
                "NEW_INPUT",
                "New documents, records or sequences, in any form that the command accepts that "
                "wrote the model.",
            ),
        ),
        reading="reading {model}",
    ),
    CommandSpec(
        "moments",
        """Answer a question about a table with sums over its rows, to merge with those of other
sites.

The file contains sums, and no row. Sites that may share sums but no rows send such files to
momentree merge, which returns the question of the next round, or a model.""",
        """Each hospital, first round: how many visits it has, and which codes
  momentree moments visits.csv --rollup icd9 --sums north1.mom --keep north.rows

Whoever merges the files sends back a question, and each hospital answers it
  momentree moments north.rows --round r2.mom --sums north2.mom

Documents, with a list of words that all sites share
  momentree moments letters/ --vocabulary words.txt --sums archive1.mom""",
        arguments=(
            Argument(
                "source",
                "TABLE",
                "A table of coded records as for momentree clusters, or documents or word "
                "counts as for momentree topics; or the rows that --keep wrote.",
            ),
        ),
    ),
    CommandSpec(
        "merge",
        """Merge the answers of several tables or sites, and continue with the next question or a
model.

Moments take 12 to 30 rounds, and each step of EM is one more; a tree takes about a hundred. The
result is that of the pooled rows, up to rounding, if no site suppressed anything.""",
        """The question of the second round of three hospitals
  momentree merge north1.mom south1.mom west1.mom --flat -k 6 --next r2.mom

All answers so far: write the next question, or the model once no question is left
  momentree merge north*.mom south*.mom west*.mom --flat -k 6 --next r3.mom --save groups.mt

A tree instead of a flat list
  momentree merge north*.mom south*.mom west*.mom -k 6 --next r3.mom --save tree.mt""",
        arguments=(
            Argument(
                "sources",
                "FILE.mom...",
                "The files of all sites in all rounds so far, written by momentree moments.",
                many=True,
            ),
        ),
        reading="merging",
    ),
)
