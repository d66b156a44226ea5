"""A web page, main text only, with the help of a browser where scripts write the page."""

import asyncio
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from rag_app.errors import (
    EmptyContentError,
    IngestionError,
    MissingDependencyError,
    UnsupportedSourceError,
)
from rag_app.ingestion.content import Extracted, clean
from rag_app.ingestion.encodings import Decoded, decode
from rag_app.ingestion.request import ExtractRequest
from rag_app.ingestion.sandbox import Child

SOURCE_TYPE = "web"

_READER = "rag_app.ingestion.html_reader:read_page"
_LARGEST_BYTES = 32 << 20  # the reader takes 8 million signs
_LITTLE_WORDS = 60  # below it a page is worth a look with scripts
_SSR_WORDS = 200  # with so many, a note that scripts are needed is only a habit
_LOGIN_PATHS = ("login", "signin", "sign-in", "sign_in", "sso", "auth", "oauth", "anmelden")


@dataclass(frozen=True)
class _Page:
    """What the reader found on a page."""

    facts: dict[str, Any]
    content: str

    @property
    def words(self) -> int:
        return len(self.content.split())


_HEAD_BYTES = 4096  # browsers look for the charset in the first 1,024
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w-]{2,40})", re.IGNORECASE)


def accepts(request: ExtractRequest) -> bool:
    """Tell whether the document is an HTML page."""
    if request.fetched is not None and request.fetched.content_type:
        return request.fetched.content_type in {"text/html", "application/xhtml+xml"}
    # also in UTF-16, whose marks and zeros go with the white space
    head = request.head().replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n").lower()
    return head.startswith((b"<!doctype html", b"<html"))


async def extract(request: ExtractRequest) -> Extracted:
    """Extract the main text of a page; a browser runs its scripts when it says little without."""
    url = request.fetched.url if request.fetched else request.uri
    if request.path is not None and request.path.stat().st_size > _LARGEST_BYTES:
        raise IngestionError(
            f'"{request.label}" is a page of more than {_LARGEST_BYTES >> 20} MB, which is too '
            "much for one document: save its text in parts and add those."
        )
    decoded = await asyncio.to_thread(_decode, request)
    if decoded is None:
        raise UnsupportedSourceError(f"{request.label} is not a page of text.")
    page = await _read(decoded.text, url)
    warnings = decoded.warnings(request.label)
    is_rendered = False
    if request.fetched is not None and _needs_scripts(page):
        try:
            page, is_rendered = await _rendered(request, url, page)
        except (MissingDependencyError, IngestionError) as error:
            if page.words < _LITTLE_WORDS or page.facts["is_shell"]:
                raise
            warnings += (f"The page was read without running its scripts: {error}",)
    _check(page, request.uri, url)
    return Extracted(
        title=page.facts["title"] or urlsplit(url).netloc or request.label,
        content=page.content,
        source_type=SOURCE_TYPE,
        language=page.facts["language"],
        warnings=warnings,
        extraction={"rendered": is_rendered, "final_uri": url},
    )


async def _read(html: str, url: str) -> _Page:
    def read() -> _Page:
        with Child(_READER, memory_bytes=2 << 30, seconds=60) as child:
            facts, markdown = child.call({"html": html, "url": url})
        return _Page(facts, clean(markdown.decode()).strip())

    return await asyncio.to_thread(read)


def _needs_scripts(page: _Page) -> bool:
    facts = page.facts
    if facts["is_shell"] or (facts["wants_scripts"] and page.words < _SSR_WORDS):
        return True
    return bool(facts["has_scripts"]) and page.words < _LITTLE_WORDS


def _decode(request: ExtractRequest) -> Decoded | None:
    data = request.read()
    said = request.fetched.charset if request.fetched else None
    if not said and (found := _META_CHARSET.search(data[:_HEAD_BYTES])):
        said = found[1].decode("ascii")
    return decode(data, said)


async def _rendered(request: ExtractRequest, url: str, static: _Page) -> tuple[_Page, bool]:
    if request.browser is None:
        raise MissingDependencyError(
            f"{url} is written by scripts, and there is no browser to run them: "
            "run `playwright install chromium` or set PINCITE_CHROMIUM."
        )
    page = await _read(await request.browser.render(url), url)
    # a page that scripts empty, as some do when their own servers are out of reach
    if page.words < static.words:
        return static, False
    # the note that scripts are needed is no part of the page once they run
    wants_scripts = page.facts["wants_scripts"] or static.facts["wants_scripts"]
    return _Page({**page.facts, "wants_scripts": wants_scripts}, page.content), True


def _check(page: _Page, asked: str, url: str) -> None:
    """Raise when what was found is a door rather than a page."""
    facts = page.facts
    if facts["asks_for_human"]:
        raise IngestionError(
            f"{url} asks whether a person is reading. Save the page and add the file."
        )
    if page.words < 150 and (facts["asks_for_login"] or _is_login(url, asked)):
        raise IngestionError(f"{url} asks for a login. Save the page and add the file.")
    if page.words < _LITTLE_WORDS and facts["wants_scripts"]:
        raise IngestionError(
            f"{url} shows its text only with JavaScript, and none came even so. "
            "Save the page and add the file."
        )
    if not any(sign.isalnum() for sign in page.content):
        raise EmptyContentError(f"{url} holds no text that could be found.")


def _is_login(url: str, asked: str) -> bool:
    words = set(urlsplit(url).path.lower().strip("/").split("/"))
    return url != asked and bool(words & set(_LOGIN_PATHS))
