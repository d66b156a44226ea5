import re
from pathlib import Path

import pytest

from rag_app.errors import (
    EmptyContentError,
    IngestionError,
    SourceUnavailableError,
    UnsupportedSourceError,
)
from rag_app.ingestion.content import Extracted, LocatorIndex
from rag_app.ingestion.request import ExtractRequest
from rag_app.ingestion.sources import extract
from rag_app.sentences import split_sentences
from rag_app.settings import Settings
from tests.support.youtube_server import FakeVideo, Track, serve_youtube

pytestmark = pytest.mark.integration

ID = "abcdefghijk"
LINES = [(n * 4.0, 4.0, f"Sentence number {n} speaks & of bees.") for n in range(60)]
ENGLISH = Track("en", LINES)


async def extract_video(
    video: FakeVideo, uri: str = f"https://youtu.be/{ID}", languages: tuple[str, ...] = ("en", "de")
) -> Extracted:
    with serve_youtube({ID: video}) as server:
        settings = Settings(
            home=Path("/"), youtube_url=server.url().rstrip("/"), transcript_languages=languages
        )
        return await extract(ExtractRequest(uri, settings))


async def test_a_video_becomes_a_transcript_whose_seconds_are_right() -> None:
    extracted = await extract_video(FakeVideo("Bees & dance", [ENGLISH], seconds=240))
    index = LocatorIndex(extracted.content, "youtube")

    assert extracted.title == "Bees & dance"
    assert (extracted.duration_seconds, extracted.language) == (240, "en")
    assert extracted.warnings == ()
    for start, end in split_sentences(extracted.content):
        found = re.search(r"number (\d+) speaks & of bees", extracted.content[start:end])
        assert found
        assert index.at(start).second == int(found[1]) * 4


@pytest.mark.parametrize(
    ("expected", "languages", "tracks"),
    [
        ("de written", ("de", "en"), [("en", False), ("de", False)]),
        ("en written", ("de", "en"), [("de", True), ("en", False)]),
        ("de generated", ("de", "en"), [("de", True), ("fr", False)]),
        ("en-GB written", ("en",), [("en-GB", False), ("de", False)]),
        ("fr written", ("en",), [("ja", True), ("fr", False)]),
        ("ja generated", ("en",), [("ja", True)]),
    ],
)
async def test_captions_are_chosen_in_the_persons_order_generated_ones_last(
    expected: str, languages: tuple[str, ...], tracks: list[tuple[str, bool]]
) -> None:
    made = [
        Track(code, [(0, 2, f"{code} {'generated' if by_machine else 'written'}")], by_machine)
        for code, by_machine in tracks
    ]
    extracted = await extract_video(FakeVideo(tracks=made), languages=languages)

    assert extracted.content == f"[00:00:00] {expected}"
    is_wanted = expected.split()[0].split("-")[0] in languages
    assert bool(extracted.warnings) != is_wanted


async def test_captions_that_stop_early_are_told() -> None:
    extracted = await extract_video(FakeVideo(tracks=[ENGLISH], seconds=4380))

    assert extracted.warnings == ("The captions end at 0:04:00, the video only at 1:13:00.",)


async def test_a_title_comes_from_the_player_when_oembed_fails() -> None:
    video = FakeVideo("From the player", [ENGLISH], seconds=240, oembed_status=401)

    assert (await extract_video(video)).title == "From the player"


@pytest.mark.parametrize(
    ("kind", "words", "video"),
    [
        (EmptyContentError, "no captions", FakeVideo()),
        (EmptyContentError, "are empty", FakeVideo(tracks=[Track("en", [(0, 1, " ")])])),
        (
            SourceUnavailableError,
            "cannot be read",
            FakeVideo("", [ENGLISH], empty_captions=True),
        ),
        (SourceUnavailableError, "refuses requests from this network", FakeVideo(watch_status=429)),
        (
            SourceUnavailableError,
            "refuses requests from this network",
            FakeVideo(status="LOGIN_REQUIRED", reason="Sign in to confirm you’re not a bot"),
        ),
        (
            IngestionError,
            "old enough",
            FakeVideo(
                status="LOGIN_REQUIRED",
                reason="This video may be inappropriate for some users.",
            ),
        ),
        (
            IngestionError,
            "private or was removed",
            FakeVideo(status="ERROR", reason="This video is unavailable"),
        ),
        (
            IngestionError,
            "The uploader has not made this video available",
            FakeVideo(
                status="UNPLAYABLE", reason="The uploader has not made this video available."
            ),
        ),
        (IngestionError, "no video", FakeVideo(watch_status=404)),
        (SourceUnavailableError, "status 503", FakeVideo(watch_status=503)),
        (
            SourceUnavailableError,
            "refuses requests from this network",
            FakeVideo(watch_page='<div class="g-recaptcha">'),
        ),
        (SourceUnavailableError, "form that is not known", FakeVideo(watch_page="<html>")),
    ],
)
async def test_each_refusal_of_youtube_is_told_apart(
    kind: type[IngestionError], words: str, video: FakeVideo
) -> None:
    with pytest.raises(kind, match=words) as caught:
        await extract_video(video)

    assert type(caught.value) is kind
    assert ID in str(caught.value)


async def test_a_playlist_is_no_single_video() -> None:
    with pytest.raises(UnsupportedSourceError, match="not a single video"):
        await extract_video(FakeVideo(), "https://www.youtube.com/playlist?list=PL1")


async def test_youtube_out_of_reach_is_worth_another_try() -> None:
    settings = Settings(home=Path("/"), youtube_url="http://127.0.0.1:9")
    with pytest.raises(SourceUnavailableError, match="could not be reached"):
        await extract(ExtractRequest(f"https://youtu.be/{ID}", settings))
