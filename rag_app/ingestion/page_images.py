"""Shows pages of a PDF: as images, and where on them a quote stands."""

import threading
from pathlib import Path
from typing import Any

from rag_app.errors import NotFoundError
from rag_app.ingestion.sandbox import Child, Frame

Box = tuple[float, float, float, float]

_SHORT_QUOTE = 20_000  # signs; no page of text is longer


class PageImages:
    """A warm child process that shows pages; calls from several threads take turns."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child = Child("rag_app.ingestion.pdf_reader:show_page", seconds=20)

    def render_page(self, path: Path, page: int, width: int = 900) -> bytes:
        """Return a page, counted from 1, as PNG; raise NotFoundError beyond the last page."""
        return self._ask(path, page, {"width": max(16, width)})[1]

    def mark_boxes(self, path: Path, page: int, quote: str, *, before: str = "") -> list[Box]:
        """Return left, top, right, bottom of each line of a quote, as fractions of the page.

        `quote` is a slice of our content on this page. `before` is what precedes it there, which
        tells equal words apart. Empty when the words are not found.
        """
        request = {"quote": quote[:_SHORT_QUOTE], "before": before[-_SHORT_QUOTE:]}
        header, _ = self._ask(path, page, request)
        return [(box[0], box[1], box[2], box[3]) for box in header["boxes"]]

    def close(self) -> None:
        """End the child; the next call starts a new one."""
        with self._lock:
            self._child.close()

    def _ask(self, path: Path, page: int, request: dict[str, Any]) -> Frame:
        with self._lock:
            header, payload = self._child.call({"path": str(path), "page": page, **request})
        if "missing" in header:
            raise NotFoundError(f"There is no page {page}: the last one is {header['missing']}.")
        return header, payload
