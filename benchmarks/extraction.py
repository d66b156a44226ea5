"""Prints how fast a text PDF is extracted and split, and what memory that takes.

python -m benchmarks.extraction [--pages 300 3000]
"""

import argparse
import asyncio
import random
import tempfile
import threading
import time
from pathlib import Path

import psutil
from reportlab.pdfgen import canvas

from rag_app.ingestion.chunking import split
from rag_app.ingestion.request import ExtractRequest
from rag_app.ingestion.sources import extract
from rag_app.settings import Settings


def write_book(path: Path, pages: int) -> None:
    chance = random.Random(1)
    words = [
        "".join(chance.choices("abcdefghijklmnoprstu", k=chance.randint(3, 9))) for _ in range(4000)
    ]
    drawing = canvas.Canvas(str(path))
    for number in range(1, pages + 1):
        text = drawing.beginText(50, 780)
        text.setFont("Helvetica", 10)
        text.textLine(f"This is page {number}.")
        for _ in range(34):
            line = chance.choices(words, k=10)
            text.textLine(f"{' '.join(line[:6]).capitalize()}. {' '.join(line[6:]).capitalize()}")
        drawing.drawText(text)
        drawing.showPage()
    drawing.save()


class Peak:
    """Watches the memory of this process and of its children."""

    def __init__(self) -> None:
        self.own = self.children = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Peak":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        process = psutil.Process()
        while not self._stop.wait(0.02):
            self.own = max(self.own, process.memory_info().rss)
            total = 0
            for child in process.children():
                try:
                    total += child.memory_info().rss
                except psutil.Error:
                    continue
            self.children = max(self.children, total)


async def measure(pages: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "book.pdf"
        write_book(path, pages)
        request = ExtractRequest("file:book.pdf", Settings(home=Path(folder)), path=path)
        with Peak() as peak:
            started = time.perf_counter()
            extracted = await extract(request)
            read = time.perf_counter()
            chunks = split(extracted.content, "pdf", count_tokens=lambda text: len(text) // 4)
            done = time.perf_counter()
    print(
        f"{pages:6} {len(extracted.content) / 1e6:7.1f} {read - started:9.1f}"
        f" {pages / (read - started):8.0f} {len(chunks):7} {done - read:8.1f}"
        f" {peak.own / 1e6:7.0f} {peak.children / 1e6:8.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, nargs="+", default=[300, 3000])
    print(" pages  Msigns  extract s  pages/s  chunks  split s  own MB  child MB")
    for pages in parser.parse_args().pages:
        asyncio.run(measure(pages))


if __name__ == "__main__":
    main()
