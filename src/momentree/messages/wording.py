"""Messages that several files use: the same words for the same fault, everywhere."""

WRONG_SHAPE = "[wrong_shape] {parameter} has shape {found}; expected {expected}"
NOT_FINITE = "[not_finite] {parameter} must contain only finite numbers"
NEGATIVE_OR_NOT_FINITE = (
    "[negative_or_not_finite] {parameter} must contain only finite, nonnegative numbers"
)
ROWS_STAY = (
    "[rows_stay] this computation needs {n_rows:~row} themselves, which stay where they are; "
    "choose parameters that need only sums over rows"
)
REFUSED_BY_SKLEARN = "[refused_by_sklearn] {error}"
NO_DOCUMENTS = "[no_documents] there are no documents; give at least one"
WRONG_NUMBER_OF_NAMES = (
    "[wrong_number_of_names] feature_names has {found:~name} for {needed:~column}; give one per "
    "column"
)
COLUMN_NOT_NUMERIC = (
    "[column_not_numeric] column {column!r} of X has type {type}; remove it, or convert it to "
    "numbers"
)
NOT_BINARY = (
    "[not_binary] X is not binary: row {row}, column {column} contains {value}; expected 0, 1, "
    "or NaN for a missing value. Apply a threshold first, such as X > 0"
)
NEGATIVE_NOT_BINARY = (
    "[negative_not_binary] Negative values in data: X is not binary: row {row}, column {column} "
    "contains {value}; expected 0, 1, or NaN for a missing value"
)
ALL_EMPTY = "[all_empty] X is empty: its {n_rows:~row} {n_rows:?contains/contain} only zeros"
ALL_WEIGHTED_EMPTY = (
    "[all_weighted_empty] the {n_rows:~row} with positive sample weight "
    "{n_rows:?contains/contain} only zeros; give a positive weight to a row with a nonzero value"
)
EMPTY_PATH = "[empty_path] the path is empty; give a file or folder ('.' is the current folder)"
UNREADABLE_PATH = "[unreadable_path] cannot read {path}: {error}"
AT_LINE = "[at_line] line {line:,}"
AT_ROW = "[at_row] row {row:,}"
EMPTY_FILE = "[empty_file] cannot read {path}: the file is empty"
UNKNOWN_SUFFIX = (
    "[unknown_suffix] cannot determine the format of {path} from its suffix; expected one of "
    "{suffixes} (text may be compressed: .gz)"
)
NEEDS_ALL_ROWS = (
    "[needs_all_rows] {parameter} needs all rows in memory; leave it out, or leave out "
    "{parameters.folder}"
)
NO_ROWS = "[no_rows] {path} has no rows below the header{sheets}"
DUPLICATE_COLUMNS = (
    "[duplicate_columns] {path} has more than one column named {columns:quoted list}; give each "
    "column a unique name"
)
UNREADABLE_PARQUET = (
    "[unreadable_parquet] cannot read {path} as Parquet; if it is damaged or incomplete, copy or "
    "write it again ({details})"
)
NO_TEXT_COLUMN = (
    "[no_text_column] {path} has no text column; its columns are {columns:quoted all}. Name one "
    "with {parameter}"
)
NOT_TEXT = (
    "[not_text] {path}: column {column!r} contains {kind}, not text; name a column of strings "
    "with {parameter}"
)
JOINED_TEXT_COLUMNS = (
    "[joined_text_columns] the text of a row of {source} joins {columns:quoted and}"
)
ALL_DOCUMENTS = "[all_documents] {n_all:~document}"
ALL_PASSAGES = "[all_passages] {n_all:~passage}"
ALL_COPIES = (
    "[all_copies] all {n_rows:~document} are copies of one text, which is not enough to find "
    "topics; give different texts, or {parameter:=every} to count every copy"
)
SEGMENTATION_MISSING = (
    "[segmentation_missing] texts in Chinese, Japanese, Thai, Lao, Khmer or Burmese{where} can "
    "be split into words only with the optional library icu4py: pip install "
    "'momentree[segmentation]'"
)
NO_TOKENIZER_IN_MODEL = (
    "{parameter:=value} has no effect, because the model was made without a tokenizer; omit it"
)
DASK_MISSING = "this needs Dask: pip install 'momentree[dask]'"
TOO_MANY_DOCUMENTS = (
    "[too_many_documents] cannot read {path}: it declares {n_rows:~document}, which would take "
    "{megabytes:,.0f} MB of memory, but the limit for a file of {size:~byte} is {most:,.0f} MB. "
    "It is damaged, or most of its documents have no words: remove those"
)
EMPTY_MATRIX = (
    "[empty_matrix] {path} has {n_rows:~document} and {n_columns:~word}; expected at least one "
    "of each"
)
NO_VOCABULARY = (
    "[no_vocabulary] {path} has {n_columns:~column}, and no file names their words; put "
    "vocab.txt with one word per line next to it, or give a file of words with "
    "{parameters.vocabulary}"
)
COMPANION_IGNORED = (
    "[companion_ignored] {path} has {n_lines:~line} for {n_rows:~document} and was ignored"
)
ONLY_FOR_TEXTS = (
    "[only_for_texts] {parameter} applies only to texts, but {path} contains counts; leave it out"
)
CANNOT_STORE = (
    "[cannot_store] cannot write {path}: {reason}; no part of it is left. Make room there, or "
    "choose another place"
)
N_NUMBERS = "[n_numbers] {n_columns:~column} of numbers"
COLUMNS_OF_IDS = (
    "[columns_of_ids] left out {n_columns:~column} of ids or row numbers: {columns:quoted list}"
)
COLUMNS_WITHOUT_VALUES = (
    "[columns_without_values] left out {n_columns:~column} without values: {columns:quoted list}"
)
UNKNOWN_CATEGORIES = (
    "[unknown_categories] treated {n_entries:~value} as missing, because the model does not know "
    "{n_entries:?this category/these categories}"
)
MISSING_COLUMNS = (
    "[missing_columns] treated {n_columns:~column} not in this table as missing values, such as "
    "{column!r}"
)
NO_IDS = "[no_ids] records have no ids; they are numbered by row from 1"
REPEATED_IDS = (
    "[repeated_ids] {n_rows:~row} {n_rows:?repeats/repeat} an id of column {column!r}; each row "
    "is a separate record ({parameter:=column} joins rows with the same id)"
)
RECORDS_WITHOUT_ID = (
    "[records_without_id] {n_records:~record} {n_records:?has/have} no id in column {column!r}"
)
ROWS_WITHOUT_ID = "[rows_without_id] left out {n_rows:~row} with no value in column {column!r}"
ROWS_JOINED = "[rows_joined] joined {n_rows:~row} into {n_records:~record} by {column!r}"
EMPTY_KEY = "[empty_key] {path}: column {column!r} is empty in every row, so there are no records"
MISSING_CELLS = (
    "[missing_cells] {n_missing:~cell} {n_missing:?is/are} empty or NA: missing values, not zeros"
)
NOT_A_ROLLUP = (
    "[not_a_rollup] {parameter:=value}; expected 'icd9', 'icd10', or a table with the columns "
    "code and group"
)
NOT_LENGTHS = (
    "[not_lengths] {parameter} must be a whole number of at least {least}, or {n_rows} of them"
)
BAD_CONCENTRATIONS = (
    "[bad_concentrations] alpha must be a list of numbers above zero; received {values:list}"
)
VIEWS_OF_DIFFERENT_SAMPLES = (
    "[views_of_different_samples] the views have {n_rows:and} rows; all three must describe the "
    "same samples"
)
MISSING_IN_MOMENTS = (
    "[missing_in_moments] row {row}, column {column} is missing; these moments require complete "
    "rows: fill missing values, or leave out such rows"
)
NO_EIGENVALUE_IS_NOISE = (
    "[no_eigenvalue_is_noise] moments of {needed:~Gaussian component} require at least "
    "{needed:~feature}; the data have {n_features}: lower {parameters.n_components}, or start "
    "from a tree"
)
NEVER_OBSERVED = (
    "[never_observed] {n_columns:~column} {n_columns:?is/are} missing in every row with positive "
    "weight, starting with column {column}; remove {n_columns:?it/them}"
)
HUGE_VALUE = (
    "[huge_value] row {row}, column {column} contains {value}; expected a number from "
    "-{largest:g} to {largest:g}"
)
NOT_POSITIVE = "[not_positive] {parameter} must contain only finite numbers above zero"
GROUP_NEVER_ASSIGNED = (
    "[group_never_assigned] no record with a known value is assigned to group {group}; leave the "
    "group out, or merge it with another"
)
NO_SUCH_GROUP = (
    "[no_such_group] {parameter:=value}; expected the number of a group, from 0 to {last}"
)
CANNOT_SPLIT = "[cannot_split] group {group} cannot be split: {reason}"
MAX_LEAF_NODES_REACHED = "[max_leaf_nodes_reached] {parameters.max_leaf_nodes:{limit}} reached"
ONE_COMPONENT = "[one_component] the moments support no second component"
BIC_PENALTY = (
    "[bic_penalty] a split would gain {gain:.4g} nats, less than the BIC penalty of {penalty:.4g}"
)
AIC3_PENALTY = (
    "[aic3_penalty] a split would gain {gain:.4g} nats, less than the AIC3 penalty of {penalty:.4g}"
)
THREE_WORDS_AFTER_LOG_SCALING = (
    "[three_words_after_log_scaling] {parameters.weighting:=weighting} draws words from whole "
    "counts; use it with {parameters.log_scaling:=log_scaling}"
)
NOT_FITTED_TO_BINARY = (
    "[not_fitted_to_binary] the tree was fitted to {kind:s} data, but scoring and the page of "
    "records require binary data; use to_frame or to_dict instead, for a page of measurements "
    "momentree.report.summarize_measurements, or, for a page of documents, give their words to "
    "fit, as in fit(E, counts=X)"
)
FEWER_COMPONENTS = "[fewer_components] {found} of {requested:~component} found: {reason}"
MOMENTS_SHOW_NO_MORE = "[moments_show_no_more] the moments support no more"
ONLY_EQUAL_SAMPLES = "[only_equal_samples] the {samples} of each component are all equal"
TOO_FEW_WEIGHTED_SAMPLES = (
    "[too_few_weighted_samples] {n_rows:~sample} {n_rows:?has/have} a positive weight, fewer "
    "than {parameters.n_components:{n_components}}; lower it or add {samples}"
)
ONE_ROW = "[one_row] {n_rows:~sample} with positive weight; at least 2 are required to find groups"
BAD_ENTRY = "[bad_entry] {name} is {value!r:.100}"
NOT_STRINGS = "{name} contains values that are not strings"
BELOW_ZERO = "{name} contains negative values"
LABELS_BEYOND_GROUPS = "[labels_beyond_groups] labels_ contains values outside 0 to {last}"
NO_COLUMN_IN_COMMON = (
    "[no_column_in_common] none of the {n_columns:~column} of the table is in the question of "
    "this round; read it as in the first round"
)
DAMAGED_STATE = "[damaged_state] {path} is not a file of moments, or it is damaged ({error})"
NOT_ONE_EACH = (
    "[not_one_each] {parameter} has {found:~entry/entries}; expected {needed}, one for each {of}"
)
NOT_SPLIT = "[not_split] Not split: {reason}"
N_GROUPS_CHOSEN = (
    "[n_groups_chosen] {criterion} chose the number of groups; {parameters.n_components:5} sets "
    "another."
)
DAMAGED_ASSIGNMENT = (
    "[damaged_assignment] the model is damaged: {found} does not fit its groups and codes"
)
