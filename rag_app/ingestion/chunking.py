"""Splits content into chunks: at pages and headings, then paragraphs, sentences and words."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rag_app.ingestion.content import LocatorIndex
from rag_app.marks import (
    PAGE_BREAK,
    PAGED_SOURCE_TYPES,
    TIME_MARK,
    TIMED_SOURCE_TYPES,
    find_headings,
    find_time_marks,
)
from rag_app.sentences import split_sentences

CountTokens = Callable[[str], int]

_PARAGRAPH_BREAK = re.compile(r"\n[ \t]*\n")
_SMALL_SECTION = 0.25  # of the size: below it the next section joins, so no heading stands alone
_FULL_ENOUGH = 0.6  # of the size: from here on the end of a paragraph is a good place to stop
_PREFIX_SIGNS = 160  # of title and heading each, so that the model's 512 tokens are enough


@dataclass(frozen=True)
class ChunkText:
    """A slice of content: `text == content[start:end]`, in code points."""

    ordinal: int
    text: str
    start: int
    end: int
    page: int | None
    second: int | None
    heading: str | None
    tokens: int


@dataclass(frozen=True)
class _Atom:
    """A sentence, or a piece of one too long; what opens its line belongs to it."""

    start: int
    end: int
    tokens: int
    ends_paragraph: bool


def split(
    content: str,
    source_type: str,
    *,
    count_tokens: CountTokens,
    size: int = 450,
    overlap: int = 60,
) -> list[ChunkText]:
    """Split content into chunks of about `size` tokens, in order.

    A chunk of a paged source lies on one page, one of a transcript starts at a time mark. Within
    a page or section neighbours share up to `overlap` tokens of whole sentences. Tokens are
    counted once a sentence and added up.
    """
    index = LocatorIndex(content, source_type)
    chunks: list[ChunkText] = []
    for section in _sections(content, source_type, count_tokens, size):
        for atoms in _pack(section, size, overlap):
            start, end = atoms[0].start, atoms[-1].end
            place = index.at(start)
            chunks.append(
                ChunkText(
                    ordinal=len(chunks),
                    text=content[start:end],
                    start=start,
                    end=end,
                    page=place.page,
                    second=place.second,
                    heading=place.heading,
                    tokens=sum(atom.tokens for atom in atoms),
                )
            )
    return chunks


def embedding_text(title: str, heading: str | None, text: str) -> str:
    """Return what is embedded for a chunk: its title and heading, then its words."""
    words = TIME_MARK.sub("", text)
    names = [name[:_PREFIX_SIGNS].strip() for name in (title, heading or "")]
    lines = [name for name in dict.fromkeys(names) if name and not words.startswith(name)]
    return "\n".join([*lines, words])


def _sections(
    content: str, source_type: str, count_tokens: CountTokens, size: int
) -> Iterator[list[_Atom]]:
    """Yield the atoms of each stretch that chunks stay inside."""
    if source_type in PAGED_SOURCE_TYPES:
        borders = [match.end() for match in re.finditer(PAGE_BREAK, content)]
    elif source_type in TIMED_SOURCE_TYPES:
        borders = []
    else:
        borders = [start for start, _, _ in find_headings(content)]
    small = 0 if source_type in PAGED_SOURCE_TYPES else size * _SMALL_SECTION
    section: list[_Atom] = []
    for start, end in _between(0, [*borders, len(content)]):
        atoms = list(_atoms(content, start, end, source_type, count_tokens, size))
        if section and sum(atom.tokens for atom in section) >= small:
            yield section
            section = []
        section = [*section, *atoms]
    if section:
        yield section


def _atoms(
    content: str,
    start: int,
    end: int,
    source_type: str,
    count_tokens: CountTokens,
    size: int,
) -> Iterator[_Atom]:
    for paragraph_start, paragraph_end in _paragraphs(content, start, end):
        if source_type in TIMED_SOURCE_TYPES:
            spans = list(_marked_lines(content, paragraph_start, paragraph_end))
        else:
            spans = list(_whole_sentences(content, paragraph_start, paragraph_end))
        for place, (span_start, span_end) in enumerate(spans, 1):
            tokens = count_tokens(content[span_start:span_end])
            is_last = place == len(spans)
            if tokens <= size:
                yield _Atom(span_start, span_end, tokens, is_last)
            else:
                yield from _pieces(content, span_start, span_end, tokens, size, count_tokens)


def _paragraphs(content: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    breaks = [match.end() for match in _PARAGRAPH_BREAK.finditer(content, start, end)]
    for piece_start, piece_end in _between(start, [*breaks, end]):
        text = content[piece_start:piece_end]
        body = text.strip()
        if body:
            first = piece_start + len(text) - len(text.lstrip())
            yield first, first + len(body)


def _whole_sentences(content: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield spans that together hold every sign of a paragraph but the white space between.

    A bullet or heading sign goes with the sentence after it, a stray sign with the one before.
    """
    text = content[start:end]
    begin = 0
    spans = [span for span in split_sentences(text) if _has_words(text, *span)]
    for place, (_, stop) in enumerate(spans):
        stop = len(text) if place == len(spans) - 1 else stop
        while text[begin].isspace():
            begin += 1
        yield start + begin, start + stop
        begin = stop
    if not spans:
        yield start, end


def _has_words(text: str, start: int, end: int) -> bool:
    return any(sign.isalnum() for sign in text[start:end])


def _marked_lines(content: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    marks = [start + place for place, _, _ in find_time_marks(content[start:end])]
    for piece_start, piece_end in _between(start, [*marks, end]):
        if content[piece_start:piece_end].strip():
            yield piece_start, piece_start + len(content[piece_start:piece_end].rstrip())


def _pieces(
    content: str, start: int, end: int, tokens: int, size: int, count_tokens: CountTokens
) -> Iterator[_Atom]:
    """Cut a sentence that is too long at words, or within them where there are no spaces.

    The length of a piece is judged by the mean length of a token, halved where that was wrong.
    """
    signs = max(1, (end - start) * size // (tokens + 1))
    while start < end:
        stop = min(end, start + signs)
        while True:
            if stop < end:
                stop = _word_border(content, start, stop)
            count = count_tokens(content[start:stop])
            if count <= size or stop - start < 2:
                break
            stop = start + (stop - start) // 2
        body = content[start:stop].rstrip()
        yield _Atom(start, start + len(body), count, stop == end)
        start = stop
        while start < end and content[start].isspace():
            start += 1


def _word_border(content: str, start: int, stop: int) -> int:
    for place in range(stop, start + (stop - start) // 2, -1):
        if content[place].isspace() and not content[place - 1].isspace():
            return place
    return stop


def _pack(atoms: Sequence[_Atom], size: int, overlap: int) -> Iterator[list[_Atom]]:
    """Fill chunks with atoms; the end of a chunk comes again at the start of the next."""
    chunk: list[_Atom] = []
    tokens = 0
    is_new = False
    for place, atom in enumerate(atoms):
        at_border = bool(chunk) and chunk[-1].ends_paragraph and tokens >= size * _FULL_ENOUGH
        is_full = tokens + atom.tokens > size
        if is_new and (is_full or (at_border and tokens + _paragraph(atoms, place) > size)):
            yield chunk
            chunk = _tail(chunk, min(overlap, size - atom.tokens))
            tokens = sum(kept.tokens for kept in chunk)
        chunk.append(atom)
        tokens += atom.tokens
        is_new = True
    if chunk:
        yield chunk


def _paragraph(atoms: Sequence[_Atom], place: int) -> int:
    """Add up the tokens from an atom to the end of its paragraph."""
    total = 0
    for atom in atoms[place:]:
        total += atom.tokens
        if atom.ends_paragraph:
            break
    return total


def _tail(chunk: Sequence[_Atom], overlap: int) -> list[_Atom]:
    kept: list[_Atom] = []
    tokens = 0
    for atom in reversed(chunk[1:]):
        tokens += atom.tokens
        if tokens > overlap:
            break
        kept.insert(0, atom)
    return kept


def _between(start: int, ends: Sequence[int]) -> Iterator[tuple[int, int]]:
    for end in ends:
        if end > start:
            yield start, end
            start = end
