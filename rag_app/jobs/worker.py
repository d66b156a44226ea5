"""Runs the tasks: heartbeat, stalled jobs put back, graceful stop."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping

from procrastinate import (
    App,
    BaseRetryStrategy,
    JobContext,
    PsycopgConnector,
    RetryDecision,
)
from procrastinate.jobs import Job

from rag_app.database.session import Database
from rag_app.jobs.queue import TASKS

logger = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 2.0
STALLED_SECONDS = 10.0
SWEEP_SECONDS = 3.0
GRACE_SECONDS = 10.0
MAX_ATTEMPTS = 4
FIRST_WAIT_SECONDS = 5

TaskFunction = Callable[[int, bool], Awaitable[None]]
"""Takes a document's id, and whether no further attempt will follow."""


class RetryableErrors(BaseRetryStrategy):
    """Try again, with growing delay, what says of itself that it may work later."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        """Wait 5, 20, 80 seconds, then give up."""
        if not getattr(exception, "retryable", False) or is_last_attempt(job.attempts):
            return None
        return RetryDecision(retry_in={"seconds": FIRST_WAIT_SECONDS * 4**job.attempts})


def is_last_attempt(attempts: int) -> bool:
    """Say whether no further try follows after `attempts` earlier ones."""
    return attempts + 1 >= MAX_ATTEMPTS


async def run_worker(
    dsn: str, tasks: Mapping[str, TaskFunction], stop: asyncio.Event, *, concurrency: int = 2
) -> None:
    """Run jobs until `stop` is set; what is running then gets a few seconds to finish."""
    app = App(connector=PsycopgConnector(conninfo=dsn, min_size=1, max_size=4))
    for name, function in tasks.items():
        _register(app, name, function)
    async with app.open_async():
        await _put_stalled_back(app)
        async with asyncio.TaskGroup() as group:
            sweep = group.create_task(_sweep(app))
            worker = group.create_task(
                app.run_worker_async(
                    concurrency=concurrency,
                    install_signal_handlers=False,
                    fetch_job_polling_interval=1.0,
                    update_heartbeat_interval=HEARTBEAT_SECONDS,
                    stalled_worker_timeout=STALLED_SECONDS,
                    shutdown_graceful_timeout=GRACE_SECONDS,
                    delete_jobs="successful",
                )
            )
            await stop.wait()
            sweep.cancel()
            worker.cancel()


async def is_worker_alive(database: Database) -> bool:
    """Say whether any worker of this database has shown a heartbeat lately."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            "select 1 from procrastinate_workers "
            "where last_heartbeat > now() - make_interval(secs => %s) limit 1",
            (STALLED_SECONDS,),
        )
        return await cursor.fetchone() is not None


def _register(app: App, name: str, function: TaskFunction) -> None:
    async def run(context: JobContext, document_id: int) -> None:
        await function(document_id, is_last_attempt(context.job.attempts))

    app.task(name=name, queue=TASKS[name].queue, retry=RetryableErrors(), pass_context=True)(run)


async def _sweep(app: App) -> None:
    while True:
        await asyncio.sleep(SWEEP_SECONDS)
        with contextlib.suppress(asyncio.TimeoutError):
            await _put_stalled_back(app)


async def _put_stalled_back(app: App) -> None:
    """Queue again the jobs whose worker died; their functions can be run again from anywhere."""
    for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_SECONDS):
        logger.warning("Job %s was left by a dead worker and is put back", job.id)
        await app.job_manager.retry_job(job)
