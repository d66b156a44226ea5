"""Turns text into terms that can be compared across inflection, accents and scripts.

This is for the few dozen sentences of a context, in memory; the full-text leg has PostgreSQL's own
dictionaries. Inflection is met by comparing words (`closeness`) instead of stemming them, since no
stemmer for all languages can be had without a package each.
"""

import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache

from rag_app.query.function_words import (
    ALL_FUNCTION_WORDS,
    FUNCTION_WORDS,
    UNSPACED_FUNCTION_WORDS,
)

CLOSE = 0.8
"""From this closeness on, two terms count as the same word."""

_INVISIBLE = re.compile("[\u00ad\u0640\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff]")
# Scripts written without spaces are cut into bigrams. Hangul is not among them: its syllables fold
# to letters, so that a word with another particle shares most of its start.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003134f"
)
_INDIC = "\u0900-\u0dff"  # its vowel signs are no letters to `re`, but parts of words
_DIGITS = rf"[^\W{_UNSPACED}]*\d[^\W{_UNSPACED}]*"
_TOKEN = re.compile(
    rf"(?P<unspaced>[{_UNSPACED}]+)"
    rf"|(?P<code>{_DIGITS}(?:[.,:/_-]{_DIGITS})*(?:[-_][^\W\d_{_UNSPACED}]{{1,2}}\b)?)"
    rf"|(?P<word>(?:[^\W\d_{_UNSPACED}]|[{_INDIC}])+)"
)
_PAIR = re.compile(r"(\d+)[-/:](\d+)")  # 2015-16, 3:2; three parts are a date or a code
_COUNTED = re.compile(r"([\d.]+)[^\W\d_]{1,3}")  # 16th, 1990er, 5kg
_THOUSANDS = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_ARABIC_PREFIX = re.compile("(?:[وف]?(?:[بك]?ال|لل))(?=.{3})|[وف](?=.{4})")
_ARABIC_PARTICLE = re.compile("^[بكلس](?=.{3})")  # "with", "as", "for", "will": written to the word
_ARABIC_VOWELS = re.compile("[اويىءئؤ]")
_ARABIC_SUFFIX = re.compile(
    "(?<=.{3})(?:يتها|يته|تها|تهم|ته|ات|ون|ين|ان|ها|هم|نا|كم|ية|يه|يا|ة|ه|ي)$"
)


def fold(text: str) -> str:
    """Fold case, width, accents, ligatures and invisible signs; digits become ASCII."""
    text = unicodedata.normalize("NFKD", _INVISIBLE.sub("", text).casefold())
    return "".join(_folded(sign) for sign in text)


def terms(text: str) -> list[str]:
    """Return the terms of a text in order: words, numbers, codes, and bigrams of unspaced runs."""
    found: list[str] = []
    for match in _TOKEN.finditer(fold(text)):
        if match["unspaced"]:
            found.extend(_bigrams(match["unspaced"]))
        elif match["code"]:
            found.extend(_numbers(match["code"]))
        else:
            found.append(match["word"])
    return found


def content_terms(text: str, language: str | None = None) -> list[str]:
    """Return the terms that carry a subject: no function words, each once, in order.

    Without a language the function words of every language are left out. A text of nothing but
    function words ("The Who?") keeps them all, since they must be what it is about.
    """
    function_words = FUNCTION_WORDS.get((language or "")[:2], ALL_FUNCTION_WORDS)
    found = [
        term
        for term in terms(_without_unspaced_function_words(text))
        if term not in function_words and not (len(term) == 1 and term.isascii() and term.isalpha())
    ]
    return list(dict.fromkeys(found or terms(text)))


@lru_cache(maxsize=50_000)
def is_number(term: str) -> bool:
    """Tell whether a term holds a digit: a number, a date, a version, a code."""
    return any(sign.isdigit() for sign in term)


@lru_cache(maxsize=200_000)
def closeness(first: str, second: str) -> float:
    """Return how surely two terms are forms of one word, 0 to 1.

    Numbers and codes are the same or not at all, so 2.10.3 is never 2.10.4.
    """
    if first == second:
        return 1.0
    if is_number(first) or is_number(second):
        return 0.9 if _quantity(first) == _quantity(second) else 0.0
    shorter, longer = _stripped(first), _stripped(second)
    if shorter != longer and not _consonants(shorter).isdisjoint(_consonants(longer)):
        return 0.85
    if len(shorter) > len(longer):
        shorter, longer = longer, shorter
    if shorter[0] != longer[0]:
        is_part = len(shorter) >= 5 and shorter in longer and not is_unspaced(shorter)
        return 0.6 if is_part else 0.0  # the end of a compound
    if shorter == longer:
        return 0.95
    if is_unspaced(shorter):
        return 0.0
    prefix = _common_prefix(shorter, longer)
    if prefix == len(shorter) and prefix >= 3 and len(longer) - prefix <= 2:
        return 0.9
    if prefix >= 4 and prefix >= 0.6 * len(longer):
        return 0.85
    if prefix >= 5 and prefix >= 0.75 * len(shorter):
        return 0.6  # the start of a compound, or two compounds that share it
    return 0.6 if len(shorter) >= 5 and shorter in longer else 0.0


def best_closeness(term: str, others: Collection[str]) -> float:
    """Return the closeness of a term to the nearest of others."""
    if term in others:
        return 1.0
    return max((closeness(term, other) for other in others), default=0.0)


def rarity(wanted: Iterable[str], texts: Collection[Collection[str]]) -> dict[str, float]:
    """Return the idf of each wanted term over texts given as terms."""
    vocabulary = frozenset().union(*texts)
    weights: dict[str, float] = {}
    for term in wanted:
        forms = {other for other in vocabulary if closeness(term, other) >= CLOSE}
        count = sum(not forms.isdisjoint(text) for text in texts)
        weights[term] = math.log(1 + (len(texts) - count + 0.5) / (count + 0.5))
    return weights


def coverage(weights: Mapping[str, float], text_terms: Collection[str]) -> float:
    """Return the share of the weighted terms that a text holds, 0 to 1."""
    total = math.fsum(weights.values())
    if total == 0:
        return 0.0
    held = math.fsum(
        weight * closest
        for term, weight in weights.items()
        if (closest := best_closeness(term, text_terms)) > 0
    )
    return held / total


@lru_cache(maxsize=1024)
def _folded(sign: str) -> str:
    if sign.isdigit():
        return str(unicodedata.digit(sign, sign))
    category = unicodedata.category(sign)
    # in Indic scripts combining signs are vowels, in Thai and Japanese they change the word
    if category == "Mn" and ord(sign) < 0x0900:
        return ""
    return sign


def _bigrams(run: str) -> Iterator[str]:
    run = unicodedata.normalize("NFC", run)  # fold took voiced kana apart
    if len(run) == 1:
        yield run
    for place in range(len(run) - 1):
        yield run[place : place + 2]


def _without_unspaced_function_words(text: str) -> str:
    if text.isascii():
        return text
    for word in UNSPACED_FUNCTION_WORDS:
        text = text.replace(word, " ")
    return text


def _numbers(code: str) -> tuple[str, ...]:
    if pair := _PAIR.fullmatch(code):
        return pair.groups()
    if _THOUSANDS.fullmatch(code):
        return (re.sub("[.,]", "", code),)
    if re.fullmatch(r"\d+,\d+", code):
        return (code.replace(",", "."),)
    return (code,)


def _quantity(term: str) -> str:
    counted = _COUNTED.fullmatch(term)
    return counted[1] if counted else term


@lru_cache(maxsize=50_000)
def is_unspaced(term: str) -> bool:
    """Tell whether a term begins in a script without spaces between words."""
    return re.match(f"[{_UNSPACED}]", term) is not None


@lru_cache(maxsize=50_000)
def _stripped(term: str) -> str:
    if not _is_arabic(term):
        return term
    return _ARABIC_SUFFIX.sub("", _ARABIC_PREFIX.sub("", term, count=1))


@lru_cache(maxsize=50_000)
def _consonants(term: str) -> frozenset[str]:
    """Return an Arabic word's consonants, with and without a particle before it; else nothing.

    Long vowels come and go between the forms of a word: a plural, a participle, a noun of its verb.
    """
    if not _is_arabic(term):
        return frozenset()
    forms = (term, _ARABIC_PARTICLE.sub("", term))
    bare = (_ARABIC_VOWELS.sub("", form) for form in forms)
    return frozenset(form for form in bare if len(form) >= 3)


def _is_arabic(term: str) -> bool:
    return "\u0600" <= term[0] <= "\u06ff"


def _common_prefix(first: str, second: str) -> int:
    length = 0
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        length += 1
    return length
