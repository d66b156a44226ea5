"""The conversation with the evidence beside it: `/` and `/chat/[id]`."""

import reflex as rx

from rag_app.ui.components.conversation import conversation
from rag_app.ui.components.evidence import evidence_panel
from rag_app.ui.layout import frame


def chat_page() -> rx.Component:
    """Show one conversation."""
    return frame(conversation(), evidence_panel(), name="chat")
