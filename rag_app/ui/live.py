"""Hears from PostgreSQL what changed (documents, conversations, runs) and tells open pages."""

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import reflex as rx
from reflex.event import Event

from rag_app.errors import NotFoundError
from rag_app.evaluation import history
from rag_app.evaluation.history import EvaluationRun
from rag_app.library import conversations, documents
from rag_app.library.conversations import ConversationSummary, TurnRecord
from rag_app.library.documents import DocumentSummary
from rag_app.runtime import Runtime
from rag_app.ui.state import evaluation_state, library_state
from rag_app.ui.state.chat_state import ChatState, catch_up
from rag_app.ui.state.conversations_state import ConversationsState, show_list
from rag_app.ui.state.evaluation_state import EvaluationState
from rag_app.ui.state.evidence_state import DocumentState, load_if_there, waits_for
from rag_app.ui.state.library_state import LibraryState
from rag_app.ui.state.session_state import is_allowed

log = logging.getLogger(__name__)
SECONDS_BETWEEN_PUSHES = 0.3
SECONDS_BEFORE_ANOTHER_TRY = 2.0
EVERYTHING = 0
"""In place of an id: notifications may have been missed."""


@dataclass
class _News:
    """The ids of what changed since the last push."""

    documents: set[int] = field(default_factory=set)
    conversations: set[int] = field(default_factory=set)
    evaluations: set[int] = field(default_factory=set)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True)
class _Changes:
    """What pages are told, read once for all tabs; None stands for what was removed."""

    documents: Mapping[int, DocumentSummary | None]
    conversations: frozenset[int]
    listing: Sequence[ConversationSummary]
    evaluations: frozenset[int] = frozenset()
    going_on: EvaluationRun | None = None
    turns: dict[int, Sequence[TurnRecord] | None] = field(default_factory=dict)


async def tell_pages(app: rx.App, runtime: Runtime) -> None:
    """Push changes to every open tab, at most about three times a second; never ends."""
    news = _News()
    while True:
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(
                    _collect(runtime, documents.CHANNEL, "document_id", news.documents, news)
                )
                tasks.create_task(
                    _collect(
                        runtime, conversations.CHANNEL, "conversation_id", news.conversations, news
                    )
                )
                tasks.create_task(
                    _collect(runtime, history.CHANNEL, "run_id", news.evaluations, news)
                )
                tasks.create_task(_tell(app, runtime, news))
        except Exception:  # the outermost edge: open pages would never hear of anything again
            log.exception("Nothing is heard of changes any more; listening anew")
        await asyncio.sleep(SECONDS_BEFORE_ANOTHER_TRY)
        news.documents.add(EVERYTHING)
        news.conversations.add(EVERYTHING)
        news.evaluations.add(EVERYTHING)
        news.arrived.set()


async def _collect(
    runtime: Runtime, channel: str, name: str, changed: set[int], news: _News
) -> None:
    async for payload in runtime.database.listen(channel):
        told = json.loads(payload) if payload else {}
        if told.get("workspace_id", runtime.workspace_id) == runtime.workspace_id:
            changed.add(told.get(name, EVERYTHING))
            news.arrived.set()


async def _tell(app: rx.App, runtime: Runtime, news: _News) -> None:
    while True:
        await news.arrived.wait()
        news.arrived.clear()
        gathered = (news.documents, news.conversations, news.evaluations)
        changed = tuple(frozenset(ids) for ids in gathered)
        for ids in gathered:
            ids.clear()
        tabs = list(app.event_namespace.token_to_sid)
        try:
            changes = await _load(runtime, *changed)
        except Exception:
            log.exception(
                "Open pages could not be told of documents, conversations, runs %s", changed
            )
            tabs = []
        for tab in tabs:
            try:
                await _push(app, runtime, tab, changes)
            except Exception:  # one tab's trouble is not that of the others
                log.exception(
                    "A tab could not be told of documents, conversations, runs %s", changed
                )
        await asyncio.sleep(SECONDS_BETWEEN_PUSHES)


async def _load(
    runtime: Runtime,
    changed_documents: frozenset[int],
    changed_conversations: frozenset[int],
    changed_evaluations: frozenset[int],
) -> _Changes:
    at = (runtime.database, runtime.workspace_id)
    loaded: dict[int, DocumentSummary | None] = {}
    for document_id in changed_documents:
        try:
            loaded[document_id] = await documents.get_document(*at, document_id)
        except NotFoundError:
            loaded[document_id] = None
    listing = await conversations.list_conversations(*at) if changed_conversations else []
    going_on = await history.find_running(*at) if changed_evaluations else None
    return _Changes(loaded, changed_conversations, listing, changed_evaluations, going_on)


async def _turns(
    runtime: Runtime, changes: _Changes, conversation_id: int
) -> Sequence[TurnRecord] | None:
    if conversation_id not in changes.turns:
        try:
            changes.turns[conversation_id] = await conversations.list_turns(
                runtime.database, runtime.workspace_id, conversation_id
            )
        except NotFoundError:
            changes.turns[conversation_id] = None
    return changes.turns[conversation_id]


async def _push(app: rx.App, runtime: Runtime, tab: str, changes: _Changes) -> None:
    must_follow = False
    async with app.modify_state(rx.BaseStateToken(ident=tab, cls=LibraryState)) as root:
        library = await root.get_state(LibraryState)
        if not is_allowed(library):
            return
        if library.is_watching and EVERYTHING in changes.documents:
            await library_state.list_again(library)
        elif library.is_watching and changes.documents:
            await library_state.apply(library, changes.documents)
        if library.is_watching and library.lacking and changes.documents:
            await library_state.count_lacking(library)
        page = await root.get_state(DocumentState)
        if waits_for(page, changes.documents):
            await load_if_there(page)
        if changes.conversations:
            show_list(await root.get_state(ConversationsState), changes.listing)
        evaluation = await root.get_state(EvaluationState)
        if evaluation.is_watching and changes.evaluations:
            await evaluation_state.follow(evaluation, changes.going_on, changes.evaluations)
        chat = await root.get_state(ChatState)
        opened = chat.conversation_id
        if opened and not chat.is_missing and changes.conversations & {opened, EVERYTHING}:
            must_follow = await catch_up(chat, await _turns(runtime, changes, opened))
    if must_follow:
        await app.event_processor.enqueue_many(tab, *Event.from_event_type(ChatState.follow()))
