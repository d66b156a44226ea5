"""Runs evaluations in this process, whatever becomes of the tab that started one."""

import asyncio
import contextlib
import logging
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_app.errors import EvaluationSetError, RagAppError
from rag_app.evaluation import golden, history, runner
from rag_app.evaluation.beir import check_folder
from rag_app.evaluation.configurations import Configuration, parse_configurations
from rag_app.runtime import Runtime

logger = logging.getLogger(__name__)

REPORT_SECONDS = 0.25  # how often progress is stored
ALIVE_SECONDS = 1.0  # how often a run without progress shows that it goes on, and sees it stopped

_live: dict[int, asyncio.Task[None]] = {}
_starting = asyncio.Lock()


@dataclass
class _Progress:
    step: str = ""
    share: float = 0.0

    async def note(self, step: str, done: int, total: int) -> None:
        """Remember how far the run is; it is stored by whoever watches it."""
        self.step, self.share = step, done / total if total else 0.0


async def start_run(runtime: Runtime, configurations: str, *, folder: Path | None = None) -> int:
    """Begin to measure, on the person's own questions without a folder; return the run's id.

    One run goes on at a time, since it measures durations. Raises SettingsError for what is no
    configuration, EvaluationSetError for what is no set.
    """
    parsed = parse_configurations(configurations)
    if folder is not None:
        if runtime.settings.password:
            raise EvaluationSetError("With a password set, no folders of this machine are read.")
        await asyncio.to_thread(check_folder, folder)
    async with _starting:
        if await history.find_running(runtime.database, runtime.workspace_id) is not None:
            raise EvaluationSetError("An evaluation is running already: wait for it or stop it.")
        run_id = await history.begin_run(
            runtime.database,
            runtime.workspace_id,
            name=golden.SET_NAME if folder is None else folder.resolve().name,  # noqa: ASYNC240
            configurations=",".join(configuration.name for configuration in parsed),
        )
    task = asyncio.create_task(_run(runtime, run_id, parsed, folder), name=f"evaluation {run_id}")
    _live[run_id] = task
    task.add_done_callback(lambda _: _live.pop(run_id, None))
    return run_id


async def stop_run(runtime: Runtime, run_id: int) -> None:
    """Stop a run, wherever it goes on."""
    await history.stop_run(runtime.database, runtime.workspace_id, run_id)
    if (task := _live.get(run_id)) is not None:
        await _cancel(task)


async def forget_lost(runtime: Runtime) -> None:
    """Show what an earlier process left running as interrupted; called when a process starts."""
    await history.forget_alive(runtime.database, runtime.workspace_id)


async def stop_all_runs() -> None:
    """Stop what runs in this process, before it ends."""
    await asyncio.gather(*(_cancel(task) for task in list(_live.values())))


async def _cancel(task: asyncio.Task[Any]) -> None:
    task.cancel()
    await asyncio.wait({task})


async def _run(
    runtime: Runtime, run_id: int, configurations: Sequence[Configuration], folder: Path | None
) -> None:
    database = runtime.database
    try:
        report = await _measure_watched(runtime, run_id, configurations, folder)
        await history.finish_run(database, run_id, status="done", report=report)
    except asyncio.CancelledError:
        with contextlib.suppress(RagAppError):
            await history.finish_run(database, run_id, status="stopped")
    except RagAppError as error:
        with contextlib.suppress(RagAppError):
            await history.finish_run(database, run_id, status="failed", error=str(error))
    except Exception:
        reference = uuid.uuid4().hex[:8]
        logger.exception("Evaluation %s failed (reference %s)", run_id, reference)
        sentence = f"Something went wrong inside Pincite; the log has more under {reference}."
        with contextlib.suppress(RagAppError):
            await history.finish_run(database, run_id, status="failed", error=sentence)


async def _measure_watched(
    runtime: Runtime, run_id: int, configurations: Sequence[Configuration], folder: Path | None
) -> dict[str, Any]:
    progress = _Progress()
    arguments = (runtime, configurations, progress.note)
    measuring = asyncio.create_task(
        runner.evaluate_golden(*arguments)
        if folder is None
        else runner.evaluate_folder(*arguments, folder=folder)
    )
    try:
        stored, stored_at = ("", 0.0), time.monotonic()
        while not (await asyncio.wait({measuring}, timeout=REPORT_SECONDS))[0]:
            now = (progress.step, progress.share)
            if now == stored and time.monotonic() - stored_at < ALIVE_SECONDS:
                continue
            if not await history.report_run(runtime.database, run_id, *now):
                raise asyncio.CancelledError  # stopped elsewhere
            stored, stored_at = now, time.monotonic()
        return await measuring
    finally:
        await _cancel(measuring)
