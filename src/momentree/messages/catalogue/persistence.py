"""Wording of messages about persistence: files of models."""

WORDS: dict[str, str] = {
    "unreadable_model": "cannot read the model {path}: {error}",
    "damaged_model": "{path} is not a momentree model, or it is damaged ({error})",
    "other_format": "{path} contains {found!r}, not a momentree model",
    "newer_format": (
        "{path} has format version {found}, but momentree {version} reads version {known}; it was "
        "written by momentree {writer}: upgrade momentree"
    ),
    "older_format": (
        "{path} has format version {found}, but momentree {version} reads version {known}; fit "
        "and save the model again"
    ),
    "unknown_model": "{path} contains a {kind!r}, which momentree {version} does not have; upgrade",
    "own_decomposition": (
        "{parameter} is a custom function, which cannot be saved; set it to the name of a function "
        "in momentree.decomposition before saving"
    ),
    "other_model": "{path} contains a {found}, not a {expected}",
}
