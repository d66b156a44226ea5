"""A YouTube video as its captions, with a time mark on each line."""

import asyncio
import math
import re
from urllib.parse import parse_qs, urlsplit

from rag_app.errors import IngestionError, UnsupportedSourceError
from rag_app.ingestion.captions import Caption, write_transcript
from rag_app.ingestion.content import Extracted
from rag_app.ingestion.request import ExtractRequest
from rag_app.ingestion.youtube_client import Video, load_video

SOURCE_TYPE = "youtube"

_HOSTS = frozenset(
    {"youtube.com", "m.youtube.com", "music.youtube.com", "youtube-nocookie.com", "youtu.be"}
)
_VIDEO_ID = re.compile(r"[A-Za-z0-9_-]{11}")
_PATHS_WITH_ID = frozenset({"shorts", "live", "embed", "v", "e", "watch"})
_MISSING_SECONDS = 120  # captions that end so much before the video are worth a warning


def accepts(uri: str) -> bool:
    """Tell whether an address is one of YouTube's, a video or not."""
    return _host(uri) in _HOSTS


def find_video_id(uri: str) -> str | None:
    """Return the id of the video that an address in any of YouTube's forms leads to, or None."""
    if not accepts(uri):
        return None
    parts = urlsplit(_with_scheme(uri))
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


def canonical_uri(uri: str) -> str:
    """Return the one address we keep for a video."""
    video_id = find_video_id(uri)
    return f"https://www.youtube.com/watch?v={video_id}" if video_id else uri


async def extract(request: ExtractRequest) -> Extracted:
    """Extract the captions of a video, in the best of the person's languages that there is."""
    video_id = find_video_id(request.uri)
    if video_id is None:
        raise UnsupportedSourceError(
            f"{request.uri} is not a single video. Open one of its videos and add that address."
        )
    settings = request.settings
    video = await asyncio.to_thread(
        load_video, video_id, settings.transcript_languages, settings.youtube_url
    )
    captions = [caption for caption in video.captions if caption.text]
    last = max(caption.start + caption.seconds for caption in captions)
    duration = video.duration_seconds or max(1, math.ceil(last))
    content = write_transcript(captions, duration)
    if not content:
        raise IngestionError(f"The captions of {request.uri} lie outside the video.")
    return Extracted(
        title=video.title or video_id,
        content=content,
        source_type=SOURCE_TYPE,
        uri=canonical_uri(request.uri),
        duration_seconds=duration,
        language=video.language.split("-")[0],
        warnings=tuple(_warnings(video, captions, settings.transcript_languages)),
        extraction={"captions": "generated" if video.is_generated else "written"},
    )


def _warnings(video: Video, captions: list[Caption], languages: tuple[str, ...]) -> list[str]:
    warnings = []
    last = max(caption.start + caption.seconds for caption in captions)
    if video.duration_seconds and video.duration_seconds - last > _MISSING_SECONDS:
        warnings.append(
            f"The captions end at {_clock(last)}, the video only at "
            f"{_clock(video.duration_seconds)}."
        )
    wanted = {language.split("-")[0].lower() for language in languages}
    if video.language.split("-")[0].lower() not in wanted:
        warnings.append(
            f"There are no captions in {', '.join(languages)}; these are in {video.language}."
        )
    return warnings


def _clock(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 3600:d}:{whole // 60 % 60:02d}:{whole % 60:02d}"


def _with_scheme(uri: str) -> str:
    return uri if "://" in uri else f"https://{uri}"


def _host(uri: str) -> str:
    try:
        host = urlsplit(_with_scheme(uri)).hostname or ""
    except ValueError:
        return ""
    return host.lower().removeprefix("www.")
