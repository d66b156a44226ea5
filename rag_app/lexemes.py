"""Prepares text for PostgreSQL's text-search parser, for documents and for questions.

The parser alone takes a run of Chinese for one word, keeps `café` apart from `cafe`, and reads the
identifier `ERR_4012-B` as three words. Here runs of unspaced scripts become pairs of characters,
documents also get their words without accents, and an identifier becomes its parts and itself as
one word that the parser leaves whole.
"""

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
_INVISIBLE = re.compile("[\u00ad\u0002\ufffe\u0640\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_ARABIC_MARKS = re.compile("[\u064b-\u0652\u0670]")
_LINE_HYPHEN = re.compile(r"(?<=\w)-\n(?=\w)")

_PART = rf"[^\W_{_UNSPACED}]+"
_IDENTIFIER = re.compile(rf"(?<![\w.]){_PART}(?:[-_./:@\\]{_PART})+(?!\w)")
# possessive, and only from the start of a run: no long run is read again from each of its signs
_SECTION = re.compile(r"(?<!§)§++\s*+(\d++\s?[a-z]?)\b", re.IGNORECASE)
_SIGNED = re.compile(r"\b([A-Za-z])(\+\+|#)(?!\w)")
_SEPARATORS = re.compile(r"[-_./:@\\]")
IDENTIFIER = "x0"
"""What the words begin with that stand for an identifier as a whole."""

_SHORTEST_NUMBER = 8  # digits: an ISBN, a phone or an account number, also without its hyphens

_LETTERS = r"[^\W\d_]"
# × and ÷ stand among the accented letters and join what they stand between
_WORD = re.compile(f"{_LETTERS}*+[\u00d7\u00f7]{_LETTERS}*+|{_LETTERS}++")
_SPACE_OR_WORD = re.compile(r"\s+|\S{1,1000}")
_ACCENTED = re.compile("[\u00c0-\u024f\u1e00-\u1eff]")


def read_lexeme(lexeme: str) -> str:
    """Return a lexeme as a person reads it; an identifier's stands for it as a whole."""
    if not lexeme.startswith(IDENTIFIER):
        return lexeme
    return lexeme.removeprefix(IDENTIFIER).replace("q0", "-")


def document_text(text: str) -> str:
    """Return a document's text in every form under which a question may look for it."""
    text = question_text(text)
    words = (word for word in _WORD.findall(text) if _ACCENTED.search(word))
    folded = {fold_accents(word) for word in words}
    return f"{text}\n{' '.join(sorted(folded))}" if folded else text


def question_text(text: str) -> str:
    """Return a question's text, each word in one form.

    Compatibility forms are unified (NFKC), invisible marks dropped, words broken at line ends
    joined, identifiers and scripts without spaces made findable.
    """
    text = _unify(_INVISIBLE.sub("", text))
    text = _ARABIC_MARKS.sub("", _LINE_HYPHEN.sub("", text))
    text = _IDENTIFIER.sub(_identifier, text)
    text = _SECTION.sub(_section, text)
    text = _SIGNED.sub(_signed, text)
    return _UNSPACED_RUN.sub(_bigrams, text)


def fold_accents(word: str) -> str:
    """Return a Latin word without its accents."""
    letters = unicodedata.normalize("NFD", word)
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _unify(text: str) -> str:
    """Return a text in compatibility form (NFKC), word by word.

    The marks on one letter are sorted by swapping neighbours, endlessly for very many.
    """
    return "".join(unicodedata.normalize("NFKC", word) for word in _SPACE_OR_WORD.findall(text))


def _identifier(match: re.Match[str]) -> str:
    """Return an identifier as its parts and as one word; a hyphenated word stays as it is."""
    whole = match[0]
    parts = _SEPARATORS.split(whole)
    has_digit = any(character.isdigit() for character in whole)
    if not has_digit and set(_SEPARATORS.findall(whole)) == {"-"}:
        return whole
    # letters stand for the separators, so that no dictionary takes the word apart or stems it
    forms = [*parts, f"{IDENTIFIER}{'q0'.join(parts)}"]
    if all(part.isdigit() for part in parts) and sum(map(len, parts)) >= _SHORTEST_NUMBER:
        forms.append("".join(parts))
    return f" {' '.join(forms)} "


def _section(match: re.Match[str]) -> str:
    return f" {match[1]} {IDENTIFIER}section{''.join(match[1].split())} "


def _signed(match: re.Match[str]) -> str:
    return f" {match[1]} {IDENTIFIER}{match[1]}{'plus' if match[2] == '++' else 'sharp'} "


def _bigrams(run: re.Match[str]) -> str:
    characters = run[0]
    if len(characters) == 1:
        return f" {characters} "
    pairs = (characters[i : i + 2] for i in range(len(characters) - 1))
    return f" {' '.join(pairs)} "
