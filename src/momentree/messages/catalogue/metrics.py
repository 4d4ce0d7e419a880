"""Wording of messages about metrics."""

WORDS: dict[str, str] = {
    # --- sources ---------------------------------------------------------------------------------
    "sources_not_matched": (
        "components times mixing contains a row or column of zeros; each source must have a "
        "component"
    ),
    # --- groups of records -----------------------------------------------------------------------
    "no_labels": "labels is empty; give one group for each record",
    "labels_not_whole": (
        "labels have type {type}; expected whole numbers, one group for each record"
    ),
    "labels_out_of_range": (
        "labels range from {low} to {high}; expected 0 to {most}. Remove records without a group, "
        "or raise {parameters.n_groups}"
    ),
    "values_without_order": (
        "{parameter} mixes values that cannot be sorted ({error}); give only numbers, or only text"
    ),
    "not_a_record_value": (
        "X contains {value}; expected 1 if a record has a code, 0 if not, NaN if unknown. If X "
        "contains counts, pass X > 0"
    ),
    "rows_not_distributions": (
        "the rows of {parameter} must be nonnegative and sum to 1; pass the result of predict_proba"
    ),
    # --- outcomes --------------------------------------------------------------------------------
    "outcome_not_a_number": (
        "the outcome contains {value!r}; expected numbers to compare with "
        "{parameters.threshold:=threshold}"
    ),
    "outcome_of_many_numbers": (
        "the outcome has {found} different numbers; at most {most} are treated as classes: set "
        "{parameters.threshold} to predict whether a number is above it"
    ),
    "outcome_of_many_texts": (
        "the outcome has {found} different values; expected at most {most} categories: merge some "
        "of them, or choose another column"
    ),
    "too_few_classes": (
        "the outcome has {n_classes:~class/classes} in {n_rows:~record}; at least 2 are required"
    ),
    "classes_too_small": (
        "the outcome has classes of {n_rows:list} records, too few for {folds} folds; lower "
        "{parameters.cv}, or merge classes"
    ),
    # --- corrected relations ---------------------------------------------------------------------
    "groups_overlap_too_much": (
        "the groups overlap too much for a correction: the classification probabilities have "
        "condition number {condition:.2g}; merge groups that are hard to distinguish, or fit fewer"
    ),
    "group_never_assigned": (
        "no record with a known value is assigned to group {group}; leave the group out, or merge "
        "it with another"
    ),
    "no_covariates": "no covariates were given; pass at least one column",
    "constant_covariate": (
        "covariate {name!r} has the same value in all records without missing values; leave it out"
    ),
    "dependent_covariates": (
        "the covariates are linearly dependent, such as a total and its parts; leave one out"
    ),
    "too_few_complete_records": (
        "{n_rows:~record} {n_rows:?has/have} no missing covariate; at least {needed} are required"
    ),
    # --- stability -------------------------------------------------------------------------------
    "ids_with_an_estimator": (
        "ids_a and ids_b identify the labels of two runs; omit them with an estimator"
    ),
    "one_list_of_ids": (
        "only one of ids_a and ids_b is given; give both, or neither if the samples are the same"
    ),
    "labels_of_unequal_length": (
        "labels_a has {a:~label}, labels_b {b}; give ids_a and ids_b to identify the samples"
    ),
    "ids_not_unique": (
        "{parameter} has {n_rows:~entry/entries} with {distinct} different ids for "
        "{labels:~label}; each label requires a unique id"
    ),
    "too_few_common_samples": (
        "{n_rows:~sample} {n_rows:?is/are} in both runs; at least 2 are required to compare "
        "clusterings"
    ),
    "too_few_samples_to_overlap": (
        "{n_rows:~sample} with {parameters.overlap:=overlap} {n_rows:?gives/give} {both} common "
        "to both runs and {one} in one run only; at least 2 and 1 are required"
    ),
    "fit_without_sample_weight": (
        "fit of {estimator} does not accept sample_weight, which is required to resample records"
    ),
    "weights_too_large_to_draw": (
        "the sample weights sum to {total:g}, which is the number of records to draw; expected at "
        "most {most:g}: divide the weights by a constant"
    ),
    # --- trees -----------------------------------------------------------------------------------
    "not_a_tree": (
        "tree is a {type}; expected a fitted tree, its tree_, or a linkage matrix of SciPy, with "
        "one row for each merge and 4 columns"
    ),
    "labels_not_of_tree": (
        "labels has {n_rows:~entry/entries}, but the tree has {samples:~sample}; give the labels "
        "of the samples that it was fitted to, in the same order"
    ),
    "no_two_of_a_class": (
        "no two of the {n_rows:~label} are the same; dendrogram purity compares pairs of samples "
        "of a class"
    ),
    # --- components and words --------------------------------------------------------------------
    "no_true_components": "truth has no rows; give at least one true component",
    "word_without_probability": (
        "component {component} gives column {column} a positive probability, but "
        "word_distribution gives it zero"
    ),
    "top_words_not_columns": (
        "top_words has shape {shape} and type {type}; expected whole numbers of shape "
        "(n_topics, n_words)"
    ),
    "top_words_out_of_range": (
        "top_words contains columns {low} to {high}, but X has {n_columns:~column}"
    ),
}
