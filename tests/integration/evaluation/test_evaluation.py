"""Question sets and the person's own questions, measured on a real database."""

import json
from pathlib import Path
from typing import Any

import pytest

from rag_app import chat
from rag_app.errors import EvaluationSetError, NotFoundError
from rag_app.evaluation import golden, history, runner
from rag_app.evaluation.configurations import parse_configurations
from rag_app.evaluation.golden import Place
from rag_app.library import documents
from rag_app.query.results import Finished
from rag_app.runtime import Runtime
from tests.support.ingesting import add_path, add_text, count
from tests.support.library import write_pdf

pytestmark = pytest.mark.integration

NOTES = {
    "tides": "Tides follow the moon and reach their height at new moon.",
    "bees": "A colony of bees has one queen and many workers.",
    "bread": "Sourdough bread needs flour, water, salt and a day of patience.",
}


def write_set(folder: Path, **questions: str) -> Path:
    """Write a set whose questions are named after the document that answers them."""
    (folder / "qrels").mkdir(parents=True)

    def lines(records: list[dict[str, Any]]) -> str:
        return "".join(json.dumps(record) + "\n" for record in records)

    (folder / "corpus.jsonl").write_text(
        lines([{"_id": name, "title": name, "text": text} for name, text in NOTES.items()])
    )
    (folder / "queries.jsonl").write_text(
        lines([{"_id": f"q-{name}", "text": text} for name, text in questions.items()])
    )
    (folder / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\n"
        + "".join(f"q-{name}\t{name.split('_')[0]}\t1\n" for name in questions)
    )
    return folder


async def test_a_folder_is_measured_and_stored_once(runtime: Runtime, tmp_path: Path) -> None:
    folder = write_set(
        tmp_path / "set", tides="tides new moon", bees="How many queens has a colony?"
    )
    seen: list[str] = []

    async def note(step: str, _done: int, _total: int) -> None:
        seen.append(step)

    configurations = parse_configurations("text,vector,hybrid")
    report = await runner.evaluate_folder(runtime, configurations, note, folder=folder)
    again = await runner.evaluate_folder(runtime, configurations, folder=folder)

    assert list(dict.fromkeys(seen)) == ["store", "embed", "ask"]
    assert (report["set"], report["documents"], report["questions"]) == ("set", 3, 2)
    text = report["configurations"]["text"]
    assert text["recall@1"] == text["mrr@10"] == 1.0
    assert text["intervals"]["mrr@10"] == [1.0, 1.0]
    assert report["reference"] == "hybrid"
    assert set(report["differences"]) == {"text", "vector"}
    assert {row["kind"] for row in report["per_question"]} == {"keywords", "question"}
    assert sum(group["questions"] for group in report["by_kind"].values()) == 2
    assert report["per_question"] == again["per_question"]
    assert await count(runtime, "document_version") == 3
    assert "| text | 100.0 (100.0-100.0)" in runner.table(report)


async def test_another_chunk_size_splits_the_corpus_anew(runtime: Runtime, tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", bread="sourdough")

    report = await runner.evaluate_folder(
        runtime, parse_configurations("text,text+chunk=60"), folder=folder
    )

    assert report["configurations"]["text+chunk=60"]["recall@1"] == 1.0
    assert await count(runtime, "document_version") == 6


async def test_progress_can_stop_a_run(runtime: Runtime, tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", bread="sourdough")

    class StoppedError(Exception):
        pass

    async def stop(step: str, _done: int, _total: int) -> None:
        if step == "ask":
            raise StoppedError

    with pytest.raises(StoppedError):
        await runner.evaluate_folder(runtime, parse_configurations("text"), stop, folder=folder)


async def turn_about(runtime: Runtime, question: str) -> tuple[int, Finished]:
    finished: Finished | None = None
    async for event in chat.take_turn(runtime, None, question):
        if isinstance(event, Finished):
            finished = event
    async with runtime.database.connection() as connection:
        row = await (await connection.execute("select max(id) as id from turn")).fetchone()
    assert row is not None
    assert finished is not None
    return int(row["id"]), finished


async def test_a_right_answer_becomes_a_question_with_its_place(
    runtime: Runtime, tmp_path: Path
) -> None:
    path = write_pdf(tmp_path / "tides.pdf", ["On bees and bread.", NOTES["tides"]])
    document = await add_path(runtime, path)
    await add_text(runtime, tmp_path, "bees.md", NOTES["bees"])
    turn_id, finished = await turn_about(runtime, "When do tides reach their height?")
    assert finished.answer.citations
    arguments = (runtime.database, runtime.workspace_id)

    await golden.judge_turn(*arguments, turn_id, "missing")
    await golden.judge_turn(*arguments, turn_id, "right")

    [question] = await golden.list_questions(*arguments)
    assert question.is_usable
    assert (question.places[0].document_id, question.places[0].page) == (document.id, 2)
    assert await golden.verdicts(*arguments, [turn_id]) == {turn_id: "right"}
    report = await runner.evaluate_golden(runtime, parse_configurations("text,hybrid"))
    assert report["questions"] == 1
    assert report["configurations"]["hybrid"]["recall@1"] == 1.0

    await documents.remove_document(*arguments, document.id)
    [question] = await golden.list_questions(*arguments)
    assert not question.is_usable
    await golden.forget_turn(*arguments, turn_id)
    assert await golden.list_questions(*arguments) == []


async def test_a_wrong_source_waits_for_its_place(runtime: Runtime, tmp_path: Path) -> None:
    bees = await add_text(runtime, tmp_path, "bees.md", NOTES["bees"])
    bread = await add_text(runtime, tmp_path, "bread.md", NOTES["bread"])
    turn_id, _ = await turn_about(runtime, "How many queens has a colony of bees?")
    arguments = (runtime.database, runtime.workspace_id)
    question_id = await golden.judge_turn(*arguments, turn_id, "wrong_source")

    with pytest.raises(EvaluationSetError, match="no question yet"):
        await runner.evaluate_golden(runtime, parse_configurations("hybrid"))
    await golden.set_place(*arguments, question_id, Place(bread.id, quote=NOTES["bread"]))

    [question] = await golden.list_questions(*arguments)
    assert [place.document_id for place in question.avoid] == [bees.id]
    report = await runner.evaluate_golden(runtime, parse_configurations("text,hybrid"))
    assert report["configurations"]["text"]["mrr@10"] < 1
    with pytest.raises(EvaluationSetError, match="split as it is"):
        await runner.evaluate_golden(runtime, parse_configurations("hybrid+chunk=200"))


async def test_questions_belong_to_their_workspace(runtime: Runtime, tmp_path: Path) -> None:
    await add_text(runtime, tmp_path, "bees.md", NOTES["bees"])
    turn_id, _ = await turn_about(runtime, "How many queens has a colony of bees?")

    with pytest.raises(NotFoundError):
        await golden.judge_turn(runtime.database, runtime.workspace_id + 1, turn_id, "right")
    question_id = await golden.judge_turn(runtime.database, runtime.workspace_id, turn_id, "right")
    with pytest.raises(NotFoundError):
        await golden.set_place(runtime.database, runtime.workspace_id + 1, question_id, Place(1))
    await golden.remove_question(runtime.database, runtime.workspace_id + 1, question_id)
    assert len(await golden.list_questions(runtime.database, runtime.workspace_id)) == 1


async def test_runs_are_followed_stopped_and_kept(runtime: Runtime) -> None:
    arguments = (runtime.database, runtime.workspace_id)
    first = await history.begin_run(*arguments, name="set", configurations="hybrid")
    second = await history.begin_run(*arguments, name="set", configurations="text")
    assert await history.report_run(runtime.database, first, "ask", 0.5)
    await history.stop_run(*arguments, second)
    assert not await history.report_run(runtime.database, second, "ask", 0.5)

    report = {"set": "tides", "per_question": [{"id": "1"}]}
    await history.finish_run(runtime.database, first, status="done", report=report)
    await history.finish_run(runtime.database, second, status="done", report=report)

    runs = await history.list_runs(*arguments)
    assert [(run.id, run.status, run.name) for run in runs] == [
        (second, "stopped", "set"),
        (first, "done", "tides"),
    ]
    assert runs[1].report == {"set": "tides"}
    assert await history.run_report(*arguments, first) == report
    with pytest.raises(NotFoundError):
        await history.run_report(runtime.database, runtime.workspace_id + 1, first)
    await history.remove_run(*arguments, first)
    assert len(await history.list_runs(*arguments)) == 1


async def test_a_run_whose_process_died_is_shown_as_interrupted(runtime: Runtime) -> None:
    arguments = (runtime.database, runtime.workspace_id)
    await history.begin_run(*arguments, name="set", configurations="hybrid")
    async with runtime.database.connection() as connection:
        await connection.execute("update evaluation_run set updated_at = now() - interval '1 hour'")

    [run] = await history.list_runs(*arguments)

    assert run.status == "interrupted"
