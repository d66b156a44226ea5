"""Sources as small cards that name the place first, and the answer with its badges."""

import reflex as rx

from rag_app.ui.components.local import AnswerText
from rag_app.ui.components.words import words
from rag_app.ui.state.chat_state import ChatState, TailState
from rag_app.ui.state.evidence_state import EvidenceState
from rag_app.ui.state.views import SourceView, TurnView

CARDS_SHOWN = 6
ICONS = (
    ("pdf", "file-text"),
    ("markdown", "notebook-text"),
    ("office", "file-type"),
    ("slides", "presentation"),
    ("spreadsheet", "file-spreadsheet"),
    ("ebook", "book-open"),
    ("web", "globe"),
    ("youtube", "circle-play"),
    ("subtitles", "captions"),
    ("collection", "layers"),
)


def kind_icon(kind: rx.Var[str]) -> rx.Component:
    """Show of what kind a document is."""
    return rx.el.span(
        rx.match(
            kind,
            *((name, rx.icon(icon, size=15)) for name, icon in ICONS),
            rx.icon("file", size=15),
        ),
        class_name="kind",
        aria_hidden=True,
    )


def source_cards(turn: rx.Var[TurnView]) -> rx.Component:
    """Show the first few sources, and the rest on demand."""
    return rx.cond(
        turn.sources,
        rx.el.div(
            rx.el.ul(
                rx.foreach(turn.sources[:CARDS_SHOWN], lambda source: _card(turn.id, source)),
                class_name="source-cards",
            ),
            rx.cond(
                turn.sources.length() > CARDS_SHOWN,
                rx.el.details(
                    rx.el.summary(words("more_sources"), " (", turn.sources.length(), ")"),
                    rx.el.ul(
                        rx.foreach(
                            turn.sources[CARDS_SHOWN:], lambda source: _card(turn.id, source)
                        ),
                        class_name="source-cards",
                    ),
                    class_name="more-sources",
                ),
            ),
            class_name="sources",
            role="group",
            aria_label=words("sources"),
        ),
    )


def _card(turn_id: rx.Var[int], source: rx.Var[SourceView]) -> rx.Component:
    is_open = (EvidenceState.opened_turn == turn_id) & (
        EvidenceState.opened_marker == source.marker
    )
    return rx.el.li(
        rx.el.button(
            rx.el.span(source.marker, class_name="card-marker"),
            kind_icon(source.kind),
            rx.cond(source.place, rx.el.span(source.place, class_name="card-place", dir="auto")),
            rx.el.span(source.title, class_name="card-title", dir="auto"),
            type="button",
            class_name="source-card",
            title=source.excerpt,
            aria_current=rx.cond(is_open, "true", "false"),
            on_click=EvidenceState.open_source(turn_id, source.marker, -1),
        ),
        key=source.marker,
    )


def absence(turn: rx.Var[TurnView]) -> rx.Component:
    """Say why there is no answer, and show what came nearest."""
    return rx.el.div(
        rx.cond(
            turn.missing,
            rx.el.p(
                words("missing_words"),
                rx.foreach(turn.missing, lambda word: rx.fragment(" ", rx.el.b(word, dir="auto"))),
                class_name="missing-words",
            ),
        ),
        rx.cond(turn.searched, rx.el.p(turn.searched, class_name="searched")),
        rx.cond(
            turn.nearest,
            rx.el.div(
                rx.el.h3(words("nearest")),
                rx.el.ul(
                    rx.foreach(turn.nearest, lambda source: _card(turn.id, source)),
                    class_name="source-cards",
                ),
                class_name="nearest",
            ),
        ),
        class_name="absence",
    )


def answer(turn: rx.Var[TurnView]) -> rx.Component:
    """Show a finished answer."""
    return AnswerText.create(
        text=turn.answer,
        sources=turn.sources,
        unsupported=turn.unsupported,
        source_label=words("source"),
        unsupported_label=words("unsupported"),
        open_marker=rx.cond(EvidenceState.opened_turn == turn.id, EvidenceState.opened_marker, 0),
        on_open=lambda marker, occurrence: EvidenceState.open_source(turn.id, marker, occurrence),
    )


def growing_answer() -> rx.Component:
    """Show the answer that is being written."""
    return AnswerText.create(
        head=TailState.head,
        middle=TailState.middle,
        tail=TailState.tail,
        sources=ChatState.running.sources,
        source_label=words("source"),
        open_marker=rx.cond(
            EvidenceState.opened_turn == ChatState.running.id, EvidenceState.opened_marker, 0
        ),
        is_running=True,
        on_open=lambda marker, occurrence: EvidenceState.open_source(
            ChatState.running.id, marker, occurrence
        ),
    )
