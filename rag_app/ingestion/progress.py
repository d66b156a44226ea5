"""Tells open pages how far a document has come, at most four times a second."""

import asyncio
import time
from collections.abc import Mapping

from rag_app.database.session import Database
from rag_app.errors import IngestionError
from rag_app.library import documents

INTERVAL_SECONDS = 0.25

# where each step begins and ends on the way from 0 to 1; embedding takes by far the longest
STEPS: Mapping[str, tuple[float, float]] = {
    "fetch": (0.0, 0.02),
    "extract": (0.02, 0.20),
    "chunk": (0.20, 0.24),
    "embed": (0.24, 0.97),
    "publish": (0.97, 1.0),
}


class StoppedError(IngestionError):
    """The document was cancelled or removed while it was being taken in."""


class Progress:
    """Stores a document's step and progress; raises StoppedError once it should stop."""

    def __init__(self, database: Database, document_id: int) -> None:
        self._database = database
        self._document_id = document_id
        self._last = 0.0
        self._pending: tuple[str, int, int] | None = None

    async def step(self, name: str) -> None:
        """Begin a step."""
        await self._store(name, 0.0)

    async def advance(self, name: str, done: int, total: int) -> None:
        """Report `done` of `total` within a step."""
        if time.monotonic() - self._last >= INTERVAL_SECONDS:
            await self._store(name, done / max(total, 1))

    def note(self, done: int, total: int) -> None:
        """Remember how far an extractor is; may be called from any thread."""
        self._pending = ("extract", done, total)

    async def watch(self) -> None:
        """Store what `note` remembers, until cancelled."""
        while True:
            await asyncio.sleep(INTERVAL_SECONDS)
            pending, self._pending = self._pending, None
            if pending is not None:
                name, done, total = pending
                await self._store(name, done / max(total, 1))
            elif time.monotonic() - self._last > 4 * INTERVAL_SECONDS:
                # also notices a cancel while a source says nothing
                await self._check()

    async def _check(self) -> None:
        self._last = time.monotonic()
        if not await documents.is_running(self._database, self._document_id):
            raise StoppedError

    async def _store(self, name: str, fraction: float) -> None:
        begin, end = STEPS[name]
        self._last = time.monotonic()
        if not await documents.report_progress(
            self._database, self._document_id, name, begin + (end - begin) * min(fraction, 1.0)
        ):
            raise StoppedError
