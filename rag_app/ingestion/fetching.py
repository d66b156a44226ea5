"""Fetches web addresses within bounds, and never from a private network."""

import asyncio
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin

import httpcore
import httpx

from rag_app.errors import IngestionError, SourceUnavailableError
from rag_app.ingestion.addresses import AddressRules, check_url, parse_rules
from rag_app.ingestion.checked_transport import CheckedTransport

_LARGEST_BYTES = 20_000_000
_SECONDS = 30.0
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


@dataclass
class Allowance:
    """The bytes that several fetches may load between them; may end a little below zero."""

    left: int


class Fetcher:
    """Fetches addresses under one set of rules, keeping connections open between requests."""

    def __init__(self, rules: AddressRules) -> None:
        self._client = httpx.AsyncClient(
            transport=CheckedTransport(rules),
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
        allowance: Allowance | None = None,
        seconds: float = _SECONDS,
    ) -> Fetched:
        """Return what stands at an address, whatever its status; redirects are followed.

        Loading ends as soon as the body is known to be too large, and every byte of it is taken
        from the allowance, that of a refused one too.

        Raises ForbiddenAddressError, SourceUnavailableError when asking again may help, and
        IngestionError otherwise.
        """
        try:
            async with asyncio.timeout(seconds):
                return await self._follow(
                    url, method, headers or {}, content, largest_bytes, allowance
                )
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
        allowance: Allowance | None,
    ) -> Fetched:
        for _ in range(_REDIRECTS + 1):
            url = check_url(url)
            async with self._open(method, url, headers, content) as response:
                target = response.headers.get("location")
                if response.status_code not in _REDIRECT_STATUSES or not target:
                    return await _take(response, url, largest_bytes, allowance)
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


async def _take(
    response: httpx.Response, url: str, largest_bytes: int, allowance: Allowance | None
) -> Fetched:
    allowance = allowance or Allowance(largest_bytes)
    body = bytearray()
    _check_size(url, _declared_size(response), largest_bytes, allowance.left)
    async for piece in response.aiter_bytes():
        body += piece
        allowance.left -= len(piece)
        _check_size(url, len(body), largest_bytes, len(body) + allowance.left)
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return Fetched(
        url=url,
        status=response.status_code,
        content_type=kind,
        charset=response.charset_encoding,
        body=bytes(body),
        headers=tuple(response.headers.multi_items()),
    )


def _check_size(url: str, size: int, largest_bytes: int, allowed: int) -> None:
    if size > largest_bytes:
        raise IngestionError(
            f"{url} is larger than {largest_bytes // 1_000_000} MB. "
            "Download it and add the file instead."
        )
    if size > allowed:
        raise IngestionError(f"{url} is more than may still be loaded for this page.")


def _declared_size(response: httpx.Response) -> int:
    """Return the size that a body will have at least, 0 when it is not told."""
    # these name the size of what they do not send
    if response.request.method == "HEAD" or response.status_code == 304:
        return 0
    declared = response.headers.get("content-length", "")
    return int(declared) if declared.isdecimal() else 0


def _unavailable(url: str, error: Exception) -> IngestionError:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return IngestionError(
                f"{url} has a certificate that cannot be trusted ({cause.verify_message})."
            )
        if isinstance(cause, socket.gaierror) and cause.errno == socket.EAI_NONAME:
            return IngestionError(
                f"There is no host of that name, or this computer is offline: {url}. "
                "Check the address."
            )
        cause = cause.__cause__ or cause.__context__
    return SourceUnavailableError(f"{url} could not be reached. Try again later.")
