"""Takes documents in within a test's own process, without the queue."""

from pathlib import Path
from typing import Any

from rag_app.ingestion.browser import Browser
from rag_app.jobs import queue
from rag_app.jobs.worker import MAX_ATTEMPTS, Attempt
from rag_app.library import documents
from rag_app.library.documents import DocumentSummary
from rag_app.runtime import Runtime, worker_tasks


async def ingest(runtime: Runtime, document_id: int, *, last: bool = True) -> DocumentSummary:
    """Run the job of a document now and return what became of it."""
    task = worker_tasks(runtime, Browser(runtime.settings))[queue.INGEST_DOCUMENT]
    await task(document_id, Attempt(MAX_ATTEMPTS - 1 if last else 0))
    return await documents.get_document(runtime.database, runtime.workspace_id, document_id)


async def add_text(runtime: Runtime, folder: Path, name: str, text: str) -> DocumentSummary:
    """Add a note and take it in."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return await add_path(runtime, path)


async def add_path(runtime: Runtime, path: Path) -> DocumentSummary:
    """Add a file under its path and take it in."""
    document_id = await documents.add_file(
        runtime.database, runtime.files, runtime.workspace_id, path, path.name, uri=str(path)
    )
    return await ingest(runtime, document_id)


async def count(runtime: Runtime, table: str) -> int:
    """Return how many rows a table has."""
    async with runtime.database.connection() as connection:
        row: Any = await (await connection.execute(f"select count(*) as n from {table}")).fetchone()
    return int(row["n"])
