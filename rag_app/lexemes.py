"""Prepares text for PostgreSQL's text-search parser, the same way for documents and questions."""

import re
import unicodedata

# scripts written without spaces: the parser takes a whole run of them for one word
_UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f"  # Myanmar
    "\u1780-\u17ff"  # Khmer
    "\u3040-\u30ff"  # Hiragana, Katakana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\uac00-\ud7af"  # Hangul: particles stick to the stem
    "\U00020000-\U0002fa1f"  # Han, supplementary
)
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")
_INVISIBLE = re.compile("[\u00ad\u0002\ufffe\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_LINE_HYPHEN = re.compile(r"(?<=\w)-\n(?=\w)")


def lexical_text(text: str) -> str:
    """Return text in which every word can be found.

    Compatibility forms are unified (NFKC), invisible marks dropped, words broken at line ends
    joined, and runs of scripts without spaces cut into overlapping pairs of characters.
    """
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))
    return _UNSPACED_RUN.sub(_bigrams, _LINE_HYPHEN.sub("", text))


def _bigrams(run: re.Match[str]) -> str:
    characters = run[0]
    if len(characters) == 1:
        return f" {characters} "
    pairs = (characters[i : i + 2] for i in range(len(characters) - 1))
    return f" {' '.join(pairs)} "
