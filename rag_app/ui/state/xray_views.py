"""How an answer was found, as the page shows it: bars, terms, rows; nothing here knows Reflex."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from rag_app.lexemes import read_lexeme
from rag_app.query.bm25 import Term
from rag_app.query.turn_log import CUT_BY, Fate
from rag_app.query.whereabouts import Whereabouts
from rag_app.query.xray import WORDS_SHOWN, Place, Row, Xray
from rag_app.ui.language_names import language_name
from rag_app.ui.state.views import Place as OpenPlace
from rag_app.ui.state.views import (
    SourceView,
    document_href,
    notice_text,
    other_heading,
    source_place,
)
from rag_app.ui.texts import say

LISTS = ("vector", "text", "fused", "kept", "judged", "context")
MOST_ROWS = 50
MOST_TERMS = 24
TIMES = (
    "rewrite",
    "embed",
    "text",
    "vector",
    "fuse",
    "rerank",
    "first_token",
    "ground",
    "total",
)
# text search configurations whose ISO code does not begin their name
CODES = {"german": "de", "spanish": "es", "swedish": "sv", "dutch": "nl", "greek": "el"}

_MARKS = re.compile(r"(?:^|(?<=\s))(?:#{1,6}|\[\d{2,3}:\d\d:\d\d\]) ")


@dataclass(frozen=True)
class BarView:
    """How long a step took; `percent` of the longest."""

    name: str
    text: str
    percent: int


@dataclass(frozen=True)
class TermView:
    """A word of the question with its rarity; `percent` of the rarest."""

    word: str
    text: str
    percent: int


@dataclass(frozen=True)
class TermsView:
    """The words of the question in one language; `unknown` are those that nothing holds."""

    language: str
    known: list[TermView] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class RowView:
    """A candidate in one list: its place, its ranks elsewhere, what cut it."""

    id: int
    rank: int
    kind: str
    title: str
    place: str
    words: str
    ranks: list[str]
    number: int
    fell: str
    can_open: bool


@dataclass(frozen=True)
class TabView:
    """A list to show, with how many rows it has."""

    key: str
    text: str
    count: int


@dataclass(frozen=True)
class XrayView:
    """What stands above the lists."""

    question: str = ""
    facts: str = ""
    notice: str = ""
    imagined: str = ""
    reranked: str = ""
    terms: list[TermsView] = field(default_factory=list)
    bars: list[BarView] = field(default_factory=list)
    tabs: list[TabView] = field(default_factory=list)


@dataclass(frozen=True)
class WhyView:
    """Where a place fell out: the stage in a few words, and the sentence behind it."""

    id: int
    place: str
    words: str
    stage: str
    reason: str
    is_found: bool
    can_open: bool


def xray_view(found: Xray, language: str) -> XrayView:
    """Return how an answer was found, without its lists."""
    return XrayView(
        question=found.question,
        facts=say(
            "xray_facts",
            language,
            snapshot=found.snapshot,
            model=found.embedding_model,
            count=found.context_tokens,
        ),
        notice=notice_text(found.notice, language),
        imagined=found.hypothetical,
        reranked=_reranked(found, language),
        terms=term_views(found.terms, language),
        bars=bar_views(found.timings_ms, language),
        tabs=[
            TabView(name, say(f"list_{name}", language), len(getattr(found, name)))
            for name in LISTS
        ],
    )


def _reranked(found: Xray, language: str) -> str:
    if found.rerank_error:
        return say("rerank_failed", language, error=found.rerank_error)
    if found.rerank_method == "none":
        return say("rerank_none", language)
    return say("rerank_by", language, method=found.rerank_method)


def bar_views(timings_ms: Mapping[str, float], language: str) -> list[BarView]:
    """Return the times as bars, in the order of the steps."""
    longest = max(timings_ms.values(), default=0) or 1
    return [
        BarView(
            say(f"time_{name}", language),
            duration(timings_ms[name]),
            max(1, round(100 * timings_ms[name] / longest)),
        )
        for name in TIMES
        if name in timings_ms
    ]


def duration(milliseconds: float) -> str:
    """Return a time in two or three figures: 0.4 ms, 12 ms, 3.1 s."""
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:.1f} s"
    return f"{milliseconds:.0f} ms" if milliseconds >= 10 else f"{milliseconds:.1f} ms"


def term_views(terms: Sequence[Term], language: str) -> list[TermsView]:
    """Return the question's words language by language, the rarest first.

    A language in which nothing holds any of them is left out, unless that is so for all.
    """
    views = []
    for configuration, group in groupby(terms, key=lambda term: term.language):
        own = list(group)[:MOST_TERMS]
        known = sorted((term for term in own if term.documents), key=lambda term: -term.idf)
        rarest = max((term.idf for term in known), default=0) or 1
        views.append(
            TermsView(
                _language_of(configuration, language),
                [
                    TermView(
                        read_lexeme(term.lexeme),
                        _in_passages(term.documents, language),
                        max(4, round(100 * term.idf / rarest)),
                    )
                    for term in known
                ],
                [read_lexeme(term.lexeme) for term in own if not term.documents],
            )
        )
    return [view for view in views if view.known] or views[:1]


def _in_passages(count: int, language: str) -> str:
    return say("xray_term_one" if count == 1 else "xray_term_many", language, count=count)


def _language_of(configuration: str, language: str) -> str:
    """Name a text search configuration, which PostgreSQL calls by an English word."""
    code = CODES.get(configuration, configuration[:2])
    name = language_name(code, "en")
    return language_name(code, language) if name.lower() == configuration else configuration


def row_views(rows: Sequence[Row], language: str) -> list[RowView]:
    """Return the first rows of a list."""
    return [row_view(rank, row, language) for rank, row in enumerate(rows[:MOST_ROWS], start=1)]


def row_view(rank: int, row: Row, language: str) -> RowView:
    """Return a candidate as a row."""
    place, fate = row.place, row.fate
    fell = say(f"cut_{fate.cut_by}", language) if fate.cut_by in CUT_BY else ""
    if place.state != "here":
        fell = f"{say(f'place_{place.state}', language)}. {fell}".strip()
    return RowView(
        id=fate.chunk_id,
        rank=rank,
        kind=place.source_type,
        title=place.title or say("place_removed", language),
        place=spot(place, language),
        words=first_words(place.words),
        ranks=rank_texts(fate, language),
        number=fate.number or 0,
        fell=fell,
        can_open=can_open(place),
    )


def rank_texts(fate: Fate, language: str) -> list[str]:
    """Return a candidate's rank and score in each stage that it reached."""
    reached = [
        ("vector", fate.vector_rank, fate.cosine),
        ("text", fate.text_rank, fate.bm25),
        ("fused", fate.fused_rank, fate.score),
        ("kept", fate.kept_rank, None),
        ("judged", fate.judged_rank, None),
    ]
    return [
        say(f"rank_{name}", language, rank=rank, score=f"{score or 0:.2f}")
        for name, rank, score in reached
        if rank is not None
    ]


def why_views(found: Sequence[Whereabouts], language: str) -> list[WhyView]:
    """Return where each chunk of a place fell out."""
    return [
        WhyView(
            id=about.place.chunk_id or 0,
            place=spot(about.place, language),
            words=first_words(about.place.words),
            stage=say(f"stage_{about.stage}", language),
            reason=about.reason,
            is_found=about.stage == "context",
            can_open=can_open(about.place),
        )
        for about in found[:MOST_ROWS]
    ]


def first_words(words: str) -> str:
    """Return a place's first words without the marks that content has inside."""
    plain = _MARKS.sub("", words).strip()
    return f"{plain} …" if len(words.split()) >= WORDS_SHOWN else plain


def spot(place: Place, language: str) -> str:
    """Name a place in a few signs."""
    heading = other_heading(place.heading, place.title)
    return source_place(
        language,
        page=place.page,
        second=place.second,
        heading=heading,
        uri="",
        source_type=place.source_type,
    )


def can_open(place: Place) -> bool:
    """Tell whether there is still something to open at a place."""
    return place.version_id is not None and place.state != "removed"


def open_places(places: Sequence[Place], language: str) -> dict[int, OpenPlace]:
    """Return what can be opened of some places, by chunk."""
    return {
        place.chunk_id: OpenPlace(
            place.version_id,
            place.start,
            place.end,
            SourceView(
                marker=0,
                place=spot(place, language),
                title=place.title,
                kind=place.source_type,
                excerpt=place.words,
                href=document_href(
                    place.document_id,
                    page=place.page,
                    second=place.second,
                    start=place.start,
                    end=place.end,
                ),
            ),
            place.words,
        )
        for place in places
        if place.chunk_id is not None and place.document_id is not None and can_open(place)
    }
