"""Wording of messages about states: sums that add up across batches, files and sites."""

WORDS: dict[str, str] = {
    "states_differ": (
        "the states do not belong together; they differ in {differences:list}. Make all states "
        "with the same columns and settings, and in the same round from the same file"
    ),
    "same_part_twice": (
        "both states contain the same {n_parts:~part}: if one site or batch was added twice, its "
        "rows now count double"
    ),
    "fewer_directions": (
        "the second moments support {found:~component}, not {requested}; continuing with {found}"
    ),
    "other_rows": (
        "this round has {n_rows:~row}, and the one before had {before:,}; ask the same sites in "
        "each round, and let them answer with the same table, read in the same way"
    ),
    "never_added": (
        "the difference of the states is negative: the rows of the second one were not all added "
        "to the first; subtract only what was added"
    ),
    "released_state": (
        "rows cannot be added to a released state, whose small counts were suppressed; update the "
        "original and release it again"
    ),
    "columns_not_of_state": (
        "the columns of X are not those of the state: {difference}; arrange them like `columns`"
    ),
    "n_columns_not_of_state": "X has {found:~column}, but the state has {needed}",
    "no_columns_in_state": "a state requires at least one column",
    "sums_overflow": "the sums {name!r} overflow: scale the values of X down",
    "sums_beyond_totals": (
        "the sums {name!r} contradict the totals over the same rows; expected sums as momentree "
        "moments writes them"
    ),
    "too_few_rows_to_release": (
        "fewer than {min_count} rows: their sums could disclose single rows; add rows, or lower "
        "{parameters.min_count}"
    ),
    "log_scaling_of_state": (
        "{parameters.log_scaling} applies to counts; model={model!r} requires "
        "{parameters.log_scaling:None}"
    ),
    "gaussian_state_too_wide": (
        "states for Gaussians support at most {most:,} columns; X has {n_features:,}: reduce them, "
        "for example by principal components"
    ),
    "no_subspace": "a state of the last round requires a subspace; use next_round of the first one",
    "columns_are_fixed": (
        "columns can be added only in the first round; use the columns of the file of this round"
    ),
    "columns_dropped": "the new columns lack {names:quoted list}; they must include all columns",
    "too_many_columns_for_pairs": (
        "one state has at most {most:,} columns and the other more, so that their second moments "
        "are stored in different forms: give all states the same columns from the start"
    ),
    "empty_state": "the state contains no rows; update it first",
    "state_too_short": (
        "no row is long enough for moments of order {order}: documents require at least {order} "
        "words"
    ),
    "products_alone": (
        "this round has only products with M2; continue with next_round until `third` is True"
    ),
    "last_round": "this is the last round; use moments()",
    "no_component_in_state": "M2 has no positive eigenvalue; add rows that differ, or longer ones",
    "second_moments_alone": (
        "the first round has no third moments; make the states of next_round(n_components) first"
    ),
    "tensor_alone": (
        "the state has the whitened tensor but no slices, which would be large for so many "
        "components; choose a decomposition of the tensor, such as tensor_power_method"
    ),
    "outside_subspace": (
        "the state has third moments in the subspace of {n_components:~component} alone; request "
        "at most as many, or start another last round with more"
    ),
    "unreadable_state": "cannot read the state {path}: {error}",
    "damaged_state": "{path} is not a file of moments, or it is damaged ({error})",
    "not_a_state": "{path} contains {found!r}, not moments; give a file of momentree moments",
    "state_of_other_version": (
        "{path} has format version {found}, but momentree {version} reads version {known}; use the "
        "same version of momentree at all sites"
    ),
    "other_state": "{path} contains a {found}, not a {expected}",
    # --- models from states ----------------------------------------------------------------------
    "not_of_a_round": "expected a MomentState or an ExpectedState; received a {type}",
    "how_many_components": (
        "the first round is complete; give the number of components, {parameters.n_components:8}"
    ),
    "no_em_from_states": (
        "EM from states exists for unscaled counts and for codes, not for model={model!r} or log "
        "scaling; fit the model from the moments"
    ),
    "no_model_from_state": (
        "states with log scaling, and those of Gaussians, give moments but no fitted model "
        "(model={model!r}); pass `moments()` to a function of momentree.decomposition"
    ),
    "round_without_model": (
        "this round has no third moments yet; continue with next_round, update the result at all "
        "sites, and merge again"
    ),
    # --- sites -----------------------------------------------------------------------------------
    "damaged_question": "this is not a question or answer of momentree, or it is damaged ({error})",
    "unknown_question": (
        "{name!r} is not one of the questions that sites answer; use the same version of momentree "
        "everywhere"
    ),
    "not_in_a_question": (
        "the algorithm asks for a {type}, which is not one of the questions that sites answer; "
        "choose options that need only sums, or bring the rows together"
    ),
    "refused_question": "{name!r} is not a question that sites answer",
    "no_sites": "give at least one site",
    "sites_with_other_columns": (
        "sites {first} and {site} have different columns; give all sites the same columns in the "
        "same order"
    ),
    "row_arrays_stay": (
        "sample weights and other values of single rows cannot be sent to sites; leave them out"
    ),
    "not_a_site": (
        "site {site} is a {type}; give one function for each site, which takes the bytes of a "
        "question and returns those of the answer, or a Site"
    ),
    "same_site_twice": (
        "sites {first} and {site} have exactly the same rows, which would count double; leave one "
        "of them out"
    ),
    "bad_answer": (
        "the answer of site {site} is damaged, or no answer to the question; check what brings the "
        "answers, and that all sites have the same version of momentree"
    ),
    "site_refuses": "site {site} refuses: {reason}",
    "sites_suppress": (
        "sites suppress sums over few rows, so that the result is not exactly that of the pooled "
        "rows; `suppressed_` counts them, and {parameters.min_count:1} of each site shares all sums"
    ),
}
