"""Strip from the text of mails and posts what is not of their author: headers, quotes, signatures.

Every rule needs a sign that prose, verse, Markdown and source code lack, because a text that is
damaged is worse than a text with a header.
"""

from __future__ import annotations

import re

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
