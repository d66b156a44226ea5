"""What changes for a page that shows a conversation is told to it."""

import asyncio
import json

import pytest

from rag_app.library import conversations
from rag_app.runtime import Runtime

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
