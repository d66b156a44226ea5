"""PDF to text, a form feed between pages."""

import asyncio
import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rag_app.errors import EmptyContentError, IngestionError
from rag_app.ingestion.broken_text import is_garbled
from rag_app.ingestion.content import Extracted, clean
from rag_app.ingestion.ocr import RecognisedPage, installed_languages, recognise
from rag_app.ingestion.request import ExtractRequest
from rag_app.ingestion.sandbox import Child, ChildDiedError
from rag_app.marks import PAGE_BREAK

SOURCE_TYPE = "pdf"

_READER = "rag_app.ingestion.pdf_reader:read_text"
_SECOND_READER = "rag_app.ingestion.second_reader:read_again"
_MEMORY_BYTES = 1 << 30
_SECONDS_A_PAGE = 60
_CRASHES_FORGIVEN = 10  # two a page; a file that does worse is not worth more children
_PAGES_BETWEEN_REPORTS = 20

_LITTLE_TEXT = 200  # signs; a page with fewer may be a scan with a stamp on it
_SCAN_SHARE = 0.5  # of the page, that pictures cover on such a one
_PICTURE_SHARE = 0.04  # below it a picture is a logo
_MANY_PATHS = 100
_CONFIDENT = 70  # of 100
_REASONS = {
    "empty": "holds no text",
    "garbled": "its fonts do not tell which letters they show",
}
_UNRECOGNISED = "a scan, and tesseract is not installed"
_NO_TESSERACT = (
    "Pages that are scans: {}. To have their words recognised, install tesseract (Debian, Ubuntu: "
    "`apt install tesseract-ocr tesseract-ocr-deu`; Mac: `brew install tesseract tesseract-lang`), "
    "then remove the document and add it again."
)
_NO_LANGUAGE = (
    "Tesseract lacks the language of this document: install it (Debian, Ubuntu: "
    "`apt install tesseract-ocr-{}`), then remove the document and add it again."
)

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
    reasons: dict[int, str] = field(default_factory=dict)  # why a page is not plain text
    scans: list[int] = field(default_factory=list)  # pages that show more than their text says
    vertical: list[int] = field(default_factory=list)  # pages whose lines run from top to bottom
    recognised: dict[int, RecognisedPage] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    crashes: int = 0
    suspect: int = 0  # the page at which the reader stopped last

    def add(self, text: str, state: str, reason: str = "") -> None:
        self.pages.append(text)
        self.states.append(state)
        if reason:
            self.reasons[len(self.pages)] = reason

    def change(self, page: int, text: str, state: str, reason: str) -> None:
        self.pages[page - 1], self.states[page - 1] = text, state
        self.reasons[page] = reason

    def numbers(self, state: str) -> list[int]:
        """The pages of a state, counted from 1."""
        return [number for number, found in enumerate(self.states, 1) if found == state]


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
        reading = await asyncio.to_thread(_read_whole, request, report, stop)
    except asyncio.CancelledError:
        stop.set()
        raise
    return _extracted(request, reading)


def _read_whole(request: ExtractRequest, report: Report, stop: threading.Event) -> _Reading:
    reading = _read(request.path, request.label, report, stop)
    assert request.path is not None
    _read_again(reading, request.path, stop)
    _recognise(reading, request.path, report, stop)
    return reading


def _read_again(reading: _Reading, path: Path, stop: threading.Event) -> None:
    """Give pages with undecodable or vertical text to the second reader.

    What passes the same rule is kept; of vertical text, what is not less than the first one read.
    """
    pages = sorted({*reading.numbers("garbled"), *reading.vertical})
    if not pages:
        return
    try:
        with Child(_SECOND_READER, memory_bytes=_MEMORY_BYTES, seconds=_SECONDS_A_PAGE) as child:
            for header, payload in child.stream({"path": str(path), "pages": pages}, stop=stop):
                text, state = _page(payload.decode("utf-8", "replace"))
                number = int(header["page"])
                if state == "text" and _letters(text) >= _letters(reading.pages[number - 1]):
                    reading.change(number, text, state, "read by the second reader")
    except IngestionError:
        if stop.is_set():
            raise  # else those pages stay as they were, for recognition


def _recognise(reading: _Reading, path: Path, report: Report, stop: threading.Event) -> None:
    """Recognise the words of scans, and of pages whose text no reader could decode."""
    pages = sorted({*reading.scans, *reading.numbers("garbled")})
    if not pages:
        return
    if not installed_languages():
        for page in set(pages) & set(reading.numbers("empty")):
            reading.reasons[page] = _UNRECOGNISED
        reading.notes.append(_NO_TESSERACT.format(_ranges(pages)))
        return
    others = " ".join(text for text in reading.pages if len(text) > _LITTLE_TEXT)
    found = recognise(
        path, pages, other_text=others, stop=stop, report=lambda done: report(done, len(pages))
    )
    for page, result in found.pages.items():
        _keep(reading, page, result)
    if found.missing_language:
        reading.notes.append(_NO_LANGUAGE.format(found.missing_language.replace("_", "-")))


def _keep(reading: _Reading, page: int, result: RecognisedPage) -> None:
    before = reading.pages[page - 1]
    if len(result.text) > 2 * len(before):
        reason = f"recognised ({'+'.join(result.languages)}), {result.confidence} % sure"
        reading.change(page, result.text, "ocr", reason)
        reading.recognised[page] = result
    elif not before:
        why = result.failure or "nothing on it could be recognised as words"
        reading.reasons[page] = (
            f"{reading.reasons[page]}; {why}" if page in reading.reasons else why
        )


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
            reading.add("", "failed", "its reader crashed on it, or took too much memory or time")
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
        reading.add("", "failed", str(header["failure"]))
    else:
        text, state = _page(payload.decode("utf-8", "replace"))
        reading.add(text, state, _REASONS.get(state, ""))
        if header.get("vertical"):
            reading.vertical.append(len(reading.pages))
        if _is_scan(header, text, state):
            reading.scans.append(len(reading.pages))
    done = len(reading.pages)
    if done % _PAGES_BETWEEN_REPORTS == 0 or done == reading.page_count:
        report(done, reading.page_count)


def _letters(text: str) -> int:
    return sum(sign.isalnum() for sign in text)


def _is_scan(header: Mapping[str, Any], text: str, state: str) -> bool:
    """Tell whether a page shows words that its text does not hold."""
    pictured, paths = float(header.get("pictured", 0)), int(header.get("paths", 0))
    if state == "empty":
        # outlines of letters are paths
        return pictured > _PICTURE_SHARE or paths > _MANY_PATHS
    return state == "text" and len(text) < _LITTLE_TEXT and pictured > _SCAN_SHARE


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
    if not {"text", "ocr"} & set(reading.states):
        raise EmptyContentError(f'Could not read "{request.label}": {_why_empty(reading)}')
    # after cleaning no page holds a form feed of its own, so pages and form feeds agree
    content = PAGE_BREAK.join(reading.pages)
    extraction: dict[str, object] = {"pages": reading.states}
    if any(label and label != str(place) for place, label in enumerate(reading.labels, 1)):
        extraction["page_labels"] = reading.labels
    if reading.reasons:
        extraction["reasons"] = {str(page): text for page, text in sorted(reading.reasons.items())}
    if reading.recognised:
        extraction["ocr_lines"] = {
            str(page): [
                [line.start, line.end, *(round(edge, 4) for edge in line.box)]
                for line in result.lines
            ]
            for page, result in reading.recognised.items()
        }
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
    if reading.notes:
        return f"it holds no text. {reading.notes[0]}"
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
    yield from reading.notes
    texts = {
        "empty": "hold no text, only pictures or nothing",
        "garbled": "hold text that cannot be decoded",
        "failed": "could not be read",
    }
    for state, text in texts.items():
        # what the note on tesseract names already is not said twice
        pages = [
            page for page in reading.numbers(state) if reading.reasons.get(page) != _UNRECOGNISED
        ]
        if pages:
            yield f"Pages that {text}: {_ranges(pages)}."
    if recognised := reading.numbers("ocr"):
        yield f"Scanned pages, whose words were recognised: {_ranges(recognised)}."
    doubtful = [page for page, found in reading.recognised.items() if found.confidence < _CONFIDENT]
    if doubtful:
        yield f"Recognised with doubt, so check before you quote: {_ranges(sorted(doubtful))}."
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
