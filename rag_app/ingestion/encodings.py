"""Decodes text files: Unicode by rule, everything else by what reads as language.

A short text in an old encoding is valid in twenty others. Which of them was meant shows in what
comes out: words of one script each, in a language that can be told.
"""

import codecs
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from rag_app.language import likeliest_language

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WIDE = {4: ("utf-32-be", "utf-32-le"), 2: ("utf-16-be", "utf-16-le")}
_COUNTED_SIGNS = 5_000
_NO_TEXT = frozenset({"Cn", "Co", "Cc"})
_SAMPLE_BYTES = 200_000
_GUESSED_BYTES = 3_000  # a guess reads no better for more
# what text files are written in, the likelier first; the number is how much likelier
_GUESSES = {
    "cp1252": 0.03, "cp1251": 0.03, "gb18030": 0.03, "cp932": 0.03, "cp1250": 0.02,
    "big5": 0.02, "cp949": 0.02, "koi8_r": 0.02, "euc_jp": 0.02, "cp1253": 0.01, "cp1254": 0.01,
    "cp1255": 0.01, "cp1256": 0.01, "cp1257": 0.01, "cp874": 0.01, "koi8_u": 0.0, "cp866": 0.0,
    "iso8859_2": 0.0, "cp850": 0.0, "cp437": 0.0, "euc_kr": 0.0, "cp1258": 0.0,
}  # fmt: skip
_THAI_CONSONANTS = 0.4  # at least, of the letters of a Thai text
_CENTRAL = frozenset({"hu", "cs", "sk", "pl", "hr", "sl", "bs", "ro"})
_JAPANESE = frozenset({"cp932", "euc_jp"})
_SURE = 0.85
_CLEARLY = 5  # sound sequences a damaged one, from where a file is UTF-8 whatever is said
_RIVAL = 0.12
_FEW_BYTES = 2
# what French, German, Spanish and their neighbours write, which reads as well in other encodings
_WESTERN = frozenset("äöüßÄÖÜàâçéèêëîïôùûœæÀÂÇÉÈÊÎÔŒÆñáíóúÁÍÓÚÑ¿¡ãõåøÅØ«»“”„‘’–—…€°§·×½²³")
_CONTROL_BYTES = frozenset(range(32)) - set(b"\t\n\r\f\v\x1b\x1a")
_RARE = {
    "Cc": 3.0, "Co": 3.0, "Cn": 3.0, "Cs": 3.0,
    "So": 1.0, "Sm": 1.0, "Sc": 1.0, "Sk": 1.0, "No": 1.0,
}  # fmt: skip
_SCRIPTS = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "FULLWIDTH": "CJK", "KATAKANA-HIRAGANA": "CJK"}


@dataclass(frozen=True)
class Decoded:
    """The text of bytes; `damaged` counts places that could not be read, each shown as U+FFFD.

    `is_guess` where neither a rule nor somebody who knows said the encoding, and what comes out
    does not settle it.
    """

    text: str
    encoding: str
    damaged: int = 0
    is_guess: bool = False

    def warnings(self, name: str) -> tuple[str, ...]:
        """Return what a person should know of a file of this name, each a sentence."""
        found = []
        if self.damaged:
            places = "1 place" if self.damaged == 1 else f"{self.damaged} places"
            found.append(f'"{name}" is damaged: {places} could not be read and show as \ufffd.')
        if self.is_guess:
            found.append(
                f'The encoding of "{name}" was guessed ({self.encoding}): if letters look wrong, '
                "save it as UTF-8 and add it again."
            )
        return tuple(found)


def decode(data: bytes, declared: str | None = None) -> Decoded | None:
    """Return the text of bytes, or None when they are no text.

    `declared` is what somebody says the encoding is; it counts where the bytes do not speak.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _replacing(data, encoding)
    if wide := _wide_by_zeros(data):
        return _replacing(data, wide)
    if looks_binary(data):
        return None
    text = _try(data, "utf-8")
    if text is not None:
        return Decoded(text, "utf-8")
    nearly = _nearly_utf8(data)
    # what is said may be a habit: any bytes at all are valid in Latin-1
    is_clear = nearly is not None and nearly.damaged * _CLEARLY < _count_special(nearly.text)
    text = None if is_clear else _try(data, declared)
    if text is not None:
        return Decoded(text, declared or "")
    return nearly or _guess(data)


def looks_binary(data: bytes) -> bool:
    """Tell whether bytes hold control characters that no text has."""
    sample = data[:_SAMPLE_BYTES]
    controls = sum(byte in _CONTROL_BYTES for byte in sample)
    return controls > 0.01 * len(sample) and _wide_by_zeros(data) is None


def _replacing(data: bytes, encoding: str) -> Decoded:
    text = data.decode(encoding, "replace")
    own = data.decode(encoding, "ignore").count("\ufffd")
    return Decoded(text, encoding, damaged=text.count("\ufffd") - own)


def _wide_by_zeros(data: bytes) -> str | None:
    """Recognise UTF-32 and UTF-16 without a mark: they hold zeros, and only text comes out.

    In the wrong order of bytes little of it is text, and nearly none of it ASCII.
    """
    sample = data[:_SAMPLE_BYTES]
    zeros = sample.count(0)
    is_narrow = sample.isascii() and not _CONTROL_BYTES & set(sample) - {0}
    if len(sample) < 4 or not zeros or (is_narrow and zeros < 0.3 * len(sample)):
        return None
    for width in (4, 2):
        found = [
            (sum(sign.isascii() for sign in text), encoding)
            for encoding in _WIDE[width]
            if _is_text(text := sample[: len(sample) // width * width].decode(encoding, "replace"))
        ]
        if found:
            return max(found)[1]
    return None


def _is_text(text: str) -> bool:
    """Tell whether signs are letters of one script beside Latin, not what bytes happen to be."""
    strange = sum(
        sign not in "\n\r\t\f" and unicodedata.category(sign) in _NO_TEXT for sign in text
    )
    if strange + text.count("\ufffd") > 0.01 * len(text):
        return False
    scripts = Counter(_script(sign) for sign in text[:_COUNTED_SIGNS] if sign.isalpha())
    letters = scripts.total()
    del scripts["LATIN"]
    return sum(scripts.values()) - max(scripts.values(), default=0) <= 0.05 * letters


def _try(data: bytes, encoding: str | None) -> str | None:
    if not encoding:
        return None
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _nearly_utf8(data: bytes) -> Decoded | None:
    """Read UTF-8 that is damaged in few places: other encodings hardly ever form its sequences."""
    found = _replacing(data, "utf-8")
    is_cut = _try(data[:-1], "utf-8") or _try(data[:-2], "utf-8") or _try(data[:-3], "utf-8")
    sequences = _count_special(found.text) - found.text.count("\ufffd")
    is_utf8 = found.damaged <= sequences / 2 or (is_cut and sequences)
    return found if is_utf8 else None


def _count_special(text: str) -> int:
    return len(text) - len(text.encode("ascii", "ignore"))


def _guess(data: bytes) -> Decoded:
    sample = _telling_part(data)
    if sum(byte > 127 for byte in sample) <= _FEW_BYTES:
        # a name with an accent in an English text: too little to tell a language by
        found = _replacing(data, "cp1252")
        return Decoded(found.text, "cp1252", found.damaged, is_guess=True)
    ranked = sorted(
        (
            (_plausibility(sample, encoding) + prior, encoding)
            for encoding, prior in _GUESSES.items()
        ),
        key=lambda pair: -pair[0],
    )
    score, encoding = ranked[0]
    found = _replacing(data, encoding)
    text = sample.decode(encoding, "replace")
    is_western = encoding == "cp1252" and _WESTERN.issuperset(s for s in text if not s.isascii())
    has_rival = any(
        value > score - _RIVAL and sample.decode(other, "replace") != text
        for value, other in ranked[1:]
    )
    is_guess = score < _SURE or (has_rival and not is_western)
    return Decoded(found.text, encoding, found.damaged, is_guess)


def _telling_part(data: bytes) -> bytes:
    """Return the first lines that are not ASCII, as far as they tell something."""
    lines: list[bytes] = []
    size = 0
    for line in data[:_SAMPLE_BYTES].splitlines():
        if line.isascii():
            continue
        lines.append(line[:_GUESSED_BYTES])
        size += len(lines[-1])
        if size >= _GUESSED_BYTES:
            break
    return b"\n".join(lines)


def _plausibility(sample: bytes, encoding: str) -> float:
    """Return how much bytes read as language in an encoding: about 1 for surely, 0 for not."""
    text = sample.decode(encoding, "replace")
    special = [sign for sign in text if not sign.isascii()]
    if not special:
        return 0.0
    strange = sum(_RARE.get(unicodedata.category(sign), 0.0) for sign in special)
    strange += 6.0 * text.count("\ufffd")  # a byte that the encoding does not have
    words = list(_words(text))
    mixed = sum(len(set(map(_script, word))) > 1 for word in words)
    shouting = sum(any(a.islower() and b.isupper() for a, b in pairwise(word)) for word in words)
    language, certainty = likeliest_language(text)
    score = certainty - strange / len(special)
    score -= (mixed + shouting) / max(1, sum(not word.isascii() for word in words))
    # the Chinese and Korean codes hold Japanese syllables too, at the very places of Japanese ones
    if encoding not in _JAPANESE and any("\u3041" <= sign <= "\u3096" for sign in special):
        score -= 0.5
    # Hebrew and Cyrillic turn into vowels of Thai, which has none without a consonant
    consonants = sum("\u0e01" <= sign <= "\u0e2e" for sign in special)
    if encoding == "cp874" and consonants < _THAI_CONSONANTS * len(special):
        score -= 0.5
    # three letters of Turkish turn into three that only Icelandic has
    if language == "tr" and encoding != "cp1254":
        score -= 0.1
    # Latin-1 lacks letters of these, and turns them into others of its own
    if language in _CENTRAL and encoding not in {"cp1250", "iso8859_2"}:
        score -= 0.1
    return score


def _words(text: str) -> Iterator[str]:
    word = ""
    for sign in text + " ":
        if sign.isalpha():
            word += sign
        elif word:
            yield word
            word = ""


def _script(sign: str) -> str:
    name = unicodedata.name(sign, "?").split(" ")[0]
    return _SCRIPTS.get(name, name)
