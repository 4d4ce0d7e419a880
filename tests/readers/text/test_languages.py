"""Languages are found, and the stop words of each document are those of its own language."""

from __future__ import annotations

import errno
import gzip
import json
import os
import random
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from momentree.datasets import (
    Corpus,
    TextVectorizer,
    filter_vocabulary,
    read_corpus,
    stop_words,
    vectorize,
)
from momentree.exceptions import InvalidDataError, MissingLibraryError, MomentreeError
from momentree.readers.text.languages import (
    detect_language,
    detect_languages,
    notes_on_new_texts,
)
from tests.raising import raises

FRENCH = [
    "Le chat dort dans la maison pendant que les enfants jouent avec une balle dans le jardin.",
    "Nous avons mangé du pain et du fromage avant de partir pour la gare avec nos amis.",
    "La ville est belle au printemps, quand les arbres sont en fleurs et que le soleil brille.",
]
ENGLISH = [
    "The cat sleeps in the house while the children are playing with a ball in the garden.",
    "We had some bread and cheese before we left for the station together with our friends.",
    "The town is beautiful in spring when the trees are in bloom and there is a lot of sun.",
]
GERMAN = [
    "Die Katze schläft im Haus, während die Kinder mit einem Ball im Garten spielen.",
    "Wir haben etwas Brot und Käse gegessen, bevor wir mit unseren Freunden zum Bahnhof gingen.",
    "Die Stadt ist im Frühling schön, wenn die Bäume blühen und die Sonne so lange scheint.",
]
ALL = {"min_df": 1, "max_df": 1.0}


def manual(folder: Path, code: str) -> list[str]:
    """Return paragraphs of manual pages, some of which were not translated from English."""
    with gzip.open(folder / "languages" / f"man_{code}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line)["text"] for line in file]


# Notes on other things than languages.
OTHERS = ("stripped", "cut_into_passages", "copies_counted", "common_words_dropped")


def about_languages(notes):
    return [note for note in notes if note.code not in OTHERS]


def codes(notes):
    return [note.code for note in about_languages(notes)]


@pytest.mark.parametrize(
    ("code", "language", "segment"),
    [
        ("fr", "fr,en", False),
        ("ja", "ja,en", True),
        *(
            pytest.param(*case, marks=pytest.mark.long)
            for case in (
                ("de", "de,en", False),
                ("es", "es,en", False),
                ("it", "it,en", False),
                ("ru", "ru,en", False),
                ("ko", "ko,en", False),
                ("zh_CN", "en,zh", True),  # two thirds of these pages are in English
            )
        ),
    ],
)
def test_languages_of_real_texts(shared_data, code, language, segment):
    corpus = vectorize(manual(shared_data, code))
    assert (corpus.vectorizer.language, corpus.vectorizer.segment) == (language, segment)
    assert codes(corpus.notes)[0] == "several_languages"
    own = stop_words(code[:2])
    df = np.bincount(corpus.X.indices, minlength=corpus.X.shape[1])
    frequent = [corpus.vocabulary[j] for j in np.argsort(-df)[:50]]
    # A few stop words of this language are words of the other: "user" is none in English.
    assert sum(word in own for word in frequent) <= 2, frequent


def test_english_is_quiet(shared_data):
    path = shared_data / "sotu_nltk_1945_2005" / "docs.jsonl.gz"
    assert codes(read_corpus(path).notes) == []


@pytest.mark.long
def test_italian_verse(shared_data):
    corpus = read_corpus(shared_data / "divina_commedia" / "docs.jsonl.gz")
    assert corpus.vectorizer.language == "it"
    assert [note.values["name"] for note in corpus.notes if note.code == "one_language"] == [
        "Italian"
    ]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (FRENCH[0], "fr"),
        (ENGLISH[0], "en"),
        (GERMAN[0], "de"),
        ("Если имя команды не является выражением, выбраны процессы, которые его выполняют.", "ru"),
        ("猫は家で寝ています。子供たちは庭で遊んでいます。", "ja"),
        ("猫在家里睡觉，孩子们在花园里玩球。", "zh"),
        ("แมวนอนหลับอยู่ในบ้านขณะที่เด็กๆ เล่นอยู่ในสวน", "th"),
        ("고양이는 집에서 자고 아이들은 정원에서 놀고 있다.", "ko"),
        ("बिल्ली घर में सो रही है और बच्चे बगीचे में खेल रहे हैं।", "hi"),
        ("القطة تنام في المنزل بينما يلعب الأطفال في الحديقة.", "ar"),
        ("", None),
        ("428 584 V27.0 3f2a 99", None),
        ("\ud800", None),
    ],
)
def test_language_of_a_text(text, language):
    assert detect_language(text) == language


def test_a_full_folder_of_temporary_files_is_named(monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("py3langid.rank", full)
    with raises(MomentreeError, "no_scratch", path=tempfile.gettempdir()):
        detect_language("a text whose language was not asked for before")


def test_each_document_has_its_own_stop_words():
    """The German article "die" is an English verb, and "war", German for "was", a noun."""
    texts = [*GERMAN, *ENGLISH, "The war was long and the soldiers of the king had to die in it."]
    corpus = vectorize([*texts, "Es war einmal ein König, der hatte die schönste Tochter."], **ALL)
    assert corpus.vectorizer.language == "de,en"
    war = corpus.X.toarray()[:, corpus.vocabulary.tolist().index("war")]
    assert war.tolist() == [0] * 6 + [1, 0]
    assert "the" not in corpus.vocabulary
    assert "und" not in corpus.vocabulary
    # New documents are read in the same way, also by a vectorizer that was saved.
    again = TextVectorizer.from_dict(json.loads(json.dumps(corpus.vectorizer.to_dict())))
    assert (again.transform(corpus.texts) != corpus.X).nnz == 0


def test_several_languages_are_given_by_hand():
    auto, given = (
        vectorize(FRENCH + ENGLISH, **ALL),
        vectorize(FRENCH + ENGLISH, language="en, FR", **ALL),
    )
    assert given.vectorizer.language == "en,fr"
    assert codes(given.notes) == []
    assert codes(auto.notes) == ["several_languages"]
    assert auto.vectorizer.language == "en,fr"


def test_another_language_is_noticed():
    corpus = vectorize(FRENCH, language="en", **ALL)
    assert "les" in corpus.vocabulary
    [note] = corpus.notes
    assert (note.code, note.values["languages"]) == ("other_language", ["French (100%)"])
    assert vectorize(FRENCH, language=None, **ALL).notes == []


def test_new_texts_in_another_language():
    assert notes_on_new_texts(ENGLISH, "en", 1) == []
    assert notes_on_new_texts(ENGLISH, None, 1) == []
    [note] = notes_on_new_texts(FRENCH, "en", 1)
    assert (note.code, note.values["known"]) == ("new_language", ["English"])


@pytest.mark.parametrize(
    "texts",
    [
        ["428 584", "V27.0"],
        ["x", "y"],
        ["", " "],
        ["GET /api/v1/items/7 HTTP/1.1 200", "PUT /api/v1/items/9 HTTP/1.1 404"] * 20,
    ],
)
def test_uncertain_texts_are_read_as_english(texts):
    vectorizer, notes = TextVectorizer().adapt(texts)
    assert (vectorizer.language, vectorizer.segment, notes) == ("en", False, ())


def test_a_language_without_stop_words():
    georgian = "საქართველოს დედაქალაქი თბილისია და იქ ბევრი ადამიანი ცხოვრობს"
    for language in ("auto", "ka"):
        corpus = vectorize(
            [georgian, georgian, "თბილისი არის ლამაზი ქალაქი"], language=language, **ALL
        )
        [note] = about_languages(corpus.notes)
        assert (note.code, note.values["languages"]) == (
            "language_without_stop_words",
            ["Georgian"],
        )


def test_a_sample_does_not_depend_on_the_order():
    rng = random.Random(0)
    texts = [f"{rng.choice(FRENCH + ENGLISH + GERMAN)} {i}" for i in range(1100)]
    found = detect_languages(texts)
    rng.shuffle(texts)
    assert found == detect_languages(texts)
    assert found.n_texts == 1000
    assert set(found.codes) == {"de", "en", "fr"}


def test_language_of_counts():
    texts = FRENCH * 3 + [
        "Elle est avec lui, mais il ne sait pas que ce sont des amis de son père."
    ]
    counts = vectorize(texts, language=None, **ALL)
    more = [w for w in sorted(stop_words("fr")) if w not in set(counts.vocabulary)][:20]
    words = np.array([*counts.vocabulary, *more], dtype=object)
    X = sp.csr_array(np.hstack([counts.X.toarray(), np.ones((len(texts), 20))]))
    corpus = filter_vocabulary(Corpus(X, words, counts.ids), **ALL)
    assert codes(corpus.notes) == ["words_in_language"]
    assert not set(corpus.vocabulary) & stop_words("fr")
    # The code 1 is in the Spanish list.
    corpus = Corpus(sp.csr_array([[1, 1, 1]]), np.array(["0", "1", "2"]), ["1"])
    assert filter_vocabulary(corpus, **ALL).vocabulary.tolist() == ["0", "1", "2"]


SPLIT = {
    "zh": ("他们检查环境变量和操作系统", ["变量", "操作", "检查", "环境", "系统"]),
    "ja": ("単一の仮想パッケージを提供する", ["パッケージ", "仮想", "単一", "提供"]),
    "th": ("ประเทศไทยมีประชากรหกสิบล้านคน", ["คน", "ประชากร", "ประเทศไทย", "ล้าน", "สิบ", "หก"]),
    "km": ("ភាសាកំណើតរបស់ប្រជាជនកម្ពុជា", ["កម្ពុជា", "កំណើត", "ប្រជាជន", "ភាសា", "របស់"]),
}


@pytest.mark.parametrize("code", SPLIT)
@pytest.mark.parametrize("given", [False, True])
def test_scripts_without_blanks(code, given):
    pytest.importorskip("icu4py")
    text, words = SPLIT[code]
    options = {"language": code} if given else {}
    corpus = vectorize([f"{text} apt-get", text], **options, **ALL)
    assert corpus.vocabulary.tolist() == ["apt", "get", *words]
    assert corpus.vectorizer.segment
    assert corpus.vectorizer.transform(["apt " + text]).toarray().tolist() == [
        [1, 0, *[1] * len(words)]
    ]


def test_wide_and_narrow_characters_are_the_same():
    pytest.importorskip("icu4py")
    texts = ["ﾃｽﾄ ＡＢＣ", "テスト abc"]
    assert vectorize(texts, language="ja", **ALL).X.toarray().tolist() == [[1, 1], [1, 1]]


def without_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "icu4py.breakers", None)


def test_without_the_library_texts_are_refused(monkeypatch):
    without_library(monkeypatch)
    with raises(MissingLibraryError, "segmentation_missing") as caught:
        vectorize([SPLIT["zh"][0], SPLIT["ja"][0]])
    assert "momentree[segmentation]" in str(caught.value)
    assert isinstance(caught.value, ImportError)
    # A model made with the library cannot be used without it either.
    with raises(MissingLibraryError, "segmentation_missing"):
        TextVectorizer.from_dict({"segment": True, "vocabulary": ["变量"]})
    # Words of another script can be counted.
    corpus = vectorize(["apt 变量环境", "apt 变量环境"], token_pattern="[a-z]+", **ALL)
    assert corpus.vocabulary.tolist() == ["apt"]


def test_without_the_library_a_few_characters_do_no_harm(monkeypatch):
    without_library(monkeypatch)
    assert (
        vectorize([*ENGLISH, "The Chinese word 变量 means variable, they said to us."], **ALL).notes
        == []
    )
    corpus = vectorize(ENGLISH * 10 + [SPLIT["zh"][0]])
    assert codes(corpus.notes)[0] == "texts_not_split"
    assert not corpus.vectorizer.segment


def test_segment_is_a_flag():
    with raises(InvalidDataError, "bad_settings"):
        TextVectorizer.from_dict({"segment": "yes"})
