"""Finds the quotable sentences of a passage, with their offsets, page and second.

A quotable sentence holds neither a time mark nor a page break, so it can be shown as it stands and
lies on one page and at one second.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag_app.marks import TIME, find_time_marks
from rag_app.query.results import Passage
from rag_app.query.terms import is_unspaced, terms
from rag_app.sentences import split_sentences

LONGEST_QUOTE = 300
"""In signs; a longer sentence is cut at a clause or a word."""

_SHORTEST_EXACT = 12  # signs; fewer may stand anywhere by chance
_LONGEST_HEADING = 80  # signs
_MOST_LINES_OF_A_HEADING = 2

_BORDER = re.compile(rf"\f|^{TIME} ", re.MULTILINE)
_HEADING_SIGN = re.compile(r"(?:^|\n)[ \t]*#{1,6}[ \t]+$")
_CLAUSE_END = re.compile(r"[,;:،؛—–][\"'”’»)]*\s+|[，；：、]")
_LEADING_NUMBER = re.compile(r"^[\d.]+\s")
_SENTENCE_MARK = re.compile("[.!?…。！？؟۔।][\"'”’»)\\]」』）]*$")


@dataclass(frozen=True)
class Span:
    """A sentence of a passage: `text == passage.text[start:end]`."""

    text: str
    start: int
    end: int
    terms: frozenset[str]
    is_heading: bool


@lru_cache(maxsize=512)
def spans_of(text: str) -> tuple[Span, ...]:
    """Return the quotable sentences of a passage's text, in order, headings marked as such."""
    found: list[Span] = []
    for start, end in split_sentences(text):
        for part_start, part_end in _without_borders(text, start, end):
            if any(sign.isalnum() for sign in text[part_start:part_end]):
                found.append(_span(text, part_start, part_end))
    return tuple(found)


def sentence_spans(passage: Passage) -> tuple[Span, ...]:
    """Return what of a passage may be quoted: its sentences, or its headings if it has no more."""
    return _quotable(passage.text, passage.page is not None)


def bounded(text: str, span: Span, is_wanted: Callable[[str], bool]) -> Span:
    """Cut a long sentence to the stretch of clauses that holds most of the wanted terms."""
    if span.end - span.start <= LONGEST_QUOTE:
        return span
    pieces = list(_pieces(text, span))
    held = [
        frozenset(term for term in terms(text[start:end]) if is_wanted(term))
        for start, end in pieces
    ]
    best = (-1, 0, 0)
    for first in range(len(pieces)):
        last = first
        while last + 1 < len(pieces) and pieces[last + 1][1] - pieces[first][0] <= LONGEST_QUOTE:
            last += 1
        gain = len(frozenset().union(*held[first : last + 1]))
        if gain > best[0]:
            best = (gain, first, last)
    _, first, last = best
    start, end = _trimmed(text, pieces[first][0], pieces[last][1])
    return _span(text, start, end)


def find_exact(text: str, words: str) -> Span | None:
    """Find words in a text sign by sign, but for white space; None when a mark lies between."""
    if len(words) < _SHORTEST_EXACT or len(words) > 2 * LONGEST_QUOTE:
        return None
    before = "" if is_unspaced(words[0]) else r"(?<!\w)"
    after = "" if is_unspaced(words[-1]) else r"(?!\w)"
    match = re.search(before + r"\s+".join(map(re.escape, words.split())) + after, text)
    if match is None or _BORDER.search(match.group()):
        return None
    if match.end() - match.start() > LONGEST_QUOTE:
        return None
    return _span(text, match.start(), match.end())


def joined(text: str, first: Span, second: Span) -> Span | None:
    """Return two neighbouring sentences as one, unless a mark lies between or it gets too long."""
    if second.start < first.start:
        first, second = second, first
    if second.end - first.start > LONGEST_QUOTE or _BORDER.search(text[first.end : second.start]):
        return None
    return _span(text, first.start, second.end)


def opening(passage: Passage) -> Span:
    """Return the start of a passage, for a citation whose supporting sentence was not found."""
    spans: Sequence[Span] = sentence_spans(passage)
    if not spans:
        start, end = _trimmed(passage.text, 0, min(len(passage.text), LONGEST_QUOTE))
        border = _BORDER.search(passage.text, start, end)
        return _span(passage.text, start, border.start() if border else end)
    return bounded(passage.text, spans[0], lambda _: False)


def page_of(passage: Passage, position: int) -> int | None:
    """Return the page on which the sign at `position` of a passage stands."""
    if passage.page is None:
        return None
    return passage.page + passage.text.count("\f", 0, position)


def second_of(passage: Passage, position: int) -> int | None:
    """Return the second from which the sign at `position` of a passage is spoken."""
    if passage.second is None:
        return None
    second = passage.second
    for start, _, marked in find_time_marks(passage.text):
        if start > position:
            break
        second = marked
    return second


def is_whole(text: str) -> bool:
    """Tell whether a text ends as a sentence does."""
    return _SENTENCE_MARK.search(text) is not None


@lru_cache(maxsize=512)
def _quotable(text: str, is_printed: bool) -> tuple[Span, ...]:
    spans = spans_of(text)
    statements = tuple(span for span in spans if not span.is_heading)
    if is_printed and any(is_whole(span.text) for span in statements):
        titles = frozenset(_printed_headings(text, statements))
        statements = tuple(span for span in statements if span not in titles)
    return statements or spans


def _printed_headings(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """Yield the headings of a page, which no sign marks: one or two short lines above a sentence.

    More of them in a row are rather a list or a table, and a number is rather a fact.
    """
    run: list[Span] = []
    for span in spans:
        if _may_be_heading(text, span):
            run.append(span)
            continue
        if len(run) <= _MOST_LINES_OF_A_HEADING:
            yield from run
        run = []


def _may_be_heading(text: str, span: Span) -> bool:
    before, after = text[: span.start].rpartition("\n")[2], text[span.end : span.end + 1]
    stands_alone = before.rpartition("\f")[2].strip() == "" and after == "\n"
    return (
        stands_alone
        and len(span.text) <= _LONGEST_HEADING
        and "\n" not in span.text
        and not is_whole(span.text)
        and not any(sign.isdigit() for sign in _LEADING_NUMBER.sub("", span.text))
    )


def _span(text: str, start: int, end: int) -> Span:
    words = text[start:end]
    is_heading = _HEADING_SIGN.search(text, max(0, start - 12), start) is not None
    return Span(words, start, end, frozenset(terms(words)), is_heading)


def _without_borders(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    place = start
    for border in _BORDER.finditer(text, start, end):
        yield _trimmed(text, place, border.start())
        place = border.end()
    yield _trimmed(text, place, end)


def _pieces(text: str, span: Span) -> Iterator[tuple[int, int]]:
    """Yield clauses; one that is too long for a quote falls into words, or into signs."""
    ends = [match.end() for match in _CLAUSE_END.finditer(text, span.start, span.end)]
    start = span.start
    for end in [*ends, span.end]:
        while end - start > LONGEST_QUOTE // 3:
            stop = _word_border(text, start, start + LONGEST_QUOTE // 3)
            yield start, stop
            start = stop
        if end > start:
            yield start, end
        start = end


def _word_border(text: str, start: int, stop: int) -> int:
    for place in range(stop, start + (stop - start) // 2, -1):
        if text[place - 1].isspace():
            return place
    return stop


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
