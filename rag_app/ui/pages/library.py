"""What the person keeps: `/library`."""

import reflex as rx

from rag_app.ui.components.documents import add_documents, document_list, lacking_documents
from rag_app.ui.components.words import words
from rag_app.ui.layout import frame


def library_page() -> rx.Component:
    """Show the documents and where to add more."""
    return frame(
        rx.el.div(
            rx.el.h1(words("library")),
            lacking_documents(),
            add_documents(),
            document_list(),
            class_name="column",
        ),
        name="library",
    )
