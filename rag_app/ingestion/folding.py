"""Finds a quote in a page's text although both were written down differently."""

import unicodedata

_DROPPED = frozenset("\u00ad\u0002\ufffe-\u2010\u2011\u200b\u200c\u200d\u200e\u200f\ufeff")
_ANCHOR = 40  # folded signs at each end that find a quote whose middle differs


def fold(text: str) -> tuple[str, list[int]]:
    """Return the text without case, white space, hyphens and ligatures, and each sign's offset."""
    signs: list[str] = []
    offsets: list[int] = []
    for place, sign in enumerate(text):
        if sign in _DROPPED or sign.isspace():
            continue
        folded = sign.casefold() if sign < "\x80" else _fold_sign(sign)
        for part in folded:
            signs.append(part)
            offsets.append(place)
    return "".join(signs), offsets


def find_folded(text: str, quote: str, before: str = "") -> tuple[int, int] | None:
    """Return start and end of a quote in a text, or None.

    Of several places the one nearest to where `before`, the words that precede the quote, ends.
    """
    folded, offsets = fold(text)
    needle = fold(quote)[0]
    if not needle:
        return None
    expected = len(fold(before)[0])
    start = _nearest(folded, needle, expected)
    if start is not None:
        stop = start + len(needle)
    else:
        head, tail = needle[:_ANCHOR], needle[-_ANCHOR:]
        start = _nearest(folded, head, expected)
        end = _nearest(folded, tail, expected + len(needle) - len(tail))
        if start is None or end is None or not start <= end <= start + 2 * len(needle):
            return None
        stop = end + len(tail)
    return offsets[start], offsets[stop - 1] + 1


def _fold_sign(sign: str) -> str:
    decomposed = unicodedata.normalize("NFKD", sign).casefold()
    # accents may stand alone on one side and be part of their letter on the other
    return "".join(
        part for part in decomposed if not part.isspace() and not unicodedata.combining(part)
    )


def _nearest(text: str, needle: str, expected: int) -> int | None:
    before = text.rfind(needle, 0, max(0, expected - 1 + len(needle)))
    after = text.find(needle, expected)
    around = [place for place in (before, after) if place >= 0]
    return min(around, key=lambda place: abs(place - expected), default=None)
