"""Words of readers: text."""

WORDS: dict[str, str] = {
    "unknown_document_suffix": (
        "cannot tell the format of {path} from its suffix; expected a folder of text files, a file "
        "that ends in {suffixes} (or compressed, .gz), or counts of words: .npz, .mtx, .svm or "
        "docword.NAME.txt"
    ),
    "guessed_text_column": "took column {column!r} of {source} for the text, as the longest",
    "rows_without_text": "{n_rows:,} of {n_total:,} rows of {source} have no text",
    "rows_without_label": "{n_rows:,} of {n_total:,} rows of {source} have no label",
    "no_text_column": (
        "{path} has no column of text; its columns are {columns:quoted list}. Name the one to read "
        "with {parameter}"
    ),
    "not_text": (
        "{path}: column {column!r} holds {kind}, not text; name a column of strings with "
        "{parameter}"
    ),
}
