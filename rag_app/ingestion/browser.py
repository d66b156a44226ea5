"""Renders pages in headless Chromium; the only file that imports playwright.

The browser itself reaches no network: its proxy leads nowhere. Every request a page makes is
fetched here, under the address rules of `fetching`, and handed to it.
"""

import asyncio
import contextlib
import os
import shutil
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from rag_app.errors import IngestionError, MissingDependencyError, SourceUnavailableError
from rag_app.ingestion.addresses import parse_rules
from rag_app.ingestion.fetching import Allowance, Fetched, Fetcher, check_status
from rag_app.ingestion.page_scripts import COUNT_TEXT, HAS_SCRIPTS, SCROLL, SERIALISE
from rag_app.settings import Settings

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    # port 9 discards: what does not come through our own fetching, WebSockets too, ends here
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)
_NOT_TEXT = frozenset({"image", "media", "font", "websocket", "eventsource", "manifest", "ping"})
_PAGES_AT_ONCE = 2
_RENDER_SECONDS = 40.0
_SETTLE_SECONDS = 12.0
_QUIET_SECONDS = 0.7
_ENOUGH_TEXT = 250  # signs; a page with fewer may still be waiting for its own timers
_PATIENT_SECONDS = 5.0
_REQUESTS = 400
_REQUEST_BYTES = 10_000_000
_PAGE_BYTES = 60_000_000
_OWN_HEADERS = frozenset(
    {"host", "content-length", "accept-encoding", "connection", "cookie", "transfer-encoding"}
)
_SHOWN_TYPES = frozenset({"", "text/html", "application/xhtml+xml", "text/plain"})
_TRANSPORT_HEADERS = frozenset({"content-encoding", "content-length", "transfer-encoding"})


class Browser:
    """One warm browser, started on first use and again after a crash."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._rules = parse_rules(settings.allowed_addresses)
        self._starting = asyncio.Lock()
        self._places = asyncio.Semaphore(_PAGES_AT_ONCE)
        self._playwright: Any = None
        self._browser: Any = None

    async def __aenter__(self) -> "Browser":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop the browser and its driver."""
        browser, self._browser = self._browser, None
        playwright, self._playwright = self._playwright, None
        if browser is not None:
            with contextlib.suppress(_errors(), TimeoutError):
                await asyncio.wait_for(browser.close(), 10)
        if playwright is not None:
            await playwright.stop()

    async def render(self, url: str) -> str:
        """Return the HTML of a page as a person would see it: scripts run, hidden nodes dropped."""
        async with self._places, Fetcher(self._rules) as fetcher:
            # fetched here first, since the browser would not show us where redirects lead
            document = await fetcher.fetch(url, largest_bytes=_REQUEST_BYTES)
            check_status(document.url, document.status)
            browser = await self._running()
            try:
                async with asyncio.timeout(_RENDER_SECONDS):
                    return await _render(browser, fetcher, document)
            except TimeoutError as error:
                await self._discard(browser)
                raise SourceUnavailableError(
                    f"{url} was not ready after {_RENDER_SECONDS:.0f} seconds. Try again later."
                ) from error
            except _errors() as error:
                if not browser.is_connected():
                    await self._discard(browser)
                raise SourceUnavailableError(
                    f"The browser could not show {url}. Try again later."
                ) from error

    async def _running(self) -> Any:
        async with self._starting:
            if self._browser is not None and self._browser.is_connected():
                return self._browser
            executable = find_chromium(self._settings)
            if self._playwright is None:
                from playwright.async_api import async_playwright

                self._playwright = await async_playwright().start()
            own = shutil.which(self._playwright.chromium.executable_path)
            if own and not self._settings.chromium:
                executable = own
            if executable is None:
                raise MissingDependencyError(
                    "This page is written by scripts, and no browser was found to run them: run "
                    "`playwright install chromium`, or install Chromium, or set PINCITE_CHROMIUM."
                )
            try:
                self._browser = await self._playwright.chromium.launch(
                    executable_path=executable,
                    args=[*_FLAGS, *_sandbox_flags()],
                    handle_sigint=False,
                    handle_sigterm=False,
                    handle_sighup=False,
                    timeout=30_000,
                )
            except _errors() as error:
                raise MissingDependencyError(
                    f"The browser at {executable} did not start. Try it by hand, or name another "
                    "one in PINCITE_CHROMIUM."
                ) from error
            return self._browser

    async def _discard(self, browser: Any) -> None:
        """Let go of a browser that crashed or hangs; the next page starts a new one."""
        if self._browser is browser:
            self._browser = None
        with contextlib.suppress(_errors(), TimeoutError):
            await asyncio.wait_for(browser.close(), 5)


def find_chromium(settings: Settings) -> str | None:
    """Return the browser that the settings name, or else one of the system, or None."""
    if settings.chromium:
        found = shutil.which(settings.chromium)
        if found is None:
            raise MissingDependencyError(
                f"PINCITE_CHROMIUM names {settings.chromium!r}, which is no program."
            )
        return found
    return next((found for name in _NAMES if (found := shutil.which(name))), None)


def _sandbox_flags() -> list[str]:
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return ["--no-sandbox"] if is_root else []  # Chromium refuses to start as root with it


def _errors() -> type[Exception]:
    from playwright.async_api import Error

    return Error


async def _render(browser: Any, fetcher: Fetcher, document: Fetched) -> str:
    context = await browser.new_context(
        service_workers="block",
        accept_downloads=False,
        reduced_motion="reduce",
        viewport={"width": 1280, "height": 1600},
        user_agent=None,
    )
    try:
        page = await context.new_page()
        traffic = _Traffic(page, fetcher, document)
        await context.route("**/*", traffic.answer)
        await context.route_web_socket("**/*", lambda socket: socket.close())
        context.on("page", _close_popup(page))
        try:
            address, html = await _show(page, traffic, document.url)
        except _errors():
            traffic.check()  # the page may have gone because what it led to was refused
            raise
        traffic.check()
        if urlsplit(address).scheme not in {"http", "https"}:
            raise SourceUnavailableError(
                f"The browser ended at {address[:60]} instead of {document.url}. Try again later."
            )
        return html
    finally:
        with contextlib.suppress(_errors(), TimeoutError):
            await asyncio.wait_for(context.close(), 5)


async def _show(page: Any, traffic: "_Traffic", url: str) -> tuple[str, str]:
    """Return the address that the page has in the end, and its HTML."""
    await page.goto(url, wait_until="domcontentloaded", timeout=20_000)
    # without scripts nothing more will come than what is there
    await _settle(page, traffic, is_patient=await page.evaluate(HAS_SCRIPTS))
    await page.evaluate(SCROLL)
    await _settle(page, traffic, is_patient=False)
    address, html = await page.evaluate(SERIALISE)
    return str(address), str(html)


def _close_popup(page: Any) -> Callable[[Any], Awaitable[None]]:
    async def close(popup: Any) -> None:
        if popup is not page:
            with contextlib.suppress(_errors()):
                await popup.close()

    return close


async def _settle(page: Any, traffic: "_Traffic", *, is_patient: bool) -> None:
    """Wait until nothing is on its way and the text stays as it is, within bounds.

    With `is_patient` a page of few words gets longer, since it may wait for its own timers.
    """
    clock = asyncio.get_running_loop().time
    started = changed = clock()
    last = -1
    while clock() - started < _SETTLE_SECONDS and traffic.lost is None:
        size = await page.evaluate(COUNT_TEXT)
        if size != last or traffic.under_way:
            last, changed = size, clock()
        is_waiting = is_patient and size < _ENOUGH_TEXT
        patience = _PATIENT_SECONDS if is_waiting else _QUIET_SECONDS
        if clock() - changed >= patience:
            return
        await asyncio.sleep(0.1)


class _Traffic:
    """Answers the requests of one page out of our own fetching."""

    def __init__(self, page: Any, fetcher: Fetcher, document: Fetched) -> None:
        self._page = page
        self._fetcher = fetcher
        self._url = document.url
        self._document: Fetched | None = document
        self._requests = 0
        self._allowance = Allowance(_PAGE_BYTES)
        self.under_way = 0
        self.lost: IngestionError | None = None  # why the page in view is not the document

    def check(self) -> None:
        """Raise when what the page last went to is not a page."""
        if self.lost is not None:
            raise type(self.lost)(f"{self._url} could not be shown: {self.lost}") from self.lost

    async def answer(self, route: Any) -> None:
        """Fulfil or refuse one request."""
        request = route.request
        self._requests += 1
        with contextlib.suppress(_errors()):  # the page may be gone when the answer comes
            if (
                request.resource_type in _NOT_TEXT
                or self._requests > _REQUESTS
                or self._allowance.left <= 0
            ):
                await route.abort("blockedbyclient")
                return
            is_page = _is_navigation_of(self._page, request)
            self.under_way += 1
            try:
                fetched = await self._fetch(request)
                if is_page:
                    self.lost = None
                    _check_page(fetched)
            except IngestionError as error:
                if is_page:
                    self.lost = error
                await route.abort("accessdenied")
                return
            finally:
                self.under_way -= 1
            await route.fulfill(
                status=fetched.status, headers=_response_headers(fetched), body=fetched.body
            )

    async def _fetch(self, request: Any) -> Fetched:
        document = self._document
        if document is not None and request.is_navigation_request():
            self._document = None  # a page that reloads itself asks anew
            self._allowance.left -= len(document.body)
            return document
        headers = {
            name: value for name, value in request.headers.items() if name not in _OWN_HEADERS
        }
        cookies = await self._page.context.cookies(request.url)
        if cookies:
            headers["cookie"] = "; ".join(f"{part['name']}={part['value']}" for part in cookies)
        return await self._fetcher.fetch(
            request.url,
            method=request.method,
            headers=headers,
            content=request.post_data_buffer,
            largest_bytes=_REQUEST_BYTES,
            allowance=self._allowance,
            seconds=15,
        )


def _is_navigation_of(page: Any, request: Any) -> bool:
    if not request.is_navigation_request():
        return False
    try:
        return bool(request.frame == page.main_frame)
    except _errors():  # a new window's first request comes before the window
        return False


def _check_page(fetched: Fetched) -> None:
    """Raise when an answer is not something that the browser shows as a page."""
    check_status(fetched.url, fetched.status)
    disposition = dict(fetched.headers).get("content-disposition", "")
    is_download = disposition.lower().startswith("attachment")
    if is_download or fetched.content_type not in _SHOWN_TYPES:
        raise SourceUnavailableError(f"{fetched.url} is a file to download, not a page.")


def _response_headers(fetched: Fetched) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in fetched.headers:
        name = name.lower()
        if name in _TRANSPORT_HEADERS:
            continue
        # the driver takes several cookies as lines of one header
        headers[name] = f"{headers[name]}\n{value}" if name in headers else value
    return headers
