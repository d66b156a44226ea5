"""Recognises the words on pages of a PDF with tesseract. Runs inside the sandbox.

Tesseract is a program of the system. It inherits the sandbox's limits and ends with it.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from typing import Any

from rag_app.ingestion.pdf_reader import render_gray

_DOTS_AN_INCH = 300  # what tesseract was trained for
_PARENT_DEATH = 1  # PR_SET_PDEATHSIG
_COLUMNS = 12

Answer = tuple[dict[str, Any], bytes]


def recognise_pages(request: Mapping[str, Any]) -> Iterator[Answer]:
    """Answer with the lines of each page asked for: words, box in fractions, confidence."""
    for number in request["pages"]:
        image, width, height = render_gray(request["path"], number, _DOTS_AN_INCH)
        try:
            finished = subprocess.run(
                [
                    *("tesseract", "stdin", "stdout", "--dpi", str(_DOTS_AN_INCH)),
                    *("-l", request["languages"], "--psm", "3", "tsv"),
                ],
                input=image,
                capture_output=True,
                timeout=request["seconds"],
                preexec_fn=_end_with_the_parent,  # the sandbox has one thread
                env={**os.environ, "OMP_THREAD_LIMIT": "1"},  # more of them make it slower
                check=False,
            )
        except subprocess.TimeoutExpired:
            yield {"page": number, "failure": f"took more than {request['seconds']} seconds"}, b""
            continue
        if finished.returncode:
            words = finished.stderr.decode("utf-8", "replace").split("\n")[0]
            yield {"page": number, "failure": words or "stopped"}, b""
            continue
        lines = _lines(finished.stdout.decode("utf-8", "replace"), width, height)
        yield {"page": number, "lines": lines}, b""


def _end_with_the_parent() -> None:
    with contextlib.suppress(OSError, AttributeError):  # Linux only
        ctypes.CDLL(None).prctl(_PARENT_DEATH, signal.SIGKILL)


def _lines(table: str, width: int, height: int) -> list[dict[str, Any]]:
    """Return the lines of tesseract's table; a word is level 5 of it."""
    lines: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in table.split("\n")[1:]:
        cells = row.split("\t")
        if len(cells) != _COLUMNS or cells[0] != "5" or not cells[11].strip():
            continue
        left, top, wide, high = (int(cell) for cell in cells[6:10])
        box = (left / width, top / height, (left + wide) / width, (top + high) / height)
        line = lines.setdefault(
            tuple(cells[2:5]), {"paragraph": cells[2:4], "words": [], "box": box, "sure": []}
        )
        line["words"].append(cells[11].strip())
        line["sure"].append(float(cells[10]))
        first, last = line["box"], box
        line["box"] = (
            *(min(first[0], last[0]), min(first[1], last[1])),
            *(max(first[2], last[2]), max(first[3], last[3])),
        )
    return list(lines.values())
