"""What a source is asked to extract."""

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from rag_app.ingestion.fetching import Fetched
from rag_app.settings import Settings

_HEAD_BYTES = 4096


class Renderer(Protocol):
    """A browser that runs a page's scripts; see `browser.Browser`."""

    async def render(self, url: str) -> str:
        """Return the HTML of the page as a person would see it."""
        ...


@dataclass(frozen=True)
class ExtractRequest:
    """One document to extract: a file at `path` called `name`, or else the address `uri`.

    `on_progress` is called in the event loop with what is done and what there is in all, in
    pages. `fetched` is what stood at the address, once it has been fetched.
    """

    uri: str
    settings: Settings
    path: Path | None = None
    name: str = ""
    browser: Renderer | None = None
    on_progress: Callable[[int, int], None] | None = None
    fetched: Fetched | None = None

    @property
    def label(self) -> str:
        """What the person calls it: the file name or the address."""
        return self.name or (self.path.name if self.path else self.uri)

    def head(self) -> bytes:
        """Return the first bytes, of which every source knows its own."""
        if self.fetched is not None:
            return self.fetched.body[:_HEAD_BYTES]
        if self.path is None:
            return b""
        with self.path.open("rb") as file:
            return file.read(_HEAD_BYTES)

    def open(self) -> IO[bytes]:
        """Open the bytes, for kinds that tell themselves by more than their first."""
        if self.fetched is not None:
            return io.BytesIO(self.fetched.body)
        return self.path.open("rb") if self.path else io.BytesIO()

    def read(self) -> bytes:
        """Return all bytes."""
        if self.fetched is not None:
            return self.fetched.body
        return self.path.read_bytes() if self.path else b""
