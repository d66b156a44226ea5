"""Writes one small file of each format by hand, as the programs that own them would."""

import io
import struct
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
A = "http://schemas.openxmlformats.org/drawingml/2006/main"
P = "http://schemas.openxmlformats.org/presentationml/2006/main"
S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
CORE = f"{PACKAGE}/relationships/metadata/core-properties"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'

MAIN = {
    "word/document.xml": "wordprocessingml.document.main+xml",
    "ppt/presentation.xml": "presentationml.presentation.main+xml",
    "xl/workbook.xml": "spreadsheetml.sheet.main+xml",
}


def write_zip(path: Path, parts: Mapping[str, str | bytes], first: str = "") -> Path:
    """Write an archive; the part `first` is stored at its start, as EPUB and OpenDocument ask."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for name in sorted(parts, key=lambda name: name != first):
            method = zipfile.ZIP_STORED if name == first else zipfile.ZIP_DEFLATED
            package.writestr(name, parts[name], method)
    return path


def relations(targets: Mapping[str, tuple[str, str]]) -> str:
    """Write a .rels part: id to (last word of the type, target)."""
    inner = "".join(
        f'<Relationship Id="{name}" Type="{kind if "://" in kind else f"{R}/{kind}"}" '
        f'Target="{target}"/>'
        for name, (kind, target) in targets.items()
    )
    return f'{HEAD}<Relationships xmlns="{PACKAGE}/relationships">{inner}</Relationships>'


def write_office(path: Path, main: str, parts: Mapping[str, str | bytes], title: str = "") -> Path:
    """Write an Office package around its parts."""
    kind = f"application/vnd.openxmlformats-officedocument.{MAIN[main]}"
    core = (
        '<cp:coreProperties xmlns:cp="x" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>{escape(title)}</dc:title></cp:coreProperties>"
    )
    return write_zip(
        path,
        {
            "[Content_Types].xml": f'{HEAD}<Types xmlns="{PACKAGE}/content-types">'
            f'<Override PartName="/{main}" ContentType="{kind}"/></Types>',
            "_rels/.rels": relations(
                {"m": ("officeDocument", main), "c": (CORE, "docProps/core.xml")}
            ),
            "docProps/core.xml": core,
            **parts,
        },
    )


def write_docx(
    path: Path, body: str, *, title: str = "", parts: Mapping[str, str] | None = None
) -> Path:
    """Write a Word document; `parts` are footnotes, comments, numbering by their names."""
    others = {"styles": DOCX_STYLES, **(parts or {})}
    namespaces = f'xmlns:w="{W}" xmlns:r="{R}" xmlns:mc="{MC}"'
    files = {f"word/{name}.xml": text for name, text in others.items()}
    files["word/document.xml"] = (
        f"{HEAD}<w:document {namespaces}><w:body>{body}</w:body></w:document>"
    )
    files["word/_rels/document.xml.rels"] = relations(
        {name: (name, f"{name}.xml") for name in others}
    )
    return write_office(path, "word/document.xml", files, title)


DOCX_STYLES = (
    f'<w:styles xmlns:w="{W}">'
    '<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="Sub"><w:name w:val="Own heading"/><w:basedOn w:val="H2"/></w:style>'
    '<w:style w:styleId="H2"><w:name w:val="heading 2"/></w:style>'
    '<w:style w:styleId="V1"><w:name w:val="toc 1"/></w:style></w:styles>'
)


def w_paragraph(text: str, style: str = "", more: str = "", properties: str = "") -> str:
    """Write a paragraph of Word's; `more` are further runs as XML."""
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return (
        f"<w:p><w:pPr>{named}{properties}</w:pPr>"
        f'<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r>{more}</w:p>'
    )


def w_item(text: str, list_id: int, depth: int = 0) -> str:
    """Write a paragraph that belongs to a list."""
    numbers = f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{list_id}"/></w:numPr>'
    return w_paragraph(text, properties=numbers)


def w_table(rows: Sequence[Sequence[str]]) -> str:
    """Write a table of Word's; a cell that starts with < is XML."""
    written = "".join(
        "<w:tr>"
        + "".join(
            f"<w:tc>{cell if cell.startswith('<') else w_paragraph(cell)}</w:tc>" for cell in row
        )
        + "</w:tr>"
        for row in rows
    )
    return f"<w:tbl>{written}</w:tbl>"


def write_pptx(
    path: Path, slides: Sequence[str], *, notes: Mapping[int, str] | None = None
) -> Path:
    """Write a presentation of slides, each the XML of its shapes; notes by number from 1."""
    files: dict[str, str] = {}
    namespaces = f'xmlns:p="{P}" xmlns:a="{A}" xmlns:r="{R}"'
    listed = ""
    for number, shapes in enumerate(slides, 1):
        listed += f'<p:sldId id="{255 + number}" r:id="s{number}"/>'
        files[f"ppt/slides/slide{number}.xml"] = (
            f"<p:sld {namespaces}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
        )
        if notes and number in notes:
            files[f"ppt/slides/_rels/slide{number}.xml.rels"] = relations(
                {"n": ("notesSlide", f"../notesSlides/note{number}.xml")}
            )
            files[f"ppt/notesSlides/note{number}.xml"] = (
                f"<p:notes {namespaces}><p:cSld><p:spTree>"
                + p_shape([notes[number]], "body")
                + p_shape(["7"], "sldNum")
                + "</p:spTree></p:cSld></p:notes>"
            )
    files["ppt/presentation.xml"] = (
        f"<p:presentation {namespaces}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>"
    )
    files["ppt/_rels/presentation.xml.rels"] = relations(
        {
            f"s{number}": ("slide", f"slides/slide{number}.xml")
            for number in range(1, len(slides) + 1)
        }
    )
    return write_office(path, "ppt/presentation.xml", files)


def p_shape(lines: Sequence[str], kind: str | None = None) -> str:
    """Write a shape with text; of a kind, it is a placeholder."""
    place = f'<p:ph type="{kind}"/>' if kind else ""
    text = "".join(f"<a:p><a:r><a:t>{escape(line)}</a:t></a:r></a:p>" for line in lines)
    return f"<p:sp><p:nvSpPr><p:nvPr>{place}</p:nvPr></p:nvSpPr><p:txBody>{text}</p:txBody></p:sp>"


def p_table(rows: Sequence[Sequence[str]]) -> str:
    """Write a table on a slide."""
    written = "".join(
        "<a:tr>"
        + "".join(
            f"<a:tc><a:txBody><a:p><a:r><a:t>{escape(cell)}</a:t></a:r></a:p></a:txBody></a:tc>"
            for cell in row
        )
        + "</a:tr>"
        for row in rows
    )
    return (
        "<p:graphicFrame><a:graphic><a:graphicData>"
        f"<a:tbl>{written}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>"
    )


def write_xlsx(
    path: Path,
    sheets: Mapping[str, Sequence[Sequence[object]]],
    *,
    hidden: Sequence[str] = (),
    raw: str = "",
    merged: str = "",
) -> Path:
    """Write a workbook; a cell may be ("date", day) or ("percent", fraction).

    `raw` replaces the last sheet's rows, `merged` is a range of cells that are one in every sheet.
    """
    joined = f'<mergeCells count="1"><mergeCell ref="{merged}"/></mergeCells>' if merged else ""
    files: dict[str, str] = {}
    listed = ""
    for number, (name, rows) in enumerate(sheets.items(), 1):
        state = ' state="hidden"' if name in hidden else ""
        listed += f'<sheet name="{escape(name)}" sheetId="{number}" r:id="r{number}"{state}/>'
        written = "".join(
            f'<row r="{place}">'
            + "".join(
                _x_cell(f"{chr(65 + column)}{place}", cell) for column, cell in enumerate(row)
            )
            + "</row>"
            for place, row in enumerate(rows, 1)
        )
        if raw and number == len(sheets):
            written = raw
        files[f"xl/worksheets/sheet{number}.xml"] = (
            f'<worksheet xmlns="{S}"><sheetData>{written}</sheetData>{joined}</worksheet>'
        )
    files["xl/workbook.xml"] = (
        f'<workbook xmlns="{S}" xmlns:r="{R}"><sheets>{listed}</sheets></workbook>'
    )
    files["xl/styles.xml"] = (
        f'<styleSheet xmlns="{S}"><cellXfs count="3"><xf numFmtId="0"/>'
        '<xf numFmtId="14" applyNumberFormat="1"/><xf numFmtId="10"/>'
        "</cellXfs></styleSheet>"
    )
    targets = {
        f"r{number}": ("worksheet", f"worksheets/sheet{number}.xml")
        for number in range(1, len(sheets) + 1)
    }
    files["xl/_rels/workbook.xml.rels"] = relations({**targets, "st": ("styles", "styles.xml")})
    return write_office(path, "xl/workbook.xml", files)


def _x_cell(place: str, cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return f'<c r="{place}" t="b"><v>{int(cell)}</v></c>'
    if isinstance(cell, tuple):
        style = 1 if cell[0] == "date" else 2
        return f'<c r="{place}" s="{style}"><v>{cell[1]}</v></c>'
    if isinstance(cell, int | float):
        return f'<c r="{place}"><v>{cell}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t>{escape(str(cell))}</t></is></c>'


OPEN = "urn:oasis:names:tc:opendocument:xmlns"


def write_opendocument(path: Path, kind: str, body: str, *, is_encrypted: bool = False) -> Path:
    """Write an OpenDocument file; `kind` is text, presentation or spreadsheet."""
    spaces = " ".join(
        f'xmlns:{name}="{OPEN}:{name if name != "draw" else "drawing"}:1.0"'
        for name in ("office", "text", "table", "draw", "presentation", "meta")
    )
    encryption = "<m:encryption-data/>" if is_encrypted else ""
    return write_zip(
        path,
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "META-INF/manifest.xml": f'<m:manifest xmlns:m="{OPEN}:manifest:1.0"><m:file-entry '
            f'm:full-path="content.xml">{encryption}</m:file-entry></m:manifest>',
            "meta.xml": f'<office:document-meta {spaces} xmlns:dc="http://purl.org/dc/elements/1.1/">'
            "<office:meta><dc:title>Open bees</dc:title></office:meta></office:document-meta>",
            "content.xml": f"{HEAD}<office:document-content {spaces}><office:body>"
            f"<office:{kind}>{body}</office:{kind}></office:body></office:document-content>",
        },
        first="mimetype",
    )


def write_epub(
    path: Path,
    chapters: Sequence[tuple[str, str]],
    *,
    nav: str = "",
    title: str = "The book of bees",
    others: Mapping[str, str] | None = None,
) -> Path:
    """Write a book; chapters are (file name, body), in their order of reading."""
    manifest = "".join(
        f'<item id="c{number}" href="text/{name}" media-type="application/xhtml+xml"/>'
        for number, (name, _) in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="c{number}"/>' for number in range(len(chapters)))
    if nav:
        manifest += (
            '<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>'
        )
    files: dict[str, str] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="x"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
        "OEBPS/book.opf": '<package xmlns="o" xmlns:dc="d"><metadata>'
        f"<dc:title>{escape(title)}</dc:title><dc:language>en-GB</dc:language></metadata>"
        f"<manifest>{manifest}</manifest><spine>{spine}</spine></package>",
        "OEBPS/nav.xhtml": f"<html><body><nav>{nav}</nav></body></html>",
    }
    # written the other way round: the order of reading is the spine's
    for name, body in reversed(chapters):
        files[f"OEBPS/text/{name}"] = (
            f"<html><head><title>x</title></head><body>{body}</body></html>"
        )
    return write_zip(path, {**files, **(others or {})}, first="mimetype")


def write_compound(path: Path, *names: str) -> Path:
    """Write an OLE compound file in which there is nothing but a directory of these names."""
    header = bytearray(512)
    header[:8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
    struct.pack_into("<HHHH", header, 24, 0x3E, 3, 0xFFFE, 9)
    struct.pack_into("<II", header, 44, 1, 1)  # one sector of the table, the directory is sector 1
    struct.pack_into("<I", header, 76, 0)
    table = struct.pack("<II", 0xFFFFFFFD, 0xFFFFFFFE) + b"\xff" * 504
    directory = b"".join(
        name.encode("utf-16-le").ljust(64, b"\0")
        + struct.pack("<HBB", 2 * len(name) + 2, 5 if name == "Root Entry" else 2, 1)
        + b"\xff" * 12
        + b"\0" * 48
        for name in ("Root Entry", *names)
    )
    path.write_bytes(bytes(header) + table + directory.ljust(512, b"\0"))
    return path


def bomb(path: Path, part: str, size: int) -> Path:
    """Write a Word package in which one part grows to `size` bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr(
            "[Content_Types].xml",
            f'<Types><Override ContentType="x.{MAIN["word/document.xml"]}"/></Types>',
        )
        with package.open(part, "w", force_zip64=True) as inside:
            for _ in range(size >> 20):
                inside.write(b" " * (1 << 20))
    path.write_bytes(stream.getvalue())
    return path
