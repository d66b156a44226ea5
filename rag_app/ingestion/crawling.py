"""Finds the pages of a site: by its sitemap, else by its links, within bounds and its rules.

robots.txt is obeyed (RFC 9309), one request follows another with a pause, and a page that names
another address as its own is taken under that one.
"""

import asyncio
import gzip
import html
import re
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit, urlunsplit
from urllib.robotparser import RobotFileParser

from selectolax.lexbor import LexborHTMLParser

from rag_app.errors import ForbiddenAddressError, IngestionError, SourceUnavailableError
from rag_app.ingestion.encodings import decode
from rag_app.ingestion.fetching import Fetched, Fetcher
from rag_app.uris import canonical_url

AGENT = "Pincite"
SHORTEST_PAUSE, LONGEST_PAUSE = 0.5, 10.0  # seconds between two requests
MOST_SITEMAPS = 50
MOST_ASKED_A_PAGE = 5  # addresses asked for each page that may be taken
MOST_KNOWN = 20_000
LARGEST_SITEMAP = 50_000_000  # bytes unpacked, as the protocol allows
LARGEST_PAGE = 8_000_000

OnFound = Callable[[int, int], None]

_LOCATION = re.compile(r"<loc>\s*(?:<!\[CDATA\[)?\s*([^<\]\s]{1,2000})", re.IGNORECASE)
_TRACKING = re.compile(r"utm_\w+|fbclid|gclid|mc_[ce]id|ref_src", re.IGNORECASE)
_NO_DOCUMENT = re.compile(
    r"\.(?:png|jpe?g|gif|webp|avif|svg|ico|css|m?js|json|xml|rss|atom|zip|gz|tgz|bz2|xz|7z|rar|exe"
    r"|dmg|deb|rpm|iso|mp[34]|m4[av]|webm|ogg|wav|mov|avi|woff2?|ttf|otf|eot|wasm)$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class SiteLimits:
    """How far a site is followed: pages in all, links from the first page, seconds."""

    pages: int = 100
    depth: int = 3
    pause: float = SHORTEST_PAUSE


@dataclass
class Site:
    """What was found of a site: addresses in order, and what was left out and why."""

    title: str = ""
    pages: list[str] = field(default_factory=list)
    by_sitemap: bool = False
    disallowed: int = 0
    unread: int = 0
    is_cut: bool = False


async def find_pages(
    fetcher: Fetcher, start: str, limits: SiteLimits, on_found: OnFound | None = None
) -> Site:
    """Return the pages of a site that lie below the folder of `start`.

    Raises IngestionError when the first page cannot be had or the site's rules forbid it.
    """
    crawl = _Crawl(fetcher, start, limits, on_found or (lambda _done, _total: None))
    await crawl.read_rules()
    if not crawl.is_allowed(start):
        raise IngestionError(
            f"The rules of this site (robots.txt) keep programs out of {start}. "
            "Add the pages you need one by one."
        )
    await crawl.read_sitemaps()
    if len(crawl.site.pages) > 1:
        crawl.site.by_sitemap = True
        crawl.site.title = await crawl.title()
    else:
        await crawl.follow_links()
    return crawl.site


class _Crawl:
    def __init__(self, fetcher: Fetcher, start: str, limits: SiteLimits, on_found: OnFound) -> None:
        self.fetcher, self.start, self.limits, self.on_found = fetcher, start, limits, on_found
        parts = urlsplit(start)
        self.host = _bare(parts.netloc)
        self.folder = parts.path.rpartition("/")[0] + "/"
        self.origin = urlunsplit((parts.scheme, parts.netloc, "", "", ""))
        self.rules = RobotFileParser()
        self.paths: list[tuple[str, bool]] = []
        self.pause = max(SHORTEST_PAUSE if limits.pause else 0.0, limits.pause)
        self.site = Site()
        self.seen: set[str] = set()
        self.has_asked = False

    async def read_rules(self) -> None:
        """Read robots.txt: none means that all is allowed, an error of the server that nothing."""
        found = await self._fetch(f"{self.origin}/robots.txt", largest=500_000)
        if found is None or found.status >= 500:
            raise SourceUnavailableError(
                f"{self.origin} did not show its rules for programs (robots.txt). Try again later."
            )
        lines = found.body.decode("utf-8", "replace").splitlines() if found.status == 200 else []
        self.rules.parse(lines)
        self.paths = read_paths(lines)
        delay = self.rules.crawl_delay(AGENT)
        if delay is not None and self.pause:
            self.pause = min(max(self.pause, float(delay)), LONGEST_PAUSE)

    def is_allowed(self, url: str) -> bool:
        parts = urlsplit(url)
        path = urlunsplit(("", "", parts.path or "/", parts.query, ""))
        return is_allowed(self.paths, path)

    async def read_sitemaps(self) -> None:
        """Take the pages that the site's own list names, `start` first."""
        waiting = deque(self.rules.site_maps() or [f"{self.origin}/sitemap.xml"])
        read: set[str] = set()
        self._take(self.start)
        while waiting and len(read) < MOST_SITEMAPS and not self.site.is_cut:
            address = waiting.popleft()
            if address in read or _bare(urlsplit(address).netloc) != self.host:
                continue
            read.add(address)
            found = await self._fetch(address, largest=LARGEST_SITEMAP)
            if found is None or found.status != 200:
                continue
            text = _unpacked(found.body).decode("utf-8", "replace")
            locations = [html.unescape(match) for match in _LOCATION.findall(text)]
            if "<sitemapindex" in text[:2000].lower():
                waiting.extend(locations)
                continue
            for location in locations:
                self._take(location)

    async def title(self) -> str:
        """Return what the first page calls itself."""
        found = await self._fetch(self.start, largest=LARGEST_PAGE)
        return _page_title(found) if found is not None and found.status == 200 else ""

    async def follow_links(self) -> None:
        """Go from page to page, the nearest first."""
        self.site, self.seen = Site(disallowed=self.site.disallowed), set()
        waiting = deque([(self.start, 0)])
        known = {self.start}
        asked = 0
        while waiting and not self.site.is_cut:
            if asked >= MOST_ASKED_A_PAGE * self.limits.pages:
                self.site.is_cut = True  # a calendar, say, whose pages all name another as theirs
                break
            address, depth = waiting.popleft()
            asked += 1
            found = await self._fetch(address, largest=LARGEST_PAGE)
            if found is None or found.status != 200:
                if address == self.start:
                    status = found.status if found else "no answer"
                    raise SourceUnavailableError(f"{address} could not be read ({status}).")
                self.site.unread += 1
                continue
            tree = _parse(found)
            own = _own_address(tree, found.url) if tree else found.url
            if not self.site.pages:
                self.site.title = _page_title(found)
            self._take(own)
            if tree is None or depth >= self.limits.depth or _says(tree, "nofollow"):
                continue
            for link in _links(tree, found.url):
                if len(known) >= MOST_KNOWN:
                    break
                if link not in known and self._is_inside(link):
                    known.add(link)
                    if self.is_allowed(link):
                        waiting.append((link, depth + 1))
                    else:
                        self.site.disallowed += 1

    def _take(self, address: str) -> None:
        try:
            address = canonical_url(_without_tracking(address))
        except IngestionError:
            return
        if address in self.seen or not (address == self.start or self._is_inside(address)):
            return
        self.seen.add(address)
        if not self.is_allowed(address):
            self.site.disallowed += 1
        elif len(self.site.pages) >= self.limits.pages:
            self.site.is_cut = True
        else:
            self.site.pages.append(address)
            self.on_found(len(self.site.pages), self.limits.pages)

    def _is_inside(self, address: str) -> bool:
        parts = urlsplit(address)
        return (
            parts.scheme in {"http", "https"}
            and _bare(parts.netloc) == self.host
            and (parts.path or "/").startswith(self.folder)
            and not _NO_DOCUMENT.search(parts.path)
        )

    async def _fetch(self, address: str, *, largest: int) -> Fetched | None:
        """Return what stands at an address; None when it cannot be had. Keeps the pause."""
        if self.has_asked:
            await asyncio.sleep(self.pause)
        self.has_asked = True
        try:
            return await self.fetcher.fetch(address, largest_bytes=largest)
        except ForbiddenAddressError:
            raise
        except IngestionError:
            return None


def read_paths(lines: Sequence[str]) -> list[tuple[str, bool]]:
    """Return the paths that robots.txt allows or not to us, else to everybody (RFC 9309).

    The standard library's parser gives delay and sitemaps, but knows no wildcards and takes the
    first rule where the longest counts.
    """
    groups: dict[str, list[tuple[str, bool]]] = {}
    agents: list[str] = []
    is_open = False
    for line in lines:
        name, _, value = line.partition("#")[0].partition(":")
        name, value = name.strip().lower(), value.strip()
        if name == "user-agent":
            agents = [*agents, value.lower()] if is_open else [value.lower()]
            is_open = True
            for agent in agents:
                groups.setdefault(agent, [])
        elif name in {"allow", "disallow"}:
            is_open = False
            if value:
                for agent in agents:
                    groups[agent].append((value, name == "allow"))
    return groups.get(AGENT.lower(), groups.get("*", []))


def is_allowed(paths: Sequence[tuple[str, bool]], path: str) -> bool:
    """Tell whether a path may be asked for: the longest rule that fits counts."""
    fitting = [(len(rule), allows) for rule, allows in paths if _fits(rule, path)]
    return max(fitting, default=(0, True))[1]


def _fits(rule: str, path: str) -> bool:
    """Match a rule with `*` and a closing `$`, piece by piece, so that no rule takes long."""
    is_whole = rule.endswith("$")
    first, *rest = rule.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    place = len(first)
    if is_whole and rest:
        last = rest.pop()
        if len(path) - place < len(last) or not path.endswith(last):
            return False
        path = path[: len(path) - len(last)]
    elif is_whole:
        return path == first
    for piece in rest:
        found = path.find(piece, place)
        if found < 0:
            return False
        place = found + len(piece)
    return True


def _bare(netloc: str) -> str:
    return netloc.lower().removeprefix("www.")


def _unpacked(body: bytes) -> bytes:
    if not body.startswith(b"\x1f\x8b"):
        return body
    try:
        # a bomb ends here: what comes after so much is not read
        return zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(body, LARGEST_SITEMAP)
    except (zlib.error, gzip.BadGzipFile):
        return b""


def _without_tracking(address: str) -> str:
    parts = urlsplit(address)
    kept = [
        (name, value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
        if not _TRACKING.fullmatch(name)
    ]
    query = (
        parts.query
        if len(kept) == len(parse_qsl(parts.query, keep_blank_values=True))
        else (urlencode(kept))
    )
    return urlunsplit((parts.scheme, parts.netloc, parts.path, query, parts.fragment))


def _parse(found: Fetched) -> LexborHTMLParser | None:
    if found.content_type not in {"text/html", "application/xhtml+xml"}:
        return None
    decoded = decode(found.body, found.charset)
    return LexborHTMLParser(decoded.text) if decoded else None


def _page_title(found: Fetched) -> str:
    tree = _parse(found)
    node = tree.css_first("head title") if tree else None
    return " ".join(node.text().split()) if node else ""


def _own_address(tree: LexborHTMLParser, url: str) -> str:
    """Return the address that a page says is its own, where it lies on the same host."""
    node = tree.css_first("link[rel='canonical'][href]")
    named = urljoin(url, (node.attributes.get("href") or "").strip()) if node else url
    try:
        return named if _bare(urlsplit(named).netloc) == _bare(urlsplit(url).netloc) else url
    except ValueError:
        return url


def _says(tree: LexborHTMLParser, word: str) -> bool:
    node = tree.css_first("meta[name='robots']")
    return node is not None and word in (node.attributes.get("content") or "").lower()


def _links(tree: LexborHTMLParser, url: str) -> Iterator[str]:
    base = tree.css_first("base[href]")
    root = urljoin(url, base.attributes.get("href") or "") if base else url
    for node in tree.css("a[href]"):
        if "nofollow" in (node.attributes.get("rel") or "").lower():
            continue
        href = (node.attributes.get("href") or "").strip()
        if href.lower().startswith(("mailto:", "javascript:", "tel:", "data:", "#")):
            continue
        try:
            yield canonical_url(_without_tracking(urljoin(root, href)))
        except (IngestionError, ValueError):
            continue
