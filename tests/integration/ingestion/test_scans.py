"""Scanned and garbled pages: recognised where tesseract is there, told of where it is not."""

import asyncio
import itertools
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pypdfium2
import pytest
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import ttfonts
from reportlab.pdfgen import canvas

from rag_app import chat
from rag_app.errors import EmptyContentError
from rag_app.ingestion.content import Extracted
from rag_app.ingestion.request import ExtractRequest
from rag_app.ingestion.sandbox import Child
from rag_app.ingestion.sources import extract
from rag_app.library import evidence
from rag_app.query.results import Finished
from rag_app.runtime import Runtime
from rag_app.settings import Settings
from tests.support.ingesting import add_path
from tests.support.library import write_pdf
from tests.support.processes import children

pytestmark = pytest.mark.integration

needs_tesseract = pytest.mark.skipif(
    shutil.which("tesseract") is None, reason="tesseract is not installed"
)

ENGLISH = (
    "The honeybee tells her sisters where flowers grow. An efficient waggle dance points the "
    "way, and its length tells the distance. Scientists first deciphered these extraordinary "
    "movements in the twentieth century."
)
STAMP = "Scanned by ScanPal"


async def read(path: Path) -> Extracted:
    settings = Settings(home=path.parent)
    return await extract(ExtractRequest(f"file:{path}", settings, path=path, name=path.name))


def write_scan(folder: Path, texts: Sequence[str], *, stamp: str = "") -> Path:
    """Write a PDF whose pages are pictures of texts, as a scanner makes them."""
    written = pypdfium2.PdfDocument(write_pdf(folder / "printed.pdf", texts))
    drawing = canvas.Canvas(str(folder / "scan.pdf"), pagesize=A4)
    for page in written:
        picture = page.render(scale=200 / 72, grayscale=True).to_pil()
        drawing.drawImage(ImageReader(picture), 0, 0, *A4)
        if stamp:
            drawing.drawString(60, 30, stamp)
        drawing.showPage()
    drawing.save()
    written.close()
    return folder / "scan.pdf"


def join(folder: Path, *paths: Path) -> Path:
    joined = pypdfium2.PdfDocument.new()
    for path in paths:
        with pypdfium2.PdfDocument(path) as part:
            joined.import_pages(part)
    joined.save(folder / "joined.pdf")
    joined.close()
    return folder / "joined.pdf"


@needs_tesseract
async def test_only_the_pages_that_are_scans_are_recognised(tmp_path: Path) -> None:
    printed = write_pdf(tmp_path / "a.pdf", [ENGLISH, ""])
    scan = write_scan(tmp_path, [ENGLISH])
    extracted = await read(join(tmp_path, printed, scan))

    pages = extracted.content.split("\f")
    assert extracted.extraction["pages"] == ["text", "empty", "ocr"]
    assert ENGLISH.split() == pages[2].split()
    assert extracted.extraction["reasons"]["3"].startswith("recognised (eng), 9")
    assert "Scanned pages, whose words were recognised: 3." in extracted.warnings


@needs_tesseract
async def test_the_lines_of_a_scan_are_where_they_stand_on_the_page(tmp_path: Path) -> None:
    extracted = await read(write_scan(tmp_path, [ENGLISH]))

    lines = extracted.extraction["ocr_lines"]["1"]
    first, second = lines[0], lines[1]
    assert extracted.content[first[0] : first[1]].startswith("The honeybee tells")
    assert first[1] < second[0]
    assert 0.09 < first[2] < 0.11
    assert first[3] < first[5] < second[5] < 0.12
    assert 0.7 < first[4] < 0.95


@needs_tesseract
async def test_a_quote_from_a_scan_is_marked_on_its_picture(
    runtime: Runtime, tmp_path: Path
) -> None:
    document = await add_path(runtime, write_scan(tmp_path, ["Winter is cold.", ENGLISH]))
    assert document.status == "ready", document.error
    question = "When did scientists decipher the movements?"
    events = [event async for event in chat.take_turn(runtime, None, question)]
    assert isinstance(events[-1], Finished), events[-1]
    citation = events[-1].answer.citations[0]
    version = await evidence.newest_version(runtime.database, runtime.workspace_id, document.id)

    lines = evidence.recognised_lines(version, 2)
    first, _ = evidence.page_span(version.content, 2)
    assert (citation.page, lines is not None) == (2, True)
    assert evidence.boxes_on_lines(lines or [], citation.start - first, citation.end - first)


@needs_tesseract
async def test_a_cancelled_recognition_leaves_no_process_behind(tmp_path: Path) -> None:
    path = write_scan(tmp_path, [ENGLISH] * 30)
    started = asyncio.Event()

    def note(done: int, in_all: int) -> None:
        if done == 1:
            started.set()

    request = ExtractRequest(
        "file:x", Settings(home=tmp_path), path=path, name="x.pdf", on_progress=note
    )
    work = asyncio.create_task(extract(request))
    await asyncio.wait_for(started.wait(), 60)
    running = []
    while not running:
        await asyncio.sleep(0.05)
        running = children("tesseract stdin")
    running += children("ocr_reader:recognise")
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    for _ in range(50):
        # a program whose parent was killed is no longer below this process
        left = [process for process in running if process.is_running()]
        if not left:
            return
        await asyncio.sleep(0.1)
    raise AssertionError(left)


@needs_tesseract
async def test_a_stamp_of_text_on_a_scan_does_not_pass_for_the_page(tmp_path: Path) -> None:
    extracted = await read(write_scan(tmp_path, [ENGLISH], stamp=STAMP))

    assert extracted.extraction["pages"] == ["ocr"]
    assert ENGLISH in " ".join(extracted.content.split())


@needs_tesseract
async def test_garbled_text_is_recognised_from_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    extracted = await read(write_garbled(tmp_path, monkeypatch))

    assert extracted.extraction["pages"] == ["ocr"]
    assert ENGLISH.split() == extracted.content.split()


async def test_without_tesseract_one_warning_names_the_scans_and_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide_tesseract(tmp_path, monkeypatch)
    scan = write_scan(tmp_path, [ENGLISH, ENGLISH])
    extracted = await read(join(tmp_path, write_pdf(tmp_path / "a.pdf", [ENGLISH]), scan))

    assert extracted.extraction["pages"] == ["text", "empty", "empty"]
    assert extracted.extraction["reasons"] == {
        "2": "a scan, and tesseract is not installed",
        "3": "a scan, and tesseract is not installed",
    }
    assert len(extracted.warnings) == 1
    assert extracted.warnings[0].startswith("Pages that are scans: 2-3. To have their words")
    with pytest.raises(EmptyContentError, match="install tesseract"):
        await read(scan)


async def test_garbled_text_is_never_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hide_tesseract(tmp_path, monkeypatch)
    garbled = write_garbled(tmp_path, monkeypatch)
    extracted = await read(join(tmp_path, write_pdf(tmp_path / "a.pdf", [ENGLISH]), garbled))

    assert extracted.extraction["pages"] == ["text", "garbled"]
    assert extracted.content.split("\f")[1] == ""
    assert "fonts do not tell" in extracted.extraction["reasons"]["2"]


async def test_the_second_reader_reads_the_pages_asked_for(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", ["One bee.", "Two bees.", "Three bees."])
    with Child("rag_app.ingestion.second_reader:read_again") as child:
        answers = list(child.stream({"path": str(path), "pages": [3, 1]}))

    assert [(header["page"], text.decode().strip()) for header, text in answers] == [
        (3, "Three bees."),
        (1, "One bee."),
    ]


def hide_tesseract(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave a PATH with nothing on it."""
    (folder / "empty").mkdir()
    monkeypatch.setenv("PATH", os.fspath(folder / "empty"))


def write_garbled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a PDF that shows its letters rightly and calls each a private sign."""
    map_codes = ttfonts.makeToUnicodeCMap

    def garble(name: str, subset: Sequence[int]) -> str:
        return map_codes(name, list(itertools.islice(itertools.count(0xE000), len(subset))))

    with monkeypatch.context() as patch:
        patch.setattr(ttfonts, "makeToUnicodeCMap", garble)
        return write_pdf(folder / "garbled.pdf", [ENGLISH])
