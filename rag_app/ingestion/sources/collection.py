"""Many documents behind one address: a web site, a playlist, a channel.

The collection itself holds one sentence on what was found; each page or video becomes a document
of its own.
"""

import asyncio
from urllib.parse import urlsplit

from rag_app.errors import EmptyContentError
from rag_app.ingestion.addresses import parse_rules
from rag_app.ingestion.content import Extracted
from rag_app.ingestion.crawling import Site, SiteLimits, find_pages
from rag_app.ingestion.fetching import Fetcher
from rag_app.ingestion.request import ExtractRequest
from rag_app.ingestion.video_lists import list_videos
from rag_app.uris import SITE_PREFIX, find_video_list

SOURCE_TYPE = "collection"


def accepts(uri: str) -> bool:
    """Tell whether an address stands for a whole site, a playlist or a channel."""
    return uri.startswith(SITE_PREFIX) or find_video_list(uri) is not None


async def extract(request: ExtractRequest) -> Extracted:
    """Find what a collection holds; `links` are its documents."""
    if request.uri.startswith(SITE_PREFIX):
        return await _site(request)
    return await _videos(request)


async def _site(request: ExtractRequest) -> Extracted:
    start, settings = request.uri.removeprefix(SITE_PREFIX), request.settings
    limits = SiteLimits(settings.site_pages, settings.site_depth, settings.site_pause)
    async with Fetcher(parse_rules(settings.allowed_addresses)) as fetcher:
        site = await find_pages(fetcher, start, limits, request.on_progress)
    if not site.pages:
        raise EmptyContentError(f"No page was found below {start}.")
    host = urlsplit(start).netloc
    way = "its sitemap" if site.by_sitemap else "its links"
    return Extracted(
        title=site.title or host,
        content=f"{_count(site.pages, 'page')} of {host}, found through {way}.",
        source_type=SOURCE_TYPE,
        warnings=tuple(_warnings(site, limits)),
        extraction={"links": site.pages, "disallowed": site.disallowed},
        links=tuple(site.pages),
    )


def _warnings(site: Site, limits: SiteLimits) -> list[str]:
    warnings = []
    if site.is_cut:
        warnings.append(
            f"There are more than {limits.pages} pages; the others were left out "
            "(PINCITE_SITE_PAGES sets the limit)."
        )
    if site.disallowed:
        pages = "1 page was" if site.disallowed == 1 else f"{site.disallowed} pages were"
        warnings.append(f"{pages} left out, as the site asks of programs (robots.txt).")
    if site.unread:
        links = "1 link" if site.unread == 1 else f"{site.unread} links"
        warnings.append(f"{links} led nowhere.")
    return warnings


async def _videos(request: ExtractRequest) -> Extracted:
    settings = request.settings
    found = await asyncio.to_thread(
        list_videos, request.uri, settings.site_pages, settings.youtube_url
    )
    if not found.videos:
        raise EmptyContentError(f"There is no public video at {request.uri}.")
    warnings = (
        (
            f"There are more than {settings.site_pages} videos; the others were left out "
            "(PINCITE_SITE_PAGES sets the limit).",
        )
        if found.is_cut
        else ()
    )
    by = f" by {found.channel}" if found.channel else ""
    return Extracted(
        title=found.title or request.uri,
        content=f"{_count(found.videos, 'video')} of {found.title or request.uri}{by}.",
        source_type=SOURCE_TYPE,
        warnings=warnings,
        extraction={"links": list(found.videos)},
        links=tuple(found.videos),
    )


def _count(found: list[str] | tuple[str, ...], word: str) -> str:
    return f"{len(found)} {word}{'' if len(found) == 1 else 's'}"
