"""The report of a fitted tree or model, for its method ``to_html``."""

from __future__ import annotations

import importlib
from os import PathLike
from pathlib import Path
from typing import Any

__all__ = ["page_of"]


def page_of(estimator: Any, path: str | PathLike[str] | None, X: Any, **options: Any) -> str:
    """Return the report as one HTML page; write it to a file too, where one is named."""
    # The report is to the right of this room; it is found by name when it is asked for.
    report = importlib.import_module("momentree.report")
    summary = report.summarize(estimator, X, **options)
    if path is not None:
        report.write_html(summary, Path(path))
    page: str = report.render_html(summary)
    return page
