"""Wording of messages about parameters and data, from checks shared by the whole package."""

WORDS: dict[str, str] = {
    # --- parameters ------------------------------------------------------------------------------
    "not_a_choice": "{parameter:=value}; expected {choices:quoted or}",
    "not_a_flag": "{parameter:=value}; expected True or False",
    "no_convergence": (
        "the numbers are too large, too small or too far apart for computations with matrices "
        "({error}); bring the columns to comparable units"
    ),
    "not_a_number": "{parameter:=value}; expected {expected}",
    "not_a_random_state": "{parameter:=value}; expected an integer, a RandomState or None",
    # The expected kind of number and its range.
    "number": "a number {ends:and}",
    "whole_number": "a whole number {ends:and}",
    "from_to": "from {low:,} to {high:,}",
    "at_least": "of at least {end:,}",
    "above": "above {end:,}",
    "at_most": "of at most {end:,}",
    "below": "below {end:,}",
    "or_none": "{expected}, or None",
    "or_auto": "{expected}, or 'auto'",
    # --- arrays ----------------------------------------------------------------------------------
    "not_numbers": "{parameter} is not an array of real numbers: {error}",
    "wrong_shape": "{parameter} has shape {found}; expected {expected}",
    "not_a_distribution": (
        "{parameter} must be nonnegative and sum to 1; the smallest value is {smallest:g}, the "
        "sums are {sums:list}"
    ),
    "sums_not_one": "{parameter} must sum to 1; received {sums:list}",
    "not_finite": "{parameter} must contain only finite numbers",
    "negative_or_not_finite": "{parameter} must contain only finite, nonnegative numbers",
    "bad_sample_weight": (
        "sample_weight[{row}] is {value:g}; expected a number from 0 to {largest:g}"
    ),
    "no_sample_weight": "all sample weights are zero; give at least one sample a positive weight",
    "tiny_sample_weights": (
        "the largest sample weight is {largest:g}; multiply the weights by a constant, so that at "
        "least one is {needed:g} or more"
    ),
    # --- tables ----------------------------------------------------------------------------------
    "no_scratch": (
        "cannot write temporary files to {path}: {reason}; set the environment variable TMPDIR to "
        "a folder with more room"
    ),
    "rows_stay": (
        "this computation needs {n_rows:~row} themselves, which stay where they are; choose "
        "parameters that need only sums over rows"
    ),
    "bad_values_elsewhere": (
        "some values are negative, missing, infinite or of another kind than expected; check the "
        "rows where they are"
    ),
    "option_instead": "{parameter:=value}",
    "rows_brought_here": (
        "{n_rows:~row} were copied to this machine, because {estimator} with these parameters "
        "needs them one by one; with {options:and}, rows stay where they are"
    ),
    "rows_always_brought_here": (
        "{n_rows:~row} were copied to this machine, because {estimator} needs such data row by row"
    ),
    "rows_needed_here": (
        "{estimator} with these parameters needs single rows, which stay where they are; with "
        "{options:and}, sums over rows suffice"
    ),
    "rows_always_needed_here": (
        "{estimator} needs single rows of such data, which stay where they are; sums over rows "
        "suffice for SingleTopicModel, PoissonMixture and TopicTree, and for BernoulliMixture and "
        "ClusterTree if the data are binary and complete"
    ),
    "rows_are_for_fit": (
        "X is a {type}, which only fit() accepts; here, give a table, where the rows are: a model "
        "can be saved, and loaded there"
    ),
    "refused_by_sklearn": "{error}",
    "texts_not_counts": (
        "X contains texts; expected a table of numbers: topic models such as TopicTree accept "
        "texts, vectorize(texts).X are their word counts"
    ),
    "one_string": (
        "the texts are a single string; expected a list or column of strings: put it in a list"
    ),
    "texts_not_a_column": (
        "the texts are a {type}; expected a list or a column of strings, such as table['text']"
    ),
    "not_listed": (
        "X is a {type}; expected a table of counts, or texts in a list or column, such as "
        "list(texts) or table['text']"
    ),
    "texts_in_dask": (
        "the texts are in a Dask collection, and their words are counted only on this machine; "
        "write them to Parquet files and give read_corpus('texts/*.parquet'), which counts words "
        "on the workers, or bring them here with X.compute()"
    ),
    "no_documents": "there are no documents; give at least one",
    # The place counts from 0, as in an index.
    "text_not_a_string": "text {place} is of type {type}; expected a string: {remedy}",
    "fill_text": "leave out missing texts, or replace them with '', as in column.fillna('')",
    "decode_text": "decode it first, as in text.decode('utf-8')",
    "join_words": "join its words, as in ' '.join(words)",
    "make_string": "convert it with str, or leave it out",
    "lists_of_words": (
        "X contains lists of words; expected texts: join the words, as in "
        "[' '.join(words) for words in X]"
    ),
    "column_of_texts": (
        "column {column!r} of X contains texts; expected numbers: remove it, or pass it alone to a "
        "topic model, as in TopicTree().fit(X[{column!r}])"
    ),
    "holds_the_table": (
        "X is a {type}; expected a table of numbers: pass its attribute X, as in corpus.X"
    ),
    "wrong_number_of_names": (
        "feature_names has {found:~name} for {needed:~column}; give one per column"
    ),
    "column_not_numeric": (
        "column {column!r} of X has type {type}; remove it, or convert it to numbers"
    ),
    # Scikit-learn's checks of estimators expect "Negative values in data", "NaN" and "inf".
    "negative_count": (
        "Negative values in data: row {row}, column {column} contains {value}; counts must be zero "
        "or more"
    ),
    "tiny_count": (
        "row {row}, column {column} contains {value}; counts must be zero, or {smallest:g} or "
        "more: multiply X by a constant, or set such values to zero"
    ),
    "huge_count": "row {row}, column {column} contains {value}; counts must be {largest:g} or less",
    "missing_count": (
        "Input X contains NaN or infinity: row {row}, column {column} contains {value}; remove or "
        "fill missing values"
    ),
    "infinite_value": (
        "row {row}, column {column} contains {value}; expected a finite number, or NaN for a "
        "missing value"
    ),
    "not_binary": (
        "X is not binary: row {row}, column {column} contains {value}; expected 0, 1, or NaN for a "
        "missing value. Apply a threshold first, such as X > 0"
    ),
    "negative_not_binary": (
        "Negative values in data: X is not binary: row {row}, column {column} contains {value}; "
        "expected 0, 1, or NaN for a missing value"
    ),
    "all_empty": "X is empty: its {n_rows:~row} {n_rows:?contains/contain} only zeros",
    "all_weighted_empty": (
        "the {n_rows:~row} with positive sample weight {n_rows:?contains/contain} only zeros; give "
        "a positive weight to a row with a nonzero value"
    ),
    "too_few_samples": "{found:~sample}; at least {needed} {needed:?is/are} required",
    # Scikit-learn's checks of estimators expect "sparse".
    "sparse_not_supported": ("X is a sparse matrix, which is not accepted here; pass X.toarray()"),
    "huge_target": (
        "y[{row}] is {value:g}; expected a number from -{largest:g} to {largest:g}: rescale y"
    ),
    # --- sequences -------------------------------------------------------------------------------
    "not_sequence_lengths": (
        "lengths must be a list of whole numbers of 1 or more that sum to {n_rows:,}, the number "
        "of rows of X"
    ),
    "lengths_do_not_match": (
        "lengths sum to {total:,}, but X has {n_rows:~row}; give the length of each sequence, in "
        "the order of X"
    ),
    "not_one_column": (
        "X has shape {shape}; expected one column of symbols, whole numbers from 0: use "
        "GaussianHMM for several columns of numbers"
    ),
    "no_symbols": "X is empty; expected at least one observation",
    "symbols_not_numbers": (
        "X contains {value!r} in row {row}; expected symbols as whole numbers from 0: number them, "
        "as in pandas.factorize(X)[0]"
    ),
    "not_a_symbol": (
        "X contains {value} in row {row}; expected symbols as whole numbers from 0 to 9,999,999: "
        "number them, as in pandas.factorize(X)[0], and leave out missing observations"
    ),
    "symbol_too_large": (
        "X contains the symbol {value} in row {row}, but the model has {n:~symbol}, from 0; leave "
        "out other symbols, or fit with {parameters.n_features:{remedy}}"
    ),
    "no_consecutive_triples": (
        "the longest sequence has {longest:~observation}; moments require three consecutive ones: "
        "give longer sequences, or check lengths"
    ),
    "only_single_observations": (
        "all {n_sequences:~sequence} have one observation, so there are no transitions; check "
        "lengths, or use a mixture model, which has none"
    ),
    "states_not_determined": "the data do not determine the states: {reason}",
    "states_of_few_observations": (
        "{n_few:~state} {n_few:?has/have} fewer than {needed} observations (number {states:and}), "
        "too few for a covariance: check the data for outliers, or lower {parameters.n_components}"
    ),
    "equal_observations": "all observations are equal",
    "only_pairs": (
        "no sequence has three observations, and different transitions explain pairs equally well; "
        "give longer sequences"
    ),
    "no_such_start": (
        "{parameter:=start} finds fewer than {k:~state} in these sequences; lower "
        "{parameters.n_components}, or use {parameters.start:'auto'}"
    ),
    "too_few_observations": (
        "{n_rows:~sample}, fewer than {parameters.n_components:{n_components}}; lower it or add "
        "{samples}"
    ),
    # --- sparse matrices -------------------------------------------------------------------------
    "values_not_numeric": "the matrix contains values of type {type}; expected real numbers",
    "sparse_not_a_matrix": (
        "the sparse array has shape {shape}; expected two dimensions, with samples in rows"
    ),
    "sparse_damaged": (
        "the index arrays of the sparse matrix are damaged: {fault}. Rebuild it, for example with "
        "scipy.sparse.coo_array"
    ),
    "sparse_types": "the values, indices or row pointers have the wrong type or dimensions",
    "sparse_lengths": "the values, indices and row pointers have lengths that do not match",
    "sparse_pointers": "the row pointers do not start at 0, or they decrease",
    "sparse_indices": "an index is outside {low} to {high}",
}
