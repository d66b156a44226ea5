"""Asks YouTube for the captions, title and length of a video; tells its refusals apart.

The only file that imports youtube-transcript-api and requests.
"""

import contextlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import requests
import youtube_transcript_api as theirs
from requests.adapters import HTTPAdapter

from rag_app.errors import EmptyContentError, IngestionError, SourceUnavailableError
from rag_app.ingestion.captions import Caption

_YOUTUBE = "https://www.youtube.com"
_SECONDS = 20.0


@dataclass(frozen=True)
class Video:
    """A video with the captions that were chosen; the length is None where YouTube hides it."""

    title: str
    duration_seconds: int | None
    language: str
    is_generated: bool
    captions: tuple[Caption, ...]


def load_video(video_id: str, languages: Sequence[str], youtube_url: str = "") -> Video:
    """Load one video, its captions in the first of the languages that there are.

    Captions that a person wrote come before generated ones, those in other languages last.
    `youtube_url` is another server that plays YouTube.
    """
    details: dict[str, Any] = {}
    with _session(youtube_url, details) as session:
        try:
            listed = list(theirs.YouTubeTranscriptApi(http_client=session).list(video_id))
            transcript = _choose(listed, languages)
            fetched = transcript.fetch()
        except theirs.CouldNotRetrieveTranscript as error:
            raise _translate(video_id, error) from error
        except requests.RequestException as error:
            raise SourceUnavailableError(
                f"YouTube could not be reached for the video {video_id}. Try again later."
            ) from error
        except (SyntaxError, LookupError, TypeError, ValueError, AttributeError) as error:
            # what the library raises for answers of a form it does not know, empty ones included
            raise SourceUnavailableError(
                f"YouTube sent captions of the video {video_id} that cannot be read. "
                "Try again later; if that does not help, update youtube-transcript-api."
            ) from error
        title = _title(session, video_id) or str(details.get("title") or "")
    captions = tuple(Caption(part.start, part.duration, part.text) for part in fetched)
    if not any(caption.text.strip() for caption in captions):
        raise EmptyContentError(f"The captions of the video {video_id} are empty.")
    seconds = str(details.get("lengthSeconds") or "")
    return Video(
        title=" ".join(title.split()),
        duration_seconds=int(seconds) if seconds.isdigit() and int(seconds) > 0 else None,
        language=fetched.language_code,
        is_generated=fetched.is_generated,
        captions=captions,
    )


def _choose(transcripts: Iterable[Any], languages: Sequence[str]) -> Any:
    wanted = [language.lower() for language in languages]

    def rank(transcript: Any) -> tuple[int, int, int]:
        code = transcript.language_code.lower()
        for place, language in enumerate(wanted):
            if code == language or code.split("-")[0] == language.split("-")[0]:
                return transcript.is_generated, place, code != language
        return 2 + transcript.is_generated, 0, 0

    found = min(transcripts, key=rank, default=None)
    if found is None:
        raise EmptyContentError("The video has no captions.")
    return found


def _title(session: requests.Session, video_id: str) -> str:
    watch = f"{_YOUTUBE}/watch?v={video_id}"
    with contextlib.suppress(requests.RequestException, ValueError, AttributeError):
        answer = session.get(f"{_YOUTUBE}/oembed", params={"url": watch, "format": "json"})
        if answer.status_code == 200:
            return str(answer.json().get("title") or "")
    return ""


def _session(youtube_url: str, details: dict[str, Any]) -> requests.Session:
    session = requests.Session()
    session.mount("http://", _Refusing())
    session.mount("https://", _Refusing())
    session.mount(f"{_YOUTUBE}/", _YouTube(youtube_url))

    def keep_details(answer: requests.Response, *_: Any, **__: Any) -> None:
        # the library throws away the title and the length that this answer holds
        if urlsplit(answer.url).path.endswith("/player") and answer.status_code == 200:
            with contextlib.suppress(json.JSONDecodeError, AttributeError, TypeError):
                details.update(answer.json().get("videoDetails") or {})

    session.hooks["response"].append(keep_details)
    return session


class _YouTube(HTTPAdapter):
    """Reaches YouTube, or the server that stands for it, and never waits for ever."""

    def __init__(self, instead: str) -> None:
        super().__init__()
        self._instead = instead.rstrip("/")

    def send(self, request: Any, *args: Any, **options: Any) -> requests.Response:
        options["timeout"] = _SECONDS
        if self._instead:
            request.url = self._instead + request.url.removeprefix(_YOUTUBE)
            options["proxies"] = {}
        return super().send(request, *args, **options)


class _Refusing(HTTPAdapter):
    """Keeps what YouTube answers from leading anywhere else."""

    def send(self, request: Any, *_: Any, **__: Any) -> requests.Response:
        raise requests.ConnectionError(f"{request.url} is not an address of YouTube's")


def _translate(video_id: str, error: theirs.CouldNotRetrieveTranscript) -> IngestionError:
    """Return our error for one of the library's, with what to do about it."""
    if isinstance(error, theirs.YouTubeRequestFailed):
        status = getattr(getattr(error.__context__, "response", None), "status_code", 500)
        if status == 404:
            return IngestionError(f"There is no video {video_id}. Check the address.")
        return SourceUnavailableError(
            f"YouTube answered with status {status} for the video {video_id}. Try again later."
        )
    if isinstance(error, theirs.VideoUnplayable):
        reason = error.reason or "it does not say why"
        return IngestionError(f"YouTube does not play the video {video_id}: {reason.rstrip('.')}.")
    for kind, ours, sentence in _REFUSALS:
        if isinstance(error, kind):
            return ours(f"{sentence} (Video {video_id}.)")
    return IngestionError(f"YouTube gave no captions for the video {video_id}.")


_REFUSALS: tuple[tuple[type[Exception], type[IngestionError], str], ...] = (
    (
        theirs.RequestBlocked,
        SourceUnavailableError,
        "YouTube refuses requests from this network for now, as it does for many servers and "
        "after many requests; the video itself may well have captions. Try again later, or from "
        "a home connection, or set HTTPS_PROXY.",
    ),
    (
        theirs.TranscriptsDisabled,
        EmptyContentError,
        "This video has no captions, so there is nothing to read.",
    ),
    (
        theirs.NoTranscriptFound,
        EmptyContentError,
        "This video has no captions in any language.",
    ),
    (
        theirs.AgeRestricted,
        IngestionError,
        "YouTube shows this video only to people who are logged in and old enough.",
    ),
    (
        theirs.VideoUnavailable,
        IngestionError,
        "This video is private or was removed. Check the address.",
    ),
    (theirs.InvalidVideoId, IngestionError, "There is no such video. Check the address."),
    (
        theirs.PoTokenRequired,
        IngestionError,
        "YouTube hands out these captions to its own player only. Nothing can be done here.",
    ),
    (
        theirs.FailedToCreateConsentCookie,
        SourceUnavailableError,
        "YouTube asks to accept cookies in a way that could not be answered. Try again later.",
    ),
    (
        theirs.YouTubeDataUnparsable,
        SourceUnavailableError,
        "YouTube answered in a form that is not known. Update youtube-transcript-api.",
    ),
)
