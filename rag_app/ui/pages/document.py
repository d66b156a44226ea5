"""A document opened at a place: `/documents/7?page=12`, `?second=95`, `?start=1400`."""

import reflex as rx

from rag_app.ui.components.conversation import notice
from rag_app.ui.components.evidence import document_head, evidence_body
from rag_app.ui.components.navigation import plain_link
from rag_app.ui.components.words import words
from rag_app.ui.layout import frame
from rag_app.ui.state.evidence_state import DocumentState


def document_page() -> rx.Component:
    """Show one document."""
    return frame(
        rx.el.div(
            plain_link(
                rx.icon("arrow-left", size=15, aria_hidden=True),
                words("to_library"),
                href="/library",
                class_name="back",
            ),
            rx.cond(
                DocumentState.is_missing,
                notice("no_document", "/library", "library"),
                rx.cond(
                    DocumentState.is_loading,
                    rx.el.div(
                        class_name="skeleton sheet", role="status", aria_label=words("loading")
                    ),
                    _document(),
                ),
            ),
            class_name="column",
        ),
        name="document",
    )


def _document() -> rx.Component:
    document = DocumentState.document
    return rx.fragment(
        document_head(document.title, document.kind, document.facts),
        rx.cond(
            DocumentState.evidence.kind,
            rx.fragment(
                rx.cond(DocumentState.has_before, _stretch_button("read_before", -1)),
                evidence_body(DocumentState.evidence, is_page=True),
                rx.cond(DocumentState.has_after, _stretch_button("read_after", 1)),
            ),
            rx.el.div(
                rx.el.p(document.status_text, class_name="document-status"),
                rx.el.p(
                    rx.cond(document.error, document.error, words("not_ready")),
                ),
                class_name="empty",
                role="status",
            ),
        ),
    )


def _stretch_button(key: str, step: int) -> rx.Component:
    return rx.el.button(
        words(key),
        type="button",
        id=key.replace("_", "-"),
        class_name="button read-on",
        on_click=DocumentState.read_on(step),
    )
