"""Reads OpenDocument texts and presentations (ODT, ODP). Runs inside the sandbox."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lxml import etree

from rag_app.errors import IngestionError, UnsupportedSourceError
from rag_app.ingestion.packages import DAMAGED, Package, attribute, child, local
from rag_app.ingestion.writing import heading, join_blocks, list_item, one_line, paragraph, table

_DROPPED = frozenset(
    """tracked-changes change-start change-end change sequence-decls forms annotation-end
    table-of-content user-index bibliography""".split()  # noqa: SIM905 - a list of names
)
_BESIDE = frozenset({"note", "annotation", "text-box"})
_NOTE_SIGNS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_REPEATED_AT_MOST = 100

Answer = tuple[dict[str, Any], bytes]


def read_opendocument(request: Mapping[str, Any]) -> Iterator[Answer]:
    """Answer with the facts of a document, then with its text or that of each slide."""
    with Path(request["path"]).open("rb") as stream:
        package = Package(stream)
        manifest = package.xml("META-INF/manifest.xml")
        if manifest is not None and any(local(one) == "encryption-data" for one in manifest.iter()):
            raise IngestionError(
                "it is protected by a password. Save a copy without one and add that."
            )
        body = child(package.xml("content.xml"), "body")
        if body is None:
            raise UnsupportedSourceError(DAMAGED)
        title = _title(package)
        slides = child(body, "presentation")
        if slides is None:
            text = join_blocks(_blocks(body))
            yield {"title": title}, b""
            yield {}, text.encode("utf-8", "replace")
            return
        pages = [one for one in slides if local(one) == "page"]
        yield {"title": title, "pages": len(pages)}, b""
        for page in pages:
            yield {}, join_blocks(_slide(page)).encode("utf-8", "replace")


def _title(package: Package) -> str:
    root = package.xml("meta.xml") if "meta.xml" in package else None
    title = child(root, "meta", "title")
    return one_line("".join(str(text) for text in title.itertext())) if title is not None else ""


def _slide(page: etree._Element) -> Iterator[str]:
    frames = list(page)
    titles = [one for one in frames if attribute(one, "class") in {"title", "subtitle"}]
    for frame in [*titles, *(one for one in frames if one not in titles)]:
        blocks = join_blocks(_blocks(frame))
        if attribute(frame, "class") == "title":
            blocks = heading(1, blocks)
        yield blocks


def _blocks(parent: etree._Element, depth: int = -1) -> Iterator[str]:
    for element in parent:
        name = local(element)
        if name == "h":
            level = attribute(element, "outline-level", "1")
            yield heading(int(level) if level.isdecimal() else 1, "".join(_text(element)))
            yield from _beside(element)
        elif name == "p":
            text = "".join(_text(element))
            yield list_item(depth, text) if depth >= 0 else paragraph(text)
            yield from _beside(element)
        elif name == "list":
            yield from _blocks(element, depth + 1)
        elif name == "table":
            yield table(_rows(element))
        elif name not in _DROPPED and name not in {"creator", "date", "initials"}:
            yield from _blocks(element, depth)


def _text(element: etree._Element) -> Iterator[str]:
    """Yield the words of a paragraph without what stands beside it."""
    yield element.text or ""
    for one in element:
        name = local(one)
        if name in {"s", "tab"}:
            yield " "
        elif name == "line-break":
            yield "\n"
        elif name not in _BESIDE and name not in _DROPPED and name not in {"ruby-text", "frame"}:
            yield from _text(one)
        yield one.tail or ""


def _beside(element: etree._Element) -> Iterator[str]:
    """Yield the notes, comments and text boxes that hang on a paragraph."""
    for one in element.iter():
        name = local(one)
        if one is element or name not in _BESIDE:
            continue
        if name == "note":
            citation, body = child(one, "note-citation"), child(one, "note-body")
            sign = (citation.text or "") if citation is not None else ""
            if body is not None:
                text = join_blocks(_blocks(body))
                yield f"{sign.translate(_NOTE_SIGNS)} {text}".strip() if text else ""
        elif name == "annotation":
            author = child(one, "creator")
            text = join_blocks(_blocks(one))
            named = one_line(author.text or "") if author is not None else ""
            yield f"({named}:) {text}" if named and text else text
        else:
            yield from _blocks(one)


def _rows(element: etree._Element) -> Iterator[list[str]]:
    for one in element:
        name = local(one)
        if name == "table-row":
            row: list[str] = []
            for cell in one:
                if local(cell) in {"table-cell", "covered-table-cell"}:
                    times = attribute(cell, "number-columns-repeated", "1")
                    count = min(int(times), _REPEATED_AT_MOST) if times.isdecimal() else 1
                    row.extend([join_blocks(_blocks(cell))] * count)
            while row and not row[-1]:
                row.pop()
            yield row
        elif name in {"table-rows", "table-header-rows", "table-row-group"}:
            yield from _rows(one)
