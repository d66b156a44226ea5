"""Builds the Reflex app: pages, HTTP API, runtime lifespan. Importing it starts nothing."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import reflex as rx

from rag_app import chat
from rag_app.api import api, guard
from rag_app.runtime import open_runtime
from rag_app.settings import load_settings
from rag_app.ui.content_policy import with_policy
from rag_app.ui.layout import crash_guard
from rag_app.ui.live import tell_pages
from rag_app.ui.pages.chat import chat_page
from rag_app.ui.pages.document import document_page
from rag_app.ui.pages.library import library_page
from rag_app.ui.pages.not_found import not_found_page
from rag_app.ui.pages.sign_in import sign_in_page
from rag_app.ui.state.chat_state import ChatState
from rag_app.ui.state.conversations_state import ConversationsState
from rag_app.ui.state.evidence_state import DocumentState, EvidenceState
from rag_app.ui.state.library_state import LibraryState
from rag_app.ui.state.session_state import SessionState, handle_failure

ENTER = [SessionState.enter, ConversationsState.load]


@contextlib.asynccontextmanager
async def running() -> AsyncIterator[None]:
    """Keep everything open that the pages need, from the first request to the last."""
    async with open_runtime(load_settings()) as runtime:
        telling = asyncio.create_task(tell_pages(app, runtime), name="tell pages")
        try:
            yield
        finally:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)
            await chat.stop_all_turns(runtime)


app = rx.App(
    api_transformer=[api, guard, with_policy],
    app_wraps={(55, "ErrorBoundary"): crash_guard},
    backend_exception_handler=handle_failure,
    head_components=[
        rx.el.link(rel="icon", href="/favicon.svg", type="image/svg+xml"),
        rx.el.meta(name="color-scheme", content="light dark"),
    ],
    html_lang="en",
    reset_style=False,
    stylesheets=["/pincite.css"],
    toaster=None,
)
app.add_page(
    chat_page,
    route="/",
    title="Pincite",
    on_load=[*ENTER, ChatState.open_new, EvidenceState.close_other],
)
app.add_page(
    chat_page,
    route="/chat/[conversation]",
    title="Pincite",
    on_load=[*ENTER, ChatState.open, EvidenceState.close_other],
)
app.add_page(
    library_page, route="/library", title="Library · Pincite", on_load=[*ENTER, LibraryState.open]
)
app.add_page(
    document_page,
    route="/documents/[document_id]",
    title="Document · Pincite",
    on_load=[*ENTER, DocumentState.open],
)
app.add_page(
    sign_in_page, route="/sign-in", title="Sign in · Pincite", on_load=SessionState.enter_sign_in
)
app.add_page(
    not_found_page, route="/404", title="Nothing here · Pincite", on_load=SessionState.look
)
app.register_lifespan_task(running)
