"""HTTP routes: uploads, files, page images, search, streamed answers, sign-in, health."""

import asyncio
import contextlib
import json
import tempfile
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path, PurePath
from typing import Annotated, Any, ClassVar, Self, TypeVar

from fastapi import Depends, FastAPI, Query, Request
from fastapi import Path as PathPart
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from rag_app import access, chat
from rag_app.errors import IngestionError, NotFoundError, ProviderError, RagAppError
from rag_app.ingestion.page_images import PageImages
from rag_app.library import documents, evidence
from rag_app.library.evidence import Version
from rag_app.library.files import make_private
from rag_app.query.pipeline import QueryOptions
from rag_app.query.results import Delta, Event, Failed, Finished, Retrieved, Rewritten
from rag_app.query.syntax import clean_question
from rag_app.runtime import Runtime, current
from rag_app.settings import load_settings

LARGEST_UPLOAD_BYTES = 2 << 30
LARGEST_BODY_BYTES = 1 << 20
RETRY_SECONDS = 10
PAGE_WIDTHS = (200, 2400)
LARGEST_ID = 2**63 - 1
"""The largest number that a column of ids holds."""

api = FastAPI(title="Pincite", docs_url=None, redoc_url=None, openapi_url="/api/openapi.json")
_pages = PageImages()
# drawing waits for a child process: not in the threads that everything else shares
_drawing = ThreadPoolExecutor(1, thread_name_prefix="pages")
_sign_in = access.SignIn()

Result = TypeVar("Result")
Id = Annotated[int, PathPart(ge=1, le=LARGEST_ID)]
PageNumber = Annotated[int, PathPart(ge=1, le=LARGEST_ID)]
Offset = Annotated[int, Query(ge=-LARGEST_ID, le=LARGEST_ID)]


class Body(BaseModel):
    """What a request brings as JSON."""

    model_config = ConfigDict(strict=True)

    example: ClassVar[str]

    @classmethod
    async def read(cls, request: Request) -> Self:
        """Return the body of a request; 422 with a sentence when it is something else."""
        content = bytearray()
        async for block in request.stream():
            content += block
            if len(content) > LARGEST_BODY_BYTES:
                raise HTTPException(413, "This request is larger than 1 MB.")
        try:
            return cls.model_validate_json(bytes(content))
        except ValidationError as error:
            raise HTTPException(422, f"Send {cls.example}. {_first(error)}") from error


class Login(Body):
    """The password that opens a session."""

    example = '{"password": "…"}'

    password: str


class Question(Body):
    """A question, in a conversation or at the beginning of a new one."""

    example = '{"question": "…"} or {"question": "…", "conversation": 1}'

    question: str
    conversation: Annotated[int, Field(ge=1, le=LARGEST_ID)] | None = None


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


@api.exception_handler(HTTPException)
async def refuse(_request: Request, error: HTTPException) -> JSONResponse:
    """Answer what is refused in the same shape as an error of ours."""
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


@api.exception_handler(RequestValidationError)
async def correct(_request: Request, error: RequestValidationError) -> JSONResponse:
    """Say which part of a request cannot be used."""
    return JSONResponse({"error": _first(error)}, 422)


@api.get("/api/health")
async def health() -> dict[str, str]:
    """Answer as soon as the library can be asked."""
    current()
    return {"status": "ok"}


@api.post("/api/login")
async def login(request: Request) -> JSONResponse:
    """Give a session to whoever knows the password."""
    settings = current().settings
    given = await Login.read(request)
    is_right = await _sign_in.check(settings, given.password)
    if is_right is None:
        raise HTTPException(
            429, "Too many are signing in: wait a moment.", {"Retry-After": str(RETRY_SECONDS)}
        )
    if not is_right:
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
    length = request.headers.get("content-length") or "0"
    if not length.isdecimal():
        raise HTTPException(400, "Content-Length must be a whole number.")
    if len(length) > 18 or int(length) > LARGEST_UPLOAD_BYTES:
        raise HTTPException(413, "This file is larger than 2 GB.")
    name = PurePath(name.replace("\\", "/").replace("\x00", "")).name or "file"
    folder = await asyncio.to_thread(make_private, runtime.settings.uploads_dir)
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


@api.post("/api/uploads/known/{digest}")
async def find_upload(
    request: Request, runtime: SignedIn, digest: Annotated[str, PathPart(pattern="^[0-9a-f]{64}$")]
) -> JSONResponse:
    """Say which document holds a file of this SHA-256, so that it need not be sent."""
    if request.headers.get("x-pincite") != "1":
        raise HTTPException(403, "Uploads come from Pincite's own page.")
    document_id = await documents.find_same(runtime.database, runtime.workspace_id, digest)
    if document_id is None:
        raise HTTPException(404, "The library does not hold this file.")
    return JSONResponse({"document_id": document_id})


@api.get("/api/versions/{version_id}/file")
async def version_file(version_id: Id, runtime: SignedIn) -> Response:
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
    version_id: Id,
    page: PageNumber,
    runtime: SignedIn,
    width: Annotated[int, Query(ge=PAGE_WIDTHS[0], le=PAGE_WIDTHS[1])] = 900,
) -> Response:
    """Draw a page of a PDF; page numbers are physical and count from 1."""
    version = await evidence.get_version(runtime.database, runtime.workspace_id, version_id)
    _check_page(version, page)
    image = await _draw(_pages.render_page, await _path(runtime, version), page, width)
    # a version never changes, so neither does its page
    headers = {"Cache-Control": "private, max-age=86400"}
    return Response(image, media_type="image/png", headers=headers)


@api.get("/api/versions/{version_id}/pages/{page}/marks")
async def page_marks(
    version_id: Id, page: PageNumber, runtime: SignedIn, start: Offset, end: Offset
) -> dict[str, Any]:
    """Return where on a page the words `start:end` of the content stand, as fractions of it."""
    version = await evidence.get_version(runtime.database, runtime.workspace_id, version_id)
    _check_page(version, page)
    content = version.content
    first, last = evidence.page_span(content, page)
    start, end = max(start, first), min(end, last)
    if start >= end:
        return {"boxes": []}
    if (lines := evidence.recognised_lines(version, page)) is not None:
        return {"boxes": evidence.boxes_on_lines(lines, start - first, end - first)}
    boxes = await _draw(
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
    _check_question(question)
    return await chat.search(runtime, question, QueryOptions(candidates=limit))


class EventStream(StreamingResponse):
    """Events as they come; their source is closed however the sending ends."""

    def __init__(self, events: AsyncGenerator[str, None]) -> None:
        super().__init__(
            events, media_type="text/event-stream", headers={"Cache-Control": "no-cache"}
        )
        self._events = events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send them."""
        async with contextlib.aclosing(self._events):
            await super().__call__(scope, receive, send)


@api.post("/api/ask")
async def ask(request: Request, runtime: SignedIn) -> EventStream:
    """Answer a question as server-sent events: the same events the page sees."""
    asked = await Question.read(request)
    _check_question(asked.question)
    return EventStream(_as_text(await chat.open_turn(runtime, asked.conversation, asked.question)))


async def _as_text(events: AsyncGenerator[Event, None]) -> AsyncGenerator[str, None]:
    async with contextlib.aclosing(events):
        async for event in events:
            name = type(event).__name__.lower()
            yield f"event: {name}\ndata: {json.dumps(_event(event), default=str)}\n\n"


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


def _check_question(question: str) -> None:
    if not clean_question(question):
        raise HTTPException(422, "The question is empty.")


def _first(error: RequestValidationError | ValidationError) -> str:
    """Return what is wrong first as a sentence, without the value, which may not be printable."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part not in {"path", "query"})
    return f"{where}: {first['msg']}." if where else f"{first['msg']}."


async def _draw(function: Callable[..., Result], *arguments: Any, **options: Any) -> Result:
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_drawing, partial(function, *arguments, **options))


async def _path(runtime: Runtime, version: Version) -> Path:
    if not version.file_key:
        raise NotFoundError("This document has no file: it was read from the web.")
    path = await asyncio.to_thread(runtime.files.local_path, version.file_key)
    if not path.exists():
        raise IngestionError(f'The file of "{version.title}" is missing: add it again.')
    return path


def _check_page(version: Version, page: int) -> None:
    # slides have pages too, but none that could be drawn
    if version.source_type != "pdf" or not 1 <= page <= (version.page_count or 0):
        raise NotFoundError(f'"{version.title}" has no page {page}.')


def guard(app: Any) -> Any:
    """Wrap an ASGI app so that it answers only for hosts that are ours.

    A page elsewhere whose name resolves to 127.0.0.1 would otherwise read the library.
    """
    settings = load_settings()

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in {"http", "websocket"} and not settings.password:
            host = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
            if access.host_name(host) not in access.LOCAL_HOSTS:
                await _refuse(scope, send)
                return
        await app(scope, receive, send)

    return guarded


async def _refuse(scope: Scope, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    await send({"type": "http.response.start", "status": 421, "headers": []})
    await send({"type": "http.response.body", "body": b"Open Pincite at its own address."})
