"""Wording of messages about files and the arrays in them."""

WORDS: dict[str, str] = {
    "not_a_path": (
        "{parameter:=value} is not a path; give a file or folder as str or pathlib.Path"
    ),
    "empty_path": "the path is empty; give a file or folder ('.' is the current folder)",
    "no_such_file": "cannot read {path}: there is no such file or folder",
    "unreadable_path": "cannot read {path}: {error}",
    "not_a_regular_file": (
        "cannot read {path}: it is a pipe, a socket or a device; save its content as a file first"
    ),
    # --- arrays in zip files ---------------------------------------------------------------------
    "file_too_large": (
        "cannot read {path}: its content would take at least {megabytes:,.0f} MB of memory, but "
        "the limit for a file of {size:~byte} is {most:,.0f} MB. The file is damaged, or was made "
        "to exhaust memory; if you trust it, decompress it or write it without compression"
    ),
    "unsafe_compression": "{name!r} is compressed with a method other than deflate",
    "not_an_array": "{name!r} is not a NumPy array",
    "array_header": "the array {name!r} has an unreadable header, {header!r}",
    "array_of_objects": "the array {name!r} contains pickled objects, which are never loaded",
}
