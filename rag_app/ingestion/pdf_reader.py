"""Reads PDF files with PDFium: text, page images, boxes of words. Runs inside the sandbox.

The only file that imports pypdfium2, which must not be used by two threads at once.
"""

import ctypes
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import pairwise
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from rag_app.errors import IngestionError, UnsupportedSourceError
from rag_app.ingestion.folding import find_folded

Answer = tuple[dict[str, Any], bytes]
Box = tuple[float, float, float, float]

_GRID = 20_000  # device units that boxes are measured in; fine enough for any page
_PAGES_BETWEEN_REOPENING = 200  # PDFium keeps fonts and objects of pages it has closed
_LARGEST_WIDTH = 4000
_POINTS_AN_INCH = 72
_LITTLE_TEXT = 300  # signs; below it a page may be a scan with no more than a stamp of text
_OBJECTS_LOOKED_AT = 3000
_SIGNS_LOOKED_AT = 400
_FEW_STEPS = 8
_MISSING_FORGIVEN = 1000  # in all; what a page tree claims beyond is taken for a lie


def read_text(request: Mapping[str, Any]) -> Iterator[Answer]:
    """Answer with the facts of a file, then with the raw text of each page, in order."""
    path, first = request["path"], request.get("first", 1)
    with closing(_open(path)) as document:
        page_count = _count_pages(document)
        yield (
            {
                "pages": page_count,
                "claimed": len(document),
                "title": document.get_metadata_dict().get("Title", ""),
                "labels": [document.get_page_label(place) for place in range(page_count)],
            },
            b"",
        )
    for start in range(first - 1, page_count, _PAGES_BETWEEN_REOPENING):
        with closing(_open(path)) as document:
            for place in range(start, min(start + _PAGES_BETWEEN_REOPENING, page_count)):
                yield _page_text(document, place)


def show_page(request: Mapping[str, Any]) -> Iterator[Answer]:
    """Answer with one page as PNG, or with the boxes of a quote on it."""
    with closing(_open(request["path"])) as document:
        number = request["page"]
        if not _has_page(document, number - 1):
            last = _count_pages(document)
            if not 1 <= number <= last:
                yield {"missing": last}, b""
                return
        with closing(_page(document, number)) as page:
            if "width" in request:
                yield {}, _png(page, request["width"])
            else:
                boxes = _boxes(page, request["quote"], request["before"])
                yield {"boxes": boxes}, b""


def render_gray(path: str, number: int, dots_an_inch: int) -> tuple[bytes, int, int]:
    """Return a page as a gray image (PGM), its width and its height in dots."""
    with closing(_open(path)) as document, closing(_page(document, number)) as page:
        longest = max(*page.get_size(), 1)
        scale = min(dots_an_inch / _POINTS_AN_INCH, 2 * _LARGEST_WIDTH / longest)
        bitmap = page.render(
            scale=scale, may_draw_forms=True, force_bitmap_format=pdfium.FPDFBitmap_Gray
        )
        width, height, stride = bitmap.width, bitmap.height, bitmap.stride
        pixels = bytes(bitmap.buffer)
    rows = b"".join(pixels[start : start + width] for start in range(0, height * stride, stride))
    return b"P5\n%d %d\n255\n" % (width, height) + rows, width, height


def _open(path: str) -> pypdfium2.PdfDocument:
    try:
        return pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        if error.err_code in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY):
            raise IngestionError(
                "it is protected by a password. Save a copy without one and add that."
            ) from error
        raise UnsupportedSourceError("it is damaged or not a PDF at all.") from error


def _count_pages(document: pypdfium2.PdfDocument) -> int:
    """Return the number of the last page that is there, whatever the page tree claims."""
    last = missing = 0
    for place in range(len(document)):
        if _has_page(document, place):
            last = place + 1
        else:
            missing += 1
            if missing == _MISSING_FORGIVEN:
                break
    return last


def _has_page(document: pypdfium2.PdfDocument, place: int) -> bool:
    # its size is asked for, since that parses nothing of the page
    return bool(pdfium.FPDF_GetPageSizeByIndexF(document, place, pdfium.FS_SIZEF()))


def _page(document: pypdfium2.PdfDocument, number: int) -> pypdfium2.PdfPage:
    try:
        return document[number - 1]
    except pypdfium2.PdfiumError as error:
        raise IngestionError(f"page {number} is damaged.") from error


def _page_text(document: pypdfium2.PdfDocument, place: int) -> Answer:
    try:
        with closing(document[place]) as page, closing(page.get_textpage()) as text_page:
            text = text_page.get_text_range()
            header: dict[str, Any] = {"page": place + 1}
            if _is_vertical(text_page, text):
                header["vertical"] = True
            if len(text) < _LITTLE_TEXT:
                header["pictured"], header["paths"] = _drawn(page)
    except pypdfium2.PdfiumError as error:
        return {"page": place + 1, "failure": str(error)}, b""
    return header, text.encode("utf-8", "replace")


def _is_vertical(text_page: pypdfium2.PdfTextPage, text: str) -> bool:
    """Tell whether lines run from top to bottom, as Japanese and Chinese may.

    PDFium orders such lines wrongly, and loses some.
    """
    looked_at = text[: min(_SIGNS_LOOKED_AT, text_page.count_chars())]
    places = [place for place, sign in enumerate(looked_at) if sign >= "\u3040"]
    down = across = 0
    for first, second in pairwise(places):
        if second != first + 1:
            continue
        a, b = (_centre(text_page, place) for place in (first, second))
        down += abs(a[0] - b[0]) < abs(a[1] - b[1])
        across += abs(a[0] - b[0]) >= abs(a[1] - b[1])
    return down > _FEW_STEPS and down > 2 * across


def _centre(text_page: pypdfium2.PdfTextPage, place: int) -> tuple[float, float]:
    left, bottom, right, top = text_page.get_charbox(place)
    return (left + right) / 2, (bottom + top) / 2


def _drawn(page: pypdfium2.PdfPage) -> tuple[float, int]:
    """Return how much of a page pictures cover, as a fraction, and how many paths it has."""
    width, height = page.get_size()
    covered, paths = 0.0, 0
    for number, drawn in enumerate(page.get_objects(max_depth=3)):
        if number == _OBJECTS_LOOKED_AT:
            break
        if drawn.type == pdfium.FPDF_PAGEOBJ_PATH:
            paths += 1
        elif drawn.type == pdfium.FPDF_PAGEOBJ_IMAGE:
            left, bottom, right, top = drawn.get_bounds()
            wide = min(right, width) - max(left, 0)
            high = min(top, height) - max(bottom, 0)
            covered += max(0.0, wide) * max(0.0, high)
    return min(1.0, covered / max(1.0, width * height)), paths


def _png(page: pypdfium2.PdfPage, width: int) -> bytes:
    page_width, page_height = page.get_size()
    scale = min(width, _LARGEST_WIDTH) / max(page_width, 1)
    # a page ten times as long as it is wide stays an image of bounded size
    scale = min(scale, 2 * _LARGEST_WIDTH / max(page_height, 1))
    bitmap = page.render(
        scale=scale,
        may_draw_forms=True,
        force_bitmap_format=pdfium.FPDFBitmap_BGR,
        rev_byteorder=True,
    )
    return _encode_png(bitmap.width, bitmap.height, bitmap.stride, bytes(bitmap.buffer))


def _encode_png(width: int, height: int, stride: int, pixels: bytes) -> bytes:
    """Write RGB pixels as PNG, which is little enough to need no imaging library."""
    rows = b"".join(
        b"\0" + pixels[start : start + 3 * width] for start in range(0, height * stride, stride)
    )
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 3)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )


def _boxes(page: pypdfium2.PdfPage, quote: str, before: str) -> list[Box]:
    with closing(page.get_textpage()) as text_page:
        text = text_page.get_text_range()
        span = find_folded(text, quote, before)
        if span is None:
            return []
        first, last = (
            pdfium.FPDFText_GetCharIndexFromTextIndex(text_page, _utf16_length(text[:place]))
            for place in (span[0], span[1] - 1)
        )
        if first < 0 or last < first:
            return []
        count = text_page.count_rects(first, last - first + 1)
        return _merge_lines(
            [_fractions(page, *text_page.get_rect(place)) for place in range(count)]
        )


def _utf16_length(text: str) -> int:
    return len(text) + sum(sign > "\uffff" for sign in text)


def _fractions(
    page: pypdfium2.PdfPage, left: float, bottom: float, right: float, top: float
) -> Box:
    """Turn a box of the page's own space into fractions of the page as shown."""
    xs, ys = [], []
    for x, y in ((left, top), (right, bottom)):
        device_x, device_y = ctypes.c_int(), ctypes.c_int()
        pdfium.FPDF_PageToDevice(page, 0, 0, _GRID, _GRID, 0, x, y, device_x, device_y)
        xs.append(min(max(device_x.value / _GRID, 0.0), 1.0))
        ys.append(min(max(device_y.value / _GRID, 0.0), 1.0))
    return min(xs), min(ys), max(xs), max(ys)


def _merge_lines(boxes: list[Box]) -> list[Box]:
    """Join neighbours that stand on one line, as a pen would mark them."""
    merged: list[Box] = []
    for box in boxes:
        if box[2] <= box[0] or box[3] <= box[1]:
            continue
        if merged and _on_one_line(merged[-1], box):
            last = merged.pop()
            box = (
                min(last[0], box[0]),
                min(last[1], box[1]),
                max(last[2], box[2]),
                max(last[3], box[3]),
            )
        merged.append(box)
    return merged


def _on_one_line(one: Box, other: Box) -> bool:
    height = min(one[3] - one[1], other[3] - other[1])
    shared = min(one[3], other[3]) - max(one[1], other[1])
    gap = max(one[0], other[0]) - min(one[2], other[2])
    return shared > 0.5 * height and gap < 0.05
