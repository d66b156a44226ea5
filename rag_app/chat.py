"""Takes one turn: history in, answer streamed, turn saved while it streams."""

import asyncio
import contextlib
import logging
import time
import uuid
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from rag_app.errors import RagAppError
from rag_app.library import conversations
from rag_app.query import pipeline
from rag_app.query.results import (
    Delta,
    Event,
    Failed,
    Finished,
    PastTurn,
    Retrieved,
    Rewritten,
)
from rag_app.query.syntax import clean_question
from rag_app.runtime import Runtime

logger = logging.getLogger(__name__)

STORE_SECONDS = 0.5  # how often the text written so far is stored, and the turn shown to be alive
FOLLOW_SECONDS = 0.05
POLL_SECONDS = 0.4
HISTORY_TURNS = 6


@dataclass(frozen=True)
class TurnProgress:
    """How far a turn is: `text` is the whole answer so far, `passages` as stored."""

    status: str
    text: str
    passages: list[dict[str, Any]] = field(default_factory=list)
    notice: str = ""
    error: str | None = None


@dataclass
class _LiveTurn:
    """A turn that runs in this process; its followers read it without the database."""

    task: asyncio.Task[None]
    text: str = ""
    passages: list[dict[str, Any]] = field(default_factory=list)
    notice: str = ""


_live: dict[int, _LiveTurn] = {}


async def take_turn(
    runtime: Runtime,
    conversation_id: int | None,
    question: str,
    options: pipeline.QueryOptions | None = None,
) -> AsyncIterator[Event]:
    """Ask in a conversation, new when None, and yield the turn's events as they are stored."""
    question = clean_question(question)
    conversation_id, turn_id = await _begin(runtime, conversation_id, question)
    async for event in _run(runtime, conversation_id, turn_id, question, options):
        yield event


async def start_turn(
    runtime: Runtime,
    conversation_id: int,
    question: str,
    options: pipeline.QueryOptions | None = None,
) -> int:
    """Store a question, let it be answered by itself in this process, and return the turn's id."""
    question = clean_question(question)
    _, turn_id = await _begin(runtime, conversation_id, question)

    async def run() -> None:
        try:
            async for event in _run(runtime, conversation_id, turn_id, question, options):
                _remember(turn_id, event)
        finally:
            _live.pop(turn_id, None)

    _live[turn_id] = _LiveTurn(asyncio.create_task(run(), name=f"turn {turn_id}"))
    return turn_id


async def follow_turn(runtime: Runtime, turn_id: int) -> AsyncIterator[TurnProgress]:
    """Yield a turn's progress until it ends: what runs here from memory, all else as stored."""
    last: TurnProgress | None = None
    while (live := _live.get(turn_id)) is not None:
        progress = TurnProgress("running", live.text, live.passages, live.notice)
        if progress != last:
            last = progress
            yield progress
        await asyncio.sleep(FOLLOW_SECONDS)
    while True:
        turn = await conversations.get_turn(runtime.database, runtime.workspace_id, turn_id)
        progress = TurnProgress(turn.status, turn.answer, turn.passages, error=turn.error)
        if progress != last:
            last = progress
            yield progress
        if turn.status != "running":
            return
        await asyncio.sleep(POLL_SECONDS)


async def stop_turn(runtime: Runtime, turn_id: int) -> None:
    """Stop a running turn, in whichever process it runs; what was written stays."""
    live = _live.get(turn_id)
    if live is not None:
        live.task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await live.task
        await conversations.store_text(runtime.database, turn_id, live.text)
    await conversations.end_turn(runtime.database, runtime.workspace_id, turn_id, status="stopped")


async def stop_all_turns(runtime: Runtime) -> None:
    """Stop what runs in this process, before it ends; the text written so far is stored."""
    await asyncio.gather(*(stop_turn(runtime, turn_id) for turn_id in list(_live)))


async def _begin(runtime: Runtime, conversation_id: int | None, question: str) -> tuple[int, int]:
    if conversation_id is None:
        conversation_id = await conversations.start_conversation(
            runtime.database, runtime.workspace_id, question
        )
    turn_id = await conversations.begin_turn(
        runtime.database, runtime.workspace_id, conversation_id, question
    )
    return conversation_id, turn_id


async def _run(
    runtime: Runtime,
    conversation_id: int,
    turn_id: int,
    question: str,
    options: pipeline.QueryOptions | None,
) -> AsyncIterator[Event]:
    """Run the pipeline and store each event; every ending leaves the turn in a final status."""
    try:
        history = await _history(runtime, conversation_id, turn_id)
        async for event in _store_events(
            runtime, turn_id, pipeline.ask(runtime.query, question, history, options)
        ):
            yield event
    except RagAppError as error:
        yield await _fail(runtime, turn_id, str(error))
    except (asyncio.CancelledError, GeneratorExit):
        raise
    except Exception:
        reference = uuid.uuid4().hex[:8]
        logger.exception("Turn %s failed (reference %s)", turn_id, reference)
        yield await _fail(
            runtime,
            turn_id,
            f"Something went wrong inside Pincite. Ask again; the log has more under {reference}.",
        )


async def _store_events(
    runtime: Runtime, turn_id: int, events: AsyncIterator[Event]
) -> AsyncIterator[Event]:
    text, standalone, stored = "", "", time.monotonic()
    alive = asyncio.create_task(_keep_alive(runtime, turn_id))
    try:
        async for event in events:
            match event:
                case Rewritten():
                    standalone = event.standalone_question
                case Retrieved():
                    await conversations.store_passages(
                        runtime.database,
                        turn_id,
                        standalone_question=standalone,
                        passages=event.passages,
                        snapshot=event.snapshot,
                    )
                case Delta():
                    text += event.text
                    if time.monotonic() - stored >= STORE_SECONDS:
                        stored = time.monotonic()
                        if not await conversations.store_text(runtime.database, turn_id, text):
                            return  # stopped from another process, or removed
                case Finished():
                    await conversations.finish_turn(
                        runtime.database,
                        runtime.workspace_id,
                        turn_id,
                        answer=event.answer,
                        log=event.log,
                    )
                case Failed():
                    await conversations.store_text(runtime.database, turn_id, event.text)
                    await _fail(runtime, turn_id, event.message)
            yield event
    finally:
        alive.cancel()


async def _keep_alive(runtime: Runtime, turn_id: int) -> None:
    """Touch the turn while a model is silent, so that nobody takes it for interrupted."""
    while True:
        await asyncio.sleep(conversations.INTERRUPTED_SECONDS / 5)
        await conversations.touch_turn(runtime.database, turn_id)


async def _fail(runtime: Runtime, turn_id: int, message: str) -> Failed:
    await conversations.end_turn(
        runtime.database, runtime.workspace_id, turn_id, status="failed", error=message
    )
    return Failed(message)


async def _history(runtime: Runtime, conversation_id: int, turn_id: int) -> list[PastTurn]:
    turns = await conversations.list_turns(runtime.database, runtime.workspace_id, conversation_id)
    return [
        PastTurn(turn.question, turn.answer)
        for turn in turns
        if turn.id != turn_id and turn.status in {"done", "stopped"} and turn.answer
    ][-HISTORY_TURNS:]


def _remember(turn_id: int, event: Event) -> None:
    live = _live.get(turn_id)
    if live is None:
        return
    match event:
        case Retrieved():
            live.passages = [conversations.plain(passage) for passage in event.passages]
            live.notice = event.notice
        case Delta():
            live.text += event.text


def describe(finished: Finished) -> Mapping[str, Any]:
    """Return a finished turn in the shape of `ask --json`."""
    answer = finished.answer
    return {
        "question": finished.question,
        "standalone_question": finished.standalone_question,
        "answer": answer.text,
        "abstained": answer.abstained,
        "snapshot": finished.snapshot,
        "embedding_model": finished.embedding_model,
        "sources": [
            describe_passage(citation.passage)
            | {
                "page": citation.page,
                "second": citation.second,
                "marker": citation.marker,
                "quote": citation.quote,
                "quote_start": citation.start,
                "quote_end": citation.end,
                "verbatim": citation.verbatim,
                "quotes": [asdict(quote) for quote in citation.quotes],
            }
            for citation in answer.citations
        ],
        "unsupported": list(answer.unsupported),
        "timings_ms": dict(finished.timings_ms),
    }


def describe_passage(passage: Any) -> dict[str, Any]:
    """Return a passage in the shape of `search --json`."""
    return {
        "document_id": passage.document_id,
        "title": passage.title,
        "uri": passage.uri,
        "source_type": passage.source_type,
        "page": passage.page,
        "second": passage.second,
        "heading": passage.heading,
        "ordinal": passage.ordinal,
        "excerpt": passage.text,
        "link": passage.link,
        "score": passage.score,
        "distance": passage.distance,
        "legs": dict(passage.legs),
    }
