import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pypdfium2
import pytest
from reportlab.lib import pdfencrypt
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen import canvas

from rag_app.errors import (
    EmptyContentError,
    IngestionError,
    NotFoundError,
    UnsupportedSourceError,
)
from rag_app.ingestion.content import Extracted, LocatorIndex
from rag_app.ingestion.folding import fold
from rag_app.ingestion.page_images import PageImages
from rag_app.ingestion.request import ExtractRequest
from rag_app.ingestion.sandbox import Child, ChildDiedError, Frame
from rag_app.ingestion.sources import extract
from rag_app.sentences import split_sentences
from rag_app.settings import Settings
from tests.support.library import has_cyrillic_font, write_pdf
from tests.support.processes import children

pytestmark = pytest.mark.integration

ENGLISH = (
    "The honeybee tells her sisters where flowers grow. An efficient waggle dance points the "
    "way, and its length tells the distance. Scientists first deciphered these extraordinary "
    "movements in the twentieth century."
)
GERMAN = (
    "Die Honigbiene erzählt ihren Schwestern, wo Blumen wachsen. Der außergewöhnliche "
    "Schwänzeltanz zeigt die Richtung über größere Entfernungen. Wissenschaftler entschlüsselten "
    "diese Bewegungen erst im zwanzigsten Jahrhundert."
)
RUSSIAN = (
    "Медоносная пчела рассказывает сёстрам, где растут цветы. Необыкновенный танец показывает "
    "направление. Учёные расшифровали эти движения только в двадцатом столетии."
)
LANGUAGES = [ENGLISH, GERMAN, *([RUSSIAN] if has_cyrillic_font() else [])]


async def extract_pdf(path: Path, **options: object) -> Extracted:
    settings = Settings(home=path.parent)
    request = ExtractRequest(f"file:{path.name}", settings, path=path, name=path.name, **options)
    return await extract(request)


async def test_each_page_of_each_language_is_where_it_was_written(tmp_path: Path) -> None:
    texts = [f"Page {number}. {LANGUAGES[number % len(LANGUAGES)]}" for number in range(1, 31)]
    extracted = await extract_pdf(
        write_pdf(tmp_path / "bees.pdf", texts, title="On bees", hyphenate=True)
    )

    assert (
        extracted.title,
        extracted.page_count,
        extracted.source_type,
        extracted.warnings,
    ) == ("On bees", 30, "pdf", ())
    assert [fold(text)[0] for text in texts] == [
        fold(page)[0] for page in extracted.content.split("\f")
    ]


async def test_words_cut_at_line_ends_are_whole_again(tmp_path: Path) -> None:
    extracted = await extract_pdf(write_pdf(tmp_path / "x.pdf", [ENGLISH], hyphenate=True))
    raw = pypdfium2.PdfDocument(tmp_path / "x.pdf")[0].get_textpage().get_text_range()

    assert "\ufffe" in raw or "\x02" in raw
    assert ENGLISH.split() == extracted.content.split()


@pytest.mark.parametrize("rotation", [0, 90, 180])
async def test_every_sentence_is_marked_on_its_page(tmp_path: Path, rotation: int) -> None:
    path = write_pdf(tmp_path / "x.pdf", LANGUAGES, hyphenate=True, rotation=rotation)
    extracted = await extract_pdf(path)
    index = LocatorIndex(extracted.content, "pdf")
    images = PageImages()
    try:
        for start, end in split_sentences(extracted.content):
            page = index.at(start).page
            boxes = images.mark_boxes(path, page or 0, extracted.content[start:end])
            assert boxes
            assert all(0 <= a < c <= 1 and 0 <= b < d <= 1 for a, b, c, d in boxes)
        if rotation == 0:
            first = images.mark_boxes(path, 1, "The honeybee tells her sisters")
            assert len(first) == 1
            left, top, right, bottom = first[0]
            assert 0.09 < left < 0.12
            assert 0.04 < top < bottom < 0.09
            assert 0.3 < right < 0.6
    finally:
        images.close()


async def test_of_two_equal_quotes_the_one_meant_is_marked(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "x.pdf", ["Bees dance.\nAnts walk.\nBees dance."])
    images = PageImages()
    try:
        first = images.mark_boxes(path, 1, "Bees dance.")
        second = images.mark_boxes(path, 1, "Bees dance.", before="Bees dance.\nAnts walk.\n")
    finally:
        images.close()

    assert first[0][1] < second[0][1]


async def test_pages_are_shown_as_images_by_many_at_once(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "x.pdf", [ENGLISH, GERMAN])
    images = PageImages()
    try:
        pictures = await asyncio.gather(
            *(
                asyncio.to_thread(images.render_page, path, 1 + number % 2, 600)
                for number in range(8)
            )
        )
        with pytest.raises(NotFoundError, match="the last one is 2"):
            images.render_page(path, 3)
        with pytest.raises(NotFoundError):
            images.render_page(path, 0)
    finally:
        images.close()

    assert all(picture.startswith(b"\x89PNG") for picture in pictures)
    assert len(set(pictures)) == 2
    assert int.from_bytes(pictures[0][16:20]) == 600


def write_claiming(path: Path, texts: list[str], claimed: int) -> Path:
    """Write a PDF whose page tree says that it holds more pages than it does."""
    written = write_pdf(path, texts).read_bytes()
    said, lie = f"/Count {len(texts)}".encode(), f"/Count {claimed}".encode()
    assert written.count(said) == 1
    path.write_bytes(written.replace(said, lie))
    return path


async def test_pages_that_a_file_only_claims_to_have_are_not_asked_for(tmp_path: Path) -> None:
    path = write_claiming(tmp_path / "x.pdf", [ENGLISH, GERMAN], 1_000_000)
    async with asyncio.timeout(10):
        extracted = await extract_pdf(path)

    assert (extracted.page_count, extracted.extraction) == (2, {"pages": ["text", "text"]})
    assert extracted.warnings == (
        "The file says it has 1000000 pages, but none was found after page 2.",
    )


async def test_a_page_that_a_file_only_claims_to_have_is_not_there(tmp_path: Path) -> None:
    path = write_claiming(tmp_path / "x.pdf", [ENGLISH, GERMAN], 1_000_000)
    images = PageImages()
    try:
        with pytest.raises(NotFoundError, match="the last one is 2"):
            images.render_page(path, 500_000)
        with pytest.raises(NotFoundError, match="the last one is 2"):
            images.mark_boxes(path, 3, "bees")
        assert images.render_page(path, 2).startswith(b"\x89PNG")
    finally:
        images.close()


async def test_a_page_shower_that_was_killed_starts_again(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "x.pdf", [ENGLISH])
    images = PageImages()
    try:
        before = images.render_page(path, 1)
        images._child._process.kill()  # what the system does when memory is short
        images._child._process.wait()
        assert before == images.render_page(path, 1)
    finally:
        images.close()


class Fragile(Child):
    """A real child that dies at some pages, each as often as told."""

    deaths: ClassVar[dict[int, int]] = {}

    def stream(self, *args: Any, **options: Any) -> Iterator[Frame]:
        for header, payload in super().stream(*args, **options):
            page = header.get("page")
            if self.deaths.get(page, 0) > 0:
                self.deaths[page] -= 1
                raise ChildDiedError
            yield header, payload


@pytest.mark.parametrize(
    ("deaths", "states"),
    [
        ({2: 1, 4: 1}, ["text"] * 5),
        ({2: 2}, ["text", "failed", "text", "text", "text"]),
        ({1: 9, 5: 9}, ["failed", "text", "text", "text", "failed"]),
    ],
)
async def test_a_page_that_kills_its_reader_twice_is_left_out_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deaths: dict[int, int], states: list[str]
) -> None:
    monkeypatch.setattr("rag_app.ingestion.sources.pdf.Child", Fragile)
    monkeypatch.setattr(Fragile, "deaths", dict(deaths))
    texts = [f"Page {number}. {ENGLISH}" for number in range(1, 6)]
    extracted = await extract_pdf(write_pdf(tmp_path / "x.pdf", texts))

    assert extracted.extraction["pages"] == states
    assert [page.split(".")[0] for page in extracted.content.split("\f")] == [
        f"Page {number}" if state == "text" else "" for number, state in enumerate(states, 1)
    ]


async def test_a_file_that_kills_every_reader_names_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_app.ingestion.sources.pdf.Child", Fragile)
    monkeypatch.setattr(Fragile, "deaths", dict.fromkeys(range(3, 30), 9))
    with pytest.raises(IngestionError, match=r'"x\.pdf": the reader stopped at page \d+'):
        await extract_pdf(write_pdf(tmp_path / "x.pdf", [ENGLISH] * 29))


async def test_pages_without_text_are_named(tmp_path: Path) -> None:
    extracted = await extract_pdf(write_pdf(tmp_path / "x.pdf", [ENGLISH, "", "", GERMAN, ""]))

    assert extracted.extraction["pages"] == ["text", "empty", "empty", "text", "empty"]
    assert extracted.warnings == ("Pages that hold no text, only pictures or nothing: 2-3, 5.",)
    assert extracted.content.count("\f") == 4


async def test_a_scan_says_that_it_holds_pictures_only(tmp_path: Path) -> None:
    with pytest.raises(EmptyContentError, match=r'"scan.pdf": its pages hold pictures only'):
        await extract_pdf(write_pdf(tmp_path / "scan.pdf", ["", ""]))


async def test_a_locked_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(IngestionError, match=r'"secret.pdf": it is protected by a password'):
        await extract_pdf(write_pdf(tmp_path / "secret.pdf", [ENGLISH], password="x"))


async def test_a_file_that_only_its_owner_may_change_is_read(tmp_path: Path) -> None:
    locked = pdfencrypt.StandardEncryption("", ownerPassword="x", canCopy=0, canPrint=0)
    extracted = await extract_pdf(write_pdf(tmp_path / "x.pdf", [ENGLISH], password=locked))

    assert extracted.content.split() == ENGLISH.split()


async def test_a_damaged_file_says_so(tmp_path: Path) -> None:
    path = tmp_path / "broken.pdf"
    path.write_bytes(b"%PDF-1.7\n" + b"nonsense " * 100)
    with pytest.raises(UnsupportedSourceError, match=r'"broken.pdf": it is damaged'):
        await extract_pdf(path)


@pytest.mark.parametrize("title", ["", "Microsoft Word - a.docx", "untitled", "report.pdf", "12"])
async def test_a_title_that_says_nothing_gives_way_to_the_name(tmp_path: Path, title: str) -> None:
    extracted = await extract_pdf(write_pdf(tmp_path / "On ants.pdf", [ENGLISH], title=title))

    assert extracted.title == "On ants"


async def test_printed_page_numbers_are_kept_beside_the_physical_ones(tmp_path: Path) -> None:
    from reportlab.pdfgen import canvas

    drawing = canvas.Canvas(str(tmp_path / "x.pdf"))
    for number in range(3):
        drawing.drawString(50, 700, f"words on this page {number}")
        drawing.addPageLabel(number, "ROMAN_LOWER" if number < 2 else "ARABIC", 1)
        drawing.showPage()
    drawing.save()
    extracted = await extract_pdf(tmp_path / "x.pdf")

    assert extracted.page_count == 3
    assert len(extracted.extraction["page_labels"]) == 3


async def test_progress_is_told_in_the_event_loop(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    loop = asyncio.get_running_loop()

    def note(done: int, in_all: int) -> None:
        assert asyncio.get_running_loop() is loop
        seen.append((done, in_all))

    await extract_pdf(write_pdf(tmp_path / "x.pdf", [ENGLISH] * 50), on_progress=note)
    await asyncio.sleep(0)

    assert seen == [(20, 50), (40, 50), (50, 50)]


async def test_a_cancelled_reading_leaves_no_child_behind(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "x.pdf", [ENGLISH] * 3000)
    started = asyncio.Event()
    work = asyncio.create_task(extract_pdf(path, on_progress=lambda *_: started.set()))
    await started.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    for _ in range(50):
        left = children("pdf_reader:read_text")
        if not left:
            return
        await asyncio.sleep(0.1)
    raise AssertionError(left)


async def test_lines_from_top_to_bottom_are_read_in_their_order(tmp_path: Path) -> None:
    pdfmetrics.registerFont(UnicodeCIDFont("HeiseiMin-W3", isVertical=True))
    drawing = canvas.Canvas(str(tmp_path / "vertical.pdf"))
    drawing.setFont("HeiseiMin-W3", 20)
    lines = ["蜜蜂は踊りで花の場所を", "仲間に教える。その長さ", "は距離を表している。"]
    for number, line in enumerate(lines):
        drawing.drawString(500 - number * 40, 700, line)
    drawing.save()

    extracted = await extract_pdf(tmp_path / "vertical.pdf")

    assert extracted.content.replace("\n", "") == "".join(lines)
