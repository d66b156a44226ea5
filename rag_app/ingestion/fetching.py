"""Fetches web addresses within bounds, and never from a private network.

Each connection resolves its host once, checks every address found, and connects to a checked
one, while the Host header and the TLS name stay those of the URL. So a name that answers
differently the second time gains nothing.
"""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin

import httpcore
import httpx

from rag_app.errors import ForbiddenAddressError, IngestionError, SourceUnavailableError
from rag_app.ingestion.addresses import AddressRules, check_url, parse_rules

_LARGEST_BYTES = 20_000_000
_SECONDS = 30.0
_CONNECT_SECONDS = 10.0
_REDIRECTS = 5
_REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
_HEADERS = {
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/150.0.0.0 Safari/537.36 Pincite/0.1",
    "Accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.9,*/*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
}


@dataclass(frozen=True)
class Fetched:
    """What stood at an address; `url` is where the redirects ended."""

    url: str
    status: int
    content_type: str
    charset: str | None
    body: bytes = field(repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)


class Fetcher:
    """Fetches addresses under one set of rules, keeping connections open between requests."""

    def __init__(self, rules: AddressRules) -> None:
        self._client = httpx.AsyncClient(
            transport=_CheckedTransport(rules),
            trust_env=False,  # a proxy would resolve names again, unchecked
            follow_redirects=False,
            headers=_HEADERS,
        )

    async def __aenter__(self) -> "Fetcher":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def fetch(
        self,
        url: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        largest_bytes: int = _LARGEST_BYTES,
        seconds: float = _SECONDS,
    ) -> Fetched:
        """Return what stands at an address, whatever its status; redirects are followed.

        Raises ForbiddenAddressError, SourceUnavailableError when asking again may help, and
        IngestionError otherwise.
        """
        try:
            async with asyncio.timeout(seconds):
                return await self._follow(url, method, headers or {}, content, largest_bytes)
        except TimeoutError as error:
            raise SourceUnavailableError(
                f"{url} took longer than {seconds:.0f} seconds. Try again later."
            ) from error

    async def _follow(
        self,
        url: str,
        method: str,
        headers: Mapping[str, str],
        content: bytes | None,
        largest_bytes: int,
    ) -> Fetched:
        for _ in range(_REDIRECTS + 1):
            url = check_url(url)
            async with self._open(method, url, headers, content) as response:
                target = response.headers.get("location")
                if response.status_code not in _REDIRECT_STATUSES or not target:
                    return await _take(response, url, largest_bytes)
                if response.status_code == 303 or (
                    response.status_code in (301, 302) and method == "POST"
                ):
                    method, content = "GET", None
                url = urljoin(url, target)
        raise IngestionError(f"{url} redirects more than {_REDIRECTS} times.")

    def _open(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes | None
    ) -> "_Opened":
        try:
            request = self._client.build_request(
                method, url, headers=dict(headers), content=content
            )
        except (httpx.InvalidURL, ValueError, TypeError) as error:
            raise IngestionError(f"{url!r} is not a web address.") from error
        return _Opened(self._client, request)


async def fetch(url: str, allowed_addresses: tuple[str, ...] = ()) -> Fetched:
    """Fetch one document; a status other than 200 is an error that says what it means."""
    async with Fetcher(parse_rules(allowed_addresses)) as fetcher:
        fetched = await fetcher.fetch(url)
    check_status(fetched.url, fetched.status)
    if not fetched.body:
        raise IngestionError(f"{fetched.url} answered with nothing.")
    return fetched


def check_status(url: str, status: int) -> None:
    """Raise the error that an HTTP status means, if it means one."""
    if status == 200:
        return
    if status == 429 or status >= 500:
        raise SourceUnavailableError(f"{url} answered with status {status}. Try again later.")
    reasons = {
        401: "asks for a login, which Pincite does not have. Save the page and add the file.",
        403: "refuses to show this page to programs. Save the page and add the file.",
        404: "does not exist (status 404). Check the address.",
        410: "no longer exists (status 410).",
        451: "is withheld for legal reasons (status 451).",
    }
    raise IngestionError(f"{url} {reasons.get(status, f'answered with status {status}.')}")


class _Opened:
    """A response being read; foreign errors become ours on the way in and out."""

    def __init__(self, client: httpx.AsyncClient, request: httpx.Request) -> None:
        self._client, self._request = client, request
        self._response: httpx.Response | None = None

    async def __aenter__(self) -> httpx.Response:
        try:
            self._response = await self._client.send(self._request, stream=True)
        except (httpx.HTTPError, httpcore.NetworkError, httpcore.TimeoutException) as error:
            raise _unavailable(str(self._request.url), error) from error
        return self._response

    async def __aexit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if self._response is not None:
            await self._response.aclose()
        if isinstance(error, httpx.HTTPError):
            raise _unavailable(str(self._request.url), error) from error


async def _take(response: httpx.Response, url: str, largest_bytes: int) -> Fetched:
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > largest_bytes:
            raise IngestionError(
                f"{url} is larger than {largest_bytes // 1_000_000} MB. "
                "Download it and add the file instead."
            )
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return Fetched(
        url=url,
        status=response.status_code,
        content_type=kind,
        charset=response.charset_encoding,
        body=bytes(body),
        headers=tuple(response.headers.multi_items()),
    )


def _unavailable(url: str, error: Exception) -> IngestionError:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return IngestionError(
                f"{url} has a certificate that cannot be trusted ({cause.verify_message})."
            )
        if isinstance(cause, socket.gaierror) and cause.errno == socket.EAI_NONAME:
            return IngestionError(f"There is no host of that name: {url}. Check the address.")
        cause = cause.__cause__ or cause.__context__
    return SourceUnavailableError(f"{url} could not be reached. Try again later.")


class _CheckedBackend(httpcore.AsyncNetworkBackend):
    """Opens connections to checked addresses only."""

    def __init__(self, rules: AddressRules) -> None:
        self._rules = rules
        self._inner = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        addresses = await self._resolve(host, port)
        failure: Exception | None = None
        for address in addresses[:4]:
            try:
                return await self._inner.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise httpcore.ConnectError(f"{host} cannot be reached") from failure

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore.AsyncNetworkStream:
        raise ForbiddenAddressError

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)

    async def _resolve(self, host: str, port: int) -> list[str]:
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(f"{host} has no address") from error
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        name = host.lower().rstrip(".")
        for address in addresses:
            # one private address among public ones is a trick, not a choice
            if not self._rules.allow(name, ipaddress.ip_address(address.partition("%")[0]), port):
                raise ForbiddenAddressError(
                    f"{host} leads into a private network ({address}), where Pincite does not go. "
                    "PINCITE_ALLOWED_ADDRESSES can allow it."
                )
        return addresses


class _CheckedTransport(httpx.AsyncBaseTransport):
    """Carries httpx requests over a pool whose connections are checked."""

    def __init__(self, rules: AddressRules) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=httpx.create_ssl_context(trust_env=False),
            max_connections=16,
            max_keepalive_connections=8,
            keepalive_expiry=10,
            network_backend=_CheckedBackend(rules),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        assert isinstance(request.stream, httpx.AsyncByteStream)
        timeouts = {"connect": _CONNECT_SECONDS, "read": _SECONDS, "write": _SECONDS}
        try:
            response = await self._pool.handle_async_request(
                httpcore.Request(
                    request.method,
                    httpcore.URL(
                        scheme=request.url.raw_scheme,
                        host=request.url.raw_host,
                        port=request.url.port,
                        target=request.url.raw_path,
                    ),
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions={"timeout": timeouts},
                )
            )
        except _BROKEN as error:
            raise httpx.TransportError(str(error)) from error
        stream = response.stream
        assert hasattr(stream, "__aiter__")
        return httpx.Response(
            status_code=response.status,
            headers=response.headers,
            stream=_Body(stream),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


_BROKEN = (
    httpcore.NetworkError,
    httpcore.TimeoutException,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
)


class _Body(httpx.AsyncByteStream):
    """A response's body, whose breaks are errors httpx knows."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._stream:
                yield piece
        except _BROKEN as error:
            raise httpx.TransportError(str(error)) from error

    async def aclose(self) -> None:
        await self._stream.aclose()
