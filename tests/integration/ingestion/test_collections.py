"""Whole sites, playlists and channels: what is found, what is left out, and what becomes of it."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rag_app.errors import EmptyContentError, IngestionError, SourceUnavailableError
from rag_app.ingestion.addresses import parse_rules
from rag_app.ingestion.content import Extracted
from rag_app.ingestion.crawling import Site, SiteLimits, find_pages
from rag_app.ingestion.fetching import Fetcher
from rag_app.ingestion.request import ExtractRequest
from rag_app.ingestion.sources import extract
from rag_app.library import documents
from rag_app.runtime import Runtime
from rag_app.settings import Settings
from tests.support.ingesting import ingest
from tests.support.loopback import Asked, Loopback, Reply, serve

pytestmark = pytest.mark.integration

Pages = dict[str, Reply | Callable[[Loopback], Reply]]


def page(title: str, *links: str, head: str = "") -> Reply:
    anchors = " ".join(f'<a href="{link}">{link}</a>' for link in links)
    words = f"{title} tells of bees, of their dance and of the flowers they find. " * 12
    return Reply(
        f"<!doctype html><html lang='en'><head><title>{title}</title>{head}</head>"
        f"<body><main><h1>{title}</h1><p>{words}</p>{anchors}</main></body></html>"
    )


def sitemap(server: Loopback, *paths: str, tag: str = "urlset") -> Reply:
    inner = "".join(f"<url><loc>{server.url(path)}</loc></url>" for path in paths)
    return Reply(f"<?xml version='1.0'?><{tag}>{inner}</{tag}>", content_type="application/xml")


async def crawl(contents: Pages, start: str = "/", **limits: int) -> tuple[Site, Loopback]:
    server_of: list[Loopback] = []

    def answer(asked: Asked) -> Reply:
        found = contents.get(asked.path, Reply("none", 404))
        return found(server_of[0]) if callable(found) else found

    with serve(answer) as server:
        server_of.append(server)
        async with Fetcher(parse_rules((server.address,))) as fetcher:
            site = await find_pages(fetcher, server.url(start), SiteLimits(pause=0, **limits))
    site.pages = [address.removeprefix(server.url("")).rstrip() for address in site.pages]
    return site, server


async def test_links_are_followed_on_the_same_host_below_the_first_page_and_each_once() -> None:
    site, _ = await crawl(
        {
            "/docs/": page("Docs", "a", "/docs/b?utm_source=x", "/blog/", "https://example.org/x"),
            "/docs/a": page("A", "/docs/b", "b#part", "picture.png", "mailto:a@example.org"),
            "/docs/b": page("B", "/docs/gone", "/docs/"),
        },
        "/docs/",
    )

    assert site.title == "Docs"
    assert [path.rpartition("/docs/")[2] for path in site.pages] == ["", "a", "b"]
    assert site.unread == 1
    assert not site.by_sitemap


async def test_depth_and_number_are_bounded_and_what_was_cut_is_known() -> None:
    chain = {f"/{n}": page(f"Page {n}", f"/{n + 1}") for n in range(1, 9)}
    pages: Pages = {"/": page("Start", "/1"), **chain}

    deep, _ = await crawl(pages, depth=3)
    few, _ = await crawl(pages, depth=8, pages=2)

    assert len(deep.pages) == 4
    assert (len(few.pages), few.is_cut, deep.is_cut) == (2, True, False)


async def test_a_sitemap_is_taken_instead_of_links_also_packed_and_in_parts() -> None:
    packed = gzip.compress(b"<urlset><url><loc>HOST/guide/one</loc></url></urlset>")

    def second(server: Loopback) -> Reply:
        body = gzip.decompress(packed).replace(b"HOST", server.url("").rstrip("/").encode())
        return Reply(gzip.compress(body), content_type="application/gzip")

    site, server = await crawl(
        {
            "/robots.txt": lambda server: Reply(f"Sitemap: {server.url('/all.xml')}"),
            "/all.xml": lambda server: sitemap(
                server, "/first.xml", "/second.xml.gz", tag="sitemapindex"
            ),
            "/first.xml": lambda server: sitemap(server, "/", "/a&amp;b", "/style.css"),
            "/second.xml.gz": second,
            "/": page("Start", "/never"),
        }
    )

    assert site.by_sitemap
    assert [path.partition("/")[2] for path in site.pages] == ["", "a&b", "guide/one"]
    assert "/never" not in server.paths()


async def test_the_rules_of_a_site_hold_for_pages_and_for_the_whole() -> None:
    rules = Reply("User-agent: *\nDisallow: /private/\nCrawl-delay: 1")
    site, server = await crawl(
        {"/robots.txt": rules, "/": page("Start", "/private/x", "/open"), "/open": page("Open")}
    )

    assert len(site.pages) == 2
    assert site.disallowed == 1
    assert "/private/x" not in server.paths()
    with pytest.raises(IngestionError, match=r"robots\.txt"):
        await crawl({"/robots.txt": Reply("User-agent: *\nDisallow: /"), "/": page("Start")})
    with pytest.raises(SourceUnavailableError, match="rules"):
        await crawl({"/robots.txt": Reply("busy", 503), "/": page("Start")})


async def test_a_page_is_taken_under_the_address_it_calls_its_own() -> None:
    own = '<link rel="canonical" href="/one">'
    site, _ = await crawl(
        {
            "/": page("Start", "/one?print=1", "/one"),
            "/one": page("One", head=own),
        }
    )

    assert len(site.pages) == 2


async def test_a_page_that_asks_not_to_be_followed_is_not() -> None:
    head = '<meta name="robots" content="noindex, nofollow">'
    site, _ = await crawl({"/": page("Start", "/x", head=head), "/x": page("X")})

    assert len(site.pages) == 1


async def test_a_site_becomes_documents_of_its_pages(runtime_with_site: tuple) -> None:
    runtime, server = runtime_with_site

    collection = await ingest(
        runtime, await documents.add_url(runtime.database, 1, f"site:{server.url('/')}")
    )
    listed = await documents.list_documents(runtime.database, runtime.workspace_id)

    assert (collection.status, collection.source_type) == ("ready", "collection")
    assert collection.title == "Start"
    assert sorted(one.uri.rpartition("/")[2] for one in listed if one.id != collection.id) == [
        "",
        "a",
        "b",
    ]
    assert all(one.status == "queued" for one in listed if one.id != collection.id)
    await documents.add_url(runtime.database, 1, "https://example.org/waited-for")
    async with runtime.database.connection() as connection:
        cursor = await connection.execute(
            "select d.uri from procrastinate_jobs j "
            "join document d on j.lock = 'document-' || d.id "
            "where j.status = 'todo' and d.id <> %s order by j.priority desc, j.id",
            (collection.id,),
        )
        first, *_ = await cursor.fetchall()
    assert first["uri"] == "https://example.org/waited-for"


@pytest.fixture
def runtime_with_site(runtime: Runtime):
    from dataclasses import replace

    pages = {"/": page("Start", "/a", "/b"), "/a": page("A"), "/b": page("B")}
    with serve(lambda asked: pages.get(asked.path, Reply("none", 404))) as server:
        settings = replace(runtime.settings, allowed_addresses=(server.address,), site_pause=0)
        yield replace(runtime, settings=settings), server


def list_page(title: str, ids: list[str]) -> str:
    videos = [
        {
            "playlistVideoRenderer": {
                "videoId": video_id,
                "title": {"runs": [{"text": f"Video {video_id}"}]},
                "lengthSeconds": "60",
                "isPlayable": True,
            }
        }
        for video_id in ids
    ]
    section = {
        "itemSectionRenderer": {"contents": [{"playlistVideoListRenderer": {"contents": videos}}]}
    }
    data = {
        "metadata": {"playlistMetadataRenderer": {"title": title}},
        "contents": {
            "twoColumnBrowseResultsRenderer": {
                "tabs": [
                    {
                        "tabRenderer": {
                            "selected": True,
                            "content": {"sectionListRenderer": {"contents": [section]}},
                        }
                    }
                ]
            }
        },
    }
    return f"<html><script>var ytInitialData = {json.dumps(data)};</script></html>"


async def extract_list(uri: str, answer: Callable[[Asked], Reply], **settings: int) -> Extracted:
    with serve(answer) as server:
        return await extract(
            ExtractRequest(
                uri,
                Settings(home=Path("/"), youtube_url=server.url().rstrip("/"), **settings),
            )
        )


IDS = [f"video{n:06d}" for n in range(5)]
LIST = "https://www.youtube.com/playlist?list=PLabcdefghijklmnop"


async def test_a_playlist_becomes_its_videos_in_order() -> None:
    extracted = await extract_list(LIST, lambda _: Reply(list_page("Talks", IDS)))

    assert extracted.title == "Talks"
    assert extracted.links == tuple(f"https://www.youtube.com/watch?v={one}" for one in IDS)
    assert extracted.warnings == ()


async def test_a_long_playlist_is_cut_and_says_so() -> None:
    extracted = await extract_list(LIST, lambda _: Reply(list_page("Talks", IDS)), site_pages=3)

    assert len(extracted.links) == 3
    assert "more than 3 videos" in extracted.warnings[0]


async def test_what_youtube_does_not_show_is_told() -> None:
    with pytest.raises(EmptyContentError, match="no public video"):
        await extract_list(LIST, lambda _: Reply(list_page("Empty", [])))
    with pytest.raises(IngestionError, match="no such playlist"):
        await extract_list(LIST, lambda _: Reply("gone", 404))
    with pytest.raises(SourceUnavailableError, match="Try again later"):
        await extract_list(LIST, lambda _: Reply("busy", 500))
