"""Reads Word documents (DOCX): headings, lists, tables, notes, text boxes. Runs inside the sandbox.

Tracked changes are read as accepted. Headers and footers are left out, and so are page breaks:
which page a paragraph falls on is decided by the program that prints it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lxml import etree

from rag_app.errors import UnsupportedSourceError
from rag_app.ingestion.docx_numbers import Numbering, read_numbering
from rag_app.ingestion.packages import DAMAGED, Package, attribute, child, core_title, local
from rag_app.ingestion.writing import heading, join_blocks, list_item, one_line, paragraph, table

_DROPPED = frozenset({"del", "moveFrom", "pPr", "rPr", "sdtPr", "tblPr", "Fallback", "instrText",
                      "delText", "rt", "fldData", "sectPr", "proofErr"})  # fmt: skip
_NOTE_SIGNS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_BASED_ON_AT_MOST = 20
_SPANNED_AT_MOST = 60


@dataclass(frozen=True)
class _Style:
    """What a paragraph's style says of it; `level` is 1 to 9 for a heading, 0 for none."""

    name: str = ""
    level: int = 0
    list_id: str = ""
    depth: int = 0


@dataclass
class _Document:
    """The open document, and what has been met that belongs behind the paragraph at hand."""

    styles: Mapping[str, _Style]
    numbering: Numbering
    notes: Mapping[tuple[str, str], etree._Element]
    comments: Mapping[str, etree._Element]
    note_count: int = 0
    after: list[Callable[[], str]] = field(default_factory=list)
    has_foreign_part: bool = False


def read_docx(request: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Answer with the facts of a document, then with its text."""
    with Path(request["path"]).open("rb") as stream:
        package = Package(stream)
        main = next(package.related("", "officeDocument"), "word/document.xml")
        root = package.xml(main)
        body = child(root, "body")
        if body is None:
            raise UnsupportedSourceError(DAMAGED)
        document = _open(package, main)
        text = join_blocks(_blocks(document, body))
        facts = {"title": core_title(package), "warnings": []}
        if document.has_foreign_part:
            facts["warnings"] = ["A part in another format that was inserted whole was not read."]
        yield facts, b""
        yield {}, text.encode("utf-8", "replace")


def _open(package: Package, main: str) -> _Document:
    related = {relation.kind: relation.target for relation in package.relations(main).values()}
    parts = {kind: package.xml(name) for kind, name in related.items() if kind in _PARTS}
    notes = {
        (kind, attribute(note, "id")): note
        for kind in ("footnote", "endnote")
        for note in _children(parts.get(f"{kind}s"))
        if attribute(note, "type") in {"", "normal"}
    }
    comments = {attribute(one, "id"): one for one in _children(parts.get("comments"))}
    return _Document(
        _read_styles(parts.get("styles")), read_numbering(parts.get("numbering")), notes, comments
    )


_PARTS = frozenset({"styles", "numbering", "footnotes", "endnotes", "comments"})


def _children(root: etree._Element | None) -> Iterator[etree._Element]:
    if root is not None:
        yield from root


def _read_styles(root: etree._Element | None) -> dict[str, _Style]:
    raw = {attribute(style, "styleId"): style for style in _children(root)}
    return {name: _style(name, raw) for name in raw}


def _style(name: str, raw: Mapping[str, etree._Element]) -> _Style:
    own_name, level, list_id, depth = "", 0, "", 0
    for _ in range(_BASED_ON_AT_MOST):
        style = raw.get(name)
        if style is None:
            break
        named = child(style, "name")
        title = attribute(named, "val").lower() if named is not None else ""
        own_name = own_name or title
        properties = child(style, "pPr")
        level = level or _level_of_name(title) or _outline(properties)
        if not list_id:
            list_id, depth = _list_of(properties)
        base = child(style, "basedOn")
        if base is None:
            break
        name = attribute(base, "val")
    return _Style(own_name, level, list_id, depth)


def _level_of_name(name: str) -> int:
    if name == "title":
        return 1
    word, _, number = name.partition(" ")
    return int(number) if word == "heading" and number in set("123456789") else 0


def _outline(properties: etree._Element | None) -> int:
    level = child(properties, "outlineLvl")
    number = attribute(level, "val") if level is not None else ""
    return int(number) + 1 if number in set("012345678") else 0


def _list_of(properties: etree._Element | None) -> tuple[str, int]:
    found = child(properties, "numPr")
    if found is None:
        return "", 0
    values = {local(one): attribute(one, "val") for one in found}
    depth = values.get("ilvl", "0")
    return values.get("numId", ""), int(depth) if depth in set("012345678") else 0


def _blocks(document: _Document, parent: etree._Element) -> Iterator[str]:
    """Yield headings, paragraphs, list items and tables in the order they stand."""
    for element in parent:
        name = local(element)
        if name == "p":
            yield from _paragraph(document, element)
        elif name == "tbl":
            yield from _table(document, element)
        elif name == "altChunk":
            document.has_foreign_part = True
        elif name == "AlternateContent":
            yield from _blocks(document, _choice(element))
        elif name not in _DROPPED:
            yield from _blocks(document, element)


def _choice(element: etree._Element) -> etree._Element:
    # the same thing in two forms, for newer and for older programs
    return next((one for one in element if local(one) == "Choice"), element)


def _paragraph(document: _Document, element: etree._Element) -> Iterator[str]:
    properties = child(element, "pPr")
    style_name = child(properties, "pStyle")
    style = document.styles.get(
        attribute(style_name, "val") if style_name is not None else "", _Style()
    )
    if style.name.startswith("toc "):
        return  # a table of contents says each heading once more
    text = "".join(_text(document, element))
    after, document.after = document.after, []
    list_id, depth = _list_of(properties)
    if not list_id:
        list_id, depth = style.list_id, max(depth, style.depth)
    sign = document.numbering.next(list_id, depth) if list_id and text.strip() else ""
    level = _outline(properties) or style.level
    if level and text.strip():
        yield heading(level, f"{sign} {text}" if sign not in {"", "-"} else text)
    elif sign:
        yield list_item(depth, text, sign)
    else:
        yield paragraph(text)
    for write in after:
        yield write()


def _text(document: _Document, element: etree._Element) -> Iterator[str]:
    """Yield the words of a paragraph; what stands beside it goes to `document.after`."""
    for one in element:
        name = local(one)
        if name == "t":
            yield one.text or ""
        elif name in {"br", "cr"}:
            yield "\n"
        elif name in {"tab", "ptab"}:
            yield " "
        elif name == "noBreakHyphen":
            yield "-"
        elif name in {"footnoteReference", "endnoteReference"}:
            _keep_note(document, name.removesuffix("Reference"), attribute(one, "id"))
        elif name == "commentReference":
            _keep_comment(document, attribute(one, "id"))
        elif name == "txbxContent":
            document.after.append(_writer(document, one))
        elif name == "AlternateContent":
            yield from _text(document, _choice(one))
        elif name == "r":
            if not _is_hidden(one):
                yield from _text(document, one)
        elif name not in _DROPPED:
            yield from _text(document, one)


def _is_hidden(run: etree._Element) -> bool:
    mark = child(run, "rPr", "vanish")
    return mark is not None and attribute(mark, "val", "1") not in {"0", "false", "off"}


def _keep_note(document: _Document, kind: str, number: str) -> None:
    note = document.notes.get((kind, number))
    if note is None:
        return
    document.note_count += 1
    sign = str(document.note_count).translate(_NOTE_SIGNS)
    document.after.append(_writer(document, note, f"{sign} "))


def _keep_comment(document: _Document, number: str) -> None:
    comment = document.comments.get(number)
    if comment is not None:
        author = one_line(attribute(comment, "author"))
        document.after.append(_writer(document, comment, f"({author}:) " if author else ""))


def _writer(document: _Document, element: etree._Element, opening: str = "") -> Callable[[], str]:
    def write() -> str:
        # a note may refer to notes of its own, which belong behind it
        kept, document.after = document.after, []
        text = join_blocks(_blocks(document, element))
        document.after = kept
        return f"{opening}{text}" if text else ""

    return write


def _table(document: _Document, element: etree._Element) -> Iterator[str]:
    rows: list[list[str]] = []
    cells: list[etree._Element] = []
    for row in _find(element, "tr"):
        if child(row, "trPr", "del") is not None:
            continue
        above = rows[-1] if rows else []
        written: list[str] = []
        for cell in _find(row, "tc"):
            cells.append(cell)
            properties = child(cell, "tcPr")
            merge = child(properties, "vMerge")
            if merge is not None and attribute(merge, "val", "continue") == "continue":
                written.append(above[len(written)] if len(written) < len(above) else "")
            else:
                written.append(join_blocks(_blocks(document, cell)))
            span = child(properties, "gridSpan")
            width = attribute(span, "val") if span is not None else "1"
            width_number = min(int(width), _SPANNED_AT_MOST) if width.isdecimal() else 1
            written.extend([""] * (width_number - 1))
        rows.append(written)
    if max((len(row) for row in rows), default=0) == 1:
        # a frame around text: its blocks stay blocks
        yield from (cell for row in rows for cell in row)
    else:
        yield table(rows)


def _find(parent: etree._Element, name: str) -> Iterator[etree._Element]:
    """Yield rows of a table or cells of a row, also inside content controls, not nested ones."""
    for one in parent:
        found = local(one)
        if found == name:
            yield one
        elif found in {"sdt", "sdtContent", "ins", "moveTo", "customXml"}:
            yield from _find(one, name)
