"""Words of persistence: files of models."""

WORDS: dict[str, str] = {
    "unreadable_model": "cannot read the model {path}: {error}",
    "damaged_model": "{path} is not a momentree model, or it is damaged ({error})",
    "other_format": "{path} holds {found!r}, not a momentree model",
    "newer_format": (
        "{path} has format version {found}, but momentree {version} reads version {known}; it was "
        "written by momentree {writer}: upgrade momentree"
    ),
    "older_format": (
        "{path} has format version {found}, but momentree {version} reads version {known}; fit "
        "and save the model again"
    ),
    "unknown_model": "{path} holds a {kind!r}, which momentree {version} does not have; upgrade",
    "own_decomposition": (
        "{parameter} is your own function, which a file without code cannot hold; set it to the "
        "name of a function of momentree.decomposition before you save"
    ),
    "other_model": "{path} holds a {found}, not a {expected}",
}
