"""Wording of messages about the report."""

WORDS: dict[str, str] = {
    "positions_shown": ("Only positions that at least {least:,} sequences reach are shown."),
    "model_independent": "independent steps",
    "model_states": "{n_states:~state}",
    "model_chain": "Markov chain of the codes",
    "sequences_not_of_fit": (
        "the sequences have {n_codes:~code}, but the model was fitted to {fitted}; pass the "
        "sequences of the fit, or read others with their coder"
    ),
    "all_groups_small": (
        "every group has fewer than {parameters.min_cell:{min_cell}} records, or its number would "
        "disclose that of such a group, so nothing can be shown; request fewer groups, or lower "
        "{parameters.min_cell} if small counts are not confidential"
    ),
    "ambiguous_dates": (
        "{name} contains dates such as {value!r}, whose day and month are ambiguous; write them as "
        "2020-12-31"
    ),
    "axes_not_one_per_panel": "{found} axes; expected {needed}, one for each of {panels:and}",
    "names_need_codes": (
        "{parameter} is a mapping of {found:~name}; also pass {parameters.codes}, the code of each "
        "column, to look up the names"
    ),
    "no_known_outcome": "no record has a known value of the outcome; choose another outcome",
    "no_such_outcome": "{parameter:=value}; the outcomes of the records are {names:quoted list}",
    "no_values_to_order_by": (
        "{name} has no values; pass numbers or dates by which to order documents"
    ),
    "no_fits": (
        "the summary contains no fits; pass quality={{'fits': compare_fits(...)}} to "
        "summarize_records"
    ),
    "covariates_separate": (
        "a covariate separates some groups almost perfectly, so that some odds ratios have no "
        "finite estimate; leave it out, or combine its classes"
    ),
    "no_table_one": (
        "the summary is of kind {kind!r}; expected one from summarize_records, with groups of "
        "records"
    ),
    "not_a_table_file": "{path}: the name of the file must end in {suffixes:or}",
    "not_a_list": "{parameter} is of type {type}; expected a list of entries",
    "not_a_matrix": "X has shape {shape}; expected (n, d), records by codes",
    "not_a_number_of_documents": ("{parameter:=value}; expected a number of documents, or 'all'"),
    "not_a_time": (
        "{name} contains {value!r}; documents are ordered by numbers or by dates such as 2020-12-31"
    ),
    "not_one_each": "{parameter} has {found:~entry/entries}; expected {needed}, one for each {of}",
    "not_of_topics": "summarize describes topics, and this is a fitted {type}{remedy}",
    "use_summarize_measurements": (
        "; pass it with its table, as read_measurements returns it, to summarize_measurements"
    ),
    "use_summarize_sequences": (
        "; pass it with its sequences, as read_sequences returns them, to summarize_sequences"
    ),
    "not_proportions": "topic proportions must be nonnegative and sum to 1 in each row",
    "not_topic_proportions": "topic proportions have shape {shape}; expected (n_samples, k)",
    "notes_rounded": (
        "{n_notes:~note} {n_notes:?has/have} no exact numbers here, to protect counts below "
        "{min_cell}"
    ),
    "outcome_not_shown": "outcome {outcome!r} is not shown: {reason}",
    "records_not_of_fit": (
        "records has {n_records:~row} with enough codes, and {n_codes:~code}; the estimator was "
        "fitted to {fitted_records:~row} and {fitted_codes:~code}. Pass the records used in fit"
    ),
    "measurements_not_of_fit": (
        "the table has {n_records:~record} with a known value; the estimator was fitted to "
        "{fitted_records:~record}. Pass the records used in fit"
    ),
    "scores_not_finite": "the scores of {method!r} are not finite numbers; pass at least one "
    "finite score for each method",
    "no_scores": "scores is empty; pass at least one finite score for each method",
    "texts_are_no_classes": (
        "it has {n_texts:,} different texts, which look like names, dates or ids; expected at most "
        "{most} categories with several records each"
    ),
    "too_few_topics_for_a_map": "a map of documents needs at least three topics; fit a model with "
    "more topics",
    "wrong_recurrence": "quality['recurrence'] has shape {shape}; expected ({n_groups},), one "
    "number for each group",
    "x_not_of_fit": (
        "X has shape {shape}; the {model} was fitted to {expected}, documents by words. Pass the "
        "matrix used in fit"
    ),
    "x_required": "X is missing; pass the documents whose topic proportions are to be drawn",
    "words_without_topic": (
        "{words:list} {n_words:?is/are} in a fifth of the documents or more, and about as often in "
        "every topic; {parameters.stop_words:{joined}} leaves {n_words:?it/them} out"
    ),
    "topics_of_stop_words": (
        "{n_topics:?topic/topics} {topics:and} {n_topics:?consists/consist} of {names:and} "
        "function words ({words:list}), which say little about subjects: drop them with "
        "{parameter:=language}"
    ),
    "topics_of_common_words": (
        "{n_topics:?topic/topics} {topics:and} {n_topics:?consists/consist} of short words that "
        "are frequent in all topics ({words:list}) and say little about subjects: drop them with "
        "{parameters.stop_words}"
    ),
    # --- flat models of topics -------------------------------------------------------------------
    "too_few_labels": (
        "The agreement of topics and labels is not shown: only {n_rows:~document} "
        "{n_rows:?has/have} a label, of {n_labels:~label} in {n_topics:~topic}, and it takes at "
        "least {needed:,}, and two labels that occur twice"
    ),
    "topics_without_documents": (
        "{n_topics:~topic} {n_topics:?is/are} the main topic of no document; ask for fewer topics"
    ),
    "in_no_topic": (
        "{n_rows:,} of {every} {n_rows:?contains/contain} none of the words and {n_rows:?is/are} "
        "in no topic and no share"
    ),
    "copies_in_shares": (
        "Copies weigh less in the fit: {every} weigh as {n_groups:,}; they count in full in "
        "numbers and shares"
    ),
    "about_lda": "A topic model (latent Dirichlet allocation): each document is a mix of "
    "{n_topics:~topic}.",
    "about_single_topic": "A topic model (single topic): each document is about one of "
    "{n_topics:~topic}.",
    "about_mixture": "A mixture model ({name}): each document belongs to one of {n_topics:~topic}.",
    "start_of_tree": "The starting values came from the leaves of a tree, split step by step.",
    "start_of_tfidf": "The starting values came from the raw moments of tf-idf rows.",
    "start_of_single_topic": "The starting values were the topics of a single-topic model.",
    "start_of_moments": "The starting values came from the method of moments, all topics at once.",
    "refinement": "The refinement ({method})",
    "refinement_converged": "{method} converged after {n_iter:~iteration}.",
    "refinement_not_converged": "{method} did not converge in {n_iter:~iteration}.",
    "no_refinement": "There was no refinement: these are the estimates of the method of moments.",
    "before_refinement": "Before refinement: {warning}",
    "total_concentration": "The total concentration is {alpha0:.3g}; the smaller it is, the fewer "
    "topics a document mixes.",
    "fewer_topics": "{found} of {requested} topics were found: {reason}.",
    # --- the chart of topic proportions ----------------------------------------------------------
    "column_of_document": "Each column is one document.",
    "column_of_value": "Each column is the mean of all documents with the same {name}.",
    "column_of_mean": "Each column is the mean of {size} documents.",
    # --- groups of records -----------------------------------------------------------------------
    "rough_auc": "AUC about {auc:.1f} (0.5 = chance, 1 = perfect)",
}

_INDISTINCT = "it contains no distinct groups"
_SMALL_PART = "one of two groups would be too small"
_AT_FLOOR = (
    "{found:~group} {found:?has/have} almost no variance in {columns:list}: "
    "{found:?it describes/they describe} few {samples}, or many with the same value, and may mean "
    "nothing;"
)
_KINDS = "give these columns the kind 'category' or 'count' with {parameters.kinds}"

PLAIN: dict[str, str] = {
    "components_of_few_samples": (
        "{n_few:~group} {n_few:?has/have} fewer than {needed} {samples} (number {components:and}), "
        "too few for the relations of {n_features:~column}: {n_few:?it/they} may mean "
        "nothing; use fewer groups"
    ),
    "bic_penalty": "two groups describe it no better than one (by BIC)",
    "max_depth_reached": "the maximum depth, {limit}, was reached",
    "max_leaf_nodes_reached": "the maximum number of groups, {limit}, was reached",
    "more_components_than_features": _INDISTINCT,
    "one_component": _INDISTINCT,
    "rank_too_low": _INDISTINCT,
    "small_part_after_em": _SMALL_PART,
    "small_side": _SMALL_PART,
    "too_few_to_split": "it is too small to split",
    "variances_at_floor": f"{_AT_FLOOR} use fewer groups, {_KINDS}, or leave them out",
    "variances_at_floor_of_auto": f"{_AT_FLOOR} {_KINDS}, or leave them out",
}
"""Plain wording by code, without terms of the algorithm, for readers of a page or terminal.

Pass it as `words` of an `Audience`; all other codes keep their words from the catalogue.
"""

PAGE: dict[str, str] = {
    "rare_codes_merged": (
        "merged {n_codes:,} of {n_all_codes:~code}, found in fewer than {least} sequences each, "
        "into {other!r}: {share:.1%} of the steps"
    ),
    "ordered_by_rows": (
        "the table has no times: the steps of each sequence are in the order of the rows"
    ),
    "repeated_steps": (
        "{n_rows:~row} {n_rows:?repeats/repeat} the id, time and code of another row and "
        "{n_rows:?counts as a step/count as steps} too"
    ),
    "possible_outcomes": (
        "treated {n_columns:~column} as codes that may be outcomes: {columns:quoted list}"
    ),
    "repeated_ids": (
        "{n_rows:~row} {n_rows:?repeats/repeat} an id of column {column!r}; each row is a separate "
        "record"
    ),
    "shared_patients": (
        "{n_records:~record} belong to {n_patients:~patient}, according to column {column!r}"
    ),
    "titles_omitted": "",
}
"""Notes without what the person who made the page could have done instead, for its readers."""
