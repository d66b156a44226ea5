"""The one list of files that can be added: what they are called, by which suffixes they go.

The drop zone, the command line and the sentence for anything else all take it from here. It says
what to offer; what a file is, its bytes decide (`sources`).
"""

from dataclasses import dataclass
from pathlib import PurePath


@dataclass(frozen=True)
class Format:
    """A kind of file; `source_type` is what its documents become."""

    name: str
    source_type: str
    suffixes: tuple[str, ...]


FORMATS = (
    Format("PDF", "pdf", (".pdf",)),
    Format("Word", "office", (".docx", ".docm", ".dotx", ".dotm")),
    Format("PowerPoint", "slides", (".pptx", ".pptm", ".ppsx", ".ppsm", ".potx")),
    Format("Excel", "spreadsheet", (".xlsx", ".xlsm", ".xltx", ".xlsb", ".xls")),
    Format("OpenDocument", "office", (".odt", ".ott")),
    Format("OpenDocument", "slides", (".odp", ".otp")),
    Format("OpenDocument", "spreadsheet", (".ods", ".ots")),
    Format("RTF", "office", (".rtf",)),
    Format("EPUB", "ebook", (".epub",)),
    Format("CSV", "spreadsheet", (".csv", ".tsv", ".tab")),
    Format("HTML", "web", (".html", ".htm", ".xhtml")),
    Format("SRT", "subtitles", (".srt",)),
    Format("VTT", "subtitles", (".vtt",)),
    Format("Markdown", "markdown", (".md", ".markdown", ".mdown", ".mkd")),
    Format("TXT", "markdown", (".txt", ".text", ".rst", ".log")),
)

SUFFIXES = tuple(suffix for one in FORMATS for suffix in one.suffixes)
NAMES = tuple(dict.fromkeys(one.name for one in FORMATS))


def guess_source_type(name: str) -> str:
    """Return what a file of this name most likely becomes; "" where the name does not say."""
    suffix = PurePath(name).suffix.lower()
    return next((one.source_type for one in FORMATS if suffix in one.suffixes), "")
