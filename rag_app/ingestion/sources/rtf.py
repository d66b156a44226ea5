"""Rich text (RTF): its words, without headings, which the format does not mark."""

from rag_app.ingestion.content import Extracted
from rag_app.ingestion.reading import read_parts, write_document
from rag_app.ingestion.request import ExtractRequest

SOURCE_TYPE = "office"

_READER = "rag_app.ingestion.rtf_reader:read_rtf"


def accepts(request: ExtractRequest) -> bool:
    """Tell whether the document is rich text, by its first bytes."""
    return request.head().lstrip(b"\xef\xbb\xbf \r\n").startswith(b"{\\rtf")


async def extract(request: ExtractRequest) -> Extracted:
    """Extract the paragraphs."""
    return write_document(request, await read_parts(request, _READER), SOURCE_TYPE)
