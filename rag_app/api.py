"""HTTP routes: uploads, files, page images, search, streamed answers, sign-in, health."""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import asdict
from pathlib import Path, PurePath
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Query, Request
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse

from rag_app import access, chat
from rag_app.errors import IngestionError, NotFoundError, ProviderError, RagAppError
from rag_app.ingestion.page_images import PageImages
from rag_app.library import documents, evidence
from rag_app.library.evidence import Version
from rag_app.query import pipeline
from rag_app.query.results import Delta, Failed, Finished, Retrieved, Rewritten
from rag_app.runtime import Runtime, current
from rag_app.settings import load_settings

LARGEST_UPLOAD_BYTES = 2 << 30
PAGE_WIDTHS = (200, 2400)
WRONG_PASSWORD_SECONDS = 1.0

api = FastAPI(title="Pincite", docs_url=None, redoc_url=None, openapi_url="/api/openapi.json")
_pages = PageImages()


def is_signed_in(cookie_header: str) -> bool:
    """Say whether the sender of a Cookie header may use the library."""
    return access.is_valid_session(current().settings, cookie_header)


async def signed_in(request: Request) -> Runtime:
    """Return the runtime for somebody who may ask; 401 for everybody else."""
    runtime = current()
    headers = request.headers
    origin = headers.get("origin", "") if request.method not in {"GET", "HEAD"} else ""
    if not access.may_ask(
        runtime.settings, headers.get("cookie", ""), headers.get("host", ""), origin
    ):
        raise HTTPException(401, "Sign in first.")
    return runtime


SignedIn = Annotated[Runtime, Depends(signed_in)]


@api.exception_handler(RagAppError)
async def tell(_request: Request, error: RagAppError) -> JSONResponse:
    """Answer an error of ours with its sentence."""
    status = 404 if isinstance(error, NotFoundError) else 422
    if isinstance(error, ProviderError) or error.retryable:
        status = 503
    return JSONResponse({"error": str(error)}, status)


@api.get("/api/health")
async def health() -> dict[str, str]:
    """Answer as soon as the library can be asked."""
    current()
    return {"status": "ok"}


@api.post("/api/login")
async def login(request: Request) -> JSONResponse:
    """Give a session to whoever knows the password."""
    settings = current().settings
    body = await request.json()
    given = body.get("password") if isinstance(body, dict) else None
    if not isinstance(given, str) or not access.is_password(settings, given):
        await asyncio.sleep(WRONG_PASSWORD_SECONDS)
        return JSONResponse({"error": "This is not the password."}, 401)
    response = JSONResponse({"status": "ok"})
    response.set_cookie(
        access.COOKIE,
        access.new_session(settings),
        max_age=access.VALID_SECONDS,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    return response


@api.post("/api/logout")
async def logout() -> JSONResponse:
    """Forget the session."""
    response = JSONResponse({"status": "ok"})
    response.delete_cookie(access.COOKIE)
    return response


@api.put("/api/uploads")
async def upload(request: Request, runtime: SignedIn, name: str) -> JSONResponse:
    """Take one file as it streams in, and queue it."""
    if request.headers.get("x-pincite") != "1":
        raise HTTPException(403, "Uploads come from Pincite's own page.")
    if int(request.headers.get("content-length") or 0) > LARGEST_UPLOAD_BYTES:
        raise HTTPException(413, "This file is larger than 2 GB.")
    name = PurePath(name.replace("\\", "/").replace("\x00", "")).name or "file"
    folder = runtime.settings.home / "uploads"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder) as part:
        received = 0
        try:
            async for block in request.stream():
                received += len(block)
                if received > LARGEST_UPLOAD_BYTES:
                    raise HTTPException(413, "This file is larger than 2 GB.")
                await asyncio.to_thread(part.write, block)
        except ClientDisconnect:
            return JSONResponse({"error": "The upload was cancelled."}, 499)
        part.flush()
        document_id = await documents.add_file(
            runtime.database, runtime.files, runtime.workspace_id, Path(part.name), name
        )
    return JSONResponse({"document_id": document_id, "title": name})


@api.get("/api/versions/{version_id}/file")
async def version_file(version_id: int, runtime: SignedIn) -> Response:
    """Send the original file, in ranges where asked; never as a page of our own origin."""
    version = await evidence.get_version(runtime.database, runtime.workspace_id, version_id)
    path = await _path(runtime, version)
    return FileResponse(
        path,
        filename=version.title if path.suffix in version.title else version.title + path.suffix,
        content_disposition_type="inline" if path.suffix == ".pdf" else "attachment",
        headers={"Content-Security-Policy": "sandbox", "X-Content-Type-Options": "nosniff"},
    )


@api.get("/api/versions/{version_id}/pages/{page}.png")
async def page_image(
    version_id: int,
    page: int,
    runtime: SignedIn,
    width: Annotated[int, Query(ge=PAGE_WIDTHS[0], le=PAGE_WIDTHS[1])] = 900,
) -> Response:
    """Draw a page of a PDF; page numbers are physical and count from 1."""
    version = await evidence.get_version(runtime.database, runtime.workspace_id, version_id)
    _check_page(version, page)
    image = await asyncio.to_thread(_pages.render_page, await _path(runtime, version), page, width)
    # a version never changes, so neither does its page
    headers = {"Cache-Control": "private, max-age=86400"}
    return Response(image, media_type="image/png", headers=headers)


@api.get("/api/versions/{version_id}/pages/{page}/marks")
async def page_marks(
    version_id: int, page: int, runtime: SignedIn, start: int, end: int
) -> dict[str, Any]:
    """Return where on a page the words `start:end` of the content stand, as fractions of it."""
    version = await evidence.get_version(runtime.database, runtime.workspace_id, version_id)
    _check_page(version, page)
    content = version.content
    first, last = evidence.page_span(content, page)
    start, end = max(start, first), min(end, last)
    if start >= end:
        return {"boxes": []}
    boxes = await asyncio.to_thread(
        _pages.mark_boxes,
        await _path(runtime, version),
        page,
        content[start:end],
        before=content[first:start],
    )
    return {"boxes": [list(box) for box in boxes]}


@api.get("/api/search")
async def search(
    runtime: SignedIn, question: str, limit: Annotated[int, Query(ge=1, le=100)] = 10
) -> dict[str, Any]:
    """Return the passages nearest to a question."""
    options = pipeline.QueryOptions(candidates=limit)
    found = await pipeline.retrieve(runtime.query, question, options)
    return {
        "question": question,
        "snapshot": found.scope.snapshot,
        "embedding_model": runtime.provider.embedder.model.name,
        "passages": [chat.describe_passage(passage) for passage in found.passages],
    }


@api.post("/api/ask")
async def ask(request: Request, runtime: SignedIn) -> StreamingResponse:
    """Answer a question as server-sent events: the same events the page sees."""
    body = await request.json()
    question = body.get("question") if isinstance(body, dict) else None
    if not isinstance(question, str) or not question.strip():
        raise HTTPException(422, 'Send {"question": "…"}.')
    conversation = body.get("conversation")
    turn = chat.take_turn(
        runtime,
        conversation if isinstance(conversation, int) else None,
        question,
    )

    async def events() -> AsyncIterator[str]:
        async for event in turn:
            name = type(event).__name__.lower()
            yield f"event: {name}\ndata: {json.dumps(_event(event), default=str)}\n\n"

    return StreamingResponse(
        events(), media_type="text/event-stream", headers={"Cache-Control": "no-cache"}
    )


def _event(event: object) -> object:
    match event:
        case Rewritten():
            return {"standalone_question": event.standalone_question}
        case Retrieved():
            return {
                "snapshot": event.snapshot,
                "embedding_model": event.embedding_model,
                "notice": event.notice,
                "passages": [chat.describe_passage(passage) for passage in event.passages],
            }
        case Delta() | Failed():
            return asdict(event)
        case Finished():
            return chat.describe(event)
    raise AssertionError(event)


async def _path(runtime: Runtime, version: Version) -> Path:
    if not version.file_key:
        raise NotFoundError("This document has no file: it was read from the web.")
    path = await asyncio.to_thread(runtime.files.local_path, version.file_key)
    if not path.exists():
        raise IngestionError(f'The file of "{version.title}" is missing: add it again.')
    return path


def _check_page(version: Version, page: int) -> None:
    if not 1 <= page <= (version.page_count or 0):
        raise NotFoundError(f'"{version.title}" has no page {page}.')


Send = Callable[[dict[str, Any]], Awaitable[None]]


def guard(app: Any) -> Any:
    """Wrap an ASGI app so that it answers only for hosts that are ours.

    A page elsewhere whose name resolves to 127.0.0.1 would otherwise read the library.
    """
    settings = load_settings()

    async def guarded(scope: dict[str, Any], receive: Any, send: Send) -> None:
        if scope["type"] in {"http", "websocket"} and not settings.password:
            host = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
            if access.host_name(host) not in access.LOCAL_HOSTS:
                await _refuse(scope, send)
                return
        await app(scope, receive, send)

    return guarded


async def _refuse(scope: dict[str, Any], send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    await send({"type": "http.response.start", "status": 421, "headers": []})
    await send({"type": "http.response.body", "body": b"Open Pincite at its own address."})
