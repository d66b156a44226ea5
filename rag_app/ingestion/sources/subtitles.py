"""Subtitles (SRT, VTT): what is said, each line with its second, as in a video."""

import asyncio
import html
import math
import re
from collections.abc import Iterator

from rag_app.errors import IngestionError, UnsupportedSourceError
from rag_app.ingestion.captions import Caption, write_transcript
from rag_app.ingestion.content import Extracted
from rag_app.ingestion.encodings import decode
from rag_app.ingestion.reading import check_has_text, name_of
from rag_app.ingestion.request import ExtractRequest

SOURCE_TYPE = "subtitles"
LARGEST_SUBTITLES_BYTES = 20 << 20

_TIME = r"(?:(\d{1,3}):)?([0-5]?\d):([0-5]?\d)(?:[,.](\d{1,3}))?"
_CUE = re.compile(rf"^[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}.*$", re.MULTILINE)
_SRT_START = re.compile(rf"\A\s*\d{{1,6}}[ \t]*\r?\n[ \t]*{_TIME}[ \t]*-->")
_SPEAKER = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]{1,100})>")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>|<\d[\d:.]{0,20}>|\{\\[^{}]{0,200}\}")
_MARKS = b"\xef\xbb\xbf\xff\xfe"


def accepts(request: ExtractRequest) -> bool:
    """Tell whether the document is subtitles: they begin with WEBVTT, or a number and a time."""
    head = request.head().replace(b"\0", b"").lstrip(_MARKS)
    if head.startswith(b"WEBVTT") and head[6:7] in b"\r\n \t":
        return True
    return bool(_SRT_START.match(head.decode("latin-1")))


async def extract(request: ExtractRequest) -> Extracted:
    """Extract the cues as a transcript."""
    if request.path is not None and request.path.stat().st_size > LARGEST_SUBTITLES_BYTES:
        raise UnsupportedSourceError(
            f'"{request.label}" is larger than subtitles can be. Is it what its name says?'
        )
    data = await asyncio.to_thread(request.read)
    return await asyncio.to_thread(_read, data, request)


def _read(data: bytes, request: ExtractRequest) -> Extracted:
    decoded = decode(data, request.fetched.charset if request.fetched else None)
    if decoded is None:
        raise UnsupportedSourceError(f'Could not read "{request.label}": it is not text.')
    captions = list(parse_cues(decoded.text))
    check_has_text(request, " ".join(caption.text for caption in captions))
    duration = max(1, math.ceil(max(caption.start + caption.seconds for caption in captions)))
    content = write_transcript(captions, duration)
    if not content:
        raise IngestionError(f'Could not read "{request.label}": its times make no sense.')
    return Extracted(
        title=name_of(request),
        content=content,
        source_type=SOURCE_TYPE,
        duration_seconds=duration,
        warnings=decoded.warnings(request.label),
    )


def parse_cues(text: str) -> Iterator[Caption]:
    """Yield what is shown when, without tags; a line that stays from the cue before comes once."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    found = list(_CUE.finditer(text))
    shown: list[str] = []
    for place, match in enumerate(found):
        end = found[place + 1].start() if place + 1 < len(found) else len(text)
        # up to the blank line: behind it stand the next number, a note, a style
        body = text[match.end() + 1 : end].split("\n\n")[0]
        if place + 1 < len(found) and "\n\n" not in text[match.end() + 1 : end]:
            body = re.sub(r"\n\d{1,6}[ \t]*\n?\Z", "", body)
        lines = [line for raw in body.split("\n") if (line := _plain(raw))]
        new = [line for line in lines if line not in shown]
        shown = lines
        start, until = _seconds(match, 1), _seconds(match, 5)
        if new:
            yield Caption(start, max(0.0, until - start), " ".join(new))


def _plain(line: str) -> str:
    line = _SPEAKER.sub(lambda match: f"{match[1].strip()}: ", line)
    return html.unescape(_TAG.sub("", line)).strip()


def _seconds(match: re.Match[str], first: int) -> float:
    hours, minutes, seconds, thousandths = match.group(first, first + 1, first + 2, first + 3)
    fraction = int((thousandths or "0").ljust(3, "0")) / 1000
    return int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds) + fraction
