"""The values that pages show, built from the library's; nothing here knows Reflex."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from urllib.parse import urlencode, urlsplit

from rag_app.ingestion.formats import guess_source_type
from rag_app.library.conversations import ConversationSummary, TurnRecord
from rag_app.library.documents import DocumentSummary
from rag_app.marks import heading_at
from rag_app.query.results import Passage
from rag_app.query.turn_log import read_filters
from rag_app.ui.state.filter_views import kind_name, scope_line
from rag_app.ui.texts import TEXTS, say
from rag_app.uris import SITE_PREFIX

LONGEST_EXCERPT = 320
LONGEST_HEADING = 60


@dataclass(frozen=True)
class SourceView:
    """A passage as a small card and behind a badge."""

    marker: int
    place: str
    title: str
    kind: str
    excerpt: str
    href: str
    excerpts: list[str] = field(default_factory=list)  # one for each time the marker stands there


@dataclass(frozen=True)
class Place:
    """Where a source opens; stays on the server, so a page can only ask for what it was shown."""

    version_id: int | None
    start: int
    end: int
    source: SourceView
    quote: str
    quotes: tuple[tuple[int, int, str], ...] = ()

    def at(self, occurrence: int) -> "Place":
        """Return the words that the marker means where it stands for the n-th time, from 0."""
        if not 0 <= occurrence < len(self.quotes):
            return self
        start, end, quote = self.quotes[occurrence]
        return replace(self, start=start, end=end, quote=quote)


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
    scope: str = ""  # what it was kept to
    notice_href: str = ""
    has_log: bool = False  # of how it was found
    missing: list[str] = field(default_factory=list)  # words of the question that occur nowhere
    searched: str = ""
    nearest: list[SourceView] = field(default_factory=list)


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
    href: str  # empty while there is nothing to open
    strip: list[str] = field(default_factory=list)  # a letter a page, or for as many as fit
    coverage: str = ""


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
    language: str,
    *,
    page: int | None,
    second: int | None,
    heading: str | None,
    uri: str,
    source_type: str,
) -> str:
    """Name a place in a few signs: p. 12, 03:41, the host of a page, the heading of a note."""
    if second is not None:
        return clock(second)
    if page is not None:
        return say("slide" if source_type == "slides" else "page", language, page=page)
    host = urlsplit(uri).hostname if uri.startswith(("http://", "https://")) else None
    return host.removeprefix("www.") if host else shorten(heading or "", LONGEST_HEADING)


def document_href(
    document_id: int, *, page: int | None, second: int | None, start: int, end: int
) -> str:
    """Return our own page of a document, at a place, with the words to mark there."""
    place = {"page": page, "second": second, "start": start, "end": end}
    query = urlencode({name: value for name, value in place.items() if value is not None})
    return f"/documents/{document_id}?{query}"


def passage_places(passages: Sequence[Passage | Mapping], language: str) -> list[Place]:
    """Return the passages of a turn that runs, numbered from 1."""
    places = []
    for marker, item in enumerate(passages, start=1):
        passage = item if isinstance(item, Mapping) else asdict(item)
        places.append(_place(marker, passage, passage["text"], passage, language))
    return places


def citation_places(turn: TurnRecord, language: str) -> list[Place]:
    """Return what the answer of a finished turn cites."""
    return [_cited_place(citation, language) for citation in turn.citations]


def _cited_place(citation: Mapping[str, Any], language: str) -> Place:
    quotes = citation.get("quotes") or []
    place = _place(citation["marker"], citation, citation["quote"], citation["passage"], language)
    return replace(
        place,
        source=replace(
            place.source,
            excerpts=[shorten(quote["text"], LONGEST_EXCERPT) for quote in quotes],
        ),
        quotes=tuple((quote["start"], quote["end"], quote["text"]) for quote in quotes),
    )


def _place(
    marker: int, at: Mapping[str, Any], quote: str, passage: Mapping[str, Any], language: str
) -> Place:
    source = SourceView(
        marker=marker,
        place=source_place(
            language,
            page=at["page"],
            second=at["second"],
            heading=other_heading(_heading(passage, at["start"]), passage["title"]),
            uri=passage["uri"],
            source_type=passage["source_type"],
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


def _heading(passage: Mapping[str, Any], position: int) -> str | None:
    """Return the heading above a position: the passage's own is that of its start."""
    return heading_at(passage["text"], position - passage["start"]) or passage["heading"]


def other_heading(heading: str | None, title: str) -> str:
    """Return a heading unless it only repeats the title."""
    return heading if heading and heading.strip() != title.strip() else ""


def turn_places(turn: TurnRecord, language: str) -> list[Place]:
    """Return what a stored turn shows: what it cites, or found when it never ended or abstained."""
    if turn.status == "done" and not turn.abstained:
        return citation_places(turn, language)
    return passage_places(turn.passages, language)


def turn_view(turn: TurnRecord, places: Sequence[Place], language: str) -> TurnView:
    """Return a stored turn as the page shows it."""
    found = turn.found
    notice = found.get("notice") or ""
    absence = (found.get("absence") or {}) if turn.abstained else {}
    sources = [place.source for place in places]
    titles = {int(number): title for number, title in (found.get("documents") or {}).items()}
    return TurnView(
        id=turn.id,
        question=turn.question,
        answer=turn.answer,
        status=turn.status,
        error=turn.error or "",
        abstained=turn.abstained,
        unsupported=list(turn.unsupported),
        sources=[] if turn.abstained else sources,
        scope=scope_line(read_filters(found), titles, language) if found.get("options") else "",
        has_log=bool(found.get("options")) and turn.status != "running",
        notice=notice_text(notice, language),
        notice_href=notice_href(notice),
        missing=list(absence.get("words", ())),
        searched=_searched(absence["searched"], language) if absence else "",
        nearest=sources if turn.abstained else [],
    )


def notice_text(notice: str, language: str) -> str:
    """Return what a turn's notice means; what follows its colon is for the log."""
    key = notice.partition(":")[0]
    return say(key, language) if key in {"model_changed", "model_failed"} else ""


def notice_href(notice: str) -> str:
    """Return where something can be done about a notice."""
    return "/library" if notice == "model_changed" else ""


def _searched(searched: Mapping[str, int], language: str) -> str:
    count = sum(searched.values())
    if not count:
        return say("searched_none", language)
    if count == 1:
        return say("searched_one", language, kinds=kind_name(next(iter(searched)), language))
    kinds = ", ".join(f"{kind_name(kind, language)} {number}" for kind, number in searched.items())
    return say("searched_many", language, count=count, kinds=kinds)


def conversation_view(conversation: ConversationSummary) -> ConversationView:
    """Return a conversation as the list shows it."""
    return ConversationView(
        id=conversation.id, title=conversation.title, href=f"/chat/{conversation.id}"
    )


def document_view(document: DocumentSummary, language: str) -> DocumentView:
    """Return a document as the list shows it."""
    uri = document.uri.removeprefix(SITE_PREFIX)
    is_url = uri.startswith(("http://", "https://"))
    kind = document.source_type or ("web" if is_url else guess_source_type(document.title))
    facts = [say(f"kind_{kind}", language)] if f"kind_{kind}" in TEXTS else []
    if document.seconds:
        facts.append(clock(document.seconds))
    elif document.pages:
        unit = "slides" if kind == "slides" else "pages"
        key = f"{unit}_one" if document.pages == 1 else f"{unit}_many"
        facts.append(say(key, language, count=document.pages))
    if is_url and (host := urlsplit(uri).hostname):
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
        href=f"/documents/{document.id}" if document.version_id else "",
        strip=list(document.strip),
        coverage=", ".join(
            say(f"pages_{state}", language, count=count)
            for state, count in sorted(document.coverage.items(), key=lambda item: -item[1])
            if f"pages_{state}" in TEXTS
        ),
    )


def _status_text(document: DocumentSummary, language: str) -> str:
    step = f"step_{document.step}"
    if document.status == "running" and step in TEXTS:
        return say(step, language)
    if document.status == "ready" and document.unchanged:
        return say("unchanged", language)
    key = "failed_document" if document.status == "failed" else document.status
    return say(key, language)
