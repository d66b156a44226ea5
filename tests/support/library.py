"""Writes documents that tests put into a library."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import reportlab
from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import simpleSplit
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen import canvas

_WIDE_FONT = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")  # Cyrillic too
_MARGIN, _SIZE, _LEADING = 60, 11, 15


def has_cyrillic_font() -> bool:
    return _WIDE_FONT.exists()


@cache
def font() -> str:
    """Register a font with Latin, German and, where the system has one, Cyrillic letters."""
    path = _WIDE_FONT
    if not path.exists():
        path = Path(reportlab.__file__).with_name("fonts") / "Vera.ttf"
    pdfmetrics.registerFont(TTFont("library", str(path)))
    return "library"


def write_pdf(
    path: Path,
    pages: Sequence[str],
    *,
    title: str = "",
    rotation: int = 0,
    hyphenate: bool = False,
    password: str | StandardEncryption | None = None,
) -> Path:
    """Write a PDF with one text a page, lines wrapped; an empty text is a page with a picture.

    With `hyphenate`, long words at line ends are cut with a hyphen, as a typesetter does.
    """
    # reportlab swaps the sides of a page that is turned; swapped before, they come out right
    size = A4 if rotation % 180 == 0 else (A4[1], A4[0])
    drawing = canvas.Canvas(str(path), pagesize=size, encrypt=password)
    if title:
        drawing.setTitle(title)
    for page in pages:
        drawing.setPageRotation(rotation)
        if page:
            text = drawing.beginText(_MARGIN, A4[1] - _MARGIN)
            text.setFont(font(), _SIZE, _LEADING)
            for line in _wrap(page, hyphenate):
                text.textLine(line)
            drawing.drawText(text)
        else:
            drawing.rect(100, 300, 300, 300, fill=1)
        drawing.showPage()
    drawing.save()
    return path


def _wrap(page: str, hyphenate: bool) -> list[str]:
    width = A4[0] - 2 * _MARGIN
    if not hyphenate:
        return [
            line
            for part in page.split("\n")
            for line in (simpleSplit(part, font(), _SIZE, width) or [""])
        ]
    lines, line = [], ""
    for word in page.split():
        longer = f"{line} {word}".strip()
        if pdfmetrics.stringWidth(longer, font(), _SIZE) <= width:
            line = longer
        elif len(word) > 7 and word.isalpha():
            lines.append(f"{line} {word[:4]}-")
            line = word[4:]
        else:
            lines.append(line)
            line = word
    return [*lines, line]
