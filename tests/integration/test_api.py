"""Routes over real HTTP: who may ask, uploads, pages with marks, streamed answers."""

import asyncio
import hashlib
import json
import re
import stat
import threading
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from rag_app import access, chat
from rag_app import api as routes
from rag_app.api import api, guard
from rag_app.library import conversations, documents
from rag_app.providers.fake import FakeChat
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


async def test_a_file_that_the_library_holds_need_not_be_sent(
    runtime: Runtime, client: httpx.AsyncClient
) -> None:
    body = b"# Notes\n"
    known = f"/api/uploads/known/{hashlib.sha256(body).hexdigest()}"
    assert (await client.post(known, headers=HEADERS)).status_code == 404

    sent = await client.put(
        "/api/uploads", params={"name": "notes.md"}, content=body, headers=HEADERS
    )

    assert (await client.post(known, headers=HEADERS)).json() == {
        "document_id": sent.json()["document_id"]
    }
    assert (await client.post(known)).status_code == 403
    evil = HEADERS | {"Origin": "https://evil.example"}
    assert (await client.post(known, headers=evil)).status_code == 401
    assert (await client.post("/api/uploads/known/%25", headers=HEADERS)).status_code == 422
    other = replace(runtime, workspace_id=runtime.workspace_id + 1)
    digest = hashlib.sha256(body).hexdigest()
    assert await documents.find_same(other.database, other.workspace_id, digest) is None


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


LARGE = 2**63


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"open sesame"',
        b"{}",
        b'{"password": 1, "question": 1}',
        b'{"password": "\\ud83d", "question": "\\ud83d"}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"question": "  "}',
        b'{"question": "\\u0000"}',
    ],
)
@pytest.mark.parametrize("route", ["/api/login", "/api/ask"])
async def test_a_body_of_another_shape_is_refused_with_a_sentence(
    client: httpx.AsyncClient, route: str, body: bytes
) -> None:
    reply = await client.post(route, content=body, headers={"Content-Type": "application/json"})

    assert reply.status_code == 422, reply.text
    assert reply.json()["error"].endswith(".")


async def test_a_body_without_end_is_not_taken_in(client: httpx.AsyncClient) -> None:
    reply = await client.post("/api/login", content=b" " * 2_000_000)

    assert reply.status_code == 413


@pytest.mark.parametrize(
    ("conversation", "status"),
    [
        (12_345, 404),
        (LARGE - 1, 404),
        (LARGE, 422),
        (10**400, 422),
        (0, 422),
        (-1, 422),
        (True, 422),
        (1.5, 422),
        ("1", 422),
        ([1], 422),
    ],
)
async def test_a_conversation_that_is_none_is_told_before_the_stream_begins(
    client: httpx.AsyncClient, conversation: object, status: int
) -> None:
    reply = await client.post("/api/ask", json={"question": "Who?", "conversation": conversation})

    assert reply.status_code == status, reply.text
    assert reply.json()["error"].endswith(".")


async def test_a_question_goes_on_in_its_conversation(
    runtime: Runtime, client: httpx.AsyncClient
) -> None:
    conversation = await conversations.start_conversation(
        runtime.database, runtime.workspace_id, "bees"
    )
    await client.post("/api/ask", json={"question": "Who?", "conversation": conversation})
    await client.post("/api/ask", json={"question": "Why?", "conversation": None})

    turns = await conversations.list_turns(runtime.database, runtime.workspace_id, conversation)
    assert [turn.question for turn in turns] == ["Who?"]


@pytest.mark.parametrize(
    ("route", "status"),
    [
        (f"/api/versions/{LARGE}/file", 422),
        (f"/api/versions/{LARGE - 1}/file", 404),
        ("/api/versions/-1/file", 422),
        (f"/api/versions/{'9' * 5000}/file", 422),
        (f"/api/versions/1/pages/{LARGE}.png", 422),
        (f"/api/versions/{LARGE}/pages/1.png", 422),
        ("/api/versions/1/pages/1.png?width=1e999", 422),
        (f"/api/versions/1/pages/1.png?width={LARGE}", 422),
        (f"/api/versions/1/pages/1/marks?start=0&end={LARGE}", 422),
        (f"/api/versions/1/pages/1/marks?start=-{LARGE}0&end=1", 422),
        (f"/api/search?question=a&limit={LARGE}", 422),
        ("/api/search?question=a&limit=0", 422),
        ("/api/search?question=%20", 422),
        ("/api/search?question=a%00b", 200),
        ("/api/search?question=%ED%A0%BD", 200),
    ],
)
async def test_no_number_is_too_large_to_be_told_so(
    client: httpx.AsyncClient, route: str, status: int
) -> None:
    reply = await client.get(route)

    assert reply.status_code == status, reply.text
    assert status == 200 or reply.json()["error"].endswith(".")


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ({"Origin": "http://["}, 401),
        ({"Content-Length": "abc"}, 400),
        ({"Content-Length": b"\xb2"}, 400),
        ({"Content-Length": "-1"}, 400),
        ({"Content-Length": str(3 << 30)}, 413),
        ({"Content-Length": "9" * 5000}, 413),
    ],
)
async def test_no_header_can_break_an_upload(
    client: httpx.AsyncClient, header: dict[str, str | bytes], status: int
) -> None:
    reply = await client.put(
        "/api/uploads", params={"name": "a.md"}, content=b"text", headers={**HEADERS, **header}
    )

    assert reply.status_code == status


async def test_an_upload_passes_through_a_folder_of_this_user_alone(
    runtime: Runtime, client: httpx.AsyncClient
) -> None:
    await client.put("/api/uploads", params={"name": "a.md"}, content=b"text", headers=HEADERS)

    folders = (runtime.settings.uploads_dir, runtime.settings.files_dir)
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in folders] == [0o700, 0o700]
    assert list(runtime.settings.uploads_dir.iterdir()) == []


async def test_guesses_at_the_password_wait_for_each_other(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "WRONG_PASSWORD_SECONDS", 0.1)
    transport = httpx.ASGITransport(app=api)
    async with (
        open_runtime(replace(settings, password="open sesame")),
        httpx.AsyncClient(transport=transport, base_url="http://library.example") as client,
    ):
        guess = {"password": "guess"}
        started = time.monotonic()
        replies = await asyncio.gather(*(client.post("/api/login", json=guess) for _ in range(15)))
        took = time.monotonic() - started
        right = await client.post("/api/login", json={"password": "open sesame"})

    assert sorted(reply.status_code for reply in replies) == [401] * 10 + [429] * 5
    assert took >= 10 * 0.1
    assert right.status_code == 200


async def test_a_page_that_takes_long_to_draw_holds_up_nothing_else(
    runtime: Runtime,
    client: httpx.AsyncClient,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    document = await add_path(runtime, write_pdf(tmp_path / "bees.pdf", ["One queen."]))
    done = threading.Event()

    def draw(*_: object) -> bytes:
        done.wait(20)
        return b"image"

    monkeypatch.setattr(routes._pages, "render_page", draw)
    page = f"/api/versions/{document.version_id}/pages/1.png"
    drawing = [asyncio.create_task(client.get(page)) for _ in range(40)]
    await asyncio.sleep(0.5)
    try:
        async with asyncio.timeout(5):
            assert await asyncio.to_thread(lambda: "free") == "free"
    finally:
        done.set()

    assert {(await reply).status_code for reply in drawing} == {200}


async def test_a_client_that_hangs_up_leaves_a_stopped_turn(
    runtime: Runtime, tmp_path: Path
) -> None:
    await add_text(runtime, tmp_path, "bees.md", "# Bees\n\nA colony has one queen.")
    model = FakeChat(["word " * 500], piece_delay_seconds=0.02)
    asked = replace(
        runtime, query=replace(runtime.query, provider=replace(runtime.provider, chat_model=model))
    )
    stream = routes.EventStream(
        routes._as_text(await chat.open_turn(asked, None, "How many queens?"))
    )
    gone = asyncio.Event()

    async def receive() -> dict[str, str]:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, bytes]) -> None:
        if b"event: delta" in message.get("body", b""):
            gone.set()

    async with asyncio.timeout(10):
        await stream({"type": "http", "asgi": {"spec_version": "2.3"}}, receive, send)
        await asyncio.gather(*(live.task for live in chat._live.values() if live.task))

    [conversation] = await conversations.list_conversations(runtime.database, runtime.workspace_id)
    [turn] = await conversations.list_turns(runtime.database, runtime.workspace_id, conversation.id)
    assert turn.status == "stopped"
    assert turn.answer.startswith("word")
