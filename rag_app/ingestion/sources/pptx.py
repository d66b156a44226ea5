"""Presentations (PPTX): a page a slide, with its notes."""

from rag_app.ingestion.content import Extracted
from rag_app.ingestion.packages import kind_of
from rag_app.ingestion.reading import read_parts, write_slides
from rag_app.ingestion.request import ExtractRequest

SOURCE_TYPE = "slides"

_READER = "rag_app.ingestion.pptx_reader:read_pptx"


def accepts(request: ExtractRequest) -> bool:
    """Tell whether the document is one of PowerPoint's, by what the package says of itself."""
    with request.open() as stream:
        return kind_of(stream) == "pptx"


async def extract(request: ExtractRequest) -> Extracted:
    """Extract each slide's title, text, tables, charts and notes."""
    return write_slides(request, await read_parts(request, _READER), SOURCE_TYPE)
