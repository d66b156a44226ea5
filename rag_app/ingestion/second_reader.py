"""Reads pages of a PDF once more with playa, which decodes fonts by other rules than PDFium.

Runs inside the sandbox. The only file that imports playa.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import playa

from rag_app.errors import IngestionError


def read_again(request: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Answer with the text of each of the pages asked for."""
    try:
        with playa.open(request["path"]) as document:
            for number in request["pages"]:
                yield {"page": number}, _text(document, number).encode("utf-8", "replace")
    except Exception as error:
        # pure Python over a broken file: whatever it stumbles on, the page stays as it was
        raise IngestionError(str(error)) from error


def _text(document: playa.Document, number: int) -> str:
    try:
        return str(document.pages[number - 1].extract_text())
    except Exception:  # one page less, not all of them
        return ""
