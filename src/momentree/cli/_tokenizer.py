"""Import a function that splits texts into words, named on the command line."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from momentree.cli._run import Run
from momentree.exceptions import InvalidParameterError
from momentree.messages import Message
from momentree.readers import TextVectorizer
from momentree.readers.text.words import name_of


def load_tokenizer(name: str) -> Any:
    """Import a function by its name, "module:function"; modules may be files of this folder."""
    module, _, path = name.partition(":")
    if not module or not path:
        raise InvalidParameterError("not_a_function_name", parameter="tokenizer", value=name)
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        found: Any = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except Exception as error:
        problem = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise InvalidParameterError(
            "no_such_function", parameter="tokenizer", value=name, error=problem
        ) from error
    finally:
        sys.path.remove(here)
    return found


def give_tokenizer(run: Run, vectorizer: TextVectorizer, name: str | None) -> TextVectorizer:
    """Return the vectorizer of a model with the function that finds its words, if it has one."""
    known = vectorizer.tokenizer
    if name is None:
        vectorizer.splitter()  # fails if a function is needed
        return vectorizer
    if known is None:
        raise InvalidParameterError("no_tokenizer_in_model", parameter="tokenizer", value=name)
    given = replace(vectorizer, tokenizer=load_tokenizer(name))
    found = name_of(given.tokenizer)
    if found != known:
        run.note(Message("other_tokenizer", known=known, given=found))
    return given
