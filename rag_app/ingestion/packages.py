"""Opens ZIP packages (Office, OpenDocument, EPUB) within limits, and tells which kind one is.

Nothing is ever unpacked to a disk, no external reference is followed, no entity is expanded.
"""

import posixpath
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO
from urllib.parse import unquote, urlsplit

from lxml import etree

from rag_app.errors import IngestionError, UnsupportedSourceError
from rag_app.ingestion.writing import one_line

_LARGEST_DIRECTORY_BYTES = 8 << 20
_MOST_PARTS = 50_000
_LARGEST_PART_BYTES = 64 << 20
_LARGEST_IN_ALL_BYTES = 256 << 20
_TAIL_BYTES = 66_000  # the longest comment behind the directory, and its end
_SNIFFED_BYTES = 1 << 20

_OFFICE = (
    (b"wordprocessingml.document.main", "docx"),
    (b"wordprocessingml.template.main", "docx"),
    (b"ms-word.document.macroEnabled.main", "docx"),
    (b"ms-word.template.macroEnabledTemplate.main", "docx"),
    (b"presentationml.presentation.main", "pptx"),
    (b"presentationml.slideshow.main", "pptx"),
    (b"presentationml.template.main", "pptx"),
    (b"ms-powerpoint.presentation.macroEnabled.main", "pptx"),
    (b"ms-powerpoint.slideshow.macroEnabled.main", "pptx"),
    (b"spreadsheetml.sheet.main", "xlsx"),
    (b"spreadsheetml.template.main", "xlsx"),
    (b"ms-excel.sheet.macroEnabled.main", "xlsx"),
    (b"ms-excel.sheet.binary.macroEnabled.main", "xlsx"),
)
_MIME_TYPES = (
    (b"application/epub+zip", "epub"),
    (b"application/vnd.oasis.opendocument.text", "odt"),
    (b"application/vnd.oasis.opendocument.spreadsheet", "ods"),
    (b"application/vnd.oasis.opendocument.presentation", "odp"),
)
_BAD_ZIP = (
    *(zipfile.BadZipFile, EOFError, NotImplementedError, OSError, ValueError),
    *(struct.error, zlib.error),
)

TOO_LARGE = "its parts grow to more than a document may hold, as those of an archive bomb do."
DAMAGED = "it is damaged. Open it with the program that wrote it, save it anew and add that."
HAS_ENTITIES = "it defines entities, which no program writes into such a file. It is not opened."


@dataclass(frozen=True)
class Relation:
    """What a part of an Office package refers to: the last word of the type, and the part."""

    kind: str
    target: str


class Package:
    """An open package; reading counts against one limit, so that no archive can be a bomb."""

    def __init__(self, stream: IO[bytes]) -> None:
        try:
            _check_directory(stream)
            self._zip = zipfile.ZipFile(stream)
        except _BAD_ZIP as error:
            raise UnsupportedSourceError(DAMAGED) from error
        self._names = {name.lower(): name for name in self._zip.namelist()}
        self._left = _LARGEST_IN_ALL_BYTES

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._names

    def names(self) -> list[str]:
        """Return the names of all parts, in order."""
        return list(self._names.values())

    def read(self, name: str) -> bytes | None:
        """Return a part, or None when there is none of this name.

        Raises IngestionError for a damaged part and for one beyond the limits.
        """
        found = self._names.get(name.lower())
        if found is None:
            return None
        limit = min(_LARGEST_PART_BYTES, self._left)
        try:
            with self._zip.open(found) as part:
                data = part.read(limit + 1)
        except RuntimeError as error:  # the archive itself asks for a password
            raise IngestionError(
                "it is protected by a password. Save a copy without one and add that."
            ) from error
        except _BAD_ZIP as error:
            raise IngestionError(DAMAGED) from error
        if len(data) > limit:
            raise IngestionError(TOO_LARGE)
        self._left -= len(data)
        return data

    def xml(self, name: str) -> etree._Element | None:
        """Return the root of a part, or None when there is none of this name."""
        data = self.read(name)
        return None if data is None else parse_xml(data)

    def relations(self, name: str) -> dict[str, Relation]:
        """Return by id what a part refers to inside the package; "" is the package itself."""
        folder, base = posixpath.split(name)
        root = self.xml(posixpath.join(folder, "_rels", f"{base}.rels"))
        found: dict[str, Relation] = {}
        for relation in root if root is not None else ():
            if not isinstance(relation.tag, str) or relation.get("TargetMode") == "External":
                continue
            kind = relation.get("Type", "").rpartition("/")[2]
            target = resolve(name, relation.get("Target", ""))
            found[relation.get("Id", "")] = Relation(kind, target)
        return found

    def related(self, name: str, kind: str) -> Iterator[str]:
        """Yield the parts of one kind that a part refers to."""
        for relation in self.relations(name).values():
            if relation.kind == kind:
                yield relation.target


def parse_xml(data: bytes) -> etree._Element:
    """Parse a part; raise IngestionError for what is broken or would expand itself."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=False
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise IngestionError(DAMAGED) from error
    declared = root.getroottree().docinfo.internalDTD
    if declared is not None and any(True for _ in declared.iterentities()):
        raise IngestionError(HAS_ENTITIES)
    return root


def resolve(base: str, target: str) -> str:
    """Return the part that a reference in the part `base` means, without a leading slash."""
    path = unquote(urlsplit(target).path)
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(base), path)).lstrip("/")


def local(element: etree._Element) -> str:
    """Return an element's name without its namespace, which Strict files write differently."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: etree._Element, name: str, default: str = "") -> str:
    """Return an attribute by its name without a namespace."""
    for key, value in element.attrib.items():
        if str(key).rpartition("}")[2] == name:
            return str(value)
    return default


def relation_id(element: etree._Element) -> str:
    """Return the id by which an element of an Office part refers to another part."""
    # `id` is there twice, once as a number and once, with a namespace, as the relation
    return next(
        (str(value) for key, value in element.attrib.items() if str(key).endswith("}id")), ""
    )


def child(element: etree._Element | None, *path: str) -> etree._Element | None:
    """Return the first element down a path of names, or None."""
    for name in path:
        if element is None:
            return None
        element = next((one for one in element if local(one) == name), None)
    return element


def kind_of(stream: IO[bytes]) -> str:
    """Return docx, pptx, xlsx, odt, ods, odp or epub; "" for anything else.

    Told by what the package says of itself; safe to ask about any file.
    """
    try:
        stream.seek(0)
        if stream.read(4) != b"PK\x03\x04":
            return ""
        _check_directory(stream)
        package = zipfile.ZipFile(stream)
        names = set(package.namelist())
        if "[Content_Types].xml" in names:
            with package.open("[Content_Types].xml") as part:
                data = part.read(_SNIFFED_BYTES)
            return next((kind for mark, kind in _OFFICE if mark in data), "")
        if "mimetype" in names:
            with package.open("mimetype") as part:
                data = part.read(100).strip()
            return next((kind for mark, kind in _MIME_TYPES if data.startswith(mark)), "")
        return "epub" if "META-INF/container.xml" in names else ""
    except (*_BAD_ZIP, RuntimeError):
        return ""


def core_title(package: Package) -> str:
    """Return the title an Office package gives itself, or ""."""
    for name in package.related("", "core-properties"):
        root = package.xml(name)
        title = child(root, "title")
        if title is not None:
            return one_line(title.text or "")
    return ""


def _check_directory(stream: IO[bytes]) -> None:
    """Refuse a directory whose mere list of names would fill memory."""
    size = stream.seek(0, 2)
    stream.seek(max(0, size - _TAIL_BYTES))
    tail = stream.read()
    stream.seek(0)
    end = tail.rfind(b"PK\x05\x06")
    if end < 0 or len(tail) < end + 22:
        raise zipfile.BadZipFile("no directory")
    parts = int.from_bytes(tail[end + 10 : end + 12], "little")
    directory = int.from_bytes(tail[end + 12 : end + 16], "little")
    wide = tail.rfind(b"PK\x06\x06")
    if wide >= 0 and (parts == 0xFFFF or directory == 0xFFFFFFFF):
        parts = int.from_bytes(tail[wide + 32 : wide + 40], "little")
        directory = int.from_bytes(tail[wide + 40 : wide + 48], "little")
    if parts > _MOST_PARTS or directory > _LARGEST_DIRECTORY_BYTES:
        raise zipfile.BadZipFile("a directory of absurd size")
