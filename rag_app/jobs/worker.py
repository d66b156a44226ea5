"""Runs the tasks: heartbeat, jobs of the dead put back, graceful stop.

A job holds its document's lock in the database for as long as it runs. The lock, not the clock,
says whether a job is still worked on: a worker that was merely slow keeps what it has, and two
never work on the same document.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from procrastinate import (
    App,
    BaseRetryStrategy,
    JobContext,
    PsycopgConnector,
    RetryDecision,
)
from procrastinate.jobs import Job

from rag_app.database.session import Database
from rag_app.jobs.queue import TASKS, document_lock

logger = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 2.0
STALLED_SECONDS = 10.0
FORGOTTEN_SECONDS = 60.0
"""No job takes so long between being fetched and holding its lock."""
SWEEP_SECONDS = 3.0
GRACE_SECONDS = 4.0
RESTART_SECONDS = 2.0
MAX_ATTEMPTS = 4
MAX_STARTS = 10
FIRST_WAIT_SECONDS = 5

# jobs that nobody works on: their worker is dead, or lost them, and their lock is free
PUT_BACK = """
with lost as materialized (
  select j.id, j.lock from procrastinate_jobs j
  left join procrastinate_workers w on w.id = j.worker_id
  where j.status = 'doing' and (
    w.id is null or w.last_heartbeat < now() - make_interval(secs => %(stalled)s)
    or not exists (select 1 from procrastinate_events e where e.job_id = j.id
      and e.type = 'started' and e.at > now() - make_interval(secs => %(forgotten)s)))
  for update of j skip locked)
select id, procrastinate_retry_job_v2(id, now(), null, null, null)
from lost where pg_try_advisory_xact_lock(hashtextextended(lock, 0))
"""


@dataclass(frozen=True)
class Attempt:
    """Which try of a job this is, from 0; those that a dead worker left are counted too."""

    number: int = 0

    @property
    def is_last(self) -> bool:
        """Say whether an error ends the job, however temporary it is."""
        return self.number + 1 >= MAX_ATTEMPTS

    @property
    def is_one_too_many(self) -> bool:
        """Say whether the job was begun so often that it must be what ends its worker."""
        return self.number >= MAX_STARTS


TaskFunction = Callable[[int, Attempt], Awaitable[None]]
"""Takes a document's id. May be run again from anywhere; never at once for one document."""


class RetryableErrors(BaseRetryStrategy):
    """Try again, with growing delay, what says of itself that it may work later."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        """Wait 5, 20, 80 seconds, then give up; what a stopping worker broke off waits for none."""
        if isinstance(exception, asyncio.CancelledError):
            return RetryDecision(retry_in={"seconds": 0})
        if not getattr(exception, "retryable", False) or Attempt(job.attempts).is_last:
            return None
        return RetryDecision(retry_in={"seconds": FIRST_WAIT_SECONDS * 4**job.attempts})


async def run_worker(
    database: Database,
    tasks: Mapping[str, TaskFunction],
    stop: asyncio.Event,
    *,
    find_lost: Callable[[], Awaitable[None]] | None = None,
    concurrency: int = 2,
) -> None:
    """Run jobs until `stop` is set; what runs then gets a few seconds, and is put back after them.

    `find_lost` is called now and then to queue what should have a job and has none.
    """
    app = App(connector=PsycopgConnector(conninfo=database.dsn, min_size=1, max_size=4))
    for name, function in tasks.items():
        _register(app, database, name, function)
    async with app.open_async(), asyncio.TaskGroup() as group:
        running = [
            group.create_task(_sweep(database, find_lost)),
            group.create_task(_run_jobs(app, concurrency)),
        ]
        await stop.wait()
        for task in running:
            task.cancel()


async def is_worker_alive(database: Database) -> bool:
    """Say whether any worker of this database has shown a heartbeat lately."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            "select 1 from procrastinate_workers "
            "where last_heartbeat > now() - make_interval(secs => %s) limit 1",
            (STALLED_SECONDS,),
        )
        return await cursor.fetchone() is not None


async def put_back_lost_jobs(database: Database) -> list[int]:
    """Queue again the jobs that nobody works on any more, and return their ids."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            PUT_BACK, {"stalled": STALLED_SECONDS, "forgotten": FORGOTTEN_SECONDS}
        )
        return [int(row["id"]) for row in await cursor.fetchall()]


def _register(app: App, database: Database, name: str, function: TaskFunction) -> None:
    async def run(context: JobContext, document_id: int) -> None:
        async with database.hold(document_lock(document_id)):
            await function(document_id, Attempt(context.job.attempts))

    app.task(name=name, queue=TASKS[name].queue, retry=RetryableErrors(), pass_context=True)(run)


async def _run_jobs(app: App, concurrency: int) -> None:
    """Run procrastinate's worker, again whenever it gives up: it does when the database blinks."""
    while True:
        try:
            await app.run_worker_async(
                concurrency=concurrency,
                install_signal_handlers=False,
                fetch_job_polling_interval=1.0,
                update_heartbeat_interval=HEARTBEAT_SECONDS,
                stalled_worker_timeout=STALLED_SECONDS,
                shutdown_graceful_timeout=GRACE_SECONDS,
                delete_jobs="successful",
            )
        except Exception:
            logger.warning("The worker broke off and begins again", exc_info=True)
        await asyncio.sleep(RESTART_SECONDS)


async def _sweep(database: Database, find_lost: Callable[[], Awaitable[None]] | None) -> None:
    while True:
        try:
            for job_id in await put_back_lost_jobs(database):
                logger.warning("Job %s was left by a dead worker and is put back", job_id)
            if find_lost is not None:
                await find_lost()
        except Exception:
            logger.warning("Lost jobs could not be looked for", exc_info=True)
        await asyncio.sleep(SWEEP_SECONDS)
