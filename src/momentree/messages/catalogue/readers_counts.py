"""Words of readers: counts."""

WORDS: dict[str, str] = {
    # --- files and folders -----------------------------------------------------------------------
    "no_counts": (
        "{path} is not a known file of counts; expected UCI bag-of-words (docword.NAME.txt), SciPy "
        "(.npz), Matrix Market (.mtx) or SVMlight (.svm)"
    ),
    "no_matrix_in_folder": (
        "the folder {path} has no matrix with its vocabulary; add vocab.txt with one word per "
        "line, or name the file to read"
    ),
    "many_matrices_in_folder": (
        "the folder {path} has more than one matrix ({names:list}); name the file to read"
    ),
    "counts_exceed_memory": "{path} announces a matrix that exceeds the memory of this machine",
    "too_many_documents": (
        "cannot read {path}: it announces {n_rows:~document}, which would take {megabytes:,.0f} MB "
        "of memory, and a file of {size:~byte} may take {most:,.0f} MB. It is damaged, or most of "
        "its documents have no words: leave these out"
    ),
    "empty_matrix": (
        "{path} has {n_rows:~document} and {n_columns:~word}; expected at least one of each"
    ),
    "counts_not_numeric": "{path} holds values of type {type}; counts are integers or real numbers",
    "complex_counts": "{path} holds complex values; counts are integers or real numbers",
    "bad_counts": "{path}: {problem}",
    "counts_line": "{path}, line {line}: {problem}",
    # --- lines of numbers ------------------------------------------------------------------------
    "counts_expected": "expected {fields:list} as numbers, got {found!r}",
    "count_out_of_range": "the count {value} is negative, not finite or too large",
    "index_out_of_range": "{index} {value} is outside the range of the header, 1 to {highest}",
    "counts_missing": (
        "the header announces {needed:~count}, and the file has {n_entries:,}; it is cut off, or "
        "its header is wrong"
    ),
    # --- bag of words, Matrix Market, SVMlight ---------------------------------------------------
    "bag_of_words_header": (
        "expected a whole number, got {found!r}; a bag-of-words file starts with the numbers of "
        "documents, words and counts, one per line"
    ),
    "matrix_market_banner": (
        "expected '%%MatrixMarket matrix' with layout, field and symmetry, got {found!r}"
    ),
    "matrix_market_form": (
        "cannot read counts from {found!r}; expected coordinate or array, integer, real or "
        "pattern, general or symmetric"
    ),
    "array_sizes": "expected the numbers of rows and columns, got {found!r}",
    "coordinate_sizes": "expected the numbers of rows, columns and entries, got {found!r}",
    "symmetric_not_square": (
        "a matrix of {n_rows:~row} and {n_columns:~column} cannot be symmetric"
    ),
    "svmlight_label": "expected a number as the label, got {found!r}",
    "svmlight_feature": "expected 'label index:count ...', got {found!r}",
    "svmlight_index": "index {index} is negative or too large",
    "svmlight_order": "index {index} follows {last}; indices must ascend",
    # --- .npz ------------------------------------------------------------------------------------
    "npz_damaged": (
        "{path} holds no sparse matrix: {problem}. Write it with scipy.sparse.save_npz"
    ),
    "npz_shape": "its shape is {shape:list}, not that of a matrix",
    "npz_format": "{format!r} is not a sparse format",
    # --- words, labels, ids ----------------------------------------------------------------------
    "no_vocabulary": (
        "{path} has {n_columns:~column}, and no file names their words; put vocab.txt with one "
        "word per line beside it, or name a file of words with {parameters.vocabulary}"
    ),
    "wrong_number_of_words": (
        "{source} has {n_words:~word}, but the counts have {n_columns:~column}; give one word per "
        "column"
    ),
    "vocabulary_fits_rows": (
        "{source} has {n_words:~word}, as many as the counts have rows; they have "
        "{n_columns:~column}. Transpose the matrix: documents are rows, words are columns"
    ),
    "empty_line_for_word": "the line is empty; expected a word",
    "wrong_number_of_lines": (
        "{path} has {n_lines:~line} for {n_rows:~document}; give one line per document"
    ),
    "companion_ignored": ("{path} has {n_lines:~line} for {n_rows:~document} and was ignored"),
    "words_merged": (
        "{n_columns:~column} {n_columns:?was/were} added to another column of the same word, such "
        "as {example!r}"
    ),
    "word_repeated": "the vocabulary names {word!r} twice; name each word once",
    "no_common_words": (
        "none of the {n_found:~word} of {name} ({found:quoted list}, ...) is among the "
        "{n_wanted:~word} of the vocabulary ({wanted:quoted list}, ...); give counts of the same "
        "words, spelled alike"
    ),
    "no_candidate_words": (
        "all {n_words:~word} are stop words or do not match {parameters.token_pattern}; change "
        "{parameters.language}, {parameters.stop_words} or {parameters.token_pattern}"
    ),
    "only_for_texts": "{parameter} applies only to texts, and {path} holds counts; leave it out",
    "only_for_counts": "{parameter} applies only to counts, and {path} holds texts; leave it out",
}
