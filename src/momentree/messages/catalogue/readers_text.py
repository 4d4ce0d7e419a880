"""Wording of messages about readers: text."""

WORDS: dict[str, str] = {
    # --- files and folders -----------------------------------------------------------------------
    "unknown_document_suffix": (
        "cannot determine the format of {path} from its suffix; expected a folder of documents, a "
        "file that ends in {suffixes} (text may be compressed, .gz), or word counts: .npz, .mtx, "
        ".svm or docword.NAME.txt"
    ),
    "no_text_file": (
        "the folder {path} contains no documents (other files: {left_out:list}); expected files "
        "that end in {suffixes:all}"
    ),
    "no_readable_file": ("none of {n_files:~file} in {path} can be read: {reasons:sentences}"),
    "folder_unreadable": "cannot read the folder {path}: {error}",
    "column_of_folder": (
        "{parameter:=value} names a column, but {path} contains no tables; leave it out "
        "(the names of sub-folders are labels)"
    ),
    "not_for_text_files": (
        "{parameter:=value} applies only to tables, but {path} has none; leave it out"
    ),
    "wrong_content": (
        "cannot read {path}: it is not a {format} file, whatever its name says, or it is protected "
        "by a password; open it in the program that wrote it and save it again"
    ),
    "damaged_file": (
        "cannot read {path} as {format}: it is damaged, or takes too much memory or time; open it "
        "in the program that wrote it and save it again"
    ),
    "encrypted_pdf": "cannot read {path}: it needs a password; save a copy without one",
    "pdf_without_text": (
        "cannot read {path}: its pages are images without a text layer, as from a scanner; run "
        "text recognition (OCR) first"
    ),
    "no_text_column": (
        "{path} has no text column; its columns are {columns:quoted all}. Name one with {parameter}"
    ),
    "not_text": (
        "{path}: column {column!r} contains {kind}, not text; name a column of strings with "
        "{parameter}"
    ),
    "not_documents": (
        "{path}: no column contains texts; column {column!r} has only {n_values:~different value} "
        "in {n_rows:~row}. To group rows by their codes or measurements, use momentree clusters "
        "{path}; to read them as texts all the same, pass {parameter:=column}"
    ),
    "no_words_in_table": (
        "{path}: no column contains words; {column!r} has the longest strings. To group rows by "
        "their codes or measurements, use momentree clusters {path}; to read them as texts all the "
        "same, pass {parameter:=column}"
    ),
    "may_be_no_texts": (
        "column {column!r} of {source} has only {n_values:~different value} in {n_rows:~row}; if "
        "they are codes or categories, use momentree clusters to group the rows"
    ),
    # --- notes -----------------------------------------------------------------------------------
    "guessed_text_column": (
        "read the text of {source} from column {column!r}, which has the most words; "
        "{parameter} chooses another ({columns:quoted all})"
    ),
    "chose_text_column": (
        "read the text of {source} from column {column!r}; others with text: "
        "{columns:quoted all}; {parameter} chooses another, or joins several"
    ),
    "joined_text_columns": "the text of a row of {source} joins {columns:quoted and}",
    "passed_text_column": (
        "read the text of {source} from column {column!r}, because {columns:quoted all} contains "
        "few words or none; {parameter} chooses another"
    ),
    "no_words_in_columns": (
        "no column of {source} contains words; read {column!r}, which has the longest strings. "
        "{parameter} chooses another ({columns:quoted all})"
    ),
    "rows_without_text": "{n_rows:,} of {n_all:~row} in {source} {n_rows:?has/have} no text",
    "rows_without_label": "{n_rows:,} of {n_all:~row} in {source} {n_rows:?has/have} no label",
    "files_unreadable": (
        "left out {n_files:,} of {n_all:~file} in {source}, which cannot be read: {names:list}"
    ),
    "files_left_out": (
        "read {n_all:~file} in {source}, left out {n_files:~other file} ({left_out:list})"
    ),
    "tables_left_out": (
        "left out {n_files:~table} beside the documents in {source} ({names:list}); to read the "
        "rows of a table, give it alone"
    ),
    "guessed_encodings": (
        "{n_files:,} of {n_all:~file} in {source} {n_files:?is/are} not UTF-8; read "
        "{read_as:list}. If letters look wrong, pass {parameter}"
    ),
    "files_empty": "{n_rows:,} of {n_all:~document} in {source} {n_rows:?is/are} empty",
    "documents_without_words": (
        "{n_rows:,} of {every} {n_rows:?contains/contain} none of the words kept and "
        "{n_rows:?is/are} in no topic"
    ),
    "stripped": "stripped {kinds:list}; {parameter:=keep} keeps them",
    "stripped_as_model": "stripped {kinds:list}, as for the model",
    "stripped_html": "HTML from {n_rows:~document}",
    "stripped_headers": "mail headers from {n_rows:~document}",
    "stripped_quotes": "quoted replies from {n_rows:~document}",
    "stripped_signatures": "signatures from {n_rows:~document}",
    "stripped_links": "URLs and mail addresses from {n_rows:~document}",
    "stripped_pages": "page numbers from {n_rows:~document}",
    "cut_into_passages": (
        "{n_rows:~document} with more than {longest:,} words {n_rows:?is/are} cut into "
        "{n_entries:~passage}; {parameter:=none} keeps {n_rows:?it/them} whole"
    ),
    "cut_as_model": (
        "{n_rows:~document} with more than {longest:,} words {n_rows:?is/are} assigned as "
        "{n_entries:~passage}; proportions are averages over them"
    ),
    "common_words_dropped": (
        "{n_words:~frequent word} {n_words:?is/are} dropped by {parameter:=max_df}: {words:list}"
        "{more}; {parameter:=keep_all} keeps {n_words:?it/them}"
    ),
    "long_words_dropped": (
        "{n_words:~word} of more than {longest} characters {n_words:?is/are} not counted: such "
        "words are usually encoded data"
    ),
    "and_more_words": " and {n_words:,} more",
    "all_documents": "{n_all:~document}",
    "all_passages": "{n_all:~passage}",
    "copies_counted": (
        "{n_rows:,} of {every} {n_rows:?is a copy/are copies} of others{near}; "
        "{parameter:=other} counts each text once"
    ),
    "copies_weighted": (
        "{n_rows:,} of {every} {n_rows:?is a copy/are copies} of others{near}; each text is "
        "counted once, so that copies form no topic ({parameter:=other} counts every copy)"
    ),
    "of_these_near": ", {n_rows:,} of them nearly",
    # --- values ----------------------------------------------------------------------------------
    "wrong_length": "{name} has {n_entries:~entry/entries}; expected {needed:,}, one per {each}",
    "one_document": (
        "{name} is one document of {n_words:~word}, which is not enough to find topics; give a "
        "folder of texts, a table with one text per row, or a text of more than 2,000 words, which "
        "is cut into passages"
    ),
    "one_whole_document": (
        "{name} is one document of {n_words:~word}, which is not enough to find topics; leave out "
        "{parameters.passages}, and it is cut into passages"
    ),
    "one_text": (
        "one text of {n_words:~word} is not enough to find topics; give several texts, or cut a "
        "long one into passages, as in fit(vectorize([text], passages=200))"
    ),
    "all_copies": (
        "all {n_rows:~document} are copies of one text, which is not enough to find topics; give "
        "different texts, or {parameter:=every} to count every copy"
    ),
    "not_passages": (
        "{parameter:=value}; expected a number of words, 'auto', or {parameter:=none} to keep "
        "texts whole"
    ),
    "not_words": (
        "{parameter} contains {value!r}; expected a list of strings, or a pathlib.Path of a file "
        "with one word per line"
    ),
    "not_a_document_frequency": (
        "{parameter:=value}; expected a number of documents (5) or a fraction of them (0.05)"
    ),
    "no_stop_words": (
        "no list of stop words for {parameter:=value}; expected {languages}, or "
        "{parameter:=keep_all} to keep all words"
    ),
    "unknown_language": (
        "unknown {parameter:=value}; expected a code such as 'fr', several codes such as 'en,fr', "
        "'auto' to find the languages of the texts, or {parameter:=keep_all} to keep all words. "
        "There are lists of stop words for {languages}"
    ),
    "vectorizer_has_not_learned": "the vectorizer has no vocabulary yet; call fit or learn first",
    "unknown_settings": "unknown vectorizer settings: {names:quoted list}; expected {known:list}",
    "bad_settings": "the vectorizer settings are damaged: {problem}",
    # --- languages -------------------------------------------------------------------------------
    "one_language": (
        "the texts are in {languages:and}: {name} stop words are dropped; {parameters.language} "
        "sets another language"
    ),
    "words_in_language": (
        "the words are in {language}: {language} stop words are dropped; {parameters.language} "
        "sets another language"
    ),
    "few_in_other_languages": (
        "the texts are in {languages:and}: from each, the stop words of its own language are "
        "dropped; {parameters.language} sets other languages"
    ),
    "several_languages": (
        "the texts are in {languages:and}: from each, the stop words of its own language are "
        "dropped. Texts in different languages have few words in common, so topics may separate "
        "languages rather than subjects; to avoid this, analyze each language by itself"
    ),
    "language_without_stop_words": (
        "there is no list of stop words for {languages:and}: function words are kept; list them "
        "with {parameters.stop_words}"
    ),
    "other_language": (
        "{parameter:=value}, but the texts are in {languages:and}, whose stop words are kept; use "
        "{parameter:=auto} to drop those of all languages in the texts"
    ),
    "new_language": (
        "the new documents are in {languages:and}; the model was made from texts in {known:and}, "
        "and knows few of their words: make a model for each language"
    ),
    "segmentation_missing": (
        "texts in Chinese, Japanese, Thai, Lao, Khmer or Burmese{where} can be split into words "
        "only with the optional library icu4py: pip install 'momentree[segmentation]'"
    ),
    "texts_not_split": (
        "{share} of the texts are in Chinese, Japanese, Thai, Lao, Khmer or Burmese and are not "
        "split into words: pip install 'momentree[segmentation]'"
    ),
    # --- no word is kept -------------------------------------------------------------------------
    "no_word_in_texts": (
        "no words in {n_documents:~document}: the texts are empty, contain only what is stripped "
        "without {parameters.raw}, such as URLs, or "
        "{parameters.token_pattern:=token_pattern} matches nothing in them"
    ),
    "only_stop_words": (
        "all {n_words:~word} in {n_documents:~document} are stop words; change "
        "{parameters.language} or {parameters.stop_words}"
    ),
    "no_word_kept": (
        "none of {n_words:~word} in {n_documents:~document} is kept: {n_rare:,} occur in fewer "
        "documents than {parameters.min_df:{min_df}} allows, {n_common:,} in more than "
        "{parameters.max_df:{max_df}} allows, and {n_other:,} are stop words, do not match the "
        "pattern of a word, are too long for one, or occur in no document; {remedy}"
    ),
    "lower_min_df": "lower {parameters.min_df} to {min_df}",
    "raise_max_df": "raise {parameters.max_df} to {max_df}",
    "change_both_df": (
        "lower {parameters.min_df} to {min_df} and raise {parameters.max_df} to {max_df}"
    ),
    "exclude_fewer_words": (
        "exclude fewer words with {parameters.language}, {parameters.stop_words} and "
        "{parameters.token_pattern}"
    ),
    # --- tokenizers and n-grams ------------------------------------------------------------------
    "not_an_ngram_range": (
        "{parameter:=value}; expected the smallest and largest number of words, such as (1, 2), "
        "from 1 to {most}"
    ),
    "not_a_tokenizer": (
        "{parameter:=value}; expected a function that splits a text into a list of words"
    ),
    "tokenizer_and_pattern": (
        "{parameter:=value} has no effect with {parameters.tokenizer}, which finds the words; "
        "omit one of them"
    ),
    "tokenizer_only_named": (
        "{value} is only the name of the function that finds the words, as in the file of a "
        "model; give the function itself with {parameters.tokenizer}"
    ),
    "not_a_function_name": (
        "{parameter:=value}; expected a module and a function, such as jieba:lcut"
    ),
    "no_such_function": "{parameter:=value} cannot be imported: {error}",
    "no_tokenizer_in_model": (
        "{parameter:=value} has no effect, because the model was made without a tokenizer; omit it"
    ),
    "other_tokenizer": (
        "the words of the model were found by {known}, those of the new documents by {given}: the "
        "results are right only if both find the same words"
    ),
    "tokenizer_failed": "the tokenizer {name} failed on a text: {error}",
    "tokenizer_without_words": (
        "the tokenizer {name} did not return a list of words; expected strings"
    ),
    # --- patterns of words -----------------------------------------------------------------------
    "not_a_regular_expression": "{parameter:=value} is not a regular expression: {error}",
    "too_many_groups": (
        "{parameter:=value} has {n_groups:~group}; expected at most one, which matches the "
        "word: write (?:...) for the others"
    ),
    "slow_pattern": (
        "{parameter:=value} can take unlimited time on some texts: {fault}. Use repetitions "
        "that can continue in only one way, such as [a-z]+(?:-[a-z]+)*"
    ),
    "pattern_ambiguous": "a repetition can continue in two ways",
    "pattern_runs_over_blanks": "a repetition that matches blanks is not at the end of the pattern",
    "pattern_looks_around": "it looks ahead or back over any number of characters",
    "pattern_refers_back": "it refers back to a group",
    "pattern_too_long": "it is too long",
    "pattern_too_branched": "it has too many alternatives",
    # --- work on disk ----------------------------------------------------------------------------
    "not_a_size": "{parameter:=value} is not an amount of memory; give one such as 800MB or 1.5GB",
    "too_little_memory": (
        "{parameter:=value} is too little; expected at least {parameter:=least}: Python with its "
        "libraries takes half of that"
    ),
    "unfinished_work": (
        "the folder {path} has unfinished work of an earlier run; continue with "
        "{parameter:=value}, or remove the folder to begin anew"
    ),
    "work_inside_input": (
        "the folder {path} would be inside the input {folder} and be read too; give an output, or "
        "a folder, outside of it"
    ),
    "work_in_use": (
        "another process works in the folder {path}; wait until it has ended, or give another name"
    ),
    "not_a_work_folder": (
        "the folder {path} was not made by momentree; give another name, or remove it"
    ),
    "resume_changed": (
        "cannot continue the work in {path}: {changes:list}. Undo this, or remove the folder to "
        "begin anew"
    ),
    "input_changed": "the files of {path} have changed",
    "version_changed": "it was begun with momentree {before}",
    "option_changed": "{parameter} was {before}",
    "work_damaged": (
        "cannot continue the work in {path}: {name} is missing, cut off or changed. Remove the "
        "folder to begin anew"
    ),
    "rare_words_forgotten": (
        "there are more different words than memory for them: words in fewer than "
        "{n_all:~document} may be missing, and document frequencies may be too low by "
        "{n_rows:,}; increase {parameters.memory} to count all words"
    ),
    # --- on a cluster ----------------------------------------------------------------------------
    "dask_missing": "this needs Dask: pip install 'momentree[dask]'",
    "no_files_of_pattern": (
        "no files found for {pattern} ({error}); check the path, and that the file system is "
        "reachable"
    ),
    "not_in_parts": "{parameter} needs all texts at once; leave it out, or read them in memory",
    "not_on_a_cluster": (
        "{parameter} needs all texts on one machine; leave it out, or read the files from a folder"
    ),
    "only_texts_in_parquet": (
        "{parameter} does not apply to {path}, which names Parquet files of texts for a cluster"
    ),
    "words_forgotten_on_cluster": (
        "there are more different words than memory for them: document frequencies of rare words "
        "may be too low by {n_rows:,}"
    ),
    "long_texts_whole": (
        "{n_rows:~document} of more than {longest:,} words stayed whole: texts are not cut into "
        "passages on a cluster"
    ),
}
