"""The conventions inside content: page breaks, time marks, headings, and where an offset lies.

A document's content is one string, so that no later step asks which kind it was:

- a form feed stands between pages, so the pages are `content.split("\\f")`;
- `[hh:mm:ss] ` at the start of a line is the time from which the following text is spoken;
- `# ` to `###### ` at the start of a line, outside fenced code, is a heading;
- a blank line ends a paragraph.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rag_app.marks import (
    PAGE_BREAK,
    PAGED_SOURCE_TYPES,
    TIME_MARK,
    TIMED_SOURCE_TYPES,
    find_headings,
    find_time_marks,
)

_LINE_ENDS = re.compile("\r\n|[\r\f\v\x85\u2028]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f\ufeff]")
_PIECE_SIGNS = 1_000_000
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Extracted:
    """What a source made of a document.

    `extraction` tells how it went: for paged sources `pages` holds one of "text", "empty",
    "garbled" and "failed" a page, and `page_labels` the printed number where it differs.
    `links` are addresses that become documents of their own: what a collection holds.
    `original` is the file behind a web address, when there is one worth keeping to show, and
    `original_suffix` what its name ends in.
    """

    title: str
    content: str
    source_type: str
    page_count: int | None = None
    duration_seconds: int | None = None
    language: str | None = None
    warnings: tuple[str, ...] = ()
    extraction: Mapping[str, object] = field(default_factory=dict)
    original: bytes | None = field(default=None, repr=False)
    original_suffix: str = ""
    links: tuple[str, ...] = ()


@dataclass(frozen=True)
class Locator:
    """Where in a document: a page, a second or a heading."""

    page: int | None = None
    second: int | None = None
    heading: str | None = None


class LocatorIndex:
    """Finds the locator of any offset; reads the content once."""

    def __init__(self, content: str, source_type: str) -> None:
        self._breaks: list[int] | None = None
        self._starts: list[int] = []
        self._values: list[int] | list[str] = []
        self._is_timed = source_type in TIMED_SOURCE_TYPES
        if source_type in PAGED_SOURCE_TYPES:
            self._breaks = [match.start() for match in re.finditer(PAGE_BREAK, content)]
        elif self._is_timed:
            marks = list(find_time_marks(content))
            self._starts = [start for start, _, _ in marks]
            self._values = [second for _, _, second in marks]
        else:
            headings = list(find_headings(content))
            self._starts = [start for start, _, _ in headings]
            self._values = [title for _, _, title in headings]

    def at(self, offset: int) -> Locator:
        """Return the locator of the sign at `offset`; a page break belongs to the page it ends."""
        if self._breaks is not None:
            return Locator(page=bisect_left(self._breaks, offset) + 1)
        place = bisect_right(self._starts, offset) - 1
        if self._is_timed:
            second = self._values[max(place, 0)] if self._values else 0
            return Locator(second=int(second))
        if place < 0:
            return Locator()
        return Locator(heading=str(self._values[place]))


def clean(text: str) -> str:
    """Remove what a source must not bring along, before an extractor adds our own marks.

    That is NUL (PostgreSQL cannot store it) and other control characters, foreign line ends and
    form feeds, and time marks that are not ours: those lose their brackets, not their words.
    """
    # by pieces, since one expression over a whole book would hold up every other thread
    return "".join(_clean(piece) for piece in _pieces(text))


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = text.find("\n", start + _PIECE_SIGNS) + 1 or len(text)
        yield text[start:end]
        start = end


def _clean(text: str) -> str:
    text = _LINE_ENDS.sub("\n", text).replace("\u2029", "\n\n")
    text = _CONTROLS.sub("", text)
    text = _SURROGATES.sub("\ufffd", text)
    return TIME_MARK.sub(r"\1:\2:\3 ", text)
