"""The kinds of source, and extract(request), which picks one."""

import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path, PurePath
from types import ModuleType

from rag_app.errors import UnsupportedSourceError
from rag_app.ingestion.content import Extracted
from rag_app.ingestion.fetching import Fetched, fetch
from rag_app.ingestion.formats import NAMES
from rag_app.ingestion.request import ExtractRequest
from rag_app.ingestion.sources import (
    collection,
    csv_table,
    docx,
    epub,
    markdown,
    opendocument,
    pdf,
    pptx,
    rtf,
    spreadsheet,
    subtitles,
    unreadable,
    web,
    youtube,
)

__all__ = ["SOURCES", "SOURCE_TYPES", "ExtractRequest", "extract"]

SOURCES = (
    *(pdf, docx, pptx, spreadsheet, opendocument, epub, rtf, unreadable),
    *(web, subtitles, csv_table, markdown),
)
"""Specific before general, each picked by what the document holds."""

SOURCE_TYPES = tuple(
    sorted({source.SOURCE_TYPE for source in (*SOURCES, youtube, collection) if source.SOURCE_TYPE})
)

_FROM_FILES = frozenset({pdf, docx, pptx, spreadsheet, opendocument, epub, rtf})


async def extract(request: ExtractRequest) -> Extracted:
    """Extract a document with the source that knows its kind.

    Raises IngestionError, with one sentence for the person.
    """
    if request.path is None:
        if collection.accepts(request.uri):
            return await collection.extract(request)
        if youtube.accepts(request.uri):
            return await youtube.extract(request)
        fetched = await fetch(request.uri, request.settings.allowed_addresses)
        request = replace(request, fetched=fetched, name=request.name or request.uri)
    # in a thread, since a package may hold many thousand names to look through
    source = await asyncio.to_thread(_find_source, request)
    if source is None:
        raise UnsupportedSourceError(
            f'"{request.label}" is no kind of document Pincite can read: '
            f"add {', '.join(NAMES)}, a web page or a YouTube video."
        )
    if source in _FROM_FILES and request.fetched is not None:
        return await _downloaded(source, request, request.fetched)
    extracted: Extracted = await source.extract(request)
    return extracted


def _find_source(request: ExtractRequest) -> ModuleType | None:
    return next((source for source in SOURCES if source.accepts(request)), None)


async def _downloaded(source: ModuleType, request: ExtractRequest, fetched: Fetched) -> Extracted:
    """Extract a file from the web, and keep it so that it can be shown."""
    # the last part of the address names the file better than our own name for it
    name = fetched.url.partition("?")[0]
    with tempfile.TemporaryDirectory(prefix="pincite-") as folder:
        path = Path(folder) / "download"
        await asyncio.to_thread(path.write_bytes, fetched.body)
        extracted: Extracted = await source.extract(replace(request, path=path, name=name))
    suffix = ".pdf" if source is pdf else PurePath(name).suffix.lower()
    return replace(extracted, original=fetched.body, original_suffix=suffix)
