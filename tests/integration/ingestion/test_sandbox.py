import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from rag_app.errors import EmptyContentError
from rag_app.ingestion.sandbox import Child, ChildDiedError

pytestmark = pytest.mark.integration

TASK = """
import os, time
from rag_app.errors import EmptyContentError

def run(request):
    kind = request["kind"]
    if kind == "echo":
        yield {"said": request["word"]}, b"payload" * 1000
    if kind == "count":
        for number in range(request["to"]):
            yield {"number": number}, b""
    if kind == "crash":
        yield {"number": 1}, b""
        os.abort()
    if kind == "hang":
        time.sleep(60)
    if kind == "memory":
        held = bytearray(2 << 30)
        yield {}, b""
    if kind == "refuse":
        raise EmptyContentError("nothing in it")
    if kind == "chat":
        print("noise that must not break frames", flush=True)
        yield {}, b""
    if kind == "environment":
        yield {"names": sorted(os.environ)}, b""
"""


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Child]:
    """A child whose task is a module that only this test's folder holds."""
    import rag_app.ingestion.sandbox as sandbox

    (tmp_path / "rag_app_ingestion_task.py").write_text(TASK)
    real = sandbox.subprocess.Popen

    def start(command: list[str], **options: Any) -> Any:
        options["env"]["PYTHONPATH"] += os.pathsep + str(tmp_path)
        runner = (
            "import sys, rag_app.ingestion.sandbox as s; s._PACKAGE = 'rag_app_ingestion_task';"
            "sys.argv = sys.argv[0:]; s.main()"
        )
        return real([command[0], "-c", runner, *command[3:]], **options)

    monkeypatch.setattr(sandbox.subprocess, "Popen", start)
    with Child("rag_app_ingestion_task:run", seconds=2, memory_bytes=1 << 30) as made:
        yield made


def numbers(child: Child, request: Mapping[str, Any]) -> list[int]:
    return [header["number"] for header, _ in child.stream(request)]


def test_an_answer_comes_back_with_its_payload_from_one_warm_child(child: Child) -> None:
    assert child.call({"kind": "echo", "word": "hi"}) == ({"said": "hi"}, b"payload" * 1000)
    pid = child.pid
    child.call({"kind": "echo", "word": "again"})

    assert pid == child.pid


def test_more_answers_than_fit_into_the_queue_all_arrive(child: Child) -> None:
    assert list(range(500)) == numbers(child, {"kind": "count", "to": 500})


def test_a_crash_is_told_after_what_came_before_and_the_next_call_works(child: Child) -> None:
    answers = child.stream({"kind": "crash"})
    assert next(answers)[0] == {"number": 1}
    with pytest.raises(ChildDiedError):
        next(answers)

    assert numbers(child, {"kind": "count", "to": 2}) == [0, 1]


def test_a_child_that_hangs_is_ended(child: Child) -> None:
    started = time.monotonic()
    with pytest.raises(ChildDiedError, match="no sign of life"):
        child.call({"kind": "hang"})

    assert time.monotonic() - started < 10
    assert child.pid is None


def test_a_child_that_wants_too_much_memory_dies_alone(child: Child) -> None:
    with pytest.raises(ChildDiedError):
        child.call({"kind": "memory"})


def test_an_error_of_ours_arrives_as_itself(child: Child) -> None:
    with pytest.raises(EmptyContentError, match="nothing in it"):
        child.call({"kind": "refuse"})


def test_what_a_library_prints_breaks_nothing(child: Child) -> None:
    assert child.call({"kind": "chat"}) == ({}, b"")


def test_the_child_sees_no_settings_of_ours(child: Child, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("DATABASE_URL", "secret")
    names = child.call({"kind": "environment"})[0]["names"]

    assert {"OPENAI_API_KEY", "DATABASE_URL"}.isdisjoint(names)


def test_leaving_a_stream_early_ends_the_child(child: Child) -> None:
    for _ in child.stream({"kind": "count", "to": 100_000}):
        break

    assert child.pid is None


def test_only_our_own_tasks_can_be_named() -> None:
    with Child("os:system") as foreign, pytest.raises(ChildDiedError):
        foreign.call({})
