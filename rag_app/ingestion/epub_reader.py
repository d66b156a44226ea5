"""Reads electronic books (EPUB), an answer a chapter, in the order they are read.

Runs inside the sandbox.
"""

import posixpath
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lxml import etree
from selectolax.lexbor import LexborHTMLParser

from rag_app.errors import IngestionError, UnsupportedSourceError
from rag_app.ingestion.encodings import decode
from rag_app.ingestion.html_blocks import html_blocks
from rag_app.ingestion.packages import DAMAGED, Package, attribute, child, local, resolve
from rag_app.ingestion.writing import heading, join_blocks, one_line
from rag_app.marks import find_headings

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml"})
# fonts that are scrambled, as many publishers do, hide no word of the book
_FONT_SCRAMBLING = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")

PROTECTED = (
    "it is protected by its shop (DRM), and only the shop's own program can open it. "
    "Add an edition without protection."
)

Answer = tuple[dict[str, Any], bytes]


def read_epub(request: Mapping[str, Any]) -> Iterator[Answer]:
    """Answer with the facts of a book, then with the text of each chapter."""
    with Path(request["path"]).open("rb") as stream:
        package = Package(stream)
        _check_protection(package)
        name, root = _package_document(package)
        items = {
            attribute(one, "id"): one
            for one in _below(child(root, "manifest"))
            if local(one) == "item"
        }
        titles = _chapter_titles(package, name, root, items)
        yield _facts(root), b""
        for reference in _below(child(root, "spine")):
            item = items.get(attribute(reference, "idref"))
            if item is None or attribute(item, "media-type") not in _PAGES:
                continue
            if "nav" in attribute(item, "properties").split():
                continue
            part = resolve(name, attribute(item, "href"))
            data = package.read(part)
            if data is None:
                yield {"missing": part}, b""
                continue
            text = html_blocks(_decoded(data))
            if text and next(find_headings(text), None) is None:
                text = join_blocks([heading(1, titles.get(part, "")), text])
            yield {}, text.encode("utf-8", "replace")


def _check_protection(package: Package) -> None:
    if "META-INF/rights.xml" in package or "META-INF/license.lcpl" in package:
        raise IngestionError(PROTECTED)
    root = package.xml(_ENCRYPTION) if _ENCRYPTION in package else None
    for one in root.iter() if root is not None else ():
        is_method = local(one) == "EncryptionMethod"
        if is_method and attribute(one, "Algorithm") not in _FONT_SCRAMBLING:
            raise IngestionError(PROTECTED)


def _package_document(package: Package) -> tuple[str, etree._Element]:
    container = package.xml(_CONTAINER)
    for one in container.iter() if container is not None else ():
        if local(one) == "rootfile":
            name = posixpath.normpath(attribute(one, "full-path")).lstrip("/")
            root = package.xml(name)
            if root is not None:
                return name, root
    raise UnsupportedSourceError(DAMAGED)


def _facts(root: etree._Element) -> dict[str, Any]:
    found: dict[str, Any] = {"title": "", "language": None}
    for one in _below(child(root, "metadata")):
        if local(one) == "title" and not found["title"]:
            found["title"] = one_line(one.text or "")
        elif local(one) == "language" and not found["language"]:
            found["language"] = one_line(one.text or "")
    return found


def _chapter_titles(
    package: Package, name: str, root: etree._Element, items: Mapping[str, etree._Element]
) -> dict[str, str]:
    """Return the first title that the table of contents gives each part."""
    titles: dict[str, str] = {}
    for item in items.values():
        part = resolve(name, attribute(item, "href"))
        if "nav" in attribute(item, "properties").split():
            for text, target in _nav_points(package.read(part)):
                titles.setdefault(resolve(part, target), text)
        elif attribute(item, "media-type") == "application/x-dtbncx+xml":
            for text, target in _ncx_points(package.xml(part)):
                titles.setdefault(resolve(part, target), text)
    return titles


def _nav_points(data: bytes | None) -> Iterator[tuple[str, str]]:
    if data is not None:
        for link in LexborHTMLParser(_decoded(data)).css("nav a[href]"):
            yield one_line(link.text()), link.attributes.get("href") or ""


def _ncx_points(root: etree._Element | None) -> Iterator[tuple[str, str]]:
    for one in root.iter() if root is not None else ():
        if local(one) == "navPoint":
            text, target = child(one, "navLabel", "text"), child(one, "content")
            if text is not None and target is not None:
                yield one_line(text.text or ""), attribute(target, "src")


def _decoded(data: bytes) -> str:
    found = decode(data)
    return found.text if found is not None else ""


def _below(element: etree._Element | None) -> Iterator[etree._Element]:
    if element is not None:
        yield from element
