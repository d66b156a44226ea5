"""What changes for a page that shows a conversation is told to it, and what a turn keeps."""

import asyncio
import json
from pathlib import Path

import pytest

from rag_app import chat
from rag_app.errors import NotFoundError
from rag_app.library import conversations, documents
from rag_app.query.pipeline import QueryOptions
from rag_app.query.results import Filters, Finished
from rag_app.runtime import Runtime
from tests.support.ingesting import add_text

pytestmark = pytest.mark.integration


async def test_a_turn_that_begins_or_ends_and_a_new_name_are_told(runtime: Runtime) -> None:
    ids = (runtime.database, runtime.workspace_id)
    told: asyncio.Queue[int] = asyncio.Queue()

    async def listen() -> None:
        async for payload in runtime.database.listen(conversations.CHANNEL):
            told.put_nowait(json.loads(payload)["conversation_id"])

    async def is_told() -> int:
        return await asyncio.wait_for(told.get(), 30)

    conversation_id = await conversations.start_conversation(*ids, "How do bees keep warm?")
    listening = asyncio.create_task(listen())
    try:
        while told.empty():  # until the listener is there
            await conversations.rename_conversation(*ids, conversation_id, "Bees")
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.2)
        while not told.empty():
            assert conversation_id == told.get_nowait()

        turn_id = await conversations.begin_turn(*ids, conversation_id, "How?")
        assert conversation_id == await is_told()
        await conversations.end_turn(*ids, turn_id, status="stopped")
        assert conversation_id == await is_told()
        await conversations.remove_conversation(*ids, conversation_id)
        assert conversation_id == await is_told()
        assert told.empty()
    finally:
        listening.cancel()


async def test_a_turn_keeps_what_it_was_searched_in_and_why_nothing_answered(
    runtime: Runtime, tmp_path: Path
) -> None:
    ids = (runtime.database, runtime.workspace_id)
    with pytest.raises(NotFoundError):
        await conversations.newest_turn(*ids)
    kept = await add_text(runtime, tmp_path, "bees.md", "# Bees\n\nA colony has one queen.")
    gone = await add_text(runtime, tmp_path, "ants.md", "# Ants\n\nAn ant has six legs.")
    filters = Filters(source_types=("markdown",), document_ids=(kept.id, gone.id))
    options = QueryOptions(filters=filters)

    events = [e async for e in chat.take_turn(runtime, None, "How tall is Mount Fuji?", options)]
    await documents.remove_document(*ids, gone.id)

    finished = events[-1]
    assert isinstance(finished, Finished)
    assert finished.turn_id == await conversations.newest_turn(*ids)
    turn = await conversations.get_turn(*ids, finished.turn_id)
    assert turn.conversation_id == finished.conversation_id
    assert turn.found["documents"] == {str(kept.id): "Bees"}
    assert turn.found["options"]["filters"]["source_types"] == ["markdown"]
    assert turn.found["notice"] == ""
    assert turn.found["absence"] == {
        "words": ["tall", "Mount", "Fuji"],
        "searched": {"markdown": 2},
    }
    assert await documents.list_source_types(*ids) == {"markdown": 1}


async def test_a_turn_that_was_stopped_was_found_by_nothing(runtime: Runtime) -> None:
    ids = (runtime.database, runtime.workspace_id)
    conversation_id = await conversations.start_conversation(*ids, "How?")
    turn_id = await conversations.begin_turn(*ids, conversation_id, "How?")

    assert (await conversations.get_turn(*ids, turn_id)).found == {}
