"""Wording of messages about trees: why nodes are not split, and errors of tree estimators."""

WORDS: dict[str, str] = {
    # --- why a leaf is not split -----------------------------------------------------------------
    "max_leaf_nodes_reached": "{parameters.max_leaf_nodes:{limit}} reached",
    "max_depth_reached": "{parameters.max_depth:{limit}} reached",
    "too_few_to_split": (
        "the total sample weight is less than {needed:g}, {n_sides} times "
        "{parameters.min_samples_leaf}"
    ),
    "small_side": (
        "one side would have a total weight below {parameters.min_samples_leaf:{least:g}}"
    ),
    "no_triples": "no document has three words or more; log scaling counts repeated words less",
    "one_component": "the moments support no second component",
    "bic_penalty": (
        "a split would gain {gain:.4g} nats, less than the BIC penalty of {penalty:.4g}"
    ),
    "merged_by_hand": "groups were merged by hand",
    "cut_here": "the tree was cut here",
    # --- edits and flat clusterings --------------------------------------------------------------
    "small_part_after_em": (
        "after EM, one part would have a total weight below {parameters.min_samples_leaf:{least:g}}"
    ),
    "fewer_clusters": "{found} of {requested:~cluster} found: {reason}",
    "fewer_leaves_found": "{found:~leaf/leaves} of {requested} found: {reason}",
    "leaves_too_small": "EM left fewer samples than {parameters.min_samples_leaf} in the others",
    "others_too_small": (
        "the moments support no more clusters of {parameters.min_samples_leaf} or more"
    ),
    # --- errors ----------------------------------------------------------------------------------
    "leaves_of_embeddings": (
        "{parameters.max_leaf_nodes:=max_leaf_nodes} cannot choose the number of groups from "
        "directions alone; give a number, such as {parameters.max_leaf_nodes:=number}, or the word "
        "counts of the samples, fit(X, counts=counts), which choose it"
    ),
    "covariances_of_real": (
        "{parameters.covariance_type:=covariance_type} applies to real data, and these data are "
        "{kind:s}; leave it out, or set {parameters.data:=wider}"
    ),
    "covariances_of_missing": (
        "{parameters.covariance_type:=covariance_type} requires data without missing values; use "
        "{parameters.covariance_type:=instead}, or fill missing values first"
    ),
    "missing_not_assigned": (
        "Input X contains NaN: row {row}, column {column} is missing. The data used in fit had no "
        "missing values, and the groups of this tree need all values; fill missing values first, "
        "or fit with {parameters.covariance_type:=instead}"
    ),
    "three_words_after_log_scaling": (
        "{parameters.weighting:=weighting} draws words from whole counts; use it with "
        "{parameters.log_scaling:=log_scaling}"
    ),
    "not_fitted_to_binary": (
        "the tree was fitted to {kind:s} data, but scoring and the page of records require binary "
        "data; use to_frame or to_dict instead, for a page of measurements "
        "momentree.report.summarize_measurements, or, for a page of documents, give their words to "
        "fit, as in fit(E, counts=X)"
    ),
    "counts_of_other_rows": (
        "counts has {found:~row} for {needed:~sample}; give the words of each sample, in the same "
        "order"
    ),
    "described_not_edited": (
        "groups of a tree that was fitted with counts cannot be split or merged, because the words "
        "of the new groups are not known; fit the tree with another {parameters.max_leaf_nodes}"
    ),
    "page_needs_data": (
        "X is None, but the page counts the codes of each group; pass the data used in fit, as in "
        "to_html('report.html', X)"
    ),
    "page_option_not_a_mapping": "{parameter} is a {type}; expected a mapping from {keys}",
    # --- texts -----------------------------------------------------------------------------------
    "names_of_texts": (
        "{parameter} is given with texts, whose words are the names of the columns; leave it out"
    ),
    "not_a_vectorizer": (
        "{parameter:=value}; expected None, a TextVectorizer(...), or another object with "
        "fit_transform and transform, such as CountVectorizer()"
    ),
    "settings_of_vectorizer": (
        "{problem}. These are settings of the counts: count the texts first, as in "
        "vectorize(texts, min_df=1, max_df=1.0), and give fit the result; topic models also take "
        "vectorizer=TextVectorizer(min_df=1, max_df=1.0)"
    ),
    "copies_counted_in_fit": (
        "{n_rows:,} of {every} {n_rows:?is a copy/are copies} of others{near}; give them less "
        "weight by sample_weight, or count each text once by fit(vectorize(texts, unique=True))"
    ),
    "fitted_to_counts": (
        "X contains texts, but the model was fitted to counts and cannot count words; fit it to "
        "texts, or pass counts with the columns of fit, as from vectorizer.transform(texts)"
    ),
    "corpus_of_other_words": (
        "the corpus has other words than the model; count new texts with read_like, or use "
        "align_columns"
    ),
    "columns_without_names": (
        "the columns have no names, so topics are named by column numbers; pass {parameter} to "
        "fit, or use the result of name_topics(feature_names=vectorizer.get_feature_names_out())"
    ),
    "names_and_corpus": (
        "{parameter} is given with a corpus, which has the names of its columns; leave one out"
    ),
    "networkx_missing": "to_networkx requires networkx: pip install networkx",
}
