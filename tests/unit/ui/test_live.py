"""Open pages go on hearing of changes, whatever one of them or the listening does."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest

from rag_app.library import documents
from rag_app.ui import live

APP: Any = SimpleNamespace(event_namespace=SimpleNamespace(token_to_sid={"bad": 1, "good": 2}))


class Channels:
    """A database of which only the notifications are used; the first listener may break."""

    def __init__(self, *, breaks: bool) -> None:
        self.breaks = breaks
        self.ids: asyncio.Queue[int] = asyncio.Queue()

    async def listen(self, channel: str) -> AsyncIterator[str]:
        if channel != documents.CHANNEL:
            await asyncio.Event().wait()
        if self.breaks:
            self.breaks = False
            raise ValueError("a message nobody can read")
        while True:
            document_id = await self.ids.get()
            yield json.dumps({"workspace_id": 1, "document_id": document_id})


@pytest.fixture
def pushed(monkeypatch: pytest.MonkeyPatch) -> asyncio.Queue[tuple[str, frozenset[int]]]:
    told: asyncio.Queue[tuple[str, frozenset[int]]] = asyncio.Queue()

    async def load(_runtime: Any, changed: frozenset[int], *_: frozenset[int]) -> Any:
        return changed

    async def push(_app: Any, _runtime: Any, tab: str, changes: Any) -> None:
        if tab == "bad":
            raise RuntimeError("this tab's state is broken")
        told.put_nowait((tab, changes))

    monkeypatch.setattr(live, "_load", load)
    monkeypatch.setattr(live, "_push", push)
    monkeypatch.setattr(live, "SECONDS_BETWEEN_PUSHES", 0)
    monkeypatch.setattr(live, "SECONDS_BEFORE_ANOTHER_TRY", 0)
    return told


@contextlib.asynccontextmanager
async def telling(database: Channels) -> AsyncIterator[None]:
    runtime: Any = SimpleNamespace(database=database, workspace_id=1)
    task = asyncio.create_task(live.tell_pages(APP, runtime))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_tab_that_fails_ends_nothing_for_the_others(pushed: Any) -> None:
    database = Channels(breaks=False)
    async with telling(database):
        for document_id in (7, 8):
            database.ids.put_nowait(document_id)
            assert await asyncio.wait_for(pushed.get(), 10) == ("good", {document_id})


async def test_listening_that_broke_off_begins_again_and_says_it_may_have_missed_something(
    pushed: Any,
) -> None:
    database = Channels(breaks=True)
    async with telling(database):
        assert await asyncio.wait_for(pushed.get(), 10) == ("good", {live.EVERYTHING})
        database.ids.put_nowait(7)
        assert await asyncio.wait_for(pushed.get(), 10) == ("good", {7})
