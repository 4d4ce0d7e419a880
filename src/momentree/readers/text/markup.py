"""HTML to text, as a browser shows it."""

from __future__ import annotations

import re

from lxml import etree

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
    >>> from momentree.readers.text.markup import html_to_text
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
