"""Carries HTTP over connections to checked addresses only.

Each connection resolves its host once, checks every address found, and connects to a checked
one, while the Host header and the TLS name stay those of the URL. So a name that answers
differently the second time gains nothing.
"""

import asyncio
import ipaddress
import socket
from collections.abc import AsyncIterator, Iterable
from typing import Any

import httpcore
import httpx

from rag_app.errors import ForbiddenAddressError
from rag_app.ingestion.addresses import AddressRules, IPAddress, is_this_computer

_CONNECT_SECONDS = 10.0
_SILENCE_SECONDS = 30.0
_BROKEN = (
    httpcore.NetworkError,
    httpcore.TimeoutException,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
)


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
        for text in addresses:
            address = ipaddress.ip_address(text.partition("%")[0])
            # one private address among public ones is a trick, not a choice
            if not self._rules.allow(name, address, port):
                raise ForbiddenAddressError(
                    f"{_where(host, address)}, where Pincite does not go. "
                    "PINCITE_ALLOWED_ADDRESSES can allow it."
                )
        return addresses


def _where(host: str, address: IPAddress) -> str:
    if is_this_computer(address):
        return f"{host} is this computer itself"
    return f"{host} leads into a private network ({address})"


class CheckedTransport(httpx.AsyncBaseTransport):
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
        """Send one request; every break of the connection is an httpx.TransportError."""
        assert isinstance(request.stream, httpx.AsyncByteStream)
        timeouts = {
            "connect": _CONNECT_SECONDS,
            "read": _SILENCE_SECONDS,
            "write": _SILENCE_SECONDS,
        }
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
        """Close all connections."""
        await self._pool.aclose()


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
