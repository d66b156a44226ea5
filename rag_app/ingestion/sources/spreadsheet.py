"""Spreadsheets (XLSX, XLSB, XLS, ODS): a heading a sheet, a paragraph a row."""

from collections.abc import Iterator
from dataclasses import replace

from rag_app.ingestion.compound_files import Kind, compound_kind
from rag_app.ingestion.content import Extracted
from rag_app.ingestion.packages import kind_of
from rag_app.ingestion.reading import Reading, name_of, read_parts, write_document
from rag_app.ingestion.request import ExtractRequest

SOURCE_TYPE = "spreadsheet"

_READER = "rag_app.ingestion.sheet_reader:read_sheets"


def accepts(request: ExtractRequest) -> bool:
    """Tell whether the document is a spreadsheet, by its bytes."""
    with request.open() as stream:
        return kind_of(stream) in {"xlsx", "ods"} or compound_kind(stream) is Kind.WORKBOOK


async def extract(request: ExtractRequest) -> Extracted:
    """Extract every sheet, hidden ones too; each row names its columns."""
    reading = await read_parts(request, _READER)
    written = write_document(request, reading, SOURCE_TYPE, warnings=tuple(_warnings(reading)))
    # its first heading is a sheet's, which is "Sheet1" more often than not
    return replace(written, title=name_of(request))


def _warnings(reading: Reading) -> Iterator[str]:
    if hidden := reading.facts.get("hidden"):
        yield f"Hidden in the file, but read: {_names(hidden)}."
    if failed := [part.facts["sheet"] for part in reading.parts if "failure" in part.facts]:
        yield f"Could not be read: {_names(failed)}."
    for part in reading.parts:
        if left_out := part.facts.get("left_out"):
            yield f'The last {left_out} rows of "{part.facts["sheet"]}" are too many and left out.'


def _names(sheets: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in sheets[:20]) + (", ..." if len(sheets) > 20 else "")
