"""Tables as text (CSV, TSV): a paragraph a row, each value with its column's name."""

import asyncio
import csv
import io
from pathlib import PurePath

from rag_app.errors import UnsupportedSourceError
from rag_app.ingestion.content import Extracted, clean
from rag_app.ingestion.encodings import decode, looks_binary
from rag_app.ingestion.reading import check_has_text, name_of
from rag_app.ingestion.request import ExtractRequest
from rag_app.ingestion.rows import write_rows

SOURCE_TYPE = "spreadsheet"
LARGEST_TABLE_BYTES = 20 << 20  # each row repeats the names, so the text is several times as long

_SUFFIXES = frozenset({".csv", ".tsv", ".tab"})
_TYPES = frozenset({"text/csv", "text/tab-separated-values"})
_DELIMITERS = ("\t", ";", ",", "|")
_SNIFFED_LINES = 60
_LONGEST_CELL = 1 << 20


def accepts(request: ExtractRequest) -> bool:
    """Tell whether the document is a table: text by its bytes, a table by its name or type.

    Nothing in the bytes tells a table from prose with commas for sure.
    """
    if request.fetched is not None and request.fetched.content_type in _TYPES:
        return True
    suffix = PurePath(request.label.partition("?")[0]).suffix.lower()
    return suffix in _SUFFIXES and not looks_binary(request.head())


async def extract(request: ExtractRequest) -> Extracted:
    """Extract a table, whatever separates its columns."""
    if request.path is not None and request.path.stat().st_size > LARGEST_TABLE_BYTES:
        raise UnsupportedSourceError(
            f'"{request.label}" is a table of more than {LARGEST_TABLE_BYTES >> 20} MB, which is '
            "too much for one document: cut it into parts and add those."
        )
    data = await asyncio.to_thread(request.read)
    declared = request.fetched.charset if request.fetched else None
    return await asyncio.to_thread(_read, data, declared, request)


def _read(data: bytes, declared: str | None, request: ExtractRequest) -> Extracted:
    decoded = decode(data, declared)
    if decoded is None:
        raise UnsupportedSourceError(
            f'Could not read "{request.label}": it is not text, and no kind of file Pincite knows.'
        )
    content = write_rows(parse_table(clean(decoded.text)))
    check_has_text(request, content)
    return Extracted(
        title=name_of(request),
        content=content,
        source_type=SOURCE_TYPE,
        warnings=decoded.warnings(request.label),
    )


def parse_table(text: str) -> list[list[str]]:
    """Return the rows of a table, its delimiter guessed unless the first line names it."""
    first, _, rest = text.partition("\n")
    if first.strip().lower().startswith("sep=") and len(first.strip()) == 5:
        delimiter, text = first.strip()[4], rest
    else:
        delimiter = find_delimiter(text)
    csv.field_size_limit(_LONGEST_CELL)
    rows: list[list[str]] = []
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    try:
        rows.extend(reader)
    except csv.Error:
        # a quotation mark that nothing closes: then it was none
        rows = [line.split(delimiter) for line in text.split("\n")]
    return rows


def find_delimiter(text: str) -> str:
    """Return what separates the columns: what gives most lines the same number of them.

    csv.Sniffer raises on a fifth of odd tables, and takes a decimal comma for a separator.
    """
    lines = "\n".join(text.split("\n", _SNIFFED_LINES)[:_SNIFFED_LINES])
    best, best_score = ",", 0.0
    for delimiter in _DELIMITERS:
        try:
            rows = list(csv.reader(io.StringIO(lines), delimiter=delimiter, skipinitialspace=True))
        except csv.Error:
            continue
        widths = [len(row) for row in rows if row]
        common = max(set(widths), key=widths.count, default=1)
        score = widths.count(common) / max(1, len(widths)) if common > 1 else 0.0
        # where both fit, the comma is the one inside numbers
        score -= 0.2 * (delimiter == "," and ";" in lines)
        if score > best_score + 1e-9:
            best, best_score = delimiter, score
    return best
