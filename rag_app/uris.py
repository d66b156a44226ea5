"""One address for each thing, however a person writes it."""

import re
from urllib.parse import parse_qs, urlsplit, urlunsplit

from rag_app.errors import IngestionError

_YOUTUBE_HOSTS = frozenset(
    {"youtube.com", "m.youtube.com", "music.youtube.com", "youtube-nocookie.com", "youtu.be"}
)
_VIDEO_ID = re.compile(r"[A-Za-z0-9_-]{11}")
_PATHS_WITH_ID = frozenset({"shorts", "live", "embed", "v", "e", "watch"})


def canonical_url(url: str) -> str:
    """Return the one address we keep for a web page or video; raise IngestionError on nonsense."""
    text = with_scheme(url.strip())
    try:
        parts = urlsplit(text)
        host = parts.hostname
    except ValueError:
        host = None
    if not host or parts.scheme.lower() not in {"http", "https"} or re.search(r"\s", text):
        raise IngestionError(f'"{url.strip()[:200]}" is not a web address.')
    if video_id := find_video_id(text):
        return f"https://www.youtube.com/watch?v={video_id}"
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


def with_scheme(uri: str) -> str:
    """Complete an address that was typed without https://."""
    return uri if "://" in uri else f"https://{uri}"


def _host(uri: str) -> str:
    try:
        host = urlsplit(with_scheme(uri)).hostname or ""
    except ValueError:
        return ""
    return host.lower().removeprefix("www.")
