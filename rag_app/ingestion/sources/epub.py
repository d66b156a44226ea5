"""Electronic books (EPUB): chapters as headings, in the order they are read."""

from rag_app.ingestion.content import Extracted
from rag_app.ingestion.packages import kind_of
from rag_app.ingestion.reading import read_parts, write_document
from rag_app.ingestion.request import ExtractRequest

SOURCE_TYPE = "ebook"

_READER = "rag_app.ingestion.epub_reader:read_epub"


def accepts(request: ExtractRequest) -> bool:
    """Tell whether the document is a book, by what the package says of itself."""
    with request.open() as stream:
        return kind_of(stream) == "epub"


async def extract(request: ExtractRequest) -> Extracted:
    """Extract every chapter; a book that its shop protects is refused with the reason."""
    reading = await read_parts(request, _READER)
    missing = sum("missing" in part.facts for part in reading.parts)
    return write_document(
        request,
        reading,
        SOURCE_TYPE,
        warnings=(f"Chapters that are missing in the file: {missing}.",) if missing else (),
        language=str(reading.facts.get("language") or "").split("-")[0].lower() or None,
    )
