"""Split scripts without blanks into words: Chinese, Japanese, Thai, Lao, Khmer, Burmese."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from momentree.exceptions import MissingLibraryError

_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_SOUTH_EAST = "\u0e01-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u109d\u1780-\u17d3"
_RUN = re.compile(f"[{_HAN}{_KANA}{_SOUTH_EAST}\u17d7\u17dc\u200b]+")
_LETTER = re.compile(f"[{_HAN}{_KANA}{_SOUTH_EAST}]")
_WIDE = re.compile("[\uff01-\uffdc]+")
_SAMPLE = "漢字 かな カナ ไทย ລາວ ខ្មែរ မြန်မာ"


def share_without_blanks(text: str) -> float:
    """Return the share of the letters of a text that are in scripts without blanks."""
    if text.isascii():
        return 0.0
    n = len(_LETTER.findall(text))
    return n / max(n, sum(map(str.isalpha, text))) if n else 0.0


def applies_to(token_pattern: str) -> bool:
    """Whether words of scripts without blanks match a pattern."""
    return re.search(token_pattern, _SAMPLE) is not None


def segmenter() -> Callable[[str], str]:
    """Return a function that puts blanks between the words of scripts without blanks.

    The dictionaries of ICU find the words, for all these scripts at once. Half-width and full-width
    characters become normal ones (Unicode form NFKC). Text in other scripts is not changed.

    Raises
    ------
    MissingLibraryError
        If icu4py is not installed.
    """
    if not is_available():
        raise MissingLibraryError("segmentation_missing", where="")
    from icu4py.breakers import WordBreaker

    def split(run: re.Match[str]) -> str:
        return f" {' '.join(WordBreaker(run[0], 'en'))} "

    def normal(wide: re.Match[str]) -> str:
        return unicodedata.normalize("NFKC", wide[0])

    def segment(text: str) -> str:
        return text if text.isascii() else _RUN.sub(split, _WIDE.sub(normal, text))

    return segment


def is_available() -> bool:
    """Whether the optional library is installed."""
    try:
        import icu4py.breakers  # noqa: F401
    except ImportError:
        return False
    return True
