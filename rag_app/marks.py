"""The marks inside content: page breaks, the seconds of what is spoken, headings."""

import re
from collections.abc import Iterator

PAGE_BREAK = "\f"

# which marks place what a document says; without either it is its headings
PAGED_SOURCE_TYPES = frozenset({"pdf", "slides"})
TIMED_SOURCE_TYPES = frozenset({"youtube", "subtitles"})

TIME = r"\[\d{2,3}:[0-5]\d:[0-5]\d\]"
"""A time as a mark writes it; one only where it opens a line and a space follows."""

TIME_MARK = re.compile(r"^\[(\d{2,3}):([0-5]\d):([0-5]\d)\] ", re.MULTILINE)

_HEADING_OR_FENCE = re.compile(
    r"^(?:(?P<fence>`{3,}|~{3,})(?P<info>.*)|#{1,6}[ \t]+(?P<title>.*))$", re.MULTILINE
)
LONGEST_HEADING = 1000
_INLINE_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")


def time_mark(second: int) -> str:
    """Write a time mark, with the space that ends it."""
    return f"[{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}] "


def find_time_marks(content: str) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and second of each time mark."""
    for match in TIME_MARK.finditer(content):
        hours, minutes, seconds = (int(part) for part in match.groups())
        yield match.start(), match.end(), hours * 3600 + minutes * 60 + seconds


def find_headings(content: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and text of each heading, leaving out what stands in fenced code."""
    fence = ""
    for match in _HEADING_OR_FENCE.finditer(content):
        mark = match["fence"]
        if mark:
            if not fence:
                fence = mark
            elif mark.startswith(fence) and not match["info"].strip():
                fence = ""
        elif not fence and (title := _plain_heading(match["title"])):
            yield match.start(), match.end(), title


def heading_at(content: str, offset: int) -> str | None:
    """Return the heading under which, or in which, the sign at `offset` stands."""
    found = None
    for start, _, title in find_headings(content):
        if start > offset:
            break
        found = title
    return found


def _plain_heading(markdown: str) -> str:
    # a longer line is no heading of a person; brackets without end in it would take very long
    text = re.sub(r"(^|[ \t])#+[ \t]*$", "", markdown[:LONGEST_HEADING])
    text = _INLINE_LINK.sub(r"\1", text)
    return re.sub(r"\*\*|__|`", "", text).strip()
