"""Runs the reader of a file in the sandbox, and makes a document of what it answers."""

import asyncio
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from rag_app.errors import EmptyContentError, IngestionError
from rag_app.ingestion.content import Extracted, clean
from rag_app.ingestion.request import ExtractRequest
from rag_app.ingestion.sandbox import Child, ChildDiedError
from rag_app.marks import PAGE_BREAK, find_headings

_MEMORY_BYTES = 1 << 30
_SECONDS = 120  # of silence; what reads on for longer gives an answer a part
_LONGEST_TITLE = 300  # signs


@dataclass(frozen=True)
class Part:
    """A chapter, sheet or slide, or the whole of a document without such; text is cleaned."""

    facts: Mapping[str, Any]
    text: str


@dataclass(frozen=True)
class Reading:
    """What a reader says of a file as a whole, and its parts in order."""

    facts: Mapping[str, Any]
    parts: tuple[Part, ...]


async def read_parts(request: ExtractRequest, task: str) -> Reading:
    """Run a reader on the request's file.

    Raises IngestionError, also when the reader crashes or needs too much memory or time.
    """
    loop = asyncio.get_running_loop()
    stop = threading.Event()

    def report(done: int, in_all: int) -> None:
        if request.on_progress is not None:
            loop.call_soon_threadsafe(request.on_progress, done, in_all)

    def read() -> Reading:
        parts: list[Part] = []
        facts: Mapping[str, Any] = {}
        with Child(task, memory_bytes=_MEMORY_BYTES, seconds=_SECONDS) as child:
            answers = child.stream({"path": str(request.path)}, stop=stop)
            for number, (header, payload) in enumerate(answers):
                if number == 0:
                    facts = header
                    continue
                parts.append(Part(header, clean(payload.decode("utf-8", "replace")).strip()))
                if facts.get("pages"):
                    report(len(parts), int(facts["pages"]))
        return Reading(facts, tuple(parts))

    assert request.path is not None, "read from a file"
    try:
        return await asyncio.to_thread(read)
    except asyncio.CancelledError:
        stop.set()
        raise
    except ChildDiedError as error:
        raise IngestionError(
            f'Could not read "{request.label}": its reader stopped. It is damaged, or takes more '
            "memory or time than one document may: save it anew, or in parts, and add that."
        ) from error
    except IngestionError as error:
        raise type(error)(f'Could not read "{request.label}": {error}') from error


def write_document(
    request: ExtractRequest,
    reading: Reading,
    source_type: str,
    *,
    warnings: Sequence[str] = (),
    language: str | None = None,
) -> Extracted:
    """Make a document without pages of the parts that hold text."""
    content = "\n\n".join(part.text for part in reading.parts if part.text)
    check_has_text(request, content)
    return Extracted(
        title=choose_title(str(reading.facts.get("title") or ""), content, request),
        content=content,
        source_type=source_type,
        language=language,
        warnings=(*reading.facts.get("warnings", ()), *warnings),
    )


def write_slides(request: ExtractRequest, reading: Reading, source_type: str) -> Extracted:
    """Make a document with a page a slide."""
    texts = [part.text for part in reading.parts]
    content = PAGE_BREAK.join(texts)
    check_has_text(request, content)
    states = ["text" if any(map(str.isalnum, text)) else "empty" for text in texts]
    return Extracted(
        title=choose_title(str(reading.facts.get("title") or ""), content, request),
        content=content,
        source_type=source_type,
        page_count=len(texts),
        extraction={"pages": states},
    )


def check_has_text(request: ExtractRequest, content: str) -> None:
    """Raise when a document holds nothing that could be found."""
    if not any(map(str.isalnum, content)):
        raise EmptyContentError(f'"{request.label}" holds no text.')


def choose_title(given: str, content: str, request: ExtractRequest) -> str:
    """Return the title a file gives itself, or else its first heading, or else its name."""
    title = " ".join(clean(given).split())[:_LONGEST_TITLE]
    if any(map(str.isalnum, title)):
        return title
    first = next(find_headings(content), None)
    if first is not None and not content[: first[0]].strip():
        return first[2]
    return name_of(request)


def name_of(request: ExtractRequest) -> str:
    """Return a file's name without its suffix."""
    name = request.label.rstrip("/").rpartition("/")[2] or request.label
    return PurePath(name).stem or name
