"""Reads from an XLSX file what its cells' values do not say: comments, text boxes, percent signs.

Runs inside the sandbox. Whatever is wrong here, the cells are worth having without it.
"""

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lxml import etree

from rag_app.errors import IngestionError
from rag_app.ingestion.packages import Package, attribute, child, kind_of, local, relation_id
from rag_app.ingestion.writing import paragraph

_PERCENT_FORMATS = frozenset({"9", "10"})  # those every program knows by number
_COLUMN_BASE = 26


@dataclass(frozen=True)
class SheetExtras:
    """What stands beside a sheet's cells; the cells, row and column from 0, that are percents."""

    notes: tuple[str, ...] = ()
    percents: frozenset[tuple[int, int]] = field(default=frozenset())


def read_extras(path: str) -> dict[str, SheetExtras]:
    """Return the extras of each sheet by its name; nothing for other kinds of file."""
    with Path(path).open("rb") as stream:
        if kind_of(stream) != "xlsx":
            return {}
        try:
            return dict(_sheets(Package(stream)))
        except (IngestionError, etree.XMLSyntaxError):
            return {}


def _sheets(package: Package) -> Iterator[tuple[str, SheetExtras]]:
    main = next(package.related("", "officeDocument"), "xl/workbook.xml")
    if not main.endswith(".xml"):
        return  # the binary form, whose parts are no XML
    relations = package.relations(main)
    styles = _percent_styles(package, main)
    listed = child(package.xml(main), "sheets")
    for sheet in listed if listed is not None else ():
        part = relations.get(relation_id(sheet))
        if part is not None:
            percents = frozenset(_cells(package, part.target, styles)) if styles else frozenset()
            yield (
                attribute(sheet, "name"),
                SheetExtras(tuple(_notes(package, part.target)), percents),
            )


def _notes(package: Package, name: str) -> Iterator[str]:
    for relation in package.relations(name).values():
        root = package.xml(relation.target) if relation.kind in {"comments", "drawing"} else None
        for one in root.iter() if root is not None else ():
            if local(one) == "comment":
                yield paragraph(f"{attribute(one, 'ref')}: {_words(one)}")
            elif local(one) == "txBody":
                yield paragraph(_words(one))


def _words(element: etree._Element) -> str:
    return "".join(one.text or "" for one in element.iter() if local(one) == "t")


def _percent_styles(package: Package, main: str) -> frozenset[str]:
    """Return the numbers of the cell styles that show a value as percent."""
    for name in package.related(main, "styles"):
        root = package.xml(name)
        codes: Mapping[str, str] = {
            attribute(one, "numFmtId"): attribute(one, "formatCode")
            for one in _below(child(root, "numFmts"))
        }
        return frozenset(
            str(number)
            for number, style in enumerate(_below(child(root, "cellXfs")))
            if (kind := attribute(style, "numFmtId")) in _PERCENT_FORMATS
            or "%" in codes.get(kind, "")
        )
    return frozenset()


def _cells(package: Package, name: str, styles: frozenset[str]) -> Iterator[tuple[int, int]]:
    data = package.read(name) or b""
    # cell by cell, since the tree of a large sheet takes ten times its size
    parsed = etree.iterparse(
        io.BytesIO(data), tag="{*}c", resolve_entities=False, no_network=True, load_dtd=False
    )
    for _, cell in parsed:
        if cell.get("s") in styles and (place := _place(cell.get("r") or "")) is not None:
            yield place
        cell.clear()


def _place(name: str) -> tuple[int, int] | None:
    """Return row and column of a cell such as AB12, counted from 0."""
    letters = name.rstrip("0123456789")
    number = name[len(letters) :]
    if not letters.isascii() or not letters.isalpha() or not 0 < len(number) < 8:
        return None
    column = 0
    for letter in letters.upper()[:4]:
        column = column * _COLUMN_BASE + ord(letter) - ord("A") + 1
    return int(number) - 1, column - 1


def _below(element: etree._Element | None) -> Iterator[etree._Element]:
    if element is not None:
        yield from element
