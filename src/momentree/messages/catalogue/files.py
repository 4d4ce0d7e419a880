"""Words of files."""

WORDS: dict[str, str] = {
    "not_a_path": (
        "{parameter:{value!r}} is not a path; give a file or folder as str or pathlib.Path"
    ),
    "empty_path": "the path is empty; give a file or folder ('.' is the current folder)",
    "no_such_file": "cannot read {path}: there is no such file or folder",
    "unreadable_file": "cannot read {path}: {error}",
    "not_a_regular_file": (
        "cannot read {path}: it is a pipe, a socket or a device; save its content as a file first"
    ),
}
