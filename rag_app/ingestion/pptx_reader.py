"""Reads presentations (PPTX), an answer a slide: title, text, tables, charts, notes.

Runs inside the sandbox. A walk of our own, since python-pptx opens every part at once, films too.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lxml import etree

from rag_app.errors import UnsupportedSourceError
from rag_app.ingestion.packages import (
    DAMAGED,
    Package,
    Relation,
    attribute,
    child,
    core_title,
    local,
    relation_id,
)
from rag_app.ingestion.writing import heading, join_blocks, list_item, one_line, paragraph, table

_LEFT_OUT = frozenset({"sldNum", "ftr", "dt", "hdr", "sldImg"})
_TITLES = frozenset({"title", "ctrTitle"})
_LISTS = frozenset({"", "body", "obj"})
_COUNTING_FIELDS = ("slidenum", "datetime")

Answer = tuple[dict[str, Any], bytes]


def read_pptx(request: Mapping[str, Any]) -> Iterator[Answer]:
    """Answer with the facts of a presentation, then with the text of each slide."""
    with Path(request["path"]).open("rb") as stream:
        package = Package(stream)
        main = next(package.related("", "officeDocument"), "ppt/presentation.xml")
        root = package.xml(main)
        if root is None:
            raise UnsupportedSourceError(DAMAGED)
        relations = package.relations(main)
        listed = child(root, "sldIdLst")
        slides = [
            relations[relation_id(one)]
            for one in (listed if listed is not None else ())
            if relation_id(one) in relations
        ]
        yield {"title": core_title(package), "pages": len(slides)}, b""
        for slide in slides:
            yield {}, _slide(package, slide.target).encode("utf-8", "replace")


def _slide(package: Package, name: str) -> str:
    root = package.xml(name)
    tree = child(root, "cSld", "spTree")
    if tree is None:
        return ""
    relations = package.relations(name)
    titles: list[str] = []
    blocks = list(_shapes(package, tree, relations, titles))
    notes = [text for part in package.related(name, "notesSlide") for text in _notes(package, part)]
    return join_blocks([*(heading(1, title) for title in titles), *blocks, *notes])


def _notes(package: Package, name: str) -> Iterator[str]:
    tree = child(package.xml(name), "cSld", "spTree")
    if tree is not None:
        yield from _shapes(package, tree, {}, [])


def _shapes(
    package: Package, parent: etree._Element, relations: Mapping[str, Relation], titles: list[str]
) -> Iterator[str]:
    for shape in parent:
        name = local(shape)
        if name == "sp":
            yield from _text_shape(shape, titles)
        elif name == "graphicFrame":
            yield from _graphic(package, shape, relations)
        elif name == "grpSp":
            yield from _shapes(package, shape, relations, titles)
        elif name == "AlternateContent":
            chosen = next((one for one in shape if local(one) == "Choice"), None)
            if chosen is not None:
                yield from _shapes(package, chosen, relations, titles)


def _text_shape(shape: etree._Element, titles: list[str]) -> Iterator[str]:
    place = child(shape, "nvSpPr", "nvPr", "ph")
    kind = attribute(place, "type") if place is not None else None
    body = child(shape, "txBody")
    if body is None or kind in _LEFT_OUT:
        return
    lines = [(depth, text) for depth, text in _paragraphs(body) if text.strip()]
    if kind in _TITLES:
        titles.append(one_line(" ".join(text for _, text in lines)))
    elif kind in _LISTS and len(lines) > 1:
        yield join_blocks(list_item(depth, text) for depth, text in lines)
    else:
        yield from (paragraph(text) for _, text in lines)


def _paragraphs(body: etree._Element) -> Iterator[tuple[int, str]]:
    for one in body:
        if local(one) == "p":
            properties = child(one, "pPr")
            depth = attribute(properties, "lvl") if properties is not None else ""
            yield int(depth) if depth in set("012345678") else 0, "".join(_words(one))


def _words(element: etree._Element) -> Iterator[str]:
    for one in element:
        name = local(one)
        if name == "t":
            yield one.text or ""
        elif name == "br":
            yield "\n"
        elif name == "fld" and attribute(one, "type").startswith(_COUNTING_FIELDS):
            continue
        else:
            yield from _words(one)


def _graphic(
    package: Package, frame: etree._Element, relations: Mapping[str, Relation]
) -> Iterator[str]:
    data = child(frame, "graphic", "graphicData")
    for one in data if data is not None else ():
        name = local(one)
        if name == "tbl":
            yield table(_rows(one))
        elif name == "chart" and (part := relations.get(relation_id(one))):
            yield from _chart(package.xml(part.target))
        elif name == "relIds" and (part := relations.get(attribute(one, "dm"))):
            yield from _diagram(package.xml(part.target))


def _rows(element: etree._Element) -> Iterator[list[str]]:
    for row in element:
        if local(row) == "tr":
            yield [
                " ".join(text for _, text in _paragraphs(body))
                for cell in row
                if local(cell) == "tc" and (body := child(cell, "txBody")) is not None
            ]


def _chart(root: etree._Element | None) -> Iterator[str]:
    """Yield a chart's title, and its figures as a table: a row a category, a column a series."""
    if root is None:
        return
    title = next((one for one in root.iter() if local(one) == "title"), None)
    if title is not None:
        yield paragraph("".join(_words(title)))
    names: list[str] = []
    columns: list[list[str]] = []
    categories: list[str] = []
    for series in (one for one in root.iter() if local(one) == "ser"):
        names.append(" ".join(_values(child(series, "tx"))))
        categories = categories or _values(_either(series, "cat", "xVal"))
        columns.append(_values(_either(series, "val", "yVal")))
    height = max((len(column) for column in (categories, *columns)), default=0)
    rows = [["", *names]]
    for place in range(height):
        cells = (categories, *columns)
        rows.append([column[place] if place < len(column) else "" for column in cells])
    if height:
        yield table(rows)


def _either(element: etree._Element, *names: str) -> etree._Element | None:
    return next((found for name in names if (found := child(element, name)) is not None), None)


def _values(element: etree._Element | None) -> list[str]:
    if element is None:
        return []
    return [one_line(one.text or "") for one in element.iter() if local(one) == "v"]


def _diagram(root: etree._Element | None) -> Iterator[str]:
    """Yield the words of SmartArt, a list item each."""
    points = [one for one in root.iter() if local(one) == "pt"] if root is not None else []
    yield join_blocks(list_item(0, "".join(_words(point))) for point in points)
