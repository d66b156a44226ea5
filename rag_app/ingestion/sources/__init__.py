"""The kinds of source, and extract(request), which picks one."""

import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path

from rag_app.errors import UnsupportedSourceError
from rag_app.ingestion.content import Extracted
from rag_app.ingestion.fetching import Fetched, fetch
from rag_app.ingestion.request import ExtractRequest
from rag_app.ingestion.sources import collection, markdown, pdf, web, youtube

__all__ = ["SOURCES", "ExtractRequest", "extract"]

SOURCES = (pdf, web, markdown)
"""Specific before general, each picked by what the document holds."""


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
    for source in SOURCES:
        if source.accepts(request):
            if source is pdf and request.fetched is not None:
                return await _downloaded_pdf(request, request.fetched)
            return await source.extract(request)
    raise UnsupportedSourceError(
        f'"{request.label}" is no kind of document Pincite can read: '
        "add PDF, Markdown, plain text, a web page or a YouTube video."
    )


async def _downloaded_pdf(request: ExtractRequest, fetched: Fetched) -> Extracted:
    """Extract a PDF from the web, and keep the file so that its pages can be shown."""
    with tempfile.TemporaryDirectory(prefix="pincite-") as folder:
        path = Path(folder) / "download.pdf"
        await asyncio.to_thread(path.write_bytes, fetched.body)
        # the last part of the address names the file better than our own name for it
        local = replace(request, path=path, name=fetched.url.partition("?")[0])
        return replace(await pdf.extract(local), original=fetched.body)
