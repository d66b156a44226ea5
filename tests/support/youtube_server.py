"""Plays YouTube on loopback, as youtube-transcript-api 1.2.5 asks it.

A watch page that holds the key, POST /youtubei/v1/player for the caption tracks, /api/timedtext
for the captions, and /oembed for the title.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from xml.sax.saxutils import escape

from tests.support.loopback import Asked, Loopback, Reply, serve

Line = tuple[float, float, str]


@dataclass(frozen=True)
class Track:
    """Captions in one language: start, length and text of each line."""

    language: str
    lines: Sequence[Line]
    is_generated: bool = False


@dataclass(frozen=True)
class FakeVideo:
    """A video and how YouTube behaves about it."""

    title: str = "A talk"
    tracks: Sequence[Track] = ()
    seconds: int = 0
    status: str = "OK"
    reason: str = ""
    watch_status: int = 200
    watch_page: str = '<html><script>{"INNERTUBE_API_KEY": "key-1"}</script></html>'
    empty_captions: bool = False
    oembed_status: int = 200


@contextmanager
def serve_youtube(videos: dict[str, FakeVideo]) -> Iterator[Loopback]:
    """Serve videos by id; set PINCITE_YOUTUBE_URL to the address."""

    def answer(asked: Asked) -> Reply:
        if asked.path == "/watch":
            video = videos.get(asked.query["v"])
            if video is None:
                return Reply("none", 404)
            return Reply(video.watch_page, video.watch_status)
        if asked.path == "/youtubei/v1/player":
            return _player(videos, json.loads(asked.body), asked)
        if asked.path == "/api/timedtext":
            return _captions(videos[asked.query["v"]], asked.query)
        if asked.path == "/oembed":
            video = videos[asked.query["url"].partition("v=")[2]]
            body = json.dumps({"title": video.title, "author_name": "Somebody"})
            return Reply(body, video.oembed_status, "application/json")
        return Reply("none", 404)

    with serve(answer) as loopback:
        yield loopback


def _player(videos: dict[str, FakeVideo], body: dict, asked: Asked) -> Reply:
    if asked.method != "POST" or asked.query.get("key") != "key-1" or "context" not in body:
        return Reply("bad", 400)
    video_id = body["videoId"]
    video = videos[video_id]
    data: dict = {"playabilityStatus": {"status": video.status, "reason": video.reason}}
    if video.seconds:
        data["videoDetails"] = {"title": video.title, "lengthSeconds": str(video.seconds)}
    if video.tracks:
        data["captions"] = {
            "playerCaptionsTracklistRenderer": {
                "captionTracks": [
                    {
                        "baseUrl": "https://www.youtube.com/api/timedtext"
                        f"?v={video_id}&lang={track.language}"
                        f"&kind={'asr' if track.is_generated else ''}&fmt=srv3",
                        "name": {"runs": [{"text": track.language}]},
                        "languageCode": track.language,
                        **({"kind": "asr"} if track.is_generated else {}),
                        "isTranslatable": False,
                    }
                    for track in video.tracks
                ]
            }
        }
    return Reply(json.dumps(data), content_type="application/json")


def _captions(video: FakeVideo, query: dict[str, str]) -> Reply:
    if video.empty_captions:
        return Reply("", content_type="text/xml")
    is_generated = query.get("kind") == "asr"
    track = next(
        track
        for track in video.tracks
        if track.language == query["lang"] and track.is_generated == is_generated
    )
    lines = "".join(
        f'<text start="{start}" dur="{length}">{escape(escape(text))}</text>'
        for start, length, text in track.lines
    )
    return Reply(
        f'<?xml version="1.0" encoding="utf-8" ?><transcript>{lines}</transcript>',
        content_type="text/xml; charset=utf-8",
    )
