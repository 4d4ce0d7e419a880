"""Wording of messages about preprocessing, moments, whitening and threads."""

WORDS: dict[str, str] = {
    # --- moments ---------------------------------------------------------------------------------
    "three_words_need_whole_counts": (
        "{parameters.weighting:=weighting} draws single words and requires whole-number counts; "
        "X contains {value:g}"
    ),
    "no_document_of_three_words": (
        "no document has three words or more, so third moments do not exist; use longer documents"
    ),
    "bad_concentrations": "alpha must be a list of numbers above zero; received {values:list}",
    "not_a_probability": (
        "{parameter} must be probabilities from 0 to 1; component {component}, feature {feature} "
        "is {value:g}"
    ),
    "not_an_order": "{parameter:=value}; expected 2 or 3",
    "bad_lengths": "lengths must be a list of whole numbers from 0 to {longest:g}",
    "documents_too_short": (
        "no document has {order} words, so moments of order {order} do not exist"
    ),
    "error_too_small": (
        "{parameter:=value} requires more than {most:g} documents; give a larger error, such as "
        "0.01"
    ),
    "not_three_views": "expected three views, such as those of split_views; received {found}",
    "too_few_groups": (
        "the moments require at least three groups of columns; received {found}; give each column "
        "a group of its own, or add columns"
    ),
    "views_of_different_samples": (
        "the views have {n_rows:and} rows; all three must describe the same samples"
    ),
    "missing_in_moments": (
        "row {row}, column {column} is missing; these moments require complete rows: fill missing "
        "values, or leave out such rows"
    ),
    "no_eigenvalue_is_noise": (
        "moments of {needed:~Gaussian component} require at least {needed:~feature}; the data have "
        "{n_features}: lower {parameters.n_components}, or start from a tree"
    ),
    "no_spread": "all samples are equal, so that there is nothing to separate; add {samples}",
    "too_many_sources": (
        "fourth cumulants of {found} sources need too much memory; choose at most "
        "{parameters.n_components:{most}}"
    ),
    "mixing_rank": "mixing must have {needed:~linearly independent column}",
    # --- whitening -------------------------------------------------------------------------------
    "not_moments": (
        "moments is of type {type}; expected moments, such as "
        "momentree.moments.SingleTopicMoments.from_data(X)"
    ),
    "rank_too_low": (
        "M2 supports {rank:~component}, not {needed}: its eigenvalue {position} is {eigenvalue:.3g}"
    ),
    "more_components_than_features": (
        "{n_features:~feature} cannot distinguish {needed:~component}"
    ),
    # --- preprocessing ---------------------------------------------------------------------------
    "never_observed": (
        "{n_columns:~column} {n_columns:?is/are} missing in every row with positive weight, "
        "starting with column {column}; remove {n_columns:?it/them}"
    ),
    "another_kind_of_data": (
        "{parameters.data:=kind}, but row {row}, column {column} contains {value}; expected "
        "{expected}"
    ),
    "zeros_and_ones": "0 or 1",
    "whole_numbers": "nonnegative whole numbers",
    "not_negative": "nonnegative numbers",
    "huge_value": (
        "row {row}, column {column} contains {value}; expected a number from -{largest:g} to "
        "{largest:g}"
    ),
    # Scikit-learn's checks of estimators expect "NaN".
    "missing_not_binary": (
        "Input X contains NaN: row {row}, column {column} is missing. Only binary and real "
        "data may have missing values, and these data are {kind}; fill missing values first"
    ),
    # --- threads ---------------------------------------------------------------------------------
    "bad_cpu_count": (
        "the environment variable LOKY_MAX_CPU_COUNT is {value!r}; set it to a whole number of "
        "cores, such as 4, or unset it"
    ),
    # --- kernels ---------------------------------------------------------------------------------
    "bad_kernels": "{name} is {value!r}; set it to 'auto', 'numba' or 'scipy'",
    "numba_not_loaded": (
        "Numba cannot be loaded ({error}); install it with \"pip install 'momentree[fast]'\", or "
        "choose the kernels 'auto' or 'scipy', which give the same results"
    ),
    # --- rows ------------------------------------------------------------------------------------
    "no_such_rows": "rows {first} to {last} were requested; expected row numbers from 0 to {most}",
    "no_such_row_groups": (
        "rows belong to groups {first} to {last}; expected groups from 0 to {most}, or -1 for a "
        "row of no group"
    ),
    "out_layout": (
        "out is an array of {type}, or not contiguous; pass a contiguous array of float64, such "
        "as B.total, or None"
    ),
    "values_not_listed": (
        "the stored values, from {low:g} to {high:g}, must be whole numbers that `values` lists, "
        "from 0 to {most}, and values[0] must be 0; pass `values` for each of them"
    ),
}
