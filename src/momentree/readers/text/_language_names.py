"""English names of the languages that are recognized, by ISO 639-1 code."""

from __future__ import annotations

_NAMES = """
af:Afrikaans am:Amharic ar:Arabic az:Azerbaijani be:Belarusian bg:Bulgarian bn:Bengali br:Breton
ca:Catalan cs:Czech cy:Welsh da:Danish de:German el:Greek en:English eo:Esperanto es:Spanish
et:Estonian eu:Basque fa:Persian fi:Finnish fr:French ga:Irish gl:Galician gu:Gujarati ha:Hausa
he:Hebrew hi:Hindi hr:Croatian hu:Hungarian hy:Armenian id:Indonesian is:Icelandic it:Italian
ja:Japanese ka:Georgian kk:Kazakh km:Khmer kn:Kannada ko:Korean ku:Kurdish la:Latin lo:Lao
lt:Lithuanian lv:Latvian mk:Macedonian ml:Malayalam mn:Mongolian mr:Marathi ms:Malay my:Burmese
ne:Nepali nl:Dutch no:Norwegian pa:Punjabi pl:Polish ps:Pashto pt:Portuguese ro:Romanian
ru:Russian si:Sinhala sk:Slovak sl:Slovenian so:Somali sq:Albanian sr:Serbian st:Sotho
sv:Swedish sw:Swahili ta:Tamil te:Telugu th:Thai tl:Tagalog tr:Turkish uk:Ukrainian ur:Urdu
uz:Uzbek vi:Vietnamese xh:Xhosa yo:Yoruba zh:Chinese zu:Zulu
"""
NAMES: dict[str, str] = {
    code: name for code, _, name in (entry.partition(":") for entry in _NAMES.split())
}

ALSO_CALLED = {
    "nb": "no",
    "nn": "no",
    "wuu": "zh",
    "yue": "zh",
    "cmn": "zh",
    "bs": "hr",
    "iw": "he",
}
"""Other codes, and languages so close that they share a list of stop words."""
