"""A YouTube video as its captions, with a time mark on each line."""

import asyncio
import math

from rag_app.errors import IngestionError, UnsupportedSourceError
from rag_app.ingestion.captions import Caption, write_transcript
from rag_app.ingestion.content import Extracted
from rag_app.ingestion.request import ExtractRequest
from rag_app.ingestion.youtube_client import Video, load_video
from rag_app.uris import find_video_id, is_youtube

SOURCE_TYPE = "youtube"

_MISSING_SECONDS = 120  # captions that end so much before the video are worth a warning


def accepts(uri: str) -> bool:
    """Tell whether an address is one of YouTube's, a video or not."""
    return is_youtube(uri)


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
