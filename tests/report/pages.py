"""Pages as text: a reader of their tags and scripts, and hostile text to put into them."""

import base64
import json
import zlib
from html.parser import HTMLParser

ATTACKS = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "line\u2028separator\u2029 & &amp; &lt;",
    "\x00\x1b[31m\ud800",
    "שלום 😀 مرحبا",
]
ALLOWED_SCRIPTS = 3  # the class of the root element, the data, the program


class Reader(HTMLParser):
    """Collects tags, attributes and the contents of scripts."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.scripts, self.text, self.inside = [], [], [], None

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts[-1] += data
        elif self.inside != "style":
            self.text.append(data)


def read(page):
    reader = Reader()
    reader.feed(page)
    reader.close()
    return reader


def read_data(page):
    """The data in a page, with its documents unpacked."""
    data = json.loads(read(page).scripts[1])
    columns = json.loads(zlib.decompress(base64.b64decode(data["documents"]["items"])))
    rows = zip(*columns.values(), strict=True)
    data["documents"]["items"] = [dict(zip(columns, row, strict=True)) for row in rows]
    return data
