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
    "no_triples": "no document has three words or more",
    "no_triples_after_log_scaling": (
        "no document has three words or more after log scaling, which lowers the counts of "
        "repeated words"
    ),
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
    "others_too_small": (
        "the moments support no more clusters of {parameters.min_samples_leaf} or more"
    ),
    # --- errors ----------------------------------------------------------------------------------
    "three_words_after_log_scaling": (
        "{parameters.weighting:=weighting} draws words from whole counts; use it with "
        "{parameters.log_scaling:=log_scaling}"
    ),
    "not_fitted_to_binary": (
        "the tree was fitted to {kind:s} data, but scoring and the page of records require binary "
        "data; use to_frame or to_dict instead"
    ),
    "page_needs_data": (
        "X is None, but the page counts the codes of each group; pass the data used in fit, as in "
        "to_html('report.html', X)"
    ),
    "page_option_not_a_mapping": "{parameter} is a {type}; expected a mapping from {keys}",
    "networkx_missing": "to_networkx requires networkx: pip install networkx",
}
