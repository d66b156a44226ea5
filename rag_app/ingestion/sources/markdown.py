"""Markdown and plain text, nearly as they are."""

import asyncio
import re
from pathlib import PurePath

from rag_app.errors import EmptyContentError, UnsupportedSourceError
from rag_app.ingestion.content import Extracted, clean
from rag_app.ingestion.encodings import decode, looks_binary
from rag_app.ingestion.request import ExtractRequest
from rag_app.marks import find_headings

SOURCE_TYPE = "markdown"
LARGEST_TEXT_BYTES = 50 << 20

_SUFFIXES = frozenset({".md", ".markdown", ".mdown", ".mkd", ".txt", ".text", ".rst", ".log", ""})
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.S | re.M)
_FRONT_TITLE = re.compile(r"^title:[ \t]*([^ \t\n].*)$", re.MULTILINE | re.IGNORECASE)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_NOT_A_PARAGRAPH = re.compile(r"[ \t]*(?:[-*+>|#]|\d+[.)][ \t]|$)| {4}|\t")


def accepts(request: ExtractRequest) -> bool:
    """Tell whether the document is text: by its type or name, and by its bytes."""
    if request.fetched is not None:
        kind = request.fetched.content_type
        return kind.startswith("text/") and kind not in {"text/html", "text/xml"}
    if request.path is None:
        return False
    suffix = PurePath(request.label).suffix.lower()
    head = request.head()
    return (suffix in _SUFFIXES or not looks_binary(head)) and not head.startswith(b"%PDF-")


async def extract(request: ExtractRequest) -> Extracted:
    """Extract a text file; headings underlined with = or - become `# ` and `## `."""
    _check_size(request)
    data = await asyncio.to_thread(request.read)
    declared = request.fetched.charset if request.fetched else None
    return await asyncio.to_thread(_read, data, declared, request)


def _check_size(request: ExtractRequest) -> None:
    if request.path is not None and request.path.stat().st_size > LARGEST_TEXT_BYTES:
        raise UnsupportedSourceError(
            f'"{request.label}" is a text of more than {LARGEST_TEXT_BYTES >> 20} MB, which is too '
            "much for one document: cut it into parts and add those."
        )


def _read(data: bytes, declared: str | None, request: ExtractRequest) -> Extracted:
    decoded = decode(data, declared)
    if decoded is None:
        raise UnsupportedSourceError(
            f'Could not read "{request.label}": it is not text, and no kind of file Pincite knows.'
        )
    text = clean(decoded.text)
    front = _FRONT_MATTER.match(text)
    content = _normalise(text[front.end() :] if front else text).strip("\n")
    if not any(sign.isalnum() for sign in content):
        raise EmptyContentError(f'"{request.label}" holds no text.')
    return Extracted(
        title=_title(front.group(1) if front else "", content, request),
        content=content,
        source_type=SOURCE_TYPE,
        warnings=decoded.warnings(request.label),
    )


def _normalise(text: str) -> str:
    """Write every heading as signs at the start of its line, leaving fenced code alone."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if found and not fence:
            fence = found[1]
            line = line.lstrip(" ")
        elif found and found[1].startswith(fence) and not found[2].strip():
            fence = ""
            line = line.lstrip(" ")
        elif not fence:
            underline = _UNDERLINE.match(line)
            if underline and lines and not _NOT_A_PARAGRAPH.match(lines[-1]):
                level = "#" if underline[1][0] == "=" else "##"
                lines[-1] = f"{level} {lines[-1].strip()}"
                continue
            if heading := _ATX.match(line):
                text = _heading(line[heading.end() :])
                line = f"{heading[1]} {text}" if text else ""
        lines.append(line)
    return "\n".join(lines)


def _heading(text: str) -> str:
    """Return a heading's text without the signs that may close it: `Bees ##` is `Bees`."""
    text = text.rstrip(" \t")
    bare = text.rstrip("#")
    return bare.rstrip(" \t") if bare.endswith((" ", "\t")) else text


def _title(front_matter: str, content: str, request: ExtractRequest) -> str:
    if found := _FRONT_TITLE.search(front_matter):
        title = found[1].rstrip(" \t").strip("\"'")
        if title:
            return title
    first = next(find_headings(content), None)
    # a heading far down is not the title of the whole
    if first is not None and not content[: first[0]].strip():
        return first[2]
    name = request.label.rstrip("/").rpartition("/")[2] or request.label
    return PurePath(name).stem or name
