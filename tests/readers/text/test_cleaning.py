"""Cleaning of texts: each kind of mess, and the texts that must stay as they are."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter

import hypothesis.strategies as st
import pytest
from hypothesis import example, given

from momentree.datasets import Documents, read_documents, read_like, vectorize
from momentree.messages import Message
from momentree.readers.text.cleaning import clean_batch, clean_text, html_to_text

SIGNATURE = "\n-- \nAda Lovelace, Engines\nLondon\n"
POST = """From: ada@engines.org (Ada Lovelace)
Newsgroups: sci.space
Subject: Re: Orbit of the comet
Organization: Analytical
 Engines Ltd
NNTP-Posting-Host: engines.org

In article <123@home.uk> bob@home.uk (Bob) writes:
> I think the orbit
>> is a circle

Its orbit is an ellipse.

"""
REPLY = "On Mon, 3 May 2021 at 10:21, Bob Miller <bob@home.uk>\nwrote:\n\n> Shall we?\n\nWe shall."
OUTLOOK = "We shall.\n\n-----Original Message-----\nFrom: Bob\nSent: Monday\nTo: Ada\n\nShall we?"
FORWARDED = "See this.\n\nFrom: Bob\nSent: Monday\nTo: Ada\nSubject: Lunch\n\nSoup today."
PAGE = (
    "<!DOCTYPE html><html><head><title>Shop</title><style>p {color: red}</style></head><body>"
    "<nav>Home</nav><script>if (a < b) {run()}</script><p>Fish &amp; ch<b>ips</b><p>&pound;5"
)
FEED = "&lt;p&gt;Fish &amp;amp; chips&lt;/p&gt;"

MESSES = {
    "post": (
        POST + SIGNATURE,
        "Orbit of the comet\n\nIts orbit is an ellipse.",
        "headers quotes signatures",
    ),
    "reply": (REPLY, "We shall.", "quotes"),
    "top post": (OUTLOOK, "We shall.", "headers quotes"),
    "forwarded": (FORWARDED, "See this.\n\nLunch\n\nSoup today.", "headers"),
    "page": (PAGE, "Fish & chips\n\n£5", "html"),
    "feed": (FEED, "Fish & chips", "html"),
    "fragment": ("So <i>good</i><br/>said &eacute;mile&#33;", "So good\nsaid émile!", "html"),
    "script": ("<p>Sea</p><script>let x = 1</script><!-- boat -->", "Sea", "html"),
    "links": ("See http://a.org/b?c=d, www.e.fr or x.y@z.com.", "See ,  or .", "links"),
    "Markdown link": ("[the sea](https://sea.org/x_y)", "[the sea]()", "links"),
    "pages": ("Sea.\nPage 3 of 9\nBoat.\nSeite 4\n", "Sea.\nBoat.", "pages"),
    "running titles": ("Report 1\nSea\fReport 2\nBoat\fReport 3\nSky", "Sea\fBoat\fSky", "pages"),
    "German": ("Am 3.5. schrieb Bob:\n> Ja?\n\nNein.", "Nein.", "quotes"),
    "French": ("Le 3 mai à 10:21, Bob a écrit :\n> Oui ?\n\nNon.", "Non.", "quotes"),
    "Outlook, German": (
        "Von: Bob\nGesendet: Montag\nAn: Ada\nBetreff: AW: Tee\n\nJa.", "Tee\n\nJa.", "headers"
    ),
}  # fmt: skip

PLAIN = {
    "comparison": "a < b and c > d & e",
    "code": "if (a<b && c>d) { vector<int> x; List<String> y; i--; }\n--\n",
    "prompt": "Try this:\n\n>>> 1 > 0\nTrue\n>>> # Ada wrote:\n>>> 2",
    "Markdown": "# Sea\n\n> A quote\n> goes on\n\n---\n\n- a <sea> of [boats](#boats)\n\n| a | b |",
    "prose": "From: the sea it came.\nShe wrote: no.\nTo: all. Re: nothing.",
    "play": "Romeo: Ay me!\nJuliet: O Romeo!\n\nDate: never",
    "mathematics": "$x < y > z$ and \\alpha & \\beta -- p. 5 -- 3 @ 4",
    "XML": "<sea><boat>a</boat></sea>",
    "numbers": "3\n1\n4\n1\n5",
    "verse": "1\n2\n3\n",
    "signature in the middle": "a\n-- \n" + "long line " * 20,
    "only a quote": "> a quote\n> and no more",
    "social": "@sea #boat 10:30 & more... RT <3",
    "": "",
}


@pytest.mark.parametrize("name", MESSES)
def test_messes_are_stripped(name):
    text, expected, kinds = MESSES[name]
    cleaned, found = clean_text(text)
    assert re.sub(r"\n{3,}", "\n\n", cleaned.strip()) == expected
    assert found == kinds.split()
    assert clean_text(cleaned) == (cleaned, [])


@pytest.mark.parametrize("name", PLAIN)
def test_other_texts_stay_as_they_are(name):
    assert clean_text(PLAIN[name]) == (PLAIN[name], [])


def test_docstrings_stay_as_they_are(docstrings):
    for text in docstrings.texts[:200]:
        words = [word for word in text.split() if not re.search(r"://|@|www\.", word)]
        plain = " ".join(words)
        assert clean_text(plain) == (plain, [])


@pytest.mark.parametrize("corpus", ["bbc_news", "divina_commedia", "m10", "reuters_r8"])
def test_real_texts_without_markup_stay_as_they_are(shared_data, corpus):
    texts = read_documents(shared_data / corpus / "docs.jsonl.gz").texts
    stripped = Counter()
    assert (clean_batch(texts, stripped), stripped) == (texts, {})


def test_real_texts_in_mails_and_pages_are_found_again(shared_data):
    with gzip.open(shared_data / "sotu_nltk_1945_2005" / "docs.jsonl.gz", "rt") as file:
        speeches = [json.loads(line)["text"].strip() for line in file]
    header = "From: Ada <ada@home.uk>\nDate: 3 May 2021\nSubject: Speech\n\n"
    for speech in speeches[:20]:
        found, kinds = clean_text(f"{header}{speech}\n\n-- \nAda\n")
        assert (found.split(), kinds) == (["Speech", *speech.split()], ["headers", "signatures"])
        paragraphs = "</p>\n<p>".join(speech.replace("&", "&amp;").replace("<", "&lt;").split("\n"))
        found, kinds = clean_text(f"<html><body><p>{paragraphs}</p></body></html>")
        assert (found.split(), kinds) == (speech.split(), ["html"])


PIECES = st.sampled_from(
    ["sea ", "Boat.\n", "\n", "> ", "<p>", "</p>", "<b", "&amp;", "amp;", "&lt;", "-- \n", "x@y.z ",
     "From: a\n", "Subject: b\n", "Date: c\n", "Ada wrote:\n", "http://", "3\n", "4\n", "Page 3\n",
     "\f", "<script>", "</script>", "-->", "<!--", ":", " ", "\r\n"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=15).map("".join))
@example("&amp;lt;p&amp;gt;sea</p>")
@example("<<p>p>sea</p>")
def test_cleaning_again_finds_at_most_what_it_uncovered(text):
    cleaned, kinds = clean_text(text)
    assert len(cleaned) <= len(text)
    assert (cleaned == text.replace("\r\n", "\n")) == (not kinds)
    for _ in range(len(text)):
        again, found = clean_text(cleaned)
        if not found:
            break
        assert len(again) < len(cleaned)
        cleaned = again
    assert clean_text(cleaned) == (cleaned, [])


@given(st.text("abcdefgh ,.;!?'\"()\n", max_size=200))
def test_plain_prose_is_unchanged(text):
    assert clean_text(text) == (text, [])


@pytest.mark.parametrize(
    "text",
    ["<script>", "<!--", "&amp;", "<p ", "a@", "a.", "> x\n", "From: a\n", "x wrote:\n\n", "http://",
     "1\n\n", "\f", "-- \n", "<div>"],
)  # fmt: skip
def test_hostile_texts_take_linear_time(text):
    # Quadratic rules would take minutes.
    clean_text(text * 20_000 + "</p> <script></script")


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        ("plain\n\n\n\ntext", "plain\n\ntext"),
        ("a < b", "a < b"),
        ("<table><tr><td>1<td>2<tr><td>3</table>", "1\n2\n\n3"),
        ("<ul><li>a<li>b</ul>c", "a\nb\n\nc"),
        ("x\ud800y\0z", "x?yz"),
        ("<!-- c --><?php echo 1 ?>", ""),
        ("<frameset><frame src=x></frameset>", ""),
    ],
)
def test_html_to_text(html, text):
    assert html_to_text(html) == text


def test_one_note_counts_what_was_stripped():
    texts = ["<p>boat</p>", "<p>sea</p> http://x.org", "a boat at sea", "the sea"]
    corpus = vectorize(texts, max_df=1.0)
    assert corpus.texts[:2] == ["\nboat\n", "\nsea\n "]
    kinds = [Message("[stripped_html]", n_rows=2), Message("[stripped_links]", n_rows=1)]
    assert corpus.notes[0] == Message("[stripped]", kinds=kinds, parameter="raw", keep=True)
    assert str(corpus.notes[0]) == (
        "stripped HTML from 2 documents, URLs and mail addresses from 1 document; raw=True keeps "
        "them"
    )


def test_raw_keeps_all_and_is_saved():
    texts = ["<em>boat</em>", "<em>sea</em>", "a boat at sea", "the sea, sea"]
    corpus = vectorize(texts, raw=True, max_df=1.0)
    assert corpus.vocabulary.tolist() == ["boat", "em", "sea"]
    assert (corpus.texts, corpus.notes) == (texts, [])
    new = Documents(["<em>boat</em>"], ["1"])
    assert read_like(new, corpus.vectorizer).X.toarray().tolist() == [[1, 2, 0]]
    cleaned = vectorize(texts, max_df=1.0)
    assert cleaned.vocabulary.tolist() == ["boat", "sea"]
    assert read_like(new, cleaned.vectorizer).X.toarray().tolist() == [[1, 0]]
    assert cleaned.vectorizer.transform(["<boat></boat><b>sea</b>"]).toarray().tolist() == [[2, 1]]
