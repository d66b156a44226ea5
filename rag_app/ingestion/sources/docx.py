"""Word documents (DOCX): the text under its headings."""

from rag_app.ingestion.content import Extracted
from rag_app.ingestion.packages import kind_of
from rag_app.ingestion.reading import read_parts, write_document
from rag_app.ingestion.request import ExtractRequest

SOURCE_TYPE = "office"

_READER = "rag_app.ingestion.docx_reader:read_docx"


def accepts(request: ExtractRequest) -> bool:
    """Tell whether the document is one of Word's, by what the package says of itself."""
    with request.open() as stream:
        return kind_of(stream) == "docx"


async def extract(request: ExtractRequest) -> Extracted:
    """Extract headings, paragraphs, lists, tables, notes and text boxes."""
    return write_document(request, await read_parts(request, _READER), SOURCE_TYPE)
