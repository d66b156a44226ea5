"""Ingests one document: extract, chunk, embed, store, publish."""

import asyncio
import contextlib
import hashlib
import logging
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import Any

from rag_app.database.session import Database
from rag_app.errors import EmptyContentError, IngestionError, RagAppError
from rag_app.ingestion import sources, storing
from rag_app.ingestion.browser import Browser
from rag_app.ingestion.chunking import CountTokens, split
from rag_app.ingestion.content import Extracted
from rag_app.ingestion.progress import Progress, StoppedError
from rag_app.jobs import queue
from rag_app.jobs.worker import Attempt
from rag_app.library import documents
from rag_app.library.files import FileStore
from rag_app.providers.base import Embedder
from rag_app.settings import Settings

logger = logging.getLogger(__name__)

GIVEN_UP = (
    '"{}" was begun {} times and Pincite ended each time before it was done. Try again when the '
    "computer has more memory free, or remove it."
)


@dataclass(frozen=True)
class Ingestion:
    """What taking in documents needs."""

    settings: Settings
    database: Database
    files: FileStore
    embedder: Embedder
    model_id: int
    count_tokens: CountTokens
    browser: Browser


async def ingest_document(ingestion: Ingestion, document_id: int, attempt: Attempt) -> None:
    """Take a document in, or go on where an earlier attempt stopped.

    Whatever goes wrong is shown beside the document. What may work later is raised, for the queue
    to try again, unless this is the last attempt.
    """
    database = ingestion.database
    try:
        document = await documents.begin(database, document_id)
        if document is None:
            return
        if attempt.is_one_too_many:
            raise IngestionError(GIVEN_UP.format(document["title"], attempt.number))
        await _ingest(ingestion, document)
    except StoppedError:
        logger.info("Document %s was stopped", document_id)
    except RagAppError as error:
        will_retry = error.retryable and not attempt.is_last
        is_told = await documents.report_failure(
            database, document_id, str(error), will_retry=will_retry
        )
        # where somebody has queued it anew, that job goes on and this one is over
        if will_retry and is_told:
            raise
    except Exception:
        reference = uuid.uuid4().hex[:8]
        logger.exception("Document %s failed (reference %s)", document_id, reference)
        await documents.report_failure(
            database,
            document_id,
            f"Something went wrong inside Pincite. Try again; the log has more under {reference}.",
            will_retry=False,
        )


async def embed_document(ingestion: Ingestion, document_id: int, attempt: Attempt) -> None:
    """Give a document vectors of the configured model; the last one makes questions use them.

    The document stays as it is: what fails here is raised, for the queue to try again.
    """
    version = await storing.find_live_version(ingestion.database, document_id)
    if version is None or attempt.is_one_too_many:
        return
    await storing.embed_version(
        ingestion.database,
        ingestion.embedder,
        workspace_id=version.workspace_id,
        version_id=version.id,
        model_id=ingestion.model_id,
        title=version.title,
    )
    await storing.adopt_model(ingestion.database, version.workspace_id, ingestion.model_id)
    await documents.tell(ingestion.database, version.workspace_id, document_id)


async def _ingest(ingestion: Ingestion, document: Mapping[str, Any]) -> None:
    database, document_id = ingestion.database, document["id"]
    workspace_id = document["workspace_id"]
    progress = Progress(database, document_id)
    await progress.step("fetch")
    extracted = await _extract(ingestion, document, progress)
    content_hash = _content_hash(document, extracted)
    version = await storing.find_version(database, document_id, content_hash)
    if version is not None and version.is_live:
        await storing.mark_unchanged(database, document_id, extracted)
        await _add_links(ingestion, workspace_id, extracted)
        return
    if version is None:
        await progress.step("chunk")
        chunks = await asyncio.to_thread(
            split, extracted.content, extracted.source_type, count_tokens=ingestion.count_tokens
        )
        if not chunks:
            raise EmptyContentError(f'"{extracted.title}" holds no text.')
        version_id = await storing.store_version(
            database,
            workspace_id=workspace_id,
            document_id=document_id,
            content_hash=content_hash,
            extracted=extracted,
            file_key=await _file_key(ingestion, document, extracted),
            chunks=chunks,
        )
        version = storing.StoredVersion(version_id, len(chunks))
    if version.chunks > storing.BATCH_CHUNKS:
        await storing.publish_early(
            database,
            workspace_id=workspace_id,
            document_id=document_id,
            version_id=version.id,
            model_id=ingestion.model_id,
            extracted=extracted,
        )
    await progress.step("embed")
    await storing.embed_version(
        database,
        ingestion.embedder,
        workspace_id=workspace_id,
        version_id=version.id,
        model_id=ingestion.model_id,
        title=extracted.title,
        on_progress=partial(progress.advance, "embed"),
    )
    await progress.step("publish")
    is_published = await storing.publish(
        database,
        workspace_id=workspace_id,
        document_id=document_id,
        version_id=version.id,
        model_id=ingestion.model_id,
        extracted=extracted,
    )
    if is_published:
        await _add_links(ingestion, workspace_id, extracted)


async def _add_links(ingestion: Ingestion, workspace_id: int, extracted: Extracted) -> None:
    """Queue what a collection holds, behind what somebody waits for."""
    for link in extracted.links:
        await documents.add_url(ingestion.database, workspace_id, link, priority=queue.BEHIND)


async def _extract(
    ingestion: Ingestion, document: Mapping[str, Any], progress: Progress
) -> Extracted:
    """Run the source's extractor, while progress is stored and a cancel is noticed."""
    key = document["file_key"]
    request = sources.ExtractRequest(
        uri=document["uri"],
        path=ingestion.files.local_path(key) if key else None,
        name=document["title"],
        settings=ingestion.settings,
        browser=ingestion.browser,
        on_progress=progress.note,
    )
    work = asyncio.create_task(sources.extract(request))
    watch = asyncio.create_task(progress.watch())
    try:
        await asyncio.wait({work, watch}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            watch.result()  # raises what ended it: the person's stop, or the database
        return await work
    finally:
        for task in (work, watch):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, RagAppError):
                await task


def _content_hash(document: Mapping[str, Any], extracted: Extracted) -> str:
    """Return the hash of the file's bytes, or of the text where the person gave no file."""
    if document["file_key"]:
        return PurePath(document["file_key"]).stem
    text = "\n".join((extracted.content, *extracted.links))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


async def _file_key(
    ingestion: Ingestion, document: Mapping[str, Any], extracted: Extracted
) -> str | None:
    """Return the key of the file to show; a file behind a web address is kept like an upload."""
    if document["file_key"] or extracted.original is None:
        return document["file_key"]
    return await asyncio.to_thread(
        ingestion.files.put_bytes, extracted.original, extracted.original_suffix or ".txt"
    )
