"""Builds the Reflex app: pages, HTTP API, runtime lifespan. Importing it starts nothing."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping

import reflex as rx

from rag_app import access, chat
from rag_app.api import api, guard
from rag_app.evaluation import running as evaluations
from rag_app.library.files import remove_leftovers
from rag_app.runtime import follow_models, open_runtime
from rag_app.settings import load_settings
from rag_app.ui.content_policy import with_policy
from rag_app.ui.layout import crash_guard
from rag_app.ui.live import tell_pages
from rag_app.ui.pages.chat import chat_page
from rag_app.ui.pages.document import document_page
from rag_app.ui.pages.evaluation import evaluation_page
from rag_app.ui.pages.library import library_page
from rag_app.ui.pages.not_found import not_found_page
from rag_app.ui.pages.sign_in import sign_in_page
from rag_app.ui.state.chat_state import ChatState
from rag_app.ui.state.conversations_state import ConversationsState
from rag_app.ui.state.evaluation_state import EvaluationState
from rag_app.ui.state.evidence_state import DocumentState, EvidenceState
from rag_app.ui.state.golden_state import GoldenState
from rag_app.ui.state.library_state import LibraryState
from rag_app.ui.state.session_state import SessionState, handle_failure
from rag_app.ui.state.verdict_state import VerdictState
from rag_app.ui.state.xray_state import XrayState

ENTER = [SessionState.enter, ConversationsState.load]
BESIDE = [VerdictState.load, EvidenceState.close_other, XrayState.close_other]


@contextlib.asynccontextmanager
async def running() -> AsyncIterator[None]:
    """Keep everything open that the pages need, from the first request to the last."""
    async with open_runtime(load_settings()) as runtime:
        await asyncio.to_thread(remove_leftovers, runtime.settings.uploads_dir)
        await asyncio.to_thread(runtime.files.sweep)
        await evaluations.forget_lost(runtime)
        beside = [
            asyncio.create_task(tell_pages(app, runtime), name="tell pages"),
            asyncio.create_task(follow_models(), name="follow models"),
        ]
        try:
            yield
        finally:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)
            await evaluations.stop_all_runs()
            await chat.stop_all_turns(runtime)


def may_connect(origin: str | None, environ: Mapping[str, str]) -> bool:
    """Let the pages in at whatever address of this machine they were opened."""
    return (
        origin is None
        or origin in rx.config.get_config().cors_allowed_origins
        or access.is_our_page(load_settings(), origin, environ.get("HTTP_HOST", ""))
    )


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
# Reflex can only compare with a list, which cannot hold every name and address of the machine
app.sio.eio.cors_allowed_origins = may_connect
app.add_page(
    chat_page,
    route="/",
    title="Pincite",
    on_load=[*ENTER, ChatState.open_new, *BESIDE],
)
app.add_page(
    chat_page,
    route="/chat/[conversation]",
    title="Pincite",
    on_load=[*ENTER, ChatState.open, *BESIDE],
)
app.add_page(
    library_page, route="/library", title="Library · Pincite", on_load=[*ENTER, LibraryState.open]
)
app.add_page(
    evaluation_page,
    route="/evaluation",
    title="Evaluation · Pincite",
    on_load=[*ENTER, GoldenState.open, EvaluationState.open],
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
