"""The place behind a citation: the words around a quote, its page, its second."""

import asyncio
import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag_app.database.session import Database
from rag_app.errors import NotFoundError
from rag_app.library.links import passage_link
from rag_app.marks import TIMED_SOURCE_TYPES, find_time_marks, heading_at

AROUND_CHARACTERS = 1500

VERSION = """
select v.id, v.document_id, v.content, v.language, v.page_count, v.duration_seconds,
       v.extraction, v.file_key, d.title, d.uri, d.source_type
from document_version v join document d on d.id = v.document_id
where v.workspace_id = %(workspace_id)s and d.removed_at is null
"""

NEWEST = """
 and v.document_id = %(document_id)s
 and exists (select 1 from membership m where m.version_id = v.id and m.removed_in is null)
order by v.id desc limit 1
"""


# the texts that questions saw of a document, the newest first
TEXTS = """
select v.content from document_version v join document d on d.id = v.document_id
where v.workspace_id = %(workspace_id)s and v.document_id = %(document_id)s
  and d.removed_at is null
  and exists (select 1 from membership m where m.version_id = v.id)
order by (select max(m.added_in) from membership m where m.version_id = v.id) desc limit 2
"""


@dataclass(frozen=True)
class Version:
    """A stored version: its text, and the key of its file when it has one."""

    id: int
    document_id: int
    title: str
    uri: str
    source_type: str
    content: str
    language: str
    file_key: str | None
    page_count: int | None
    duration_seconds: int | None
    extraction: Mapping[str, Any]


@dataclass(frozen=True)
class TranscriptLine:
    """A paragraph of a transcript and the second from which it is spoken."""

    second: int
    text: str
    marked: bool


@dataclass(frozen=True)
class Evidence:
    """A quote in its surroundings; `before + quote + after` is one slice of the content.

    For a document opened at a place without a quote, `quote` is empty.
    """

    document_id: int
    version_id: int
    title: str
    uri: str
    source_type: str
    link: str
    page: int | None
    page_label: str | None
    page_count: int | None
    second: int | None
    duration_seconds: int | None
    heading: str | None
    before: str
    quote: str
    after: str
    start: int
    end: int
    lines: tuple[TranscriptLine, ...]


async def get_version(database: Database, workspace_id: int, version_id: int) -> Version:
    """Return a version whose document is still in the library."""
    return await _load(
        database,
        VERSION + " and v.id = %(version_id)s",
        {"workspace_id": workspace_id, "version_id": version_id},
    )


async def newest_version(database: Database, workspace_id: int, document_id: int) -> Version:
    """Return the newest published version of a document."""
    return await _load(
        database, VERSION + NEWEST, {"workspace_id": workspace_id, "document_id": document_id}
    )


async def last_change(database: Database, workspace_id: int, document_id: int) -> list[str]:
    """Return what changed between the last two versions, as lines of a unified diff.

    Empty where there was one version only. Raises NotFoundError for what is not in the library.
    """
    async with database.connection() as connection:
        values = {"workspace_id": workspace_id, "document_id": document_id}
        rows = await (await connection.execute(TEXTS, values)).fetchall()
    if not rows:
        raise NotFoundError(f"There is no document {document_id} in this library.")
    if len(rows) == 1:
        return []
    after, before = (row["content"].splitlines() for row in rows)
    # comparing two long books takes seconds
    return await asyncio.to_thread(
        lambda: list(difflib.unified_diff(before, after, "before", "now", lineterm="", n=1))
    )


async def open_evidence(
    database: Database, workspace_id: int, *, version_id: int, start: int, end: int
) -> Evidence:
    """Return the surroundings of `start:end` in a version's content."""
    version = await get_version(database, workspace_id, version_id)
    return build_evidence(version, start, end)


async def open_document(
    database: Database,
    workspace_id: int,
    document_id: int,
    *,
    page: int | None = None,
    second: int | None = None,
    start: int | None = None,
) -> Evidence:
    """Return a document's newest text at a page, a second or an offset; its beginning without."""
    version = await newest_version(database, workspace_id, document_id)
    content = version.content
    if page is not None:
        offset = page_span(content, page)[0]
    elif second is not None:
        offset = second_offset(content, second)
    else:
        offset = min(max(start or 0, 0), len(content))
    return build_evidence(version, offset, offset)


def build_evidence(version: Version, start: int, end: int) -> Evidence:
    """Cut the surroundings of `start:end` out of a loaded version."""
    content = version.content
    start = min(max(start, 0), len(content))
    end = min(max(end, start), len(content))
    paged = version.page_count is not None
    page = content.count("\f", 0, start) + 1 if paged else None
    first, last = _surroundings(content, start, end)
    lines = (
        transcript_lines(content, start, end) if version.source_type in TIMED_SOURCE_TYPES else ()
    )
    second = _second_at(content, start) if lines else None
    labels = version.extraction.get("page_labels") or []
    return Evidence(
        document_id=version.document_id,
        version_id=version.id,
        title=version.title,
        uri=version.uri,
        source_type=version.source_type,
        link=passage_link(
            version.source_type,
            version.document_id,
            version.uri,
            page=page,
            second=second,
            start=start,
            text=content[start:end],
        ),
        page=page,
        page_label=labels[page - 1] if page and page <= len(labels) else None,
        page_count=version.page_count,
        second=second,
        duration_seconds=version.duration_seconds,
        heading=None if paged else heading_at(content, start),
        before=content[first:start],
        quote=content[start:end],
        after=content[end:last],
        start=start,
        end=end,
        lines=lines,
    )


def transcript_lines(content: str, start: int, end: int) -> tuple[TranscriptLine, ...]:
    """Return a transcript line by line; those that `start:end` touches are marked."""
    marks = list(find_time_marks(content))
    borders = [mark_start for mark_start, _, _ in marks[1:]] + [len(content)]
    return tuple(
        TranscriptLine(
            second=second,
            text=content[mark_end:border].strip(),
            marked=start < end and mark_start < end and start < border,
        )
        for (mark_start, mark_end, second), border in zip(marks, borders, strict=True)
    )


def page_span(content: str, page: int) -> tuple[int, int]:
    """Return where a page begins and ends; both are the end of the content beyond the last."""
    first = 0
    for _ in range(page - 1):
        border = content.find("\f", first)
        if border < 0:
            return len(content), len(content)
        first = border + 1
    last = content.find("\f", first)
    return first, len(content) if last < 0 else last


def recognised_lines(version: Version, page: int) -> Sequence[Sequence[float]] | None:
    """Return where the lines of a scanned page stand, None for a page that is text.

    A line is its start and end in the page's text, then left, top, right and bottom in fractions
    of the page.
    """
    return (version.extraction.get("ocr_lines") or {}).get(str(page))


def boxes_on_lines(lines: Sequence[Sequence[float]], start: int, end: int) -> list[list[float]]:
    """Return a box a line for `start:end` of a page's text, cut as if all signs were as wide."""
    boxes = []
    for first, last, left, top, right, bottom in lines:
        begin, stop = max(start, first), min(end, last)
        if begin < stop:
            sign = (right - left) / (last - first)
            boxes.append([left + sign * (begin - first), top, left + sign * (stop - first), bottom])
    return boxes


def second_offset(content: str, second: int) -> int:
    """Return where the words spoken at a second begin."""
    offset = 0
    for start, _, marked in find_time_marks(content):
        if marked > second:
            break
        offset = start
    return offset


def _surroundings(content: str, start: int, end: int) -> tuple[int, int]:
    """Widen to paragraph borders on the same page, within reason."""
    page_start = content.rfind("\f", 0, start) + 1
    page_end = content.find("\f", end)
    page_end = len(content) if page_end < 0 else page_end
    first = max(page_start, start - AROUND_CHARACTERS)
    last = min(page_end, end + AROUND_CHARACTERS)
    if first > page_start:
        border = content.find("\n\n", first, start)
        first = border + 2 if border >= 0 else first
    if last < page_end:
        border = content.rfind("\n\n", end, last)
        last = border if border >= 0 else last
    return first, last


def _second_at(content: str, offset: int) -> int | None:
    """Return the second of the last time mark before or at `offset`."""
    found = None
    for start, _, second in find_time_marks(content):
        if start > offset:
            break
        found = second
    return found


async def _load(database: Database, statement: str, values: Mapping[str, Any]) -> Version:
    async with database.connection() as connection:
        row = await (await connection.execute(statement, values)).fetchone()
    if row is None:
        raise NotFoundError("This document is no longer in the library.")
    return Version(**row)
