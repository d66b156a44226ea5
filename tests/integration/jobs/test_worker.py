"""Workers die, stop, freeze and lose their database: every document comes to an end, once."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from rag_app.errors import IngestionError, ProviderUnavailableError
from rag_app.jobs import queue, worker
from rag_app.jobs.queue import document_lock
from rag_app.jobs.worker import MAX_STARTS, Attempt, put_back_lost_jobs, run_worker
from rag_app.library import documents
from rag_app.runtime import Runtime
from tests.support.ingesting import add_path, add_text, count, ingest

pytestmark = pytest.mark.integration

JOBS = (
    "select id, status::text as status, attempts, scheduled_at from procrastinate_jobs order by id"
)


async def rows(runtime: Runtime, statement: str, *values: object) -> list[dict[str, Any]]:
    async with runtime.database.connection() as connection:
        cursor = await connection.execute(statement, values)
        return await cursor.fetchall() if cursor.description else []


async def add(runtime: Runtime, folder: Path, name: str = "note.md", text: str = "A note.") -> int:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return await documents.add_file(
        runtime.database, runtime.files, runtime.workspace_id, path, name, uri=str(path)
    )


async def leave_behind(runtime: Runtime, document_id: int) -> int:
    """Make the job of a document look as a killed worker leaves it."""
    await rows(
        runtime,
        "with dead as (insert into procrastinate_workers (last_heartbeat) "
        "values (now() - interval '1 hour') returning id) "
        "update procrastinate_jobs j set status = 'doing', worker_id = dead.id from dead "
        "where j.lock = %s",
        document_lock(document_id),
    )
    await rows(runtime, "update document set status = 'running' where id = %s", document_id)
    return (await rows(runtime, JOBS))[0]["id"]


class Recorder:
    """A task that notes its runs and does what it is told."""

    def __init__(self, action: Callable[[int, Attempt], Any] | None = None) -> None:
        self.runs: list[tuple[int, int]] = []
        self.at_once = 0
        self.most_at_once = 0
        self.began = asyncio.Event()
        self._action = action

    async def __call__(self, document_id: int, attempt: Attempt) -> None:
        self.runs.append((document_id, attempt.number))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.began.set()
        try:
            if self._action is not None:
                await self._action(document_id, attempt)
        finally:
            self.at_once -= 1


@contextlib.asynccontextmanager
async def working(
    runtime: Runtime, task: Any, find_lost: Any = None
) -> AsyncIterator[asyncio.Task[None]]:
    stop = asyncio.Event()
    tasks = {queue.INGEST_DOCUMENT: task, queue.PURGE_DOCUMENT: task}
    running = asyncio.create_task(run_worker(runtime.database, tasks, stop, find_lost=find_lost))
    try:
        yield running
    finally:
        stop.set()
        await running


async def until(condition: Callable[[], Any], seconds: float = 20) -> None:
    async with asyncio.timeout(seconds):
        # what is waited for happens in the database
        while not (await result if asyncio.iscoroutine(result := condition()) else result):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "SWEEP_SECONDS", 0.1)
    monkeypatch.setattr(worker, "GRACE_SECONDS", 0.2)
    monkeypatch.setattr(worker, "RESTART_SECONDS", 0.1)


async def test_the_job_of_a_dead_worker_is_put_back_also_when_the_document_was_added_again(
    runtime: Runtime, tmp_path: Path
) -> None:
    document_id = await add(runtime, tmp_path)
    left = await leave_behind(runtime, document_id)
    assert await add(runtime, tmp_path, text="A changed note.") == document_id
    assert [row["status"] for row in await rows(runtime, JOBS)] == ["doing", "todo"]

    assert await put_back_lost_jobs(runtime.database) == [left]

    task = Recorder()
    async with working(runtime, task):
        await until(lambda: len(task.runs) == 2)
    assert task.most_at_once == 1
    assert await rows(runtime, JOBS) == []


async def test_a_slow_worker_keeps_what_it_holds(runtime: Runtime, tmp_path: Path) -> None:
    document_id = await add(runtime, tmp_path)
    await leave_behind(runtime, document_id)

    async with runtime.database.hold(document_lock(document_id)):
        assert await put_back_lost_jobs(runtime.database) == []
    assert len(await put_back_lost_jobs(runtime.database)) == 1


async def test_a_job_that_a_living_worker_lost_is_put_back(
    runtime: Runtime, tmp_path: Path
) -> None:
    document_id = await add(runtime, tmp_path)
    await leave_behind(runtime, document_id)
    await rows(runtime, "update procrastinate_workers set last_heartbeat = now()")
    assert await put_back_lost_jobs(runtime.database) == []

    await rows(runtime, "update procrastinate_events set at = now() - interval '1 hour'")

    assert len(await put_back_lost_jobs(runtime.database)) == 1


async def test_two_workers_never_take_in_one_document_at_once(
    runtime: Runtime, tmp_path: Path
) -> None:
    document_id = await add(runtime, tmp_path)

    async def wait(_id: int, _attempt: Attempt) -> None:
        await asyncio.sleep(0.5)

    task = Recorder(wait)
    async with working(runtime, task), working(runtime, task):
        await task.began.wait()
        # as if the first worker had been taken for dead
        await rows(
            runtime,
            "insert into procrastinate_jobs (queue_name, task_name, lock, args) "
            "select queue_name, task_name, lock || '-', args from procrastinate_jobs",
        )
        await rows(
            runtime, "update procrastinate_jobs set lock = %s where status = 'todo'", "other"
        )
        await until(lambda: rows(runtime, "select 1 where not exists (table procrastinate_jobs)"))
    assert task.runs == [(document_id, 0), (document_id, 0)]
    assert task.most_at_once == 1


async def test_stopping_puts_back_what_did_not_finish(runtime: Runtime, tmp_path: Path) -> None:
    document_id = await add(runtime, tmp_path)
    task = Recorder(lambda *_: asyncio.sleep(60))
    async with working(runtime, task):
        await task.began.wait()
    [job] = await rows(runtime, JOBS)
    assert job["status"] == "todo"

    after = Recorder()
    async with working(runtime, after):
        await until(lambda: after.runs)
    assert after.runs[0][0] == document_id
    assert await rows(runtime, JOBS) == []


async def test_a_temporary_error_waits_and_a_retry_by_the_person_does_not(
    runtime: Runtime, tmp_path: Path
) -> None:
    document_id = await add(runtime, tmp_path)

    async def fail(_id: int, attempt: Attempt) -> None:
        if len(task.runs) == 1:
            raise ProviderUnavailableError

    task = Recorder(fail)
    async with working(runtime, task):
        await until(lambda: rows(runtime, JOBS + " limit 1"))
        await until(lambda: rows(runtime, "select 1 from procrastinate_jobs where attempts = 1"))
        await documents.retry_document(runtime.database, runtime.workspace_id, document_id)
        await until(lambda: len(task.runs) == 2, 4)
    assert [number for _, number in task.runs] == [0, 0]


async def test_a_worker_goes_on_after_its_connections_were_cut(
    runtime: Runtime, tmp_path: Path
) -> None:
    task = Recorder()
    async with working(runtime, task) as running:
        await add(runtime, tmp_path, "first.md", "The first.")
        await until(lambda: len(task.runs) == 1)
        with psycopg.connect(runtime.database.dsn, autocommit=True) as connection:
            connection.execute(
                "select pg_terminate_backend(pid, 5000) from pg_stat_activity "
                "where pid <> pg_backend_pid() and datname = current_database()"
            )
        # its row gone, as when another worker took it for dead
        await rows(runtime, "delete from procrastinate_workers")
        await add(runtime, tmp_path, "second.md", "The second.")
        await until(lambda: len(task.runs) == 2)
        assert not running.done()


async def test_a_document_without_a_job_gets_one(runtime: Runtime, tmp_path: Path) -> None:
    waiting = await add(runtime, tmp_path)
    removed = (await add_text(runtime, tmp_path, "gone.md", "Gone.")).id
    await documents.remove_document(runtime.database, runtime.workspace_id, removed)
    await rows(runtime, "delete from procrastinate_jobs")
    await documents.queue_lost(runtime.database)
    assert await rows(runtime, JOBS) == []  # perhaps their jobs are just coming

    await rows(runtime, "update document set updated_at = now() - interval '1 minute'")
    await documents.queue_lost(runtime.database)
    await documents.queue_lost(runtime.database)

    jobs = await rows(runtime, "select task_name, lock from procrastinate_jobs order by task_name")
    assert [tuple(job.values()) for job in jobs] == [
        (queue.INGEST_DOCUMENT, document_lock(waiting)),
        (queue.PURGE_DOCUMENT, document_lock(removed)),
    ]


async def test_a_document_that_ends_every_worker_is_given_up_with_a_sentence(
    runtime: Runtime, tmp_path: Path
) -> None:
    from rag_app.ingestion.browser import Browser
    from rag_app.runtime import worker_tasks

    document_id = await add(runtime, tmp_path, "poison.md")
    task = worker_tasks(runtime, Browser(runtime.settings))[queue.INGEST_DOCUMENT]

    await task(document_id, Attempt(MAX_STARTS))

    document = await documents.get_document(runtime.database, runtime.workspace_id, document_id)
    assert document.status == "failed"
    assert document.error is not None
    assert '"poison.md" was begun 10 times' in document.error


async def test_the_same_bytes_twice_at_once_are_one_document(
    runtime: Runtime, tmp_path: Path
) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text("The very same words.")

    ids = await asyncio.gather(
        *(
            documents.add_file(
                runtime.database,
                runtime.files,
                runtime.workspace_id,
                tmp_path / name,
                name,
                uri=str(tmp_path / name),
            )
            for name in ("a.md", "b.md")
        )
    )

    assert len(set(ids)) == 1
    assert (await ingest(runtime, ids[0])).status == "ready"
    assert await count(runtime, "document") == 1


async def test_a_file_that_becomes_like_another_still_gets_its_new_text(
    runtime: Runtime, tmp_path: Path
) -> None:
    first = await add_text(runtime, tmp_path, "a.md", "Apples.")
    await add_text(runtime, tmp_path, "b.md", "Berries.")

    (tmp_path / "a.md").write_text("Berries.")
    again = await add_path(runtime, tmp_path / "a.md")

    assert again.id == first.id
    [row] = await rows(
        runtime,
        "select v.content from document_version v join membership m on m.version_id = v.id "
        "where m.removed_in is null and v.document_id = %s",
        first.id,
    )
    assert row["content"] == "Berries."


async def test_a_purge_takes_no_file_from_a_document_that_was_just_added(
    runtime: Runtime, tmp_path: Path
) -> None:
    old = await add_text(runtime, tmp_path, "a.md", "The same words.")
    await documents.remove_document(runtime.database, runtime.workspace_id, old.id)

    _, new = await asyncio.gather(
        documents.purge_document(runtime.database, runtime.files, old.id),
        add(runtime, tmp_path, "b.md", "The same words."),
    )

    assert (await ingest(runtime, new)).status == "ready"


async def test_an_error_of_a_foreign_kind_is_told_and_final(
    runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document_id = await add(runtime, tmp_path)

    async def broken(*_: object) -> None:
        raise IngestionError("This will not get better.")

    monkeypatch.setattr("rag_app.ingestion.pipeline._ingest", broken)
    document = await ingest(runtime, document_id, last=False)

    assert (document.status, document.error) == ("failed", "This will not get better.")
