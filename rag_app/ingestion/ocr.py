"""Recognises scanned pages with tesseract where the system has it: in which languages, how sure."""

import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rag_app.errors import IngestionError
from rag_app.ingestion.content import clean
from rag_app.ingestion.sandbox import Child, ChildDiedError
from rag_app.language import detect_language

_READER = "rag_app.ingestion.ocr_reader:recognise_pages"
_MEMORY_BYTES = 2 << 30
_SECONDS_A_PAGE = 90
_SURE = 40  # of 100; words below it are mostly dust and drawings
_FEWEST_SURE_WORDS = 3
_ENOUGH_SIGNS = 120  # letters, to tell the language of a first page
_CUT_WORD = re.compile(r"[^\W\d_]-$")

# ISO 639 to tesseract's names, the common ones first: a page in an unknown language is tried
# with those of the first line that are installed, since each makes it slower
_COMMON = {"en": "eng", "de": "deu", "fr": "fra", "es": "spa", "it": "ita", "pt": "por"}
_NAMES = _COMMON | {
    "nl": "nld", "pl": "pol", "ru": "rus", "uk": "ukr", "cs": "ces", "sv": "swe", "da": "dan",
    "no": "nor", "nb": "nor", "fi": "fin", "hu": "hun", "ro": "ron", "tr": "tur", "el": "ell",
    "bg": "bul", "hr": "hrv", "sr": "srp", "sk": "slk", "sl": "slv", "ca": "cat", "et": "est",
    "lv": "lav", "lt": "lit", "ar": "ara", "he": "heb", "fa": "fas", "hi": "hin", "ja": "jpn",
    "zh": "chi_sim", "ko": "kor", "vi": "vie", "th": "tha", "id": "ind", "la": "lat",
}  # fmt: skip

Box = tuple[float, float, float, float]
Report = Callable[[int], None]


@dataclass(frozen=True)
class RecognisedLine:
    """A line: offsets of its words in the page's text, and its box in fractions of the page."""

    start: int
    end: int
    box: Box


@dataclass(frozen=True)
class RecognisedPage:
    """What was recognised on a page; `confidence` is tesseract's own, out of 100."""

    text: str
    lines: tuple[RecognisedLine, ...] = ()
    confidence: int = 0
    languages: tuple[str, ...] = ()
    failure: str = ""


@dataclass
class Recognition:
    """The pages that were looked at, by number, and a language of theirs that is not installed."""

    pages: dict[int, RecognisedPage] = field(default_factory=dict)
    missing_language: str = ""


def installed_languages() -> tuple[str, ...]:
    """Return what tesseract can read here, by its own names; () where it is not installed."""
    program = shutil.which("tesseract")
    if program is None:
        return ()
    try:
        listed = subprocess.run(
            [program, "--list-langs"], capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    lines = listed.stdout.split("\n")[1:]
    return tuple(line.strip() for line in lines if line.strip() not in {"", "osd", "equ", "snum"})


def recognise(
    path: Path, pages: Sequence[int], *, other_text: str, stop: threading.Event, report: Report
) -> Recognition:
    """Recognise pages of a PDF, in the language of its other pages where those tell one.

    Otherwise the first page is tried in all common languages, and what it turns out to be decides
    for the rest. A page that fails is there with its failure. Raises ChildDiedError on `stop`.
    """
    found = Recognition()
    installed = installed_languages()
    text = other_text
    left = list(pages)
    while left:
        is_sure = len(_letters(text)) >= _ENOUGH_SIGNS
        language = detect_language(text) if is_sure else None
        chosen, found.missing_language = _choose(installed, language)
        batch = left if is_sure else left[:1]
        for page, result in _run(path, batch, chosen, stop):
            found.pages[page] = replace(result, languages=chosen)
            report(len(found.pages))
        text = text if is_sure else " ".join(page.text for page in found.pages.values())
        left = left[len(batch) :]
    return found


def _choose(installed: Sequence[str], language: str | None) -> tuple[tuple[str, ...], str]:
    """Return the names to read with, and the code of a language that is not installed."""
    name = _NAMES.get((language or "").split("-")[0])
    if name in installed:
        return (str(name),), ""
    common = tuple(one for one in _COMMON.values() if one in installed) or tuple(installed[:1])
    return common, name or ""


def _run(
    path: Path, pages: Sequence[int], languages: Sequence[str], stop: threading.Event
) -> Iterator[tuple[int, RecognisedPage]]:
    left = list(pages)
    while left:
        try:
            with Child(_READER, memory_bytes=_MEMORY_BYTES, seconds=2 * _SECONDS_A_PAGE) as child:
                request = {
                    "path": str(path),
                    "pages": left,
                    "languages": "+".join(languages),
                    "seconds": _SECONDS_A_PAGE,
                }
                for header, _ in child.stream(request, stop=stop):
                    left = [page for page in left if page != header["page"]]
                    yield int(header["page"]), _page(header)
            return
        except ChildDiedError:
            if stop.is_set():
                raise
            failure = "recognising its words took too much memory or time"
        except IngestionError as error:
            failure = str(error)
        yield left.pop(0), RecognisedPage("", failure=failure)


def _page(header: Mapping[str, Any]) -> RecognisedPage:
    """Put a page's text together from its lines; a page of doubtful words has none."""
    if "failure" in header:
        return RecognisedPage("", failure=str(header["failure"]))
    lines = header["lines"]
    sure = [(len(word), mark) for line in lines for word, mark in _words(line) if mark >= _SURE]
    real = [size for size, _ in sure if size > 2]
    if len(real) < _FEWEST_SURE_WORDS:
        return RecognisedPage("")
    text = ""
    places: list[RecognisedLine] = []
    paragraph = None
    for line in lines:
        words = clean(" ".join(word for word, mark in _words(line) if mark >= _SURE / 2)).strip()
        if not words:
            continue
        is_new = paragraph is not None and paragraph != line["paragraph"]
        if _CUT_WORD.search(text) and words[0].islower():
            text = text[:-1]  # a word that the line's end had cut
            places[-1] = replace(places[-1], end=len(text))
        elif text:
            text += "\n\n" if is_new else "\n"
        paragraph = line["paragraph"]
        places.append(RecognisedLine(len(text), len(text) + len(words), tuple(line["box"])))
        text += words
    confidence = sum(size * mark for size, mark in sure) / sum(size for size, _ in sure)
    return RecognisedPage(text, tuple(places), round(confidence))


def _words(line: Mapping[str, Any]) -> Iterable[tuple[str, float]]:
    return zip(line["words"], line["sure"], strict=True)


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text[:5000]))
