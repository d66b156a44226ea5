"""An opened place as the page shows it: a page, a stretch of text, a transcript at a second."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from rag_app.library.evidence import Evidence, TranscriptLine
from rag_app.marks import TIMED_SOURCE_TYPES
from rag_app.ui.state.views import Place, clock, document_href, other_heading, source_place

LINES_AROUND = 60
STRETCH_CHARACTERS = 12_000
PAGE_RULE = "\n\n---\n\n"


@dataclass(frozen=True)
class LineView:
    """A line of a transcript."""

    second: int
    time: str
    text: str
    is_marked: bool


@dataclass(frozen=True)
class EvidenceView:
    """An opened place. `kind` is page, text, web or video; empty while nothing is open."""

    kind: str = ""
    title: str = ""
    place: str = ""
    href: str = ""
    version_id: int = 0
    page: int = 0
    page_count: int = 0
    heading: str = ""
    before: str = ""
    quote: str = ""
    after: str = ""
    start: int = 0
    end: int = 0
    link: str = ""
    host: str = ""
    file_href: str = ""
    video_id: str = ""
    second: int = 0
    time: str = ""
    lines: list[LineView] = field(default_factory=list)
    problem: str = ""


def evidence_view(evidence: Evidence, language: str, *, is_whole: bool = False) -> EvidenceView:
    """Return an opened place; `is_whole` keeps every line of a transcript."""
    is_link = evidence.uri.startswith(("http://", "https://"))
    kind = "video" if evidence.source_type in TIMED_SOURCE_TYPES else "text"
    kind = "web" if evidence.source_type == "web" else kind
    if evidence.source_type == "pdf" and evidence.page is not None:
        kind = "page"
    heading = other_heading(evidence.heading, evidence.title)
    second = evidence.second or 0
    return EvidenceView(
        kind=kind,
        title=evidence.title,
        place=source_place(
            language,
            page=evidence.page,
            second=evidence.second,
            heading=heading,
            uri=evidence.uri,
            source_type=evidence.source_type,
        ),
        href=document_href(
            evidence.document_id,
            page=evidence.page,
            second=evidence.second,
            start=evidence.start,
            end=evidence.end,
        ),
        version_id=evidence.version_id,
        page=evidence.page or 0,
        page_count=evidence.page_count or 0,
        heading=heading if kind == "web" else "",
        before=evidence.before,
        quote=evidence.quote,
        after=evidence.after,
        start=evidence.start,
        end=evidence.end,
        link=evidence.link if is_link else "",
        host=(urlsplit(evidence.uri).hostname or "") if is_link else "",
        file_href="" if is_link else f"/api/versions/{evidence.version_id}/file",
        video_id=_video_id(evidence.uri) if kind == "video" and is_link else "",
        second=second,
        time=clock(second),
        lines=_lines(evidence.lines, second, is_whole=is_whole),
    )


def gone_view(place: Place, problem: str) -> EvidenceView:
    """Return what is left of a place whose document was removed: the words that were cited."""
    return EvidenceView(
        kind="text",
        title=place.source.title,
        place=place.source.place,
        quote=place.quote,
        problem=problem,
    )


def _lines(lines: Sequence[TranscriptLine], second: int, *, is_whole: bool) -> list[LineView]:
    shown = list(lines)
    if not is_whole and len(shown) > 2 * LINES_AROUND:
        centre = sum(line.second <= second for line in shown)
        shown = shown[max(0, centre - LINES_AROUND) : centre + LINES_AROUND]
    return [LineView(line.second, clock(line.second), line.text, line.marked) for line in shown]


def _video_id(uri: str) -> str:
    parts = urlsplit(uri)
    for pair in parts.query.split("&"):
        if pair.startswith("v="):
            return "".join(sign for sign in pair[2:] if sign.isalnum() or sign in "-_")
    tail = parts.path.rstrip("/").rsplit("/", 1)[-1]
    return "".join(sign for sign in tail if sign.isalnum() or sign in "-_")


def find_stretch(
    content: str, start: int, end: int, *, lead: int = STRETCH_CHARACTERS // 4
) -> tuple[int, int]:
    """Return the borders of what is read at once around `start:end`, at paragraphs if it can be.

    `lead` is how much before it may be shown, in characters.
    """
    first = max(0, start - lead)
    last = min(len(content), max(end, first + STRETCH_CHARACTERS))
    if first > 0:
        border = content.find("\n\n", first, start)
        first = border + 2 if border >= 0 else start
    if last < len(content):
        border = content.rfind("\n\n", max(end, first + STRETCH_CHARACTERS // 2), last)
        last = border if border >= 0 else last
    return first, last


def with_stretch(view: EvidenceView, content: str, first: int, last: int) -> EvidenceView:
    """Return an opened document that shows `first:last` of its content."""
    start = min(max(view.start, first), last)
    end = min(max(view.end, start), last)
    return replace(
        view,
        before=content[first:start].replace("\f", PAGE_RULE),
        quote=content[start:end],
        after=content[end:last].replace("\f", PAGE_RULE),
    )
