"""Strip markup and boilerplate from texts before their words are counted."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from momentree.messages import Message
from momentree.readers.text.mail import strip_headers, strip_quotes, strip_signature
from momentree.readers.text.markup import html_to_text

_PAGE = re.compile(r"\s*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_BLOCK = (
    "p|div|br|hr|h[1-6]|ul|ol|li|dl|dt|dd|table|thead|tbody|tfoot|tr|td|th|caption|pre|blockquote|"
    "section|article|header|main|aside|address|figure|figcaption|center|body|html|form"
)
_INLINE = (
    "a|abbr|acronym|b|big|cite|code|del|em|font|i|img|ins|kbd|label|mark|q|s|samp|small|span|"
    "strike|strong|sub|sup|time|tt|u|var|wbr"
)
# A text contains HTML if it has one of these: an end tag, or a tag that has none.
_HTML_SIGN = re.compile(rf"</(?:{_BLOCK}|{_INLINE})\s*>|<(?:br|hr|p)\s*/?>|<img\s", re.IGNORECASE)
_NOT_SHOWN = tuple(
    (re.compile(begin, re.IGNORECASE), re.compile(end, re.IGNORECASE))
    for begin, end in (
        (r"<script\b", r"</script\s*>"),
        (r"<style\b", r"</style\s*>"),
        ("<!--", "-->"),
    )
)
_BLOCK_TAG = re.compile(rf"</?(?:{_BLOCK})(?:\s[^<>]*)?/?>", re.IGNORECASE)
_INLINE_TAG = re.compile(rf"</?(?:{_INLINE})(?:\s[^<>]*)?/?>", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,8}[0-9]{0,2});")
_NESTED_ENTITY = re.compile(r"&(?:amp;)+(?=[#A-Za-z])")
_MAX_PASSES = 4
"""Escaped HTML appears after entities are decoded, as in feeds."""

_LINK = re.compile(
    r"<?\b(?:https?|ftp)://[^\s<>\"'\])}|]+>?|<?\bwww\.[^\s<>\"'\])}|]+>?|"
    r"<?\bmailto:[^\s<>\"']+>?",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"<?(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+>?")
_AFTER_LINK = ".,;:!?"

_PAGE_NUMBER = re.compile(
    r"[ \t\f]*(?:page|seite|pagina|página|pág\.|p\.|стр\.|страница)[ \t]*\d{1,5}"
    r"(?:[ \t]*(?:of|/|von|de|sur|di|из)[ \t]*\d{1,5})?[ \t\f]*",
    re.IGNORECASE,
)
_LONE_NUMBER = re.compile(r"[ \t\f]*[-–—]?[ \t]*(\d{1,4})[ \t]*[-–—]?[ \t\f]*")
_DIGITS = re.compile(r"\d+")
_MIN_PAGES = 3
"""Fewest lone numbers that are page numbers, and fewest pages that show a running title."""

_NOTES = {
    "html": "stripped_html",
    "headers": "stripped_headers",
    "quotes": "stripped_quotes",
    "signatures": "stripped_signatures",
    "links": "stripped_links",
    "pages": "stripped_pages",
}


def clean_text(text: str) -> tuple[str, list[str]]:
    r"""Strip markup and boilerplate from a text.

    Removed are HTML tags, scripts, styles and comments; mail headers except the subject; quoted
    replies with the lines that name their authors; signatures after "-- "; URLs and mail addresses;
    page numbers, and headers and footers repeated on pages that a form feed separates. Entities are
    decoded. Other texts are returned unchanged.

    Parameters
    ----------
    text : str
        A text.

    Returns
    -------
    text : str
        The cleaned text.
    kinds : list of str
        What was removed: "html", "headers", "quotes", "signatures", "links", "pages".

    Notes
    -----
    Time and memory are linear in the length.

    Examples
    --------
    >>> from momentree.readers.text.cleaning import clean_text
    >>> clean_text("Fish &amp; <b>chips</b><br>See https://fish.uk/menu.")
    ('Fish & chips\nSee .', ['html', 'links'])
    >>> clean_text("a < b and c > d")
    ('a < b and c > d', [])
    """
    kinds: list[str] = []

    def update(kind: str, new: str) -> None:
        nonlocal text
        if new != text:
            text = new
            kinds.append(kind)

    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if ":" in text:
        update("headers", strip_headers(text))
    is_mail = bool(kinds)
    if ">" in text or "-----" in text:
        update("quotes", strip_quotes(text, is_mail=is_mail))
    if "\n--" in text:
        update("signatures", strip_signature(text))
    if "<" in text or "&" in text:
        update("html", _strip_html(text))
    if "://" in text or "@" in text or "www." in text.lower() or "mailto:" in text:
        update("links", _strip_links(text))
    if "\f" in text or _DIGITS.search(text):
        update("pages", _strip_pages(text))
    return text, kinds


def clean_texts(texts: Sequence[str]) -> tuple[list[str], list[Message]]:
    """Clean texts, and return a note that counts the documents from which each kind was removed."""
    found: Counter[str] = Counter()
    return clean_batch(texts, found), note_stripped(found)


def clean_batch(texts: Sequence[str], found: Counter[str]) -> list[str]:
    """Clean some texts of a corpus, and add the kinds that were removed to those `found`."""
    cleaned = []
    for text in texts:
        new, kinds = clean_text(text)
        found.update(kinds)
        cleaned.append(new)
    return cleaned


def note_stripped(found: Counter[str]) -> list[Message]:
    """Return a note on what was removed from how many documents."""
    if not found:
        return []
    listed = [Message(code, n_rows=found[kind]) for kind, code in _NOTES.items() if found[kind]]
    return [Message("stripped", kinds=listed, parameter="raw", keep=True)]


def _strip_html(text: str) -> str:
    if _PAGE.match(text):
        text = html_to_text(text)
    for _ in range(_MAX_PASSES):
        before = text
        if "<" in text and _HTML_SIGN.search(text):
            for begin, end in _NOT_SHOWN:
                text = _without(text, begin, end)
            text = _INLINE_TAG.sub("", _BLOCK_TAG.sub("\n", text))
        if "&" in text:
            text = _ENTITY.sub(lambda match: html.unescape(match[0]), _NESTED_ENTITY.sub("&", text))
        if text == before:
            break
    return text


def _without(text: str, begin: re.Pattern[str], end: re.Pattern[str]) -> str:
    # A single pattern would search to the end of the text from every beginning.
    kept, at = [], 0
    while (first := begin.search(text, at)) and (last := end.search(text, first.end())):
        kept.append(text[at : first.start()])
        at = last.end()
    return " ".join([*kept, text[at:]])


def _strip_links(text: str) -> str:
    def without(match: re.Match[str]) -> str:
        link = match[0]
        return link[len(link.rstrip(_AFTER_LINK)) :]

    if "@" in text:
        text = _ADDRESS.sub(without, text)
    return _LINK.sub(without, text)


def _strip_pages(text: str) -> str:
    if "\f" in text:
        text = _strip_running_titles(text)
    lines = text.split("\n")
    drop = {at for at, line in enumerate(lines) if _is_page_number(line)}
    numbers = [
        (at, int(match[1]))
        for at, line in enumerate(lines)
        if len(line) <= 20 and (match := _LONE_NUMBER.fullmatch(line))
    ]
    counted = [b[1] == a[1] + 1 for a, b in pairwise(numbers)]
    apart = [b[0] > a[0] + 1 for a, b in pairwise(numbers)]
    if len(numbers) >= _MIN_PAGES and all(counted) and all(apart):
        drop |= {at for at, _ in numbers}
    if not drop:
        return text
    return "\n".join(line for at, line in enumerate(lines) if at not in drop)


def _is_page_number(line: str) -> bool:
    return 0 < len(line) <= 40 and _PAGE_NUMBER.fullmatch(line) is not None


def _strip_running_titles(text: str) -> str:
    """Remove first and last lines that most of the pages share, apart from numbers."""
    pages = [page.strip("\n").split("\n") for page in text.split("\f")]
    if sum(any(map(str.strip, page)) for page in pages) < _MIN_PAGES:
        return text
    for end in (0, -1):
        shared = Counter(_DIGITS.sub("#", page[end]).strip() for page in pages)
        for page in pages:
            line = _DIGITS.sub("#", page[end]).strip()
            if line and len(page) > 1 and 2 * shared[line] > len(pages):
                del page[end]
    return "\f".join("\n".join(page) for page in pages)
