"""A real HTTP server on loopback whose answers a test writes as functions."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Reply:
    body: bytes | str = b""
    status: int = 200
    content_type: str = "text/html; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)


Answer = Callable[[Asked], Reply]


@dataclass
class Loopback:
    """`address` is host:port as settings take it; `asked` is every request that came."""

    port: int
    asked: list[Asked] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, path: str = "/") -> str:
        return f"http://{self.address}{path}"

    def paths(self) -> list[str]:
        return [asked.path for asked in self.asked]


@contextmanager
def serve(answer: Answer) -> Iterator[Loopback]:
    """Serve until the block ends; an unknown path is for `answer` to refuse."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            parts = urlsplit(self.path)
            size = int(self.headers.get("content-length") or 0)
            asked = Asked(
                self.command,
                parts.path,
                dict(parse_qsl(parts.query)),
                {name.lower(): value for name, value in self.headers.items()},
                self.rfile.read(size),
            )
            loopback.asked.append(asked)
            reply = answer(asked)
            body = reply.body.encode() if isinstance(reply.body, str) else reply.body
            try:
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", reply.content_type)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except ConnectionError:
                self.close_connection = True

        do_GET = do_POST = do_HEAD = do_OPTIONS = handle_any  # noqa: N815 - the library's names

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, *_: object) -> None:
            pass  # clients that leave early are part of the tests

    with Server(("127.0.0.1", 0), Handler) as server:
        loopback = Loopback(server.server_address[1])
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield loopback
        finally:
            server.shutdown()
            thread.join()
