"""All options of all commands, each declared once, in the order of the help."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

import momentree.cli.options as parse
from momentree.cli.options import Option
from momentree.core.choices import Empty, Form, Search, TopicModel

SiteModel = Literal["auto", "single-topic", "lda", "poisson", "bernoulli"]
HTML, _TABLE = (".html", ".htm"), (".csv", ".xlsx", ".tex")
_ROLLUP = (
    "Roll codes up to their first three characters, or to the groups in a table with columns code "
    "and group."
)
_EMPTY = "Meaning of empty cells in columns of 0 and 1: missing (unknown), or zero (no)."


def _panel(title: str | None, commands: str, *options: Option) -> tuple[Option, ...]:
    """Return options under one heading; these commands have those that name no commands."""
    return tuple(
        replace(option, panel=title, commands=option.commands or commands) for option in options
    )


def options_of(command: str) -> tuple[Option, ...]:
    """Return the options of a command, in the order of its help."""
    return tuple(filter(None, (option.of(command) for option in OPTIONS)))


def usual_options(command: str) -> list[str]:
    """Return the names of options that the short help of a command shows; none if it has none."""
    return [
        option.name
        for option in options_of(command)
        if option.usual is True or command in str(option.usual).split()
    ]


_GROUPS = (
    *_panel(
        "Groups",
        "topics clusters",
        Option(
            "groups", parse.word_or_number("auto"), "N|auto",
            {
                "topics": "Number of topics: leaves of the tree or, with --flat, entries of the "
                "list. auto chooses it by cross-validation.",
                "clusters": "Number of groups. auto chooses it: of codes by AIC3, at most 8; of "
                "measurements by BIC.",
                "sequences": "Number of states. auto chooses it by BIC, from 2 to 10.",
            },
            short="-k", usual=True, parameters="max_leaf_nodes n_components candidates",
            default={"topics": 8, "clusters sequences": "auto"},
        ),
        Option(
            "groups", int, "N",
            "Number of leaves of a tree or, with --flat, of entries of a list.",
            short="-k", least=1, usual=True, parameters="max_leaf_nodes n_components",
            commands="merge", needs="next save",
        ),
        Option(
            "flat", bool, None,
            {
                "topics": "Find a flat list of topics instead of a tree.",
                "clusters": "Find a flat list of groups (a mixture) instead of a tree.",
                "merge": "Fit a flat list (a mixture) instead of a tree, in far fewer rounds.",
            },
            default=False, usual=True, excludes="max_depth min_samples_leaf edit",
            needs={"merge": "groups"},
        ),
        Option(
            "max_depth", int, "N", "Maximum depth of the tree.", least=1, commands="topics",
        ),
        Option(
            "min_samples_leaf", int, "N", "Minimum number of documents or records in a leaf.",
            default=5, least=1,
        ),
        Option(
            "model", TopicModel, None,
            "Flat topics: single-topic has one topic per document; in lda, documents mix topics.",
            default="single-topic", needs="flat", usual=True, commands="topics",
        ),
        Option(
            "outcome", str, "NAME",
            "Outcome column, or a pattern; report its rate per group. Repeatable.",
            repeatable=True, reads="outcome_columns", usual=True, commands="clusters",
        ),
        Option(
            "covariate", str, "NAME",
            "Covariate, such as age or sex, or a pattern; describe it per group, and report how it "
            "predicts the group. Repeatable.",
            repeatable=True, reads="covariate_columns", commands="clusters",
        ),
        Option(
            "fits", parse.count_range, "LOW-HIGH",
            "Compare fits with these numbers of groups, such as 2-10: log-likelihood, AIC, BIC, "
            "entropy and smallest group; with --stability, stability as well.",
            commands="clusters",
        ),
        Option(
            "stability", bool, None,
            "Report how well the groups of five overlapping samples agree.",
            default=False, usual=True, commands="clusters",
        ),
        Option(
            "edit", str, "EDIT",
            "Edit the groups: 'merge 2 5', 'split 3' or 'split 3 into 4'. Repeatable, in order; "
            "numbers are as shown without this edit.",
            repeatable=True, commands="clusters",
        ),
    ),
    *_panel(
        "Fitting",
        "topics",
        Option(
            "refine", parse.one_of("em", "none"), "<em|none>",
            "Refine the result of the moments by EM, or not.",
            default="em", commands="topics clusters merge", needs={"merge": "groups"},
        ),
        Option(
            "search", Search, None,
            "starts improves the topics by splits, merges and moves of documents, from two starts; "
            "none keeps those of the first splits, in a third of the time.",
            default="starts",
        ),
        Option(
            "log_scaling", parse.one_of("auto", "log1p", "none"), "<auto|log1p|none>",
            "Scale each count x to log2(1 + x), so that repeated words have less weight; auto does "
            "so if words repeat more often than independent words.",
            default="auto",
        ),
        Option(
            "round", Path, "FILE.mom",
            "Answer the question of this round, a file written by momentree merge --next.",
            shown="the first round", is_input=True, excludes="model", commands="moments",
        ),
        Option(
            "model", SiteModel, None,
            "The model of the rows. auto is bernoulli for tables of codes, and single-topic for "
            "folders, texts and counts. A table with a column of texts needs single-topic or lda.",
            default="auto", commands="moments",
        ),
        Option(
            "max_iter", int, "N", "Number of steps of EM of a flat list, at most.",
            shown="until EM converges", least=1, needs="flat", commands="merge",
        ),
    ),
)  # fmt: skip
_READING = (
    *_panel(
        "Reading the input",
        "topics clusters sequences assign moments",
        Option(
            "embeddings", Path, "FILE.npy",
            "Embeddings of the documents, one row each, in the order of the documents: they form "
            "the groups, and the words name them.",
            commands="topics assign", only="documents", is_input=True,
            excludes="flat search log_scaling passages",
        ),
        Option(
            "id_column", str, "NAME", "Column with the id of each row.",
            reads=True, usual=True, commands="topics clusters assign moments",
        ),
        Option(
            "encoding", str, "NAME|auto",
            "Encoding of text files. auto guesses it for each file.",
            default="auto", reads=True,
        ),
        Option(
            "separator", str, "CHAR", "Character between columns.",
            shown="detected", reads=True,
        ),
        Option("sheet", str, "NAME", "Sheet of a spreadsheet.", shown="the first", reads=True),
        Option(
            "skip_rows", int, "N",
            "Rows to skip above the header row, such as a title.",
            default=0, least=0, reads=True,
        ),
        Option(
            "header", bool, None, "Whether the first row of a table names its columns.",
            shown="detected", reads=True,
        ),
        Option(
            "memory", str, "SIZE",
            "Work in this much memory, such as 1GB or 800MB, with what was read in a folder on "
            "disk next to the output.",
            shown="as much as needed", commands="topics clusters", usual="topics",
            excludes={"topics": "embeddings phrases order", "clusters": "join on sheet"},
        ),
        Option(
            "resume", bool, None,
            "With --memory: continue after the last finished step of a stopped run.",
            default=False, needs="memory", commands="topics clusters",
        ),
        Option(
            "scheduler", str, "ADDRESS",
            "Read Parquet files and fit on the workers of this scheduler of Dask, such as "
            "tcp://10.0.0.1:8786.",
            commands="topics",
        ),
    ),
    *_panel(
        "Reading documents",
        "topics",
        Option(
            "text_column", str, "NAME",
            "Column with the text. Repeatable: the columns are joined.",
            shown="detected", repeatable=True, reads=True, only="documents", usual=True,
            commands="topics assign moments",
        ),
        Option(
            "label_column", str, "NAME", "Column with known labels, to compare with the topics.",
            reads=True, only="documents", usual=True,
        ),
        Option(
            "order", str, "NAME|input",
            "Column of numbers or dates that orders the documents in the chart of topic "
            "proportions.",
            default="input", usual=True, needs="output",
        ),
        Option(
            "vocabulary", Path, "FILE",
            "List of words for a matrix of counts, one per line, in column order.",
            shown="in the folder of the matrix", is_input=True, only="documents",
            commands="topics assign",
        ),
        Option(
            "vocabulary", Path, "FILE",
            "List of the words to count, one per line, the same at all sites; or the words of a "
            "matrix of counts, in column order.",
            is_input=True, commands="moments",
        ),
        Option(
            "tokenizer", str, "MODULE:FUNCTION",
            "Python function that splits a text into words, such as jieba:lcut or one in a file of "
            "this folder. It is imported and run.",
            only="documents", commands="topics assign",
        ),
        Option(
            "raw", bool, None,
            "Keep HTML, mail headers, quoted replies, signatures, URLs and page numbers.",
            default=False, reads=True, only="texts",
        ),
        Option(
            "passages", parse.word_or_number("auto", "none"), "auto|none|N",
            "Cut long texts into passages of N words; auto decides by their length.",
            default="auto", reads=True, only="texts",
        ),
    ),
    *_panel(
        "Counting words",
        "topics",
        Option(
            "language", parse.language, "CODE|auto",
            "Drop the stop words of this language, or of several: en,fr. auto finds the languages "
            "of the texts; none keeps all words.",
            default="auto", reads=True, only="texts", usual=True,
        ),
        Option(
            "stop_words", str, "FILE|WORDS",
            "Additional stop words: a file with one per line, or words separated by commas, "
            "said,mr. Repeatable.",
            repeatable=True, usual=True, is_input=True,
        ),
        Option(
            "min_df", parse.count_or_fraction, "N|FRACTION",
            "Drop words in fewer than this number or fraction (0.01) of documents.",
            shown="5, or 2 below 1,000 documents", reads=True, only="texts",
        ),
        Option(
            "max_df", parse.count_or_fraction, "N|FRACTION",
            "Drop words in more than this number or fraction of documents.",
            shown="0.5", reads=True, only="texts",
        ),
        Option(
            "max_features", int, "N", "Keep only the N most frequent words.",
            shown="20000", least=1, reads=True, only="texts",
        ),
        Option(
            "token_pattern", str, "REGEX", "Regular expression that matches a word.",
            reads=True, only="texts",
        ),
        Option(
            "lowercase", bool, None, "Do not convert words to lower case.",
            default=True, reads=True, only="texts",
        ),
        Option(
            "phrases", bool, None,
            "Count phrases of two or three words, such as climate change, besides their words.",
            default=False,
        ),
        Option(
            "ngrams", int, "N",
            "Count sequences of up to N neighboring words, besides the words.",
            default=1, least=1, parameters="ngram_range",
        ),
        Option(
            "unique", bool, None, "Count equal and nearly equal texts as one document, or not.",
            shown="if one text has so many copies that they could form a topic",
            reads=True, only="texts",
        ),
    ),
    *_panel(
        "Reading records",
        "clusters",
        Option(
            "code_column", str, "NAME",
            "Column with codes, or a pattern such as 'DX*'. Repeatable.",
            shown="detected", repeatable=True, reads="code_columns", only="records sequences",
            usual=True, commands="clusters assign moments",
        ),
        Option(
            "union_by", str, "NAME",
            "Join rows with equal values in this column, such as a patient id, into one record.",
            reads=True, only="records", commands="clusters assign moments",
        ),
        Option(
            "ignore", str, "NAME", "Column to ignore, or a pattern. Repeatable.",
            repeatable=True, reads="ignore_columns", only="records measurements", usual="clusters",
            commands="clusters assign moments",
        ),
        Option(
            "complete", bool, None,
            "The records are as complete as those of the fit, so that a code that a record lacks "
            "counts as much as one that it has.",
            default=False, only="records", usual=True, commands="assign",
        ),
        Option(
            "form", Form, None,
            "Whether the table contains codes or measurements; auto judges by its columns.",
            default="auto",
        ),
        Option(
            "kind", str, "COLUMN=KIND",
            "Kind of a column of measurements, by name or pattern: number, yes_no, category or "
            "count. Repeatable.",
            shown="detected", repeatable=True, only="measurements", parameters="kinds",
        ),
        Option(
            "missing", str, "VALUE",
            "A value of measurements that stands for a missing one, such as 999, besides empty "
            "cells, NA, ? and -. Repeatable.",
            repeatable=True, reads=True, only="measurements",
        ),
        Option(
            "join", parse.input_path, "FILE",
            "Another table with outcomes of the same records. Repeatable.",
            repeatable=True, reads=True, is_input=True,
        ),
        Option(
            "on", str, "COLUMN",
            "Column by which to join a table, or LEFT=RIGHT if it has two names. Repeatable.",
            shown="the only column in both tables", repeatable=True, reads=True,
        ),
        Option(
            "empty", Empty, None,
            {
                "clusters": _EMPTY,
                "moments": f"{_EMPTY} Sums over sites require complete records.",
            },
            default="missing", reads=True, only="records measurements",
        ),
        Option(
            "rollup", str, "icd9|icd10|FILE", _ROLLUP,
            reads=True, only="records", commands="moments",
        ),
    ),
    *_panel(
        "Reading sequences",
        "sequences assign",
        Option(
            "id_column", str, "NAME",
            "Column that says which rows form a sequence, such as the id of a patient.",
            shown="detected", reads=True, usual=True, commands="sequences",
        ),
        Option(
            "time_column", str, "NAME|none",
            "Column that orders the steps: numbers or dates; none is the order of the rows.",
            shown="detected", reads=True, only="sequences", usual="sequences",
        ),
        Option(
            "code_column", str, "NAME", "Column with the codes.",
            shown="detected", reads=True, usual=True, commands="sequences",
        ),
        Option(
            "time_format", str, "FORMAT", "Format of the times, such as %d/%m/%Y.",
            shown="detected", reads=True, only="sequences",
        ),
    ),
    *_panel(
        "Codes",
        "clusters",
        Option(
            "min_sequences", int, "N",
            "Merge codes that occur in fewer than N sequences into one.",
            shown="5, or 2 below 1,000 sequences", least=1, reads=True, commands="sequences",
        ),
        Option(
            "rollup", str, "icd9|icd10|FILE", _ROLLUP,
            reads=True, only="records sequences", usual="clusters",
            commands="clusters sequences", is_input=True,
        ),
        Option(
            "code_names", parse.not_empty, "FILE|icd9|icd10|none",
            "Names of codes: a table with columns code and name, or the titles of ICD.",
            shown="titles of ICD if the codes are clearly diagnoses", reads="names", is_input=True,
            only="records sequences", commands="clusters sequences moments",
        ),
        Option(
            "min_records", int, "N", "Drop codes that occur in fewer than N records.",
            shown="5, or 2 below 1,000 records", least=1, reads=True, only="records",
        ),
        Option(
            "cumulative_frequency", float, "FRACTION",
            "Keep only the most frequent codes that make up this fraction of all entries.",
            shown="all", reads=True, only="records",
        ),
        Option(
            "min_codes", int, "N",
            "Fit only records with at least N codes; assign the others afterwards.",
            shown="1; 0 for columns of yes and no", least=0, reads=True, only="records",
        ),
        Option(
            "drop_constant", bool, None, "Keep codes that every record has.",
            default=True, reads=True, only="records",
        ),
    ),
)  # fmt: skip
_OUTPUT = (
    *_panel(
        None,
        "demo",
        Option(
            "output", Path, "FILE.html", "The report.", short="-o",
            shown="momentree-demo.html, or momentree-demo-records.html",
        ),
        Option(
            "records", bool, None,
            "Find groups of made-up hospital visits with ICD-10 codes instead of topics; the table "
            "is written next to the report.",
            default=False,
        ),
    ),
    *_panel(
        "Output (existing files are replaced)",
        "topics clusters sequences",
        Option(
            "like", Path, "FILE.mt",
            "Give the topics the numbers and names that they have in this saved model, and print "
            "what moved, appeared and vanished.",
            is_input=True, commands="topics",
        ),
        Option(
            "rename", str, "N=NAME|FILE",
            "Name group N; in a tree, 0-3=NAME names the node above leaves 0 to 3. Or a table with "
            "columns number and name, such as the report saves. Repeatable.",
            repeatable=True, usual=True, is_input=True,
        ),
        Option(
            "output", Path, "FILE.html", "Report: one page that works offline.",
            short="-o", suffixes=HTML, usual=True,
        ),
        Option(
            "title", str, "TEXT", "Title of the report and of the printed result.",
            shown="from the input",
        ),
        Option(
            "documents", parse.word_or_number("all", least=0), "N|all",
            "Number of documents that the report lists, spread evenly over the topics.",
            shown="as many as 4 MB hold", needs="output", commands="topics",
        ),
        Option(
            "min_cell", int, "N",
            {
                "clusters":
                    "Suppress nonzero counts of records below N, and the cells they could be "
                    "derived from, on the screen, in the report and in --json.",
                "sequences":
                    "Suppress what fewer than N sequences have in common, on the screen, in the "
                    "report and in --json.",
                "moments":
                    "Treat columns that occur in fewer than N rows of this table as absent, and "
                    "pairs of columns and groups of rows likewise; they may be frequent elsewhere, "
                    "which the result then lacks.",
            },
            default=5, least=1, parameters="min_count", usual=True,
        ),
        Option(
            "include_records", bool, None,
            "Show up to 2,000 individual records in the report, with their ids if they have codes. "
            "Otherwise it contains none.",
            default=False, needs="output", commands="clusters",
        ),
        Option(
            "include_sequences", bool, None,
            "Show up to 40 individual sequences with their ids in the report, which otherwise "
            "contains none.",
            default=False, needs="output", commands="sequences",
        ),
        Option(
            "csv", Path, "FILE.csv",
            {
                "topics": "Table with the leaf or topic of each document.",
                "clusters": "Table with the group of each record, by id. Nothing is suppressed.",
                "sequences":
                    "Table with the most likely state of each step. Nothing is suppressed.",
                "assign": "Write the table to this file instead of printing it.",
            },
            suffixes=(".csv",), usual=True,
        ),
        Option(
            "sequence_csv", Path, "FILE.csv",
            "Table with the share of each state in each sequence. Nothing is suppressed.",
            suffixes=(".csv",), commands="sequences",
        ),
        Option(
            "escape_formulas", bool, None,
            dict.fromkeys(
                ("topics clusters sequences", "assign"),
                "In the table, put an apostrophe before text that a spreadsheet would run as a "
                "formula.",
            ),
            default=False,
            needs={"topics clusters sequences": "csv table_one fits_table sequence_csv"},
        ),
        Option(
            "json", Path, "FILE.json",
            {
                "topics": "The tree, or the topics.",
                "clusters": "The groups and their codes.",
                "sequences": "The states, their codes and moves.",
            },
            suffixes=(".json",), usual=True,
        ),
        Option(
            "next", Path, "FILE.mom",
            "The question of the next round, for momentree moments --round at each site.",
            suffixes=(".mom",), needs="groups", commands="merge",
        ),
        Option(
            "save", Path, "FILE.mt",
            {
                "topics": "The model, for momentree assign.",
                "clusters sequences":
                    "The model, for momentree assign. It contains no ids, but exact frequencies.",
                "merge": "The model, for momentree assign, once no question is left.",
            },
            suffixes=(".mt",), needs={"merge": "groups"}, usual=True,
        ),
        Option(
            "table_one", Path, "FILE",
            "Table one, the characteristics of each group: .csv, .xlsx or .tex. Suppressed like "
            "the report.",
            suffixes=_TABLE, usual=True, commands="clusters",
        ),
        Option(
            "fits_table", Path, "FILE", "The table of --fits: .csv, .xlsx or .tex.",
            suffixes=_TABLE, needs="fits", commands="clusters",
        ),
        Option(
            "sums", Path, "FILE.mom",
            {
                "moments":
                    "The answer, to send to whoever merges it. No row can be read from one file, "
                    "but the difference of two files of one site reveals the rows in which they "
                    "differ.",
                "merge":
                    "The merged sums of files of one round, to merge with further files of this "
                    "round.",
            },
            suffixes=(".mom",), required="moments",
        ),
        Option(
            "keep", Path, "FILE.rows",
            "The rows as they were read. In later rounds give this file in place of the table and "
            "its options; it stays at the site.",
            suffixes=(".rows",), commands="moments",
        ),
        Option(
            "quiet", bool, None, "Print only errors.", default=False, short="-q",
            commands="demo topics clusters sequences assign moments merge",
        ),
        Option(
            "verbose", bool, None, "Log each step and its time to standard error.",
            default=False, short="-v",
            commands="demo topics clusters sequences assign moments merge",
        ),
    ),
)  # fmt: skip
OPTIONS: tuple[Option, ...] = (*_GROUPS, *_READING, *_OUTPUT)
SHORT_HELP = ("topics", "clusters", "sequences", "assign")
"""Commands whose help shows the usual options, and all of them on request."""
