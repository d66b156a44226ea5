"""One address for each thing, however a person writes it."""

import re
from urllib.parse import parse_qs, urlsplit, urlunsplit

from rag_app.errors import IngestionError

_YOUTUBE_HOSTS = frozenset(
    {"youtube.com", "m.youtube.com", "music.youtube.com", "youtube-nocookie.com", "youtu.be"}
)
YOUTUBE = "https://www.youtube.com"
SITE_PREFIX = "site:"
"""Before the address of a page, it means all pages of the site below it."""

_LIST_ID = re.compile(r"[A-Za-z0-9_-]{12,80}")
_CHANNEL_PATHS = frozenset({"channel", "c", "user"})
_CHANNEL_TABS = frozenset({"videos", "shorts", "streams", "playlists", "featured"})
_VIDEO_ID = re.compile(r"[A-Za-z0-9_-]{11}")
_PATHS_WITH_ID = frozenset({"shorts", "live", "embed", "v", "e", "watch"})


def canonical_url(url: str) -> str:
    """Return the one address we keep for a web page or video; raise IngestionError on nonsense."""
    if url.strip().startswith(SITE_PREFIX):
        return SITE_PREFIX + canonical_url(url.strip().removeprefix(SITE_PREFIX))
    text = with_scheme(url.strip())
    try:
        parts = urlsplit(text)
        host = parts.hostname
    except ValueError:
        host = None
    if not host or parts.scheme.lower() not in {"http", "https"} or re.search(r"\s", text):
        raise IngestionError(f'"{url.strip()[:200]}" is not a web address.')
    if video_id := find_video_id(text):
        return f"{YOUTUBE}/watch?v={video_id}"
    if video_list := find_video_list(text):
        return video_list
    fragment = parts.fragment.partition(":~:text=")[0]
    # a fragment that looks like a path is a page of its own in an app that runs in the browser
    fragment = fragment if fragment.startswith(("/", "!")) else ""
    return urlunsplit(
        (parts.scheme.lower(), parts.netloc.lower(), parts.path or "/", parts.query, fragment)
    )


def is_youtube(uri: str) -> bool:
    """Tell whether an address is one of YouTube's, a video or not."""
    return _host(uri) in _YOUTUBE_HOSTS


def find_video_id(uri: str) -> str | None:
    """Return the id of the video that an address in any of YouTube's forms leads to, or None."""
    if not is_youtube(uri):
        return None
    parts = urlsplit(with_scheme(uri))
    path = [part for part in parts.path.split("/") if part]
    named = parse_qs(parts.query).get("v", [])
    if _host(uri) == "youtu.be":
        candidates = path[:1]
    elif path[:1] == ["watch"] and named:
        candidates = named
    elif len(path) > 1 and path[0] in _PATHS_WITH_ID:
        candidates = path[1:2]
    else:
        candidates = named
    return next((found for found in candidates if _VIDEO_ID.fullmatch(found)), None)


def find_video_list(uri: str) -> str | None:
    """Return the one address of the playlist or channel that an address leads to, or None.

    An address of a video inside a playlist is that video.
    """
    if not is_youtube(uri) or find_video_id(uri):
        return None
    parts = urlsplit(with_scheme(uri))
    for named in parse_qs(parts.query).get("list", []):
        if _LIST_ID.fullmatch(named):
            return f"{YOUTUBE}/playlist?list={named}"
    path = [part for part in parts.path.split("/") if part]
    if path and path[-1] in _CHANNEL_TABS:
        path = path[:-1]
    is_handle = len(path) == 1 and path[0].startswith("@") and len(path[0]) > 1
    if is_handle or (len(path) == 2 and path[0] in _CHANNEL_PATHS):
        return f"{YOUTUBE}/{'/'.join(path)}/videos"
    return None


def with_scheme(uri: str) -> str:
    """Complete an address that was typed without https://."""
    return uri if "://" in uri else f"https://{uri}"


def _host(uri: str) -> str:
    try:
        host = urlsplit(with_scheme(uri)).hostname or ""
    except ValueError:
        return ""
    return host.lower().removeprefix("www.")
