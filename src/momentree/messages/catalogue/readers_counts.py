"""Wording of messages about readers: counts."""

WORDS: dict[str, str] = {
    # --- files and folders -----------------------------------------------------------------------
    "no_counts": (
        "{path} is not in a known format for counts; expected UCI bag-of-words (docword.NAME.txt), "
        "SciPy (.npz), Matrix Market (.mtx) or SVMlight (.svm)"
    ),
    "no_matrix_in_folder": (
        "the folder {path} contains no matrix with a vocabulary; add vocab.txt with one word per "
        "line, or give the file to read"
    ),
    "many_matrices_in_folder": (
        "the folder {path} contains more than one matrix ({names:list}); give the file to read"
    ),
    "counts_exceed_memory": "{path} declares a matrix that exceeds the memory of this machine",
    "too_many_documents": (
        "cannot read {path}: it declares {n_rows:~document}, which would take {megabytes:,.0f} MB "
        "of memory, but the limit for a file of {size:~byte} is {most:,.0f} MB. It is damaged, or "
        "most of its documents have no words: remove those"
    ),
    "empty_matrix": (
        "{path} has {n_rows:~document} and {n_columns:~word}; expected at least one of each"
    ),
    "counts_not_numeric": (
        "{path} contains values of type {type}; counts must be integers or real numbers"
    ),
    "complex_counts": "{path} contains complex values; counts must be integers or real numbers",
    "bad_counts": "{path}: {problem}",
    "counts_line": "{path}, line {line}: {problem}",
    # --- lines of numbers ------------------------------------------------------------------------
    "counts_expected": "expected {fields:list} as numbers, got {found!r}",
    "count_out_of_range": "the count {value} is negative, not finite or too large",
    "index_out_of_range": "{index} {value} is outside the range of the header, 1 to {highest}",
    "counts_missing": (
        "the header declares {needed:~count}, but the file contains {n_entries:,}; it is "
        "truncated, or its header is wrong"
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
        "a matrix with {n_rows:~row} and {n_columns:~column} cannot be symmetric"
    ),
    "svmlight_label": "expected a number as the label, got {found!r}",
    "svmlight_feature": "expected 'label index:count ...', got {found!r}",
    "svmlight_index": "index {index} is negative or too large",
    "svmlight_order": "index {index} follows {last}; indices must increase",
    # --- .npz ------------------------------------------------------------------------------------
    "npz_damaged": (
        "{path} contains no sparse matrix: {problem}. Write it with scipy.sparse.save_npz"
    ),
    "npz_shape": "its shape is {shape:list}, not that of a matrix",
    "npz_format": "{format!r} is not a sparse format",
    # --- words, labels, ids ----------------------------------------------------------------------
    "no_vocabulary": (
        "{path} has {n_columns:~column}, and no file names their words; put vocab.txt with one "
        "word per line next to it, or give a file of words with {parameters.vocabulary}"
    ),
    "wrong_number_of_words": (
        "{source} has {n_words:~word}, but the counts have {n_columns:~column}; give one word per "
        "column"
    ),
    "vocabulary_fits_rows": (
        "{source} has {n_words:~word}, which is the number of rows; the counts have "
        "{n_columns:~column}. Transpose the matrix: documents are rows, words are columns"
    ),
    "empty_line_for_word": "the line is empty; expected a word",
    "wrong_number_of_lines": (
        "{path} has {n_lines:~line} for {n_rows:~document}; give one line per document"
    ),
    "companion_ignored": ("{path} has {n_lines:~line} for {n_rows:~document} and was ignored"),
    "words_merged": (
        "{n_columns:~column} {n_columns:?was/were} added to another column for the same word, such "
        "as {example!r}"
    ),
    "word_repeated": "the vocabulary names {word!r} twice; name each word once",
    "no_common_words": (
        "none of the {n_found:~word} of {name} ({found:quoted list}, ...) is among the "
        "{n_wanted:~word} of the vocabulary ({wanted:quoted list}, ...); give counts of the same "
        "words, with the same spelling"
    ),
    "no_candidate_words": (
        "all {n_words:~word} are stop words or do not match {parameters.token_pattern}; change "
        "{parameters.language}, {parameters.stop_words} or {parameters.token_pattern}"
    ),
    "only_for_texts": "{parameter} applies only to texts, but {path} contains counts; leave it out",
    "only_for_counts": (
        "{parameter} applies only to counts, but {path} contains texts; leave it out"
    ),
    # --- embeddings ------------------------------------------------------------------------------
    "embeddings_not_numpy": (
        "{path} is not a NumPy file; save the embeddings with numpy.save('vectors.npy', E), one "
        "row per document"
    ),
    "embeddings_damaged": (
        "{path} is damaged or has unexpected content: {problem}. Save it again with numpy.save"
    ),
    "embeddings_many_arrays": (
        "{path} contains {n:~array} ({names:list}); save only the embeddings, with "
        "numpy.save('vectors.npy', E)"
    ),
    "embeddings_not_real": (
        "{path} contains values of type {type}; expected real numbers. Embeddings stored as "
        "integers: save E.astype('float32')"
    ),
    "embeddings_shape": (
        "the array in {path} has shape {shape}; expected a table with one row per document and "
        "one column per dimension"
    ),
    "embeddings_of_other_rows": (
        "{path} has {found:~row} for {needed:~document}; give one row per document, in the order "
        "of the documents. {parameters.csv:FILE.csv}, without the embeddings, lists the documents "
        "in this order"
    ),
    "embeddings_of_other_size": (
        "the embeddings in {path} have {found:~dimension}, but the model was fitted to "
        "{needed:,}; compute them as for the fit"
    ),
    "embeddings_not_finite": (
        "{path} contains {value} in row {row}, column {column} (from 0), and NaN or infinity in "
        "{n_rows:~row} in all; compute these embeddings again, or leave out the documents"
    ),
    "embeddings_all_zero": "{path} contains only zeros; expected embeddings",
    "zero_embeddings": (
        "{n_rows:,} of {n_all:~embedding} {n_rows:?contains/contain} only zeros, and "
        "{n_rows:?has/have} no direction"
    ),
    # --- counts larger than memory ---------------------------------------------------------------
    "counts_not_streamed": (
        "{path} can only be read as a whole; leave out {parameter}, or give the counts as UCI "
        "bag-of-words, as SVMlight, or in a folder written by store_counts"
    ),
    "documents_not_in_order": (
        "the documents of {path} are not in ascending order, which {parameter} requires; sort the "
        "lines after the third by their first number (sort -n), or leave out {parameter}"
    ),
    # --- counts in folders -----------------------------------------------------------------------
    "not_stored_counts": (
        "{path} does not contain finished counts: {mark} is missing; write them with store_counts"
    ),
    "stored_counts_damaged": (
        "the counts in {path} are damaged: a file is missing, cut off or changed; write them again"
    ),
    "stored_file_damaged": "{path} is missing, cut off or changed; write it again",
    "folder_exists": "{path} exists already; remove it, or give another name",
    "cannot_store": (
        "cannot write {path}: {reason}; no part of it is left. Make room there, or choose another "
        "place"
    ),
    "batch_of_other_columns": (
        "a batch has {found:~column}, the first one {needed:,}; batches are rows of one table"
    ),
    "ids_of_some_rows": "some rows have ids and others do not; give ids for all rows or for none",
    "no_batches": "there are no batches; expected at least one matrix of counts",
}
