"""Lists the videos of a playlist or a channel. The only file that imports yt-dlp."""

import contextlib
import logging
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from rag_app.errors import IngestionError, SourceUnavailableError
from rag_app.uris import YOUTUBE, find_video_list, is_youtube

_SECONDS = 20.0
_log = logging.getLogger("yt_dlp")
_log.propagate = False  # what it has to say, the error says too


@dataclass(frozen=True)
class VideoList:
    """A playlist or a channel: addresses of its videos in its own order."""

    title: str
    channel: str
    videos: tuple[str, ...]
    is_cut: bool = False


def list_videos(uri: str, most: int, youtube_url: str = "") -> VideoList:
    """Return the first `most` videos behind an address; only lists are read, never a video.

    `youtube_url` is another server that plays YouTube. Raises SourceUnavailableError when asking
    again may help, IngestionError otherwise.
    """
    from yt_dlp import YoutubeDL  # half a second to import
    from yt_dlp.networking import Request
    from yt_dlp.networking.exceptions import HTTPError
    from yt_dlp.utils import DownloadError

    refused = contextlib.ExitStack()

    class Lister(YoutubeDL):  # type: ignore[misc]
        """Asks YouTube and nobody else, or the server that stands for it."""

        def urlopen(self, req: Any) -> Any:
            request = Request(req) if isinstance(req, str) else req
            if not is_youtube(request.url):
                raise IngestionError(f"{request.url} is not an address of YouTube's.")
            if youtube_url:
                parts = urlsplit(request.url)
                query = f"?{parts.query}" if parts.query else ""
                request.url = f"{youtube_url.rstrip('/')}{parts.path}{query}"
            try:
                return super().urlopen(request)
            except HTTPError as error:
                refused.callback(error.close)  # the library keeps its connection open
                raise

    options = {
        "extract_flat": "in_playlist",
        "skip_download": True,
        "playlistend": most + 1,  # one more tells whether there are more
        "logger": _log,
        "cachedir": False,
        "socket_timeout": _SECONDS,
        "retries": 1,
        "extractor_retries": 1,
        "allowed_extractors": ["youtube.*"],
    }
    address = find_video_list(uri) or uri
    try:
        with refused, Lister(options) as lister:
            found = lister.extract_info(address, download=False) or {}
    except DownloadError as error:
        raise _translate(address, error) from error
    ids = dict.fromkeys(entry["id"] for entry in _flat(found) if entry.get("id"))
    videos = [f"{YOUTUBE}/watch?v={video_id}" for video_id in ids]
    return VideoList(
        title=" ".join(str(found.get("title") or "").split()),
        channel=str(found.get("channel") or found.get("uploader") or ""),
        videos=tuple(videos[:most]),
        is_cut=len(videos) > most,
    )


def _flat(found: Any) -> list[dict[str, Any]]:
    """Return the videos of a list, which for a channel stand in lists within the list."""
    entries: list[dict[str, Any]] = []
    for entry in found.get("entries") or []:
        if entry and entry.get("entries") is not None:
            entries.extend(_flat(entry))
        elif entry:
            entries.append(entry)
    return entries


def _translate(address: str, error: Exception) -> IngestionError:
    """Return our error for one of yt-dlp's, which tells them apart by their words only."""
    text = str(error)
    if "does not exist" in text or "HTTP Error 404" in text or "unviewable" in text:
        return IngestionError(f"There is no such playlist or channel: {address}.")
    if "private" in text.lower():
        return IngestionError(f"The list {address} is private. Ask its owner to make it public.")
    return SourceUnavailableError(
        f"YouTube did not show the videos of {address}. Try again later; if that does not help, "
        "update yt-dlp."
    )
