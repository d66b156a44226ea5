"""Reads rich text (RTF). Runs inside the sandbox. The only file that imports striprtf."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from striprtf.striprtf import rtf_to_text

from rag_app.errors import UnsupportedSourceError
from rag_app.ingestion.writing import join_blocks, paragraph


def read_rtf(request: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Answer with an empty set of facts, then with the text."""
    data = Path(request["path"]).read_bytes()
    try:
        # the format itself is ASCII; other letters are written as escapes
        text = rtf_to_text(data.decode("latin-1"), errors="replace")
    except (ValueError, LookupError, IndexError) as error:
        raise UnsupportedSourceError(
            "it is damaged. Open it with the program that wrote it, save it anew and add that."
        ) from error
    yield {}, b""
    written = join_blocks(paragraph(line) for line in text.split("\n"))
    yield {}, written.encode("utf-8", "replace")
