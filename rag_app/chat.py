"""Takes one turn: history in, answer streamed, turn saved while it streams."""

import asyncio
import contextlib
import logging
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, cast

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

STORE_SECONDS = 0.5  # how often the text written so far is stored
WATCH_SECONDS = 1.0  # how often a turn is shown to be alive, and seen to be stopped elsewhere
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

    task: asyncio.Task[None] | None = None
    text: str = ""
    standalone_question: str = ""
    passages: list[dict[str, Any]] = field(default_factory=list)
    notice: str = ""
    stored_at: float = field(default_factory=time.monotonic)


_live: dict[int, _LiveTurn] = {}


async def take_turn(
    runtime: Runtime,
    conversation_id: int | None,
    question: str,
    options: pipeline.QueryOptions | None = None,
) -> AsyncGenerator[Event, None]:
    """Ask in a conversation, new when None, and yield the turn's events as they are stored.

    The turn is stopped when nobody takes its events any more.
    """
    events = await open_turn(runtime, conversation_id, question, options)
    async with contextlib.aclosing(events):
        async for event in events:
            yield event


async def open_turn(
    runtime: Runtime,
    conversation_id: int | None,
    question: str,
    options: pipeline.QueryOptions | None = None,
) -> AsyncGenerator[Event, None]:
    """Begin a turn, and return its events; raise NotFoundError without such a conversation."""
    question = clean_question(question)
    conversation_id, turn_id = await _begin(runtime, conversation_id, question)
    told: asyncio.Queue[Event | None] = asyncio.Queue()
    task = _launch(runtime, conversation_id, turn_id, question, options, told.put_nowait)
    task.add_done_callback(lambda _: told.put_nowait(None))
    return _listen(task, told)


async def start_turn(
    runtime: Runtime,
    conversation_id: int,
    question: str,
    options: pipeline.QueryOptions | None = None,
) -> int:
    """Store a question, let it be answered by itself in this process, and return the turn's id."""
    question = clean_question(question)
    _, turn_id = await _begin(runtime, conversation_id, question)
    _launch(runtime, conversation_id, turn_id, question, options, lambda _: None)
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
    if live is not None and live.task is not None:
        live.task.cancel()
        await asyncio.wait({live.task})
    # a task that never got to run, and any other process, learn it from here
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


def _launch(
    runtime: Runtime,
    conversation_id: int,
    turn_id: int,
    question: str,
    options: pipeline.QueryOptions | None,
    tell: Callable[[Event], None],
) -> asyncio.Task[None]:
    """Let a turn run in a task of its own, where no client that hangs up can cut its ending."""
    live = _live[turn_id] = _LiveTurn()
    running = _run(runtime, live, conversation_id, turn_id, question, options, tell)
    live.task = asyncio.create_task(running, name=f"turn {turn_id}")
    live.task.add_done_callback(lambda _: _live.pop(turn_id, None))
    return live.task


async def _listen(
    task: asyncio.Task[None], told: asyncio.Queue[Event | None]
) -> AsyncGenerator[Event, None]:
    try:
        while (event := await told.get()) is not None:
            yield event
    finally:
        task.cancel()
        await asyncio.wait({task})


async def _run(
    runtime: Runtime,
    live: _LiveTurn,
    conversation_id: int,
    turn_id: int,
    question: str,
    options: pipeline.QueryOptions | None,
    tell: Callable[[Event], None],
) -> None:
    """Run the pipeline, store and tell each event; every ending leaves a final status."""
    task = asyncio.current_task()
    assert task is not None
    watch = asyncio.create_task(_watch(runtime, turn_id, task))
    try:
        history = await _history(runtime, conversation_id, turn_id)
        events = cast(
            AsyncGenerator[Event, None], pipeline.ask(runtime.query, question, history, options)
        )
        async with contextlib.aclosing(events):
            async for event in events:
                if isinstance(event, Finished | Failed):
                    watch.cancel()  # it would take the end that is stored now for a stop
                if not await _store(runtime, turn_id, live, event):
                    raise asyncio.CancelledError
                if isinstance(event, Finished):
                    event = replace(event, turn_id=turn_id, conversation_id=conversation_id)
                tell(event)
    except asyncio.CancelledError:
        await _end(runtime, turn_id, "stopped", None, live.text)
        tell(Failed("The answer was stopped.", live.text))
    except RagAppError as error:
        await _end(runtime, turn_id, "failed", str(error), live.text)
        tell(Failed(str(error), live.text))
    except Exception:
        reference = uuid.uuid4().hex[:8]
        logger.exception("Turn %s failed (reference %s)", turn_id, reference)
        message = (
            f"Something went wrong inside Pincite. Ask again; the log has more under {reference}."
        )
        await _end(runtime, turn_id, "failed", message, live.text)
        tell(Failed(message, live.text))
    finally:
        watch.cancel()


async def _store(runtime: Runtime, turn_id: int, live: _LiveTurn, event: Event) -> bool:
    """Keep an event in memory and in the database; False when the turn was stopped elsewhere."""
    match event:
        case Rewritten():
            live.standalone_question = event.standalone_question
        case Retrieved():
            await conversations.store_passages(
                runtime.database,
                runtime.workspace_id,
                turn_id,
                standalone_question=live.standalone_question,
                passages=event.passages,
                snapshot=event.snapshot,
                log=event.log,
            )
            live.passages = [conversations.plain(passage) for passage in event.passages]
            live.notice = event.notice
        case Delta():
            live.text += event.text
            if time.monotonic() - live.stored_at >= STORE_SECONDS:
                live.stored_at = time.monotonic()
                return await conversations.store_text(runtime.database, turn_id, live.text)
        case Finished():
            return await conversations.finish_turn(
                runtime.database,
                runtime.workspace_id,
                turn_id,
                answer=event.answer,
                log=event.log,
            )
        case Failed():
            await _end(runtime, turn_id, "failed", event.message, event.text)
    return True


async def _watch(runtime: Runtime, turn_id: int, task: asyncio.Task[None]) -> None:
    """Show that a turn is alive while a model is silent, and end it once it was stopped elsewhere.

    A database that does not answer for a moment ends nothing.
    """
    while True:
        await asyncio.sleep(WATCH_SECONDS)
        try:
            if not await conversations.touch_turn(runtime.database, turn_id):
                task.cancel()
                return
        except Exception as error:
            logger.warning("Could not touch turn %s: %s", turn_id, error)


async def _end(runtime: Runtime, turn_id: int, status: str, error: str | None, text: str) -> None:
    """Store how a running turn ended and what was written; one that has ended stays as it is."""
    try:
        await conversations.store_text(runtime.database, turn_id, text)
        await conversations.end_turn(
            runtime.database, runtime.workspace_id, turn_id, status=status, error=error
        )
    except RagAppError as failure:
        # nobody touches the turn any more, so it will be shown as interrupted
        logger.warning("Could not store that turn %s %s: %s", turn_id, status, failure)


async def _history(runtime: Runtime, conversation_id: int, turn_id: int) -> list[PastTurn]:
    turns = await conversations.list_turns(runtime.database, runtime.workspace_id, conversation_id)
    return [
        PastTurn(turn.question, turn.answer)
        for turn in turns
        if turn.id != turn_id and turn.status in {"done", "stopped"} and turn.answer
    ][-HISTORY_TURNS:]


async def search(runtime: Runtime, question: str, options: pipeline.QueryOptions) -> dict[str, Any]:
    """Return the passages nearest to a question in the shape of `search --json`."""
    question = clean_question(question)
    found = await pipeline.retrieve(runtime.query, question, options)
    return {
        "question": question,
        "snapshot": found.scope.snapshot,
        "embedding_model": runtime.provider.embedder.model.name,
        "passages": [describe_passage(passage) for passage in found.passages],
    }


def describe(finished: Finished) -> Mapping[str, Any]:
    """Return a finished turn in the shape of `ask --json`."""
    answer = finished.answer
    return {
        "turn_id": finished.turn_id,
        "conversation_id": finished.conversation_id,
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
        "absence": finished.absence.as_json() if finished.absence else None,
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
