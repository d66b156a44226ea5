"""Every task by name, and how a job for it is put into the queue."""

from dataclasses import dataclass

from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import AlreadyEnqueued

from rag_app.database.session import Connection

INGEST_DOCUMENT = "ingest_document"
PURGE_DOCUMENT = "purge_document"

# defers on the caller's connection only, so this one is never opened
_app = App(connector=PsycopgConnector())


@dataclass(frozen=True)
class Task:
    """A task as the queue sees it; `runtime.py` says which function it is."""

    name: str
    queue: str
    priority: int = 0


TASKS = {
    INGEST_DOCUMENT: Task(INGEST_DOCUMENT, queue="documents"),
    PURGE_DOCUMENT: Task(PURGE_DOCUMENT, queue="documents", priority=10),
}


async def defer(
    connection: Connection, name: str, *, document_id: int, in_seconds: int = 0
) -> None:
    """Put a job into the queue in the caller's transaction; one a document waits at a time."""
    task = TASKS[name]
    lock = f"{name}-{document_id}"
    deferrer = _app.configure_task(
        name,
        queue=task.queue,
        priority=task.priority,
        lock=f"document-{document_id}",
        queueing_lock=lock,
        schedule_in={"seconds": in_seconds} if in_seconds else None,
        connection=connection,
    )
    try:
        # a savepoint, since a job that already waits breaks the transaction otherwise
        async with connection.transaction():
            await deferrer.defer_async(document_id=document_id)
    except AlreadyEnqueued:
        pass
