"""Wording of messages about states: sums that add up across batches, files and sites."""

WORDS: dict[str, str] = {
    "states_differ": (
        "the states answer different questions, of the rounds {rounds:and}; add up only answers to "
        "the same question, which depends on the columns and parameters of all sites"
    ),
    "same_part_twice": (
        "both states contain the same {n_parts:~part}: if one site or batch was added twice, its "
        "rows now count double"
    ),
    "other_rows": (
        "this round has {n_rows:~row}, and the one before had {before:,}; ask the same sites in "
        "each round, and let them answer with the same table, read in the same way"
    ),
    "never_added": (
        "the difference of the states is negative: the rows of the second one were not all added "
        "to the first; subtract only what was added"
    ),
    "no_column_in_common": (
        "none of the {n_columns:~column} of the table is in the question of this round; read it as "
        "in the first round"
    ),
    "state_without_question": (
        "rows cannot be added to a loaded state, because it does not contain the question; "
        "make a State of the question, update it, and merge both"
    ),
    "n_columns_not_of_state": "X has {found:~column}, but the state has {needed}",
    "too_few_rows_to_release": (
        "fewer than {min_count} rows: their sums could disclose single rows; add rows, or lower "
        "{parameters.min_count}"
    ),
    "damaged_state": "{path} is not a file of moments, or it is damaged ({error})",
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
    "not_an_answer": "this is not the answer to a question of momentree",
    "not_a_question_of_sites": "this is not a question of momentree",
    "round_missing": (
        "there is no answer of round {number}, but of later ones; give the answers of all rounds"
    ),
    "answers_of_another_fit": (
        "the answers of round {number} belong to another question; give the same estimator with "
        "the same parameters, and the answers of all sites in all rounds before"
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
