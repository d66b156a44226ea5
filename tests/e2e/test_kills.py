"""kill -9 in the middle of taking in and of answering: nothing lost, doubled or half there."""

import asyncio
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import psycopg
import pytest
from playwright.async_api import Page, expect

from rag_app.database.server import start_server
from rag_app.jobs.worker import STALLED_SECONDS
from tests.support.app import App, run_app
from tests.support.model_server import ModelServer, model_server

pytestmark = [pytest.mark.integration, pytest.mark.browser]

TOPICS = 40
WORKER = "rag_app worker"
WEB = "granian"

# every row that hangs on nothing, and every chunk without its vector or its lexemes
ORPHANS = """
select (select count(*) from chunk c where not exists (
          select 1 from document_version v where v.id = c.version_id))
     + (select count(*) from chunk c where not exists (
          select 1 from embedding e where e.chunk_id = c.id))
     + (select count(*) from chunk c where not exists (
          select 1 from chunk_text_index t where t.chunk_id = c.id))
     + (select count(*) from embedding e where not exists (
          select 1 from chunk c where c.id = e.chunk_id))
     + (select count(*) from document_version v where not exists (
          select 1 from membership m where m.version_id = v.id))
     + (select count(*) from (select chunk_id from embedding group by chunk_id, model_id
          having count(*) > 1) doubled) as n
"""


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with model_server() as server:
        server.streams_only = True
        yield server


@pytest.fixture(scope="module")
def app(model: ModelServer) -> Iterator[App]:
    with run_app(
        PINCITE_CHAT_MODEL="openai/test",
        PINCITE_CHAT_API_BASE=model.openai_url,
        OPENAI_API_KEY="x",
    ) as running:
        yield running


def listed(app: App) -> list[dict[str, Any]]:
    return json.loads(app.command("documents", "--json"))


def wait_for(condition: Callable[[], bool], seconds: float, what: str) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.1)


def query(app: App, statement: str) -> list[tuple[Any, ...]]:
    server = start_server(app.home)  # attaches to the one that runs
    try:
        with psycopg.connect(server.dsn) as connection:
            return connection.execute(statement).fetchall()  # type: ignore[arg-type]
    finally:
        server.stop()  # only lets go of it: others use it


def upload(app: App, name: str, text: str) -> int:
    reply = httpx.put(
        f"{app.url}/api/uploads",
        params={"name": name},
        content=text.encode(),
        headers={"X-Pincite": "1"},
    )
    assert reply.status_code == 200, reply.text
    return int(reply.json()["document_id"])


def long_document(app: App, name: str) -> tuple[int, Callable[[], float]]:
    """Add a note that takes seconds; return its id and what tells how far it is, 2 at the end."""
    sections = (f"# Topic {n}\n\n" + f"Fact {n} of {name} is kept. " * 25 for n in range(TOPICS))
    document_id = upload(app, name, "\n\n".join(sections))

    def progress() -> float:
        [(status, done)] = query(
            app, f"select status, progress from document where id = {document_id}"
        )
        return 0.0 if status == "queued" else float(done) if status == "running" else 2.0

    return document_id, progress


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_a_worker_killed_while_it_takes_a_document_in(app: App, share: float) -> None:
    document_id, progress = long_document(app, f"topics-{share}.md")
    wait_for(lambda: progress() > share, 60, "the document never came so far")
    app.kill(WORKER)
    shown = query(
        app,
        "select v.chunk_count, (select count(*) from chunk_text_index t where t.version_id = v.id) "
        "from membership m join document_version v on v.id = m.version_id "
        f"where m.removed_in is null and v.document_id = {document_id}",
    )
    assert all(planned == found >= TOPICS for planned, found in shown), (
        "words are all there or none"
    )

    wait_for(lambda: progress() == 2.0, 120, "the document was not finished after the kill")

    [(status, error)] = query(app, f"select status, error from document where id = {document_id}")
    assert (status, error) == ("ready", None)
    [(chunks, distinct, planned)] = query(
        app,
        "select count(*), count(distinct c.ordinal), max(v.chunk_count) "
        "from chunk c join document_version v on v.id = c.version_id "
        f"where v.document_id = {document_id}",
    )
    assert chunks == distinct == planned >= TOPICS
    assert query(app, ORPHANS) == [(0,)]


def test_a_worker_told_to_stop_while_it_takes_a_document_in(app: App) -> None:
    document_id, progress = long_document(app, "stopped.md")
    wait_for(lambda: progress() > 0.3, 60, "the document never came so far")

    app.kill(WORKER, signal.SIGTERM)

    wait_for(lambda: progress() == 2.0, 120, "the document was not finished after the stop")
    [(status, error)] = query(app, f"select status, error from document where id = {document_id}")
    assert (status, error) == ("ready", None)
    assert query(app, ORPHANS) == [(0,)]


def test_a_worker_frozen_for_longer_than_its_heartbeat(app: App) -> None:
    document_id, progress = long_document(app, "frozen.md")
    wait_for(lambda: progress() > 0.3, 60, "the document never came so far")

    app.kill(WORKER, signal.SIGSTOP)
    time.sleep(STALLED_SECONDS + 2)
    # this command holds it to be dead, works with a worker of its own, and leaves alone what the
    # frozen one holds
    note = app.home.parent / "meanwhile.md"
    note.write_text("# Meanwhile\n\nWritten while the worker was frozen.\n")
    [added] = json.loads(app.command("add", "--json", str(note)))
    assert added["status"] == "ready"
    assert progress() < 1.0
    app.kill(WORKER, signal.SIGCONT)

    wait_for(lambda: progress() == 2.0, 120, "the document was not finished after the thaw")
    [(status, error)] = query(app, f"select status, error from document where id = {document_id}")
    assert (status, error) == ("ready", None)
    assert query(app, ORPHANS) == [(0,)]


async def test_the_web_process_killed_while_it_answers(
    app: App, model: ModelServer, page: Page
) -> None:
    await asyncio.to_thread(upload, app, "tides.md", "# Tides\n\nTides follow the moon.\n")
    words = " ".join(f"word{n}" for n in range(400))
    model.reply(f"The answer begins: {words}")
    model.piece_seconds = 0.1
    await page.goto(app.url)
    await page.fill("#question", "What do tides follow?")
    await page.press("#question", "Enter")
    await expect(page.locator("#main")).to_contain_text("word9", timeout=30_000)
    address = page.url

    await asyncio.to_thread(app.kill, WEB)
    await asyncio.sleep(1)
    await asyncio.to_thread(app.wait_until_healthy)
    model.behave()
    await page.goto(address)

    # what was written is there, once, and the turn says that it broke off
    turn = page.locator("article[data-turn-id]")
    await expect(turn).to_have_count(1, timeout=30_000)
    await expect(turn).to_have_attribute("data-turn-status", "interrupted", timeout=60_000)
    text = await turn.inner_text()
    assert text.count("The answer begins") == 1
    numbers = [int(n) for n in re.findall(r"word(\d+)", text)]
    assert numbers == list(range(len(numbers)))
    assert len(numbers) >= 5

    model.reply("Tides follow the moon [1].")
    await turn.get_by_role("button", name="Ask again").click()
    done = page.locator("[data-turn-status=done]")
    await expect(done).to_contain_text("Tides follow the moon", timeout=30_000)


def test_the_database_killed_under_a_running_app(app: App) -> None:
    before = {row["document_id"] for row in listed(app)}
    os.kill(int((app.home / "pgdata" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)

    def answers() -> bool:
        try:
            return {row["document_id"] for row in listed(app)} == before
        except subprocess.CalledProcessError:
            return False

    wait_for(answers, 90, "the database did not come back")
    app.wait_until_healthy()
    document_id = upload(app, "after.md", "# After\n\nWritten after the database came back.\n")
    wait_for(
        lambda: any(
            row["document_id"] == document_id and row["status"] == "ready" for row in listed(app)
        ),
        90,
        "no document is taken in after the database came back",
    )
    assert query(app, ORPHANS) == [(0,)]
