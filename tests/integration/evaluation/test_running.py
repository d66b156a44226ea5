"""An evaluation in the background: begun, followed, stopped, failed in a sentence."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rag_app.errors import EvaluationSetError, SettingsError
from rag_app.evaluation import golden, history, runner, running
from rag_app.evaluation.golden import Place
from rag_app.evaluation.history import EvaluationRun
from rag_app.runtime import Runtime
from tests.integration.evaluation.test_evaluation import NOTES, write_set
from tests.support.ingesting import add_text

pytestmark = pytest.mark.integration


@pytest.fixture(autouse=True)
async def nothing_goes_on() -> AsyncIterator[None]:
    yield
    await running.stop_all_runs()


async def ended(runtime: Runtime, run_id: int) -> EvaluationRun:
    """Wait for the end of a run and return it."""
    for _ in range(600):
        runs = await history.list_runs(runtime.database, runtime.workspace_id)
        run = next(run for run in runs if run.id == run_id)
        if run.status != "running":
            return run
        await asyncio.sleep(0.05)
    raise AssertionError("the run does not end")


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Let every evaluation report that it is half way, then hang."""
    half_way = asyncio.Event()

    async def hang(_runtime: Any, _configurations: Any, on_progress: Any) -> Any:
        await on_progress("ask", 3, 6)
        half_way.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(runner, "evaluate_golden", hang)
    return half_way


async def test_own_questions_are_measured_in_the_background(
    runtime: Runtime, tmp_path: Path
) -> None:
    bees = await add_text(runtime, tmp_path, "bees.md", NOTES["bees"])
    question = "How many queens has a colony of bees?"
    await golden.add_question(
        runtime.database, runtime.workspace_id, question, [Place(bees.id, quote=NOTES["bees"])]
    )

    run = await ended(runtime, await running.start_run(runtime, "hybrid, text"))

    assert (run.status, run.name, run.configurations) == (
        "done",
        golden.SET_NAME,
        "hybrid,text",
    )
    assert run.report["configurations"]["text"]["recall@1"] == 1.0


async def test_a_folder_is_measured_only_where_no_password_is_set(
    runtime: Runtime, tmp_path: Path
) -> None:
    folder = write_set(tmp_path / "notes", bread="sourdough")
    locked = replace(runtime, settings=replace(runtime.settings, password="secret"))

    with pytest.raises(EvaluationSetError, match="password"):
        await running.start_run(locked, "text", folder=folder)
    run = await ended(runtime, await running.start_run(runtime, "text", folder=folder))

    assert (run.status, run.name, run.report["questions"]) == ("done", "notes", 1)


async def test_progress_is_told_and_a_second_run_waits(
    runtime: Runtime, hanging: asyncio.Event
) -> None:
    told: list[str] = []

    async def listen() -> None:
        async for payload in runtime.database.listen(history.CHANNEL):
            told.append(payload)

    listening = asyncio.create_task(listen())
    await asyncio.sleep(0.3)
    run_id = await running.start_run(runtime, "text")
    await hanging.wait()
    await asyncio.sleep(3 * running.REPORT_SECONDS)

    found = await history.find_running(runtime.database, runtime.workspace_id)
    assert found is not None
    assert (found.id, found.step, found.progress) == (run_id, "ask", 0.5)
    assert len(told) >= 2
    with pytest.raises(EvaluationSetError, match="running already"):
        await running.start_run(runtime, "text")
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)


async def test_of_two_that_begin_at_once_one_runs(runtime: Runtime, hanging: asyncio.Event) -> None:
    begun = await asyncio.gather(
        *(running.start_run(runtime, "text") for _ in range(2)), return_exceptions=True
    )

    assert [type(one) for one in begun] == [int, EvaluationSetError]
    assert len(await history.list_runs(runtime.database, runtime.workspace_id)) == 1


async def test_a_run_is_stopped_here_elsewhere_and_at_the_end_of_the_process(
    runtime: Runtime, hanging: asyncio.Event
) -> None:
    first = await running.start_run(runtime, "text")
    await hanging.wait()
    await running.stop_run(runtime, first)
    second = await running.start_run(runtime, "text")
    await history.stop_run(runtime.database, runtime.workspace_id, second)
    await asyncio.wait_for(asyncio.wait({running._live[second]}), 10)
    third = await running.start_run(runtime, "text")
    await running.stop_all_runs()

    runs = await history.list_runs(runtime.database, runtime.workspace_id)
    assert [(run.id, run.status) for run in runs] == [
        (third, "stopped"),
        (second, "stopped"),
        (first, "stopped"),
    ]
    assert running._live == {}


async def test_what_an_earlier_process_left_running_is_interrupted(runtime: Runtime) -> None:
    arguments = (runtime.database, runtime.workspace_id)
    run_id = await history.begin_run(*arguments, name="set", configurations="text")
    assert await history.find_running(*arguments) is not None

    await running.forget_lost(runtime)

    assert await history.find_running(*arguments) is None
    assert [(run.id, run.status) for run in await history.list_runs(*arguments)] == [
        (run_id, "interrupted")
    ]


async def test_what_went_wrong_is_said_in_a_sentence(
    runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SettingsError, match="no configuration 'magic'"):
        await running.start_run(runtime, "magic")
    with pytest.raises(EvaluationSetError, match="no folder"):
        await running.start_run(runtime, "text", folder=tmp_path / "away")
    run = await ended(runtime, await running.start_run(runtime, "text"))
    assert run.status == "failed"
    assert "no question yet whose right place is known" in str(run.error)

    async def break_off(*_arguments: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(runner, "evaluate_golden", break_off)
    run = await ended(runtime, await running.start_run(runtime, "text"))

    assert run.status == "failed"
    assert "Something went wrong inside Pincite" in str(run.error)
    assert "ZeroDivision" not in str(run.error)
