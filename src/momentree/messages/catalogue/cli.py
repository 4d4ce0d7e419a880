"""Wording of messages about the command: options, output files and groups."""

WORDS: dict[str, str] = {
    # --- values of options -----------------------------------------------------------------------
    "not_an_option": "{value!r}; expected {choices:quoted or}",
    "not_a_whole_number": "{value!r}; expected a whole number",
    "not_a_whole_number_or_all": "{value!r}; expected a whole number, or 'all'",
    "not_a_count": "{value!r}; expected a whole number of at least 1",
    "not_ngrams": "{value!r}; expected a number of words from 1 to 5",
    "not_a_fraction": "{value!r}; expected a number above 0 and at most 1",
    "not_passages_option": "{value!r}; expected 'auto', 'none', or a number of words of at least 1",
    "not_a_range": "{value!r}; expected a smallest and a largest number of groups, such as 2-10",
    "not_a_count_or_auto": "{value!r}; expected a whole number of at least 1, or 'auto'",
    "not_a_count_or_fraction": (
        "{value!r}; expected a number of documents (5), or a fraction of them with a decimal point "
        "(0.05)"
    ),
    "not_positive_or_auto": "{value!r}; expected a number above 0, or 'auto'",
    "no_file_of_words": (
        "{parameter:=value}: no such file; expected a file with one word per line, or words "
        "separated by commas, such as said,mr"
    ),
    "not_a_merge": (
        "{parameter:{value}}; expected two or more different group numbers, such as {parameter:2,5}"
    ),
    "not_a_split": (
        "{parameter:{value}}; expected a group number, optionally followed by a colon and the "
        "number of parts (default 2), such as {parameter:3} or {parameter:3:4}"
    ),
    "not_a_model": (
        "{parameter:{value}}; expected {choices:or}, or a file name ending in .mt to save the model"
    ),
    "two_names_of_codes": (
        "{parameter} was given {values:and}, which all name codes; give one. A table that names "
        "groups has the columns number and name"
    ),
    "two_names_of_groups": "{parameter} was given {values:and}, which all name groups; give one",
    "two_models": "{parameter} names two models, {names:and}; give one",
    "two_model_files": (
        "two files were given for the model; give only one {parameters.save:FILE.mt} or "
        "{parameters.model:FILE.mt}"
    ),
    # --- options that have no effect -------------------------------------------------------------
    "applies_to_csv": "{parameter} applies only to the CSV table; add {parameters.csv:FILE.csv}",
    "applies_to_fits": (
        "{parameter} writes the table of fits; add {parameters.fits:2-10}, or leave it out"
    ),
    "applies_to_report": (
        "{parameter} applies only to the report; add {parameters.output:FILE.html}"
    ),
    "applies_to_trees": (
        "{parameter} applies only to trees; leave out {parameter} or {parameters.flat}"
    ),
    "applies_to_flat": "{parameter} applies only to flat topics; add {parameters.flat}",
    "model_applies_to_flat": "{parameter:{value}} is a flat model; add {parameters.flat}",
    "not_with_embeddings": (
        "{parameter} has no effect on a tree of embeddings; leave out {parameter} or "
        "{parameters.embeddings}"
    ),
    "passages_with_embeddings": (
        "passages have no embeddings of their own; leave out {parameters.passages} or "
        "{parameters.embeddings}"
    ),
    "model_needs_embeddings": (
        "{path} is a model of embeddings; give those of the new documents: "
        "{parameters.embeddings:FILE.npy}"
    ),
    "model_without_embeddings": (
        "{path} is not a model of embeddings; leave out {parameters.embeddings}"
    ),
    "applies_to_lda": (
        "{parameter} applies only to lda; add {parameters.model:lda}, or leave it out"
    ),
    "three_words_log_scaled": (
        "{parameters.weighting:three_words} requires unscaled counts; add "
        "{parameters.log_scaling:none}"
    ),
    "lda_not_searched": (
        "{parameters.model:lda} has its own starts; leave out {parameters.search}"
    ),
    "lda_log_scaled": (
        "{parameters.model:lda} requires unscaled counts; leave out {parameters.log_scaling}"
    ),
    "applies_to_documents": (
        "{parameter} applies only to documents, but {path} is a model of {kind}; leave it out"
    ),
    "applies_to_records": (
        "{parameter} applies only to records, but {path} is a model of {kind}; leave it out"
    ),
    "applies_to_sequences": (
        "{parameter} applies only to sequences, but {path} is a model of {kind}; leave it out"
    ),
    "applies_to_codes": (
        "{parameter} applies only to records and sequences, but {path} is a model of {kind}; leave "
        "it out"
    ),
    "one_code_column": "{parameter} was given more than once; sequences have one column of codes",
    "no_columns_to_order_by": (
        "{parameter} names a column, but {path} has no columns; leave out {parameter}"
    ),
    # --- the numbers and names of an old model ---------------------------------------------------
    "compared_with": "Compared with {path}: {changes}",
    "leaves_renumbered": (
        "The numbers of leaves follow the branches of the tree, so some are not those in {path}: "
        "{pairs:all}."
    ),
    "like_tree": (
        "{path} has a tree of topics; leave out {parameters.flat} and {parameters.embeddings}, or "
        "{parameter}"
    ),
    "like_flat": (
        "{path} has flat topics; add {parameters.flat} {parameters.model:=kind}, or leave out "
        "{parameter}"
    ),
    "like_embeddings": (
        "{path} has a tree of embeddings; add {parameters.embeddings:FILE.npy}, or leave out "
        "{parameter}"
    ),
    "like_other": (
        "{path} is a {kind}, not a model of documents; give a file of momentree topics "
        "{parameters.save}, or leave out {parameter}"
    ),
    # --- work in bounded memory ------------------------------------------------------------------
    "resume_needs_memory": (
        "{parameter} continues a run with {parameters.memory}; add it, with the value of that run"
    ),
    "not_with_memory": (
        "{parameter} needs all documents or records in memory; leave out {parameter} or "
        "{parameters.memory}"
    ),
    "auto_with_memory": (
        "{parameters.memory} does not allow {parameter:auto}, which fits many models; give a "
        "number, such as the one found for a sample"
    ),
    "search_left_out": (
        "a search in all documents would exceed {parameters.memory}, so topics come from splits "
        "and EM alone, as with {parameters.search:none}; more memory or fewer topics allow it"
    ),
    "nothing_to_resume": "there is no unfinished work in {path}; starting from the beginning",
    "work_kept": "finished steps are kept in {path}; add {parameter:=value} to continue",
    "fit_exceeds_memory": (
        "reading stays within {parameters.memory}, but the fit to {n_rows:~row} may take "
        "{gigabytes:.1f} GB"
    ),
    "report_of_sample": (
        "coherence, separation, labels and the documents shown are of a sample of {n_rows:,} of "
        "{n_all:~document}"
    ),
    "may_exceed_memory": (
        "the input may take {gigabytes:,.0f} GB of memory, and this machine has {there:,.0f} GB; "
        "{parameters.memory:1GB} works in bounded memory"
    ),
    # --- a cluster -------------------------------------------------------------------------------
    "no_scheduler": (
        "no scheduler of Dask answers at {parameter:{value}} ({error}); check the address, which "
        "the scheduler prints when it starts, and that this machine can reach it"
    ),
    "no_workers": (
        "the scheduler at {parameter:{value}} has no workers after {seconds:~second}; start some: "
        "dask worker {value}"
    ),
    "workers_differ": (
        "workers must have the same version of momentree as this machine, {here}, but have "
        "{found:list}; install it on all of them: pip install 'momentree[dask]=={here}'"
    ),
    "only_parquet_on_workers": (
        "with {parameter}, workers read Parquet files, and {path} is not one; give a file, a "
        "pattern such as 'news/*.parquet' or a URL such as 's3://news/*.parquet', or leave out "
        "{parameter}"
    ),
    "not_with_scheduler": (
        "{parameter} needs all documents on one machine; leave out {parameter}, or read the files "
        "without {parameters.scheduler} and patterns"
    ),
    "auto_on_cluster": (
        "{parameter:auto} fits many models on one machine; with rows on a cluster, give a number, "
        "such as the one found for a sample of the documents"
    ),
    "search_left_out_on_cluster": (
        "rows stay on the workers: topics come from splits and EM alone, as with "
        "{parameters.search:none}"
    ),
    "lda_on_cluster": (
        "the EM of lda needs all documents on one machine; add {parameter:=value}, or read the "
        "files without {parameters.scheduler} and patterns"
    ),
    # --- output files ----------------------------------------------------------------------------
    "cannot_write": "cannot write {parameter:{path}}: {reason}",
    "cannot_print": "cannot write to standard output: {reason}",
    "same_as_input": "it is the same file as the input {path}; choose another name",
    "same_as_output": "{parameter} writes to the same file; choose another name",
    "is_a_folder": "it is a folder; give the name of a file",
    "wrong_suffix": "its name must end in {suffixes:or}",
    "no_folder": "there is no folder {path}; create it first",
    "read_only": "the file exists and is read-only",
    "no_permission": "you do not have permission to write to it",
    "folder_not_writable": "no file can be created in {path} ({reason})",
    # --- memory ----------------------------------------------------------------------------------
    "out_of_memory": "not enough memory; split the input and run the command on each part",
    "out_of_memory_words": (
        "not enough memory; add {parameters.memory:1GB} to work on disk, lower "
        "{parameters.max_features}, raise {parameters.min_df}, or give a smaller input"
    ),
    "out_of_memory_codes": (
        "not enough memory; raise {parameters.min_records}, or give a smaller input"
    ),
    # --- headings --------------------------------------------------------------------------------
    "tree_found": "{n:~document}, {n_features:~word}, {n_leaves:~leaf/leaves}",
    "flat_found": "{n:~document}, {n_features:~word}, {n_leaves:~topic}",
    "records_fitted": "{n_records:,} of {n_all:~record} fitted",
    "records_fitted_but_few": "{n_records:~record} fitted, fewer than {least:,} left out",
    "groups_of_features_found": "{n:~record}, {n_features:~feature}, {n_leaves:~group}",
    "groups_found": "{n:~record}, {n_features:~code}, {n_leaves:~group}",
    # --- topics ----------------------------------------------------------------------------------
    "n_topics_chosen": "Number of topics chosen by cross-validation: {reason}",
    "agreement_of_leaves": (
        "Agreement of leaves and labels: NMI {nmi:.3f}, ARI {ari:.3f} ({n_labeled:,} with a label)"
    ),
    "agreement_of_topics": (
        "Agreement of topics and labels: NMI {nmi:.3f}, ARI {ari:.3f} ({n_labeled:,} with a label)"
    ),
    "not_split": "Not split: {reason}",
    "one_group_requested": "one group was requested",
    "one_group_supported": "the records support only one group",
    # --- groups ----------------------------------------------------------------------------------
    "no_record_with_enough_codes": (
        "none of {n_records:~record} has enough codes; lower {parameters.min_codes} or "
        "{parameters.min_records}"
    ),
    "more_groups_than_records": (
        "{parameter:{value}}, but the number of records with enough codes is {n_fitted}; request "
        "fewer groups"
    ),
    "not_an_outcome": (
        "{parameter:=value}: {reason}. Leave it out, or combine its values into categories"
    ),
    "fewer_groups": "{found:~group} instead of {requested}",
    "fewer_groups_because": (
        "{found:~group} instead of {requested}; the largest one was not split further, because "
        "{reason}"
    ),
    "fewer_leaves": "{found:~leaf/leaves} instead of {requested}",
    "fewer_leaves_because": "{found:~leaf/leaves} instead of {requested}: {reason}",
    "n_groups_chosen": "Number of groups chosen by the lowest BIC among 1 to {most} groups.",
    "applies_to_tables_of_codes": (
        "{parameter} applies only to tables of codes, but {path} was read as measurements; if it "
        "contains codes, add {parameters.form:codes}"
    ),
    "undecided_incomplete": (
        "{n_records:,} of {n_all:~record} {n_records:?has/have} no group, because values are "
        "missing"
    ),
    "applies_to_measurements": (
        "{parameter} applies only to tables of measurements, but {path} contains codes; if it "
        "contains measurements, add {parameters.form:measurements}"
    ),
    "steps_of_sequences": (
        "{path} has a step of a sequence in each row, such as a click: use momentree sequences "
        "{path}; to group its rows as records all the same, pass {parameters.form:measurements}"
    ),
    "neither_codes_nor_measurements": (
        "{reason}; if its columns contain measurements instead, pass "
        "{parameters.form:measurements}, and no options for codes, such as {parameters.rollup}"
    ),
    "may_be_codes": (
        "{n_columns:~column} {n_columns:?contains/contain} yes and no; if they are codes, and the "
        "groups should depend on them alone, pass {parameters.form:codes} and leave the other "
        "columns out with {parameters.ignore_columns}"
    ),
    "edits_need_a_tree": (
        "{parameter} applies only to trees; the groups of this table are a list, because trees "
        "need columns of numbers; leave it out, and set the number of groups with "
        "{parameters.n_components}"
    ),
    "fits_need_flat": (
        "{parameter} compares mixtures of measurements; add {parameters.flat}, because a tree of "
        "measurements has no BIC"
    ),
    "list_of_mixed": (
        "the groups are a list, not a tree, because the columns are of different kinds"
    ),
    "not_column_kind": (
        "{parameter:=value}; expected COLUMN=KIND, with one of the kinds {choices:or}"
    ),
    "no_group": (
        "{parameter:{value}}: group {group} does not exist; without this option, the groups are "
        "numbered 0 to {last}"
    ),
    "edit_failed": "{parameter:{value}}: {reason}",
    "small_group": (
        "group {group} has fewer records than {parameters.min_cell:{min_cell}}, so its parts could "
        "not be shown"
    ),
    "fewer_parts": "{parameter:{value}} made {found:~group}; no more could be distinguished",
    "what_sets_apart": (
        "What sets each group apart: mean or share of its records (of all other records)"
    ),
    "one_group_of_features": "There is only one group, so nothing sets it apart.",
    "estimated_rates": "≈ estimated, because counts below {min_cell} are suppressed",
    "suppressed_rates": (
        "{mark} suppressed, because a count below {min_cell} could be derived from it"
    ),
    "residual_group": (
        "Residual group: {n_codes} codes per record ({n_overall} overall), no code in half of them"
    ),
    "fits_compared": (
        "Fits with other numbers of groups: lowest AIC at {aic}, BIC at {bic}, adjusted BIC at "
        "{adjusted_bic}"
    ),
    "fits_open": (
        "BIC is lowest at {most}, the largest number compared: a larger number may be better"
    ),
    "certainty": (
        "Certainty of assignment by the model: mean probability {low:.0%} to {high:.0%} "
        "per group; relative entropy {entropy:.2f} (1 = certain)"
    ),
    "residual_dependence": (
        "Residual dependence within groups: largest {residual:,.12g} between {first} and {second} "
        "(1 or less expected; above {limit} is more than chance among all pairs)"
    ),
    "stability_of_groups": (
        "Stability over {n} samples: {mean:.2f} on average, {low:.2f} to {high:.2f} (1 = the same "
        "groups each time)"
    ),
    "outcome_predicted": (
        "{name}: the group alone predicts {accuracy:.1%} of records correctly, the most frequent "
        "class {baseline:.1%}{auc}"
    ),
    "and_auc": "; AUC {auc:.2f} (0.5 = chance, 1 = perfect)",
    # --- states ----------------------------------------------------------------------------------
    "not_states_or_auto": "{value!r}; expected a whole number of at least 2, or 'auto'",
    "sequences_of_one_step": (
        "no sequence has more than one step, so nothing follows anything; check that "
        "{parameters.id_column} names the column that says which rows form a sequence"
    ),
    "more_moves_than_steps": (
        "{parameters.states:{n_states}} would need {n_moves:,} probabilities of moves, more than "
        "there are steps ({n_steps:,}); use fewer states"
    ),
    "sequences_too_short": (
        "the longest of {n_records:~sequence} has {longest} steps; states require at least three "
        "steps in a row. Check {parameters.id_column}, or add longer sequences"
    ),
    "sequences_of_one_code": (
        "all steps have the same code, {code!r}, so there are no states; check "
        "{parameters.code_column}, or keep rare codes with {parameters.min_sequences:1}"
    ),
    "n_states_chosen": "Number of states chosen by the lowest BIC among 2 to {most} states.",
    "n_states_at_most": (
        "The lowest BIC is that of the largest number of states tried, {most}: a larger number may "
        "be better ({parameters.n_components:N} sets it)."
    ),
    "states_not_converged": (
        "the fit stopped after {n_iter:~iteration} before it had converged; its states may still "
        "change a little"
    ),
    "steps_independent": (
        "BIC is lower if steps do not depend on each other: the states describe little more than "
        "chance. More sequences or fewer codes may help."
    ),
    "chain_is_better": (
        "BIC is lower for a Markov chain, in which the next code depends on the present code: the "
        "states summarize the sequences, but do not explain all of how codes follow each other."
    ),
    "codes_of_states": "Most distinctive codes: probability in the state (share of all steps)",
    "no_common_codes": "(no common codes)",
    "stay_explained": "stay: steps in a row on average; next: the most likely other state",
    "moves_of_states": "Moves: probability of the state of the next step, by state",
    "hidden_moves": (
        "{mark} hides moves made in fewer than {min_cell} sequences, and what they could be "
        "derived from"
    ),
    "pairs_of_codes": (
        "Pairs of consecutive codes, among the {n_codes} most common: the model puts {misfit:.0%} "
        "of them in the wrong place, chance {misfit_of_chance:.0%}"
    ),
    "models_of_sequences": "Other models: the lower BIC, the better",
    "states_found": "{n:~sequence}, {n_features:~code}, {n_leaves:~state}",
    "assigned_to_states": "Assigned {n_entries:~step} to {n_states:~state}.",
    "damaged_state_names": "the model is damaged: its {n_states} states have the names {found}",
    "damaged_codes": "the model is damaged: it has {n_codes:~code} for {fitted} symbols",
    # --- assignment ------------------------------------------------------------------------------
    "no_groups_to_assign": (
        "{path} contains a {kind}, which does not assign samples to groups by their columns alone; "
        "use it in Python, with momentree.load"
    ),
    "model_of_counts": (
        "the model was fitted to word counts, but {path} contains text; give counts, or fit a "
        "model to text with momentree topics --save"
    ),
    "passages_of_documents": "{n_entries:~passage} of {n_rows:~document}",
    "no_known_words": (
        "{n_records:,} of {n_all:~document} {n_records:?has/have} no words in common with the "
        "model and {n_records:?is/are} not assigned; {n_records:?its/their} cells are empty"
    ),
    "all_unknown_words": (
        "{n_documents:~document} in {path}, but none has a word in common with the model; check "
        "that the column of text, the language and the model are the right ones"
    ),
    "undecided": (
        "{n_records:,} of {n_all:~record} {n_records:?has/have} no group, because "
        "{n_records:?its/their} codes are too few, or belong to different groups; the columns of "
        "probabilities show the leading groups. If the records are as complete as those of the "
        "fit, add {parameters.complete}"
    ),
    "undecided_few": "too few codes to say",
    "undecided_different": "codes of different groups",
    "no_known_codes": (
        "{n_records:,} of {n_all:~record} {n_records:?has/have} no codes in common with the "
        "model; check that the codes are of the same system"
    ),
    "assigned_to_leaves": "Assigned {n_documents:~document} to {n_places:~leaf/leaves}.",
    "assigned_to_topics": "Assigned {n_documents:~document} to {n_places:~topic}.",
    "assigned_to_groups": "Assigned {n_records:~record} to {n_groups:~group}.",
    "damaged_group_names": "the model is damaged: its {n_groups} groups have the names {found}",
    "damaged_assignment": "the model is damaged: {found} does not fit its groups and codes",
    # --- moments of sites ------------------------------------------------------------------------
    "model_of_round": "{parameter} belongs to the first round; {parameters.round} has the model",
    "not_a_question": (
        "{path} contains the sums of rows, not the question of a round; give the file that "
        "momentree merge --next wrote"
    ),
    "question_to_merge": (
        "{path} is the question of a round and contains no rows; answer it at each site with "
        "momentree moments --round, and merge the answers"
    ),
    "words_not_utf8": "cannot read {path}: it is not in UTF-8; save the list of words as UTF-8",
    "columns_left_out": (
        "{n_columns:~column} of the table {n_columns:?is/are} not in the question of this round, "
        "because they were suppressed or new, and {n_columns:?is/are} left out"
    ),
    "columns_united": (
        "the files have different columns; the merged sums have all {n_columns:,}, with zeros "
        "where a site has no such column"
    ),
    "site_twice": (
        "{path} contains rows that another file contains too: give the file of each site only once"
    ),
    "read_otherwise": (
        "not all tables were read with the same {names:and}, which decides what a record or a code "
        "is; give all sites the same options in every round, unless their tables differ in this"
    ),
    "no_common_column": (
        "every column is found in fewer than {parameters.min_cell:{min_cell}} rows, so nothing can "
        "be sent; lower it, or roll codes up"
    ),
    "files_differ": "{path} and {first} cannot be merged: {reason}",
    "components_of_next": (
        "{parameter} determines the next round and the model; add {parameters.next:FILE.mom} or "
        "{parameters.fit:FILE.mt}"
    ),
    "components_needed": (
        "the next round depends on the number of components; add {parameter:6}, or "
        "{parameters.leaves:6} for a tree"
    ),
    "flat_or_tree": "{parameter} is for a flat list, and {parameters.leaves} for a tree",
    "no_tree_of_model": (
        "{parameter} grows trees of codes (bernoulli) and of words (single-topic), not of {model}; "
        "give {parameters.components}"
    ),
    "save_of_one_round": (
        "{parameter} requires files of one round; leave out those of the rounds before"
    ),
    "incomplete_for_moments": (
        "{n_cells:~cell} {n_cells:?is/are} empty, and moments require complete records: add "
        "{parameters.empty:zero} if an empty cell means no, or leave such records out"
    ),
    "fit_too_early": (
        "the model requires the answers of round {number}: write its question with "
        "{parameters.next:FILE.mom}, answer it at each site with momentree moments --round, and "
        "merge these answers with all before"
    ),
    "state_described": (
        "Answer of {n_all:~row} with {n_columns:~column} for {model}: round {first}, "
        "{kilobytes:,.1f} kB."
    ),
    "states_described": (
        "Answers of {n_all:~row} with {n_columns:~column} for {model}: rounds {first} to {last}, "
        "{kilobytes:,.1f} kB."
    ),
    "suppressed_here": (
        "Suppressed {n_columns:~column} and {n_others:~other sum} of fewer than {min_cell} rows. "
        "The result of all sites lacks them: it is not exactly that of the pooled rows."
    ),
    "suppressed_in_sum": (
        "Note: the sites suppressed {n_columns:~column} and {n_others:~other sum} of few rows, "
        "each counted at every site. The result is not exactly that of the pooled rows."
    ),
    "next_is_round": (
        "Next: round {number}. Each site answers the question with momentree moments --round; then "
        "merge these answers with all before."
    ),
    "model_complete": "No question is left; write the model with {parameter:FILE.mt}.",
}
