"""Words of the command: options, output files and what it reports about groups."""

WORDS: dict[str, str] = {
    # --- values of options -----------------------------------------------------------------------
    "not_an_option": "{value!r}; expected {choices:quoted or}",
    "not_a_whole_number": "{value!r}; expected a whole number",
    "not_a_count": "{value!r}; expected a whole number of at least 1",
    "not_a_fraction": "{value!r}; expected a number above 0 and of at most 1",
    "not_a_count_or_auto": "{value!r}; expected a whole number of at least 1, or 'auto'",
    "not_a_count_or_fraction": (
        "{value!r}; expected a number of documents (5), or a fraction of them with a decimal point "
        "(0.05)"
    ),
    "not_positive_or_auto": "{value!r}; expected a number above 0, or 'auto'",
    "not_a_merge": (
        "{parameter:{value}}; expected two or more different group numbers, such as {parameter:2,5}"
    ),
    "not_a_split": (
        "{parameter:{value}}; expected a group number, and after a colon the number of parts if "
        "not two, such as {parameter:3} or {parameter:3:4}"
    ),
    "not_a_model": (
        "{parameter:{value}}; expected {choices:or}, or a file to save the model in, with a name "
        "that ends in .mt"
    ),
    "two_models": "{parameter} names two models, {names:and}; give one",
    "two_model_files": (
        "two files for the model; give one {parameters.save:FILE.mt} or one "
        "{parameters.model:FILE.mt}"
    ),
    # --- options that have no effect -------------------------------------------------------------
    "applies_to_csv": "{parameter} applies to the CSV table; add {parameters.csv:FILE.csv}",
    "applies_to_report": "{parameter} applies to the report; add {parameters.output:FILE.html}",
    "applies_to_trees": "{parameter} applies to trees; leave out it or {parameters.flat}",
    "leaves_of_flat": (
        "{parameter} applies to trees; leave out {parameters.flat}, or set the number of flat "
        "topics with {parameters.components}"
    ),
    "applies_to_flat": "{parameter} applies to flat topics; add {parameters.flat}",
    "model_applies_to_flat": "{parameter:{value}} is a flat model; add {parameters.flat}",
    "applies_to_lda": "{parameter} applies to lda; add {parameters.model:lda}, or leave it out",
    "three_words_log_scaled": (
        "{parameters.weighting:three_words} draws words from whole counts; add "
        "{parameters.log_scaling:none}"
    ),
    "lda_log_scaled": (
        "{parameters.model:lda} takes unscaled counts; leave out {parameters.log_scaling}"
    ),
    "applies_to_documents": (
        "{parameter} applies to documents, but {path} is a model of records; leave it out"
    ),
    "applies_to_records": (
        "{parameter} applies to records, but {path} is a model of documents; leave it out"
    ),
    "no_columns_to_order_by": (
        "{parameter} names a column, but {path} has no columns; leave it out"
    ),
    # --- output files ----------------------------------------------------------------------------
    "cannot_write": "cannot write {parameter:{path}}: {reason}",
    "cannot_print": "cannot write to standard output: {reason}",
    "same_as_input": "it is also the input {path}; name another file",
    "same_as_output": "it is also the file of {parameter}; name another file",
    "is_a_folder": "it is a folder; name a file in it",
    "wrong_suffix": "its name must end in {suffixes:or}",
    "no_folder": "there is no folder {path}; create it first",
    "read_only": "the file exists and is read-only",
    "no_permission": "you may not write to it",
    "folder_not_writable": "no file can be created in {path} ({reason})",
    # --- memory ----------------------------------------------------------------------------------
    "out_of_memory": "not enough memory; split the input and run the command on each part",
    "out_of_memory_words": (
        "not enough memory; lower {parameters.max_features}, raise {parameters.min_df}, or give a "
        "smaller input"
    ),
    "out_of_memory_codes": (
        "not enough memory; raise {parameters.min_records}, or give a smaller input"
    ),
    # --- topics ----------------------------------------------------------------------------------
    "n_topics_chosen": "Number of topics chosen by cross-validation: {reason}",
    "agreement_of_leaves": "Agreement of leaves and labels: NMI {nmi:.3f}, ARI {ari:.3f}",
    "agreement_of_topics": "Agreement of topics and labels: NMI {nmi:.3f}, ARI {ari:.3f}",
    "not_split": "Not split: {reason}",
    "one_group_requested": "one group was requested",
    # --- groups ----------------------------------------------------------------------------------
    "no_record_with_enough_codes": (
        "none of {n_records:~record} has enough codes; lower {parameters.min_codes} or "
        "{parameters.min_records}"
    ),
    "more_groups_than_records": (
        "{parameter:{value}}, but only {n_fitted:,} of {n_records:~record} have enough codes; ask "
        "for fewer groups"
    ),
    "not_an_outcome": (
        "{parameter:=value}: {reason}. Leave it out, or combine its values into categories"
    ),
    "fewer_groups": "{found:~group} instead of {requested}",
    "fewer_groups_because": "{found:~group} instead of {requested}: {reason}",
    "n_groups_chosen": "Number of groups chosen by the BIC, lowest among 1 to {most} groups.",
    "no_group": (
        "{parameter:{value}}: there is no group {group}; without this option, the same command has "
        "groups 0 to {last}"
    ),
    "edit_failed": "{parameter:{value}}: {reason}",
    "fewer_parts": "{parameter:{value}} made {found:~group}; no more could be distinguished",
    "numeric_outcome": (
        "outcome {name!r} is numeric: the rates of its quarters are reported, but not how well "
        "groups predict it"
    ),
    "outcome_not_measured": (
        "how well groups predict outcome {name!r} is not measured: it requires at least two "
        "classes of several records each"
    ),
    "estimated_rates": "≈ estimated, because counts below {min_cell} are suppressed",
    "suppressed_rates": (
        "{mark} suppressed, because a count below {min_cell} could be derived from it"
    ),
    "residual_group": (
        "Residual group: {n_codes} codes per record ({n_overall} overall), none in half of them"
    ),
    "stability_of_groups": (
        "Stability over {n} samples: {mean:.2f} on average, {low:.2f} to {high:.2f} (1 = the same "
        "groups each time)"
    ),
    "outcome_predicted": (
        "{name}: predicted correctly from the group alone for {accuracy:.1%} of records, from the "
        "most frequent class for {baseline:.1%}{auc}"
    ),
    "and_auc": "; AUC {auc:.2f} (0.5 = chance, 1 = perfect)",
    # --- assignment ------------------------------------------------------------------------------
    "model_of_counts": (
        "the model was fitted to word counts, but {path} holds text; give counts, or fit a model "
        "to text with momentree topics --save"
    ),
    "no_known_words_leaf": (
        "{n_records:,} of {n_all:~document} have no word in common with the model; they are "
        "assigned to the largest leaf"
    ),
    "no_known_words_topics": (
        "{n_records:,} of {n_all:~document} have no word in common with the model; they get its "
        "mean topic proportions"
    ),
    "few_codes": (
        "{n_records:,} of {n_all:~record} have fewer than {few_codes} codes, while three quarters "
        "of the records in the fit had at least as many. With few codes, the assignment depends "
        "on absent codes, and is less certain than its probability suggests"
    ),
    "no_known_codes": (
        "{n_records:,} of {n_all:~record} have no code in common with the model; their assignment "
        "depends on absent codes alone"
    ),
    "assigned_to_leaves": "Assigned {n_documents:~document} to {n_places:~leaf/leaves}.",
    "assigned_to_topics": "Assigned {n_documents:~document} to {n_places:~topic}.",
    "assigned_to_groups": "Assigned {n_records:~record} to {n_groups:~group}.",
    "damaged_group_names": "the model is damaged: its {n_groups} groups have the names {found}",
    "damaged_few_codes": "the model is damaged: its limit of few codes is {found}",
}
