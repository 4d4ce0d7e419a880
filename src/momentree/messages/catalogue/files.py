"""Words of files."""

WORDS: dict[str, str] = {
    # --- arrays in zip files ---------------------------------------------------------------------
    "file_too_large": (
        "cannot read {path}: its content would take {megabytes:,.0f} MB of memory or more, and a "
        "file of {size:~byte} may take {most:,.0f} MB. It is damaged or made to exhaust the "
        "memory; if it is sound, decompress it, or write it without compression"
    ),
    "unsafe_compression": "{name!r} is compressed by another method than deflate",
    "not_an_array": "{name!r} is not an array of NumPy",
    "array_header": "the array {name!r} has an unreadable header, {header!r}",
    "array_of_objects": "the array {name!r} holds pickled objects, which are never read",
}
