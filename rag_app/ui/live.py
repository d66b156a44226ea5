"""Hears from PostgreSQL that documents changed, and tells the open pages."""

import asyncio
import json
import logging
from collections.abc import Mapping

import reflex as rx

from rag_app.errors import NotFoundError
from rag_app.library import documents
from rag_app.library.documents import DocumentSummary
from rag_app.runtime import Runtime
from rag_app.ui.state.evidence_state import DocumentState
from rag_app.ui.state.library_state import LibraryState

log = logging.getLogger(__name__)
SECONDS_BETWEEN_PUSHES = 0.3
EVERYTHING = 0
"""In place of a document's id: notifications may have been missed."""


async def tell_pages(app: rx.App, runtime: Runtime) -> None:
    """Push changed documents to every open tab, at most about three times a second; never ends."""
    changed: set[int] = set()
    arrived = asyncio.Event()

    async def collect() -> None:
        async for payload in runtime.database.listen(documents.CHANNEL):
            told = json.loads(payload) if payload else {}
            if told.get("workspace_id", runtime.workspace_id) == runtime.workspace_id:
                changed.add(told.get("document_id", EVERYTHING))
                arrived.set()

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(collect())
        while True:
            await arrived.wait()
            arrived.clear()
            ids = frozenset(changed)
            changed.clear()
            try:
                await _push(app, await _load(runtime, ids))
            except Exception:  # the outermost edge: one bad moment must not end all telling
                log.exception("Open pages could not be told of documents %s", sorted(ids))
            await asyncio.sleep(SECONDS_BETWEEN_PUSHES)


async def _load(runtime: Runtime, ids: frozenset[int]) -> dict[int, DocumentSummary | None]:
    loaded: dict[int, DocumentSummary | None] = {}
    for document_id in ids:
        try:
            loaded[document_id] = await documents.get_document(
                runtime.database, runtime.workspace_id, document_id
            )
        except NotFoundError:
            loaded[document_id] = None
    return loaded


async def _push(app: rx.App, changed: Mapping[int, DocumentSummary | None]) -> None:
    for tab in list(app.event_namespace.token_to_sid):
        async with app.modify_state(rx.BaseStateToken(ident=tab, cls=LibraryState)) as root:
            library = await root.get_state(LibraryState)
            if library.is_watching and EVERYTHING in changed:
                await library.list_again()
            elif library.is_watching:
                await library.apply(changed)
            page = await root.get_state(DocumentState)
            if page.waits_for(changed):
                await page.load_if_there()
