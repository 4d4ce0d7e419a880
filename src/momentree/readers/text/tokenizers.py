"""Split texts by a function of the user, such as the tokenizer or lemmatizer of another library."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.readers.text.words import TOKEN_PATTERN

Tokenizer = Callable[[str], Iterable[str]]


def check_tokenizer(value: Any, token_pattern: str) -> None:
    """Raise an error unless a value is a function, the name of one or None."""
    if value is None:
        return
    if isinstance(value, type) or not (callable(value) or isinstance(value, str)):
        raise InvalidParameterError("not_a_tokenizer", parameter="tokenizer", value=value)
    if token_pattern != TOKEN_PATTERN:
        raise InvalidParameterError(
            "tokenizer_and_pattern", parameter="token_pattern", value=token_pattern
        )


def name_of(tokenizer: Tokenizer | str | None) -> str | None:
    """Return the name of a function, "module:function", for files and messages."""
    if tokenizer is None or isinstance(tokenizer, str):
        return tokenizer
    module = getattr(tokenizer, "__module__", None) or type(tokenizer).__module__
    return f"{module}:{getattr(tokenizer, '__qualname__', type(tokenizer).__qualname__)}"


def own_tokenizer(tokenizer: Tokenizer | str, *, lowercase: bool) -> Callable[[str], list[str]]:
    """Return a function that splits a text by that of the user, and checks the result."""
    name = name_of(tokenizer)
    if isinstance(tokenizer, str):
        # A file must not decide what is imported and run.
        raise InvalidParameterError("tokenizer_only_named", parameter="tokenizer", value=name)

    def tokenize(text: str) -> list[str]:
        try:
            found = tokenizer(text)
            words = None if isinstance(found, str) else list(found)
        except Exception as error:
            problem = " ".join(f"{type(error).__name__}: {error}".split())
            raise InvalidDataError("tokenizer_failed", name=name, error=problem[:200]) from error
        if words is None or not all(isinstance(word, str) for word in words):
            raise InvalidDataError("tokenizer_without_words", name=name)
        kept = (word.strip() for word in words if any(map(str.isalnum, word)))
        return [word.lower() for word in kept] if lowercase else list(kept)

    return tokenize
