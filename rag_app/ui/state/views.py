"""The values that pages show, built from the library's; nothing here knows Reflex."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from urllib.parse import urlencode, urlsplit

from rag_app.library.conversations import ConversationSummary, TurnRecord
from rag_app.library.documents import DocumentSummary
from rag_app.library.evidence import Evidence, TranscriptLine
from rag_app.query.results import Passage
from rag_app.ui.texts import TEXTS, say

LONGEST_EXCERPT = 320
LONGEST_HEADING = 60
LINES_AROUND = 60
STRETCH_CHARACTERS = 12_000
PAGE_RULE = "\n\n---\n\n"


@dataclass(frozen=True)
class SourceView:
    """A passage as a small card and behind a badge."""

    marker: int
    place: str
    title: str
    kind: str
    excerpt: str
    href: str


@dataclass(frozen=True)
class Place:
    """Where a source opens; stays on the server, so a page can only ask for what it was shown."""

    version_id: int | None
    start: int
    end: int
    source: SourceView
    quote: str


@dataclass(frozen=True)
class TurnView:
    """A question with its answer."""

    id: int = 0
    question: str = ""
    answer: str = ""
    status: str = ""
    error: str = ""
    notice: str = ""
    abstained: bool = False
    unsupported: list[str] = field(default_factory=list)
    sources: list[SourceView] = field(default_factory=list)


@dataclass(frozen=True)
class ConversationView:
    """A conversation in the list."""

    id: int
    title: str
    href: str


@dataclass(frozen=True)
class DocumentView:
    """A document in the list; `percent` is that of the whole work."""

    id: int
    title: str
    kind: str
    facts: str
    status: str
    status_text: str
    percent: int
    error: str
    href: str


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


def clock(seconds: int) -> str:
    """Return a time as a player shows it: 03:41, or 1:02:03 from an hour on."""
    hours, rest = divmod(max(seconds, 0), 3600)
    minutes, second = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{second:02}" if hours else f"{minutes:02}:{second:02}"


def shorten(text: str, limit: int) -> str:
    """Return a text on one line, cut at a word."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    return line[: limit + 1].rsplit(" ", 1)[0][:limit].rstrip(" ,;:") + " …"


def source_place(
    language: str, *, page: int | None, second: int | None, heading: str | None, uri: str
) -> str:
    """Name a place in a few signs: p. 12, 03:41, the host of a page, the heading of a note."""
    if second is not None:
        return clock(second)
    if page is not None:
        return say("page", language, page=page)
    host = urlsplit(uri).hostname if uri.startswith(("http://", "https://")) else None
    return host.removeprefix("www.") if host else shorten(heading or "", LONGEST_HEADING)


def document_href(
    document_id: int, *, page: int | None, second: int | None, start: int, end: int
) -> str:
    """Return our own page of a document, at a place, with the words to mark there."""
    place = {"page": page, "second": second, "start": start, "end": end}
    query = urlencode({name: value for name, value in place.items() if value is not None})
    return f"/documents/{document_id}?{query}"


def find_stretch(content: str, start: int, end: int) -> tuple[int, int]:
    """Return the borders of what is read at once around `start:end`, at paragraphs if it can be."""
    first = max(0, start - STRETCH_CHARACTERS // 4)
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


def passage_places(passages: Sequence[Passage | Mapping], language: str) -> list[Place]:
    """Return the passages of a turn that runs, numbered from 1."""
    places = []
    for marker, item in enumerate(passages, start=1):
        passage = item if isinstance(item, Mapping) else asdict(item)
        places.append(_place(marker, passage, passage["text"], passage, language))
    return places


def citation_places(turn: TurnRecord, language: str) -> list[Place]:
    """Return what the answer of a finished turn cites."""
    return [
        _place(citation["marker"], citation, citation["quote"], citation["passage"], language)
        for citation in turn.citations
    ]


def _place(
    marker: int, at: Mapping[str, Any], quote: str, passage: Mapping[str, Any], language: str
) -> Place:
    source = SourceView(
        marker=marker,
        place=source_place(
            language,
            page=at["page"],
            second=at["second"],
            heading=_other_heading(passage["heading"], passage["title"]),
            uri=passage["uri"],
        ),
        title=passage["title"],
        kind=passage["source_type"],
        excerpt=shorten(quote, LONGEST_EXCERPT),
        href=document_href(
            passage["document_id"],
            page=at["page"],
            second=at["second"],
            start=at["start"],
            end=at["end"],
        ),
    )
    return Place(at["version_id"], at["start"], at["end"], source, quote)


def _other_heading(heading: str | None, title: str) -> str:
    return heading if heading and heading.strip() != title.strip() else ""


def turn_places(turn: TurnRecord, language: str) -> list[Place]:
    """Return what a stored turn shows as sources: what it cites, or found when it never ended."""
    if turn.status == "done":
        return [] if turn.abstained else citation_places(turn, language)
    return passage_places(turn.passages, language)


def turn_view(turn: TurnRecord, places: Sequence[Place]) -> TurnView:
    """Return a stored turn as the page shows it."""
    return TurnView(
        id=turn.id,
        question=turn.question,
        answer=turn.answer,
        status=turn.status,
        error=turn.error or "",
        abstained=turn.abstained,
        unsupported=list(turn.unsupported),
        sources=[place.source for place in places],
    )


def conversation_view(conversation: ConversationSummary) -> ConversationView:
    """Return a conversation as the list shows it."""
    return ConversationView(
        id=conversation.id, title=conversation.title, href=f"/chat/{conversation.id}"
    )


def document_view(document: DocumentSummary, language: str) -> DocumentView:
    """Return a document as the list shows it."""
    is_url = document.uri.startswith(("http://", "https://"))
    kind = document.source_type or ("web" if is_url else _kind_of_name(document.title))
    facts = [say(f"kind_{kind}", language)] if f"kind_{kind}" in TEXTS else []
    if document.seconds:
        facts.append(clock(document.seconds))
    elif document.pages:
        key = "pages_one" if document.pages == 1 else "pages_many"
        facts.append(say(key, language, count=document.pages))
    if is_url and (host := urlsplit(document.uri).hostname):
        facts.append(host.removeprefix("www."))
    error = document.error or ""
    if document.status == "ready" and document.warnings:
        error = " ".join(document.warnings)
    return DocumentView(
        id=document.id,
        title=document.title,
        kind=kind,
        facts=" · ".join(facts),
        status=document.status,
        status_text=_status_text(document, language),
        percent=round(100 * min(max(document.progress, 0.0), 1.0)),
        error=error,
        href=f"/documents/{document.id}",
    )


def _kind_of_name(name: str) -> str:
    """Guess what a file is while it waits to be read."""
    if name.lower().endswith(".pdf"):
        return "pdf"
    return "markdown" if name.lower().endswith((".md", ".markdown", ".txt")) else ""


def _status_text(document: DocumentSummary, language: str) -> str:
    step = f"step_{document.step}"
    if document.status == "running" and step in TEXTS:
        return say(step, language)
    if document.status == "ready" and document.unchanged:
        return say("unchanged", language)
    key = "failed_document" if document.status == "failed" else document.status
    return say(key, language)


def evidence_view(evidence: Evidence, language: str, *, is_whole: bool = False) -> EvidenceView:
    """Return an opened place; `is_whole` keeps every line of a transcript."""
    is_link = evidence.uri.startswith(("http://", "https://"))
    kind = {"youtube": "video", "web": "web"}.get(evidence.source_type, "text")
    if evidence.source_type == "pdf" and evidence.page is not None:
        kind = "page"
    heading = _other_heading(evidence.heading, evidence.title)
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
        video_id=_video_id(evidence.uri) if kind == "video" else "",
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
