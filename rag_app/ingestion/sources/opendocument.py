"""OpenDocument texts and presentations (ODT, ODP); its spreadsheets are read as such."""

from rag_app.ingestion.content import Extracted
from rag_app.ingestion.packages import kind_of
from rag_app.ingestion.reading import read_parts, write_document, write_slides
from rag_app.ingestion.request import ExtractRequest

SOURCE_TYPE = "office"

_SLIDES = "slides"
_READER = "rag_app.ingestion.opendocument_reader:read_opendocument"


def accepts(request: ExtractRequest) -> bool:
    """Tell whether the document is an OpenDocument text or presentation."""
    with request.open() as stream:
        return kind_of(stream) in {"odt", "odp"}


async def extract(request: ExtractRequest) -> Extracted:
    """Extract a text under its headings, or a presentation slide by slide."""
    reading = await read_parts(request, _READER)
    if "pages" in reading.facts:
        return write_slides(request, reading, _SLIDES)
    return write_document(request, reading, SOURCE_TYPE)
