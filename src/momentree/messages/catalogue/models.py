"""Wording of messages about models."""

WORDS: dict[str, str] = {
    # --- fit -------------------------------------------------------------------------------------
    "fewer_components": "{found} of {requested:~component} found: {reason}",
    "moments_show_no_more": "the moments support no more",
    "only_equal_samples": "the {samples} of each component are all equal",
    "no_group_splits": "no group of {samples} can be split further: {reason}",
    # Scikit-learn's checks of estimators look for "1 sample".
    "too_few_nonzero_samples": (
        "{n_rows:~sample} {n_rows:?has/have} a positive weight and a count above zero, fewer than "
        "{parameters.n_components:{n_components}}; lower it or add {samples}"
    ),
    "too_few_weighted_samples": (
        "{n_rows:~sample} {n_rows:?has/have} a positive weight, fewer than "
        "{parameters.n_components:{n_components}}; lower it or add {samples}"
    ),
    "too_many_covariances": (
        "the covariances of {n_features:~feature} would take {gigabytes:.1f} GB with "
        "{parameters.covariance_type:{covariance_type}}; use {parameters.covariance_type:=instead} "
        "or fewer features"
    ),
    "extreme_rows": (
        "{n_rows:~row} {n_rows:?has/have} a value a million times farther from the median of its "
        "column than typical values (such as {value:.6g} in column {column}), and "
        "{n_rows:?was/were} left out of the fit and assigned afterwards; check these values"
    ),
    "components_emptied": "EM left the others without {samples}",
    "components_of_few_samples": (
        "{n_few:~component} {n_few:?has/have} fewer than {needed} {samples} (number "
        "{components:and}), too few for covariances of {n_features:~feature}: a narrow component "
        "has a high likelihood, but may be no group; use {parameters.smoothing:1}, fewer "
        "components or {parameters.covariance_type:'tied'}"
    ),
    "too_few_views": (
        "X has {found:~feature}, but {parameters.start:=start} divides the features into three "
        "views; use {parameters.start:'auto'}"
    ),
    "alpha0_contradicted": (
        "the moments contradict {parameters.alpha0:{alpha0:g}} and suggest {estimate:.3g}; use "
        "{parameters.alpha0:=instead}, or refine the topics"
    ),
    # --- the number of components: parameters of choose_n_components -----------------------------
    "no_numbers_to_compare": (
        "{parameters.candidates} contains no number of groups up to {n_rows:~record}; give numbers "
        "from 1 to the number of records"
    ),
    "not_candidates": "{parameters.candidates:=value}; expected whole numbers of 1 or more",
    "not_criteria": ("{parameters.criteria:=value}; expected one or more of {choices:quoted list}"),
    "too_many_candidates": (
        "candidates go up to {largest}, but only {n_rows:~sample} {n_rows:?has/have} a count above "
        "zero; remove the candidates above that number"
    ),
    # --- the number of components: the reason, whose facts are a sentence each -------------------
    "n_components_chosen": "{facts:sentences}",
    "n_topics": "{n:~topic}.",
    "n_topics_of": "{n:~topic} ({low} to {high} are plausible).",
    "range": "{low} to {high}",
    "documents_are_alike": "The documents do not differ enough to form topics.",
    "completion_best": "Document completion works best with {n:~topic}.",
    "completion_as_good": "It works as well with {n}, within one standard error.",
    "topics_divisible": (
        "But these topics could be divided into ever finer ones; {n:~topic} "
        "{n:?achieves/achieve} {fraction:.0%} of the improvement."
    ),
    "most_of_gain": (
        "{n:~topic} {n:?achieves/achieve} {fraction:.0%} of the improvement from {first} to "
        "{chosen}."
    ),
    "more_not_tried": "More than {n:~topic} may be better, but were not tried.",
    "numbers_tried": "The numbers tried are {tried:and}.",
    "completion_agrees": "Document completion agrees.",
    "completion_best_with_fewer": "Document completion works best with only {n:~topic}.",
    "completion_hardly_improves": (
        "Document completion improves up to {n:~topic}, but only a little beyond {after}."
    ),
    "completion_improves": (
        "Document completion improves up to {n:~topic}; {chosen} {chosen:?achieves/achieve} about "
        "{fraction:.0%} of that improvement."
    ),
    "spectrum_supports": "Cross-validation of the spectrum supports {n:~topic}.",
    "spectrum_supports_about": (
        "Cross-validation of the spectrum supports {n:~topic} ({low} to {high})."
    ),
    "spectrum_supports_all": (
        "Cross-validation of the spectrum supports all {n:~topic} tried; there may be more."
    ),
    "fewer_complete_worse": "With fewer than {n}, document completion is worse.",
    "topics_may_be_merged": "Some topics may therefore be merged.",
    "bic_agrees": "BIC agrees.",
    "bic_lowest": "BIC is lowest with {n:~topic}.",
    "bic_lowest_with_fewer": (
        "BIC is lowest with {n:~topic}; its penalty grows with the vocabulary, so it tends to "
        "choose too few."
    ),
    "coherence_agrees": "Coherence agrees.",
    "coherence_is_alike": "Coherence does not distinguish {low} to {high}.",
    "coherence_highest": "Coherence is highest with {n:~topic}.",
    # --- adapters --------------------------------------------------------------------------------
    "topics_of_other_rows": (
        "topics has {found:~value} for {needed:~sample} of the tree; pass topic_model.topics_ of "
        "the model that was fitted with this tree"
    ),
    "topics_not_leaves": (
        "the {n_topics:~topic} are not the {n_leaves:~leaf/leaves} of the tree; build the "
        "hierarchy before topics are reduced or merged"
    ),
}
