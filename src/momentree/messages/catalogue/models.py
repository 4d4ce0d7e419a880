"""Wording of messages about models."""

_AT_FLOOR = (
    "{found:~component} {found:?has/have} almost no variance in {columns:list}: "
    "{found:?it describes/they describe} few rows, or many with the same value, and may mean "
    "nothing;"
)
_KINDS = "give these columns the kind 'category' or 'count' in {parameters.kinds}"
_RAISE_REG_COVAR = "raise {parameters.reg_covar} above {reg_covar:g}"

WORDS: dict[str, str] = {
    # --- fit -------------------------------------------------------------------------------------
    "fewer_components": "{found} of {requested:~component} found: {reason}",
    "moments_show_no_more": "the moments support no more",
    "others_without_samples": "EM left no samples in the others",
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
    "columns_all_missing": (
        "{n_columns:~column} {n_columns:?contains/contain} no values ({columns:and}): "
        "{n_columns:?it does/they do} not affect the groups, and {n_columns:?its mean is/their "
        "means are} 0; remove {n_columns:?it/them}"
    ),
    "reg_covar_large": (
        "{parameters.reg_covar:=reg_covar} is more than a tenth of the variance of "
        "{n_columns:~column} ({columns:and}) and may hide groups there: lower it, or convert "
        "{n_columns:?this column/these columns} to other units"
    ),
    "components_set_apart": (
        "{n_few:~component} {n_few:?has/have} fewer than {needed} {samples} (number "
        "{components:and}): shared covariances have the highest likelihood if outliers are set "
        "apart from the others; if these are no groups, remove them from the data or use "
        "{parameters.covariance_type:'full'}"
    ),
    "components_of_few_samples": (
        "{n_few:~component} {n_few:?has/have} fewer than {needed} {samples} (number "
        "{components:and}), too few for covariances of {n_features:~feature}: a narrow component "
        "has a high likelihood, but may be no group; use {parameters.smoothing:1}, fewer "
        "components or {parameters.covariance_type:'tied'}"
    ),
    "components_of_one_sample": (
        "{n_few:~component} {n_few:?has/have} one sample or none (number {components:and}; "
        "{n_few:?size/sizes} {sizes:and}) and {n_few:?describes/describe} no group: "
        "use fewer components, or check the data for outliers"
    ),
    "too_few_views": (
        "X has {found:~feature}, but {parameters.start:=start} divides the features into three "
        "views; use {parameters.start:'auto'}"
    ),
    "alpha0_contradicted": (
        "the moments contradict {parameters.alpha0:{alpha0:g}} and suggest {estimate:.3g}; use "
        "{parameters.alpha0:=instead}, or refine the topics"
    ),
    # Scikit-learn's checks of estimators expect the first words.
    "no_target": "fit requires y to be passed, but the target y is None; pass the outputs as y",
    "em_not_converged": ("EM had not converged after {n_iter:~step}; raise {parameters.max_iter}"),
    "regression_of_few_samples": (
        "{found:~regression} {found:?has/have} fewer than {needed:~sample}, too few for "
        "{found:?its/their} coefficients: lower {parameters.n_components}, remove features or "
        "outliers, or add {samples}"
    ),
    "constant_target": "all values of y are equal, so there is nothing to explain",
    "moments_too_few": (
        "the moments do not support this number of regressions ({reason}); use "
        "{parameters.refine:'em'}, or lower {parameters.n_components}"
    ),
    "rank_of_data": "the rank of the data, with {n_features:~feature}, is {rank}",
    "not_separated": (
        "the separation had not converged after {n_iter:~iteration}; raise {parameters.max_iter}"
    ),
    "gaussian_sources": (
        "{found} of {of:~source} cannot be distinguished from Gaussian ones, so their directions "
        "among each other are arbitrary: use more {samples}, lower {parameters.n_components}, or "
        "interpret only the other sources"
    ),
    "source_of_one_sample": (
        "{found:~source} {found:?consists/consist} mainly of a single extreme sample: check the "
        "data for outliers, or transform features with heavy tails"
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
    # --- tables with columns of different kinds --------------------------------------------------
    "not_kinds": (
        "{parameter:=value}; expected 'auto', or a mapping of columns to {choices:quoted or}"
    ),
    "not_a_kind": "the kind of column {column} is {value!r}; expected {choices:quoted or}",
    "kind_of_no_column": (
        "{parameters.kinds} names column {column!r}, but the columns are {columns:all}"
    ),
    "cell_not_a_value": (
        "column {column!r} contains neither numbers nor texts ({error}); convert or remove it"
    ),
    "infinite_in_column": (
        "row {row} of column {column!r} is {value:g}; replace infinite values, or leave them "
        "empty if they are missing"
    ),
    "huge_in_column": (
        "row {row} of column {column!r} is {value:g}; expected numbers up to {largest:g}: correct "
        "it, or give the column in a larger unit"
    ),
    "text_among_numbers": (
        "column {column!r} is a number, a yes/no or a count, but contains the text {value!r}; "
        "correct it, or give the column the kind 'category' in {parameters.kinds}"
    ),
    "column_not_yes_no": (
        "row {row} of column {column!r} is {value:g}; expected 0 or 1 in a column of the kind "
        "'yes_no'; give it another kind in {parameters.kinds}, or correct the value"
    ),
    "column_not_counts": (
        "row {row} of column {column!r} is {value:g}; expected a whole number of 0 or more in a "
        "column of the kind 'count'; give it the kind 'number' in {parameters.kinds}, or correct "
        "the value"
    ),
    "column_of_identifiers": (
        "column {column!r} has {found:,} different texts in {n_rows:~row}, like names, identifiers "
        "or free text, which form no groups; remove it, or give it the kind 'category' in "
        "{parameters.kinds}"
    ),
    "column_name_twice": "two columns have the name {column!r}; rename one",
    "empty_table": (
        "the table has {n_rows:~row} and {n_columns:~column}; expected at least 1 sample and "
        "a minimum of 1 column"
    ),
    "one_row": "{n_rows:~sample} with positive weight; at least 2 are required to find groups",
    "no_column_varies": (
        "none of the {found:~column} has two different values, so there are no groups to find"
    ),
    "no_moments": (
        "moments require three columns that are independent within a component; there "
        "{found:?is/are} {found}; use {parameters.start:'splits'} and {parameters.refine:'em'}"
    ),
    "column_constant": "column {column!r} has the same value in all rows and was left out",
    "column_empty": "column {column!r} has no values and was left out",
    "numbers_too_far": (
        "{found:~value} of column {column!r}, such as {value:g}, {found:?is/are} more than a "
        "million interquartile ranges from the median and {found:?was/were} treated as missing; "
        "correct such errors or codes"
    ),
    "unseen_levels": (
        "{found:~value} of column {column!r} did not occur in fit and {found:?was/were} treated "
        "as missing: {levels:quoted list}"
    ),
    "variances_at_floor": (
        f"{_AT_FLOOR} lower {{parameters.n_components}}, {_KINDS}, or {_RAISE_REG_COVAR}"
    ),
    "variances_at_floor_of_auto": f"{_AT_FLOOR} {_KINDS}, or {_RAISE_REG_COVAR}",
    "not_views": (
        "{parameter:=value}; expected a mapping of names of views to their columns, a list of "
        "lists of columns, or None"
    ),
    "two_views": (
        "two views do not determine a mixture, because their cross moments can be divided among "
        "components in many ways; divide one of them in two, or use MixedMixture if all columns "
        "are independent within a component"
    ),
    "too_few_views_given": (
        "expected three views or more, but found {found}, from {n_features} feature(s); give "
        "{parameters.views} or a list of matrices"
    ),
    "column_in_two_views": "column {column!r} is in two views; give each column to one view",
    "no_column_of_view": ("view {view!r} has column {column!r}, but the columns are {columns:all}"),
    "empty_view": "view {view!r} has no columns; give it columns or remove it",
    "other_views": ("the views have {found:and} columns; expected {expected:and}, as in fit"),
    "kind_of_no_view": "{parameters.kinds} names view {view!r}, but the views are {views:all}",
    "kinds_of_other_views": (
        "{parameters.kinds} has {found:~entry/entries} for {expected:~view}; give one for each"
    ),
    "not_a_kind_of_view": "the kind of view {view!r} is {value!r}; expected {choices:quoted or}",
    "view_not_yes_no": (
        "row {row}, column {column} of a view of the kind 'yes_no' is {value:g}; expected 0 or 1"
    ),
    "view_not_counts": (
        "row {row}, column {column} of a view of counts or words is {value:g}; expected a whole "
        "number of 0 or more; give the view the kind 'number' in {parameters.kinds}"
    ),
    "missing_word": (
        "row {row} of column {column!r} in a view of words is missing; replace it by 0, or use the "
        "kind 'count' in {parameters.kinds}"
    ),
    # --- adapters --------------------------------------------------------------------------------
    "topics_of_other_rows": (
        "topics has {found:~value} for {needed:~sample} of the tree; pass topic_model.topics_ of "
        "the model that was fitted with this tree"
    ),
    "topics_not_leaves": (
        "the {n_topics:~topic} are not the {n_leaves:~leaf/leaves} of the tree; build the "
        "hierarchy before topics are reduced or merged"
    ),
    "no_candidates_of_states": "{parameter} is empty; expected numbers of states, such as 2 to 10",
}
