"""PDF to text, a form feed between pages."""

import asyncio
import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rag_app.errors import EmptyContentError, IngestionError
from rag_app.ingestion.broken_text import is_garbled
from rag_app.ingestion.content import Extracted, clean
from rag_app.ingestion.request import ExtractRequest
from rag_app.ingestion.sandbox import Child, ChildDiedError
from rag_app.marks import PAGE_BREAK

SOURCE_TYPE = "pdf"

_READER = "rag_app.ingestion.pdf_reader:read_text"
_MEMORY_BYTES = 1 << 30
_SECONDS_A_PAGE = 60
_CRASHES_FORGIVEN = 10  # two a page; a file that does worse is not worth more children
_PAGES_BETWEEN_REPORTS = 20

_HYPHEN = re.compile("[\u0002\ufffe\u00ad][ \t]*\n?")
_TRAILING_SPACE = re.compile(r"(?<![ \t])[ \t]+$", re.MULTILINE)
_SPACE_OR_WORD = re.compile(r"\s+|\S{1,1000}")
_LIGATURES = re.compile("[\ufb00-\ufb06\ufb13-\ufb17\ufb1d-\ufdff\ufe70-\ufefc]")
_FILE_LIKE = re.compile(r"(?i)^(microsoft \w+ - .*|untitled.*|unbenannt.*|.*\.\w{2,4}|[\W\d_]*)$")

Report = Callable[[int, int], None]


@dataclass
class _Reading:
    """What has been read so far; a new child goes on where the last one ended."""

    page_count: int = 0
    claimed: int = 0  # pages, as the file says
    title: str = ""
    labels: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    crashes: int = 0
    suspect: int = 0  # the page at which the reader stopped last

    def add(self, text: str, state: str) -> None:
        self.pages.append(text)
        self.states.append(state)


def accepts(request: ExtractRequest) -> bool:
    """Tell whether the document is a PDF, by its first bytes."""
    return b"%PDF-" in request.head()[:1024]


async def extract(request: ExtractRequest) -> Extracted:
    """Extract the text of every page; each page's state tells whether it could be read."""
    loop = asyncio.get_running_loop()
    stop = threading.Event()

    def report(done: int, in_all: int) -> None:
        if request.on_progress is not None:
            loop.call_soon_threadsafe(request.on_progress, done, in_all)

    try:
        reading = await asyncio.to_thread(_read, request.path, request.label, report, stop)
    except asyncio.CancelledError:
        stop.set()
        raise
    return _extracted(request, reading)


def _read(path: Path | None, label: str, report: Report, stop: threading.Event) -> _Reading:
    assert path is not None, "a PDF is read from a file"
    reading = _Reading()
    while not reading.page_count or len(reading.pages) < reading.page_count:
        try:
            with Child(_READER, memory_bytes=_MEMORY_BYTES, seconds=_SECONDS_A_PAGE) as child:
                request = {"path": str(path), "first": len(reading.pages) + 1}
                for header, payload in child.stream(request, stop=stop):
                    _take(reading, header, payload, report)
        except ChildDiedError as error:
            page = len(reading.pages) + 1
            reading.crashes += 1
            if stop.is_set():
                raise
            was_suspect, reading.suspect = reading.suspect == page, page
            if reading.crashes == 1 or (reading.page_count and not was_suspect):
                continue  # the system may have stopped it, so the page gets another chance
            if not reading.page_count or reading.crashes > _CRASHES_FORGIVEN:
                raise IngestionError(
                    f'Could not read "{label}": the reader stopped at page {page}. '
                    "Save the file anew with another program and add that."
                ) from error
            reading.add("", "failed")
        except IngestionError as error:
            raise type(error)(f'Could not read "{label}": {error}') from error
        if not reading.page_count:
            break
    return reading


def _take(reading: _Reading, header: dict[str, Any], payload: bytes, report: Report) -> None:
    if "pages" in header:
        reading.page_count, reading.claimed = int(header["pages"]), int(header["claimed"])
        reading.title = str(header["title"])
        reading.labels = [str(label) for label in header["labels"]]
        return
    if "failure" in header:
        reading.add("", "failed")
    else:
        reading.add(*_page(payload.decode("utf-8", "replace")))
    done = len(reading.pages)
    if done % _PAGES_BETWEEN_REPORTS == 0 or done == reading.page_count:
        report(done, reading.page_count)


def _page(raw: str) -> tuple[str, str]:
    """Return a page's text as we keep it, and its state."""
    if is_garbled(raw):
        return "", "garbled"
    text = clean(_join_lines(raw)).strip()
    if not any(sign.isalnum() for sign in text):
        return "", "empty"
    return text, "text"


def _join_lines(raw: str) -> str:
    """Put words together that the layout cut, and write ligatures as letters."""
    text = raw.replace("\r\n", "\n")
    text = _HYPHEN.sub(lambda match: _hyphen(text, match), text)
    text = _LIGATURES.sub(lambda match: unicodedata.normalize("NFKC", match.group()), text)
    # by words, since marks on a letter are sorted by swapping neighbours, endlessly for very many
    words = _SPACE_OR_WORD.findall(_TRAILING_SPACE.sub("", text))
    return "".join(unicodedata.normalize("NFC", word) for word in words)


def _hyphen(text: str, match: re.Match[str]) -> str:
    before = text[match.start() - 1 : match.start()]
    after = text[match.end() : match.end() + 1]
    # "E-Mail", "2020-2024": a hyphen before a capital or between numbers was written, not set
    is_written = match.group()[0] != "\u00ad" and (
        after.isupper() or after.isdigit() or before.isdigit()
    )
    return "-" if is_written else ""


def _extracted(request: ExtractRequest, reading: _Reading) -> Extracted:
    if "text" not in reading.states:
        raise EmptyContentError(f'Could not read "{request.label}": {_why_empty(reading)}')
    # after cleaning no page holds a form feed of its own, so pages and form feeds agree
    content = PAGE_BREAK.join(reading.pages)
    extraction: dict[str, object] = {"pages": reading.states}
    if any(label and label != str(place) for place, label in enumerate(reading.labels, 1)):
        extraction["page_labels"] = reading.labels
    return Extracted(
        title=_title(reading.title, request),
        content=content,
        source_type=SOURCE_TYPE,
        page_count=reading.page_count,
        warnings=tuple(_warnings(reading)),
        extraction=extraction,
    )


def _why_empty(reading: _Reading) -> str:
    if not reading.page_count:
        return (
            f"none of the {reading.claimed} pages it says it has was found."
            if reading.claimed
            else "it has no pages."
        )
    if "garbled" in reading.states:
        return (
            "its fonts do not tell which letters they show. "
            "Run OCR on it (for example with OCRmyPDF) and add the result."
        )
    pages = "its page holds a picture" if reading.page_count == 1 else "its pages hold pictures"
    return (
        f"{pages} only and no text layer. "
        "Run OCR on it first (for example with OCRmyPDF) and add the result."
    )


def _warnings(reading: _Reading) -> Iterable[str]:
    texts = {
        "empty": "hold no text, only pictures or nothing",
        "garbled": "hold text that cannot be decoded",
        "failed": "could not be read",
    }
    for state, text in texts.items():
        pages = [number for number, found in enumerate(reading.states, 1) if found == state]
        if pages:
            yield f"Pages that {text}: {_ranges(pages)}."
    if reading.claimed > reading.page_count:
        yield (
            f"The file says it has {reading.claimed} pages, but none was found after page "
            f"{reading.page_count}."
        )


def _ranges(numbers: Sequence[int]) -> str:
    """Write page numbers shortly: 1-3, 7."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1] = [runs[-1][0], number]
        else:
            runs.append([number])
    written = ["-".join(str(end) for end in run) for run in runs]
    return ", ".join(written[:20]) + (", ..." if len(written) > 20 else "")


def _title(metadata: str, request: ExtractRequest) -> str:
    title = " ".join(clean(metadata).split())
    is_sensible = 3 <= len(title) <= 300 and not is_garbled(title)
    if is_sensible and not _FILE_LIKE.match(title):
        return title
    name = request.label.rstrip("/").rpartition("/")[2] or request.label
    return name[:-4] if name.lower().endswith(".pdf") else name
