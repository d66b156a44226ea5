"""Every task by name, and how a job for it is put into the queue."""

from dataclasses import dataclass

from procrastinate import App, PsycopgConnector

from rag_app.database.session import Connection

INGEST_DOCUMENT = "ingest_document"
PURGE_DOCUMENT = "purge_document"
EMBED_DOCUMENT = "embed_document"

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
    EMBED_DOCUMENT: Task(EMBED_DOCUMENT, queue="documents", priority=-10),
}


BEHIND = -5
"""The priority of what nobody waits for: the pages of a site, the files of a watched folder."""

# a job that waits already runs now instead of after the pause before its next try
BRING_FORWARD = """
update procrastinate_jobs
set scheduled_at = least(scheduled_at, now() + make_interval(secs => %(seconds)s)), attempts = 0,
  priority = greatest(priority, %(priority)s)
where status = 'todo' and task_name = %(name)s and lock = %(lock)s returning id
"""


def document_lock(document_id: int) -> str:
    """Return the name of the lock under which one job at a time works on a document."""
    return f"document-{document_id}"


async def defer(
    connection: Connection,
    name: str,
    *,
    document_id: int,
    in_seconds: int = 0,
    priority: int | None = None,
) -> None:
    """Put a job into the queue in the caller's transaction, or bring forward one that waits.

    `priority` takes the place of the task's own; what is higher runs first.
    Two that were put in at the same moment do no harm: the second finds nothing left to do.
    """
    task, lock = TASKS[name], document_lock(document_id)
    cursor = await connection.execute(
        BRING_FORWARD,
        {
            "name": name,
            "lock": lock,
            "seconds": in_seconds,
            "priority": task.priority if priority is None else priority,
        },
    )
    if await cursor.fetchone() is not None:
        return
    await _app.configure_task(
        name,
        queue=task.queue,
        priority=task.priority if priority is None else priority,
        lock=lock,
        schedule_in={"seconds": in_seconds} if in_seconds else None,
        connection=connection,
    ).defer_async(document_id=document_id)
