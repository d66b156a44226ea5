import asyncio
import gzip
import socket
import time

import pytest

from rag_app.errors import ForbiddenAddressError, IngestionError, SourceUnavailableError
from rag_app.ingestion.addresses import parse_rules
from rag_app.ingestion.fetching import Allowance, Fetched, Fetcher, fetch
from tests.support.loopback import Asked, Reply, serve

pytestmark = pytest.mark.integration

STATUSES = {"/404": 404, "/410": 410, "/401": 401, "/403": 403, "/500": 500, "/429": 429}


def answer(asked: Asked) -> Reply:
    if asked.path in STATUSES:
        return Reply("no", STATUSES[asked.path])
    if asked.path == "/to":
        return Reply("", 302, headers={"Location": asked.query["url"]})
    if asked.path == "/slow":
        time.sleep(2)
        return Reply("late")
    if asked.path == "/huge":
        return Reply(b"x" * 3_000_000)
    if asked.path == "/bomb":
        packed = gzip.compress(b"\0" * 30_000_000)
        return Reply(packed, headers={"Content-Encoding": "gzip"})
    if asked.path == "/loop":
        return Reply("", 302, headers={"Location": "/loop"})
    return Reply(f"hello from {asked.headers['host']}{asked.path}", content_type="text/plain")


async def test_an_allowed_address_is_fetched_under_its_own_name() -> None:
    with serve(answer) as server:
        fetched = await fetch(server.url("/a?b=c"), (server.address,))

    assert fetched.body == f"hello from {server.address}/a".encode()
    assert (fetched.content_type, fetched.charset) == ("text/plain", None)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]"])
async def test_a_loopback_address_is_refused_and_never_asked(host: str) -> None:
    with serve(answer) as server:
        with pytest.raises(ForbiddenAddressError, match="is this computer itself, where Pincite"):
            await fetch(f"http://{host}:{server.port}/")

        assert server.asked == []


async def test_allowing_one_port_allows_no_other() -> None:
    with serve(answer) as one, serve(answer) as other:
        with pytest.raises(ForbiddenAddressError):
            await fetch(other.url(), (one.address,))

        assert other.asked == []


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1:9/", "http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/",
        "http://[::ffff:10.0.0.1]/", "http://2130706433/", "http://0x7f.1/", "file:///etc/passwd",
        "http://good@127.0.0.1/", "http://good\\@127.0.0.1/", "//127.0.0.1:9/x", "gopher://x/",
    ],
)  # fmt: skip
async def test_a_redirect_into_a_private_network_is_refused(target: str) -> None:
    from urllib.parse import quote

    with serve(answer) as server, pytest.raises(ForbiddenAddressError):
        await fetch(server.url(f"/to?url={quote(target, safe='')}"), (server.address,))


async def test_a_name_that_answers_differently_the_second_time_gains_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = socket.getaddrinfo
    resolved: list[str] = []

    def rebind(host: str, port: int, *args: object, **options: object) -> object:
        if host == "rebind.example":
            resolved.append(host)
            address = "93.184.216.34" if len(resolved) == 1 else "127.0.0.1"
            return real(address, port, type=socket.SOCK_STREAM)
        return real(host, port, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", rebind)
    with serve(answer) as server:
        async with Fetcher(parse_rules(())) as fetcher:
            with pytest.raises(SourceUnavailableError):
                await fetcher.fetch(f"http://rebind.example:{server.port}/", seconds=1)

        assert resolved == ["rebind.example"]
        assert server.asked == []


async def test_a_name_with_a_public_and_a_private_address_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def both(host: str, port: int, *_: object, **__: object) -> object:
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))
            for address in ("93.184.216.34", "10.0.0.1")
        ]

    monkeypatch.setattr(socket, "getaddrinfo", both)
    with pytest.raises(ForbiddenAddressError, match=r"a private network \(10\.0\.0\.1\)"):
        await fetch("http://both.example/")


async def test_a_host_name_can_be_allowed() -> None:
    with serve(answer) as server:
        fetched = await fetch(f"http://localhost:{server.port}/x", ("localhost",))

    assert fetched.body == f"hello from localhost:{server.port}/x".encode()


@pytest.mark.parametrize("path", ["/404", "/410", "/401", "/403"])
async def test_a_refusal_is_told_and_not_tried_again(path: str) -> None:
    with serve(answer) as server, pytest.raises(IngestionError) as caught:
        await fetch(server.url(path), (server.address,))

    assert not caught.value.retryable
    assert server.url(path) in str(caught.value)


@pytest.mark.parametrize("path", ["/500", "/429"])
async def test_a_server_in_trouble_is_worth_another_try(path: str) -> None:
    with serve(answer) as server, pytest.raises(SourceUnavailableError, match="Try again"):
        await fetch(server.url(path), (server.address,))


async def test_nobody_listening_is_worth_another_try() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(SourceUnavailableError, match="could not be reached"):
        await fetch(f"http://{address}/", (address,))


async def test_a_host_that_does_not_exist_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(IngestionError, match="no host of that name, or this computer is offline"):
        await fetch("http://no-such-host.invalid/")


async def test_slow_huge_and_endless_answers_are_bounded() -> None:
    with serve(answer) as server:
        async with Fetcher(parse_rules((server.address,))) as fetcher:
            with pytest.raises(SourceUnavailableError, match="longer than"):
                await fetcher.fetch(server.url("/slow"), seconds=0.3)
            with pytest.raises(IngestionError, match="larger than 1 MB"):
                await fetcher.fetch(server.url("/huge"), largest_bytes=1_000_000)
            with pytest.raises(IngestionError, match="larger than 20 MB"):
                await fetcher.fetch(server.url("/bomb"))
            with pytest.raises(IngestionError, match="redirects more than 5 times"):
                await fetcher.fetch(server.url("/loop"))


async def test_what_says_that_it_is_too_large_is_not_loaded() -> None:
    async def promise(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\nx")
        await reader.read()  # the rest never comes, so this waits until nobody asks for it
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(promise, "127.0.0.1", 0) as server:
        address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with Fetcher(parse_rules((address,))) as fetcher:
            with pytest.raises(IngestionError, match="larger than 1 MB"):
                await fetcher.fetch(f"http://{address}/", largest_bytes=1_000_000, seconds=5)
            with pytest.raises(IngestionError, match="more than may still be loaded"):
                await fetcher.fetch(f"http://{address}/", allowance=Allowance(2_000_000), seconds=5)


async def test_fetches_at_once_load_no_more_than_they_may_between_them() -> None:
    allowance = Allowance(5_000_000)
    with serve(answer) as server:
        async with Fetcher(parse_rules((server.address,))) as fetcher:
            answers = await asyncio.gather(
                *(fetcher.fetch(server.url("/huge"), allowance=allowance) for _ in range(8)),
                return_exceptions=True,
            )

    assert sum(isinstance(found, Fetched) for found in answers) <= 1
    assert -1_000_000 < allowance.left < 5_000_000


async def test_the_size_of_a_body_that_is_only_asked_about_is_no_hindrance() -> None:
    with serve(answer) as server:
        async with Fetcher(parse_rules((server.address,))) as fetcher:
            fetched = await fetcher.fetch(
                server.url("/huge"), method="HEAD", largest_bytes=1_000_000
            )

    assert (fetched.status, fetched.body) == (200, b"")
