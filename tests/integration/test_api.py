"""Routes over real HTTP: who may ask, uploads, pages with marks, streamed answers."""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from rag_app.api import api, guard
from rag_app.library import documents
from rag_app.runtime import Runtime, open_runtime
from rag_app.settings import Settings
from tests.support.ingesting import add_path, add_text
from tests.support.library import write_pdf

pytestmark = pytest.mark.integration

HEADERS = {"X-Pincite": "1"}


@pytest.fixture
async def client(runtime: Runtime) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=api)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:3000") as opened:
        yield opened


async def test_an_upload_is_stored_and_queued(runtime: Runtime, client: httpx.AsyncClient) -> None:
    reply = await client.put(
        "/api/uploads", params={"name": "notes.md"}, content=b"# Notes\n", headers=HEADERS
    )

    assert reply.status_code == 200
    document = await documents.get_document(
        runtime.database, runtime.workspace_id, reply.json()["document_id"]
    )
    assert (document.status, document.title) == ("queued", "notes.md")


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "..\\..\\boot.ini", "a\x00b.md", "x" * 400 + ".md", "/", "мир.md"]
)
async def test_an_upload_of_any_name_stays_inside_the_store(
    runtime: Runtime, client: httpx.AsyncClient, name: str
) -> None:
    reply = await client.put(
        "/api/uploads", params={"name": name}, content=name.encode(), headers=HEADERS
    )

    assert reply.status_code == 200, reply.text
    files = runtime.settings.files_dir
    [stored] = [str(path.relative_to(files)) for path in files.rglob("*") if path.is_file()]
    assert re.fullmatch(r"[0-9a-f]{2}/[0-9a-f]{64}(\.\w+)?", stored)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 403),  # a form on another site cannot send the header
        (HEADERS | {"Origin": "https://evil.example"}, 401),
        (HEADERS | {"Host": "evil.example:3000"}, 401),
        (HEADERS | {"Origin": "http://127.0.0.1:3000"}, 200),
    ],
)
async def test_uploads_come_from_our_own_page_only(
    client: httpx.AsyncClient, headers: dict[str, str], status: int
) -> None:
    reply = await client.put(
        "/api/uploads", params={"name": "a.md"}, content=b"text", headers=headers
    )

    assert reply.status_code == status


async def test_an_empty_file_is_refused_with_a_sentence(client: httpx.AsyncClient) -> None:
    reply = await client.put("/api/uploads", params={"name": "a.md"}, headers=HEADERS)

    assert reply.status_code == 422
    assert reply.json() == {"error": '"a.md" is empty: there is nothing to read.'}


async def test_a_page_is_drawn_and_the_words_on_it_are_marked(
    runtime: Runtime, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    path = write_pdf(tmp_path / "bees.pdf", ["One queen.", "The waggle dance tells the way."])
    document = await add_path(runtime, path)
    pages = f"/api/versions/{document.version_id}/pages"

    image = await client.get(f"{pages}/2.png", params={"width": 600})
    marks = await client.get(f"{pages}/2/marks", params={"start": 11, "end": 27})
    beyond = await client.get(f"{pages}/3.png")
    file = await client.get(
        f"/api/versions/{document.version_id}/file", headers={"Range": "bytes=0-4"}
    )

    assert image.content[:8] == b"\x89PNG\r\n\x1a\n"
    [[left, top, right, bottom]] = marks.json()["boxes"]
    assert 0 < left < right < 1
    assert 0 < top < bottom < 0.2
    assert beyond.status_code == 404
    assert (file.status_code, file.content) == (206, b"%PDF-")


async def test_another_workspace_s_version_is_not_found(
    runtime: Runtime, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    document = await add_text(runtime, tmp_path, "a.md", "Private words.")
    async with runtime.database.connection() as connection:
        await connection.execute("insert into workspace (name) values ('other')")
        await connection.execute(
            "update document_version set workspace_id = "
            "(select id from workspace where name = 'other')"
        )

    assert (await client.get(f"/api/versions/{document.version_id}/file")).status_code == 404


async def test_an_answer_streams_as_events(
    runtime: Runtime, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    await add_text(runtime, tmp_path, "bees.md", "# Bees\n\nA colony has one queen.")

    reply = await client.post("/api/ask", json={"question": "How many queens has a colony?"})

    events = [block.split("\n") for block in reply.text.strip().split("\n\n")]
    names = [name.removeprefix("event: ") for name, _ in events]
    assert names[:2] == ["rewritten", "retrieved"]
    assert names[-1] == "finished"
    finished = json.loads(events[-1][1].removeprefix("data: "))
    assert finished["sources"][0]["quote"] == "A colony has one queen."


async def test_with_a_password_nothing_answers_without_a_session(settings: Settings) -> None:
    locked = replace(settings, password="open sesame")
    transport = httpx.ASGITransport(app=api)
    async with (
        open_runtime(locked),
        httpx.AsyncClient(transport=transport, base_url="https://library.example") as client,
    ):
        assert (await client.get("/api/search", params={"question": "x"})).status_code == 401
        wrong = await client.post("/api/login", json={"password": "guess"})
        assert wrong.status_code == 401
        assert "set-cookie" not in wrong.headers

        right = await client.post("/api/login", json={"password": "open sesame"})
        cookie = right.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "Secure" in cookie
        assert (await client.get("/api/search", params={"question": "x"})).status_code == 200

        client.cookies.set("pincite_session", "9999999999.forged")
        assert (await client.get("/api/search", params={"question": "x"})).status_code == 401


async def test_a_name_that_is_not_ours_gets_no_page(runtime: Runtime) -> None:
    transport = httpx.ASGITransport(app=guard(api))
    async with httpx.AsyncClient(transport=transport, base_url="http://rebound.example") as client:
        assert (await client.get("/api/health")).status_code == 421
