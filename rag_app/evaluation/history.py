"""The runs of an evaluation: begun, followed while they run, kept, compared later."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rag_app.database.session import Connection, Database
from rag_app.errors import NotFoundError

CHANNEL = "evaluations"
INTERRUPTED_SECONDS = 30  # a run reports a few times a second; silence means its process is gone
KEPT_RUNS = 200

BEGIN = """
insert into evaluation_run (workspace_id, name, configurations)
values (%(workspace_id)s, %(name)s, %(configurations)s) returning id
"""

REPORT = """
update evaluation_run set step = %(step)s, progress = %(progress)s, updated_at = now()
where id = %(id)s and status = 'running' returning workspace_id
"""

FINISH = """
update evaluation_run set status = %(status)s, step = '', progress = 1, error = %(error)s,
  name = coalesce(%(name)s, name), report = %(report)s, updated_at = now()
where id = %(id)s and status = 'running' returning workspace_id
"""

STOP = """
update evaluation_run set status = 'stopped', step = '', updated_at = now()
where id = %s and workspace_id = %s and status = 'running'
"""

FORGET_ALIVE = f"""
update evaluation_run set updated_at = now() - interval '{2 * INTERRUPTED_SECONDS} seconds'
where workspace_id = %s and status = 'running'
"""

RUNS = f"""
select id, name, configurations, step, progress, error, created_at,
  case when status = 'running'
        and updated_at < now() - interval '{INTERRUPTED_SECONDS} seconds'
       then 'interrupted' else status end as status,
  report - 'per_question' as report
from evaluation_run where workspace_id = %(workspace_id)s
"""

FORGET_OLD = """
delete from evaluation_run where workspace_id = %(workspace_id)s and id <= (
  select id from evaluation_run where workspace_id = %(workspace_id)s
  order by id desc offset %(kept)s limit 1)
"""


@dataclass(frozen=True)
class EvaluationRun:
    """One run; `report` has no single questions, which `run_report` returns."""

    id: int
    name: str
    configurations: str
    status: str
    step: str
    progress: float
    error: str | None
    report: Mapping[str, Any]
    created_at: datetime


async def begin_run(
    database: Database, workspace_id: int, *, name: str, configurations: str
) -> int:
    """Note that a run begins, and return its id."""
    async with database.connection() as connection:
        values = {"workspace_id": workspace_id, "name": name, "configurations": configurations}
        row = await (await connection.execute(BEGIN, values)).fetchone()
        await connection.execute(FORGET_OLD, {"workspace_id": workspace_id, "kept": KEPT_RUNS})
        assert row is not None
        await _notify(connection, workspace_id, row["id"])
    return int(row["id"])


async def report_run(database: Database, run_id: int, step: str, progress: float) -> bool:
    """Store how far a run is, from 0 to 1; False when it was stopped."""
    async with database.connection() as connection:
        values = {"id": run_id, "step": step, "progress": progress}
        row = await (await connection.execute(REPORT, values)).fetchone()
        if row is not None:
            await _notify(connection, row["workspace_id"], run_id)
        return row is not None


async def finish_run(
    database: Database,
    run_id: int,
    *,
    status: str,
    report: Mapping[str, Any] | None = None,
    error: str | None = None,
) -> None:
    """Keep what a run came to; one that was stopped in the meantime stays so."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            FINISH,
            {
                "id": run_id,
                "status": status,
                "error": error,
                "name": report["set"] if report else None,
                "report": json.dumps(report or {}),
            },
        )
        if (row := await cursor.fetchone()) is not None:
            await _notify(connection, row["workspace_id"], run_id)


async def list_runs(
    database: Database, workspace_id: int, *, limit: int = 50
) -> list[EvaluationRun]:
    """Return the newest runs, newest first."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            RUNS + " order by id desc limit %(limit)s",
            {"workspace_id": workspace_id, "limit": limit},
        )
        return [EvaluationRun(**row) for row in await cursor.fetchall()]


async def find_running(database: Database, workspace_id: int) -> EvaluationRun | None:
    """Return the newest run that is going on, without its report."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            f"select * from ({RUNS}) r where status = 'running' order by id desc limit 1",
            {"workspace_id": workspace_id},
        )
        row = await cursor.fetchone()
    return None if row is None else EvaluationRun(**row)


async def run_report(database: Database, workspace_id: int, run_id: int) -> dict[str, Any]:
    """Return the whole report of a run, question by question."""
    async with database.connection() as connection:
        row = await (
            await connection.execute(
                "select report from evaluation_run where id = %s and workspace_id = %s",
                (run_id, workspace_id),
            )
        ).fetchone()
    if row is None:
        raise NotFoundError("There is no such run.")
    return dict(row["report"])


async def stop_run(database: Database, workspace_id: int, run_id: int) -> None:
    """Stop a run; it notices within a second."""
    async with database.connection() as connection:
        await connection.execute(STOP, (run_id, workspace_id))
        await _notify(connection, workspace_id, run_id)


async def forget_alive(database: Database, workspace_id: int) -> None:
    """Take every run for interrupted until it reports again."""
    async with database.connection() as connection:
        await connection.execute(FORGET_ALIVE, (workspace_id,))


async def remove_run(database: Database, workspace_id: int, run_id: int) -> None:
    """Forget a run; one that goes on is stopped by it."""
    async with database.connection() as connection:
        await connection.execute(
            "delete from evaluation_run where id = %s and workspace_id = %s", (run_id, workspace_id)
        )
        await _notify(connection, workspace_id, run_id)


async def _notify(connection: Connection, workspace_id: int, run_id: int) -> None:
    payload = json.dumps({"workspace_id": workspace_id, "run_id": run_id})
    await connection.execute("select pg_notify(%s, %s)", (CHANNEL, payload))
