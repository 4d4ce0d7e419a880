"""Strip markup and boilerplate from texts, before their words are counted."""

import html
import re
from collections import Counter
from collections.abc import Sequence

from lxml import etree

from momentree.messages import Message

_NOT_TEXT = ("head", "script", "style", "template", "noscript", "nav", "footer", "button", "select")
"""Elements that are not shown, or that belong to the site rather than the document."""

_LINES = ("br", "hr", "td", "th", "dt", "dd", "li", "tr")
_PARAGRAPHS = (
    *("p", "div", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "dl", "table", "pre", "form"),
    *("blockquote", "section", "article", "header", "main", "aside", "address", "figure"),
    *("figcaption", "fieldset"),
)
# Characters that HTML may contain, but XML may not: libxml2 reads them, and refuses to write them.
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_EMPTY_LINES = re.compile(r"\n{3,}")


def html_to_text(html: str) -> str:
    r"""Return the text of a page or fragment of HTML.

    Entities are decoded. Comments, scripts, styles, the head, navigation, page footers and
    controls are left out. Paragraphs, headings and tables are separated by an empty line, items
    and cells by the end of a line; tags within a word do not split it.

    Parameters
    ----------
    html : str
        Any text; damaged HTML is read as far as possible.

    Returns
    -------
    str
        The text, with single blanks and none at the ends of its lines.

    Notes
    -----
    Time and memory are linear in the length; 10,000 pages of 8 kB take four seconds. Elements
    nested more than 2,048 deep are left out.

    Examples
    --------
    >>> from momentree.readers.text.cleaning import html_to_text
    >>> html_to_text("<style>p {color: red}</style><p>Fish &amp; <b>c</b>hips<p>2 &lt; 3")
    'Fish & chips\n\n2 < 3'
    """
    content = html.encode("utf-8", "replace").replace(b"\0", b"")
    # A new parser each time: one that has met an error keeps it.
    parser = etree.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True
    )
    try:
        root = etree.fromstring(content, parser) if content.strip() else None
    except etree.XMLSyntaxError:  # not a single element
        root = None
    if root is None:
        return ""
    etree.strip_elements(root, *_NOT_TEXT, with_tail=False)
    for element in root.iter(*_PARAGRAPHS):
        element.text = "\n\n" + _NOT_XML.sub(" ", element.text or "")
        element.tail = "\n\n" + _NOT_XML.sub(" ", element.tail or "")
    for element in root.iter(*_LINES):
        element.text = "\n" + _NOT_XML.sub(" ", element.text or "")
    lines = "".join(map(str, root.itertext())).split("\n")
    return _EMPTY_LINES.sub("\n\n", "\n".join(" ".join(line.split()) for line in lines)).strip()


# Headers whose values describe the content; they are kept.
_CONTENT = r"Subject|Betreff|Objet|Oggetto|Asunto|Assunto|Summary|Keywords|Тема"
_NAMES = (
    "From|To|Cc|Bcc|Date|Sent|Reply-To|Sender|Message-ID|In-Reply-To|References|Return-Path|"
    "Received|Delivered-To|MIME-Version|Content-[A-Za-z-]+|X-[A-Za-z0-9-]+|Path|Newsgroups|Lines|"
    "Organization|Organisation|Distribution|NNTP-Posting-[A-Za-z]+|Article-I\\.D\\.|Followup-To|"
    "Approved|Xref|Expires|Originator|Nf-[A-Za-z-]+|User-Agent|List-[A-Za-z-]+|DKIM-Signature|"
    "ARC-[A-Za-z-]+|Authentication-Results|Importance|Priority|Attachments|News-Software|Mailer|"
    "Von|An|Gesendet|Datum|De|À|Envoyé|Da|Inviato|Data|Para|Enviado|Fecha|Enviada|"
    "От|Кому|Дата|Копия|Отправлено"
)
_HEADER = re.compile(rf"(?:({_CONTENT})|{_NAMES})[ \t]?:(?:[ \t]|$)(.*)", re.IGNORECASE)
_MAX_HEADER = 32
_MAILBOX_LINE = re.compile(r"From \S+ .*\d{4}\s*$")
_SENDER = re.compile(
    r"(?:From|Von|De|Da|От|Received|Return-Path|Path|Message-ID|Newsgroups)[ \t]?:", re.IGNORECASE
)
_REPLY_PREFIX = re.compile(r"(?:(?:re|aw|sv|fwd?|wg|tr)\s*(?:\[\d+\])?:\s*)+", re.IGNORECASE)

_WROTE = (
    r"wrote|writes|write|said|says|schrieb(?:en)?|schreibt|a écrit|écrit|écrivait|ha scritto|"
    r"scrive|scriveva|escribió|escribe|escreveu|escreve|schreef|skrev|kirjoitti|napisał\(?a?\)?|"
    r"написала?|пишет|писал\(?а?\)?"
)
_ATTRIBUTION = re.compile(rf"(?:^|.*[\s>\"')])(?:{_WROTE})\b.{{0,80}}:\s*$", re.IGNORECASE)
_QUOTED = re.compile(r"[ \t]{0,3}(?:[A-Za-z]{1,3})?(?:>(?!>> |>>$)|\|>)|[ \t]{0,3}(?:> ?){2,}")
_PROMPT = re.compile(r"\s*>>> ")
_FIRST_WORDS = re.compile(
    r"(?:On|In|At|Am|Le|El|Il|Em|Op|Den|Dnia|Date)\b|.*\d{1,2}:\d\d|.*<?\S+@\S+", re.IGNORECASE
)
_ORIGINAL = re.compile(
    r"\s*-{2,}\s*(?:Original Message|Ursprüngliche Nachricht|Message d'origine|"
    r"Messaggio originale|Mensaje original|Mensagem original|Исходное сообщение)\s*-{2,}\s*$",
    re.IGNORECASE,
)
_SIGNATURE_LINES, _SIGNATURE_WIDTH = 10, 90
_WORD = re.compile(r"[^\W\d_]{2,}")


def strip_headers(text: str) -> str:
    """Remove blocks of mail headers, except subjects and keywords.

    A block is three or more headers in a row, one of them of the sender. At the beginning of a
    text, two suffice if one has a mail address or names the subject.
    """
    lines = text.split("\n")
    kept: list[str] = []
    at, begun = 0, False
    while at < len(lines):
        end, contents, names = _header_block(lines, at)
        block = lines[at:end]
        is_block = len(names) >= 3 and any(map(_SENDER.match, block))
        if len(names) == 2 and not begun:
            is_block = bool(contents) or any("@" in line for line in block)
        end = max(end, at + 1)
        kept += contents if is_block else lines[at:end]
        at = end
        begun = begun or bool(lines[at - 1].strip())
    return text if kept == lines else "\n".join(kept)


def _header_block(lines: list[str], start: int) -> tuple[int, list[str], set[str]]:
    """Return where a block of headers ends, the values to keep, and the names found."""
    at, contents, names = start, [], set()
    if lines[at].startswith("From ") and _MAILBOX_LINE.match(lines[at]):
        names.add("from ")
        at += 1
    keep = False
    while at < len(lines):
        line = lines[at]
        header = _HEADER.match(line) if ":" in line[:_MAX_HEADER] else None
        if header:
            names.add(line.partition(":")[0].strip().lower())
            keep = header[1] is not None
            value = _REPLY_PREFIX.sub("", header[2].strip(), count=1)
        elif names and line[:1] in (" ", "\t") and line.strip():
            value = line.strip()  # a long value goes on
        else:
            break
        if keep and value:
            contents.append(value)
        at += 1
    return at, contents, names


def strip_quotes(text: str, *, is_mail: bool) -> str:
    """Remove quoted replies: lines that begin with ">", and the line that names their author.

    In a text that is not known to be a mail (`is_mail`), such lines are quotes only after a line
    such as "On Monday, Ada wrote:"; Markdown quotes and prompts of Python are kept. All that
    follows "-----Original Message-----" is a quote. A text without other words is left as it is.
    """
    lines = text.split("\n")
    quoted = [_QUOTED.match(line) is not None and not _PROMPT.match(line) for line in lines]
    drop = [False] * len(lines)
    found = is_mail
    for at, line in enumerate(lines):
        if line.rstrip().endswith(":") and _ATTRIBUTION.match(line):
            below = next((j for j in range(at + 1, len(lines)) if lines[j].strip()), None)
            if below is not None and below <= at + 3 and quoted[below]:
                found = drop[at] = True
                # "On 3 May at 10:21, Ada Lovelace <ada@home.uk>" may stand on a line of its own.
                above = lines[at - 1] if at else ""
                if not _FIRST_WORDS.match(line) and _FIRST_WORDS.match(above) and above[-1:] != ".":
                    drop[at - 1] = True
        elif _ORIGINAL.match(line) and _WORD.search("\n".join(lines[:at])):
            drop[at:] = [True] * (len(lines) - at)
            break
    if found:
        drop = [a or b for a, b in zip(drop, quoted, strict=True)]
    if not any(drop):
        return text
    rest = "\n".join(line for line, gone in zip(lines, drop, strict=True) if not gone)
    return rest if _WORD.search(rest) else text


def strip_signature(text: str) -> str:
    """Remove a signature: what follows the last line "-- ", if it is short and narrow."""
    lines = text.rstrip().split("\n")
    for at in range(len(lines) - 1, max(len(lines) - 2 - _SIGNATURE_LINES, 0), -1):
        if lines[at].rstrip() == "--":
            below = lines[at + 1 :]
            if below and all(len(line) <= _SIGNATURE_WIDTH for line in below):
                return "\n".join(lines[:at]).rstrip()
            break
    return text


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
_DIGITS = re.compile(r"\d+")
_MIN_PAGES = 3
"""Fewest pages that show a running title."""

_NOTES = {
    "html": "[stripped_html] HTML from {n_rows:~document}",
    "headers": "[stripped_headers] mail headers from {n_rows:~document}",
    "quotes": "[stripped_quotes] quoted replies from {n_rows:~document}",
    "signatures": "[stripped_signatures] signatures from {n_rows:~document}",
    "links": "[stripped_links] URLs and mail addresses from {n_rows:~document}",
    "pages": "[stripped_pages] page numbers from {n_rows:~document}",
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
    return [
        Message(
            "[stripped] stripped {kinds:list}; {parameter:=keep} keeps them",
            kinds=listed,
            parameter="raw",
            keep=True,
        )
    ]


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
    kept = [line for line in lines if not _is_page_number(line)]
    return text if len(kept) == len(lines) else "\n".join(kept)


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
