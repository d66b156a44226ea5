"""A model server on loopback: speaks the OpenAI, Ollama, Cohere and Jina protocols, and misbehaves.

    with model_server() as server:
        server.reply("The moon is far [1].")            # the next chat answer
        server.misbehave("rate_limit", times=1)         # the next request gets 429
        ... use server.openai_url or server.base_url ...
        assert server.requests[-1].path == "/v1/chat/completions"

Without a scripted reply it answers like the fake chat model, so whole turns work against it.
"""

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from rag_app.providers.base import Message
from rag_app.providers.fake import extractive_answer, hashed_vector, split_pieces

Fault = Literal[
    "rate_limit",  # 429, with Retry-After when given
    "no_quota",  # 429 that waiting does not cure
    "bad_key",  # 401
    "bad_request",  # 400
    "context",  # 400: the prompt is too long
    "too_large",  # 413
    "error",  # 500
    "unavailable",  # 503
    "cut",  # the connection breaks in mid-answer
    "silence",  # nothing comes, the connection stays open
    "invalid_json",
    "empty_choices",
    "wrong_dimensions",
    "missing_vector",
]

_STATUS: dict[str, tuple[int, str, str]] = {
    "rate_limit": (429, "rate_limit_exceeded", "Too many requests."),
    "no_quota": (429, "insufficient_quota", "You exceeded your current quota."),
    "bad_key": (401, "invalid_api_key", "Incorrect API key provided: sk-12345678."),
    "bad_request": (400, "invalid_request_error", "This field is not known."),
    "context": (
        400,
        "context_length_exceeded",
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
    ),
    "too_large": (413, "too_large", "Request entity too large."),
    "error": (500, "server_error", "Something broke."),
    "unavailable": (503, "server_error", "Overloaded."),
}


@dataclass(frozen=True)
class Request:
    """One request as it arrived."""

    method: str
    path: str
    body: dict[str, Any]
    headers: dict[str, str]


@dataclass
class _Misbehaviour:
    fault: Fault
    times: int
    path: str
    retry_after: str | None
    after_pieces: int


@dataclass
class ModelServer:
    """What a test says to the server and learns from it; used from any thread."""

    base_url: str = ""
    dimensions: int = 64
    models: list[dict[str, Any]] = field(default_factory=list)
    """What Ollama lists; see `ollama_model`."""
    piece_seconds: float = 0.0
    """How long each piece of a stream takes."""
    streams_only: bool = False
    """Keep the scripted replies for streams; what else is asked gets an empty answer."""
    requests: list[Request] = field(default_factory=list)
    dropped: threading.Event = field(default_factory=threading.Event)
    """Set when a client went away in the middle of a stream."""
    _replies: list[str] = field(default_factory=list)
    _misbehaviours: list[_Misbehaviour] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _closing: threading.Event = field(default_factory=threading.Event)

    @property
    def openai_url(self) -> str:
        """The address of the OpenAI protocol; `base_url` is that of the others."""
        return f"{self.base_url}/v1"

    def reply(self, *texts: str) -> None:
        """Let the next chat answers be these."""
        with self._lock:
            self._replies.extend(texts)

    def misbehave(
        self,
        fault: Fault,
        *,
        times: int = 1,
        path: str = "",
        retry_after: str | None = None,
        after_pieces: int = 3,
    ) -> None:
        """Let the next requests, to addresses that contain `path`, go wrong; `times=-1`: all."""
        with self._lock:
            self._misbehaviours.append(_Misbehaviour(fault, times, path, retry_after, after_pieces))

    def behave(self) -> None:
        """Forget every fault, reply and request."""
        with self._lock:
            self._misbehaviours.clear()
            self._replies.clear()
            self.requests.clear()
            self.dropped.clear()
            self.piece_seconds = 0.0

    def paths(self) -> list[str]:
        """Return the addresses asked for, in order."""
        return [request.path for request in self.requests]

    def _take_fault(self, path: str) -> _Misbehaviour | None:
        with self._lock:
            for fault in self._misbehaviours:
                if fault.path in path and fault.times:
                    fault.times -= 1
                    return fault
        return None

    def _answer(self, body: dict[str, Any]) -> str:
        if self.streams_only and not body.get("stream"):
            return ""
        with self._lock:
            if self._replies:
                return self._replies.pop(0)
        messages = [Message(m["role"], str(m["content"])) for m in body.get("messages", [])]
        return extractive_answer(messages)


def ollama_model(name: str, *, family: str = "llama", **more: Any) -> dict[str, Any]:
    """Return a model as Ollama lists it."""
    return {
        "name": name,
        "model": name,
        "details": {"family": family, "families": [family]},
        **more,
    }


@contextlib.contextmanager
def model_server() -> Iterator[ModelServer]:
    """Serve models on a free port of loopback until the block ends."""
    state = ModelServer(models=[ollama_model("llama3.2:3b")])

    class Handler(_Handler):
        server_state = state

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.base_url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        state._closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _BrokenError(Exception):
    """The connection ends here, as the test wanted."""


class _Handler(BaseHTTPRequestHandler):
    server_state: ModelServer
    protocol_version = "HTTP/1.1"

    def handle(self) -> None:
        # clients also break idle connections; nobody needs to read about it
        with contextlib.suppress(ConnectionResetError):
            super().handle()

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._handle({})

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length", 0))
        self._handle(json.loads(self.rfile.read(size) or b"{}"))

    def _handle(self, body: dict[str, Any]) -> None:
        state = self.server_state
        state.requests.append(Request(self.command, self.path, body, dict(self.headers)))
        self.fault = state._take_fault(self.path)
        try:
            if not self._misbehave_before():
                self._route(body)
        except _BrokenError:
            self.close_connection = True
        except (BrokenPipeError, ConnectionResetError):
            state.dropped.set()
            self.close_connection = True

    def _misbehave_before(self) -> bool:
        if self.fault is None:
            return False
        kind = self.fault.fault
        if kind in _STATUS:
            status, code, message = _STATUS[kind]
            retry = self.fault.retry_after
            headers = {"Retry-After": retry} if retry is not None else {}
            error = {"message": message, "type": code, "code": code}
            self._send(json.dumps({"error": error}).encode(), status=status, headers=headers)
        elif kind == "silence":
            self.server_state._closing.wait(30)
            raise _BrokenError
        elif kind == "invalid_json":
            self._send(b"<html>A proxy was here.</html>")
        else:
            return False
        return True

    def _has_fault(self, kind: Fault) -> bool:
        return self.fault is not None and self.fault.fault == kind

    def _route(self, body: dict[str, Any]) -> None:
        path = self.path.split("?")[0]
        if path.endswith("/chat/completions"):
            self._openai_chat(body)
        elif path.endswith("/embeddings"):
            data = [
                {"object": "embedding", "index": index, "embedding": vector}
                for index, vector in enumerate(self._vectors(body["input"]))
            ]
            # the protocol promises no order, so there is none here
            self._send_json({"object": "list", "data": data[::-1], "model": "m", "usage": _USAGE})
        elif path.endswith("/rerank"):
            self._rerank(body)
        elif path == "/api/tags":
            self._send_json({"models": self.server_state.models})
        elif path == "/api/chat":
            self._ollama_chat(body)
        elif path == "/api/embed":
            vectors = self._vectors(body["input"])
            self._send_json({"model": "m", "embeddings": vectors, "prompt_eval_count": 1})
        elif path == "/api/show":
            self._send_json({"template": "", "model_info": {}, "details": {}, "parameters": ""})
        else:
            self._send(b'{"error": "not found"}', status=404)

    def _vectors(self, texts: str | list[str]) -> list[list[float]]:
        size = self.server_state.dimensions + (8 if self._has_fault("wrong_dimensions") else 0)
        texts = [texts] if isinstance(texts, str) else texts
        # three times too long, since not every server gives unit vectors
        vectors = [[3 * value for value in hashed_vector(text, size)] for text in texts]
        return vectors[1:] if self._has_fault("missing_vector") else vectors

    def _rerank(self, body: dict[str, Any]) -> None:
        query = hashed_vector(body["query"], 512)
        texts = [d if isinstance(d, str) else d["text"] for d in body["documents"]]
        scores = [
            sum(a * b for a, b in zip(query, hashed_vector(text, 512), strict=True))
            for text in texts
        ]
        order = sorted(range(len(texts)), key=lambda index: (-scores[index], index))
        results = [{"index": index, "relevance_score": scores[index]} for index in order]
        top = body.get("top_n") or len(results)
        self._send_json({"id": "r", "model": "m", "results": results[:top], "usage": _USAGE})

    def _openai_chat(self, body: dict[str, Any]) -> None:
        text = "" if self._has_fault("empty_choices") else self.server_state._answer(body)
        frame = {"id": "c", "created": 1, "model": body["model"]}
        if not body.get("stream"):
            message = {"role": "assistant", "content": text}
            choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
            empty = self._has_fault("empty_choices")
            self._send_json(
                {**frame, "object": "chat.completion", "usage": _USAGE}
                | {"choices": [] if empty else choices}
            )
            return
        frame["object"] = "chat.completion.chunk"
        deltas: list[tuple[dict, str | None]] = [({"role": "assistant", "content": ""}, None)]
        deltas += [({"content": piece}, None) for piece in split_pieces(text)]
        deltas += [({}, "stop")]
        lines = [
            {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
            for delta, reason in deltas
        ]
        lines.append({**frame, "choices": [], "usage": _USAGE})
        if self._has_fault("empty_choices"):
            lines = lines[-1:]
        events = [f"data: {json.dumps(line)}\n\n" for line in lines]
        self._stream([*events, "data: [DONE]\n\n"], "text/event-stream")

    def _ollama_chat(self, body: dict[str, Any]) -> None:
        text = "" if self._has_fault("empty_choices") else self.server_state._answer(body)
        frame = {"model": body["model"], "created_at": "2026-01-01T00:00:00Z"}
        last = {"done": True, "done_reason": "stop", "prompt_eval_count": 1, "eval_count": 1}
        if not body.get("stream"):
            self._send_json({**frame, "message": {"role": "assistant", "content": text}, **last})
            return
        lines = [
            {**frame, "message": {"role": "assistant", "content": piece}, "done": False}
            for piece in split_pieces(text)
        ]
        lines.append({**frame, "message": {"role": "assistant", "content": ""}, **last})
        self._stream([json.dumps(line) + "\n" for line in lines], "application/x-ndjson")

    def _send_json(self, value: dict[str, Any]) -> None:
        self._send(json.dumps(value).encode())

    def _send(self, data: bytes, *, status: int = 200, headers: dict | None = None) -> None:
        cut = self._has_fault("cut")
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if cut else data)
        if cut:
            raise _BrokenError

    def _stream(self, lines: list[str], content_type: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number, line in enumerate(lines):
            if (
                self.fault is not None
                and number == self.fault.after_pieces
                and self._has_fault("cut")
            ):
                raise _BrokenError
            data = line.encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()
            if self.server_state.piece_seconds:
                time.sleep(self.server_state.piece_seconds)
        self.wfile.write(b"0\r\n\r\n")


_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
